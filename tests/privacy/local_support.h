#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_record.h"
#include "bandana/privacy/local_regression.h"
#include "bandana/privacy/raw.h"

/// Helpers for the tests of the local mechanisms.
namespace bandana::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct User {
  std::vector<double> context;
  double reward = 0;
  ArmId arm = 0;

  Raw<LocalRecord> raw() const { return Raw(LocalRecord{context, reward, arm}); }
};

inline double LengthOf(std::span<const double> vector) {
  double squares = 0;
  for (const double x : vector) squares += x * x;
  return std::sqrt(squares);
}

inline auto Predicting(double mean) {
  return [mean](std::span<const double>) { return mean; };
}

/// A side function with one side value: the reward.
inline void RewardAlone(std::span<const double>, double reward, std::span<double> sides) {
  sides[0] = reward;
}

/// Generates any double, with special values among them.
inline rc::Gen<double> WildNumber() {
  return rc::gen::oneOf(
      rc::gen::element(0.0, -0.0, 1.0, -1.0, kNan, kInfinity, -kInfinity, 1e300, -1e300, 1e-300, -1e-160,
                       1e-320, 5e-324, 1e16, 1.0000000000000002, 1 - 0x1p-53, 1 + 1e-13),
      rc::gen::map(rc::gen::inRange(-3000, 3000), [](int x) { return x / 1000.0; }),
      rc::gen::arbitrary<double>());
}

inline User WildUser(std::size_t dimension, int arms) {
  return {*rc::gen::container<std::vector<double>>(dimension, WildNumber()), *WildNumber(),
          *rc::gen::inRange(0, arms)};
}

}  // namespace bandana::test
