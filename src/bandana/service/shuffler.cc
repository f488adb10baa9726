#include "bandana/service/shuffler.h"

#include <memory>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/mixer.h"
#include "bandana/service/names.h"
#include "bandana/service/process.h"
#include "bandana/service/shuffler_machine.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

absl::Status ValidateShuffler(const ShufflerParams& params) {
  constexpr Count kMostClients = 0xfffffffe;  // the range of NodeId
  if (!(params.clients >= 1 && params.clients <= kMostClients)) {
    return InvalidField(Part::kFacts, "people", static_cast<double>(params.clients),
                        fmt::format("a whole number from 1 to {}", kMostClients));
  }
  if (!(params.connect_timeout > absl::ZeroDuration())) {
    return InvalidField(Part::kService, "connect_timeout", absl::FormatDuration(params.connect_timeout),
                        "a time > 0");
  }
  return absl::OkStatus();
}

absl::StatusOr<ShufflerReport> Run(const ShufflerParams& params, std::unique_ptr<Mixer> mixer) {
  BANDANA_RETURN_IF_ERROR(ValidateShuffler(params));
  ShufflerMachine machine(params.clients, std::move(mixer));
  ProcessParams process{.listen = params.listen,
                        .dial = {{kServerName, params.server}},
                        .deployed = params.deployed,
                        .stop = params.stop,
                        .on_listening = params.on_listening};
  process.runtime.self = kShufflerName;
  process.runtime.digest = params.spec_digest;
  process.runtime.run_of = kServerName;
  process.runtime.hides_errors = false;  // its errors do not depend on what a report holds
  process.runtime.partners[kServerName] = {.dialed = true,
                                           .name = fmt::format("{} at {}", kServerName, params.server)};
  process.runtime.join_timeout = params.connect_timeout;
  BANDANA_ASSIGN_OR_RETURN(const ProcessReport done, RunProcess(std::move(process), machine));
  ShufflerReport report = machine.report();
  report.bytes_in = done.bytes_in;
  report.bytes_out = done.bytes_out;
  report.seconds = done.seconds;
  return report;
}

}  // namespace

absl::StatusOr<ShufflerReport> RunShuffler(const ShufflerParams& params, Node& shuffler) {
  return Run(params, std::make_unique<RoleMixer>(shuffler, params.clients, params.insecure_seed));
}

absl::StatusOr<ShufflerReport> RunBitShuffler(const ShufflerParams& params, const Route& route) {
  return Run(params, std::make_unique<BitMixer>(route));
}

}  // namespace bandana::service
