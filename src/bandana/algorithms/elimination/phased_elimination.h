#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/elimination/phase_regression.h"
#include "bandana/algorithms/width.h"
#include "bandana/bandit/clipping.h"
#include "bandana/bandit/link.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/archive.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/status.h"
#include "bandana/core/without_replacement.h"
#include "bandana/federation/collector.h"
#include "bandana/federation/node.h"
#include "bandana/federation/observations.h"
#include "bandana/federation/release.h"
#include "bandana/privacy/privatizer.h"
#include "fmt/format.h"

/// Phased elimination. A phase plays a design of the active actions, releases what clients saw, estimates
/// theta and drops every action whose confidence bound shows that another one is better. The next phase is
/// longer. This file has what all elimination papers share. EliminationRules has what one paper decides
/// (dp_dpe.h, pe.h, private_elimination.h).
namespace bandana {

/// Facts about a phase that a paper's own confidence width may depend on. All of them are public.
struct PhaseFacts {
  Epoch epoch = 0;
  double target = 0;  ///< h_l: the number of rounds that the phase aimed at
  Count rounds = 0;   ///< the number of rounds that it took
  Count clients = 0;  ///< the number of clients that it asked
  int dimension = 0;
  int actions = 0;  ///< the number of actions that were active in it
  std::span<const Pull> pulls;
  std::span<const NoiseLaw> privacy;  ///< the privacy noise in each number of the release
  double privacy_stddev = 0;          ///< the largest standard deviation of that noise
};

/// How a core set is found.
enum class CoreSetSearch {
  kSmall,       ///< NearOptimalDesign, whose core sets are small
  kFrankWolfe,  ///< FrankWolfeDesign, which keeps every action
};

/// The decisions that differ between elimination papers, and the facts of the run.
struct EliminationRules {
  Count horizon = 0;                    ///< T
  double level = 0;                     ///< the level of one confidence bound
  std::function<double(Epoch)> rounds;  ///< h_l: x is played ceil(h_l pi(x)) times, pi the design's weights
  /// How many clients watch a phase from its first round to its last. Null: every round has a new client.
  std::function<Count(Epoch)> clients;
  /// A phase asks 1 + over_selection times as many clients as it needs, because some never answer. Only with
  /// `clients`: else a round whose client does not answer gets another one.
  double over_selection = 0;
  double quorum = 1;  ///< the share of the clients that a phase needs which is enough at a deadline
  Epoch phases = std::numeric_limits<Epoch>::max();  ///< after so many phases only the best action is played
  bool warm_start = false;  ///< whether the search for a design starts from the previous design
  bool core_set = true;     ///< false: a phase plays every active action equally often
  CoreSetSearch design = CoreSetSearch::kSmall;
  ClientReport report = ClientReport::kAverages;  ///< kEstimate needs `clients` and exact widths
  Width width = Width::kExact;
  std::function<double(const PhaseFacts&)> paper_width;  ///< W_l: x is dropped if it is 2 W_l behind
  ClipRule clip;
  Link link = Link::kIdentity;  ///< any other link needs exact widths
  double misspecification = 0;  ///< a bound on |mean reward of x - <theta, x>| for every action
  Count population = 0;         ///< clients are numbered 1 .. population, and each takes part at most once
  /// Tells the privatizer's noise in advance, so that the clipping intervals can be chosen for it. The server
  /// sets it.
  NoiseForecast forecast = {};
};

/// The facts that elimination needs to know about the environment besides its actions.
struct EliminationWorld {
  Count horizon = 0;     ///< T
  Count population = 0;  ///< clients are numbered 1 .. population
  ClipRule clip;
};

/// Returns ceil(x - 1e-9), by which counts of a schedule are rounded.
double CeilCount(double x);

/// The part of the server that does not depend on the privatizer. It decides which rounds to play, how many
/// clients to ask and which actions to keep.
class EliminationPolicy {
 public:
  /// Checks the rules against each other, and that the population outlasts the phases that are sure to
  /// complete.
  static absl::StatusOr<EliminationPolicy> Create(EliminationRules rules,
                                                  std::shared_ptr<const ActionMatrix> actions);

  /// Returns the plan of the next phase. If the horizon cuts the phase short, or if all phases are over, the
  /// plan asks no client and is the last one.
  absl::StatusOr<Plan> NextPlan();

  /// Eliminates actions by the release that answers the plan's query.
  absl::Status Learn(const Plan& plan, const Released<Mean>& averages);

  bool finished() const { return rounds_played_ >= rules_.horizon; }
  const std::vector<PhaseRecord>& history() const { return history_; }
  const std::vector<ArmId>& active() const { return active_; }
  const EliminationRules& rules() const { return rules_; }

  /// Returns whether `plan` may be the last plan that this policy has made. Saved states are checked with it.
  bool MayHaveMade(const Plan& plan) const;

