#pragma once

#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "bandana/core/linear_algebra.h"
#include "bandana/privacy/released.h"

namespace bandana {

/// The statistics that linear regression needs of records (x, y): the sums of x x' and of y x over all
/// records of the first `step` steps of some silos, with noise.
struct RegressionSums {
  std::int64_t step = 0;
  Matrix gram;     ///< the sum of x x'; symmetric, including its noise
  Vector moments;  ///< the sum of y x
  /// Standard deviation of an entry off the diagonal of `gram`. On the diagonal it is sqrt2 times that.
  double gram_noise = 0;
  double moment_noise = 0;

  template <class Archive>
  void State(Archive& a) {
    a(step, gram, moments, gram_noise, moment_noise);
    a.Check(gram.rows() == moments.size() && gram.cols() == moments.size(),
            "the Gram matrix and the moments differ in dimension");
  }
};

/// Returns the noise in an entry on the diagonal of the gram matrix, and in an entry of the moments.
inline std::vector<NoiseLaw> NoiseOf(const RegressionSums& sums) {
  return {{.proxy = std::numbers::sqrt2 * sums.gram_noise}, {.proxy = sums.moment_noise}};
}

/// Shared, because the sums are sent to many agents and never changed.
using ReleasedSums = std::shared_ptr<const Released<RegressionSums>>;

}  // namespace bandana
