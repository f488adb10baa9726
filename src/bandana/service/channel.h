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

/// gRPC on this machine's loopback, as all roles use it.
namespace bandana::service {

/// Whom a role connects to.
struct Destination {
  std::string self;  ///< "agent", "shuffler" or "peer": for errors
  std::string host;  ///< "server", "shuffler" or "neighbour 3": for errors
  std::string address;
  absl::Duration connect_timeout;
  std::stop_token stop;
};

/// A connection of its own to an address, also within one process.
std::shared_ptr<grpc::Channel> MakeChannel(const Address& host);

/// kUnavailable: nobody listens there within connect_timeout. kCancelled: `stop`.
absl::Status WaitForConnection(grpc::Channel& channel, const Destination& to);

/// What the end of a stream says, where that was not to be expected: a refusal, with its code, or
/// kUnavailable.
absl::Status WhyEnded(const grpc::Status& status, const Destination& to);

grpc::Status ToGrpc(const absl::Status& status);

/// Serves at `listen`, which is service.listen, port 0: any; `address` is then where. kUnavailable if the
/// port is taken. `service` must outlive what comes back.
absl::StatusOr<std::unique_ptr<grpc::Server>> OpenServer(const std::string& listen, grpc::Service& service,
                                                         std::string& address);

}  // namespace bandana::service