  template <class Archive>
  void State(Archive& a) {
    a.Same(rules_.horizon, "horizon");
    a.Same(rules_.level, "confidence level");
    a.Same(rules_.population, "population");
    a.Same(static_cast<std::int64_t>(actions_->rows()), "number of actions");
    a.Same(static_cast<std::int64_t>(actions_->cols()), "dimension");
    a(active_, design_, earlier_, best_, means_, epoch_, rounds_played_, history_);
    bool knows = known_.has_value();
    a(knows);
    if constexpr (Archive::kReads) {
      known_.reset();
      if (knows) known_.emplace(Knowledge{PhaseRegression(*actions_), {}, ErrorsOf({})});
      if (knows && rules_.clients == nullptr) known_->errors.sampling = Sampling::kDeal;
    }
    if (knows) a(known_->regression, known_->estimate, known_->errors);
    a.Check([&] { return Fits(); }, "it does not match the actions of this run");
  }

 private:
  EliminationPolicy(EliminationRules rules, std::shared_ptr<const ActionMatrix> actions);
  Plan Exploit();
  absl::StatusOr<Design> NextDesign() const;
  PhaseErrors ErrorsOf(const Plan& plan) const;
  absl::Status ClipPlan(Plan& plan);
  bool Fits() const;  // whether the state belongs to these actions

  // The result of the last phase, which bounds the mean rewards.
  struct Knowledge {
    PhaseRegression regression;
    Vector estimate;
    PhaseErrors errors;
  };

  struct Conclusion {
    Vector estimate;
    PhaseRegression::Survivors survivors;
  };
  Conclusion Conclude(const Plan& plan, const PhaseFacts& facts, const Released<Mean>& averages);

  EliminationRules rules_;
  std::shared_ptr<const ActionMatrix> actions_;
  std::vector<ArmId> active_;
  std::optional<Design> design_;   // for active_; none after an elimination
  std::optional<Design> earlier_;  // the design before the last elimination
  ArmId best_ = 0;                 // the best action by the last estimate
  std::optional<Knowledge> known_;
  std::vector<Interval> means_;  // bounds on the mean reward of each coordinate of the plan, from known_
  Epoch epoch_ = 0;
  Count rounds_played_ = 0;
  std::vector<PhaseRecord> history_;
};

/// Plays the policy's plans, asks clients, and hands each release to the policy.
template <Privatizer P>
class EliminationServer final : public Node {
 public:
  /// Fails if `rules` is an error, or if the policy rejects the rules.
  static absl::StatusOr<EliminationServer> Create(absl::StatusOr<EliminationRules> rules,
                                                  std::shared_ptr<const ActionMatrix> actions, P privatizer) {
    BANDANA_RETURN_IF_ERROR(rules.status());
    if constexpr (requires(const MeanQuery& query) { privatizer.Forecast(query); }) {
      rules->forecast = [privatizer](const MeanQuery& query) { return privatizer.Forecast(query); };
    }
    BANDANA_ASSIGN_OR_RETURN(EliminationPolicy policy,
                             EliminationPolicy::Create(*std::move(rules), std::move(actions)));
    return EliminationServer(std::move(policy), std::move(privatizer));
  }

  absl::Status OnStart(Context& context) override { return StartPhase(context); }

  absl::Status OnMessage(Context& context, const Message& message) override {
    BANDANA_ASSIGN_OR_RETURN(const auto averages, collector_.Take(context, message));
    return averages.has_value() ? Learn(context, *averages) : absl::OkStatus();
  }

  absl::StatusOr<bool> OnDeadline(Context& context, Epoch epoch) override {
    BANDANA_ASSIGN_OR_RETURN(const auto averages, collector_.AtDeadline(context, epoch));
    if (!averages.has_value()) return false;
    BANDANA_RETURN_IF_ERROR(Learn(context, *averages));
    return true;
  }

  bool finished() const override { return finished_; }
  void Describe(Observations& observations) const override {
    observations.phases = policy_.history();
    observations.active = policy_.active();
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(collector_.privatizer().guarantee().epsilon, "epsilon");
    a(policy_, collector_, unasked_, dealt_to_, plan_, finished_);
    a.Check(dealt_to_ <= static_cast<std::uint64_t>(policy_.rules().population),
            "it gave rounds to more clients than the population has");
    a.Check([&] { return plan_ == nullptr || policy_.MayHaveMade(*plan_); },
            "its plan does not match its policy");
    a.Check(collector_.plan() == nullptr || (plan_ != nullptr && collector_.plan()->epoch == plan_->epoch),
            "it waits for answers to another plan");
  }
  const EliminationPolicy& policy() const { return policy_; }

 private:
  EliminationServer(EliminationPolicy policy, P privatizer)
      : policy_(std::move(policy)),
        collector_(std::move(privatizer)),
        unasked_(static_cast<std::uint64_t>(policy_.rules().population)) {}

  // The answers are those of the clients that have answered.
  absl::Status Learn(Context& context, const Released<Mean>& averages) {
    Plan answered = *plan_;
    answered.query = collector_.answered();
    BANDANA_RETURN_IF_ERROR(policy_.Learn(answered, averages));
    finished_ = policy_.finished();
    return finished_ ? absl::OkStatus() : StartPhase(context);
  }

