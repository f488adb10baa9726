#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "bandana/federation/node.h"
#include "bandana/federation/roll_call.h"
#include "bandana/federation/topology.h"
#include "bandana/service/codec.h"
#include "bandana/service/role_context.h"
#include "bandana/service/route.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// What a shuffler process does with rolls and shares. Calls come one at a time, and `send` in the midst of
/// them.
class Mixer {
 public:
  /// To the server.
  using Sender = std::function<void(v1::Message message)>;

  virtual ~Mixer() = default;
  virtual absl::Status TakeRoll(const Message& roll) = 0;

  /// Without any state. An error is the sender's fault.
  virtual absl::Status CheckShare(const v1::Message& share) const = 0;

  /// One that was checked, also for whose it is.
  virtual absl::Status TakeShare(v1::Message& share) = 0;
};

/// Numbers: a role does it.
class RoleMixer final : public Mixer {
 public:
  RoleMixer(Node& shuffler, Count clients, std::optional<InsecureSeed> seed, Sender send);

  absl::Status TakeRoll(const Message& roll) override;
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

/// Sealed bits: all clients' bits of a coordinate, in an order drawn from the operating system's entropy.
class BitMixer final : public Mixer {
 public:
  /// `name_of` says who speaks for a client.
  BitMixer(const Route& route, Sender send, std::function<std::string(NodeId)> name_of)
      : route_(route), send_(std::move(send)), name_of_(std::move(name_of)) {}

  absl::Status TakeRoll(const Message& roll) override;
  absl::Status CheckShare(const v1::Message& share) const override;
  absl::Status TakeShare(v1::Message& share) override;

 private:
  absl::Status Mix(RollCall<SealedReport>::Outcome outcome);
  absl::Status Check(const RollCall<SealedReport>::Complete& complete, std::size_t bits) const;
  void SendBits(Epoch epoch, std::uint32_t coordinate, const std::string& bits);

  const Route& route_;
  Sender send_;
  std::function<std::string(NodeId)> name_of_;
  RollCall<SealedReport> roll_call_;
  Seq next_seq_ = 0;
};

}  // namespace bandana::service
