#include "bandana/service/server.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/address.h"
#include "bandana/service/coordinator.h"
#include "bandana/service/protocol.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.grpc.pb.h"

namespace bandana::service {
namespace {

using Stream = grpc::ServerReaderWriter<v1::ToAgent, v1::FromAgent>;

// The codes of the two libraries are the same numbers.
grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

// No buffer hints: deliveries are few and large, and a first write that is only buffered waits for ever.
void WriteAll(Outbox& outbox, Stream& stream) {
  while (const std::optional<v1::ToAgent> message = outbox.Pop()) {
    if (!stream.Write(*message)) return;
  }
}

// Two threads an agent: gRPC's own, which reads, and one that writes.
class FederationService final : public v1::Federation::Service {
 public:
  explicit FederationService(Coordinator& coordinator) : coordinator_(coordinator) {}

  grpc::Status Join(grpc::ServerContext* context, Stream* stream) override {
    v1::FromAgent message;
    if (!stream->Read(&message)) return {grpc::StatusCode::CANCELLED, "an agent must say hello first"};
    const absl::StatusOr<std::shared_ptr<AgentLink>> link = coordinator_.Admit(message, context->peer());
    if (!link.ok()) return ToGrpc(link.status());
    std::thread writer([&] { WriteAll((*link)->outbox, *stream); });
    absl::Status status;
    while (status.ok() && stream->Read(&message)) status = coordinator_.Take(**link, message);
    coordinator_.Lose(**link, status.ok() ? "its stream ended" : std::string(status.message()));
    writer.join();
    return ToGrpc(status);
  }

 private:
  Coordinator& coordinator_;
};

absl::Status Validate(const ServerParams& params) {
  constexpr Count kMostClients = 0xfffffffe;  // NodeId
  if (!(params.clients >= 1 && params.clients <= kMostClients)) {
    return InvalidOption("environment.population", static_cast<double>(params.clients),
                         fmt::format("a whole number from 1 to {}", kMostClients));
  }
  if (!(params.join_timeout > absl::ZeroDuration())) {
    return InvalidOption("service.join_timeout", absl::FormatDuration(params.join_timeout), "a time > 0");
  }
  if (!(params.answer_timeout > absl::ZeroDuration())) {
    return InvalidOption("service.answer_timeout", absl::FormatDuration(params.answer_timeout), "a time > 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServerReport> RunServer(const ServerParams& params, Node& server,
                                       std::function<void(std::span<const Pull>)> on_play) {
  BANDANA_RETURN_IF_ERROR(Validate(params));
  BANDANA_ASSIGN_OR_RETURN(Address address, ParseLoopback("service.listen", params.listen));
  Coordinator coordinator(params, server, std::move(on_play));
  FederationService service(coordinator);
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error, not a share of it
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  int port = 0;
  builder.AddListeningPort(address.ToString(), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> listener = builder.BuildAndStart();
  if (listener == nullptr || port == 0) {
    return absl::UnavailableError(fmt::format("cannot listen on {}: is the port taken?", params.listen));
  }
  address.port = port;
  if (params.on_listening) params.on_listening(address.ToString());
  absl::StatusOr<ServerReport> report = coordinator.Run();
  // Time for Stop to arrive and for agents to close; those that do not are cut off.
  const auto grace = report.ok() ? std::chrono::milliseconds(5000) : std::chrono::milliseconds(500);
  listener->Shutdown(std::chrono::system_clock::now() + grace);
  return report;
}

}  // namespace bandana::service
