#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "tests/lab/claims_support.h"

// Tests of p3-leak's distinguisher on made-up times.
namespace bandana::lab {
namespace {

Json PointOf(const char* sync, const char* world, const Sample& rounds) {
  return {
      {"point", {{"privacy.calibration", "paper"}, {"algorithm.sync", sync}, {"environment.world", world}}},
      {"privacy", {{"nominal", {{"epsilon", 1.0}, {"delta", 0.1}}}}},
      {"metrics", {{"first_sync", {{"values", rounds}}}}}};
}

Verdict OfTrigger(const Sample& a, const Sample& b) {
  const Json summary = {{"points", {PointOf("determinant", "a", a), PointOf("determinant", "b", b)}}};
  return Judge((*FindExhibit("p3-leak"))->claims.front(), Findings(summary));
}

TEST(P3Leak, TimesThatDifferInEveryRunBreakTheClaim) {
  for (const auto& [a, b] : {std::pair{7.0, 8.0}, {8.0, 7.0}, {7.0, 0.0}, {0.0, 7.0}}) {
    const Verdict verdict = OfTrigger(Sample(3000, a), Sample(3000, b));
    EXPECT_TRUE(verdict.judged && !verdict.holds && verdict.as_expected());
    EXPECT_THAT(verdict.evidence, testing::HasSubstr("epsilon >= 5.5"));  // ln((0.9965 - 0.1)/0.0035)
  }
}

TEST(P3Leak, EqualTimesTellNothing) {
  const Verdict verdict = OfTrigger(Sample(3000, 7), Sample(3000, 7));
  EXPECT_TRUE(verdict.judged && verdict.holds);
  EXPECT_THAT(verdict.evidence, testing::HasSubstr("epsilon >= 0.00"));
}

// The times differ as much as the claim allows: by randomized response at epsilon = 1, delta = 0. If the
// verdict used the runs that chose the event, or no confidence limits, some of these would break the claim.
TEST(P3Leak, TimesWithinTheClaimDoNotBreakIt) {
  PhiloxSource bits({.seed = 9});
  CoinGen coin(bits);
  const double truth = std::exp(1.0) / (1 + std::exp(1.0));
  for (int i = 0; i < 50; ++i) {
    Sample a, b;
    for (int run = 0; run < 400; ++run) {
      a.push_back(UniformUnit(coin) < truth ? 7 : 8);
      b.push_back(UniformUnit(coin) < truth ? 8 : 7);
    }
    EXPECT_TRUE(OfTrigger(a, b).holds);
  }
}

TEST(P3Leak, OneRunIsTooFew) { EXPECT_FALSE(OfTrigger({7}, {8}).judged); }

}  // namespace
}  // namespace bandana::lab
