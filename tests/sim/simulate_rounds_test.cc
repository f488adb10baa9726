#include <atomic>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/bandit/worlds/round_contexts.h"
#include "bandana/core/status.h"
#include "bandana/sim/simulate.h"
#include "gmock/gmock.h"

namespace bandana {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A world that a user wrote: shops that show one of three offers to each visitor, in an order that changes.
/// Nobody knows how good an offer is; rewards come from outside.
class Shops final : public RoundWorld {
 public:
  explicit Shops(Count shops, Count visitors = 400)
      : facts_{.horizon = visitors, .people = shops, .arms = 3, .dimension = 3},
        visitors_(static_cast<std::size_t>(shops)) {
    for (std::size_t i = 0; i < visitors_.size(); ++i) visitors_[i].seed(i + 1);
    best.assign(visitors_.size(), 0);
  }

  const Facts& facts() const override { return facts_; }

  void Fill(NodeId shop, Count first_round, DecisionBlock<double>& block) override {
    for (Count at = 0; at < block.rounds(); ++at) {
      for (ArmId arm = 0; arm < 3; ++arm) {
        for (Eigen::Index j = 0; j < 3; ++j) {
          block.entries(at)[j * block.stride() + arm] = j == OfferAt(shop, first_round + at, arm) ? 1 : 0;
        }
      }
    }
  }

  double Reward(const DecisionBlock<double>& block, NodeId shop, Count at, ArmId arm) override {
    constexpr double kBuys[] = {0.9, 0.5, 0.1};
    Eigen::Index offer = 0;
    while (block.set(at).at(arm, offer) == 0) ++offer;
    if (offer == 0) ++best[shop.value - 1];
    return std::bernoulli_distribution(kBuys[offer])(visitors_[shop.value - 1]) ? 1 : 0;
  }

  std::vector<Count> best;  ///< how often each shop has shown the best offer

 private:
  static Eigen::Index OfferAt(NodeId shop, Count round, ArmId arm) {
    return static_cast<Eigen::Index>((shop.value + round + arm) % 3);
  }

