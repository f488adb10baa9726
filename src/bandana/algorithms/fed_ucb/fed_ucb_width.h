#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/regression_sums.h"

/// Bounds on the error of a federated regression: P3's Propositions 2 and 4.
/// A. Dubey, A. Pentland, "Differentially-private federated linear bandits", NeurIPS 2020.
///
/// Let V = G + H + shift I and u = sum of y x + h, where H and h are the noise of all silos together. Then
///   |theta^ - theta*|_V <= |sum of noise x|_(V^-1) + |(H + shift I) theta* - h|_(V^-1).
/// The first term is that of LinUCB if H >= -(shift - rho_min). The second is at most
/// (shift S + |H theta* - h|)/sqrt(lambda_min(V)), which shrinks as data come in
/// (docs/proofs/fed-ucb-width.md). The paper bounds it by S sqrt(M rho_max) + kappa sqrt(M), which does not.
///
///   paper                        here
///   S, L, B                      theta_norm, context_norm, the mechanism's reward_bound
///   sigma                        reward_proxy
///   alpha                        failure
///   n, M                         releases, silos
///   Lambda, rho_min, rho_max     Regularizer
///   beta                         DataTerm() + NoiseTerm()
namespace bandana {

/// The constants that are added to a noisy Gram matrix so that it stays positive definite.
enum class Shift {
  kGroup,  ///< one constant for the sum of all silos' noise, which grows like sqrt(M)
  kAgent,  ///< one constant for each silo's noise, as in the paper: M of them
};

enum class RegressionWidth {
  kExact,  ///< from the smallest eigenvalue of V, which has been released
  kPaper,  ///< Proposition 2, its misprinted factor d left out
};

/// The paper's own constants: Proposition 4 and Algorithm 2, from the nominal budget.
struct PaperNoise {
  DpGuarantee nominal;
};

struct FedUcbWidthParams {
  Count dimension = 0;
  Count silos = 0;            ///< M: how many silos' sums are added up
  std::int64_t releases = 0;  ///< n: how often one silo releases
  Count sums = 0;             ///< how many different sums of noise are ever used to decide; at least n
  double context_norm = 1;    ///< L
  double theta_norm = 1;      ///< S
  double reward_proxy = 1;    ///< sigma
  double failure = 0;         ///< alpha: some bound of the run fails with at most this probability
  Shift shift = Shift::kGroup;
  RegressionWidth width = RegressionWidth::kExact;
  /// The number of orders in which data may be added up before a decision: 1 if all decide by the same
  /// released data, one for each agent and release if agents add their own.
  Count orders = 1;
  /// The sum of the silos' standard deviations over the root of the sum of their squares; sqrt(M) if all are
  /// equal.
  double noise_spread = 1;
  double moment_ratio = 1;          ///< noise in y x over noise in x x': 1 / reward_weight
  std::optional<PaperNoise> paper;  ///< Lambda from the paper's formula, not from the noise that there is
};

/// The constant that is added to a noisy Gram matrix, with bounds on this constant plus the noise.
struct Regularizer {
  double shift = 0;
  double rho_min = 0;  ///< H + shift I >= rho_min I
  double rho_max = 0;  ///< H + shift I <= rho_max I

  template <class Archive>
  void State(Archive& a) {
    a(shift, rho_min, rho_max);
  }
};

class FedUcbWidth {
 public:
  static absl::StatusOr<FedUcbWidth> Create(const FedUcbWidthParams& params);

  /// Fails unless widths can be computed in that dimension.
  static absl::Status CheckDimension(Count dimension);

  /// Returns the regularizer for noise of that standard deviation in the sum's Gram matrix. Without noise all
  /// three of its numbers are 1.
  Regularizer RegularizerFor(double gram_noise) const;

  /// Returns the regularizer before the first sync, when there is no noise yet. `first_noise` is that of the
  /// first release. With Shift::kAgent the constant is M rho_min, as in the first line of P3's Algorithm 1;
  /// with Shift::kGroup it is the shift of the first release.
  Regularizer StartFor(double first_noise) const;

  /// Returns the noise's term of beta before the first sync. `start` is that of StartFor.
  double StartTerm(double first_noise, const Regularizer& start) const;

  /// Return the two terms of beta = DataTerm + NoiseTerm. With probability at least 1 - failure,
  /// |theta^ - theta*|_V <= beta for all sums together. The determinant of V grows with an agent's own
  /// records; its smallest eigenvalue is that of released sums.
  double DataTerm(double log_det, const Regularizer& regularizer) const;
  double NoiseTerm(double gram_noise, const Regularizer& regularizer, double min_eigenvalue) const;

  const FedUcbWidthParams& params() const { return params_; }

 private:
  explicit FedUcbWidth(const FedUcbWidthParams& params);

  FedUcbWidthParams params_;
  double matrix_norm_ = 0;  // a quantile of |H| / gram_noise
  double vector_norm_ = 0;  // a quantile of |H theta* - h| / gram_noise
  double paper_lambda_ = 0;
  double paper_kappa_ = 0;
};

}  // namespace bandana
