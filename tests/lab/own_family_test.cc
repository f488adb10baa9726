#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bandana/algorithms/registry.h"
#include "bandana/core/archive.h"
#include "bandana/core/status.h"
#include "bandana/federation/graph_shapes.h"
#include "bandana/federation/turn.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/vocabulary.h"
#include "gmock/gmock.h"
#include "tests/folder.h"

// Algorithms and worlds that a program registers itself, run by the lab, which knows nothing else of them.
namespace bandana::lab {
namespace {

using ::testing::HasSubstr;

// --- slots

struct CornerShopParams {
  Count customers = 20;
};

// Three offers, of which the first is the worst.
class CornerShop final : public SlotWorld {
 public:
  CornerShop(Count horizon, Count customers) : facts_{.horizon = horizon, .people = customers, .arms = 3} {}
  const Facts& facts() const override { return facts_; }
  absl::Status Answer(NodeId, Epoch, std::span<const Pull> pulls, std::span<RewardSum> rewards) override {
    for (std::size_t i = 0; i < pulls.size(); ++i) rewards[i] = {pulls[i].count, 0};
    return absl::OkStatus();
  }
  double Gap(ArmId arm) const override { return arm == 0 ? 0.5 : 0; }

 private:
  Facts facts_;
};

absl::StatusOr<std::unique_ptr<World>> MakeCornerShop(const CornerShopParams& params, const WorldDraw& draw) {
  return std::make_unique<CornerShop>(draw.horizon, params.customers);
}

struct StubbornParams {
  Count arm = 0;
};

// Plays one arm in every round and asks nobody.
class StubbornServer final : public Node {
 public:
  StubbornServer(ArmId arm, Count horizon) : pulls_{{arm, horizon}} {}
  absl::Status OnStart(Context& context) override {
    context.Play(pulls_);
    finished_ = true;
    return absl::OkStatus();
  }
  absl::Status OnMessage(Context&, const Message&) override { return absl::OkStatus(); }
  bool finished() const override { return finished_; }
  void Describe(Observations& observations) const override { observations.numbers["stubbornness"] = 7; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

 private:
  std::vector<Pull> pulls_;
  bool finished_ = false;
};

class IdleClient final : public Player {
 public:
  absl::Status OnMessage(Context&, const Message&) override { return absl::OkStatus(); }
  std::span<const Pull> Act(Context&) override { return {}; }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override { return absl::OkStatus(); }
  bool finished() const override { return true; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }
};

absl::StatusOr<Federation> CreateStubborn(const StubbornParams& params, const Privacy& privacy,
                                          const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone}));
  if (params.arm >= facts.arms) {
    return InvalidField(Part::kParams, "arm", static_cast<double>(params.arm), "an arm of the world");
  }
  Federation federation{.topology = Topology::Star(facts.people)};
  federation.roles =
      SlotRoles{.server =
                    [params, horizon = facts.horizon] {
                      return std::make_unique<StubbornServer>(static_cast<ArmId>(params.arm), horizon);
                    },
                .client = [](NodeId) { return std::make_unique<IdleClient>(); }};
  return federation;
}

// --- rounds

struct StageParams {
  Count seats = 2;
};

// A world of rounds whose options have none of the names that worlds of this library use.
class Stage final : public RoundWorld {
 public:
  Stage(Count horizon, Count seats)
      : facts_{.horizon = horizon, .people = seats, .arms = 2, .dimension = 2} {}
  const Facts& facts() const override { return facts_; }
  void Fill(NodeId, Count, DecisionBlock<double>& block) override {
    for (Count at = 0; at < block.rounds(); ++at) {
      for (Eigen::Index arm = 0; arm < 2; ++arm) block.entries(at)[arm * block.stride() + arm] = 1;
      block.means_of(at)[0] = 0.25;
      block.means_of(at)[1] = 0.5;
      block.SetTruth(at, 0.5, 0);
    }
  }
  double Reward(const DecisionBlock<double>&, NodeId, Count, ArmId arm) override { return arm == 0 ? 0 : 1; }

 private:
  Facts facts_;
};

