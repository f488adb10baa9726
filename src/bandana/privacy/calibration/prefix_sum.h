#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/privacy/guarantee.h"

/// Prefix sums x_1 + ... + x_t of a stream of n increments, released at every step t. n is known in advance.
///
/// Each mechanism is a factorisation A = B C of the lower-triangular matrix A of ones. It releases C x + z,
/// where z is independent Gaussian noise, as one Gaussian mechanism. The sensitivity is the length of C's
/// longest column times the sensitivity of an increment. B times the released values estimates A x. Proof,
/// also for adaptively chosen streams: docs/proofs/prefix-sum.md.
///
/// - Tree: C holds the dyadic intervals. C. Dwork, M. Naor, T. Pitassi, G. N. Rothblum, "Differential privacy
///   under continual observation", STOC 2010; T.-H. H. Chan, E. Shi, D. Song, ICALP 2010.
/// - Honaker: C is that of the tree. B weighs every released node below an interval such that the variance is
///   least. J. Honaker, "Efficient use of differentially private binary trees", TPDP 2015 (estimation from
///   below).
/// - Toeplitz: B = C, the Toeplitz square root of A. H. Fichtenberger, M. Henzinger, J. Upadhyay, "Constant
///   matters: fine-grained error bound on differentially private continual observation", ICML 2023.
namespace bandana {

enum class PrefixSumMechanism { kTree, kHonaker, kToeplitz };

std::string_view NameOf(PrefixSumMechanism mechanism);  ///< the name in TOML: tree, honaker, toeplitz

/// One term of a linear combination.
struct WeightedTerm {
  std::int64_t index;
  double weight;
};

/// Defines which values are released at which step, and how a prefix sum is estimated from them. Steps are 1
/// to n; released values are counted from 0 in the order of release. It is immutable and the same for
/// everyone. A silo needs it and its own increments to release; an analyzer needs it and the released values
/// to estimate.
class PrefixSumStrategy {
 public:
  /// n from 1 to 2^40; up to 2^26 for Toeplitz, which keeps n coefficients. Errors name `n`.
  static absl::StatusOr<std::unique_ptr<const PrefixSumStrategy>> Create(PrefixSumMechanism mechanism,
                                                                         std::int64_t n);

  virtual ~PrefixSumStrategy() = default;

  std::int64_t steps() const { return steps_; }
  PrefixSumMechanism mechanism() const { return mechanism_; }

  /// Returns how many values are released up to and including step t; 0 at t = 0. Step t releases the values
  /// with index ReleasedBy(t - 1) to ReleasedBy(t) - 1.
  virtual std::int64_t ReleasedBy(std::int64_t t) const = 0;

  /// Returns the terms of the `j`-th value released at step t (j from 0), before noise: the value is the sum
  /// of weight * x_index over the terms, 1 <= index <= t. The noise is independent for every value, with the
  /// same standard deviation.
  virtual std::vector<WeightedTerm> Functional(std::int64_t t, std::int64_t j) const = 0;

  /// Returns the terms of the estimate of x_1 + ... + x_t: the sum of weight * value(index) over released
  /// values. It is unbiased.
  virtual std::vector<WeightedTerm> Estimate(std::int64_t t) const = 0;

  /// Returns the variance of Estimate(t) if every value has noise of variance 1: the sum of squared weights.
  virtual double Variance(std::int64_t t) const = 0;

 protected:
  PrefixSumStrategy(PrefixSumMechanism mechanism, std::int64_t n) : mechanism_(mechanism), steps_(n) {}

 private:
  PrefixSumMechanism mechanism_;
  std::int64_t steps_;
};

/// The cost of a strategy, computed without building it. All figures are for noise of variance 1 and
/// increments of l2 sensitivity 1.
struct PrefixSumCost {
  double sensitivity;     ///< length of the longest column of C, rounded up
  std::int64_t touched;   ///< the largest number of released values that one increment enters
  double max_variance;    ///< the largest variance of an estimate, over all steps
  double last_variance;   ///< the variance of the estimate at step n
  std::int64_t memory;    ///< numbers kept per coordinate, by the silo or the analyzer, whichever keeps more
  std::int64_t released;  ///< values released per coordinate, in all n steps
};

/// Computes the cost. n from 1 to 2^40. Errors name `n`.
absl::StatusOr<PrefixSumCost> CostOfPrefixSum(PrefixSumMechanism mechanism, std::int64_t n);

/// Returns the mechanism with the least maximal variance at equal guarantee, among those that keep at most
/// `memory` numbers per coordinate (no value: no limit). Of equals it takes the one that keeps least. Errors
/// name `n` and `memory`.
absl::StatusOr<PrefixSumMechanism> BestPrefixSum(std::int64_t n, std::optional<std::int64_t> memory);

/// The noise for one mechanism.
struct PrefixSumSetting {
  PrefixSumMechanism mechanism;
  PrefixSumCost cost;
  double sigma;        ///< standard deviation of the noise in each released value
  double max_stddev;   ///< the largest standard deviation of an estimate, over all steps
  double last_stddev;  ///< the standard deviation of the estimate at step n
  DpGuarantee delivered;
};

/// Returns the least noise that gives the guarantee for the whole stream. Between neighbours one increment
/// may move by at most `sensitivity` in l2, and all others stay. Errors name `n`, `sensitivity` and the
/// budget.
absl::StatusOr<PrefixSumSetting> TightPrefixSum(PrefixSumMechanism mechanism, std::int64_t n,
                                                DpGuarantee guarantee, double sensitivity);

/// Returns P3's Algorithm 2: a tree with m = 1 + ceil(log2 n) and sigma = 4 sqrt(m) D ln(2/delta)/epsilon at
/// each node, where P3 has D = L^2 + 1. `delivered` is what that gives at the nominal delta.
absl::StatusOr<PrefixSumSetting> PaperPrefixSum(std::int64_t n, DpGuarantee guarantee, double sensitivity);

/// Returns the sensitivity, in grid units, of released values that are rounded to the grid: (length of C's
/// longest column) * sensitivity/unit + 2 value_error sqrt(touched * coordinates), rounded up. `value_error`
/// is the largest error, in grid units, of a released value before noise compared with C x: 1/2 for exact
/// rounding to the nearest unit, more if C x is computed inexactly. If increments are whole units already,
/// the tree's values need no rounding and value_error is 0. `coordinates` is the size of an increment.
absl::StatusOr<double> PrefixSumGridSensitivity(const PrefixSumCost& cost, double sensitivity, double unit,
                                                std::int64_t coordinates, double value_error);

}  // namespace bandana
