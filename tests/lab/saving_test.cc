#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>

#include "bandana/algorithms/registry.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/byte_string.h"
#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/saved_policy.h"
#include "bandana/lab/spec.h"
#include "bandana/sim/simulate.h"
#include "bandana/sim/user_pairs.h"
#include "gmock/gmock.h"
#include "tests/reborn.h"

// Tests of save, load and continue for every algorithm. A run in which all roles are saved, destroyed and
// restored at (nearly) every call must equal, bit for bit, the run in which they live on.
namespace bandana::lab {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string name;  // the name of the algorithm
  Overrides set = {};
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  out << each.name;
  for (const std::string& set : each.set) out << ' ' << set;
  return out;
}

std::vector<Case> Cases() {
  return {
      {"dp-dpe", {"privacy.model=none"}},
      {"dp-dpe", {"privacy.model=central"}},
      {"dp-dpe", {"privacy.model=central", "algorithm.report=estimate"}},
      {"dp-dpe", {"privacy.model=local", "algorithm.warm_start=true", "algorithm.width=paper"}},
      {"dp-dpe", {"privacy.model=shuffle", "horizon=2000"}},
      {"pe", {"privacy.model=central"}},
      {"pe", {"privacy.model=none", "environment.kind=glm", "environment.reward=bernoulli"}},
      {"private-elimination", {"privacy.model=central"}},
      {"private-elimination", {"privacy.model=shuffle", "privacy.shuffle=sum", "horizon=150"}},
      {"private-elimination", {"privacy.model=shuffle", "privacy.shuffle=amplified", "horizon=150"}},
      {"private-elimination", {"privacy.model=local", "privacy.noise=laplace"}},
      {"lin-ucb", {"privacy.model=none"}},
      {"fed-ucb"},
      {"fed-ucb", {"privacy.model=shuffle", "federation.paces=[1, 2]"}},
      {"fed-ucb", {"algorithm.local=raw", "algorithm.prefix_sum=toeplitz"}},
      {"fed-ucb", {"privacy.model=none", "algorithm.sync=determinant", "environment.precision=float"}},
      {"fed-ucb", {"algorithm.sync=released", "algorithm.prefix_sum=honaker", "privacy.budgets=[0.5, 3]"}},
      {"fed-ucb-p2p", {"privacy.model=peer", "federation.topology=ring", "algorithm.gamma=2"}},
      {"fed-ucb-p2p", {"privacy.model=none", "federation.topology=ring", "algorithm.sync=determinant"}},
      {"private-lin-ucb"},
      {"private-lin-ucb", {"privacy.model=none"}},
      {"cdp-mab", {"algorithm.participation=0.4", "federation.dropout=0.2", "horizon=20000"}},
      {"cdp-mab", {"privacy.model=none"}},
      {"ddp-mab", {"privacy.model=peer", "federation.topology=ring", "algorithm.protocol=gis"}},
      {"ddp-mab",
       {"privacy.model=peer", "federation.topology=line", "algorithm.protocol=flooding",
        "federation.dropout=0.2"}},
      {"ddp-mab",
       {"privacy.model=peer", "federation.topology=ring", "algorithm.protocol=gossip",
        "algorithm.local=raw"}},
      {"hdp-mab",
       {"federation.agents=8", "federation.components=[5, 3]", "federation.component_topology=line",
        "federation.failures=agent 3 @ 1, miss 7 @ 2, miss 1 @ 2"}},
      {"hdp-mab", {"federation.components=[3, 2]", "algorithm.aggregation=unweighted"}},
      {"single-mab"},
      {"ucb1", {"privacy.model=none"}},
      {"successive-elimination", {"privacy.model=none"}},
      {"ldp-sgd"},
      {"ldp-sgd", {"environment.parameters=multi", "environment.link=probit", "algorithm.average=2"}},
      {"ldp-ols"},
      {"ldp-ols", {"environment.parameters=multi", "algorithm.lazy=0.2", "environment.link=poisson"}},
      {"ldp-ucb", {"algorithm.bonus=0.1"}},
      {"ldp-gloc", {"environment.parameters=multi"}},
      {"thompson-sampling", {"privacy.model=none", "environment.link=identity"}},
  };
}

