#include "bandana/privacy/calibration/amplification.h"

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Real = boost::multiprecision::cpp_bin_float_50;
using CountPair = std::pair<int, int>;
using Law = std::map<CountPair, Real>;

// Computes the law of (labels 0, labels 1) by adding one user after the other, as the proof describes. The
// first user is 0 with probability `first`; each other user is no clone, or with equal probability a clone of
// 0 or of 1.
Law LabelLaw(Count n, const Real& epsilon0, const Real& first) {
  Law law{{{1, 0}, first}, {{0, 1}, 1 - first}};
  const Real clone = exp(-epsilon0);
  for (Count i = 1; i < n; ++i) {
    Law next;
    for (const auto& [labels, mass] : law) {
      next[labels] += mass * (1 - clone);
      next[{labels.first + 1, labels.second}] += mass * clone / 2;
      next[{labels.first, labels.second + 1}] += mass * clone / 2;
    }
    law = std::move(next);
  }
  return law;
}

double HockeyStick(const Law& p, const Law& q, double epsilon) {
  const Real factor = exp(Real(epsilon));
  Real sum = 0;
  for (const auto& [outcome, mass] : p) sum += std::max(Real(0), Real(mass - factor * q.at(outcome)));
  return static_cast<double>(sum);
}

class AmplificationOfFew : public testing::TestWithParam<std::tuple<Count, double>> {};

