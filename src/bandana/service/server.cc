#include "bandana/service/server.h"

#include <memory>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/coordinator.h"
#include "bandana/service/listener.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

absl::Status ValidateServer(const ServerParams& params) {
  constexpr Count kMostClients = 0xfffffffe;  // the range of NodeId
  if (!(params.clients >= 1 && params.clients <= kMostClients)) {
    return InvalidField(Part::kFacts, "people", static_cast<double>(params.clients),
                        fmt::format("a whole number from 1 to {}", kMostClients));
  }
  if (!(params.join_timeout > absl::ZeroDuration())) {
    return InvalidField(Part::kService, "join_timeout", absl::FormatDuration(params.join_timeout),
                        "a time > 0");
  }
  if (!(params.answer_timeout > absl::ZeroDuration())) {
    return InvalidField(Part::kService, "answer_timeout", absl::FormatDuration(params.answer_timeout),
                        "a time > 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServerReport> RunServer(const ServerParams& params, Node& server,
                                       std::function<void(std::span<const Pull>)> on_play) {
  BANDANA_RETURN_IF_ERROR(ValidateServer(params));
  Coordinator coordinator(params, server, std::move(on_play));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Listener> listener,
                           Listener::Open(params.listen, coordinator));
  if (params.on_listening) params.on_listening(listener->address());
  absl::StatusOr<ServerReport> report = coordinator.Run();
  // This gives Stop time to arrive, and agents time to close.
  listener->Shutdown(report.ok() ? absl::Seconds(5) : absl::Milliseconds(500));
  return report;
}

}  // namespace bandana::service