  Facts facts_;
  std::vector<std::mt19937_64> visitors_;
};

Privacy NoNoise() { return {.model = TrustModel::kNone, .none_because = "a test"}; }

void ExpectNothingKnownOfRegret(const Outcome& outcome) {
  for (const Checkpoint& checkpoint : outcome.checkpoints) {
    EXPECT_TRUE(std::isnan(checkpoint.regret));
    EXPECT_TRUE(std::isnan(checkpoint.best_action_rate));
    EXPECT_TRUE(std::isnan(checkpoint.series.at("regret_per_agent")));
  }
}

TEST(OwnRoundWorld, FedUcbLearnsInIt) {
  Shops shops(4);
  const Federation federation = CreateFedUcb({.sync = Sync::kDoubling}, NoNoise(), shops.facts()).value();
  const auto outcome =
      Simulate(federation, shops, {.seed = 3, .checkpoints = {100, 400}, .threads = 2, .decisions = true});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ExpectNothingKnownOfRegret(*outcome);
  EXPECT_EQ(outcome->checkpoints.back().series.at("syncs"), 9);
  EXPECT_EQ(outcome->checkpoints.front().series.at("first_sync"), 1);
  ASSERT_THAT(outcome->decisions, SizeIs(4));
  EXPECT_THAT(outcome->decisions, Each(SizeIs(400)));
  for (const Count count : shops.best) EXPECT_GT(count, 300);
  EXPECT_TRUE(federation.claims.empty());
}

TEST(OwnRoundWorld, PeersLearnInIt) {
  Shops shops(4);
  FedUcbP2pParams params;
  params.sync = Sync::kDoubling;
  params.topology = GraphShape::kRing;
  params.gamma = 2;
  const Federation federation = CreateFedUcbP2p(params, NoNoise(), shops.facts()).value();
  const auto outcome = Simulate(federation, shops, {.seed = 3});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ExpectNothingKnownOfRegret(*outcome);
  EXPECT_GT(outcome->checkpoints.back().series.at("syncs"), 5);
  for (const Count count : shops.best)
    EXPECT_GT(count, 200) << "half of all rounds, with two estimators in turn";
}

TEST(OwnRoundWorld, IsPlayedWithPrivacyAndWithAShuffler) {
  for (const TrustModel model : {TrustModel::kSilo, TrustModel::kShuffle}) {
    Shops shops(3, 60);
    const Privacy privacy{.model = model, .epsilon = 1, .delta = 1e-6};
    const auto federation = CreateFedUcb({}, privacy, shops.facts());
    ASSERT_TRUE(federation.ok()) << federation.status();
    EXPECT_FALSE(federation->claims.empty());
    EXPECT_EQ(federation->void_reason(), "");
    const auto outcome = Simulate(*federation, shops, {});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_GT(outcome->checkpoints.back().bits, 0);
  }
}

TEST(SimulateRounds, RefusesAWorldThatIsNotTheFederations) {
  Shops shops(4), others(5);
  const Federation federation = CreateFedUcb({}, NoNoise(), shops.facts()).value();
  EXPECT_EQ(InputErrorOf(Simulate(federation, others, {}).status())->key, "people");
  struct : World {
    const Facts& facts() const override { return facts_; }
    Facts facts_;
  } other_time;
  EXPECT_EQ(InputErrorOf(Simulate(federation, other_time, {}).status())->key, "world");
}

TEST(SimulateRounds, RefusesLossesThatAnAlgorithmCannotBear) {
  Shops shops(4);
  const std::vector<Failure> lost = {{.a = NodeId{2}, .round = 5}};
  const auto code = [&](const Federation& federation, const SimulateOptions& options) {
    return Simulate(federation, shops, options).status().code();
  };
  const Federation alone = CreatePrivateLinUcb({}, NoNoise(), shops.facts()).value();
  EXPECT_EQ(code(alone, {.failures = lost}), absl::StatusCode::kUnimplemented);
  FedUcbP2pParams ring;
  ring.topology = GraphShape::kRing;
  const Federation peers = CreateFedUcbP2p(ring, NoNoise(), shops.facts()).value();
  EXPECT_EQ(code(peers, {.failures = lost}), absl::StatusCode::kOk);
  EXPECT_EQ(code(peers, {.dropout = 0.1}), absl::StatusCode::kUnimplemented);
  const Privacy mixed{.model = TrustModel::kShuffle, .epsilon = 1, .delta = 1e-6};
  const Federation shuffled = CreateFedUcb({}, mixed, shops.facts()).value();
  EXPECT_EQ(InputErrorOf(Simulate(shuffled, shops, {.dropout = 0.1}).status())->key, "dropout");
  EXPECT_EQ(InputErrorOf(Simulate(shuffled, shops, {.failures = lost}).status())->key, "failures");
}

TEST(SimulateRounds, StopsWhenItIsTold) {
  Shops shops(4, 5000);
  const std::atomic<bool> stop = true;
  const Federation federation = CreateFedUcb({}, NoNoise(), shops.facts()).value();
  EXPECT_EQ(Simulate(federation, shops, {.stop = &stop}).status().code(), absl::StatusCode::kCancelled);
}

TEST(CreateFedUcb, RefusesByField) {
  const Shops shops(4);
  const Privacy silo{.model = TrustModel::kSilo, .epsilon = 1, .delta = 1e-6};
  const auto expect = [](const auto& created, Part part, const std::string& field) {
    ASSERT_FALSE(created.ok());
    const auto error = InputErrorOf(created.status());
    ASSERT_TRUE(error.has_value()) << created.status();
    EXPECT_EQ(error->key, field);
    EXPECT_EQ(PartOf(created.status()), part) << field;
  };
  const auto with = [&](auto change) {
    FedUcbParams params;
    Privacy privacy = silo;
    Facts facts = shops.facts();
    change(params, privacy, facts);
    return CreateFedUcb(params, privacy, facts);
  };
  expect(with([](auto& p, auto&, auto&) { p.sync = Sync::kBatch; }), Part::kParams, "batch");
  expect(with([](auto& p, auto&, auto&) { p.failure = NAN; }), Part::kParams, "failure");
  expect(with([](auto& p, auto&, auto&) { p.paces = {1, 0}; }), Part::kParams, "paces");
  expect(with([](auto&, auto& q, auto&) { q.model = TrustModel::kPeer; }), Part::kPrivacy, "model");
  expect(with([](auto&, auto& q, auto&) { q.epsilon = NAN; }), Part::kPrivacy, "epsilon");
  expect(with([](auto&, auto& q, auto&) { q.budgets = {1, -1}; }), Part::kPrivacy, "budgets");
  expect(with([](auto&, auto&, auto& f) { f.horizon = 0; }), Part::kFacts, "horizon");
  expect(with([](auto&, auto&, auto& f) { f.people = 0; }), Part::kFacts, "people");
  expect(with([](auto&, auto&, auto& f) { f.dimension = 0; }), Part::kFacts, "dimension");
  expect(with([](auto&, auto&, auto& f) { f.rewards = {1, NAN}; }), Part::kFacts, "rewards");
  const auto shuffled = [&](auto change) {
    return with([&](auto& p, auto& q, auto& f) {
      q.model = TrustModel::kShuffle;
      change(p, q, f);
    });
  };
  expect(shuffled([](auto& p, auto&, auto&) { p.sync = Sync::kDeterminant; }), Part::kParams, "sync");
  expect(shuffled([](auto&, auto& q, auto&) { q.calibration = Calibration::kPaper; }), Part::kPrivacy,
         "calibration");
  expect(shuffled([](auto&, auto& q, auto&) { q.budgets = {1, 2}; }), Part::kPrivacy, "budgets");
  FedUcbP2pParams peers;
  peers.gamma = 0;
  expect(CreateFedUcbP2p(peers, NoNoise(), shops.facts()), Part::kParams, "gamma");
  peers.gamma = 1;
  peers.sync = Sync::kReleased;
  expect(CreateFedUcbP2p(peers, NoNoise(), shops.facts()), Part::kParams, "sync");
}

TEST(CreateFedUcb, SaysWhatItsChoicesDoToClaims) {
  const Shops shops(4);
  const Privacy silo{.model = TrustModel::kSilo, .epsilon = 1, .delta = 1e-6};
  const Federation raw = CreateFedUcb({.local = LocalData::kRaw}, silo, shops.facts()).value();
  ASSERT_FALSE(raw.claims.empty());
  for (const Claim& claim : raw.claims) EXPECT_THAT(claim.only_if, HasSubstr("the stream is logged"));
  EXPECT_THAT(raw.void_reason(), HasSubstr("local = raw")) << "shops' later records depend on earlier ones";
  const Federation leaks = CreateFedUcb({.sync = Sync::kDeterminant}, silo, shops.facts()).value();
  EXPECT_TRUE(leaks.claims.empty());
  EXPECT_EQ(leaks.void_reason(), "no guarantee: synchronisation times depend on unreleased data");
  const Federation sound = CreateFedUcb({}, silo, shops.facts()).value();
  ASSERT_THAT(sound.notes, SizeIs(1));
  EXPECT_THAT(sound.notes[0].text, HasSubstr("records_per_person"));
}

}  // namespace
}  // namespace bandana
