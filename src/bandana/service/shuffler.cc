#include "bandana/service/shuffler.h"

#include <memory>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/listener.h"
#include "bandana/service/mixer.h"
#include "bandana/service/shuffler_coordinator.h"
#include "bandana/service/uplink.h"
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

absl::StatusOr<ShufflerReport> Run(const ShufflerParams& params,
                                   const ShufflerCoordinator::MakeMixer& make_mixer) {
  BANDANA_RETURN_IF_ERROR(ValidateShuffler(params));
  BANDANA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Uplink> server,
      Uplink::Connect({"shuffler", "server", params.server, params.connect_timeout, params.stop}));
  ShufflerCoordinator coordinator(params, *server, make_mixer);
  // Opens the port before the server hears of this process, so that a taken port does not affect the server.
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Listener> listener,
                           Listener::Open(params.listen, coordinator));
  v1::Hello hello;
  hello.set_spec_digest(params.spec_digest);
  hello.set_role(v1::ROLE_SHUFFLER);
  const absl::StatusOr<v1::Welcome> welcome = server->Greet(hello);
  if (!welcome.ok()) {
    listener->Shutdown(absl::ZeroDuration());
    if (params.stop.stop_requested()) return absl::CancelledError("the shuffler was stopped");
    return welcome.status();
  }
  if (params.on_listening) params.on_listening(listener->address());
  absl::StatusOr<ShufflerReport> report = coordinator.Run();
  // This gives Stop time to arrive, and agents time to close.
  listener->Shutdown(report.ok() ? absl::Seconds(5) : absl::Milliseconds(500));
  return report;
}

}  // namespace

absl::StatusOr<ShufflerReport> RunShuffler(const ShufflerParams& params, Node& shuffler) {
  return Run(params, [&](Mixer::Sender send, const auto&) {
    return std::make_unique<RoleMixer>(shuffler, params.clients, params.insecure_seed, std::move(send));
  });
}

absl::StatusOr<ShufflerReport> RunBitShuffler(const ShufflerParams& params, const Route& route) {
  return Run(params, [&](Mixer::Sender send, std::function<std::string(NodeId)> name_of) {
    return std::make_unique<BitMixer>(route, std::move(send), std::move(name_of));
  });
}

}  // namespace bandana::service
