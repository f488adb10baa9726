#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "bandana/algorithms/arms/create.h"
#include "bandana/bandit/worlds/arm_world.h"
#include "bandana/core/status.h"
#include "bandana/sim/simulate.h"
#include "gmock/gmock.h"

namespace bandana {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Privacy kNoPrivacy{.model = TrustModel::kNone, .none_because = "a test"};

Privacy Private(TrustModel model) { return {.model = model, .epsilon = 1}; }

/// A user's own world: customers pay one of three prices, as a fixed list says. Nobody knows a gap.
class PriceList final : public SlotWorld {
 public:
  PriceList() {
    facts_.horizon = 30'000;
    facts_.people = 4;
    facts_.arms = 3;
    facts_.rewards = {0, 8};
  }

  const Facts& facts() const override { return facts_; }

  absl::Status Answer(NodeId who, Epoch, std::span<const Pull> pulls, std::span<RewardSum> rewards) override {
    static constexpr double kPaid[] = {2, 5, 3.5};
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      const auto count = static_cast<double>(pulls[i].count);
      rewards[i] = {pulls[i].count, count * kPaid[pulls[i].arm]};
      if (pulls[i].arm == 1) best_[who.value - 1] += pulls[i].count;
      played_[who.value - 1] += pulls[i].count;
    }
    return absl::OkStatus();
  }

  double BestRate(std::size_t agent) const {
    return static_cast<double>(best_[agent]) / static_cast<double>(played_[agent]);
  }
  Count played(std::size_t agent) const { return played_[agent]; }

 private:
  Facts facts_;
  Count best_[4] = {};
  Count played_[4] = {};
};

