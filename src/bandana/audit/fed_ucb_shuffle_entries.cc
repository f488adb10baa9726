#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/audit/catalog.h"
#include "bandana/core/status.h"
#include "bandana/privacy/silo_prefix_sum.h"
#include "bandana/privacy/wire.h"
#include "bandana/sim/simulate.h"

/// Whole runs of FedUCB with two agents and a shuffler, on the interactive stream of fed_ucb_entries.cc. The
/// second agent works with the controller. It knows its own share of every sum, subtracts it, and so sees the
/// first agent's share with nothing but the first agent's noise.
namespace bandana::audit {
namespace {

constexpr Count kBatch = 16;
constexpr Count kSyncs = 3;
constexpr std::size_t kSumsPerShare = 5;  // the entries of x x' and y x in the plane
constexpr NodeId kVictim{1};
constexpr std::int64_t kShuffleRunDraws = 20'000;

class TwoAgents final : public RoundWorld {
 public:
  explicit TwoAgents(Neighbour neighbour) : first_reward_(neighbour == Neighbour::kSecond ? 1 : -1) {}

  const Facts& facts() const override { return facts_; }

  // In the first round both arms are e_1. After that they are e_1 and e_2.
  void Fill(NodeId, Count first_round, DecisionBlock<double>& block) override {
    for (Count at = 0; at < block.rounds(); ++at) {
      double* entries = block.entries(at);
      const bool first = first_round + at == 1;
      entries[0] = 1;
      entries[1] = first ? 1 : 0;
      entries[block.stride()] = 0;
      entries[block.stride() + 1] = first ? 0 : 1;
    }
    first_round_ = first_round;
  }

  double Reward(const DecisionBlock<double>&, NodeId agent, Count at, ArmId) override {
    return agent == kVictim && first_round_ + at == 1 ? first_reward_ : 1;
  }

 private:
  Facts facts_{
      .horizon = kBatch * kSyncs + 1, .people = 2, .arms = 2, .dimension = 2, .rewards = Interval{-1, 1}};
  double first_reward_;
  Count first_round_ = 1;
};

/// A shuffler that also writes down what it gets from the victim.
class Tap final : public Node {
 public:
  Tap(std::unique_ptr<Node> shuffler, std::span<double> view) : shuffler_(std::move(shuffler)), view_(view) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    const auto* share = std::get_if<Share>(&message.body);
    if (share != nullptr && message.origin == kVictim) {
      const std::size_t first = static_cast<std::size_t>(share->epoch - 1) * kSumsPerShare;
      const auto& units = Wire::Units(share->report);
      BANDANA_CHECK(units.size() == kSumsPerShare && first + units.size() <= view_.size());
      for (std::size_t i = 0; i < units.size(); ++i) {
        view_[first + i] = static_cast<double>(units[i]) * SiloPrefixSum::kUnit;
      }
    }
    return shuffler_->OnMessage(context, message);
  }
  bool finished() const override { return shuffler_->finished(); }
  std::string Save() const override { return shuffler_->Save(); }
  absl::Status Restore(std::string_view saved) override { return shuffler_->Restore(saved); }

 private:
  std::unique_ptr<Node> shuffler_;
  std::span<double> view_;
};

auto ShuffledStream(LocalData local) {
  return [local](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    const Privacy privacy{.model = TrustModel::kShuffle, .epsilon = nominal.epsilon, .delta = nominal.delta};
    const FedUcbParams params{
        .sync = Sync::kBatch, .batch = kBatch, .local = local, .prefix_sum = PrefixSumMechanism::kToeplitz};
    BANDANA_ASSIGN_OR_RETURN(const Federation federation,
                             CreateFedUcb(params, privacy, TwoAgents(Neighbour::kFirst).facts()));
    Target target{.name = name, .claim = federation.claims.front(), .dimension = kSyncs * kSumsPerShare};
    // The first share depends on nothing but the first reward, by its entry y x_1.
    target.direction.assign(target.dimension, 0);
    if (local == LocalData::kReleased) target.direction[3] = 1;
    if (local == LocalData::kRaw) target.direction.clear();
    target.draw = [federation](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
      std::fill(view.begin(), view.end(), 0.0);
      Federation tapped = federation;
      auto& roles = std::get<RoundRoles>(tapped.roles);
      roles.shuffler = [shuffler = roles.shuffler, view] { return std::make_unique<Tap>(shuffler(), view); };
      TwoAgents world(neighbour);
      return Simulate(tapped, world, {.seed = noise()}).status();
    };
    return target;
  };
}

}  // namespace

std::vector<Entry> FedUcbShuffleEntries() {
  return {
      {"fed-ucb-shuffle-participant",
       "whole runs of FedUCB through a shuffler; one of two agents subtracts its own share", kSharp,
       kShuffleRunDraws, ShuffledStream(LocalData::kReleased)},
      {"fed-ucb-shuffle-raw",
       "fed-ucb-shuffle-participant, but agents also act on their own unreleased records, as in P3", kSharp,
       kShuffleRunDraws, ShuffledStream(LocalData::kRaw),
       "with local = raw one record changes later actions, and these change later records; a shuffler does "
       "not help against that"},
  };
}

}  // namespace bandana::audit
