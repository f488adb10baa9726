#include <atomic>

#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

std::string VoidReasonOf(const Settings& settings) {
  return MakeInstance(settings, 0).value().federation.void_reason();
}

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kSpec[] = R"(horizon = 400
seed = 5
environment = { kind = "contextual-linear", contexts = "gap", dimension = 4, actions = 8, reward = "bernoulli" }
algorithm.name = "fed-ucb"
federation.agents = 4
privacy = { model = "silo", epsilon = 1.0, delta = 1e-5 }
)";

absl::StatusOr<Settings> With(const Overrides& set) {
  BANDANA_ASSIGN_OR_RETURN(const Spec spec, ParseSpec(kSpec, "x.toml", set));
  return spec.points.front().settings;
}

Settings Good(const Overrides& set) {
  const absl::StatusOr<Settings> settings = With(set);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return *settings;
}

std::vector<Checkpoint> RunOf(const Overrides& set, int threads = 1) {
  const std::atomic<bool> stop = false;
  const absl::StatusOr<Outcome> outcome = RunReplicate(Good(set), 0, stop, threads);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? outcome->checkpoints : std::vector<Checkpoint>{};
}

TEST(FederatedTest, ClaimsNameUnitAndAdversary) {
  const std::vector<Claim> claims = ClaimsOf(Good({})).value();
  ASSERT_THAT(claims, SizeIs(2));
  EXPECT_EQ(claims[0].unit, "one record (x, y) of one agent (it is not known how many a person has)");
  EXPECT_EQ(claims[0].neighbours, "replace-one");
  EXPECT_THAT(claims[0].adversary, HasSubstr("all other agents, together"));
  EXPECT_EQ(claims[0].guarantee.epsilon, 1);
  EXPECT_EQ(claims[0].guarantee.delta, 1e-5);
  // A person with a record at each of four agents: a Gaussian mechanism of twice the sensitivity.
  EXPECT_THAT(claims[1].unit, HasSubstr("each of the 4 agents"));
  EXPECT_GT(claims[1].guarantee.epsilon, 2);
  EXPECT_LT(claims[1].guarantee.epsilon, 2.4);
}

TEST(FederatedTest, RawDataNarrowTheClaim) {
  const std::vector<Claim> claims = ClaimsOf(Good({"algorithm.local=raw"})).value();
  for (const Claim& claim : claims) EXPECT_THAT(claim.only_if, HasSubstr("the stream is logged"));
  EXPECT_THAT(VoidReasonOf(Good({"algorithm.local=raw"})), HasSubstr("local = raw"));
  const Settings shuffled = Good({"algorithm.local=raw", "privacy.model=shuffle"});
  const std::vector<Claim> mixed = ClaimsOf(shuffled).value();
  for (const Claim& claim : mixed) EXPECT_THAT(claim.only_if, HasSubstr("the stream is logged"));
  EXPECT_THAT(VoidReasonOf(shuffled), HasSubstr("local = raw"));
  const Settings alone = Good({"algorithm.local=raw", "algorithm.name=private-lin-ucb"});
  EXPECT_THAT(ClaimsOf(alone).value(), IsEmpty()) << "later users see actions";
  EXPECT_THAT(VoidReasonOf(alone), HasSubstr("later users see actions"));
}

// With k records a person has k times the sensitivity: the noise that was for one record is not enough.
TEST(FederatedTest, APersonWithSeveralRecordsIsProtected) {
  for (const char* model : {"privacy.model=silo", "privacy.model=shuffle"}) {
    const std::vector<Claim> claims = ClaimsOf(Good({model, "privacy.records_per_person=3"})).value();
    EXPECT_EQ(claims[0].unit, "one person with at most 3 records (x, y), at one agent or at several");
    EXPECT_EQ(claims[0].guarantee.epsilon, 1);
    for (const Claim& claim : claims) {
      EXPECT_THAT(claim.unit, Not(HasSubstr("each of the 4 agents")));
      EXPECT_THAT(claim.adversary, HasSubstr("that have no record of this person")) << "others have it raw";
      EXPECT_THAT(claim.adversary, Not(HasSubstr("other silos")));
      EXPECT_THAT(claim.adversary, Not(HasSubstr("everyone else")));
    }
  }
}

TEST(FederatedTest, APersonWhoComesAgainIsNoAdversaryOfItself) {
  const std::vector<Claim> claims =
      ClaimsOf(Good({"algorithm.name=private-lin-ucb", "privacy.records_per_person=3"})).value();
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_EQ(claims[0].adversary, "all other users of all agents, together (joint privacy)");
}

