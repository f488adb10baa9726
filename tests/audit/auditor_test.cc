#include "bandana/audit/auditor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"

namespace bandana::audit {
namespace {

// Randomized response, for which epsilon and the probability of every event are known.
Target RandomizedResponse(double true_epsilon, DpGuarantee claim) {
  const double truth = std::exp(true_epsilon) / (1 + std::exp(true_epsilon));
  return {.name = "randomized response",
          .claim = Claim{.guarantee = claim},
          .dimension = 1,
          .draw = [truth](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
            const bool lies = UniformUnit(noise) >= truth;
            view[0] = (neighbour == Neighbour::kSecond) != lies ? 1 : 0;
            return absl::OkStatus();
          }};
}

AuditOptions Options(std::int64_t draws, std::uint64_t seed = 1) {
  return {.draws = draws, .false_alarm = 1e-6, .seed = seed};
}

TEST(AuditTest, MeasuresRandomizedResponse) {
  const Finding finding = *Audit(RandomizedResponse(1, {1, 0}), Options(100'000));
  EXPECT_FALSE(finding.refuted);
  EXPECT_GT(finding.epsilon_lower, 0.9);
  EXPECT_LE(finding.epsilon_lower, 1);
  EXPECT_EQ(finding.delta_lower, 0);
  EXPECT_EQ(finding.draws, 100'000);
}

TEST(AuditTest, RefutesAClaimThatIsFalse) {
  const Finding finding = *Audit(RandomizedResponse(1, {0.8, 0}), Options(100'000));
  EXPECT_TRUE(finding.refuted);
  EXPECT_GT(finding.epsilon_lower, 0.8);
  EXPECT_GT(finding.delta_lower, 0);
  // Delta may cover the part that epsilon does not.
  const double excess = (std::exp(1) - std::exp(0.8)) / (1 + std::exp(1));
  EXPECT_LE(finding.delta_lower, excess);
  EXPECT_FALSE(Audit(RandomizedResponse(1, {0.8, excess}), Options(100'000))->refuted);
}

TEST(AuditTest, MeasuresWhereNothingIsClaimed) {
  Target target = RandomizedResponse(1, {});
  target.claim.reset();
  const Finding finding = *Audit(target, Options(100'000));
  EXPECT_FALSE(finding.refuted);
  EXPECT_GT(finding.epsilon_lower, 0.9);
  EXPECT_NEAR(finding.delta_lower, (std::exp(1) - 1) / (std::exp(1) + 1), 0.03);  // the total variation
                                                                                  // distance
}

TEST(AuditTest, DoesNotDependOnThreads) {
  for (const std::int64_t draws : {1000, 50'001}) {
    AuditOptions options = Options(draws, 9);
    const Finding one = *Audit(RandomizedResponse(1, {1, 0}), options);
    options.threads = 3;
    const Finding three = *Audit(RandomizedResponse(1, {1, 0}), options);
    EXPECT_EQ(one.epsilon_lower, three.epsilon_lower);
    EXPECT_EQ(one.delta_lower, three.delta_lower);
    EXPECT_EQ(one.distinguisher, three.distinguisher);
    options.seed = 10;
    EXPECT_NE(one.epsilon_lower, Audit(RandomizedResponse(1, {1, 0}), options)->epsilon_lower);
  }
}

TEST(AuditTest, SecureBitsServeAsWell) {
  AuditOptions options = Options(20'000);
  options.bits = Bits::kSecure;
  const Finding first = *Audit(RandomizedResponse(1, {3, 0}), options);
  const Finding second = *Audit(RandomizedResponse(1, {3, 0}), options);
  EXPECT_GT(first.epsilon_lower, 0.5);
  EXPECT_FALSE(first.refuted);
  EXPECT_NE(first.epsilon_lower, second.epsilon_lower);  // equal with probability below 1 %
}

// No stage uses the draws of another one.
TEST(AuditTest, DrawsEveryStageAnew) {
  std::vector<double> seen;
  Target target = RandomizedResponse(1, {1, 0});
  target.draw = [&](Neighbour, NoiseGen& noise, std::span<double> view) {
    view[0] = UniformUnit(noise);
    seen.push_back(view[0]);
    return absl::OkStatus();
  };
  ASSERT_TRUE(Audit(target, Options(4000)).ok());
  EXPECT_EQ(seen.size(), 8000u);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(AuditTest, AnErrorOfTheTargetEndsIt) {
  Target target = RandomizedResponse(1, {1, 0});
  target.draw = [](Neighbour, NoiseGen&, std::span<double>) { return absl::OutOfRangeError("no more"); };
  for (const int threads : {1, 2}) {
    AuditOptions options = Options(10'000);
    options.threads = threads;
    EXPECT_EQ(Audit(target, options).status(), absl::OutOfRangeError("no more"));
  }
  target.draw = [](Neighbour, NoiseGen&, std::span<double> view) {
    view[0] = std::numeric_limits<double>::quiet_NaN();
    return absl::OkStatus();
  };
  EXPECT_EQ(Audit(target, Options(10'000)).status().code(), absl::StatusCode::kInternal);
}

TEST(AuditTest, StopsWhenAsked) {
  const std::atomic<bool> stop = true;
  AuditOptions options = Options(10'000);
  options.stop = &stop;
  EXPECT_TRUE(absl::IsCancelled(Audit(RandomizedResponse(1, {1, 0}), options).status()));
}

TEST(AuditTest, BadOptionsAreNamed) {
  const auto key = [](AuditOptions options) {
    const auto finding = Audit(RandomizedResponse(1, {1, 0}), options);
    return finding.ok() ? "" : InputErrorOf(finding.status())->key;
  };
  const AuditOptions good = Options(1000);
  EXPECT_EQ(key(good), "");
  for (const std::int64_t draws : {-1ll, 0ll, 999ll, std::numeric_limits<long long>::max()}) {
    AuditOptions bad = good;
    bad.draws = draws;
    EXPECT_EQ(key(bad), "draws");
  }
  for (const double rate : {0.0, -1e-6, 1.0, 1e-300, std::nan("")}) {
    AuditOptions bad = good;
    bad.false_alarm = rate;
    EXPECT_EQ(key(bad), "false_alarm");
  }
  AuditOptions bad = good;
  bad.threads = 0;
  EXPECT_EQ(key(bad), "threads");
}

}  // namespace
}  // namespace bandana::audit
