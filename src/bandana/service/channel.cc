#include "bandana/service/channel.h"

#include "bandana/core/status.h"
#include "bandana/service/names.h"
#include "bandana/service/party.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"

namespace bandana::service {
namespace {

// Both ends ask each other for a sign of life, because a network that is cut says nothing.
constexpr int kKeepaliveMs = 10'000;

}  // namespace

absl::StatusOr<Address> ParseAddressFor(const KeyRing* keys, const std::string& link,
                                        const std::string& text) {
  const bool is_field = link == kServerName || link == kShufflerName || link == "listen";
  const std::string field = is_field ? link : "neighbours";
  return keys == nullptr ? ParseLoopback(field, text) : ParseAddress(field, text);
}

std::shared_ptr<grpc::Channel> MakeChannel(const Address& host,
                                           const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                           const Limits& limits) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(limits.message);
  arguments.SetSslTargetNameOverride(kTlsName);  // the party in the certificate counts, and not the host
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection each, also in one process
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000);  // for one attempt, with its TLS handshake
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return grpc::CreateCustomChannel(host.ToString(), credentials, arguments);
}

// The codes of the two libraries are the same numbers.
grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

absl::StatusOr<std::unique_ptr<grpc::Server>> OpenServer(const std::string& listen, const KeyRing* keys,
                                                         const Limits& limits, grpc::Service& service,
                                                         std::string& address) {
  BANDANA_ASSIGN_OR_RETURN(Address where, ParseAddressFor(keys, "listen", listen));
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error; it is not shared
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMs / 2);
  builder.SetMaxReceiveMessageSize(limits.message);
  // A connection that finishes no handshake, or has no stream, ends as one that does not say whose it is.
  const int first_message = static_cast<int>(absl::ToInt64Milliseconds(limits.first_message));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, first_message);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, first_message);
  // With certificates, all streams of a connection are of one party.
  const std::size_t streams = keys == nullptr ? limits.streams : limits.streams_per_party;
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(streams));
  int port = 0;
  builder.AddListeningPort(where.ToString(),
                           keys == nullptr ? grpc::InsecureServerCredentials() : keys->ForServer(), &port);
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
