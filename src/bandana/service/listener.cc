#include "bandana/service/listener.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/channel.h"
#include "bandana/service/protocol.h"
#include "bandana/service/spec_digest.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.grpc.pb.h"

namespace bandana::service {
namespace {

using AgentStream = grpc::ServerReaderWriter<v1::ToAgent, v1::FromAgent>;

// No buffer hints: deliveries are few and large, and a first write that is only buffered would wait forever.
void WriteAll(Outbox& outbox, AgentStream& stream) {
  while (const std::optional<v1::ToAgent> message = outbox.Pop()) {
    if (!stream.Write(*message)) return;
  }
}

}  // namespace

absl::Status CheckHello(const v1::FromAgent& first, const std::string& spec_digest, const std::string& host) {
  if (!first.has_hello()) return absl::InvalidArgumentError("an agent must say hello first");
  const v1::Hello& hello = first.hello();
  const char* peer = hello.role() == v1::ROLE_SHUFFLER ? "shuffler" : "agent";
  if (hello.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        fmt::format("this {} uses version {} of the protocol, but the {} uses version {}", peer,
                    hello.protocol_version(), host, kProtocolVersion));
  }
  if (hello.spec_digest() != spec_digest) {
    return OtherSpec(hello.spec_digest(), spec_digest, peer, host);
  }
  if (!v1::Role_IsValid(hello.role())) {
    return absl::InvalidArgumentError(fmt::format("role {} does not exist", static_cast<int>(hello.role())));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<AgentLink>> LinkOfAgent(const v1::Hello& hello, const std::string& peer) {
  const std::uint64_t most = 0xffffffff - std::uint64_t{hello.first_client()};
  if (hello.client_count() < 1 || hello.client_count() > most) {
    return absl::InvalidArgumentError(fmt::format("an agent cannot hold {} clients that start with client {}",
                                                  hello.client_count(), hello.first_client()));
  }
  const auto last = static_cast<std::uint32_t>(hello.first_client() + hello.client_count() - 1);
  auto link = std::make_shared<AgentLink>();
  link->first = NodeId{hello.first_client()};
  link->last = NodeId{last};
  link->peer = peer;
  return link;
}

// Each connection has two threads: gRPC's own, which reads, and one that writes.
class Listener::Service final : public v1::Federation::Service {
 public:
  explicit Service(Host& host) : host_(host) {}

  grpc::Status Join(grpc::ServerContext* context, AgentStream* stream) override {
    v1::FromAgent message;
    if (!stream->Read(&message)) return {grpc::StatusCode::CANCELLED, "an agent must say hello first"};
    const absl::StatusOr<std::shared_ptr<AgentLink>> link = host_.Admit(message, context->peer());
    if (!link.ok()) return ToGrpc(link.status());
    std::thread writer([&] { WriteAll((*link)->outbox, *stream); });
    absl::Status status;
    while (status.ok() && stream->Read(&message)) status = host_.Take(**link, message);
    host_.Lose(**link, status.ok() ? "its stream ended" : std::string(status.message()));
    writer.join();
    return ToGrpc(status);
  }

 private:
  Host& host_;
};

Listener::Listener() = default;
Listener::~Listener() = default;

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(const std::string& listen, Host& host) {
  std::unique_ptr<Listener> listener(new Listener());
  listener->service_ = std::make_unique<Service>(host);
  BANDANA_ASSIGN_OR_RETURN(listener->server_, OpenServer(listen, *listener->service_, listener->address_));
  return listener;
}

void Listener::Shutdown(absl::Duration grace) {
  server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(grace));
}

}  // namespace bandana::service
