#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/regression_sums.h"

/// How far the estimate of a federated regression can be off: P3's Propositions 2 and 4.
/// A. Dubey, A. Pentland, "Differentially-private federated linear bandits", NeurIPS 2020.
///
/// V = G + H + shift I and u = sum of y x + h, where H and h are the noise of all silos together. Then
///   |theta^ - theta*|_V <= |sum of noise x|_(V^-1) + |(H + shift I) theta* - h|_(V^-1).
/// The first term is that of LinUCB if H >= -(shift - rho_min). The second is at most
/// (shift S + |H theta* - h|)/sqrt(lambda_min(V)), which shrinks as data come in
/// (docs/proofs/fed-ucb-width.md); the paper bounds it by S sqrt(M rho_max) + kappa sqrt(M), which does not.
///
///   paper                        here
///   S, L, B                      theta_norm, context_norm, reward bound (of the privatizer)
///   sigma                        reward_proxy
///   alpha                        failure
///   n, M                         releases, silos
///   Lambda, rho_min, rho_max     Regularizer
///   beta                         DataTerm() + NoiseTerm()
namespace bandana {

enum class Shift {
  kGroup,  ///< one for the sum of all silos' noise, which grows like sqrt(M)
  kAgent,  ///< one for each silo's, as in the paper: M of them
};

enum class RegressionWidth {
  kExact,  ///< by the smallest eigenvalue of V, which has been released
  kPaper,  ///< Proposition 2, its misprinted factor d left out
};

/// The paper's own constants: Proposition 4 and Algorithm 2, from the nominal budget.
struct PaperNoise {
  DpGuarantee nominal;
};

struct FedUcbWidthParams {
  Count dimension = 0;
  Count silos = 0;            ///< M: how many silos' sums are added up
  std::int64_t releases = 0;  ///< n: of one silo
  Count sums = 0;             ///< how many different sums of noise are ever decided by, n at least
  double context_norm = 1;    ///< L
  double theta_norm = 1;      ///< S
  double reward_proxy = 1;    ///< sigma
  double failure = 0;         ///< alpha: some bound of the run fails with at most this probability
  Shift shift = Shift::kGroup;
  RegressionWidth width = RegressionWidth::kExact;
  /// Orders in which data may be added up before a decision: 1 if all decide by the same released data, one
  /// for each agent and release if agents add their own.
  Count orders = 1;
  /// Sum of the silos' noise scales over the root of the sum of their squares; sqrt(M) if all are equal.
  double noise_spread = 1;
  double moment_ratio = 1;          ///< of the noise in y x to that in x x': 1 / reward_weight
  std::optional<PaperNoise> paper;  ///< Lambda by the paper's formula, not by the noise that there is
};

/// What is added to the Gram matrix, and how small and large what has then been added to the data's can be.
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
  /// Errors name the key.
  static absl::StatusOr<FedUcbWidth> Create(const FedUcbWidthParams& params);

  /// For noise of that scale in the sum's Gram matrix; 1 without noise.
  Regularizer RegularizerFor(double gram_noise) const;

  /// beta = DataTerm + NoiseTerm: |theta^ - theta*|_V <= beta for all sums together with probability at least
  /// 1 - failure. V's determinant grows with an agent's own records; its smallest eigenvalue is that of
  /// released sums.
  double DataTerm(double log_det, const Regularizer& regularizer) const;
  double NoiseTerm(double gram_noise, const Regularizer& regularizer, double min_eigenvalue) const;

  const FedUcbWidthParams& params() const { return params_; }

 private:
  explicit FedUcbWidth(const FedUcbWidthParams& params);

  FedUcbWidthParams params_;
  double matrix_norm_ = 0;  // quantile of |H| / gram_noise
  double vector_norm_ = 0;  // of |H theta* - h| / gram_noise
  double paper_lambda_ = 0;
  double paper_kappa_ = 0;
};

}  // namespace bandana
