#include "bandana/service/live_machine.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bandana/algorithms/elimination/private_elimination.h"
#include "bandana/core/sha256.h"
#include "bandana/service/journal.h"
#include "bandana/sim/simulate.h"
#include "bandana/store/memory_store.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bandana::service {
namespace {

constexpr Count kArms = 4;

Facts SmallFacts(Count horizon = 400) {
  Facts facts{.horizon = horizon, .people = 1'000'000, .arms = kArms, .dimension = kArms};
  facts.actions = std::make_shared<const ActionMatrix>(ActionMatrix::Identity(kArms, kArms));
  facts.reward.kind = RewardKind::kBernoulli;
  return facts;
}

// Every reward of an arm is the same.
double RewardOf(ArmId arm) { return 0.25 * static_cast<double>(arm); }

Privacy Central(double quorum = 1) {
  Privacy privacy{.model = TrustModel::kCentral, .epsilon = 5, .delta = 1e-6};
  privacy.sampler = Sampler::kExact;
  privacy.quorum = quorum;
  return privacy;
}

std::string Subject(int person) { return Sha256("person " + std::to_string(person)).substr(0, 16); }

// A deployment without a network. Its disk outlives its process.
class Deployment {
 public:
  explicit Deployment(const Privacy& privacy = Central(), Count horizon = 400)
      : federation_(CreatePrivateElimination({}, privacy, SmallFacts(horizon)).value()) {
    params.actions = SmallFacts().actions;
    params.window = absl::Minutes(10);
    params.fill = absl::Hours(1);
    params.grace = absl::Minutes(1);
    params.cost = federation_.budget;
    params.insecure_seed = InsecureSeed{7, 0};
    Start();
  }

  void Start() {
    store_.emplace(disk_);
    role_ = std::get<SlotRoles>(federation_.roles).server();
    machine = std::make_unique<LiveMachine>(
        params, *role_, std::get<SlotRoles>(federation_.roles), federation_.topology,
        [this](std::uint64_t, LiveReply answer) { reply = std::move(answer); },
        [this](const LiveStatus& now) { status = now; });
    journal = Journal::Open({.storage = {&*store_, &ratchet_},
                             .header = {.deployment = "test",
                                        .configuration = Sha256("test"),
                                        .limits = {.per_unit = {params.cost.epsilon, params.cost.delta}}},
                             .spec = "test",
                             .program = "test",
                             .entropy = [] { return store::Key{7}; }},
                            *machine)
                  .value();
    if (journal->run().empty()) EXPECT_TRUE(journal->Begin(NewRun(), time).ok());
  }

  // The process ends at once, and is started again.
  void Crash() {
    journal.reset();
    machine.reset();
    Start();
  }

  const LiveReply& Hand(v1::LiveEvent event) {
    event.set_time(absl::ToUnixMicros(time));
    event.set_request(1);
    const std::string body = event.SerializeAsString();
    auto read = machine->Read(kPeopleLink, body);
    EXPECT_TRUE(read.ok()) << read.status();
    reply = {};
    const absl::Status taken = journal->Take(kPeopleLink, journal->Taken(kPeopleLink) + 1, body, **read);
    EXPECT_TRUE(taken.ok()) << taken;
    EXPECT_TRUE(journal->Commit().ok());
    return reply;
  }

  LiveDecision Decide(int person) {
    v1::LiveEvent event;
    event.mutable_decide()->add_subject(Subject(person));
    return Hand(event).decisions.at(0);
  }
  LiveOutcome Post(std::uint64_t decision, std::optional<double> reward) {
    v1::LiveEvent event;
    v1::Post& post = *event.mutable_rewards()->add_posts();
    post.set_decision(decision);
    if (reward) post.set_reward(*reward);
    post.set_void_(!reward);
    return Hand(event).outcomes.at(0);
  }
  void Pass(absl::Duration duration) {
    time += duration;
    v1::LiveEvent tick;
    tick.mutable_tick();
    Hand(tick);
  }
  // People come until all seats are taken, and every reward comes at once.
  void FillPhase() {
    while (status.asked > status.seated + status.answered) {
      const LiveDecision decision = Decide(next_person++);
      EXPECT_NE(decision.id, 0u);
      EXPECT_EQ(Post(decision.id, RewardOf(decision.arm)), LiveOutcome::kTaken);
    }
  }
  void FinishPhase() {
    FillPhase();
    Pass(absl::Minutes(12));
  }