std::string BaseOf(const std::string& name) {
  const Family& family = **Families().FindFamily(name);
  if (family.time == TimeModel::kTick) {
    return R"(horizon = 4_000
seed = 5
environment = { kind = "mab", actions = 6 }
federation.agents = 5
privacy = { model = "silo", epsilon = 20.0 }
)";
  }
  if (family.time == TimeModel::kUser) {
    return R"(horizon = 400
seed = 5
environment = { kind = "glm", dimension = 3, actions = 4 }
privacy = { model = "local", epsilon = 2.0, delta = 0.01 }
)";
  }
  if (family.time == TimeModel::kRound) {
    return R"(horizon = 150
seed = 5
environment = { kind = "contextual-linear", contexts = "gap", dimension = 4, actions = 8, reward = "bernoulli" }
federation.agents = 4
privacy = { model = "silo", epsilon = 1.0, delta = 1e-5 }
)";
  }
  return family.one_client_per_round ? R"(horizon = 600
seed = 11
environment = { dimension = 3, actions = 20, theta_norm = 0.9 }
privacy = { epsilon = 50.0, delta = 1e-5 }
)"
                                     : R"(horizon = 20_000
seed = 11
environment = { dimension = 3, actions = 20, client_sd = 0.1, population = 2_000, theta_norm = 0.9 }
algorithm.alpha = 0.45
privacy = { epsilon = 50.0, delta = 1e-5 }
)";
}

absl::StatusOr<Settings> SettingsOf(const Case& each, const Overrides& more = {}) {
  Overrides set = {"algorithm.name=" + each.name};
  set.insert(set.end(), each.set.begin(), each.set.end());
  set.insert(set.end(), more.begin(), more.end());
  BANDANA_ASSIGN_OR_RETURN(const Spec spec, ParseSpec(BaseOf(each.name), "x.toml", set));
  Settings settings = spec.points.front().settings;
  BANDANA_RETURN_IF_ERROR(CheckPoint(settings));
  return settings;
}

// The results of a run, to the last bit.
struct Ran {
  test::SavedRoles roles;  // what each would save at the end
  std::vector<std::string> checkpoints;
  std::vector<std::vector<std::pair<ArmId, Count>>> decisions;
  Count rounds = 0;  // of communication
};

std::vector<std::string> Digits(const std::vector<Checkpoint>& checkpoints) {
  std::vector<std::string> digits;
  for (const Checkpoint& each : checkpoints) {
    ByteString bytes;
    bytes.Add(each.t).Add(each.regret).Add(each.clients).Add(each.reals).Add(each.bits).Add(each.rounds);
    bytes.Add(each.best_action_rate);
    for (const auto& [name, value] : each.series) bytes.Add(value);
    digits.push_back(bytes.Take());
  }
  return digits;
}

// `every`: before every so-manieth call a role is saved, destroyed and made anew. 0: roles live on.
absl::StatusOr<Ran> RunCase(const Case& each, int every) {
  BANDANA_ASSIGN_OR_RETURN(const Settings settings, SettingsOf(each));
  BANDANA_ASSIGN_OR_RETURN(const Instance instance, MakeInstance(settings, 0));
  Ran ran;
  const Federation federation = test::Reborn(instance.federation, every, ran.roles);
  SimulateOptions options = OptionsOf(instance.experiment, settings);
  options.decisions = true;
  BANDANA_ASSIGN_OR_RETURN(const Outcome outcome, Simulate(federation, *instance.world, options));
  ran.checkpoints = Digits(outcome.checkpoints);
  ran.rounds = outcome.checkpoints.back().rounds;
  for (const std::vector<Pull>& pulls : outcome.decisions) {
    auto& list = ran.decisions.emplace_back();
    for (const Pull& pull : pulls) list.emplace_back(pull.arm, pull.count);
  }
  return ran;
}

// Roles of a longer run refuse what these have saved.
void ExpectRefusals(const Case& each, const test::SavedRoles& saved) {
  const Settings longer = SettingsOf(each, {"horizon=700"}).value();
  const Instance instance = MakeInstance(longer, 0).value();
  for (const auto& [name, role] : test::MakeRoles(instance.federation)) {
    if (!saved.contains(name)) continue;
    const absl::Status status = role->Restore(saved.at(name));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << name << ": " << status;
  }
}

