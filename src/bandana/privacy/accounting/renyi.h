#pragma once

#include <array>
#include <cstddef>

#include "bandana/privacy/guarantee.h"

/// Renyi differential privacy on a fixed set of orders: epsilon(alpha) bounds the Renyi divergence of order
/// alpha between neighbours' output laws, in both directions. I. Mironov, CSF 2017. Curves add under
/// composition, also where the mechanisms, though not the budgets, are chosen along the way; for budgets
/// chosen along the way see accounting/filter.h. Proof: docs/proofs/accounting.md.
namespace bandana {

/// The conversion to (epsilon, delta)-DP at one order: C. Canonne, G. Kamath and T. Steinke, "The discrete
/// Gaussian for differential privacy", NeurIPS 2020, Proposition 12. order > 1.
double RenyiToDelta(double epsilon, double order, double renyi_epsilon);
double RenyiToEpsilon(double delta, double order, double renyi_epsilon);

class RenyiCurve {
 public:
  /// 1 + 10^(i/20) for i = -60, ..., 140.
  static constexpr std::size_t kOrders = 201;
  static const std::array<double, kOrders>& Orders();
  /// The order nearest to `order` that the curve holds.
  static std::size_t NearestOrder(double order);

  /// No loss at any order.
  RenyiCurve() { values_.fill(0); }
  /// No bound at any order.
  static RenyiCurve Unbounded();

  static RenyiCurve Gaussian(double noise_multiplier);  ///< alpha/(2 m^2)
  static RenyiCurve Zcdp(double rho);                   ///< alpha rho; the discrete Gaussian's too
  static RenyiCurve Laplace(double scale);              ///< in units of the l1 sensitivity, one coordinate
  static RenyiCurve PureDp(double epsilon);             ///< the worst one: randomised response

  RenyiCurve Plus(const RenyiCurve& other) const;
  RenyiCurve Times(double count) const;
  double at(std::size_t i) const { return values_[i]; }
  void set(std::size_t i, double value) { values_[i] = value; }

  /// The best over the orders; infinite epsilon, or delta 1, if none gives anything.
  double Epsilon(double delta) const;
  double Delta(double epsilon) const;
  /// The order at which Epsilon(delta) is attained: the one to fix for a filter that is to deliver it.
  std::size_t BestOrder(double delta) const;

 private:
  std::array<double, kOrders> values_;
};

}  // namespace bandana