absl::StatusOr<std::unique_ptr<World>> MakeStage(const StageParams& params, const WorldDraw& draw) {
  return std::make_unique<Stage>(draw.horizon, params.seats);
}

struct FirstArm {
  ArmId Choose(const DecisionSet<double>&) const { return 0; }
};

// A peer that plays its first arm in every round and tells nobody anything.
class ShyPeer final : public RoundPlayer<double> {
 public:
  explicit ShyPeer(Count horizon) : horizon_(horizon) {}
  absl::Status OnMessage(Context&, const Message&) override { return absl::OkStatus(); }
  Count rounds_ready() const override { return horizon_; }
  bool Plays(Count) const override { return true; }
  const ChosenArm& Act(Context&, Count, const Raw<DecisionSet<double>>& set) override {
    Turn::Choose(FirstArm{}, set, chosen_);
    return chosen_;
  }
  absl::Status Observe(Context&, Count, const Raw<double>&) override { return absl::OkStatus(); }
  absl::Status EndRound(Context&, Count) override { return absl::OkStatus(); }
  void Describe(Observations& observations) const override { ++observations.numbers["shy_peers"]; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

 private:
  Count horizon_;
  ChosenArm chosen_{2};
};

struct ShyParams {};

absl::StatusOr<Federation> CreateShy(const ShyParams&, const Privacy& privacy, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone, TrustModel::kPeer}));
  BANDANA_ASSIGN_OR_RETURN(Graph graph, CompleteGraph(facts.people));
  Federation federation{.topology = Topology::Peers(std::move(graph))};
  federation.roles =
      RoundRoles{.agent = [horizon = facts.horizon](NodeId) { return std::make_unique<ShyPeer>(horizon); }};
  return federation;
}

// --- ticks: agents in a shop of their own kind

// An agent that plays one arm until the end, in one pull, and sends nothing.
class StubbornAgent final : public NetworkPlayer {
 public:
  StubbornAgent(ArmId arm, Count horizon) : pulls_{{arm, horizon}} {}
  absl::Status OnMessage(Context&, const Message&) override { return absl::OkStatus(); }
  std::span<const Pull> Act(Context&) override {
    if (finished_) return {};
    return pulls_;
  }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override {
    finished_ = true;
    return absl::OkStatus();
  }
  absl::Status EndTick(Context&) override { return absl::OkStatus(); }
  void OnSilence(Context&) override {}
  bool finished() const override { return finished_; }
  void Describe(Observations& observations) const override { observations.numbers["stubbornness"] += 2; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

 private:
  std::vector<Pull> pulls_;
  bool finished_ = false;
};

absl::StatusOr<Federation> CreateStubbornAgents(const StubbornParams& params, const Privacy& privacy,
                                                const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone}));
  BANDANA_ASSIGN_OR_RETURN(Graph graph, CompleteGraph(facts.people));
  Federation federation{.topology = Topology::Peers(std::move(graph))};
  federation.roles = TickRoles{.agent = [params, horizon = facts.horizon](NodeId) {
    return std::make_unique<StubbornAgent>(static_cast<ArmId>(params.arm), horizon);
  }};
  return federation;
}

// --- users

struct FerryParams {
  Count seats = 10;
};

// Passengers come until the seats are taken, and the second arm is better for each by a half.
class Ferry final : public UserWorld {
 public:
  Ferry(Count horizon, Count seats) : left_(seats), contexts_(ActionMatrix::Identity(2, 2)) {
    facts_ = {.horizon = horizon, .arms = 2, .dimension = 2};
  }
  const Facts& facts() const override { return facts_; }
  const ActionMatrix& Contexts() override { return contexts_; }
  bool Next() override { return left_-- > 0; }
  std::optional<double> Reward(ArmId arm) override { return arm == 1 ? 1 : 0.5; }
  double Gap(ArmId arm) const override { return arm == 1 ? 0 : 0.5; }

 private:
  Facts facts_;
  Count left_;
  ActionMatrix contexts_;
};

absl::StatusOr<std::unique_ptr<World>> MakeFerry(const FerryParams& params, const WorldDraw& draw) {
  return std::make_unique<Ferry>(draw.horizon, params.seats);
}

