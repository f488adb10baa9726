#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/service/address.h"
#include "bandana/service/credentials.h"
#include "bandana/service/limits.h"

namespace grpc {
class Channel;
class ChannelCredentials;
class Server;
class Service;
class Status;
}  // namespace grpc

/// How all roles use gRPC.
namespace bandana::service {

/// Parses the address of a process, or where this one listens. Without keys it must not leave this machine.
/// `link` names the process, and so the parameter in the error.
absl::StatusOr<Address> ParseAddressFor(const KeyRing* keys, const std::string& link,
                                        const std::string& text);

/// Returns a new connection to an address. It is not shared, even within one process.
std::shared_ptr<grpc::Channel> MakeChannel(const Address& host,
                                           const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                           const Limits& limits);

grpc::Status ToGrpc(const absl::Status& status);

/// Serves at `listen`, "host:port"; port 0 means any. Sets `address` to the actual address. `keys` may be
/// null. Fails with kUnavailable if the port is taken. `service` must outlive the returned server.
absl::StatusOr<std::unique_ptr<grpc::Server>> OpenServer(const std::string& listen, const KeyRing* keys,
                                                         const Limits& limits, grpc::Service& service,
                                                         std::string& address);

}  // namespace bandana::service
