#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bandana/algorithms/registry.h"
#include "bandana/algorithms/users/create.h"
#include "bandana/algorithms/users/family.h"
#include "bandana/bandit/worlds/glm_users.h"
#include "bandana/core/status.h"
#include "bandana/sim/simulate.h"

namespace bandana {
namespace {

using testing::IsEmpty;

const Privacy kNone{.model = TrustModel::kNone, .none_because = "a test"};
const Privacy kLocal{.model = TrustModel::kLocal, .epsilon = 2, .delta = 0.01};

Facts SomeFacts(bool multi = false) {
  return {.horizon = 1'000, .arms = 3, .dimension = 2, .rewards = {0, 1}, .multi = multi};
}

std::string FieldOf(const absl::StatusOr<Federation>& made) {
  const auto error = InputErrorOf(made.status());
  return error.has_value() ? error->key : "";
}

TEST(CreateUsersTest, ANewUserPaysWhatItsMessageClaims) {
  const Federation federation = CreateLdpSgd({}, kLocal, SomeFacts()).value();
  EXPECT_EQ(federation.time(), TimeModel::kUser);
  ASSERT_EQ(federation.claims.size(), 1u);
  EXPECT_EQ(federation.claims[0].guarantee, federation.budget);
  EXPECT_LE(federation.budget.epsilon, 2);
  EXPECT_TRUE(federation.charges_clients);
  const Federation open = CreateLdpSgd({}, kNone, SomeFacts()).value();
  EXPECT_THAT(open.claims, IsEmpty());
  EXPECT_FALSE(open.charges_clients);
}

TEST(CreateUsersTest, RemarksOnClaimsComeWithClaimsAlone) {
  Facts facts = SomeFacts();
  facts.notes = {{Note::Weight::kVoidsClaim, "people come twice"}};
  EXPECT_EQ(CreateLdpOls({}, kLocal, facts)->void_reason(), "people come twice");
  EXPECT_EQ(CreateLdpOls({}, kNone, facts)->void_reason(), "");
}

TEST(CreateUsersTest, BadInputsAreNamedByTheirField) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(FieldOf(CreateLdpSgd({.step = 0}, kLocal, SomeFacts())), "step");
  EXPECT_EQ(FieldOf(CreateLdpSgd({.average = 101}, kLocal, SomeFacts())), "average");
  EXPECT_EQ(FieldOf(CreateLdpOls({.lazy = 2}, kLocal, SomeFacts())), "lazy");
  EXPECT_EQ(FieldOf(CreateLdpOls({.gram_shift = -1}, kLocal, SomeFacts())), "gram_shift");
  EXPECT_EQ(FieldOf(CreateLdpOls({.reward_weight = kNan}, kLocal, SomeFacts())), "reward_weight");
  EXPECT_EQ(FieldOf(CreateLdpOls({.warm_up = 334}, kLocal, SomeFacts(true))), "warm_up");
  EXPECT_EQ(FieldOf(CreateLdpUcb({.bonus = -1}, kLocal, SomeFacts())), "bonus");
  EXPECT_EQ(FieldOf(CreateLdpGloc({.step = -1}, kLocal, SomeFacts())), "step");
  EXPECT_EQ(FieldOf(CreateThompsonSampling({.spread = -1}, kNone, SomeFacts())), "spread");
  EXPECT_EQ(FieldOf(CreateThompsonSampling({}, kLocal, SomeFacts())), "model");
  EXPECT_EQ(FieldOf(CreateContextLinUcb({}, kLocal, SomeFacts())), "model");
  EXPECT_EQ(FieldOf(CreateLdpSgd({}, {}, SomeFacts())), "model");
  EXPECT_EQ(FieldOf(CreateLdpSgd({}, {.model = TrustModel::kLocal}, SomeFacts())), "epsilon");
  Facts facts = SomeFacts();
  facts.theta_norm = kNan;
  EXPECT_EQ(FieldOf(CreateLdpSgd({}, kLocal, facts)), "theta_norm");
  facts = SomeFacts();
  facts.horizon = 0;
  const auto made = CreateLdpSgd({}, kLocal, facts);
  EXPECT_EQ(FieldOf(made), "horizon");
  EXPECT_EQ(PartOf(made.status()), Part::kFacts);
}

TEST(CreateUsersTest, EveryCallOfTheFactoryMakesANewLearner) {
  const Federation federation = CreateLdpSgd({}, kNone, SomeFacts()).value();
  const auto& make = std::get<UserRoles>(federation.roles).learner;
  const auto one = make();
  const auto two = make();
  EXPECT_NE(one.get(), two.get());
  EXPECT_EQ(one->Save(), two->Save());
  EXPECT_EQ(one->RealsSent(7), 14);
}

TEST(CreateUsersTest, AWarmUpSendsOneSlotOfEachMessage) {
  const Federation federation = CreateLdpSgd({.warm_up = 5}, kNone, SomeFacts(true)).value();
  const auto learner = std::get<UserRoles>(federation.roles).learner();
  EXPECT_EQ(learner->RealsSent(15), 15 * 2);
  EXPECT_EQ(learner->RealsSent(17), 15 * 2 + 2 * 3 * 2);
}

/// A world of somebody else's: one arm of two always pays, and nobody knows gaps.
class Shop final : public UserWorld {
 public:
  Shop() : contexts_(ActionMatrix::Identity(2, 2)) {}
  const Facts& facts() const override { return facts_; }
  const ActionMatrix& Contexts() override { return contexts_; }
  bool Next() override { return left_-- > 0; }
  std::optional<double> Reward(ArmId arm) override { return arm == 1 ? 1 : 0; }