// A learner that has every user play one arm and asks nothing of them.
class StubbornLearner final : public UserLearner {
 public:
  explicit StubbornLearner(ArmId arm) : arm_(arm) {}
  class Device final : public UserDevice {
   public:
    const LocalMessage& message() const override { return message_; }

   private:
    LocalMessage message_;
  };
  std::unique_ptr<UserDevice> MakeDevice() const override { return std::make_unique<Device>(); }
  ArmId Choose(UserView&, CoinGen&, UserDevice&) const override { return arm_; }
  absl::StatusOr<Count> Report(UserContext&, ArmId, const Raw<LocalRecord>&, UserDevice&) const override {
    return 0;
  }
  void Learn(const LocalMessage&, Count) override {}
  ArmId Greedy(UserView&) const override { return arm_; }
  bool looks_at_contexts() const override { return false; }
  Count RealsSent(Count) const override { return 0; }
  void Describe(Observations& observations) const override { observations.numbers["stubbornness"] += 3; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

 private:
  ArmId arm_;
};

absl::StatusOr<Federation> CreateStubbornLearner(const StubbornParams& params, const Privacy& privacy,
                                                 const Facts&) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone}));
  Federation federation;
  federation.roles = UserRoles{
      .learner = [params] { return std::make_unique<StubbornLearner>(static_cast<ArmId>(params.arm)); }};
  return federation;
}

void Register() {
  static const bool done = [] {
    Registry& registry = Families();
    OptionsFor<CornerShopParams> shop("environment");
    shop.Integer("customers", Claims::kKept, &CornerShopParams::customers, 1, "How many people come.");
    registry.MustAdd(
        WithParams(WorldKind{.name = "corner-shop", .sentence = "A shop.", .time = TimeModel::kSlot}, shop,
                   &MakeCornerShop));
    OptionsFor<StubbornParams> stubborn("algorithm");
    stubborn.Integer("arm", Claims::kKept, &StubbornParams::arm, 0, "The arm that it plays.");
    Family family = WithParams(Family{.name = "stubborn",
                                      .sentence = "It plays one arm.",
                                      .time = TimeModel::kSlot,
                                      .trust = {TrustModel::kNone},
                                      .worlds = {"corner-shop"},
                                      .metrics = {"stubbornness"}},
                               stubborn, &CreateStubborn);
    registry.MustAdd(std::move(family));

    OptionsFor<StageParams> stage("environment");
    stage.Integer("seats", Claims::kKept, &StageParams::seats, 1, "How many peers there are.");
    registry.MustAdd(WithParams(WorldKind{.name = "stage", .sentence = "A stage.", .time = TimeModel::kRound},
                                stage, &MakeStage));
    registry.MustAdd(WithParams(Family{.name = "shy",
                                       .sentence = "It plays its first arm.",
                                       .time = TimeModel::kRound,
                                       .trust = {TrustModel::kNone, TrustModel::kPeer},
                                       .worlds = {"stage"},
                                       .privacy_keys = {"epsilon"},
                                       .metrics = {"shy_peers"}},
                                OptionsFor<ShyParams>("algorithm"), &CreateShy));

    registry.MustAdd(WithParams(
        WorldKind{.name = "corner-shops", .sentence = "Shops with agents.", .time = TimeModel::kTick}, shop,
        &MakeCornerShop));
    registry.MustAdd(WithParams(Family{.name = "stubborn",
                                       .sentence = "Every agent plays one arm.",
                                       .time = TimeModel::kTick,
                                       .trust = {TrustModel::kNone},
                                       .worlds = {"corner-shops"},
                                       .metrics = {"stubbornness"}},
                                stubborn, &CreateStubbornAgents));
    OptionsFor<FerryParams> ferry("environment");
    ferry.Integer("seats", Claims::kKept, &FerryParams::seats, 1, "How many passengers come.");
    registry.MustAdd(WithParams(WorldKind{.name = "ferry", .sentence = "A ferry.", .time = TimeModel::kUser},
                                ferry, &MakeFerry));
    registry.MustAdd(WithParams(Family{.name = "stubborn",
                                       .sentence = "Every user plays one arm.",
                                       .time = TimeModel::kUser,
                                       .trust = {TrustModel::kNone},
                                       .worlds = {"ferry"},
                                       .metrics = {"stubbornness"}},
                                stubborn, &CreateStubbornLearner));
    return true;
  }();
  (void)done;
}

