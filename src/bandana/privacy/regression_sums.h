#pragma once

#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "bandana/core/linear_algebra.h"
#include "bandana/privacy/released.h"

namespace bandana {

/// What linear regression needs of records (x, y): the sums of x x' and of y x over all records of the first
/// `step` steps of some silos, with noise.
struct RegressionSums {
  std::int64_t step = 0;
  Matrix gram;            ///< symmetric; its noise too
  Vector moments;         ///< of y x
  double gram_noise = 0;  ///< standard deviation of an entry off the diagonal; on it sqrt2 times that
  double moment_noise = 0;

  template <class Archive>
  void State(Archive& a) {
    a(step, gram, moments, gram_noise, moment_noise);
    a.Check(gram.rows() == moments.size() && gram.cols() == moments.size(), "sums of two dimensions");
  }
};

/// The noise in an entry on the diagonal of the gram matrix, and in one of the moments.
inline std::vector<NoiseLaw> NoiseOf(const RegressionSums& sums) {
  return {{.proxy = std::numbers::sqrt2 * sums.gram_noise}, {.proxy = sums.moment_noise}};
}

/// Sums are sent to many and never changed.
using ReleasedSums = std::shared_ptr<const Released<RegressionSums>>;

}  // namespace bandana
