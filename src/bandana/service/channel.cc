#include "bandana/service/channel.h"

#include <algorithm>

#include "bandana/core/status.h"
#include "bandana/service/protocol.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"

namespace bandana::service {

std::shared_ptr<grpc::Channel> MakeChannel(const Address& host) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // loopback must not use a proxy
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection each, also in one process
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel(host.ToString(), grpc::InsecureChannelCredentials(), arguments);
}

absl::Status WaitForConnection(grpc::Channel& channel, const Destination& to) {
  const absl::Time deadline = absl::Now() + to.connect_timeout;
  constexpr absl::Duration kSlice = absl::Milliseconds(100);  // how soon a stop is noticed
  while (!channel.WaitForConnected(absl::ToChronoTime(std::min(deadline, absl::Now() + kSlice)))) {
    if (to.stop.stop_requested()) {
      return absl::CancelledError(fmt::format("the {} was stopped while it was connecting", to.self));
    }
    if (absl::Now() >= deadline) {
      return absl::UnavailableError(fmt::format("the {} at {} did not answer within {}", to.host, to.address,
                                                absl::FormatDuration(to.connect_timeout)));
    }
  }
  return absl::OkStatus();
}

absl::Status WhyEnded(const grpc::Status& status, const Destination& to) {
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
      return absl::Status(
          code, fmt::format("the {} refused this {}: {}", to.host, to.self, status.error_message()));
    default:
      return absl::UnavailableError(
          fmt::format("the {} at {} was lost: {}", to.host, to.address,
                      status.ok() ? "it closed the stream" : status.error_message()));
  }
}

// The codes of the two libraries are the same numbers.
grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

absl::StatusOr<std::unique_ptr<grpc::Server>> OpenServer(const std::string& listen, grpc::Service& service,
                                                         std::string& address) {
  BANDANA_ASSIGN_OR_RETURN(Address where, ParseLoopback("listen", listen));
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error; it is not shared
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  int port = 0;
  builder.AddListeningPort(where.ToString(), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::UnavailableError(fmt::format("cannot listen on {}: the port may be in use", listen));
  }
  where.port = port;
  address = where.ToString();
  return server;
}

}  // namespace bandana::service