  absl::Status StartPhase(Context& context) {
    BANDANA_ASSIGN_OR_RETURN(Plan plan, policy_.NextPlan());
    plan_ = std::make_shared<const Plan>(std::move(plan));
    const bool dealt = !plan_->query.dealt.empty();
    if (dealt && ShufflePrivatizer<P>) {
      context.PlayMixed(plan_->pulls);
    } else {
      context.Play(plan_->pulls);
    }
    if (plan_->query.clients > 0) return dealt ? DealRounds(context) : AskClients(context);
    finished_ = true;
    return absl::OkStatus();
  }

  absl::Status CheckLeft(std::uint64_t left) const {
    const Count wanted = plan_->query.clients;
    if (static_cast<std::uint64_t>(wanted) <= left) return absl::OkStatus();
    return InvalidField(
        Part::kFacts,
        {.message = fmt::format("the population runs out in phase {}: {} clients are left, but {} are needed",
                                plan_->epoch, left, wanted),
         .key = "people",
         .value = fmt::format("{}", policy_.rules().population),
         .accepted = "a larger population, a smaller alpha or a shorter horizon"});
  }

  // Gives every round of the phase to the next client in the order of their numbers.
  absl::Status DealRounds(Context& context) {
    BANDANA_RETURN_IF_ERROR(CheckLeft(static_cast<std::uint64_t>(policy_.rules().population) - dealt_to_));
    const NodeId first{static_cast<std::uint32_t>(dealt_to_ + 1)};
    dealt_to_ += static_cast<std::uint64_t>(plan_->query.clients);
    return collector_.Deal(context, plan_, first);
  }

  // Asks clients at random, each at most once in the run.
  absl::Status AskClients(Context& context) {
    BANDANA_RETURN_IF_ERROR(CheckLeft(unasked_.remaining()));
    std::vector<NodeId> clients(static_cast<std::size_t>(plan_->query.clients));
    CoinGen& coin = context.coin(plan_->epoch);
    for (NodeId& client : clients) client = {static_cast<std::uint32_t>(1 + unasked_.Draw(coin))};
    return collector_.Ask(context, plan_, std::move(clients));
  }

  EliminationPolicy policy_;
  Collector<P> collector_;
  WithoutReplacement unasked_;
  std::uint64_t dealt_to_ = 0;  // clients 1 .. dealt_to_ have had their round
  std::shared_ptr<const Plan> plan_;
  bool finished_ = false;
};

/// Watches the rounds of one phase, or plays one round of it, and reports once in its life.
template <Privatizer P>
class EliminationClient final : public Player {
 public:
  explicit EliminationClient(const P& privatizer) : privatizer_(&privatizer) {}

  absl::Status OnMessage(Context&, const Message& message) override {
    const auto* task = std::get_if<Task>(&message.body);
    const auto* whole = std::get_if<std::shared_ptr<const Plan>>(&message.body);
    if (task == nullptr && whole == nullptr) {
      return absl::InvalidArgumentError("a client accepts only plans and tasks");
    }
    const std::shared_ptr<const Plan>& plan = task == nullptr ? *whole : task->plan;
    if (plan_ != nullptr && plan_->epoch == plan->epoch) return absl::OkStatus();  // a repeat
    if (plan_ != nullptr) {
      return absl::FailedPreconditionError(fmt::format(
          "a client can take part only once: it took part in phase {} and is asked again in phase {}",
          plan_->epoch, plan->epoch));
    }
    plan_ = plan;
    if (task == nullptr) return absl::OkStatus();
    part_ = task->part;
    once_ = {plan->pulls[static_cast<std::size_t>(part_)].arm, 1};
    return absl::OkStatus();
  }

  std::span<const Pull> Act(Context&) override {
    if (plan_ == nullptr || reported_) return {};
    return part_ == Report::kWhole ? std::span<const Pull>(plan_->pulls) : std::span<const Pull>(&once_, 1);
  }

  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    BANDANA_ASSIGN_OR_RETURN(Report report, Randomize(context, rewards));
    reported_ = true;
    context.Send(*context.links().upstream, Share{plan_->epoch, 0, std::move(report)});
    return absl::OkStatus();
  }

  bool finished() const override { return reported_; }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(plan_, part_, once_, reported_);
    a.Check(part_ == Report::kWhole ||
                (plan_ != nullptr && part_ >= 0 && static_cast<std::size_t>(part_) < plan_->pulls.size()),
            "its part of the plan does not exist");
  }

 private:
  absl::StatusOr<Report> Randomize(Context& context, const Raw<RewardSums>& rewards) const {
    if (part_ == Report::kWhole) {
      return Release::FromClient(context, *privatizer_, plan_->epoch, plan_->query, rewards);
    }
    if constexpr (DealingPrivatizer<P>) {
      return Release::PartFromClient(context, *privatizer_, plan_->epoch, plan_->query, part_, rewards);
    }
    return absl::InvalidArgumentError("this mechanism answers only whole queries");
  }

  const P* privatizer_;
  std::shared_ptr<const Plan> plan_;
  int part_ = Report::kWhole;
  Pull once_;
  bool reported_ = false;
};

}  // namespace bandana
