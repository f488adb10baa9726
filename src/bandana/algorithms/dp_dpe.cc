#include "bandana/algorithms/dp_dpe.h"

#include <algorithm>
#include <numeric>

namespace bandana {
namespace {

constexpr double kScheduleSlack = 1e-9;  // a schedule's count is ceil(x - 1e-9)

double CeilCount(double x) { return std::ceil(x - kScheduleSlack); }

// h_l; saturates long after any horizon.
double PhaseRounds(Epoch phase) { return std::ldexp(1.0, std::min(phase, 62)); }

absl::Status CheckPopulation(const DpDpeParams& params, int dimension) {
  // T_l <= h_l + |support|, so these phases complete whatever the designs are.
  const double most_support = DesignSupportBound(dimension);
  double rounds = 0;
  double clients = 0;
  for (Epoch phase = 1;; ++phase) {
    rounds += PhaseRounds(phase) + most_support;
    if (rounds > static_cast<double>(params.horizon)) return absl::OkStatus();
    clients += static_cast<double>(DpDpeClients(params, phase));
    if (clients > static_cast<double>(params.population)) {
      return InvalidInput(
          {.message = fmt::format("too small for the horizon: {} phases need more than {} clients", phase,
                                  params.population),
           .key = "environment.population",
           .value = fmt::format("{}", params.population),
           .accepted = "a larger population, a smaller algorithm.alpha or a shorter horizon"});
    }
  }
}

}  // namespace

Count DpDpeClients(const DpDpeParams& params, Epoch phase) {
  if (params.schedule == ClientSchedule::kFixed) return params.fixed_clients;
  constexpr double kMost = 0x1p62;
  return static_cast<Count>(std::min(kMost, CeilCount(std::exp2(params.alpha * phase))));
}

absl::Status ValidateDpDpe(const DpDpeParams& params, const ActionMatrix& actions) {
  if (actions.rows() == 0) return InvalidOption("environment.actions", 0, "at least one action");
  if (!(params.horizon >= 1)) {
    return InvalidOption("horizon", static_cast<double>(params.horizon), "a whole number >= 1");
  }
  if (params.schedule == ClientSchedule::kGrowing && !(params.alpha > 0 && std::isfinite(params.alpha))) {
    return InvalidOption("algorithm.alpha", params.alpha, "a finite number > 0");
  }
  if (params.schedule == ClientSchedule::kFixed && !(params.fixed_clients >= 1)) {
    return InvalidOption("algorithm.fixed_clients", static_cast<double>(params.fixed_clients),
                         "a whole number >= 1");
  }
  if (params.beta.has_value() && !(*params.beta > 0 && *params.beta < 1)) {
    return InvalidOption("algorithm.beta", *params.beta, "a number in (0, 1)");
  }
  if (params.clip.fixed_bound.has_value() &&
      !(*params.clip.fixed_bound >= 1 && std::isfinite(*params.clip.fixed_bound))) {
    return InvalidOption("environment.reward_bound", *params.clip.fixed_bound,
                         "\"auto\" or a finite number >= 1");
  }
  constexpr Count kMostClients = 0xffffffff;  // NodeId
  if (!(params.population >= 1 && params.population < kMostClients)) {
    return InvalidOption("environment.population", static_cast<double>(params.population),
                         fmt::format("a whole number from 1 to {}", kMostClients - 1));
  }
  return CheckPopulation(params, static_cast<int>(actions.cols()));
}

absl::StatusOr<DpDpePolicy> DpDpePolicy::Create(const DpDpeParams& params,
                                                std::shared_ptr<const ActionMatrix> actions) {
  BANDANA_RETURN_IF_ERROR(ValidateDpDpe(params, *actions));
  return DpDpePolicy(params, std::move(actions));
}

DpDpePolicy::DpDpePolicy(const DpDpeParams& params, std::shared_ptr<const ActionMatrix> actions)
    : params_(params),
      actions_(std::move(actions)),
      level_(params_.beta.value_or(
          1 / (static_cast<double>(actions_->rows()) * static_cast<double>(params_.horizon)))),
      active_(static_cast<std::size_t>(actions_->rows())) {
  std::iota(active_.begin(), active_.end(), 0);
}

absl::StatusOr<Plan> DpDpePolicy::NextPlan() {
  ++epoch_;
  if (!design_.has_value()) {
    BANDANA_ASSIGN_OR_RETURN(design_, NearOptimalDesign(*actions_, active_));  // line 4
  }
  Plan plan{.epoch = epoch_, .pulls = {}, .query = {}};
  Count left = params_.horizon - rounds_played_;
  bool whole = true;
  for (std::size_t i = 0; i < design_->support.size(); ++i) {  // lines 5, 6
    const double wanted = CeilCount(PhaseRounds(epoch_) * design_->weights[i]);
    const Count count = static_cast<Count>(std::min(std::max(wanted, 1.0), static_cast<double>(left)));
    whole = whole && static_cast<double>(count) >= wanted && count > 0;
    if (count > 0) plan.pulls.push_back({design_->support[i], count});
    left -= count;
  }
  rounds_played_ = params_.horizon - left;
  if (!whole) return plan;
  plan.query.clients = DpDpeClients(params_, epoch_);
  for (const Pull& pull : plan.pulls) plan.query.bounds.push_back(params_.clip.BoundsFor(pull.count));
  return plan;
}

absl::Status DpDpePolicy::Learn(const Plan& plan, const Released<Mean>& averages) {
  const PhaseRegression regression(*actions_, *design_, plan.pulls);
  Vector estimate = regression.Estimate(averages.value().entries);
  const double privacy_stddev = averages.noise_stddev();
  PhaseRegression::Survivors survivors =
      params_.width == Width::kExact
          ? regression.EliminateExactly(estimate, active_,
                                        {.clients = std::vector<Count>(plan.pulls.size(), plan.query.clients),
                                         .privacy = averages.noise(),
                                         .rule = params_.clip,
                                         .bounds = plan.query.bounds},
                                        level_)
          : regression.EliminateBy(2 * PaperWidth(plan, privacy_stddev), estimate, active_);
  if (survivors.active.size() != active_.size()) design_.reset();
  active_ = std::move(survivors.active);
  Count rounds = 0;
  for (const Pull& pull : plan.pulls) rounds += pull.count;
  history_.push_back({.epoch = plan.epoch,
                      .pulls = plan.pulls,
                      .rounds = rounds,
                      .clients = plan.query.clients,
                      .privacy_stddev = privacy_stddev,
                      .width = survivors.widest,
                      .averages = averages.value().entries,
                      .estimate = std::move(estimate),
                      .active = active_});
  return absl::OkStatus();
}

double DpDpePolicy::PaperWidth(const Plan& plan, double privacy_stddev) const {
  const double d = static_cast<double>(actions_->cols());
  const double clients = static_cast<double>(plan.query.clients);
  const double support = 4 * d * std::max(0.0, std::log(std::log(d))) + 16;  // S
  const double sigma_n = 2 * privacy_stddev * std::sqrt(support * d);        // Theorem 5.2
  return (std::sqrt(2 * d / (clients * PhaseRounds(plan.epoch))) +
          params_.clip.client_sd / std::sqrt(clients) + sigma_n) *
         std::sqrt(2 * std::log(1 / level_));  // Eq. (3)
}

}  // namespace bandana
