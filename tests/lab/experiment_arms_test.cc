
#include <atomic>
#include <cmath>

#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/results.h"
#include "bandana/lab/spec.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kSpec[] = R"(horizon = 20_000
seed = 5
environment = { kind = "mab", actions = 6 }
algorithm.name = "cdp-mab"
federation.agents = 5
privacy = { model = "silo", epsilon = 1.0 }
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

// The texts of a point's notes, without the one that records_per_person is not given.
std::vector<std::string> NotesOf(const Settings& settings) {
  const Instance instance = MakeInstance(settings, 0).value();
  std::vector<std::string> notes;
  for (const Note& note : instance.federation.notes) {
    if (note.text.find("records_per_person") == std::string::npos) notes.push_back(note.text);
  }
  return notes;
}

// How many agents report in a sync.
Count Reporting(const Settings& settings) {
  return std::get<TickRoles>(MakeInstance(settings, 0).value().federation.roles).reporting;
}

Outcome RunOf(const Overrides& set, bool pulls = false) {
  const std::atomic<bool> stop = false;
  EXPECT_TRUE(CheckPoint(Good(set)).ok()) << CheckPoint(Good(set));
  auto outcome = RunReplicate(Good(set), 0, stop, 1, pulls);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? *std::move(outcome) : Outcome{};
}

InputError ErrorOf(const Overrides& set) {
  const absl::StatusOr<Settings> settings = With(set);
  const absl::Status status = settings.ok() ? CheckPoint(*settings) : settings.status();
  EXPECT_FALSE(status.ok());
  return InputErrorOf(status).value_or(InputError{});
}

const Overrides kDdp = {"algorithm.name=ddp-mab", "privacy.model=peer"};
Overrides Ddp(Overrides more) {
  more.insert(more.end(), kDdp.begin(), kDdp.end());
  return more;
}
Overrides Hdp(Overrides more) {
  more.emplace_back("algorithm.name=hdp-mab");
  return more;
}

TEST(ArmsTest, DefaultsAreThoseOfArms) {
  const Settings settings = Good({});
  EXPECT_EQ(settings.Text("environment.reward"), "bernoulli");
  EXPECT_EQ(settings.Number("environment.gap"), 0);
  EXPECT_EQ(settings.Text("algorithm.failure"), "auto");
  EXPECT_FALSE(settings.Has("privacy.delta"));
  EXPECT_FALSE(settings.Has("environment.theta_norm"));
  const auto spec = ParseSpec(kSpec, "x.toml", {});
  EXPECT_THAT(spec->toml, HasSubstr("reward = \"bernoulli\""));
}

TEST(ArmsTest, ClaimsSayWhichEpsilonTheyAre) {
  std::vector<Claim> claims = ClaimsOf(Good({})).value();
  ASSERT_THAT(claims, SizeIs(2));
  EXPECT_EQ(claims[0].guarantee.epsilon, 1);
  EXPECT_EQ(claims[0].guarantee.delta, 0);
  EXPECT_EQ(claims[0].unit, "one reward of one agent (it is not known how many a person has)");
  EXPECT_EQ(claims[1].guarantee.epsilon, 5);
  EXPECT_THAT(claims[1].unit, HasSubstr("each of the 5 agents"));
  claims = ClaimsOf(Good({"privacy.calibration=paper"})).value();
  EXPECT_EQ(claims[0].guarantee.epsilon, 5) << "M epsilon";
  claims = ClaimsOf(Good({"privacy.calibration=paper", "algorithm.participation=0.4"})).value();
  EXPECT_EQ(claims[0].guarantee.epsilon, 2) << "N epsilon";
  claims = ClaimsOf(Good(Ddp({"algorithm.local=raw"}))).value();
  EXPECT_THAT(claims[0].only_if, HasSubstr("local = raw"));
  EXPECT_THAT(claims[0].adversary, Not(HasSubstr("server"))) << "peers have none";
  EXPECT_FALSE(claims[1].asked);
  claims = ClaimsOf(Good({"privacy.records_per_person=3"})).value();
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_EQ(claims[0].guarantee.epsilon, 1);
  EXPECT_EQ(claims[0].unit, "one person with at most 3 rewards, at one agent or at several");
  EXPECT_THAT(ClaimsOf(Good({"privacy.model=none"})).value(), IsEmpty());
  claims = ClaimsOf(Good({"algorithm.name=single-mab"})).value();
  ASSERT_THAT(claims, SizeIs(2));
  EXPECT_EQ(claims[1].guarantee.epsilon, 5) << "a person at each of the 5 agents";
  claims = ClaimsOf(Good({"algorithm.name=single-mab", "privacy.records_per_person=3"})).value();
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_THAT(claims[0].adversary, HasSubstr("all other users of all agents"))
      << "a person who comes again is a later user";
}

