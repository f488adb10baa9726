#include "bandana/privacy/accounting/privacy_loss_distribution.h"

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "bandana/privacy/accounting/fft.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace bandana {
namespace {

using Pld = PrivacyLossDistribution;
using Real = boost::multiprecision::cpp_bin_float_50;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double DeltaOfAtoms(const std::vector<LossAtom>& atoms, double infinity_mass, double epsilon) {
  Real sum = infinity_mass;
  for (const auto& [loss, mass] : atoms) {
    if (loss > epsilon) sum += Real(mass) * (1 - exp(Real(epsilon) - Real(loss)));
  }
  return static_cast<double>(sum);
}

// Computes every sum of two losses, without a grid and without a transform.
std::vector<LossAtom> ComposeAtoms(const std::vector<LossAtom>& a, const std::vector<LossAtom>& b) {
  std::map<double, double> sums;
  for (const auto& x : a) {
    for (const auto& y : b) sums[x.loss + y.loss] += x.mass * y.mass;
  }
  std::vector<LossAtom> atoms;
  for (const auto& [loss, mass] : sums) atoms.push_back({loss, mass});
  return atoms;
}

std::vector<LossAtom> PowerOfAtoms(const std::vector<LossAtom>& atoms, int n) {
  std::vector<LossAtom> result = {{0, 1}};
  for (int i = 0; i < n; ++i) result = ComposeAtoms(result, atoms);
  return result;
}

struct GaussianCase {
  double multiplier;
  std::int64_t count;
};

class ComposedGaussian : public testing::TestWithParam<GaussianCase> {};

TEST_P(ComposedGaussian, IsAboveTheExactAnswerByLittle) {
  const auto [s, n] = GetParam();
  const Pld composed = Pld::Gaussian(s, LossGrid(std::min(1.0, 1 / s), 400)).SelfCompose(n);
  const double total = s / std::sqrt(static_cast<double>(n));
  for (const double delta : {1e-2, 1e-6, 1e-12, 1e-20}) {
    const double exact = GaussianEpsilon(delta, total);
    const double epsilon = composed.Epsilon(delta);
    EXPECT_GE(epsilon, exact * (1 - 1e-11)) << delta;
    EXPECT_LE(epsilon, exact * (1 + 1e-5)) << delta;
    if (exact == 0) continue;
    EXPECT_GE(composed.Delta(exact), delta * (1 - 1e-9)) << delta;
    EXPECT_LE(composed.Delta(exact), delta * (1 + 1e-3)) << delta;
    EXPECT_LE(composed.Delta(epsilon), delta);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ComposedGaussian,
                         testing::Values(GaussianCase{0.3, 1}, GaussianCase{1, 10}, GaussianCase{4, 100},
                                         GaussianCase{30, 2000}, GaussianCase{500, 100}));

TEST(PrivacyLossDistributionTest, ManyReleasesStayClose) {
  const Pld composed = Pld::Gaussian(1000, LossGrid(1e-3, 100)).SelfCompose(1'000'000);
  const double exact = GaussianEpsilon(1e-6, 1);
  EXPECT_GE(composed.Epsilon(1e-6), exact);
  EXPECT_LE(composed.Epsilon(1e-6), exact * 1.0002);
}

TEST(PrivacyLossDistributionTest, DifferentReleasesInOneGo) {
  const Pld a = Pld::Gaussian(3, LossGrid(1. / 3, 500));
  const Pld b = Pld::Gaussian(20, LossGrid(1. / 20, 500));
  const Pld::Repeated list[] = {{&a, 4}, {&b, 300}};
  const double mu = std::sqrt(4. / 9 + 300. / 400);
  const double exact = GaussianEpsilon(1e-9, 1 / mu);
  const double in_one_go = Pld::ComposeAll(list).Epsilon(1e-9);
  EXPECT_GE(in_one_go, exact);
  EXPECT_LE(in_one_go, exact * (1 + 1e-5));
  const Pld four = a.SelfCompose(4);
  const Pld hundred = b.SelfCompose(100);
  const Pld::Repeated composed[] = {{&four, 1}, {&hundred, 3}};
  const double in_steps = Pld::ComposeAll(composed).Epsilon(1e-9);
  EXPECT_GE(in_steps, exact);
  EXPECT_LE(in_steps, exact * (1 + 1e-5));
}

// The optimal composition of n epsilon-DP releases (P. Kairouz, S. Oh, P. Viswanath 2015) has the losses (n -
// 2i) epsilon.
TEST(PrivacyLossDistributionTest, PureReleasesComposeOptimally) {
  const double epsilon = 0.3;
  const int n = 20;
  const Real up = 1 / (1 + exp(Real(-epsilon)));
  const Pld composed = Pld::PureDp(epsilon, 0x1p-13).SelfCompose(n);
  for (const double total : {0.5, 2.0, 4.5, 5.9}) {
    Real exact = 0;
    Real binomial = 1;
    for (int i = 0; i <= n; ++i) {
      const Real loss = (n - 2 * i) * Real(epsilon);
      if (loss > total) exact += binomial * pow(up, n - i) * pow(1 - up, i) * (1 - exp(total - loss));
      binomial = binomial * (n - i) / (i + 1);
    }
    const double delta = composed.Delta(total);
    EXPECT_GE(delta, static_cast<double>(exact)) << total;
    EXPECT_LE(delta, static_cast<double>(exact) * (1 + 1e-3) + 1e-12) << total;
  }
  EXPECT_LE(composed.Delta(n * (epsilon + composed.spacing())), 1e-20);
}

TEST(PrivacyLossDistributionTest, ApproximateReleasesLoseTheirDeltas) {
  const Pld composed = Pld::ApproximateDp(0.1, 1e-5, 0x1p-14).SelfCompose(10);
  const double lost = -std::expm1(10 * std::log1p(-1e-5));
  EXPECT_NEAR(composed.infinity_mass(), lost, 2e-11 * lost);
  EXPECT_GE(composed.infinity_mass(), lost * (1 - 1e-15));
  EXPECT_EQ(composed.Epsilon(lost * 0.999), kInfinity);
  EXPECT_LE(composed.Epsilon(lost * 1.001), 1 + 10 * 0x1p-14);
  EXPECT_EQ(Pld::ApproximateDp(1, 1, 0x1p-10).SelfCompose(3).Delta(50), 1);
}

// For Lap(b), delta(epsilon) = 1 - exp((epsilon - 1/b)/2).
TEST(PrivacyLossDistributionTest, LaplaceMatchesItsFormula) {
  for (const double scale : {0.2, 1.0, 7.3}) {
    const Pld pld = Pld::Laplace(scale, LossGrid(1 / scale, 10'000));
    for (const double part : {0.0, 0.31, 0.9, 0.9999}) {
      const double exact = -std::expm1((part - 1) / scale / 2);
      EXPECT_GE(pld.Delta(part / scale), exact) << scale;
      EXPECT_LE(pld.Delta(part / scale), exact * (1 + 1e-4)) << scale;
    }
    EXPECT_EQ(pld.Epsilon(0), pld.Epsilon(1e-300));
    EXPECT_LE(pld.Epsilon(0), 1 / scale + pld.spacing() * 1.000001);
    EXPECT_GE(pld.Epsilon(0), 1 / scale);
  }
}

TEST(PrivacyLossDistributionTest, DiscreteLaplaceMatchesEnumeration) {
  for (const double scale : {0.5, 4.0, 90.0}) {
    for (const std::int64_t shift : {1, 3, 40}) {
      const Pld pld =
          Pld::DiscreteLaplace(scale, shift, LossGrid(static_cast<double>(shift) / scale, 1 << 14));
      for (const double epsilon : {0.0, 0.3 * static_cast<double>(shift) / scale}) {
        const double r = 1 / scale;
        double exact = 0;
        for (std::int64_t x = -5000; x <= 5000; ++x) {
          const double centre = std::tanh(r / 2);
          const double p = centre * std::exp(-r * std::abs(static_cast<double>(x)));
          const double q = centre * std::exp(-r * std::abs(static_cast<double>(x - shift)));
          exact += std::max(0.0, p - std::exp(epsilon) * q);
        }
        EXPECT_GE(pld.Delta(epsilon), exact * (1 - 1e-12)) << scale << " " << shift;
        EXPECT_LE(pld.Delta(epsilon), exact * (1 + 1e-4)) << scale << " " << shift;
      }
    }
  }
}

TEST(PrivacyLossDistributionTest, DiscreteGaussianMatchesEnumeration) {
  for (const double sigma : {0.4, 1.0, 3.9, 4.1, 25.0}) {
    for (const std::int64_t shift : {1, 5}) {
      const double mu = static_cast<double>(shift) / sigma;
      const Pld pld = Pld::DiscreteGaussian(sigma, shift, LossGrid(std::min(mu, 1.0), 4096));
      for (const double epsilon : {0.0, 0.5, 2.0}) {
        double total = 0;
        double exact = 0;
        for (std::int64_t x = -2000; x <= 2000; ++x) {
          const auto log_weight = [&](std::int64_t y) {
            return -0.5 * std::pow(static_cast<double>(y) / sigma, 2);
          };
          total += std::exp(log_weight(x));
          exact += std::max(0.0, std::exp(log_weight(x)) - std::exp(epsilon + log_weight(x - shift)));
        }
        exact /= total;
        EXPECT_GE(pld.Delta(epsilon), exact * (1 - 1e-12)) << sigma << " " << shift;
        EXPECT_LE(pld.Delta(epsilon), exact * (1 + 1e-4) + 1e-25) << sigma << " " << shift;
      }
    }
  }
}

double BinomialDelta(int n, int shift, double epsilon, bool backward) {
  std::vector<Real> pmf(n + 1);
  pmf[0] = pow(Real(2), -n);
  for (int x = 0; x < n; ++x) pmf[x + 1] = pmf[x] * (n - x) / (x + 1);
  const auto at = [&](int x) { return x < 0 || x > n ? Real(0) : pmf[x]; };
  Real sum = 0;
  for (int x = 0; x <= n + shift; ++x) {
    const Real p = backward ? at(x - shift) : at(x);
    const Real q = backward ? at(x) : at(x - shift);
    if (p > exp(Real(epsilon)) * q) sum += p - exp(Real(epsilon)) * q;
  }
  return static_cast<double>(sum);
}

TEST(PrivacyLossDistributionTest, BinomialMatchesEnumerationBothWays) {
  for (const int n : {1, 2, 10, 97, 400}) {
    for (const int shift : {1, 8, 30}) {
      const double scale = 4. * shift / n;
      const Pld pld = Pld::SymmetricBinomial(n, shift, LossGrid(std::min(scale, 1.0), 1 << 12));
      for (const double epsilon : {0.0, 0.1, 1.0, 3.0}) {
        const double exact = BinomialDelta(n, shift, epsilon, false);
        EXPECT_NEAR(BinomialDelta(n, shift, epsilon, true), exact, 1e-14 * exact);
        EXPECT_GE(pld.Delta(epsilon), exact * (1 - 1e-15)) << n << " " << shift << " " << epsilon;
        EXPECT_LE(pld.Delta(epsilon), exact * (1 + 1e-3) + 1e-30) << n << " " << shift << " " << epsilon;
      }
    }
  }
}

TEST(PrivacyLossDistributionTest, FullShiftIsTheWorst) {
  for (int shift = 1; shift < 6; ++shift) {
    for (const double epsilon : {0.0, 0.2, 1.0}) {
      EXPECT_LE(BinomialDelta(100, shift, epsilon, false), BinomialDelta(100, shift + 1, epsilon, false));
    }
  }
}

// A large binomial is a rounded Gaussian with the multiplier sqrt(n)/2/shift.
TEST(PrivacyLossDistributionTest, LargeBinomialIsNearlyGaussian) {
  const std::int64_t n = 400'000'000;
  const std::int64_t shift = 2'000;
  const Pld composed = Pld::SymmetricBinomial(n, shift, LossGrid(0.2, 1000)).SelfCompose(10);
  const double gaussian = GaussianEpsilon(1e-9, 5 / std::sqrt(10.));
  EXPECT_NEAR(composed.Epsilon(1e-9), gaussian, 1e-4 * gaussian);
}

RC_GTEST_PROP(PrivacyLossDistributionTest, AtomsComposeFromAboveAndClose, ()) {
  const auto uniform = [] { return *rc::gen::inRange(1, 1'000'000) / 1e6; };
  const auto atoms_of = [&](int size, double& infinity_mass) {
    std::vector<LossAtom> atoms;
    double total = 0;
    for (int i = 0; i < size; ++i) {
      atoms.push_back({4 * uniform() - 2, std::exp(20 * uniform() - 20)});
      total += atoms.back().mass;
    }
    infinity_mass = std::exp(20 * uniform() - 30);
    total += infinity_mass;
    for (LossAtom& atom : atoms) atom.mass /= total;
    infinity_mass /= total;
    return atoms;
  };
  double infinity_a;
  double infinity_b;
  const auto a = atoms_of(4, infinity_a);
  const auto b = atoms_of(3, infinity_b);
  const int times = *rc::gen::inRange(1, 4);
  const Pld pld_a = Pld::FromAtoms(a, infinity_a, 0x1p-11);
  const Pld pld_b = Pld::FromAtoms(b, infinity_b, 0x1p-10);
  const Pld::Repeated list[] = {{&pld_a, times}, {&pld_b, 2}};
  const Pld composed = Pld::ComposeAll(list);
  const auto exact_atoms = ComposeAtoms(PowerOfAtoms(a, times), PowerOfAtoms(b, 2));
  const double infinity_mass = -std::expm1(times * std::log1p(-infinity_a) + 2 * std::log1p(-infinity_b));
  for (const double epsilon : {-1.0, 0.0, 0.5, 1.7, 4.0}) {
    const double exact = DeltaOfAtoms(exact_atoms, infinity_mass, epsilon);
    const double delta = composed.Delta(epsilon);
    RC_ASSERT(delta >= exact * (1 - 1e-12));
    // The split moves each loss by at most one grid step in either direction.
    RC_ASSERT(delta <= DeltaOfAtoms(exact_atoms, infinity_mass, epsilon - 5 * 0x1p-10) * (1 + 1e-3) + 1e-11);
  }
}

RC_GTEST_PROP(PrivacyLossDistributionTest, EpsilonInvertsDelta, ()) {
  const double s = std::exp(*rc::gen::inRange(-100, 400) / 100.);
  const Pld pld = Pld::Gaussian(s, LossGrid(std::min(1.0, 1 / s), 100)).SelfCompose(*rc::gen::inRange(1, 50));
  const double delta = std::exp(-*rc::gen::inRange(1, 4000) / 100.);
  const double epsilon = pld.Epsilon(delta);
  RC_ASSERT(pld.Delta(epsilon) <= delta * (1 + 1e-9));
  if (epsilon > 0) RC_ASSERT(pld.Delta(epsilon * (1 - 1e-6)) >= delta * (1 - 1e-9));
}

TEST(PrivacyLossDistributionTest, Extremes) {
  const Pld nothing = Pld::ComposeAll({});
  EXPECT_EQ(nothing.Delta(0), 0);
  EXPECT_EQ(nothing.Epsilon(0), 0);
  const Pld all = Pld::FromAtoms({}, 1, 1);
  EXPECT_EQ(all.Delta(100), 1);
  EXPECT_EQ(all.Epsilon(0.5), kInfinity);
  EXPECT_EQ(all.Epsilon(1), 0);
  const Pld gaussian = Pld::Gaussian(1, 0x1p-8);
  EXPECT_EQ(gaussian.SelfCompose(0).Delta(0), 0);
  EXPECT_EQ(gaussian.Delta(kInfinity),
            gaussian.infinity_mass() * (1 + 1e-15 * (8 + gaussian.masses().size())));
  EXPECT_NEAR(gaussian.Delta(-kInfinity), 1, 1e-9);
  EXPECT_EQ(gaussian.Epsilon(0), kInfinity);
  // If the grid is too fine for the sum, it is made coarser.
  EXPECT_NEAR(Pld::PureDp(1, 0x1p-14).SelfCompose(1000).Epsilon(0.5), 500, 50);
}

TEST(PrivacyLossDistributionTest, PairsTakeTheWorseDirection) {
  const std::vector<LossAtom> forward = {{1, 0.5}, {-0.5, 0.5}};
  std::vector<LossAtom> backward;
  double left = 1;
  for (const LossAtom& atom : forward) {
    backward.push_back({-atom.loss, atom.mass * std::exp(-atom.loss)});
    left -= backward.back().mass;
  }
  ASSERT_LT(left, 0.0);  // the masses under Q do not sum to 1, which the code does not need
  const DominatingPair pair{Pld::FromAtoms(forward, 0, 0x1p-12), Pld::FromAtoms(backward, 0, 0x1p-12)};
  EXPECT_EQ(pair.Delta(0), std::max(pair.forward.Delta(0), pair.backward->Delta(0)));
  const DominatingPair::Repeated list[] = {{&pair, 3}};
  const DominatingPair composed = DominatingPair::ComposeAll(list);
  EXPECT_EQ(composed.Delta(0.2),
            std::max(pair.forward.SelfCompose(3).Delta(0.2), pair.backward->SelfCompose(3).Delta(0.2)));
  const DominatingPair symmetric{Pld::FromAtoms(forward, 0, 0x1p-12), {}};
  EXPECT_EQ(symmetric.Epsilon(0.1), symmetric.forward.Epsilon(0.1));
}

TEST(RealFftTest, ErrorsAreWithinTheBound) {
  for (const std::size_t length : {4, 12, 16, 192, 1024}) {
    ASSERT_EQ(RealFft::Length(length), length);
    RealFft fft(length);
    std::vector<double> values(length);
    for (std::size_t i = 0; i < length; ++i) values[i] = std::exp(-0.01 * static_cast<double>(i)) * (i % 3);
    std::vector<std::complex<double>> spectrum;
    fft.Forward(values, spectrum);
    long double error = 0;
    long double norm = 0;
    for (std::size_t k = 0; k <= length / 2; ++k) {
      std::complex<long double> exact = 0;
      for (std::size_t i = 0; i < length; ++i) {
        exact += static_cast<long double>(values[i]) *
                 std::polar(1.0L, -2 * std::numbers::pi_v<long double> * ((i * k) % length) / length);
      }
      error += std::norm(exact - std::complex<long double>(spectrum[k]));
      norm += std::norm(exact);
    }
    EXPECT_LE(std::sqrt(error), fft.relative_error() * std::sqrt(norm));
    std::vector<double> back;
    fft.Inverse(spectrum, back);
    for (std::size_t i = 0; i < length; ++i) EXPECT_NEAR(back[i], values[i], 1e-14);
  }
  EXPECT_EQ(RealFft::Length(1), 4u);
  EXPECT_EQ(RealFft::Length(1025), 1536u);
  EXPECT_EQ(RealFft::Length(1537), 2048u);
}

TEST(PrivacyLossDistributionDeathTest, ProgrammerErrorsEndTheProgram) {
  EXPECT_DEATH(Pld::Gaussian(1, 0.3), "IsPowerOfTwo");
  EXPECT_DEATH(Pld::Gaussian(0, 0.5), "noise_multiplier > 0");
  EXPECT_DEATH(Pld::Gaussian(1, 0.5).Delta(std::nan("")), "isnan");
  EXPECT_DEATH(Pld::FromAtoms(std::vector<LossAtom>{{0.1, -1}}, 0, 0.5), "mass >= 0");
}

}  // namespace
}  // namespace bandana
