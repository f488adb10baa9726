#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Privacy loss distributions. All values are upper bounds.
///
/// For a pair (P, Q) of output laws, the privacy loss is ln(P/Q) under P. Its law gives the exact delta of
/// every epsilon, and the law of a composition is the convolution (S. Meiser and E. Mohammadi 2018; A.
/// Koskela, J. Jälkö and A. Honkela 2020; Y. Zhu, J. Dong and Y.-X. Wang 2022). The results of Delta and
/// Epsilon are never below the truth, rounding included. Proof: docs/proofs/accounting.md.
///
/// They serve lists of releases that are fixed in advance, not budgets that are chosen along the way.
namespace bandana {

/// One outcome, or all outcomes with the same ratio: its loss ln(P/Q) and its mass under P. Both are taken as
/// upper bounds. A loss of plus infinity means a mass that Q cannot produce.
struct LossAtom {
  double loss;
  double mass;
};

/// Returns the largest power of two that is at most `scale / cells`. On a grid of this spacing h a loss that
/// varies by `scale` is spread over `cells` points. Composition should have 1000 cells or more: the epsilon
/// of k releases whose losses vary by s each is too large by about k h^2/8 + (h/s)^2/12 of itself, and no
/// more.
double LossGrid(double scale, double cells);

class PrivacyLossDistribution {
 public:
  /// In the functions below, `spacing` is that of the grid: a positive power of two, so that grids fit each
  /// other.

  /// Splits an atom between two grid points such that its masses under P and Q stay the same. The original is
  /// a post-processing of the split one (merge the two), so it stays an upper bound, and the error is of
  /// second order.
  static PrivacyLossDistribution FromAtoms(std::span<const LossAtom> atoms, double infinity_mass,
                                           double spacing);

  /// Makes the distribution of N(1, s^2) against N(0, s^2), where s is the noise in units of the l2
  /// sensitivity.
  static PrivacyLossDistribution Gaussian(double noise_multiplier, double spacing);
  /// Makes the distribution of Lap(b) shifted by 1, where b is the scale in units of the l1 sensitivity, for
  /// one coordinate. For a vector in an l1 ball use PureDp(1/b).
  static PrivacyLossDistribution Laplace(double scale, double spacing);
  /// Takes P(x) ~ exp(-|x|/scale) on the integers, shifted by any integer up to `shift` >= 1.
  static PrivacyLossDistribution DiscreteLaplace(double scale, std::int64_t shift, double spacing);
  /// Takes P(x) ~ exp(-x^2/(2 sigma^2)) on the integers, shifted by any integer up to `shift`; sigma < 5e6.
  static PrivacyLossDistribution DiscreteGaussian(double sigma, std::int64_t shift, double spacing);
  /// Takes Bin(n, 1/2) shifted by any integer up to `shift`. By log-concavity the full shift is the worst.
  static PrivacyLossDistribution SymmetricBinomial(std::int64_t n, std::int64_t shift, double spacing);
  /// Takes the worst pair of all epsilon-DP mechanisms, which is randomised response.
  static PrivacyLossDistribution PureDp(double epsilon, double spacing);
  /// Takes the worst pair of all (epsilon, delta)-DP mechanisms (J. Murtagh and S. Vadhan 2016).
  static PrivacyLossDistribution ApproximateDp(double epsilon, double delta, double spacing);

  struct ComposeOptions {
    double tail_mass = 1e-24;  ///< mass at each end that is moved: to infinity, or up to the lowest point
    std::size_t max_cells = 1u << 20;  ///< if there are more cells, grids are made coarser first
  };
  struct Repeated {
    const PrivacyLossDistribution* distribution;
    std::int64_t count;
  };
  /// Composes all of them, each `count` times, in one step. Spacings may differ: distributions with a finer
  /// grid are composed first, and the result has the coarsest grid.
  static PrivacyLossDistribution ComposeAll(std::span<const Repeated> list, const ComposeOptions& options);
  static PrivacyLossDistribution ComposeAll(std::span<const Repeated> list) { return ComposeAll(list, {}); }
  PrivacyLossDistribution SelfCompose(std::int64_t count) const { return SelfCompose(count, {}); }
  PrivacyLossDistribution SelfCompose(std::int64_t count, const ComposeOptions& options) const;

  /// Returns an upper bound on the least delta with which the pair is (epsilon, delta)-indistinguishable in
  /// this direction. Any epsilon except NaN is accepted.
  double Delta(double epsilon) const;
  /// Returns an upper bound on the least epsilon >= 0 at `delta`, or infinity if there is none.
  double Epsilon(double delta) const;

  double infinity_mass() const { return infinity_mass_; }
  double spacing() const { return spacing_; }
  /// masses()[i] is the mass at (lowest() + i) * spacing(). The masses are upper bounds, so their sum may
  /// exceed 1.
  std::int64_t lowest() const { return lowest_; }
  const std::vector<double>& masses() const { return masses_; }

 private:
  PrivacyLossDistribution() = default;
  class Builder;
  PrivacyLossDistribution Coarsened(double spacing) const;

  double spacing_ = 1;
  std::int64_t lowest_ = 0;
  std::vector<double> masses_{0.0};
  double infinity_mass_ = 0;
};

/// Both directions of a pair: P against Q, and Q against P. A mechanism is (epsilon, delta)-DP if both
/// directions are. In a composition all releases have the same direction (a person's data are added to all,
/// or removed from all).
struct DominatingPair {
  PrivacyLossDistribution forward;
  std::optional<PrivacyLossDistribution> backward;  ///< empty if it equals forward

  double Delta(double epsilon) const;
  double Epsilon(double delta) const;

  struct Repeated {
    const DominatingPair* pair;
    std::int64_t count;
  };
  static DominatingPair ComposeAll(std::span<const Repeated> list);
};

}  // namespace bandana
