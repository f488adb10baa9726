#include <algorithm>
#include <array>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/algorithms/fed_ucb/noise_norms.h"
#include "bandana/audit/catalog.h"
#include "bandana/audit/shuffler_tap.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/prefix_sum.h"
#include "bandana/privacy/silo_prefix_sum.h"
#include "bandana/privacy/wire.h"
#include "bandana/sim/simulate.h"

/// Whole runs of FedUCB with two agents and a shuffler, on interactive streams. The second agent works with
/// the controller. It knows its own share of every sum, subtracts it, and so sees the first agent's share
/// with nothing but the first agent's noise.
namespace bandana::audit {
namespace {

constexpr Count kBatch = 16;
constexpr Count kSyncs = 3;
constexpr std::size_t kSumsPerShare = 5;  // x_1^2/sqrt2, x_1 x_2, x_2^2/sqrt2, w y x_1, w y x_2
constexpr NodeId kVictim{1};
constexpr double kFailure = 0.05;
constexpr std::int64_t kParticipantDraws = 100'000;
constexpr std::int64_t kShuffleRunDraws = 20'000;

/// The first record of the victim is (e_1, -1) or (e_2, 1), which are nearly as far apart as records can be.
/// With LocalData::kRaw both are at e_1, as in fed_ucb_entries.cc. After that the arms are e_1 and e_2, and
/// rewards are the same for both neighbours.
class TwoAgents final : public RoundWorld {
 public:
  TwoAgents(Neighbour neighbour, LocalData local)
      : second_(neighbour == Neighbour::kSecond), raw_(local == LocalData::kRaw) {}

  const Facts& facts() const override { return facts_; }

  void Fill(NodeId agent, Count first_round, DecisionBlock<double>& block) override {
    for (Count at = 0; at < block.rounds(); ++at) {
      double* entries = block.entries(at);
      const bool first = first_round + at == 1;
      const bool at_e2 = first && second_ && !raw_ && agent == kVictim;
      entries[0] = at_e2 ? 0 : 1;
      entries[1] = first && !at_e2 ? 1 : 0;
      entries[block.stride()] = at_e2 ? 1 : 0;
      entries[block.stride() + 1] = !first || at_e2 ? 1 : 0;
    }
    first_round_ = first_round;
  }

  double Reward(const DecisionBlock<double>&, NodeId agent, Count at, ArmId arm) override {
    const Count round = first_round_ + at;
    if (agent == kVictim && round == 1) return second_ ? 1 : -1;
    if (agent == kVictim && round <= kBatch * kSyncs) {
      ++played_[static_cast<std::size_t>((round - 1) / kBatch)][static_cast<std::size_t>(arm)];
    }
    return raw_ ? 1 : 0;
  }

  /// Returns how often the victim played an arm in a step, after its first round.
  double Played(std::int64_t step, int arm) const {
    return played_[static_cast<std::size_t>(step - 1)][static_cast<std::size_t>(arm)];
  }

