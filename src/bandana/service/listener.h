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

/// Who is joined, without the transport: a server, or a shuffler. Called by the peers' threads.
class Host {
 public:
  virtual ~Host() = default;

  /// An error is a refusal: the peer's stream ends with it.
  virtual absl::StatusOr<std::shared_ptr<AgentLink>> Admit(const v1::FromAgent& first,
                                                           const std::string& peer) = 0;
  virtual absl::Status Take(AgentLink& link, v1::FromAgent& message) = 0;

  /// The peer's stream is over.
  virtual void Lose(AgentLink& link, const std::string& why) = 0;
};

/// What a Hello says that both hosts check: version and digest.
absl::Status CheckHello(const v1::FromAgent& first, const std::string& spec_digest, const std::string& host);

/// The link of an agent's Hello, or what is wrong with its clients.
absl::StatusOr<std::shared_ptr<AgentLink>> LinkOfAgent(const v1::Hello& hello, const std::string& peer);

/// A port on this machine's loopback where peers join a host.
class Listener {
 public:
  /// `listen` is service.listen, port 0: any. kUnavailable if the port is taken.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::string& listen, Host& host);
  ~Listener();

  const std::string& address() const { return address_; }

  /// Streams have so long to end by themselves; then they are cut off.
  void Shutdown(absl::Duration grace);

 private:
  class Service;
  Listener();
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace bandana::service