  const Federation& federation() const { return federation_; }

  LiveParams params;
  absl::Time time = absl::FromUnixSeconds(1'800'000'000);
  std::unique_ptr<LiveMachine> machine;
  std::unique_ptr<Journal> journal;
  LiveReply reply;
  LiveStatus status;
  int next_person = 1;

 private:
  Federation federation_;
  store::MemoryDisk disk_{"memory"};
  store::Ratchet ratchet_ = store::Ratchet::InMemory();
  std::optional<store::MemoryStore> store_;
  std::unique_ptr<Node> role_;
};

TEST(LiveMachineTest, WhoComesTakesASeatAndEverybodyElseGetsAFreeAction) {
  Deployment live;
  live.Pass(absl::ZeroDuration());
  const Count asked = live.status.asked;
  ASSERT_GE(asked, 2);
  std::set<std::uint64_t> ids;
  for (int person = 1; person <= asked; ++person) ids.insert(live.Decide(person).id);
  EXPECT_EQ(static_cast<Count>(ids.size()), asked);
  EXPECT_FALSE(ids.contains(0));
  EXPECT_EQ(live.Decide(1000).id, 0u) << "no seat is left";
  EXPECT_EQ(live.Decide(1).id, 0u) << "it has played its part";
  EXPECT_TRUE(live.machine->FreeDecision(Subject(1000)).has_value());
  EXPECT_EQ(live.status.seated, asked);
}

TEST(LiveMachineTest, AnAnswerIsMadeWhenItsWindowIsOverWhateverTheRewardWas) {
  Deployment live;
  live.Pass(absl::ZeroDuration());
  const LiveDecision first = live.Decide(1);
  const LiveDecision second = live.Decide(2);
  EXPECT_EQ(first.window_ends, live.time + absl::Minutes(10));
  EXPECT_EQ(live.Post(first.id, 1), LiveOutcome::kTaken);
  live.Pass(absl::Minutes(10) - absl::Microseconds(1));
  EXPECT_EQ(live.status.answered, 0) << "an answer that came with its reward would tell that it came";
  EXPECT_EQ(live.Post(second.id, 1), LiveOutcome::kTaken);
  live.Pass(absl::Minutes(1) + absl::Microseconds(1));
  EXPECT_EQ(live.status.answered, 2) << "the second reward changes nothing";
}

TEST(LiveMachineTest, NothingDependsOnARewardBeforeTheRelease) {
  const auto seen_with = [](std::optional<double> reward, bool is_late) {
    Deployment live;
    live.Pass(absl::ZeroDuration());
    std::vector<std::string> seen;
    const Count asked = live.status.asked;
    const auto look = [&] {
      seen.push_back(fmt::format("{} {} {} {} {}", live.status.epoch, live.status.seated,
                                 live.status.answered, absl::ToUnixMicros(live.status.deadline),
                                 absl::ToUnixMicros(live.machine->due())));
    };
    std::vector<std::uint64_t> ids;
    for (int person = 1; person <= asked; ++person) {
      const LiveDecision decision = live.Decide(person);
      ids.push_back(decision.id);
      seen.push_back(
          fmt::format("{} {} {}", decision.id, decision.arm, absl::ToUnixMicros(decision.window_ends)));
      if (reward && !is_late) live.Post(decision.id, *reward);
      look();
      live.Pass(absl::Seconds(1));
    }
    if (reward && is_late) {
      for (const std::uint64_t id : ids) live.Post(id, *reward);
    }
    while (live.status.epoch == 1) {
      look();
      live.Pass(live.machine->due() - live.time);
    }
    seen.push_back(absl::FormatTime(live.time));  // of the release
    return seen;
  };
  const std::vector<std::string> seen = seen_with(1, false);
  EXPECT_EQ(seen_with(0, false), seen);
  EXPECT_EQ(seen_with(1, true), seen);
  EXPECT_EQ(seen_with(std::nullopt, false), seen);
}

TEST(LiveMachineTest, ARewardCountsOnceAndInTime) {
  Deployment live;
  live.Pass(absl::ZeroDuration());
  const LiveDecision decision = live.Decide(1);
  EXPECT_EQ(live.Post(decision.id, 1), LiveOutcome::kTaken);
  EXPECT_EQ(live.Post(decision.id, 1), LiveOutcome::kRepeat);
  EXPECT_EQ(live.Post(decision.id, 0), LiveOutcome::kConflict);
  EXPECT_EQ(live.Post(decision.id, std::nullopt), LiveOutcome::kConflict);
  EXPECT_EQ(live.Post(decision.id + 1, 1), LiveOutcome::kLate) << "nobody has made it";
  live.Pass(absl::Minutes(10));
  EXPECT_EQ(live.Post(decision.id, 1), LiveOutcome::kLate);
}

TEST(LiveMachineTest, ADecisionThatWasNeverShownFreesItsSeat) {
  Deployment live;
  live.Pass(absl::ZeroDuration());
  const LiveDecision decision = live.Decide(1);
  EXPECT_EQ(live.Post(decision.id, std::nullopt), LiveOutcome::kTaken);
  EXPECT_EQ(live.status.seated, 0);
  EXPECT_EQ(live.Post(decision.id, 1), LiveOutcome::kLate);
  EXPECT_NE(live.Decide(1).id, 0u) << "the person may take part later";
}

TEST(LiveMachineTest, AMissingRewardCountsAsTheDefault) {
  std::vector<std::vector<double>> averages;
  for (const bool posts : {true, false}) {
    Deployment live;
    live.Pass(absl::ZeroDuration());
    const Count asked = live.status.asked;
    for (int person = 1; person <= asked; ++person) {
      const LiveDecision decision = live.Decide(person);
      if (posts) live.Post(decision.id, live.params.missing);
    }
    live.Pass(absl::Minutes(12));
    ASSERT_EQ(live.status.learned->phases.size(), 1u);
    averages.push_back(live.status.learned->phases[0].averages);
  }
  EXPECT_EQ(averages[0], averages[1]);
}

TEST(LiveMachineTest, APersonIsInOneReleaseOfARunAndPaysOnce) {
  Deployment live;
  live.Pass(absl::ZeroDuration());
  live.FinishPhase();
  const int first = live.next_person - 1;
  EXPECT_EQ(live.status.epoch, 2);
  for (int person = 1; person <= first; ++person) {
    EXPECT_EQ(live.Decide(person).id, 0u);
    EXPECT_EQ(live.journal->ledger().accounts().Of(LiveMachine::UnitOf(Subject(person))).releases, 1);
  }
  EXPECT_EQ(live.journal->ledger().accounts().units(), static_cast<std::size_t>(first));
}

TEST(LiveMachineTest, MakesTheSimulatorsDecisions) {
  class SameRewards final : public SlotWorld {
   public:
    const Facts& facts() const override { return facts_; }
    absl::Status Answer(NodeId, Epoch, std::span<const Pull> pulls, std::span<RewardSum> sums) override {
      for (std::size_t i = 0; i < pulls.size(); ++i) {
        sums[i] = {pulls[i].count, static_cast<double>(pulls[i].count) * RewardOf(pulls[i].arm)};
      }
      return absl::OkStatus();
    }

   private:
    Facts facts_ = SmallFacts(3000);
  };
  Deployment live(Central(), 3000);
  live.Pass(absl::ZeroDuration());
  while (!live.machine->over()) live.FinishPhase();
  SameRewards world;
  const absl::StatusOr<Outcome> simulated = Simulate(live.federation(), world, {.seed = 7});
  ASSERT_TRUE(simulated.ok()) << simulated.status();
  const std::vector<PhaseRecord>& phases = live.status.learned->phases;
  ASSERT_EQ(phases.size(), simulated->phases.size());
  ASSERT_GT(phases.size(), 3u);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_EQ(phases[i].averages, simulated->phases[i].averages);
    EXPECT_EQ(phases[i].active, simulated->phases[i].active);
  }
  EXPECT_EQ(live.status.best, 3);
  EXPECT_TRUE(live.status.is_known);
}

TEST(LiveMachineTest, AProcessThatDiesGoesOnWhereItWas) {
  Deployment live;
  live.Pass(absl::ZeroDuration());
  for (int step = 0; !live.machine->over() && step < 400; ++step) {
    if (live.status.asked > live.status.seated + live.status.answered) {
      const LiveDecision decision = live.Decide(live.next_person++);
      if (step % 3 != 0) live.Post(decision.id, RewardOf(decision.arm));
    } else {
      live.Pass(absl::Minutes(12));
    }
    const std::string before = live.machine->Save();
    const std::string name = live.status.run;
    live.Crash();
    ASSERT_EQ(live.machine->Save(), before) << "after step " << step;
    if (live.machine->over()) break;
    live.Pass(absl::ZeroDuration());
    EXPECT_EQ(live.status.run, name);
  }
  EXPECT_GE(live.status.epoch, 4);
}

TEST(LiveMachineTest, ADeadlineNeedsTheQuorum) {
  Deployment live(Central(0.5));
  live.Pass(absl::ZeroDuration());
  const Count asked = live.status.asked;
  live.Decide(1);
  for (int attempt = 1; attempt <= live.params.attempts; ++attempt) {
    EXPECT_EQ(live.status.attempt, attempt);
    EXPECT_FALSE(live.status.stalled);
    live.Pass(live.status.deadline - live.time);
  }
  EXPECT_TRUE(live.status.stalled) << "one of " << asked << " is too few";
  EXPECT_EQ(live.status.epoch, 1);
  EXPECT_EQ(live.status.answered, 1);
  EXPECT_TRUE(live.journal->ledger().accounts().units() == 0) << "nobody has paid for nothing";
  for (int person = 2; person <= asked; ++person) live.Decide(person);
  live.Pass(absl::Minutes(12));
  EXPECT_EQ(live.status.epoch, 2) << "it goes on when people come";
  EXPECT_FALSE(live.status.stalled);
}

TEST(LiveMachineTest, ATimeThatGoesBackChangesNothing) {
  Deployment live;
  live.Pass(absl::ZeroDuration());
  const LiveDecision decision = live.Decide(1);
  live.time -= absl::Hours(5);
  EXPECT_EQ(live.Decide(2).window_ends, decision.window_ends);
  live.time += absl::Hours(5);
  live.Pass(absl::Minutes(11));
  EXPECT_EQ(live.status.answered, 2);
}

TEST(LiveMachineTest, UnitsAreNumbersThatTheLedgerTakes) {
  std::set<std::uint32_t> units;
  for (int person = 0; person < 10'000; ++person) {
    const NodeId unit = LiveMachine::UnitOf(Subject(person));
    EXPECT_GE(unit.value, 1u);
    EXPECT_LT(unit.value, 0x80000000u);
    units.insert(unit.value);
  }
  EXPECT_GT(units.size(), 9990u);
}

TEST(LiveMachineTest, RefusesEventsWithoutMeaning) {
  Deployment live;
  v1::LiveEvent event;
  event.mutable_decide()->add_subject("short");
  EXPECT_FALSE(live.machine->Read(kPeopleLink, event.SerializeAsString()).ok());
  event.Clear();
  event.mutable_rewards()->add_posts()->set_reward(1.5);
  EXPECT_FALSE(live.machine->Read(kPeopleLink, event.SerializeAsString()).ok());
  event.mutable_rewards()->mutable_posts(0)->set_reward(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(live.machine->Read(kPeopleLink, event.SerializeAsString()).ok());
  EXPECT_FALSE(live.machine->Read(kPeopleLink, "\xff\xff").ok());
  EXPECT_FALSE(live.machine->Admits("agent/1").ok());
}

}  // namespace
}  // namespace bandana::service
