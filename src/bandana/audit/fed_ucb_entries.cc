#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/algorithms/fed_ucb/fed_ucb.h"
#include "bandana/audit/catalog.h"
#include "bandana/audit/release_path.h"
#include "bandana/audit/target.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/privacy/calibration/prefix_sum.h"

/// FedUCB with one agent, on an interactive stream: the agent's actions determine which records come. In the
/// first round there is nothing to choose, and the reward is 1 or -1. After that the agent chooses between
/// e_1 and e_2, and either gives 1. An agent that acts on its own records (LocalData::kRaw) stays with e_1
/// after a first reward of 1, and leaves it for good after -1 (docs/proofs/fed-ucb-streams.md).
namespace bandana::audit {
namespace {

constexpr Count kRoundsPerRelease = 16;  // rounds between two releases
constexpr std::int64_t kReleases = 3;
constexpr Count kContextDimension = 2;
// The entries of a released value: x_1^2/sqrt2, x_1 x_2, x_2^2/sqrt2, y x_1, y x_2.
constexpr std::size_t kEntries = 5;
constexpr std::int64_t kFedUcbDraws = 20'000;

using ContextAgent = FedUcbAgent<RegressionPrefixSum, double>;
using Controller = FedUcbController<RegressionPrefixSum>;

/// A context that keeps what its role sends.
class Outbox final : public AuditContext {
 public:
  using AuditContext::AuditContext;

  void Send(NodeId, Payload payload) override {
    sent_.push_back({links().self, links().self, 0, next_++, std::move(payload)});
  }
  std::vector<Message> Take() { return std::exchange(sent_, {}); }

 private:
  Seq next_ = 0;
  std::vector<Message> sent_;
};

struct Setting {
  LocalData local;
  RegressionPrefixSum privatizer;
  FedUcbWidth width;
  SyncSchedule schedule;
  double first_noise;
  // The set of the first round, and that of all later ones.
  std::shared_ptr<const DecisionBlock<double>> sets;
};

std::shared_ptr<const DecisionBlock<double>> Sets() {
  auto sets = std::make_shared<DecisionBlock<double>>(2, 2, kContextDimension);
  double* first = sets->entries(0);
  first[0] = first[1] = 1;
  double* later = sets->entries(1);
  later[0] = later[sets->stride() + 1] = 1;
  return sets;
}

absl::StatusOr<Setting> MakeSetting(LocalData local, DpGuarantee nominal) {
  BANDANA_ASSIGN_OR_RETURN(RegressionPrefixSum privatizer,
                           RegressionPrefixSum::Create({.nominal = nominal,
                                                        .calibration = Calibration::kTight,
                                                        .sampler = Sampler::kExact,
                                                        .mechanism = PrefixSumMechanism::kToeplitz,
                                                        .steps = kReleases,
                                                        .dimension = kContextDimension,
                                                        .context_norm = 1,
                                                        .reward_bound = 1,
                                                        .reward_weight = 1}));
  BANDANA_ASSIGN_OR_RETURN(FedUcbWidth width, FedUcbWidth::Create({.dimension = kContextDimension,
                                                                   .silos = 1,
                                                                   .releases = kReleases,
                                                                   .sums = kReleases,
                                                                   .failure = 0.05}));
  BANDANA_ASSIGN_OR_RETURN(SyncSchedule schedule,
                           SyncSchedule::Create({.sync = Sync::kBatch,
                                                 .horizon = kRoundsPerRelease * kReleases + 1,
                                                 .agents = 1,
                                                 .batch = kRoundsPerRelease}));
  const double first_noise = privatizer.noise() * std::sqrt(privatizer.strategy().Variance(1));
  return Setting{local, std::move(privatizer), width, schedule, first_noise, Sets()};
}

// Calls `use` with the weight of step k's sum in each value that is released at `step`.
template <class Use>
void ForEachWeight(const PrefixSumStrategy& strategy, std::int64_t step, Use use) {
  for (std::int64_t j = 0; j < strategy.ReleasedBy(step) - strategy.ReleasedBy(step - 1); ++j) {
    for (const WeightedTerm& term : strategy.Functional(step, j)) use(j, term.index, term.weight);
  }
}

std::size_t SizeOf(const PrefixSumStrategy& strategy) {
  return static_cast<std::size_t>(strategy.ReleasedBy(kReleases)) * kEntries;
}

// Returns how the first reward changes what is released, if everything else stays the same.
std::vector<double> StreamDirection(const PrefixSumStrategy& strategy) {
  std::vector<double> direction(SizeOf(strategy), 0);
  constexpr std::size_t kFirstMoment = 3;
  for (std::int64_t step = 1; step <= kReleases; ++step) {
    const auto before = static_cast<std::size_t>(strategy.ReleasedBy(step - 1));
    ForEachWeight(strategy, step, [&](std::int64_t j, std::int64_t k, double weight) {
      if (k != 1) return;
      direction[(before + static_cast<std::size_t>(j)) * kEntries + kFirstMoment] += weight;
    });
  }
  return direction;
}

/// Sees all releases, knows the rule, and assumes that agents act only on releases. Then it knows every
/// action, and subtracts what the actions add.
class Adversary {
 public:
  Adversary(const Setting& setting, std::span<double> view)
      : setting_(setting), policy_(setting.width, setting.first_noise), view_(view) {
    Expect(kRoundsPerRelease - 1);
  }

  void See(const StepValues& released) {
    const auto step = static_cast<std::int64_t>(expected_.size());
    const std::size_t first = seen_;
    for (const std::vector<double>& value : released.values) {
      for (const double entry : value) view_[seen_++] = entry;
    }
    ForEachWeight(setting_.privatizer.strategy(), step, [&](std::int64_t j, std::int64_t k, double weight) {
      for (std::size_t e = 0; e < kEntries; ++e) {
        view_[first + static_cast<std::size_t>(j) * kEntries + e] -=
            weight * expected_[static_cast<std::size_t>(k - 1)][e];
      }
    });
  }

