#include "bandana/service/network_node.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/service/lock_step.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

bool IsForNetwork(const Payload& body) {
  return std::holds_alternative<Advert>(body) || std::holds_alternative<Request>(body) ||
         std::holds_alternative<Tallies>(body) || std::holds_alternative<Collected>(body) ||
         std::holds_alternative<std::shared_ptr<const ArmPlan>>(body);
}

constexpr Manner kTicks{.first = 0,
                        .last = std::numeric_limits<Slot>::max(),
                        .carries = IsForNetwork,
                        .kinds = "messages of a network with arms"};

// A node's side of a run: slots are ticks.
class NetworkRun : public LockStep {
 public:
  NetworkRun(const PeerParams& params, const Manner& manner, PeerLinks& links, NetworkPlayer& player,
             Environment& environment)
      : LockStep(params, manner, links), player_(player), environment_(environment) {}

  absl::Status Run() {
    BANDANA_RETURN_IF_ERROR(Begin());
    BANDANA_RETURN_IF_ERROR(player_.OnStart(context()));
    BANDANA_RETURN_IF_ERROR(EndSlot(player_.finished()));
    while (!player_.finished()) {
      BANDANA_RETURN_IF_ERROR(PlayTick());
      BANDANA_RETURN_IF_ERROR(EndSlot(player_.finished()));
    }
    End(slot() - 1);
    return absl::OkStatus();
  }

 private:
  absl::Status PlayTick() {
    BANDANA_ASSIGN_OR_RETURN(const PeerLinks::Received received, Receive());
    if (received.from_nobody) {
      player_.OnSilence(context());
      BANDANA_RETURN_IF_ERROR(PlayOut());
      return player_.finished() ? absl::OkStatus()
                                : absl::InternalError("a role waits, and nobody is left to wait for");
    }
    for (const Message& message : received.messages) {
      BANDANA_RETURN_IF_ERROR(player_.OnMessage(context(), message));
    }
    BANDANA_RETURN_IF_ERROR(PlayOut());
    return player_.EndTick(context());
  }

  absl::Status PlayOut() {
    const auto epoch = static_cast<Epoch>(std::min<Slot>(slot(), std::numeric_limits<Epoch>::max()));
    while (true) {
      BANDANA_RETURN_IF_ERROR(CheckStop());
      const std::span<const Pull> pulls = player_.Act(context());
      if (pulls.empty()) return absl::OkStatus();
      rewards_.resize(pulls.size());
      BANDANA_RETURN_IF_ERROR(environment_.Answer(params().self, epoch, pulls, rewards_));
      BANDANA_RETURN_IF_ERROR(player_.Observe(context(), Raw<RewardSums>(rewards_)));
    }
  }

  NetworkPlayer& player_;
  Environment& environment_;
  std::vector<RewardSum> rewards_;
};

}  // namespace

absl::StatusOr<PeerReport> RunNetworkNode(const PeerParams& params, NetworkPlayer& player,
                                          Environment& environment) {
  if (params.nodes < 1 || params.nodes >= Count{kShufflerNode.value}) {
    return InvalidOption("federation.agents", fmt::format("{}", params.nodes),
                         "a whole number from 1 to 4294967294");
  }
  BANDANA_RETURN_IF_ERROR(ValidateLockStep(params, static_cast<std::uint32_t>(params.nodes), true));
  return RunInLockStep<NetworkRun>(params, kTicks, player, environment);
}

}  // namespace bandana::service
