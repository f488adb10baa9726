#include "bandana/federation/drive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

namespace bandana {
namespace {

class QuietContext final : public Context {
 public:
  const Links& links() const override { return links_; }
  void Send(NodeId, Payload) override { ADD_FAILURE() << "nothing is sent here"; }
  void Play(std::span<const Pull>) override { ADD_FAILURE() << "a client plays through its environment"; }
  CoinGen& coin(Epoch) override { return coins_.gen; }
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey&, const Charge&,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)>) override {
    return absl::InternalError("nothing is released here");
  }

 private:
  Links links_{.self = NodeId{5}, .upstream = kServerNode, .peers = {}};
  test::Coins coins_{1};
};

// Answers n pulls of arm a with the sum 100 a + n.
class EchoEnvironment final : public SlotWorld {
 public:
  const Facts& facts() const override {
    static const Facts kNothing;
    return kNothing;
  }

  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    asked.push_back({client, epoch});
    if (fails) return absl::UnavailableError("no rewards today");
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      rewards[i] = {pulls[i].count, 100.0 * pulls[i].arm + static_cast<double>(pulls[i].count)};
    }
    return absl::OkStatus();
  }

  bool fails = false;
  std::vector<std::pair<NodeId, Epoch>> asked;
};

// Plays a script and reads its rewards through a mechanism, the only way to read them.
class ScriptedPlayer final : public Player {
 public:
  explicit ScriptedPlayer(std::vector<std::vector<Pull>> script) : script_(std::move(script)) {}

  absl::Status OnMessage(Context&, const Message&) override {
    ++messages;
    return on_message;
  }
  std::span<const Pull> Act(Context&) override {
    if (next_ == script_.size()) return {};
    return script_[next_++];
  }
  absl::Status Observe(Context&, const Raw<RewardSums>& rewards) override {
    const MeanQuery query{std::vector<Interval>(script_[next_ - 1].size(), {-1000, 1000}), 1};
    test::Noise unused(0);
    const auto report = NoPrivacyMean(Declassify("test")).Randomize(query, rewards, unused.gen);
    observed.emplace_back();
    for (const std::int64_t units : Wire::Units(*report)) {
      observed.back().push_back(static_cast<double>(units) * GridMean::kUnit);
    }
    return on_observe;
  }

  bool finished() const override { return next_ == script_.size(); }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

  absl::Status on_message, on_observe;
  int messages = 0;
  std::vector<std::vector<double>> observed;

 private:
  std::vector<std::vector<Pull>> script_;
  std::size_t next_ = 0;
};

std::shared_ptr<Plan> PlanOf(Epoch epoch) {
  return std::make_shared<Plan>(
      Plan{.epoch = epoch, .pulls = {{0, 2}, {1, 3}}, .query = {.bounds = {{-1, 1}, {-2, 2}}, .clients = 4}});
}

Message With(Payload body) { return {kServerNode, kServerNode, 1, 1, std::move(body)}; }

class DriveTest : public ::testing::Test {
 protected:
  absl::Status Drive(ScriptedPlayer& player, Payload body = PlanOf(9)) {
    return DriveMessage(player, context_, With(std::move(body)), environment_, rewards_);
  }

  QuietContext context_;
  EchoEnvironment environment_;
  std::vector<RewardSum> rewards_;
};

TEST_F(DriveTest, APlayerActsForAsLongAsItWantsTo) {
  ScriptedPlayer player({{{1, 1}, {2, 2}}, {{3, 4}}, {{4, 1}, {5, 1}, {6, 1}}});
  ASSERT_TRUE(Drive(player).ok());
  EXPECT_EQ(player.messages, 1);
  EXPECT_THAT(player.observed, ::testing::ElementsAre(std::vector<double>{101, 101}, std::vector<double>{76},
                                                      std::vector<double>{401, 501, 601}));
  EXPECT_THAT(environment_.asked, ::testing::Each(std::pair(NodeId{5}, Epoch{9})));
  EXPECT_EQ(environment_.asked.size(), 3u);
}

TEST_F(DriveTest, AnIdlePlayerMeetsNoEnvironment) {
  ScriptedPlayer player({});
  EXPECT_TRUE(Drive(player).ok());
  EXPECT_TRUE(environment_.asked.empty());
}

// Anyone may send a plan, and the plan sets the client's noise.
TEST(ValidatePlanTest, RefusesWhatCannotBeCarriedOut) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<const char*, void (*)(Plan&)>> faults = {
      {"no pulls", [](Plan& plan) { plan.pulls.clear(), plan.query.bounds.clear(); }},
      {"too few bounds", [](Plan& plan) { plan.query.bounds.pop_back(); }},
      {"too many bounds", [](Plan& plan) { plan.query.bounds.push_back({-1, 1}); }},
      {"zero count", [](Plan& plan) { plan.pulls[1].count = 0; }},
      {"negative count", [](Plan& plan) { plan.pulls[0].count = -1; }},
      {"negative arm", [](Plan& plan) { plan.pulls[0].arm = -1; }},
      {"nan", [](Plan& plan) { plan.query.bounds[1].low = kNan; }},
      {"infinite", [](Plan& plan) { plan.query.bounds[0].high = kInfinity; }},
      {"turned interval", [](Plan& plan) { plan.query.bounds[0] = {1, -1}; }},
  };
  for (const auto& [name, spoil] : faults) {
    const std::shared_ptr<Plan> plan = PlanOf(9);
    ASSERT_TRUE(ValidatePlan(*plan).ok());
    spoil(*plan);
    EXPECT_EQ(ValidatePlan(*plan).code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

TEST_F(DriveTest, SharesReachNoPlayer) {
  ScriptedPlayer player({{{1, 1}}});
  EXPECT_EQ(Drive(player, Share{}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(player.messages, 0);
  EXPECT_TRUE(environment_.asked.empty());
}

TEST_F(DriveTest, TheFirstErrorEndsIt) {
  ScriptedPlayer refuses({{{1, 1}}});
  refuses.on_message = absl::InvalidArgumentError("no");
  EXPECT_EQ(Drive(refuses).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(environment_.asked.empty());

  ScriptedPlayer stops({{{1, 1}}, {{2, 1}}});
  stops.on_observe = absl::AbortedError("enough");
  EXPECT_EQ(Drive(stops).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(stops.observed.size(), 1u);

  environment_.fails = true;
  ScriptedPlayer unlucky({{{1, 1}}});
  EXPECT_EQ(Drive(unlucky).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(unlucky.observed.empty());
}

}  // namespace
}  // namespace bandana