  absl::Status Learn(const RegressionSums& sums) {
    BANDANA_RETURN_IF_ERROR(policy_.Learn(sums));
    Expect(kRoundsPerRelease);
    return absl::OkStatus();
  }

 private:
  // Notes what this many records of the next step should add.
  void Expect(Count records) {
    const auto count = static_cast<double>(records);
    const double square = count / std::numbers::sqrt2;
    if (policy_.Choose(setting_.sets->set(1)) == 0) {
      expected_.push_back({square, 0, 0, count, 0});
    } else {
      expected_.push_back({0, 0, square, 0, count});
    }
  }

  const Setting& setting_;
  FedUcbPolicy<double> policy_;
  std::span<double> view_;
  std::size_t seen_ = 0;
  std::vector<std::array<double, kEntries>> expected_;
};

absl::Status RunAgent(const Setting& setting, Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
  const FedUcbAgentParams params{.horizon = setting.schedule.params().horizon,
                                 .silos = 1,
                                 .local = setting.local,
                                 .first_noise = setting.first_noise};
  std::optional<Declassify> leak;
  if (setting.local == LocalData::kRaw) leak.emplace("fed-ucb-raw: what the audit is to find");
  ContextAgent agent(params, setting.width, setting.privatizer, leak);
  Controller controller(setting.schedule, setting.width, setting.privatizer);
  Outbox agents(Links{.self = NodeId{1}, .upstream = kServerNode}, noise);
  Outbox controllers(Links{.self = kServerNode}, noise);
  Adversary adversary(setting, view);

  const auto deliver = [&]() -> absl::Status {
    for (const Message& message : agents.Take()) {
      if (const auto* share = std::get_if<Share>(&message.body)) {
        BasicReportSum<StepQuery> sum;
        BANDANA_RETURN_IF_ERROR(
            setting.privatizer.Add({.step = share->epoch, .silos = 1}, share->report, sum));
        BANDANA_ASSIGN_OR_RETURN(const Released<StepValues> released,
                                 Release::FromAnalyzer(controllers, setting.privatizer, share->epoch, sum));
        adversary.See(released.value());
      }
      BANDANA_RETURN_IF_ERROR(controller.OnMessage(controllers, message));
    }
    for (const Message& message : controllers.Take()) {
      BANDANA_RETURN_IF_ERROR(agent.OnMessage(agents, message));
      const auto* model = std::get_if<Model>(&message.body);
      if (model != nullptr && model->sums != nullptr) {
        BANDANA_RETURN_IF_ERROR(adversary.Learn(model->sums->value()));
      }
    }
    return absl::OkStatus();
  };
  BANDANA_RETURN_IF_ERROR(controller.OnStart(controllers));
  BANDANA_RETURN_IF_ERROR(deliver());
  for (Count round = 1; round <= kRoundsPerRelease * kReleases; ++round) {
    const bool first = round == 1;
    agent.Act(agents, round, Raw(setting.sets->set(first ? 0 : 1)));
    const double reward = first && neighbour == Neighbour::kFirst ? -1 : 1;
    BANDANA_RETURN_IF_ERROR(agent.Observe(agents, round, Raw<double>(reward)));
    BANDANA_RETURN_IF_ERROR(agent.EndRound(agents, round));
    BANDANA_RETURN_IF_ERROR(deliver());
  }
  return absl::OkStatus();
}

// Returns what FedUCB claims for local = released. With local = raw it claims nothing for such streams; the
// audit shows why.
absl::StatusOr<Claim> ClaimOfReleased(DpGuarantee nominal) {
  const FedUcbParams params{
      .sync = Sync::kBatch, .batch = kRoundsPerRelease, .prefix_sum = PrefixSumMechanism::kToeplitz};
  const Privacy privacy{.model = TrustModel::kSilo, .epsilon = nominal.epsilon, .delta = nominal.delta};
  const Facts facts{.horizon = kRoundsPerRelease * kReleases + 1,
                    .people = 1,
                    .arms = 2,
                    .dimension = kContextDimension,
                    .rewards = Interval{-1, 1}};
  BANDANA_ASSIGN_OR_RETURN(const Federation federation, CreateFedUcb(params, privacy, facts));
  return federation.claims.front();
}

auto InteractiveStream(LocalData local) {
  return [local](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(Setting made, MakeSetting(local, nominal));
    const auto setting = std::make_shared<const Setting>(std::move(made));
    BANDANA_ASSIGN_OR_RETURN(const Claim claim, ClaimOfReleased(nominal));
    const PrefixSumStrategy& strategy = setting->privatizer.strategy();
    Target target{.name = name, .claim = claim, .dimension = SizeOf(strategy)};
    if (local == LocalData::kReleased) target.direction = StreamDirection(strategy);
    target.draw = [setting](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
      return RunAgent(*setting, neighbour, noise, view);
    };
    return target;
  };
}

}  // namespace

std::vector<Entry> FedUcbEntries() {
  return {
      {"fed-ucb-released",
       "whole runs of an agent of FedUCB that acts on released sums, on an interactive stream", kSharp,
       kFedUcbDraws, InteractiveStream(LocalData::kReleased)},
      {"fed-ucb-raw", "fed-ucb-released, but the agent also acts on its own unreleased records, as in P3",
       kSharp, kFedUcbDraws, InteractiveStream(LocalData::kRaw),
       "with local = raw one record changes later actions, and these change later records; the claim holds "
       "only for logged streams"},
  };
}

}  // namespace bandana::audit
