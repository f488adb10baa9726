#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "bandana/federation/awaited_reports.h"
#include "bandana/federation/node.h"
#include "bandana/federation/topology.h"
#include "bandana/service/codec.h"
#include "bandana/service/role_context.h"
#include "bandana/service/route.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// Mixes the shares of a mix request in a shuffler process. Calls come one at a time, and may call `send`.
class Mixer {
 public:
  /// Sends a message to the server.
  using Sender = std::function<void(v1::Message message)>;

  virtual ~Mixer() = default;
  virtual absl::Status TakeMixRequest(const Message& mix_request) = 0;

  /// Checks a share without any state. An error is the sender's fault.
  virtual absl::Status CheckShare(const v1::Message& share) const = 0;

  /// Takes a share that passed CheckShare and comes from its own client's agent.
  virtual absl::Status TakeShare(v1::Message& share) = 0;
};

/// Mixes numbers; a role does the work.
class RoleMixer final : public Mixer {
 public:
  RoleMixer(Node& shuffler, Count clients, std::optional<InsecureSeed> seed, Sender send);

  absl::Status TakeMixRequest(const Message& mix_request) override;
  absl::Status CheckShare(const v1::Message& share) const override;
  absl::Status TakeShare(v1::Message& share) override;

 private:
  void Send(Payload payload);

  Node& shuffler_;
  Sender send_;
  RoleWorld world_;
  RoleContext context_;
  Seq next_seq_ = 0;
};

/// Mixes sealed bits: pools all clients' bits of a coordinate, in an order drawn from the operating system's
/// entropy.
class BitMixer final : public Mixer {
 public:
  /// `name_of` returns the name of the agent that serves a client.
  BitMixer(const Route& route, Sender send, std::function<std::string(NodeId)> name_of)
      : route_(route), send_(std::move(send)), name_of_(std::move(name_of)) {}

  absl::Status TakeMixRequest(const Message& mix_request) override;
  absl::Status CheckShare(const v1::Message& share) const override;
  absl::Status TakeShare(v1::Message& share) override;

 private:
  absl::Status Mix(AwaitedReports<SealedReport>::Outcome outcome);
  absl::Status Check(const AwaitedReports<SealedReport>::Complete& complete, std::size_t bits) const;
  void SendBits(Epoch epoch, std::uint32_t coordinate, const std::string& bits);

  const Route& route_;
  Sender send_;
  std::function<std::string(NodeId)> name_of_;
  AwaitedReports<SealedReport> awaited_reports_;
  Seq next_seq_ = 0;
};

}  // namespace bandana::service
