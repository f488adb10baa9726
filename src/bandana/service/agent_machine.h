#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/service/agent.h"
#include "bandana/service/machine.h"
#include "bandana/service/one_round.h"
#include "bandana/service/role_world.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// An agent's side of a run, as far as all agents share it: it joins, takes deliveries one by one, and hears
/// how the run ends. A derived class works on the deliveries.
class AgentMachine : public Machine {
 public:
  /// `params` must outlive the machine.
  explicit AgentMachine(const AgentParams& params);

  void Attach(store::StoreLedger& ledger, const store::Key& secret) final { world_.Attach(ledger, secret); }
  absl::Status Admits(const std::string& link) const final;
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string& link, std::string_view body) const final;
  absl::Status Begin() final;
  absl::Status Take(const std::string& link, Input& input) final;
  absl::StatusOr<bool> Work() final;
  Absence JudgeAbsence(const std::string&) const final { return Absence::kStop; }
  absl::Status Lose(const std::string& link, const std::string& why) final;
  void Abort(const absl::Status& why) final;
  bool over() const final { return over_; }
  absl::Status result() const final { return result_; }

  /// Without what only the process knows, such as its bytes.
  const AgentReport& report() const { return report_; }

 protected:
  const AgentParams& params() const { return params_; }
  RoleWorld& world() { return world_; }
  AgentReport& counts() { return report_; }

  /// Takes the server's answer to the Join.
  virtual absl::Status TakeWelcome(const v1::Welcome&) { return absl::OkStatus(); }
  /// Looks at a delivery before any of its clients is asked.
  virtual absl::Status TakeMessage(const Message& message) = 0;
  /// Works on the delivery for one of its clients. Returns whether there is more to do for that client.
  virtual absl::StatusOr<bool> WorkFor(NodeId client, const Message& message) = 0;
  /// Sends what has gathered. Called at the latest when a delivery is done.
  virtual absl::Status SendGathered() { return absl::OkStatus(); }
  /// Returns the message that a client wants to send, if it may. Ends the run otherwise.
  virtual absl::Status TakeSent(NodeId from, NodeId to, Payload payload) = 0;

  /// Returns the first error of TakeSent.
  const absl::Status& sent() const { return sent_; }

  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.first_client, "first client");
    a.Same(params_.clients, "number of clients");
    a(deliveries_, next_, over_, result_, report_.shares, report_.repeats, report_.rounds);
    if constexpr (Archive::kReads) {
      if (!deliveries_.empty() && !current_.ParseFromString(deliveries_.front())) {
        a.Check(false, "a delivery cannot be read");
      }
    }
  }

 private:
  struct Letter;
  absl::Status Open();

  const AgentParams& params_;
  RoleWorld world_;
  std::vector<std::string> deliveries_;  // those that are not done, serialized
  std::uint64_t next_ = 0;               // index of the next client in the first delivery
  v1::Delivery current_;                 // the first delivery
  std::optional<Message> message_;       // of the first delivery, once it was looked at
  absl::Status sent_;
  bool over_ = false;
  absl::Status result_;
  AgentReport report_;
};

/// An agent whose clients answer plans.
std::unique_ptr<AgentMachine> MakePlanAgent(const AgentParams& params,
                                            std::function<std::unique_ptr<Player>(NodeId)> make_player,
                                            SlotWorld& world);

/// An agent whose clients play round by round.
std::unique_ptr<AgentMachine> MakeRoundAgent(
    const AgentParams& params, std::function<std::unique_ptr<RoundPlayer<double>>(NodeId)> make_player,
    RoundWorld& world, OneRound one_round);

}  // namespace bandana::service