TEST(ArmsTest, CountsCostsBesideThePapersFormulas) {
  const Checkpoint cdp =
      RunOf({"algorithm.participation=0.4", "federation.cost_server=10"}).checkpoints.back();
  EXPECT_GT(cdp.rounds, 1);
  EXPECT_EQ(cdp.series.at("links_server"), 2 * cdp.rounds);
  EXPECT_EQ(cdp.series.at("communication_cost"), 20.0 * static_cast<double>(cdp.rounds));
  EXPECT_EQ(cdp.series.at("paper_cost"), cdp.series.at("communication_cost"));
  const Checkpoint ring =
      RunOf(Ddp({"federation.topology=ring", "federation.cost_peer=3"})).checkpoints.back();
  EXPECT_EQ(ring.series.at("links_peer"), 2 * 5 * ring.rounds);
  EXPECT_EQ(ring.series.at("communication_cost"), 30.0 * static_cast<double>(ring.rounds));
  EXPECT_EQ(ring.series.at("paper_cost"), ring.series.at("communication_cost"));
  EXPECT_EQ(ring.series.at("waiting_pulls"), static_cast<double>(ring.rounds));
  const Overrides line = {"federation.agents=8", "federation.components=[5, 3]",
                          "federation.component_topology=line", "federation.cost_server=50"};
  Checkpoint hdp = RunOf(Hdp(line)).checkpoints.back();
  const auto rounds = static_cast<double>(hdp.rounds);
  EXPECT_EQ(hdp.series.at("paper_cost"), rounds * (2 * 50 + (2 + 1 + 1 + 2) + 2));
  EXPECT_EQ(hdp.series.at("communication_cost"), rounds * (2 * 50 + 4 + 2 + 2))
      << "tallies that go together share a link";
  Overrides edges = line;
  edges.emplace_back("algorithm.cost_rule=edges");
  hdp = RunOf(Hdp(edges)).checkpoints.back();
  EXPECT_EQ(hdp.series.at("paper_cost"), rounds * (2 * 50 + 4 + 2));
  EXPECT_EQ(RunOf({"algorithm.name=single-mab"}).checkpoints.back().series.at("messages"), 0);
}

TEST(ArmsTest, WaitingHasAPriceOfItsOwn) {
  const auto last = [](const Overrides& set) { return RunOf(set).checkpoints.back(); };
  EXPECT_EQ(last({}).series.at("waiting_regret"), 0);
  EXPECT_EQ(last(Ddp({"federation.topology=complete"})).series.at("waiting_regret"), 0);
  // The arms have means 1 and 0: a waiting pull costs 0 or 1, so the price is a whole number.
  const Checkpoint line = last(Ddp({"federation.topology=line", "environment.means=[1, 0]"}));
  EXPECT_GT(line.series.at("waiting_pulls"), 0);
  EXPECT_GE(line.series.at("waiting_regret"), 0);
  EXPECT_LE(line.series.at("waiting_regret"), 5 * line.series.at("waiting_pulls"));
  EXPECT_EQ(line.series.at("waiting_regret"), std::floor(line.series.at("waiting_regret")));
  // The arm that is best for an agent is not the arm that is best for all.
  const Checkpoint differing = last(
      Ddp({"federation.topology=line", "environment.means=[0.75, 0.5, 0.5]", "environment.heterogeneous=1"}));
  EXPECT_GT(differing.series.at("waiting_regret"), 0);
  EXPECT_LE(differing.series.at("waiting_regret"), 0.25 * 5 * differing.series.at("waiting_pulls"));
}

