#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Privacy loss distributions, always from above.
///
/// For a pair (P, Q) of output laws, the privacy loss is ln(P/Q) under P. Its law gives the exact delta of
/// every epsilon, and the law of a composition is the convolution (S. Meiser and E. Mohammadi 2018; A.
/// Koskela, J. Jälkö and A. Honkela 2020; Y. Zhu, J. Dong and Y.-X. Wang 2022). Everything here is an upper
/// bound: what Delta and Epsilon return is never below the truth, rounding included. Proof:
/// docs/proofs/accounting.md.
///
/// For lists of releases that are fixed beforehand. Where budgets are chosen along the way, use
/// accounting/filter.h.
namespace bandana {

/// One outcome, or all outcomes with one ratio: its loss ln(P/Q) and its mass under P. Both are taken as
/// upper bounds. A loss of plus infinity is a mass that Q cannot produce.
struct LossAtom {
  double loss;
  double mass;
};

/// The largest power of two that is at most `scale / cells`: a grid on which a loss that varies by `scale` is
/// spread over `cells` points. Composition wants cells >= 1000 or so: the epsilon of k releases whose losses
/// vary by s each is too large by about k h^2/8 + (h/s)^2/12 of itself, and no more.
double LossGrid(double scale, double cells);

class PrivacyLossDistribution {
 public:
  /// `spacing` below is the grid's: a positive power of two, so that grids fit each other.

  /// An atom between two grid points is split between them so that its masses under P and Q stay: the
  /// original is a post-processing of the split one (merge the two), so nothing is lost and the error is of
  /// second order.
  static PrivacyLossDistribution FromAtoms(std::span<const LossAtom> atoms, double infinity_mass,
                                           double spacing);

  /// N(1, s^2) against N(0, s^2), s the noise in units of the l2 sensitivity.
  static PrivacyLossDistribution Gaussian(double noise_multiplier, double spacing);
  /// Lap(b) shifted by 1, b the scale in units of the l1 sensitivity (one coordinate; a vector's l1 ball is
  /// PureDp(1/b)).
  static PrivacyLossDistribution Laplace(double scale, double spacing);
  /// P(x) ~ exp(-|x|/scale) on the integers, shifted by any integer up to `shift` >= 1.
  static PrivacyLossDistribution DiscreteLaplace(double scale, std::int64_t shift, double spacing);
  /// P(x) ~ exp(-x^2/(2 sigma^2)) on the integers, shifted by any integer up to `shift`; sigma < 5e6.
  static PrivacyLossDistribution DiscreteGaussian(double sigma, std::int64_t shift, double spacing);
  /// Bin(n, 1/2) shifted by any integer up to `shift`: log-concavity makes the full one the worst.
  static PrivacyLossDistribution SymmetricBinomial(std::int64_t n, std::int64_t shift, double spacing);
  /// The worst pair of all epsilon-DP mechanisms: randomised response.
  static PrivacyLossDistribution PureDp(double epsilon, double spacing);
  /// The worst pair of all (epsilon, delta)-DP mechanisms (J. Murtagh and S. Vadhan 2016).
  static PrivacyLossDistribution ApproximateDp(double epsilon, double delta, double spacing);

  struct ComposeOptions {
    double tail_mass = 1e-24;          ///< moved to infinity, or up to the lowest point, at each end
    std::size_t max_cells = 1u << 20;  ///< beyond it, grids are made coarser first
  };
  struct Repeated {
    const PrivacyLossDistribution* distribution;
    std::int64_t count;
  };
  /// All of them, each `count` times, in one go. Spacings may differ: what is on a finer grid is summed there
  /// first, and the coarsest one wins.
  static PrivacyLossDistribution ComposeAll(std::span<const Repeated> list, const ComposeOptions& options);
  static PrivacyLossDistribution ComposeAll(std::span<const Repeated> list) { return ComposeAll(list, {}); }
  PrivacyLossDistribution Compose(const PrivacyLossDistribution& other) const;
  PrivacyLossDistribution SelfCompose(std::int64_t count) const { return SelfCompose(count, {}); }
  PrivacyLossDistribution SelfCompose(std::int64_t count, const ComposeOptions& options) const;

  /// At least the least delta with which the pair is (epsilon, delta)-indistinguishable in this direction.
  /// Takes any epsilon that is not NaN.
  double Delta(double epsilon) const;
  /// At least the least epsilon >= 0 at `delta`; infinite if there is none.
  double Epsilon(double delta) const;

  double infinity_mass() const { return infinity_mass_; }
  double spacing() const { return spacing_; }
  /// masses()[i] is the mass at (lowest() + i) * spacing(). Their sum may pass 1: they are upper bounds.
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

/// Both directions of a pair: P against Q, and Q against P. A mechanism is (epsilon, delta)-DP if both are.
/// In a composition all releases go the same way (a person's data are added to all, or taken from all).
struct DominatingPair {
  PrivacyLossDistribution forward;
  std::optional<PrivacyLossDistribution> backward;  ///< nothing: the same as forward

  double Delta(double epsilon) const;
  double Epsilon(double delta) const;

  struct Repeated {
    const DominatingPair* pair;
    std::int64_t count;
  };
  static DominatingPair ComposeAll(std::span<const Repeated> list);
};

}  // namespace bandana
