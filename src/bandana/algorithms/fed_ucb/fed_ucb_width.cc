#include "bandana/algorithms/fed_ucb/fed_ucb_width.h"

#include <algorithm>
#include <cmath>

#include "bandana/algorithms/fed_ucb/noise_norms.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

double Squared(double x) { return x * x; }

}  // namespace

absl::Status FedUcbWidth::CheckDimension(Count dimension) {
  if (dimension >= 1 && dimension <= 1000) return absl::OkStatus();
  return InvalidField(Part::kFacts, "dimension", static_cast<double>(dimension),
                      "a whole number from 1 to 1000");
}

absl::StatusOr<FedUcbWidth> FedUcbWidth::Create(const FedUcbWidthParams& params) {
  BANDANA_RETURN_IF_ERROR(CheckDimension(params.dimension));
  if (!(params.silos >= 1)) {
    return InvalidField(Part::kFacts, "people", static_cast<double>(params.silos), "a whole number >= 1");
  }
  if (!(params.failure > 0 && params.failure < 1)) {
    return InvalidField(Part::kParams, "failure", params.failure, "a number in (0, 1)");
  }
  return FedUcbWidth(params);
}

FedUcbWidth::FedUcbWidth(const FedUcbWidthParams& params) : params_(params) {
  const auto d = static_cast<double>(params_.dimension);
  const auto silos = static_cast<double>(params_.silos);
  const bool each = params_.shift == Shift::kAgent;
  // Half of the failure probability is for the data, a quarter for matrices and a quarter for vectors.
  const double sums = static_cast<double>(std::max<Count>(params_.sums, 1));
  const double level = params_.failure / 4 / sums;
  matrix_norm_ = SymmetricNoiseNorm(params_.dimension, each ? level / silos : level);
  vector_norm_ = BiasNoiseNorm(params_.dimension, params_.theta_norm, 1, params_.moment_ratio, level);
  if (params_.paper.has_value()) {
    const auto [epsilon, delta] = params_.paper->nominal;
    const double m = 1 + std::ceil(std::log2(static_cast<double>(params_.releases)));
    const double record = Squared(params_.context_norm) + 1;
    const double tail = std::log(2 * static_cast<double>(params_.releases) * silos / params_.failure);
    paper_lambda_ =
        std::sqrt(32.0) * m * record * std::log(4 / delta) * (4 * std::sqrt(d) + 2 * tail) / epsilon;
    paper_kappa_ = std::sqrt(m * record * (std::sqrt(d) + 2 * tail) / (std::sqrt(2.0) * epsilon));  // Prop. 4
  }
}

Regularizer FedUcbWidth::RegularizerFor(double gram_noise) const {
  if (gram_noise == 0 && !params_.paper.has_value()) return {1, 1, 1};
  double norm = matrix_norm_ * gram_noise;
  if (params_.shift == Shift::kAgent) norm *= params_.noise_spread;
  if (params_.paper.has_value()) norm = paper_lambda_ * static_cast<double>(params_.silos);
  return {2 * norm, norm, 3 * norm};
}

Regularizer FedUcbWidth::StartFor(double first_noise) const {
  Regularizer start = RegularizerFor(first_noise);
  if (params_.shift == Shift::kAgent) start.shift = start.rho_min;  // Algorithm 1, line 1
  return start;
}

// Proposition 2 has one term for all rounds. Ours is |theta*| in the norm of V, which has no noise yet.
double FedUcbWidth::StartTerm(double first_noise, const Regularizer& start) const {
  if (params_.width == RegressionWidth::kPaper) return NoiseTerm(first_noise, start, start.shift);
  return params_.theta_norm * std::sqrt(start.shift);
}

// Abbasi-Yadkori et al. 2011, Theorem 1, for V >= G + rho_min I.
double FedUcbWidth::DataTerm(double log_det, const Regularizer& regularizer) const {
  const bool printed = params_.width == RegressionWidth::kPaper;  // Prop. 2 counts one order alone
  const double level = params_.failure / 2 / (printed ? 1 : static_cast<double>(params_.orders));
  const double growth = log_det - static_cast<double>(params_.dimension) * std::log(regularizer.rho_min);
  return params_.reward_proxy * std::sqrt(2 * std::log(1 / level) + std::max(growth, 0.0));
}

double FedUcbWidth::NoiseTerm(double gram_noise, const Regularizer& regularizer,
                              double min_eigenvalue) const {
  const double noise = vector_norm_ * gram_noise;
  if (params_.width == RegressionWidth::kExact) {
    return (regularizer.shift * params_.theta_norm + noise) / std::sqrt(min_eigenvalue);
  }
  const double kappa = params_.paper.has_value()
                           ? paper_kappa_ * std::sqrt(static_cast<double>(params_.silos))
                           : noise / std::sqrt(regularizer.rho_min);
  return params_.theta_norm * std::sqrt(regularizer.rho_max) + kappa;  // Prop. 2
}

}  // namespace bandana
