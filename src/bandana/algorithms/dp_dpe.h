#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/phase_regression.h"
#include "bandana/bandit/clipping.h"
#include "bandana/bandit/optimal_design.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/status.h"
#include "bandana/core/without_replacement.h"
#include "bandana/federation/collector.h"
#include "bandana/federation/node.h"
#include "bandana/federation/release.h"
#include "bandana/privacy/privatizer.h"
#include "fmt/format.h"

/// DP-DPE: differentially private distributed phased elimination.
/// F. Li, X. Zhou, B. Ji, "Distributed Linear Bandits With Differential Privacy", IEEE TNSE 11(3), 2024,
/// Algorithm 1.
///
///   paper             here
///   D, k, d           actions, their number and dimension
///   D_l               active_
///   pi_l, V(pi)       Design
///   h_l               2^l, the rounds a phase aims at
///   T_l(x), T_l       Plan::pulls, PhaseRecord::rounds
///   U_l               DpDpeClients: ceil(2^(alpha l)), each client of the population at most once
///   y~_l              Released<Mean>
///   theta~_l          PhaseRecord::estimate
///   W_l, sigma_n      DpDpePolicy::PaperWidth
///   sigma, B          ClipRule::client_sd, ClipRule::BoundsFor
///
/// Departures, all in docs/papers/p1.md: `width = exact` bounds each pair of actions by itself
/// (PhaseRegression); averages are clipped to a public schedule, not to B = 1; a phase that the horizon cuts
/// short asks no client.
namespace bandana {

enum class Width { kExact, kPaper };
enum class ClientSchedule { kGrowing, kFixed };

struct DpDpeParams {
  Count horizon = 0;           ///< T
  double alpha = 0;            ///< of the growing schedule
  std::optional<double> beta;  ///< level of one confidence bound; 1/(k T) if not given
  Width width = Width::kExact;
  ClientSchedule schedule = ClientSchedule::kGrowing;
  Count fixed_clients = 0;  ///< a phase, of the fixed schedule
  Count population = 0;     ///< clients 1 .. population
  ClipRule clip;
};

/// Checks the parameters against each other and against the number of actions; also that the population
/// outlasts the phases that are sure to complete.
absl::Status ValidateDpDpe(const DpDpeParams& params, const ActionMatrix& actions);

/// |U_l|: ceil(2^(alpha l)) or the fixed number.
Count DpDpeClients(const DpDpeParams& params, Epoch phase);

/// What a completed phase has shown. Public: all of it follows from released values.
struct PhaseRecord {
  Epoch epoch = 0;
  std::vector<Pull> pulls;
  Count rounds = 0;
  Count clients = 0;
  double privacy_stddev = 0;
  double width = 0;
  std::vector<double> averages;  ///< released
  Vector estimate;
  std::vector<ArmId> active;  ///< after the elimination
};

/// The part of the server that no privatizer touches: which rounds to play, whom to ask, what to keep.
class DpDpePolicy {
 public:
  static absl::StatusOr<DpDpePolicy> Create(const DpDpeParams& params,
                                            std::shared_ptr<const ActionMatrix> actions);

  /// The next phase's plan. If the horizon cuts it short its query asks no client and it is the last.
  absl::StatusOr<Plan> NextPlan();

  /// Lines 17-19, from what the plan's clients gave.
  absl::Status Learn(const Plan& plan, const Released<Mean>& averages);

  bool finished() const { return rounds_played_ >= params_.horizon; }
  Count rounds_played() const { return rounds_played_; }
  const std::vector<PhaseRecord>& history() const { return history_; }
  const std::vector<ArmId>& active() const { return active_; }
  const DpDpeParams& params() const { return params_; }

 private:
  DpDpePolicy(const DpDpeParams& params, std::shared_ptr<const ActionMatrix> actions);
  double PaperWidth(const Plan& plan, double privacy_stddev) const;

