#include "bandana/service/network_node.h"

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/process.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

bool IsForNetwork(const Payload& body) {
  return std::holds_alternative<Advert>(body) || std::holds_alternative<Request>(body) ||
         std::holds_alternative<Tallies>(body) || std::holds_alternative<Collected>(body) ||
         std::holds_alternative<std::shared_ptr<const ArmPlan>>(body);
}

constexpr LinkProtocol kTicks{.first = 0,
                              .last = std::numeric_limits<Slot>::max(),
                              .carries = IsForNetwork,
                              .kinds = "messages of a network with arms"};

// A node's side of a run. Slots are ticks.
class NetworkMachine final : public LockStep {
 public:
  NetworkMachine(const PeerParams& params, NetworkPlayer& player, SlotWorld& environment)
      : LockStep(params, kTicks), player_(player), environment_(environment) {}

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    LockStep::State(a);
    a(quiet_);
    VisitPart(a, player_);
    VisitPart(a, environment_);
  }

 protected:
  absl::Status Play(const std::vector<Message>& messages) override {
    if (slot() == kTicks.first) return player_.OnStart(context());
    for (const Message& message : messages) BANDANA_RETURN_IF_ERROR(player_.OnMessage(context(), message));
    BANDANA_ASSIGN_OR_RETURN(const bool has_pulled, PlayOut());
    BANDANA_RETURN_IF_ERROR(player_.EndTick(context()));
    quiet_ = has_pulled || has_sent() || !messages.empty() ? 0 : quiet_ + 1;
    if (quiet_ <= QuietTicks(params().nodes) || player_.finished()) return absl::OkStatus();
    player_.OnSilence(context());
    BANDANA_RETURN_IF_ERROR(PlayOut().status());
    return player_.finished() ? absl::OkStatus()
                              : absl::InternalError("a node waits for a message that never comes");
  }
  bool is_last() const override { return player_.finished(); }
  bool tells_last() const override { return true; }

 private:
  // Plays until the role pulls nothing more. Returns whether it pulled anything.
  absl::StatusOr<bool> PlayOut() {
    for (bool has_pulled = false;; has_pulled = true) {
      const std::span<const Pull> pulls = player_.Act(context());
      if (pulls.empty()) return has_pulled;
      rewards_.resize(pulls.size());
      BANDANA_RETURN_IF_ERROR(environment_.Answer(params().self, 0, pulls, rewards_));
      BANDANA_RETURN_IF_ERROR(player_.Observe(context(), Raw<RewardSums>(rewards_)));
    }
  }

  NetworkPlayer& player_;
  SlotWorld& environment_;
  std::vector<RewardSum> rewards_;
  Count quiet_ = 0;  // ticks in a row in which nothing happened at this node
};

}  // namespace

absl::StatusOr<std::unique_ptr<LockStep>> MakeNetworkNode(const PeerParams& params, NetworkPlayer& player,
                                                          SlotWorld& environment) {
  if (params.nodes < 1 || params.nodes >= Count{kShufflerNode.value}) {
    return InvalidField(Part::kFacts, "people", fmt::format("{}", params.nodes),
                        "a whole number from 1 to 4294967294");
  }
  BANDANA_RETURN_IF_ERROR(ValidateLockStep(params, static_cast<std::uint32_t>(params.nodes), true));
  return std::make_unique<NetworkMachine>(params, player, environment);
}

absl::StatusOr<PeerReport> RunNetworkNode(const PeerParams& params, NetworkPlayer& player,
                                          SlotWorld& environment) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<LockStep> machine,
                           MakeNetworkNode(params, player, environment));
  return RunInLockStep(params, *machine);
}

}  // namespace bandana::service
