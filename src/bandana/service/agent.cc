#include "bandana/service/agent.h"

#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/agent_machine.h"
#include "bandana/service/agent_process.h"
#include "bandana/service/names.h"
#include "bandana/service/process.h"
#include "bandana/service/roster.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

absl::Status ValidateAgent(const AgentParams& params) {
  constexpr Count kMostClients = 0xfffffffe;  // the range of NodeId
  const Count last = Count{params.first_client.value} + params.clients - 1;
  if (!(params.first_client.value >= 1 && params.clients >= 1 && last <= kMostClients)) {
    return InvalidField(Part::kService, "clients", fmt::format("{}-{}", params.first_client.value, last),
                        fmt::format("first-last, within 1-{}", kMostClients));
  }
  if (!(params.connect_timeout > absl::ZeroDuration())) {
    return InvalidField(Part::kService, "connect_timeout", absl::FormatDuration(params.connect_timeout),
                        "a time > 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AgentReport> RunAgentProcess(const AgentParams& params, AgentMachine& machine) {
  BANDANA_RETURN_IF_ERROR(ValidateAgent(params));
  ProcessParams process{.deployed = params.deployed, .budget = params.budget_per_client, .stop = params.stop};
  Runtime::Params& runtime = process.runtime;
  runtime.self = Roster::LinkOf(params.first_client);
  runtime.digest = params.spec_digest;
  runtime.run_of = kServerName;
  runtime.join_timeout = params.connect_timeout;
  const auto dial = [&](const std::string& link, const std::string& address) {
    runtime.partners[link] = {.dialed = true, .name = fmt::format("{} at {}", link, address)};
    process.dial[link] = address;
  };
  dial(kServerName, params.server);
  if (params.route.shuffled) dial(kShufflerName, params.shuffler);
  BANDANA_ASSIGN_OR_RETURN(const ProcessReport done, RunProcess(std::move(process), machine));
  AgentReport report = machine.report();
  report.bytes_in = done.bytes_in;
  report.bytes_out = done.bytes_out;
  report.seconds = done.seconds;
  report.spent = done.spent;
  return report;
}

absl::StatusOr<AgentReport> RunAgent(const AgentParams& params,
                                     const std::function<std::unique_ptr<Player>(NodeId)>& make_player,
                                     SlotWorld& environment) {
  return RunAgentProcess(params, *MakePlanAgent(params, make_player, environment));
}

}  // namespace bandana::service