  DpDpeParams params_;
  std::shared_ptr<const ActionMatrix> actions_;
  double level_;
  std::vector<ArmId> active_;
  std::optional<Design> design_;  // of active_; none after an elimination
  Epoch epoch_ = 0;
  Count rounds_played_ = 0;
  std::vector<PhaseRecord> history_;
};

template <Privatizer P>
class DpDpeServer final : public Node {
 public:
  static absl::StatusOr<DpDpeServer> Create(const DpDpeParams& params,
                                            std::shared_ptr<const ActionMatrix> actions, P privatizer) {
    BANDANA_ASSIGN_OR_RETURN(DpDpePolicy policy, DpDpePolicy::Create(params, std::move(actions)));
    return DpDpeServer(std::move(policy), std::move(privatizer));
  }

  absl::Status OnStart(Context& context) override { return StartPhase(context); }

  absl::Status OnMessage(Context& context, const Message& message) override {
    BANDANA_ASSIGN_OR_RETURN(const auto averages, collector_.Take(context, message));
    if (!averages.has_value()) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(policy_.Learn(*plan_, *averages));
    finished_ = policy_.finished();
    return finished_ ? absl::OkStatus() : StartPhase(context);
  }

  bool finished() const override { return finished_; }
  const DpDpePolicy& policy() const { return policy_; }

 private:
  DpDpeServer(DpDpePolicy policy, P privatizer)
      : policy_(std::move(policy)),
        collector_(std::move(privatizer)),
        unasked_(static_cast<std::uint64_t>(policy_.params().population)) {}

  absl::Status StartPhase(Context& context) {
    BANDANA_ASSIGN_OR_RETURN(Plan plan, policy_.NextPlan());
    plan_ = std::make_shared<const Plan>(std::move(plan));
    context.Play(plan_->pulls);
    if (plan_->query.clients > 0) return AskClients(context);
    finished_ = true;
    return absl::OkStatus();
  }

  // Line 7: clients at random, each at most once in the run.
  absl::Status AskClients(Context& context) {
    const Count wanted = plan_->query.clients;
    if (static_cast<std::uint64_t>(wanted) > unasked_.remaining()) {
      return InvalidInput(
          {.message = fmt::format("the population runs out in phase {}: {} clients are left, {} are wanted",
                                  plan_->epoch, unasked_.remaining(), wanted),
           .key = "environment.population",
           .value = fmt::format("{}", policy_.params().population),
           .accepted = "a larger population, a smaller algorithm.alpha or a shorter horizon"});
    }
    std::vector<NodeId> clients(static_cast<std::size_t>(wanted));
    CoinGen& coin = context.coin(plan_->epoch);
    for (NodeId& client : clients) client = {static_cast<std::uint32_t>(1 + unasked_.Draw(coin))};
    return collector_.Ask(context, plan_, std::move(clients));
  }

  DpDpePolicy policy_;
  Collector<P> collector_;
  WithoutReplacement unasked_;
  std::shared_ptr<const Plan> plan_;
  bool finished_ = false;
};

/// Lines 8-14: watches the rounds of one phase and reports once in its life.
template <Privatizer P>
class DpDpeClient final : public Player {
 public:
  explicit DpDpeClient(const P& privatizer) : privatizer_(&privatizer) {}

  absl::Status OnMessage(Context&, const Message& message) override {
    const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&message.body);
    if (plan == nullptr) return absl::InvalidArgumentError("DP-DPE's client takes plans alone");
    if (plan_ != nullptr && plan_->epoch == (*plan)->epoch) return absl::OkStatus();  // a repeat
    if (plan_ != nullptr) {
      return absl::FailedPreconditionError(
          fmt::format("a client takes part once: it was in phase {} and is asked again in phase {}",
                      plan_->epoch, (*plan)->epoch));
    }
    plan_ = *plan;
    return absl::OkStatus();
  }

  std::span<const Pull> Act(Context&) override {
    if (plan_ == nullptr || reported_) return {};
    return plan_->pulls;
  }

  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    BANDANA_ASSIGN_OR_RETURN(Report report,
                             Release::FromClient(context, *privatizer_, plan_->epoch, plan_->query, rewards));
    reported_ = true;
    context.Send(*context.links().upstream, Share{plan_->epoch, 0, std::move(report)});
    return absl::OkStatus();
  }

  bool finished() const override { return reported_; }

 private:
  const P* privatizer_;
  std::shared_ptr<const Plan> plan_;
  bool reported_ = false;
};

}  // namespace bandana