TEST_P(AmplificationOfFew, DeltaIsTheHockeyStickByEnumeration) {
  const auto [n, epsilon0] = GetParam();
  const Real first = exp(Real(epsilon0)) / (exp(Real(epsilon0)) + 1);
  const Law p = LabelLaw(n, epsilon0, first);
  const Law q = LabelLaw(n, epsilon0, 1 - first);
  for (const double share : {0.0, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999}) {
    const double epsilon = share * epsilon0;
    const double exact = HockeyStick(p, q, epsilon);
    EXPECT_NEAR(HockeyStick(q, p, epsilon), exact, 1e-15 * exact);
    const double bound = AmplificationDelta(epsilon0, n, epsilon).value();
    EXPECT_GE(bound, exact * (1 - 1e-15)) << epsilon;
    EXPECT_LE(bound, exact * (1 + 1e-6) + 1e-280) << epsilon;
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, AmplificationOfFew,
                         testing::Combine(testing::Values(1, 2, 3, 8, 40), testing::Values(0.01, 0.5, 2, 6)));

// Computes delta for many users in a second way: a sum over (A, C) without thresholds or recurrences.
double DeltaByDoubleSum(double epsilon0, int n, double epsilon) {
  const double q = 1 / (1 + std::exp(-epsilon0));
  const double u = std::exp(-epsilon0);
  std::vector<double> log_factorial(n + 2);
  for (int i = 1; i <= n + 1; ++i) log_factorial[i] = log_factorial[i - 1] + std::log(i);
  const auto choose = [&](int a, int b) {
    return b < 0 || b > a ? -kInfinity : log_factorial[a] - log_factorial[b] - log_factorial[a - b];
  };
  double sum = 0;
  for (int c = 0; c < n; ++c) {
    const double weight = std::exp(choose(n - 1, c) + c * std::log(u) + (n - 1 - c) * std::log1p(-u));
    for (int x = 0; x <= c + 1 && weight > 0; ++x) {
      const double with = std::exp(choose(c, x - 1) - c * std::log(2));
      const double without = std::exp(choose(c, x) - c * std::log(2));
      sum += weight *
             std::max(0.0, q * with + (1 - q) * without - std::exp(epsilon) * ((1 - q) * with + q * without));
    }
  }
  return sum;
}

TEST(AmplificationTest, DeltaOfThousandsByDoubleSum) {
  for (const auto& [epsilon0, n, epsilon] : std::vector<std::tuple<double, int, double>>{
           {0.3, 3000, 0.01}, {1, 3000, 0.05}, {1, 2000, 0.2}, {3, 3000, 0.4}, {6, 3000, 3}}) {
    const double direct = DeltaByDoubleSum(epsilon0, n, epsilon);
    const double bound = AmplificationDelta(epsilon0, n, epsilon).value();
    EXPECT_NEAR(bound, direct, 1e-6 * direct) << epsilon0 << " " << n << " " << epsilon;
    EXPECT_GE(bound, direct * (1 - 1e-9));
  }
}

// For many users and fixed C (epsilon0 -> 0 makes nearly everyone a clone) the pair is Gaussian: the means
// are tanh(epsilon0/2) apart, and the variance is n/4.
TEST(AmplificationTest, GaussianLimit) {
  const double epsilon0 = 0.01;
  const Count n = 100'000'000;
  const double multiplier = 0.5 * std::sqrt(n * std::exp(-epsilon0)) / std::tanh(epsilon0 / 2);
  for (const double epsilon : {0.0, 1e-7, 1e-6}) {
    const double expected = GaussianDelta(epsilon, multiplier);
    EXPECT_NEAR(AmplificationDelta(epsilon0, n, epsilon).value(), expected, 1e-3 * expected) << epsilon;
  }
}

TEST(AmplificationTest, KnownFigures) {
  const double numerical = NumericalAmplification(4, 100'000, 1e-6).value();
  EXPECT_LE(numerical, 0.171);
  EXPECT_GE(numerical, 0.169);
  EXPECT_NEAR(ClosedFormAmplification(4, 100'000, 1e-6).value(), 0.5346, 1e-4);
  EXPECT_NEAR(NumericalAmplification(4, 100'000'000, 1e-6).value(), 0.004024, 1e-6);
}

class AmplificationInverse : public testing::TestWithParam<std::tuple<double, Count, double>> {};

TEST_P(AmplificationInverse, EpsilonIsTheUpperEndOfATightBracket) {
  const auto [epsilon0, n, delta] = GetParam();
  const double epsilon = NumericalAmplification(epsilon0, n, delta).value();
  EXPECT_LE(epsilon, epsilon0);
  EXPECT_LE(AmplificationDelta(epsilon0, n, epsilon).value(), delta * (1 + 1e-7));
  EXPECT_GT(AmplificationDelta(epsilon0, n, epsilon * (1 - 1e-6)).value(), delta);
}

TEST_P(AmplificationInverse, LargestLocalEpsilonComesBack) {
  const auto [epsilon0, n, delta] = GetParam();
  const double epsilon = NumericalAmplification(epsilon0, n, delta).value();
  const LocalBudget budget = LargestLocalEpsilon({epsilon, delta}, n).value();
  EXPECT_NEAR(budget.epsilon0, epsilon0, 1e-6 * epsilon0);
  EXPECT_LE(AmplificationDelta(budget.epsilon0, n, epsilon).value(), delta * (1 + 1e-7));
  EXPECT_GT(AmplificationDelta(budget.epsilon0 * (1 + 1e-6), n, epsilon).value(), delta);
}

TEST_P(AmplificationInverse, ClosedFormIsNeverBelow) {
  const auto [epsilon0, n, delta] = GetParam();
  const auto closed = ClosedFormAmplification(epsilon0, n, delta);
  if (!closed.ok()) {
    EXPECT_GT(epsilon0, std::log(n / (16 * std::log(2 / delta))));
    return;
  }
  EXPECT_GE(*closed, NumericalAmplification(epsilon0, n, delta).value());
}

INSTANTIATE_TEST_SUITE_P(Grid, AmplificationInverse,
                         testing::Combine(testing::Values(0.2, 1, 4, 9), testing::Values(2, 1000, 1'000'000),
                                          testing::Values(1e-5, 1e-8, 1e-12)));

TEST(AmplificationTest, PlainLocalPrivacyIsAlwaysEnough) {
  const LocalBudget budget = LargestLocalEpsilon({2, 1e-300}, 1).value();
  EXPECT_EQ(budget.method, AmplificationMethod::kLocal);
  EXPECT_EQ(budget.epsilon0, 2);
  EXPECT_EQ(budget.delivered, (DpGuarantee{2, 0}));
  EXPECT_EQ(LargestLocalEpsilon({1000, 0.5}, 1'000'000).value().epsilon0, 1000);
  const LocalBudget amplified = LargestLocalEpsilon({1, 1e-6}, 10'000).value();
  EXPECT_EQ(amplified.method, AmplificationMethod::kNumerical);
  EXPECT_GT(amplified.epsilon0, 3);
  EXPECT_EQ(amplified.delivered, (DpGuarantee{1, 1e-6}));
}

RC_GTEST_PROP(AmplificationTest, DeltaIsMonotone, ()) {
  const auto uniform = [](double low, double high) {
    return low + (high - low) * (*rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, 1'000'000))) / 1e6;
  };
  const double epsilon0 = std::exp(uniform(-4, 2.5));
  const double epsilon = epsilon0 * uniform(0, 1);
  const Count n = static_cast<Count>(std::exp(uniform(0, 14)));
  const double more = 1 + std::exp(uniform(-7, 1));
  const double delta = AmplificationDelta(epsilon0, n, epsilon).value();
  const double slack = delta * (1 + 1e-6) + 1e-14 * std::exp(epsilon0);
  RC_ASSERT(delta >= 0 && delta <= 1);
  RC_ASSERT(AmplificationDelta(epsilon0, n, epsilon * more).value() <= slack);
  RC_ASSERT(AmplificationDelta(epsilon0 / more, n, epsilon).value() <= slack);
  RC_ASSERT(AmplificationDelta(epsilon0, static_cast<Count>(n * more), epsilon).value() <= slack);
}

TEST(AmplificationTest, ExtremesAreAnswered) {
  const Count most = std::numeric_limits<Count>::max();
  EXPECT_EQ(AmplificationDelta(1, 10, 1).value(), 0);
  EXPECT_EQ(AmplificationDelta(1, 10, 5).value(), 0);
  EXPECT_EQ(NumericalAmplification(1000, most, 1e-6).value(), 1000);
  EXPECT_EQ(NumericalAmplification(1e300, 1, 1e-6).value(), 1e300);
  EXPECT_EQ(NumericalAmplification(1e-9, 100, 1e-6).value(), 0);
  EXPECT_LT(NumericalAmplification(12, most, 1e-6).value(), 0.0021);
  EXPECT_LE(NumericalAmplification(1, 100, 1e-300).value(), 1);
  EXPECT_GT(NumericalAmplification(1, 100, 1e-300).value(), 0.999);
}

void ExpectRejected(const absl::Status& status, const std::string& key) {
  const auto error = InputErrorOf(status);
  ASSERT_TRUE(error.has_value()) << status;
  EXPECT_EQ(error->key, key);
}

TEST(AmplificationTest, BadParametersAreRejectedByName) {
  for (const double bad : {0.0, -1.0, kInfinity, kNaN, 1e-310}) {
    ExpectRejected(ClosedFormAmplification(bad, 1000, 1e-6).status(), "epsilon0");
    ExpectRejected(NumericalAmplification(bad, 1000, 1e-6).status(), "epsilon0");
    ExpectRejected(AmplificationDelta(bad, 1000, 0.1).status(), "epsilon0");
    ExpectRejected(LargestLocalEpsilon({bad, 1e-6}, 1000).status(), "epsilon");
  }
  for (const double bad : {0.0, 1.0, -0.1, kInfinity, kNaN, 1e-310}) {
    ExpectRejected(ClosedFormAmplification(1, 1000, bad).status(), "delta");
    ExpectRejected(NumericalAmplification(1, 1000, bad).status(), "delta");
    ExpectRejected(LargestLocalEpsilon({1, bad}, 1000).status(), "delta");
  }
  for (const Count bad : {0, -1}) {
    ExpectRejected(ClosedFormAmplification(1, bad, 1e-6).status(), "n");
    ExpectRejected(NumericalAmplification(1, bad, 1e-6).status(), "n");
    ExpectRejected(AmplificationDelta(1, bad, 0.1).status(), "n");
    ExpectRejected(LargestLocalEpsilon({1, 1e-6}, bad).status(), "n");
  }
  for (const double bad : {-0.1, kInfinity, kNaN}) {
    ExpectRejected(AmplificationDelta(1, 1000, bad).status(), "epsilon");
  }
  ExpectRejected(ClosedFormAmplification(9, 100'000, 1e-6).status(), "epsilon0");
  ExpectRejected(ClosedFormAmplification(1, 100, 1e-6).status(), "epsilon0");
}

// --- P2's epsilon0

double PrintedF(double epsilon0, double n, double delta) {  // P2, Section V
  const double growth = std::exp(epsilon0);
  return std::log(1 + (growth - 1) / (growth + 1) *
                          (8 * std::sqrt(growth * std::log(4 / delta)) / std::sqrt(n) + 8 * growth / n));
}

TEST(PaperLocalEpsilonTest, InvertsTheFormulaAsPrinted) {
  int below_local = 0, beyond_range = 0;
  for (const double epsilon : {0.01, 0.1, 1.0, 5.0, 30.0}) {
    for (const Count n : {Count{1}, Count{100}, Count{1000}, Count{100'000}, Count{100'000'000}}) {
      const auto epsilon0 = PaperLocalEpsilon({epsilon, 1e-6}, n);
      ASSERT_TRUE(epsilon0.ok()) << epsilon0.status();
      EXPECT_NEAR(PrintedF(*epsilon0, static_cast<double>(n), 1e-6), epsilon, 1e-7 * epsilon);
      below_local += *epsilon0 < epsilon;
      const double range = std::log(static_cast<double>(n) / (16 * std::log(2e6)));
      beyond_range += *epsilon0 > range;
      if (*epsilon0 > epsilon && *epsilon0 <= range) {
        EXPECT_LE(*epsilon0, LargestLocalEpsilon({epsilon, 1e-6}, n)->epsilon0) << "tight is no worse";
      }
    }
  }
  EXPECT_GT(below_local, 3) << "few users: more noise than without a shuffler";
  EXPECT_GT(beyond_range, 3) << "where the theorem says nothing";
}

// Table I of P2 says that epsilon0 is epsilon T^(1/4). f^-1 is proportional to epsilon sqrt(T) where it is
// below 1.
TEST(PaperLocalEpsilonTest, IsNotTableOnes) {
  const double small = *PaperLocalEpsilon({3.7e-3, 1e-6}, 1'000'000);
  EXPECT_NEAR(*PaperLocalEpsilon({3.7e-4, 1e-6}, 100'000'000), small, 0.01 * small);
  EXPECT_NEAR(small, 0.214, 0.001);
}

TEST(PaperLocalEpsilonTest, RejectsWhatIsNoGuarantee) {
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(PaperLocalEpsilon({bad, 1e-6}, 1000).ok());
  }
  for (const double bad : {0.0, 1.0, std::nan("")}) EXPECT_FALSE(PaperLocalEpsilon({1, bad}, 1000).ok());
  EXPECT_FALSE(PaperLocalEpsilon({1, 1e-6}, 0).ok());
  EXPECT_FALSE(PaperLocalEpsilon({1000, 1e-6}, 1000).ok());
}

}  // namespace
}  // namespace bandana