 private:
  Facts facts_{.horizon = 100, .arms = 2, .dimension = 2, .rewards = {0, 1}};
  ActionMatrix contexts_;
  int left_ = 40;
};

TEST(CreateUsersTest, LearnersPlayInAWorldFromOutside) {
  Shop shop;
  const Federation federation = CreateContextLinUcb({.bonus = 1}, kNone, shop.facts()).value();
  const auto outcome =
      sim::SimulateUsers(federation, shop, {.checkpoints = {20, 100}, .decisions = true}).value();
  EXPECT_EQ(outcome.checkpoints[0].rounds, 20);
  EXPECT_EQ(outcome.checkpoints[1].rounds, 40) << "the shop closes early";
  EXPECT_TRUE(std::isnan(outcome.checkpoints[1].regret));
  EXPECT_TRUE(std::isnan(outcome.checkpoints[1].best_action_rate));
  EXPECT_EQ(outcome.decisions.at(0).back().arm, 1);
}

TEST(UserFamiliesTest, EveryOptionSaysWhatItDoes) {
  Registry registry;
  AddUserFamilies(registry);
  EXPECT_EQ(registry.families().size(), 6u);
  std::vector<WorldKind> kinds;
  std::vector<std::string> worlds;
  for (const WorldKind& kind : Families().worlds()) {
    if (kind.time != TimeModel::kUser) continue;
    kinds.push_back(kind);
    worlds.push_back(kind.name);
  }
  EXPECT_THAT(worlds, testing::UnorderedElementsAre("contextual-linear", "glm", "replay"));
  const auto check = [](const std::string& entry, const std::vector<Option>& options) {
    for (const Option& option : options) {
      EXPECT_TRUE(option.sentence.ends_with(".")) << entry << " " << option.key;
      for (const Word& word : option.words) EXPECT_TRUE(word.sentence.ends_with(".")) << word.word;
    }
  };
  for (const Family& family : registry.families()) check(family.name, family.options);
  for (const WorldKind& kind : kinds) check(kind.name, kind.options);
}

}  // namespace
}  // namespace bandana