// Runs it as a person would, with its estimate of the time.
absl::StatusOr<Json> RunOwn(const std::string& text, const std::string& folder) {
  Register();
  BANDANA_ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text, "/specs/own.toml", {}));
  const std::atomic<bool> stop = false;
  return RunExperiment(spec, {.out = folder, .threads = 1, .quiet = false}, stop);
}

std::string FirstLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

TEST(OwnFamilyTest, SlotsRunThroughTheLab) {
  const test::Folder folder;
  const auto summary = RunOwn(R"(horizon = 100
environment.customers = 5
algorithm = { name = "stubborn", arm = 0 }
privacy.model = "none"
)",
                              folder / "slots");
  ASSERT_TRUE(summary.ok()) << summary.status();
  const Json& metrics = (*summary)["points"][0]["metrics"];
  EXPECT_EQ(metrics["regret"]["mean"], 50);
  EXPECT_EQ(metrics["stubbornness"]["mean"], 7) << "what roles tell is written under the family's names";
  EXPECT_THAT(FirstLine(folder / "slots/results.csv"), HasSubstr(",stubbornness"));
}

TEST(OwnFamilyTest, ItsErrorsHaveKeysAndLines) {
  const test::Folder folder;
  const auto summary =
      RunOwn("horizon = 100\nalgorithm.name = \"stubborn\"\nalgorithm.arm = 3\nprivacy.model = \"none\"\n",
             folder / "wrong");
  ASSERT_FALSE(summary.ok());
  const auto error = InputErrorOf(summary.status());
  ASSERT_TRUE(error.has_value()) << summary.status();
  EXPECT_EQ(error->key, "algorithm.arm");
  EXPECT_EQ(error->line, 3);
}

TEST(OwnFamilyTest, RoundsRunThroughTheLab) {
  for (const char* privacy : {"privacy.model = \"none\"", "privacy = { model = \"peer\", epsilon = 1.0 }"}) {
    const test::Folder folder;
    const auto summary =
        RunOwn(std::string("horizon = 3000\nenvironment.seats = 3\nalgorithm.name = \"shy\"\n") + privacy,
               folder / "rounds");
    ASSERT_TRUE(summary.ok()) << summary.status();
    const Json& metrics = (*summary)["points"][0]["metrics"];
    EXPECT_EQ(metrics["regret"]["mean"], 3 * 3000 * 0.25);
    EXPECT_EQ(metrics["shy_peers"]["mean"], 3);
  }
}

TEST(OwnFamilyTest, TicksRunThroughTheLab) {
  const test::Folder folder;
  const auto summary = RunOwn(R"(horizon = 100
environment = { kind = "corner-shops", customers = 4 }
algorithm = { name = "stubborn", arm = 0 }
privacy.model = "none"
)",
                              folder / "ticks");
  ASSERT_TRUE(summary.ok()) << summary.status();
  const Json& metrics = (*summary)["points"][0]["metrics"];
  EXPECT_EQ(metrics["regret"]["mean"], 4 * 100 * 0.5);
  EXPECT_EQ(metrics["messages"]["mean"], 0);
  EXPECT_EQ(metrics["stubbornness"]["mean"], 4 * 2) << "each agent adds its own number";
}

TEST(OwnFamilyTest, UsersRunThroughTheLab) {
  const test::Folder folder;
  const auto summary = RunOwn(R"(horizon = 100
environment = { kind = "ferry", seats = 40 }
algorithm = { name = "stubborn", arm = 0 }
privacy.model = "none"
)",
                              folder / "users");
  ASSERT_TRUE(summary.ok()) << summary.status();
  const Json& metrics = (*summary)["points"][0]["metrics"];
  EXPECT_EQ(metrics["regret"]["mean"], 40 * 0.5);
  EXPECT_EQ(metrics["rounds"]["mean"], 40) << "no users came after that";
  EXPECT_EQ(metrics["stubbornness"]["mean"], 3);
}

}  // namespace
}  // namespace bandana::lab