TEST(FederatedTest, TheDeterminantTriggerVoidsIt) {
  const Settings settings = Good({"algorithm.sync=determinant"});
  EXPECT_THAT(ClaimsOf(settings).value(), IsEmpty());
  EXPECT_EQ(VoidReasonOf(settings), "no guarantee: synchronisation times depend on unreleased data");
  EXPECT_EQ(VoidReasonOf(Good({"algorithm.sync=determinant", "privacy.model=none"})), "");
}

TEST(FederatedTest, AShufflerIsTrustedWithLess) {
  const std::vector<Claim> claims = ClaimsOf(Good({"privacy.model=shuffle"})).value();
  ASSERT_THAT(claims, SizeIs(4));
  EXPECT_EQ(claims[0].guarantee.epsilon, 1);
  EXPECT_THAT(claims[0].adversary, HasSubstr("At most 1 of the silos works with the adversary"));
  EXPECT_THAT(claims[2].unit, HasSubstr("each of the 4 agents"));
  EXPECT_GT(claims[2].guarantee.epsilon, 4) << "four records in one total";
  EXPECT_THAT(claims[1].adversary, HasSubstr("the shuffler"));
  EXPECT_GT(claims[1].guarantee.epsilon, 1.8) << "each of three silos that hide has 1/sqrt 3 of the noise";
  EXPECT_THAT(claims[3].adversary, HasSubstr("the shuffler"));
  EXPECT_THAT(claims[3].unit, HasSubstr("each of the 4 agents"));
  EXPECT_GT(claims[3].guarantee.epsilon, 2 * claims[1].guarantee.epsilon)
      << "four reports, each with its noise";
  EXPECT_LT(claims[3].guarantee.epsilon, claims[2].guarantee.epsilon + 1);
  const Checkpoint end = RunOf({"privacy.model=shuffle"}).back();
  EXPECT_EQ(end.rounds, RunOf({}).back().rounds);
  for (const char* bad :
       {"algorithm.sync=determinant", "privacy.calibration=paper", "privacy.budgets=[1, 2]"}) {
    EXPECT_FALSE(CheckPoint(Good({"privacy.model=shuffle", bad})).ok()) << bad;
  }
}

TEST(FederatedTest, EachBudgetHasItsClaim) {
  const std::vector<Claim> claims = ClaimsOf(Good({"privacy.budgets=[0.5, 3]"})).value();
  ASSERT_THAT(claims, SizeIs(3));
  EXPECT_EQ(claims[0].guarantee.epsilon, 0.5);
  EXPECT_EQ(claims[1].guarantee.epsilon, 3);
  EXPECT_THAT(claims[1].unit, HasSubstr("agents 2, 4, ..."));
}

// A person with records at agents of both budgets has less than the smaller epsilon promises.
TEST(FederatedTest, TheSmallerBudgetIsForPeopleWhoAreOnlyThere) {
  const std::vector<Claim> claims =
      ClaimsOf(Good({"privacy.budgets=[0.25, 3]", "privacy.records_per_person=2"})).value();
  ASSERT_THAT(claims, SizeIs(3));
  EXPECT_EQ(claims[0].guarantee.epsilon, 0.25);
  EXPECT_EQ(claims[0].unit,
            "one person with at most 2 records (x, y), all at agents 1, 3, ... (epsilon 0.25)");
  EXPECT_EQ(claims[1].guarantee.epsilon, 3);
  EXPECT_EQ(claims[2].guarantee.epsilon, 3);
  EXPECT_THAT(claims[2].unit, HasSubstr("at agents of different budgets"));
  EXPECT_FALSE(claims[2].asked);
  EXPECT_THAT(ClaimsOf(Good({"privacy.budgets=[0.25, 3]", "privacy.records_per_person=1"})).value(),
              SizeIs(2));
}

TEST(FederatedTest, ThePapersNoiseSaysWhatItDelivers) {
  const std::vector<Claim> claims = ClaimsOf(Good({"privacy.calibration=paper"})).value();
  EXPECT_LT(claims[0].guarantee.epsilon, 0.2) << "far more noise than epsilon = 1 needs";
}

struct Bad {
  Overrides set;
  std::string key;
};

