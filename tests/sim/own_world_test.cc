#include <vector>

#include "bandana/algorithms/elimination/dp_dpe.h"
#include "bandana/algorithms/elimination/private_elimination.h"
#include "bandana/algorithms/registry.h"
#include "bandana/sim/simulate.h"
#include "gmock/gmock.h"

// Worlds that a program brings along, and that the library knows nothing about.
namespace bandana {
namespace {

// A shop that offers coupons. It knows how its customers answer, and no gap.
class Shop : public SlotWorld {
 public:
  Shop() {
    auto coupons = std::make_shared<ActionMatrix>(3, 2);
    *coupons << 1, 0, 0, 1, 0.6, 0.6;
    facts_ = {.horizon = 20'000,
              .people = 5'000,
              .arms = 3,
              .dimension = 2,
              .actions = coupons,
              .reward = {.kind = RewardKind::kBernoulli}};
  }

  const Facts& facts() const override { return facts_; }

  absl::Status Answer(NodeId customer, Epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    customers_.push_back(customer);
    constexpr double kRedeemed[] = {0.2, 0.3, 0.3};
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      const auto offers = static_cast<double>(pulls[i].count);
      rewards[i] = {pulls[i].count, std::floor(offers * kRedeemed[pulls[i].arm])};
    }
    return absl::OkStatus();
  }

  const std::vector<NodeId>& customers() const { return customers_; }

 private:
  Facts facts_;
  std::vector<NodeId> customers_;
};

TEST(OwnWorldTest, AWorldThatKnowsNoGapIsPlayedAndItsRegretIsUnknown) {
  Shop shop;
  const Privacy privacy{.model = TrustModel::kCentral, .epsilon = 1, .delta = 1e-6};
  const auto federation = CreateDpDpe({.alpha = 0.5}, privacy, shop.facts());
  ASSERT_TRUE(federation.ok()) << federation.status();
  const auto outcome = Simulate(*federation, shop, {.seed = 1, .checkpoints = {1'000, 20'000}});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(outcome->checkpoints.size(), 2u);
  EXPECT_TRUE(std::isnan(outcome->checkpoints.back().regret));
  EXPECT_EQ(outcome->checkpoints.back().clients, static_cast<Count>(shop.customers().size()));
  EXPECT_GT(outcome->phases.size(), 3u);
}

// Each client knows its own noise. So a phase of a few clients would need much more noise than a trusted
// server's (1.41 times with two clients, one of whom is curious); the default asks enough of them in every
// phase.
TEST(OwnWorldTest, EarlyPhasesAskEnoughClientsToHideAmongThoseWhoDoNotCollude) {
  const auto fewest_of = [](const Privacy& privacy, std::optional<Count> least) {
    Shop shop;
    const auto federation = CreateDpDpe({.min_clients = least, .alpha = 0.5}, privacy, shop.facts());
    EXPECT_TRUE(federation.ok()) << federation.status();
    const auto outcome = Simulate(*federation, shop, {.seed = 1});
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_GT(outcome->phases.size(), 3u);
    Count fewest = 1'000'000;
    for (const PhaseRecord& phase : outcome->phases) fewest = std::min(fewest, phase.clients);
    return fewest;
  };
  Privacy shuffle{.model = TrustModel::kShuffle, .epsilon = 1, .delta = 1e-6, .sampler = Sampler::kFast};
  for (const Count colluding : {1, 3}) {
    shuffle.colluding = colluding;
    const Count fewest = fewest_of(shuffle, std::nullopt);
    EXPECT_EQ(fewest, 20 * colluding);
    const auto hiding = static_cast<double>(shuffle.collusion().Hiding(fewest));
    EXPECT_LE(std::sqrt(static_cast<double>(fewest) / hiding), 1.03);
  }
  shuffle.colluding = 1;
  EXPECT_EQ(fewest_of(shuffle, 7), 7);
  EXPECT_EQ(fewest_of({.model = TrustModel::kCentral, .epsilon = 1, .delta = 1e-6}, std::nullopt), 2);
}

// A shop that also knows what it loses.
class FrankShop final : public Shop {
 public:
  double Gap(ArmId arm) const override { return arm == 0 ? 0.1 : 0; }
};

TEST(OwnWorldTest, AGapIsAllThatRegretNeeds) {
  FrankShop shop;
  const Privacy privacy{.model = TrustModel::kNone, .none_because = "a test"};
  const auto federation = Create("dp-dpe", TimeModel::kSlot, {{"alpha", 0.5}}, privacy, shop.facts());
  ASSERT_TRUE(federation.ok()) << federation.status();
  const auto outcome = Simulate(*federation, shop, {.seed = 1});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const Checkpoint& end = outcome->checkpoints.back();
  EXPECT_GT(end.regret, 0);
  EXPECT_LT(end.regret, 0.1 * 20'000 / 3);
  EXPECT_NEAR(end.regret, 0.1 * (1 - end.best_action_rate) * 20'000, 1e-6);
}

TEST(OwnWorldTest, AFactThatDoesNotFitIsNamed) {
  Shop shop;
  Facts facts = shop.facts();
  facts.people = 1;
  const Privacy privacy{.model = TrustModel::kCentral, .epsilon = 1, .delta = 1e-6};
  const auto few = CreateDpDpe({}, privacy, facts);
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(InputErrorOf(few.status())->key, "people");
  facts = shop.facts();
  facts.actions = nullptr;
  EXPECT_EQ(InputErrorOf(CreateDpDpe({}, privacy, facts).status())->key, "actions");
  EXPECT_EQ(InputErrorOf(CreateDpDpe({.alpha = -1}, privacy, shop.facts()).status())->key, "alpha");
}

TEST(OwnWorldTest, PrivacyMustBeChosen) {
  Shop shop;
  EXPECT_EQ(InputErrorOf(CreateDpDpe({}, {}, shop.facts()).status())->key, "model");
  const Privacy silent{.model = TrustModel::kNone};
  EXPECT_EQ(InputErrorOf(CreateDpDpe({}, silent, shop.facts()).status())->key, "none_because");
  const Privacy no_epsilon{.model = TrustModel::kCentral, .delta = 1e-6};
  EXPECT_EQ(InputErrorOf(CreateDpDpe({}, no_epsilon, shop.facts()).status())->key, "epsilon");
  const Privacy no_delta{.model = TrustModel::kCentral, .epsilon = 1};
  EXPECT_EQ(InputErrorOf(CreateDpDpe({}, no_delta, shop.facts()).status())->key, "delta");
}

}  // namespace
}  // namespace bandana
