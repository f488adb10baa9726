#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/archive.h"
#include "bandana/core/status.h"
#include "policy_kinds.h"
#include "role_door.h"

namespace bandana::python {
namespace {

constexpr NodeId kAgent{1};

/// One agent that pulls arms without contexts. It asks for several pulls at a time; the program makes them
/// one by one, in any order, and the agent hears of them when all have their rewards.
class ArmPolicy final : public Policy {
 public:
  ArmPolicy(const Federation& federation, const TickRoles& roles, const Facts& facts,
            const PolicyDraws& draws)
      : agent_(roles.agent(kAgent)),
        outside_(draws, federation.budget),
        door_(outside_, federation.topology.LinksOf(kAgent)),
        rewards_(facts.rewards),
        protects_(!federation.claims.empty()),
        horizon_(facts.horizon) {
    takes_contexts = false;
  }

  absl::Status Start() {
    BANDANA_RETURN_IF_ERROR(agent_->OnStart(door_));
    return Ask();
  }

  absl::StatusOr<ArmId> Select(const double*) override {
    if (pulls_.empty()) return PastHorizon();
    ++selected_;
    return Next(true);
  }

  absl::StatusOr<bool> Update(const double*, ArmId arm, double reward, std::optional<NodeId>) override {
    if (pulls_.empty()) return PastHorizon();
    // Pulls that the agent has not asked for do not count.
    for (std::size_t i = 0; i < pulls_.size(); ++i) {
      if (pulls_[i].arm != arm || sums_[i].count == pulls_[i].count) continue;
      sums_[i].sum += Rounded(reward);
      ++sums_[i].count;
      ++learned_;
      if (--missing_ == 0) BANDANA_RETURN_IF_ERROR(Tell());
      return true;
    }
    return false;
  }

  // Without contexts all rounds of a batch are this moment's.
  absl::Status SelectMany(const double*, Count rounds, bool, std::int64_t* out) override {
    if (pulls_.empty()) return PastHorizon();
    for (Count i = 0; i < rounds; ++i) out[i] = Next(false);
    return absl::OkStatus();
  }

  absl::Status UpdateMany(const double*, Count rounds, const std::int64_t* played,
                          const double* rewards) override {
    for (Count i = 0; i < rounds; ++i) {
      BANDANA_RETURN_IF_ERROR(
          Update(nullptr, static_cast<ArmId>(played[i]), rewards[i], std::nullopt).status());
    }
    return absl::OkStatus();
  }

  absl::Status Scores(const double*, Count, double*) override {
    return absl::UnimplementedError("this policy has no scores to show; use select()");
  }

  std::string Save() override { return SaveWith({agent_->Save(), Archived()}); }
  absl::Status Restore(std::string_view saved) override;
  std::string secret() const override { return kSilosState; }

 private:
  struct Waiting {
    std::vector<Pull> pulls;
    std::vector<Count> handed;
    std::vector<Count> counts;
    std::vector<double> sums;
    template <class Archive>
    void State(Archive& a) {
      a(pulls, handed, counts, sums);
      bool fits =
          handed.size() == pulls.size() && counts.size() == pulls.size() && sums.size() == pulls.size();
      for (std::size_t i = 0; fits && i < pulls.size(); ++i) {
        fits = counts[i] >= 0 && counts[i] <= pulls[i].count && handed[i] >= 0 && handed[i] <= pulls[i].count;
      }
      a.Check(fits, "the rewards that wait do not belong to its pulls");
    }
  };

  std::string Archived() const;

  absl::Status PastHorizon() const {
    return InvalidField(Part::kFacts, "horizon", static_cast<double>(horizon_),
                        "at least as many rounds as the policy is to play");
  }

  // Rewards are clipped to their interval, and rounded to a grid on which their sums are exact, as the claims
  // want it (docs/proofs/silo-arm-sums.md). A reward that is not finite was refused before.
  double Rounded(double reward) const {
    const double clipped = std::clamp(reward, rewards_.low, rewards_.high);
    return protects_ ? std::ldexp(std::nearbyint(std::ldexp(clipped, 30)), -30) : clipped;
  }

  // Returns the arm of the next pull that nobody makes yet. If all are being made, it is one whose reward is
  // missing.
  ArmId Next(bool hand) {
    for (std::size_t i = 0; i < pulls_.size(); ++i) {
      if (handed_[i] >= pulls_[i].count || sums_[i].count == pulls_[i].count) continue;
      if (hand) ++handed_[i];
      return pulls_[i].arm;
    }
    for (std::size_t i = 0; i < pulls_.size(); ++i) {
      if (sums_[i].count < pulls_[i].count) return pulls_[i].arm;
    }
    return pulls_.front().arm;
  }

  // Asks for pulls, over as many ticks as the agent needs.
  absl::Status Ask() {
    for (Count quiet = 0; !agent_->finished(); ++quiet) {
      const std::span<const Pull> pulls = agent_->Act(door_);
      if (!pulls.empty()) {
        pulls_.assign(pulls.begin(), pulls.end());
        handed_.assign(pulls.size(), 0);
        sums_.assign(pulls.size(), {});
        missing_ = 0;
        for (const Pull& pull : pulls) missing_ += pull.count;
        if (missing_ > 0) return absl::OkStatus();
      }
      BANDANA_RETURN_IF_ERROR(agent_->EndTick(door_));
      if (quiet > QuietTicks(1)) agent_->OnSilence(door_);
    }
    pulls_.clear();
    return absl::OkStatus();
  }

  absl::Status Tell() {
    BANDANA_RETURN_IF_ERROR(agent_->Observe(door_, Raw<RewardSums>(sums_)));
    return Ask();
  }

  std::unique_ptr<NetworkPlayer> agent_;
  RoleOutside outside_;
  RoleDoor door_;
  Interval rewards_;
  bool protects_;
  Count horizon_;
  std::vector<Pull> pulls_;      // what the agent asks for; empty: the run is over
  std::vector<Count> handed_;    // how often the pull was handed out
  std::vector<RewardSum> sums_;  // what came of it
  Count missing_ = 0;
};

std::string ArmPolicy::Archived() const {
  Waiting waiting{pulls_, handed_, {}, {}};
  for (const RewardSum& sum : sums_) {
    waiting.counts.push_back(sum.count);
    waiting.sums.push_back(sum.sum);
  }
  return SaveState(waiting);
}

absl::Status ArmPolicy::Restore(std::string_view saved) {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> roles, RestoreWith(saved, 2));
  BANDANA_RETURN_IF_ERROR(agent_->Restore(roles[0]));
  Waiting waiting;
  BANDANA_RETURN_IF_ERROR(RestoreState(roles[1], waiting));
  pulls_ = std::move(waiting.pulls);
  handed_ = std::move(waiting.handed);
  sums_.clear();
  missing_ = 0;
  for (std::size_t i = 0; i < pulls_.size(); ++i) {
    sums_.push_back({waiting.counts[i], waiting.sums[i]});
    missing_ += pulls_[i].count - waiting.counts[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Policy>> MakeArmPolicy(const Federation& federation, const Facts& facts,
                                                      const PolicyDraws& draws) {
  const auto& roles = std::get<TickRoles>(federation.roles);
  if (roles.server || federation.topology.clients() != 1) {
    return absl::UnimplementedError(
        "only an agent that plays alone is a policy; use bandana.run for a federation");
  }
  auto policy = std::make_unique<ArmPolicy>(federation, roles, facts, draws);
  BANDANA_RETURN_IF_ERROR(policy->Start());
  return policy;
}

}  // namespace bandana::python