TEST(FederatedTest, ErrorsNameTheKey) {
  const std::vector<Bad> cases = {
      {{"environment.kind=linear", "environment.contexts=sphere"}, "environment.kind"},
      {{"environment.contexts=orthant"}, "environment.contexts"},
      {{"environment.reward=gaussian"}, "environment.reward"},
      {{"environment.contexts=sphere"}, "environment.reward"},
      {{"privacy.model=central"}, "privacy.model"},
      {{"privacy.model=peer"}, "privacy.model"},
      {{"privacy.model=shuffle", "privacy.colluding=0"},
       "privacy.colluding"},  // another silo knows its noise
      {{"algorithm.name=private-lin-ucb", "privacy.model=peer"}, "privacy.model"},
      {{"algorithm.name=fed-ucb-p2p"}, "privacy.model"},
      {{"algorithm.name=fed-ucb-p2p", "privacy.model=peer", "algorithm.sync=released"}, "algorithm.sync"},
      {{"algorithm.name=fed-ucb-p2p", "privacy.model=peer", "federation.topology=erdos-renyi",
        "federation.edge_probability=0"},
       "federation.topology"},
      {{"algorithm.name=fed-ucb-p2p", "privacy.model=peer", "federation.topology=ring",
        "federation.agents=2"},
       "federation.agents"},
      {{"privacy.calibration=paper", "algorithm.prefix_sum=toeplitz"}, "prefix_sum"},
  };
  for (const Bad& bad : cases) {
    const absl::StatusOr<Settings> settings = With(bad.set);
    const absl::Status status = settings.ok() ? CheckPoint(*settings) : settings.status();
    EXPECT_FALSE(status.ok()) << bad.set.front();
    EXPECT_THAT(status.message(), HasSubstr(bad.key)) << bad.set.front();
  }
}

TEST(FederatedTest, ValuesOutOfRangeAreRefused) {
  for (const char* bad :
       {"federation.agents=0", "federation.paces=[0]", "federation.paces=[1.5]", "privacy.budgets=[]",
        "privacy.budgets=[1, 0]", "privacy.budgets=[nan]", "algorithm.failure=0", "algorithm.failure=1",
        "environment.gap=0.4", "algorithm.sync=sometimes"}) {
    const auto settings = With({bad});
    EXPECT_FALSE(settings.ok() && CheckPoint(*settings).ok()) << bad;
  }
  EXPECT_FALSE(With({"algorithm.sync=batch"}).ok()) << "a batch must be given";
}

TEST(FederatedTest, ThreadsDoNotMatter) {
  const std::vector<Checkpoint> one = RunOf({});
  const std::vector<Checkpoint> three = RunOf({}, 3);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].regret, three[i].regret);
}

TEST(FederatedTest, SlowAgentsPlayLess) {
  const Checkpoint all = RunOf({"privacy.model=none"}).back();
  const Checkpoint some = RunOf({"privacy.model=none", "federation.paces=[1, 10]"}).back();
  EXPECT_LT(some.regret, all.regret);
  EXPECT_GT(some.regret, 0);
}

TEST(FederatedTest, EveryScheduleAndPlaceRuns) {
  for (const char* sync : {"every", "mlogt", "m15", "doubling", "released", "determinant"}) {
    const Checkpoint end = RunOf({std::string("algorithm.sync=") + sync}).back();
    EXPECT_GT(end.regret, 0) << sync;
    EXPECT_EQ(end.clients, 4);
  }
  for (const char* topology : {"complete", "star", "multi-star", "ring", "line", "grid", "barabasi-albert"}) {
    const Checkpoint end = RunOf({"algorithm.name=fed-ucb-p2p", "privacy.model=peer", "algorithm.gamma=2",
                                  "federation.degree=2", std::string("federation.topology=") + topology})
                               .back();
    EXPECT_GT(end.rounds, 0) << topology;
  }
  for (const char* model : {"privacy.model=peer", "privacy.model=none"}) {  // these send requests to
                                                                            // synchronise
    const Checkpoint end =
        RunOf({"algorithm.name=fed-ucb-p2p", model, "algorithm.sync=determinant", "federation.topology=ring"})
            .back();
    EXPECT_GE(end.rounds, 1) << model;
    EXPECT_LT(end.rounds, 100) << model;
  }
  EXPECT_GT(RunOf({"algorithm.name=private-lin-ucb"}).back().regret, 0);
  EXPECT_GT(RunOf({"environment.precision=float"}).back().regret, 0);
}

TEST(FederatedTest, AgentsShareAControllerOrHaveTheirOwn) {
  const auto groups = [](const Settings& settings) {
    return std::get<RoundRoles>(MakeInstance(settings, 0).value().federation.roles).groups;
  };
  EXPECT_THAT(groups(Good({})), SizeIs(1));
  EXPECT_THAT(groups(Good({"algorithm.name=private-lin-ucb"})), SizeIs(4));
}

}  // namespace
}  // namespace bandana::lab
