#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "bandana/core/savable.h"
#include "bandana/federation/awaited_reports.h"
#include "bandana/federation/node.h"
#include "bandana/federation/topology.h"
#include "bandana/service/codec.h"
#include "bandana/service/part.h"
#include "bandana/service/role_world.h"
#include "bandana/service/route.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// Mixes the shares of a mix request in a shuffler process. Calls come one at a time, and may call the
/// sender.
class Mixer : public Savable {
 public:
  /// Sends a message to the server.
  using Sender = std::function<void(v1::Message message)>;

  void set_sender(Sender send) { send_ = std::move(send); }
  virtual void Attach(store::StoreLedger&, const store::Key& /*secret*/) {}
  virtual absl::Status TakeMixRequest(const Message& mix_request) = 0;

  /// Checks a share without any state. An error is the sender's fault. May be called by any thread.
  virtual absl::Status CheckShare(const v1::Message& share) const = 0;

  /// Takes a share that passed CheckShare and comes from its own client's agent.
  virtual absl::Status TakeShare(v1::Message& share) = 0;

 protected:
  void SendMessage(v1::Message message) { send_(std::move(message)); }

 private:
  Sender send_;
};

/// Mixes numbers; a role does the work.
class RoleMixer final : public Mixer {
 public:
  RoleMixer(Node& shuffler, Count clients, std::optional<InsecureSeed> seed);

  void Attach(store::StoreLedger& ledger, const store::Key& secret) override {
    world_.Attach(ledger, secret);
  }
  absl::Status TakeMixRequest(const Message& mix_request) override;
  absl::Status CheckShare(const v1::Message& share) const override;
  absl::Status TakeShare(v1::Message& share) override;
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(context_, next_seq_);
    VisitPart(a, shuffler_);
  }

 private:
  void Send(Payload payload);

  Node& shuffler_;
  RoleWorld world_;
  RoleContext context_;
  Seq next_seq_ = 0;
};

/// Mixes sealed bits: pools all clients' bits of a coordinate, in an order drawn from the operating system's
/// entropy. A role cannot read the bits.
class BitMixer final : public Mixer {
 public:
  /// `route` must outlive the mixer.
  explicit BitMixer(const Route& route) : route_(route) {}

  absl::Status TakeMixRequest(const Message& mix_request) override;
  absl::Status CheckShare(const v1::Message& share) const override;
  absl::Status TakeShare(v1::Message& share) override;
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(awaited_reports_, next_seq_);
  }

 private:
  absl::Status Mix(AwaitedReports<SealedReport>::Outcome outcome);
  absl::Status Check(const AwaitedReports<SealedReport>::Complete& complete, std::size_t bits) const;
  void SendBits(Epoch epoch, std::uint32_t coordinate, const std::string& bits);

  const Route& route_;
  AwaitedReports<SealedReport> awaited_reports_;
  Seq next_seq_ = 0;
};

}  // namespace bandana::service