 private:
  Facts facts_{
      .horizon = kBatch * kSyncs + 1, .people = 2, .arms = 2, .dimension = 2, .rewards = Interval{-1, 1}};
  bool second_;
  bool raw_;
  Count first_round_ = 1;
  std::array<std::array<double, 2>, kSyncs> played_ = {};
};

// Writes the victim's shares into the view.
ShufflerTap::See SharesOfVictim(std::span<double> view) {
  return [view](const Message& message) {
    const auto* share = std::get_if<Share>(&message.body);
    if (share == nullptr || message.origin != kVictim) return;
    const std::size_t first = static_cast<std::size_t>(share->epoch - 1) * kSumsPerShare;
    const auto& units = Wire::Units(share->report);
    BANDANA_CHECK(units.size() == kSumsPerShare && first + units.size() <= view.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
      view[first + i] = static_cast<double>(units[i]) * SiloPrefixSum::kUnit;
    }
  };
}

// Calls `use` with the place of each step's share in the view, and the weight of an earlier step's sum in it.
template <class Use>
void ForEachWeight(const PrefixSumStrategy& strategy, Use use) {
  for (std::int64_t step = 1; step <= kSyncs; ++step) {
    for (const WeightedTerm& term : strategy.Functional(step, 0)) {
      use(static_cast<std::size_t>(step - 1) * kSumsPerShare, term.index, term.weight);
    }
  }
}

// Subtracts the victim's records after the first. With LocalData::kReleased an action is a public function of
// releases and of its own decision set, so the adversary knows them. Their rewards are 0.
void SubtractKnown(const PrefixSumStrategy& strategy, const TwoAgents& world, std::span<double> view) {
  ForEachWeight(strategy, [&](std::size_t first, std::int64_t step, double weight) {
    view[first] -= weight * world.Played(step, 0) / std::numbers::sqrt2;
    view[first + 2] -= weight * world.Played(step, 1) / std::numbers::sqrt2;
  });
}

// Returns how the first record changes the shares.
std::vector<double> DirectionOf(const PrefixSumStrategy& strategy) {
  const double reward_weight = BestRewardWeight(2, 1, 1, 1, kFailure, 2);
  const std::array change = {-1 / std::numbers::sqrt2, 0.0, 1 / std::numbers::sqrt2, reward_weight,
                             reward_weight};
  std::vector<double> direction(kSyncs * kSumsPerShare, 0);
  ForEachWeight(strategy, [&](std::size_t first, std::int64_t step, double weight) {
    if (step != 1) return;
    for (std::size_t i = 0; i < change.size(); ++i) direction[first + i] = weight * change[i];
  });
  return direction;
}

auto ShuffledStream(LocalData local) {
  return [local](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    const Privacy privacy{.model = TrustModel::kShuffle, .epsilon = nominal.epsilon, .delta = nominal.delta};
    const FedUcbParams params{.sync = Sync::kBatch,
                              .batch = kBatch,
                              .local = local,
                              .prefix_sum = PrefixSumMechanism::kToeplitz,
                              .failure = kFailure};
    BANDANA_ASSIGN_OR_RETURN(const Federation federation,
                             CreateFedUcb(params, privacy, TwoAgents(Neighbour::kFirst, local).facts()));
    BANDANA_ASSIGN_OR_RETURN(auto made, PrefixSumStrategy::Create(PrefixSumMechanism::kToeplitz, kSyncs));
    const std::shared_ptr<const PrefixSumStrategy> strategy = std::move(made);
    Target target{.name = name, .claim = federation.claims.front(), .dimension = kSyncs * kSumsPerShare};
    if (local == LocalData::kReleased) target.direction = DirectionOf(*strategy);
    target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
      std::fill(view.begin(), view.end(), 0.0);
      Federation tapped = federation;
      auto& roles = std::get<RoundRoles>(tapped.roles);
      roles.shuffler = [shuffler = roles.shuffler, view] {
        return std::make_unique<ShufflerTap>(shuffler(), SharesOfVictim(view));
      };
      TwoAgents world(neighbour, local);
      BANDANA_RETURN_IF_ERROR(Simulate(tapped, world, {.seed = noise()}).status());
      if (local == LocalData::kReleased) SubtractKnown(*strategy, world, view);
      return absl::OkStatus();
    };
    return target;
  };
}

}  // namespace

std::vector<Entry> FedUcbShuffleEntries() {
  return {
      {"fed-ucb-shuffle-participant",
       "whole runs of FedUCB through a shuffler; one of two agents subtracts its own share", kSharp,
       kParticipantDraws, ShuffledStream(LocalData::kReleased)},
      {"fed-ucb-shuffle-raw",
       "fed-ucb-shuffle-participant, but agents also act on their own unreleased records, as in P3", kSharp,
       kShuffleRunDraws, ShuffledStream(LocalData::kRaw),
       "with local = raw one record changes later actions, and these change later records; a shuffler does "
       "not help against that"},
  };
}

}  // namespace bandana::audit
