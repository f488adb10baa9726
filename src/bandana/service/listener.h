#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/roster.h"
#include "proto/federation.pb.h"

namespace grpc {
class Server;
}  // namespace grpc

namespace bandana::service {

/// A server or a shuffler that others join, without its transport. The threads of the connections call it.
class Host {
 public:
  virtual ~Host() = default;

  /// Admits a process by its first message. An error is a refusal: the stream ends with it.
  virtual absl::StatusOr<std::shared_ptr<AgentLink>> Admit(const v1::FromAgent& first,
                                                           const std::string& peer) = 0;
  virtual absl::Status Take(AgentLink& link, v1::FromAgent& message) = 0;

  /// Called when the stream is over.
  virtual void Lose(AgentLink& link, const std::string& why) = 0;
};

/// Checks the version and the digest in a Hello, for both kinds of hosts.
absl::Status CheckHello(const v1::FromAgent& first, const std::string& spec_digest, const std::string& host);

/// Returns the link for an agent's Hello, or an error if its clients are invalid.
absl::StatusOr<std::shared_ptr<AgentLink>> LinkOfAgent(const v1::Hello& hello, const std::string& peer);

/// A port on this machine's loopback where agents and shufflers join a host.
class Listener {
 public:
  /// `listen` is "host:port"; port 0 means any. Fails with kUnavailable if the port is taken.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::string& listen, Host& host);
  ~Listener();

  const std::string& address() const { return address_; }

  /// Waits `grace` for the streams to end by themselves, then cuts them off.
  void Shutdown(absl::Duration grace);

 private:
  class Service;
  Listener();
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace bandana::service
