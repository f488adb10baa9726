#pragma once

#include <array>
#include <cstddef>

#include "bandana/privacy/guarantee.h"

/// Renyi differential privacy on a fixed set of orders: epsilon(alpha) bounds the Renyi divergence of order
/// alpha between the output laws of neighbours, in both directions. I. Mironov, CSF 2017. Curves add under
/// composition, also if the mechanisms are chosen along the way, but not if their budgets are. Proof:
/// docs/proofs/accounting.md.
namespace bandana {

/// Convert to (epsilon, delta)-DP at one order: C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian
/// for differential privacy", NeurIPS 2020, Proposition 12. order > 1.
double RenyiToDelta(double epsilon, double order, double renyi_epsilon);
double RenyiToEpsilon(double delta, double order, double renyi_epsilon);

class RenyiCurve {
 public:
  /// The orders are 1 + 10^(i/20) for i = -60, ..., 140.
  static constexpr std::size_t kOrders = 201;
  static const std::array<double, kOrders>& Orders();

  /// Makes a curve that is 0 at every order: no loss.
  RenyiCurve() { values_.fill(0); }
  /// Makes a curve that is infinite at every order: no bound.
  static RenyiCurve Unbounded();

  static RenyiCurve Gaussian(double noise_multiplier);  ///< alpha/(2 m^2), m the noise multiplier
  static RenyiCurve Zcdp(double rho);                   ///< alpha rho; also for the discrete Gaussian
  static RenyiCurve Laplace(double scale);   ///< for one coordinate; scale in units of its sensitivity
  static RenyiCurve PureDp(double epsilon);  ///< the worst epsilon-DP mechanism: randomised response

  RenyiCurve Plus(const RenyiCurve& other) const;
  RenyiCurve Times(double count) const;
  double at(std::size_t i) const { return values_[i]; }
  void set(std::size_t i, double value) { values_[i] = value; }

  /// Return the best value over the orders: infinite epsilon, or delta 1, if no order gives a bound.
  double Epsilon(double delta) const;
  double Delta(double epsilon) const;
  /// Returns the order at which Epsilon(delta) is attained. A filter that is to deliver it must fix this
  /// order.
  std::size_t BestOrder(double delta) const;

 private:
  std::array<double, kOrders> values_;
};

}  // namespace bandana