TEST(ArmsTest, SameDecisionsInAnyStructureWithoutNoiseAndDelay) {
  const auto cdp = RunOf({"privacy.model=none"}, true).decisions;
  ASSERT_THAT(cdp, SizeIs(5));
  EXPECT_EQ(RunOf({"privacy.model=none", "algorithm.name=ddp-mab"}, true).decisions, cdp);
  EXPECT_EQ(RunOf(Hdp({"privacy.model=none", "federation.components=[1, 1, 1, 1, 1]"}), true).decisions, cdp);
  for (const auto& pulls : cdp) {
    Count slots = 0;
    for (const Pull& pull : pulls) slots += pull.count;
    EXPECT_EQ(slots, 20'000);
  }
}

TEST(ArmsTest, BaselinesPlayToTheEnd) {
  for (const char* name : {"ucb1", "successive-elimination"}) {
    const Overrides set = {"horizon=10_000", "privacy.model=none", std::string("algorithm.name=") + name};
    const Outcome outcome = RunOf(set);
    EXPECT_GT(outcome.checkpoints.back().regret, 0) << name;
    EXPECT_GT(outcome.checkpoints.back().best_action_rate, 0.2) << name;
    EXPECT_EQ(ErrorOf({"algorithm.name=" + std::string(name)}).key, "privacy.model");
  }
}

TEST(ArmsTest, LossesAreTold) {
  const Outcome outcome = RunOf(Ddp({"federation.failures=agent 2 @ 1, link 4-5 @ 0"}));
  EXPECT_THAT(outcome.network->lost_agents, ElementsAre(NodeId{2}));
  EXPECT_THAT(outcome.network->lost_links, ElementsAre(Edge{NodeId{4}, NodeId{5}}));
  EXPECT_GT(outcome.checkpoints.back().series.at("lost_tallies"), 0);
  EXPECT_EQ(RunOf(Ddp({})).checkpoints.back().series.at("lost_tallies"), 0);
  EXPECT_EQ(RunOf(Ddp({})).checkpoints.back().series.at("disagreements"), 0);
  EXPECT_GT(RunOf({"federation.dropout=0.5"}).checkpoints.back().series.at("lost_tallies"), 0);
}

TEST(ArmsTest, WhatIsLostIsWhatWasAskedAndNotHeard) {
  // Both uplinks are cut at slot 1. The first of three communication rounds has got through by then.
  const Checkpoint end =
      RunOf({"federation.agents=2", "algorithm.rounds=3", "federation.failures=link 0-1 @ 1, link 0-2@1"})
          .checkpoints.back();
  EXPECT_EQ(end.series.at("lost_tallies"), 2 * 2) << "the first of three rounds got through";
  const std::vector<Checkpoint> rows = RunOf({"federation.dropout=0.5"}).checkpoints;
  EXPECT_EQ(rows.front().series.at("lost_tallies"), 0);
  EXPECT_GT(rows.back().series.at("lost_tallies"), 0);
}

TEST(ArmsTest, NotesSayWhereWidthsDoNotHold) {
  using testing::ElementsAre;
  EXPECT_THAT(NotesOf(Good({})), IsEmpty());
  EXPECT_THAT(NotesOf(Good({"algorithm.participation=0.5"})), IsEmpty());
  EXPECT_THAT(NotesOf(Good({"algorithm.participation=0.5", "environment.heterogeneous=1"})),
              ElementsAre(HasSubstr("who is drawn")));
  EXPECT_THAT(NotesOf(Good(Hdp({"algorithm.aggregation=unweighted", "environment.heterogeneous=1"}))),
              ElementsAre(HasSubstr("whatever their size")));
  EXPECT_THAT(NotesOf(Good({"federation.failures=agent 2 @ 1"})), ElementsAre(HasSubstr("plays no more")));
}

TEST(ArmsTest, ThePictureHasSinksAndCounts) {
  const NetworkPicture picture =
      RunOf(Hdp({"federation.components=[3, 2]", "federation.component_topology=line"})).network.value();
  EXPECT_THAT(picture.sinks, ElementsAre(NodeId{2}, NodeId{4}));
  EXPECT_THAT(picture.components, SizeIs(2));
  EXPECT_TRUE(picture.server);
  EXPECT_THAT(picture.edge_messages, Each(picture.edge_messages.front()));
  EXPECT_GT(picture.uplink_messages[1], picture.uplink_messages[0]) << "everybody gets plans, sinks send";
}

TEST(ArmsTest, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(ErrorOf({"environment.kind=linear", "environment.dimension=2"}).key, "environment.kind");
  EXPECT_EQ(ErrorOf({"privacy.model=central", "privacy.delta=1e-5"}).key, "privacy.model");
  EXPECT_EQ(ErrorOf({"algorithm.name=ddp-mab"}).key, "privacy.model");
  EXPECT_EQ(ErrorOf({"environment.reward=gaussian"}).key, "environment.reward");
  EXPECT_EQ(ErrorOf({"environment.reward=uniform", "environment.means=[0.5, 0.9]"}).key,
            "environment.reward");
  EXPECT_EQ(ErrorOf(Ddp({"algorithm.slack=2147483648"})).key, "algorithm.slack");
  EXPECT_EQ(ErrorOf(Hdp({"federation.components=[3, 3]"})).key, "federation.components");
  EXPECT_THAT(ErrorOf(Hdp({"federation.components=[3, 3]"})).accepted,
              HasSubstr("add up to the number of agents, 5, not to 6"));
  EXPECT_EQ(ErrorOf({"federation.failures=agent 9 @ 1"}).key, "federation.failures");
  EXPECT_EQ(ErrorOf({"federation.failures=link 1-2 @ 1"}).key, "federation.failures") << "workers have none";
  EXPECT_EQ(ErrorOf({"federation.failures=link 0-9 @ 1"}).key, "federation.failures");
  EXPECT_EQ(ErrorOf({"algorithm.rounds=3", "algorithm.gap=2"}).key, "algorithm.gap");
  EXPECT_EQ(ErrorOf({"algorithm.rounds=3", "algorithm.gap=guess"}).key, "algorithm.gap");
  EXPECT_EQ(ErrorOf({"environment.means=[0.5, 1.5]"}).key, "environment.means");
  EXPECT_EQ(ErrorOf({"algorithm.participation=0"}).key, "algorithm.participation");
  EXPECT_EQ(ErrorOf({"algorithm.name=pe", "privacy.model=none"}).key, "environment.kind");
  EXPECT_EQ(ErrorOf(Ddp({"federation.topology=erdos-renyi", "federation.edge_probability=0"})).key,
            "federation.topology");
}

TEST(ArmsTest, ParticipationIsRoundedUp) {
  EXPECT_EQ(Reporting(Good({"federation.agents=50", "algorithm.participation=0.2"})), 10);
  EXPECT_EQ(Reporting(Good({"federation.agents=50", "algorithm.participation=0.21"})), 11);
  EXPECT_EQ(Reporting(Good({"federation.agents=10", "algorithm.participation=0.3"})), 3);
  const Overrides parts = {"federation.agents=10", "federation.components=[5, 3, 2]"};
  const auto with = [&](const char* set) {
    Overrides all = parts;
    all.emplace_back(set);
    return Reporting(Good(Hdp(all)));
  };
  EXPECT_EQ(with("algorithm.participation=1"), 10);
  EXPECT_EQ(with("algorithm.participation=0.6"), 5) << "two of three components, the smallest";
  EXPECT_EQ(with("algorithm.participation=0.1"), 2);
}

TEST(ArmsTest, ComponentsThatAreNotDrawnCostNothing) {
  const Overrides set = {"federation.agents=8", "federation.components=[4, 4]",
                         "federation.component_topology=star", "federation.cost_server=50",
                         "algorithm.participation=0.5"};
  const Checkpoint half = RunOf(Hdp(set)).checkpoints.back();
  const auto rounds = static_cast<double>(half.rounds);
  EXPECT_GT(rounds, 1);
  EXPECT_EQ(half.series.at("links_server"), rounds);
  EXPECT_EQ(half.series.at("communication_cost"), rounds * (50 + 3));
  EXPECT_EQ(half.series.at("paper_cost"), half.series.at("communication_cost"));
  EXPECT_EQ(half.series.at("lost_tallies"), 0);
  Overrides printed = set;
  printed.emplace_back("privacy.calibration=paper");
  EXPECT_EQ(ClaimsOf(Good(Hdp(printed))).value()[0].guarantee.epsilon, 4) << "N epsilon";
  printed.emplace_back("environment.heterogeneous=1");
  EXPECT_THAT(NotesOf(Good(Hdp(printed))), ElementsAre(HasSubstr("who is drawn")));
}

}  // namespace
}  // namespace bandana::lab
