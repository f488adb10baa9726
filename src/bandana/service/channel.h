#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/address.h"

namespace grpc {
class Channel;
class Server;
class Service;
class Status;
}  // namespace grpc

/// How all roles use gRPC on this machine's loopback.
namespace bandana::service {

/// The process to which a role connects.
struct Destination {
  std::string self;  ///< "agent", "shuffler" or "peer": for errors
  std::string host;  ///< "server", "shuffler" or "neighbour 3": for errors
  std::string address;
  absl::Duration connect_timeout;
  std::stop_token stop;
};

/// Returns a new connection to an address. It is not shared, even within one process.
std::shared_ptr<grpc::Channel> MakeChannel(const Address& host);

/// Fails with kUnavailable if nobody listens there within connect_timeout, or with kCancelled on `stop`.
absl::Status WaitForConnection(grpc::Channel& channel, const Destination& to);

/// Returns why a stream ended unexpectedly: a refusal with its code, or kUnavailable.
absl::Status WhyEnded(const grpc::Status& status, const Destination& to);

grpc::Status ToGrpc(const absl::Status& status);

/// Serves at `listen`, "host:port"; port 0 means any. Sets `address` to the actual
/// address. Fails with kUnavailable if the port is taken. `service` must outlive the returned server.
absl::StatusOr<std::unique_ptr<grpc::Server>> OpenServer(const std::string& listen, grpc::Service& service,
                                                         std::string& address);

}  // namespace bandana::service
