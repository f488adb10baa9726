#include "bandana/service/server.h"

#include <algorithm>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/names.h"
#include "bandana/service/process.h"
#include "bandana/service/server_machine.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

absl::Status ValidateServer(const ServerParams& params) {
  constexpr Count kMostClients = 0xfffffffe;  // the range of NodeId
  if (!(params.clients >= 1 && params.clients <= kMostClients)) {
    return InvalidField(Part::kFacts, "people", static_cast<double>(params.clients),
                        fmt::format("a whole number from 1 to {}", kMostClients));
  }
  for (const auto& [key, time] :
       {std::pair("join_timeout", params.join_timeout), {"answer_timeout", params.answer_timeout}}) {
    if (time > absl::ZeroDuration()) continue;
    return InvalidField(Part::kService, key, absl::FormatDuration(time), "a time > 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServerReport> RunServer(const ServerParams& params, Node& server,
                                       std::function<void(std::span<const Pull>)> on_play) {
  BANDANA_RETURN_IF_ERROR(ValidateServer(params));
  ServerMachine machine(params, server, std::move(on_play));
  ProcessParams process{.listen = params.listen,
                        .deployed = params.deployed,
                        .budget = params.budget_per_client,
                        .stop = params.stop,
                        .on_listening = params.on_listening};
  process.runtime.self = kServerName;
  process.runtime.digest = params.spec_digest;
  process.runtime.hides_errors = false;
  process.runtime.join_timeout = params.join_timeout;
  // With a store, an agent may be away for as long as the operator says.
  process.runtime.answer_timeout = params.deployed.comes_back
                                       ? std::max(params.answer_timeout, params.deployed.silence)
                                       : params.answer_timeout;
  BANDANA_ASSIGN_OR_RETURN(const ProcessReport done, RunProcess(std::move(process), machine));
  ServerReport report = machine.report();
  report.bytes_in = done.bytes_in;
  report.bytes_out = done.bytes_out;
  report.seconds = done.seconds;
  report.spent = done.spent;
  return report;
}

}  // namespace bandana::service