void PlaysWell(const absl::StatusOr<Federation>& federation, PriceList& world) {
  ASSERT_TRUE(federation.ok()) << federation.status();
  const auto outcome = Simulate(*federation, world, {.seed = 2, .decisions = true});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  for (std::size_t agent = 0; agent < 4; ++agent) {
    EXPECT_EQ(world.played(agent), 30'000);
    EXPECT_GT(world.BestRate(agent), 0.9);
  }
  ASSERT_THAT(outcome->checkpoints, SizeIs(1));
  const Checkpoint& end = outcome->checkpoints.back();
  EXPECT_TRUE(std::isnan(end.regret)) << "nobody knows it";
  EXPECT_TRUE(std::isnan(end.best_action_rate));
  EXPECT_GT(end.rounds, 0);
  EXPECT_GT(end.series.at("messages"), 0);
  EXPECT_THAT(outcome->decisions, SizeIs(4));
}

TEST(SimulateTicksTest, AUsersOwnWorldIsPlayedWithAServer) {
  for (const Privacy& privacy : {kNoPrivacy, Private(TrustModel::kSilo)}) {
    PriceList world;
    PlaysWell(CreateCdpMab({}, privacy, world.facts()), world);
  }
}

TEST(SimulateTicksTest, AUsersOwnWorldIsPlayedByPeers) {
  for (const Privacy& privacy : {kNoPrivacy, Private(TrustModel::kPeer)}) {
    PriceList world;
    PlaysWell(CreateDdpMab({.network = {.topology = GraphShape::kRing}}, privacy, world.facts()), world);
  }
}

TEST(SimulateTicksTest, ClaimsSayWhatTheyNeedOfAWorldThatIsNotOurs) {
  const PriceList world;
  const Federation ours = CreateCdpMab({}, Private(TrustModel::kSilo), world.facts()).value();
  ASSERT_THAT(ours.notes, SizeIs(2));
  EXPECT_EQ(ours.notes.front().weight, Note::Weight::kNarrowsClaim);
  EXPECT_THAT(ours.notes.front().text, HasSubstr("exact"));
  EXPECT_THAT(ours.claims, SizeIs(2));
  EXPECT_EQ(ours.void_reason(), "");
  EXPECT_THAT(CreateCdpMab({}, kNoPrivacy, world.facts())->notes, IsEmpty());
}

TEST(SimulateTicksTest, WhatAWorldDoesNotKnowCannotBeUsed) {
  const PriceList world;
  const absl::Status gap =
      CreateCdpMab({.rounds = 3, .gap = {.known = true}}, kNoPrivacy, world.facts()).status();
  EXPECT_EQ(InputErrorOf(gap)->key, "gap");
  EXPECT_EQ(PartOf(gap), Part::kParams);
  EXPECT_TRUE(CreateCdpMab({.gap = {.known = true}}, kNoPrivacy, world.facts()).ok()) << "without rounds";
  const absl::Status rewards = CreateUcb1({}, kNoPrivacy, world.facts()).status();
  EXPECT_EQ(InputErrorOf(rewards)->key, "rewards");
  EXPECT_EQ(PartOf(rewards), Part::kFacts);
}

// --- errors of programs that fill in structs

absl::StatusOr<std::unique_ptr<World>> SomeWorld() {
  return MakeMab({.agents = 6, .actions = 4}, {.horizon = 2'000, .seed = 7});
}

TEST(SimulateTicksTest, ErrorsNameFields) {
  const auto world = SomeWorld().value();
  const Facts& facts = world->facts();
  const auto key = [](const absl::StatusOr<Federation>& made) {
    return made.ok() ? "" : InputErrorOf(made.status())->key;
  };
  EXPECT_EQ(key(CreateCdpMab({.participation = 0}, kNoPrivacy, facts)), "participation");
  EXPECT_EQ(key(CreateCdpMab({.failure = 1}, kNoPrivacy, facts)), "failure");
  EXPECT_EQ(key(CreateCdpMab({.rounds = 0}, kNoPrivacy, facts)), "rounds");
  EXPECT_EQ(key(CreateCdpMab({.cost_server = std::nan("")}, kNoPrivacy, facts)), "cost_server");
  EXPECT_EQ(key(CreateDdpMab({.slack = -1}, kNoPrivacy, facts)), "slack");
  EXPECT_EQ(key(CreateHdpMab({.network = {.components = {4, 4}}}, kNoPrivacy, facts)), "components");
  EXPECT_EQ(key(CreateCdpMab({}, Privacy{}, facts)), "model") << "nothing was chosen";
  EXPECT_EQ(key(CreateCdpMab({}, Private(TrustModel::kPeer), facts)), "model");
  EXPECT_EQ(key(CreateDdpMab({}, Private(TrustModel::kSilo), facts)), "model");
  EXPECT_EQ(key(CreateUcb1({}, Private(TrustModel::kSilo), facts)), "model");
  EXPECT_EQ(key(CreateCdpMab({}, {.model = TrustModel::kSilo}, facts)), "epsilon");
  EXPECT_EQ(key(CreateCdpMab({}, {.model = TrustModel::kNone}, facts)), "none_because");
  EXPECT_EQ(key(CreateCdpMab({}, kNoPrivacy, Facts{.horizon = 10, .arms = 2})), "people");
  EXPECT_EQ(key(CreateCdpMab({}, kNoPrivacy, Facts{.horizon = 10, .people = 2})), "arms");
  EXPECT_EQ(key(CreateCdpMab({}, kNoPrivacy, Facts{.people = 2, .arms = 2})), "horizon");
  EXPECT_EQ(key(CreateUcb1({}, kNoPrivacy, Facts{.horizon = 10, .people = 2})), "arms");
  EXPECT_EQ(InputErrorOf(MakeMab({.agents = 2}, {.horizon = 10}).status())->key, "actions");
  EXPECT_EQ(InputErrorOf(MakeMab({.agents = 2, .means = {0.5}, .gap = 0.1}, {}).status())->key, "gap");
  EXPECT_EQ(InputErrorOf(MakeMab({.agents = 2, .means = {0.5}, .actions = 2}, {}).status())->key, "means");
}

TEST(SimulateTicksTest, FailuresMustBeOfTheNetwork) {
  const auto world = SomeWorld().value();
  const Federation peers =
      CreateDdpMab({.network = {.topology = GraphShape::kLine}}, kNoPrivacy, world->facts()).value();
  using enum Failure::Kind;
  for (const Failure& wrong : {Failure{kAgent, {7}, {}, 1}, Failure{kMiss, {0}, {}, 1},
                               Failure{kLink, {1}, {3}, 1}, Failure{kLink, {0}, {3}, 1}}) {
    const absl::Status status = Simulate(peers, *world, {.failures = {wrong}}).status();
    EXPECT_EQ(InputErrorOf(status)->key, "failures") << ToText(wrong);
  }
  for (const double wrong : {-0.1, 1.0, std::nan("")}) {
    EXPECT_EQ(InputErrorOf(Simulate(peers, *world, {.dropout = wrong}).status())->key, "dropout");
  }
  const auto cut = Simulate(peers, *world, {.failures = {{kLink, {3}, {2}, 1}}});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_THAT(cut->network->lost_links, ElementsAre(Edge{{2}, {3}}));
}

// --- a federation is a recipe

TEST(SimulateTicksTest, ThreadsMayShareAFederation) {
  const auto world = SomeWorld().value();
  const Federation peers =
      CreateDdpMab({.protocol = Protocol::kGossip, .network = {.topology = GraphShape::kRing}},
                   Private(TrustModel::kPeer), world->facts())
          .value();
  std::vector<double> regret(4);
  std::vector<std::thread> threads;
  for (double& each : regret) {
    threads.emplace_back([&] {
      const auto own = SomeWorld().value();
      each = Simulate(peers, *own, {.seed = 7})->checkpoints.back().regret;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(regret, testing::Each(regret.front()));
}

TEST(SimulateTicksTest, CanBeStopped) {
  const auto world = SomeWorld().value();
  const std::atomic<bool> stop = true;
  const Federation federation = CreateSingleMab({}, kNoPrivacy, world->facts()).value();
  EXPECT_EQ(Simulate(federation, *world, {.stop = &stop}).status().code(), absl::StatusCode::kCancelled);
}

// A world whose rewards leave [0, 1] cannot break a baseline.
class Wild final : public SlotWorld {
 public:
  const Facts& facts() const override { return facts_; }
  absl::Status Answer(NodeId, Epoch, std::span<const Pull> pulls, std::span<RewardSum> rewards) override {
    const double sums[] = {-5, 1e9, std::numeric_limits<double>::quiet_NaN()};
    for (std::size_t i = 0; i < pulls.size(); ++i) rewards[i] = {pulls[i].count, sums[pulls[i].arm]};
    return absl::OkStatus();
  }

 private:
  Facts facts_{.horizon = 1'000, .people = 1, .arms = 3};
};

TEST(SimulateTicksTest, BaselinesClipRewards) {
  for (const bool sweeps : {false, true}) {
    Wild world;
    const Federation federation = (sweeps ? CreateSuccessiveElimination({}, kNoPrivacy, world.facts())
                                          : CreateUcb1({}, kNoPrivacy, world.facts()))
                                      .value();
    const auto outcome = Simulate(federation, world, {.decisions = true});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    Count best = 0;
    for (const Pull& pull : outcome->decisions.front()) best += pull.arm == 1 ? pull.count : 0;
    EXPECT_GT(best, 500);
  }
}

}  // namespace
}  // namespace bandana
