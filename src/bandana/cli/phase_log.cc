#include "bandana/cli/phase_log.h"

#include "bandana/lab/phase_json.h"
#include "fmt/format.h"

namespace bandana::cli {

void LogPhase(RoleLog& log, const PhaseRecord& phase) {
  log.Write(
      RoleLog::Level::kInfo, "phase",
      {{"epoch", phase.epoch},
       {"rounds", phase.rounds},
       {"clients", phase.clients},
       {"left", phase.active.size()}},
      fmt::format("phase {}: {} clients, {} actions left", phase.epoch, phase.clients, phase.active.size()),
      lab::ToJson(phase));
}

}  // namespace bandana::cli