TEST(SavingTest, EveryAlgorithmIsHere) {
  std::set<std::string> here;
  for (const Case& each : Cases()) here.insert(each.name);
  std::set<std::string> names;
  for (const Family& family : Families().families()) names.insert(family.name);
  EXPECT_EQ(here, names) << "a policy that may not survive being saved: write its case";
}

// Learner, device and simulator are gone after some rounds; the world goes on.
TEST(SavingTest, UsersGoOnWithAnotherSimulator) {
  for (const Case& each : Cases()) {
    const Settings settings =
        SettingsOf(each, each.name == "ldp-ols" ? Overrides{"algorithm.lazy=0"} : Overrides{}).value();
    const Count horizon = settings.Integer("horizon");
    const auto decisions = [&](Count stop_after) {
      const Instance instance = MakeInstance(settings, 0).value();
      auto& world = dynamic_cast<UserWorld&>(*instance.world);
      RoundRecorder recorder(1, {horizon}, true);
      std::string saved;
      for (Count begin = 0; begin < horizon; begin += stop_after) {
        const auto learner = std::get<UserRoles>(instance.federation.roles).learner();
        if (begin > 0) EXPECT_TRUE(learner->Restore(saved).ok());
        const auto run = sim::MakeUserRun({.seed = 5, .users_before = begin}, *learner, world);
        const absl::Status ran = run->Run(begin + stop_after, recorder);
        EXPECT_TRUE(ran.ok()) << ran;
        saved = learner->Save();
      }
      return recorder.decisions();
    };
    if (MakeInstance(settings, 0)->federation.time() != TimeModel::kUser) continue;
    EXPECT_TRUE(decisions(horizon) == decisions(horizon / 8)) << each;
  }
}

class SavedRunTest : public ::testing::TestWithParam<Case> {};

TEST_P(SavedRunTest, GoesOnAsIfItHadNeverStopped) {
  const absl::StatusOr<Ran> lasting = RunCase(GetParam(), 0);
  ASSERT_TRUE(lasting.ok()) << lasting.status();
  const std::set<std::string> alone = {"single-mab", "ucb1", "successive-elimination"};
  EXPECT_GE(lasting->rounds, alone.contains(GetParam().name) ? 0 : 2)
      << "there must be something to go on with";
  const absl::StatusOr<Ran> reborn = RunCase(GetParam(), 1);
  ASSERT_TRUE(reborn.ok()) << reborn.status();
  EXPECT_TRUE(lasting->checkpoints == reborn->checkpoints);
  EXPECT_TRUE(lasting->decisions == reborn->decisions);
  ASSERT_EQ(lasting->roles.size(), reborn->roles.size());
  for (const auto& [name, saved] : lasting->roles) EXPECT_TRUE(saved == reborn->roles.at(name)) << name;
  ExpectRefusals(GetParam(), lasting->roles);
}

TEST_P(SavedRunTest, GoesToDiskAndBackToWhoseItIs) {
  const absl::StatusOr<Ran> ran = RunCase(GetParam(), 0);
  ASSERT_TRUE(ran.ok()) << ran.status();
  const Settings settings = SettingsOf(GetParam()).value();
  const std::string path = ::testing::TempDir() + "bandana_saving_" + std::to_string(getpid());
  const auto& [name, saved] = *ran->roles.begin();
  ASSERT_TRUE(WritePolicy(path, IdentityOf(settings, 0, name), saved).ok());
  EXPECT_TRUE(ReadPolicy(path, IdentityOf(settings, 0, name)).value() == saved);
  const auto refusal = [&](const PolicyIdentity& other) {
    return std::string(ReadPolicy(path, other).status().message());
  };
  EXPECT_THAT(refusal(IdentityOf(settings, 1, name)), HasSubstr("replicate = \"0\", not \"1\""));
  EXPECT_THAT(refusal(IdentityOf(settings, 0, "nobody")), HasSubstr("role"));
  const Settings other = SettingsOf(GetParam(), {"seed=6"}).value();
  EXPECT_THAT(refusal(IdentityOf(other, 0, name)), HasSubstr("seed = \""));
  std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Algorithms, SavedRunTest, ::testing::ValuesIn(Cases()),
                         [](const ::testing::TestParamInfo<Case>& each) {
                           std::string name;
                           for (const char c : each.param.name) {
                             if (c != '-') name += c;
                           }
                           return name + std::to_string(each.index);
                         });

}  // namespace
}  // namespace bandana::lab
