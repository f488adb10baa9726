#include "bandana/privacy/silo_arm_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

// Seeds are fixed. A correct law is refuted with probability at most 1e-6 per case, over seeds.
namespace bandana {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = kArmSumsUnit;
constexpr std::int64_t kOne = 1 << 20;

ArmSumsParams Tight(double epsilon, Interval rewards = {0, 1}) {
  return {.epsilon = epsilon,
          .calibration = Calibration::kTight,
          .sampler = Sampler::kExact,
          .rewards = rewards,
          .reporting = 1};
}

SiloArmSums Made(const ArmSumsParams& params) {
  auto made = SiloArmSums::Create(params);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

SiloArmSums Bare(Interval rewards = {0, 1}) {
  return *SiloArmSums::CreateBare(rewards, Declassify("a test"));
}

struct Got {
  ArmId arm;
  Count count;
  double sum;
};

absl::Status Record(const SiloArmSums& mechanism, const std::vector<Got>& all, ArmStream& stream) {
  std::vector<Pull> pulls;
  std::vector<RewardSum> sums;
  for (const Got& each : all) {
    pulls.push_back({each.arm, each.count});
    sums.push_back({each.count, each.sum});
  }
  return mechanism.Record(pulls, Raw<RewardSums>(sums), stream);
}

absl::StatusOr<ArmSums> Ask(const SiloArmSums& mechanism, const ArmQuery& query, ArmStream& stream,
                            NoiseGen& noise) {
  BANDANA_ASSIGN_OR_RETURN(const Report report, mechanism.Randomize(query, Raw<ArmStream*>(&stream), noise));
  BasicReportSum<ArmQuery> sum;
  BANDANA_RETURN_IF_ERROR(mechanism.Add(query, Wire::FromUnits(NodeId{1}, Wire::Units(report)), sum));
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, mechanism.Seal(sum, noise));
  BANDANA_ASSIGN_OR_RETURN(const Released<ArmSums> released, mechanism.Open(query, sealed));
  EXPECT_EQ(released.noise().front().laplace_scale, mechanism.noise_scale());
  EXPECT_EQ(released.noise().front().laplace_terms, mechanism.bare() ? 0 : 1);
  return released.value();
}

// --- without noise

TEST(BareArmSumsTest, ReleasesEachRewardOnce) {
  const SiloArmSums bare = Bare();
  EXPECT_TRUE(bare.bare());
  EXPECT_TRUE(bare.claims().empty());
  EXPECT_EQ(bare.CostOf({1, {0}}), (DpGuarantee{0, 0}));
  ArmStream stream(bare);
  test::Noise noise(1);
  ASSERT_TRUE(Record(bare, {{0, 4, 3}, {2, 3, 2}, {2, 1, 0.25}, {5, 7, 7}}, stream).ok());
  EXPECT_EQ(stream.pending(2), 4);
  const ArmSums first = *Ask(bare, {1, {0, 2}}, stream, noise.gen);
  EXPECT_EQ(first, (ArmSums{.agents = 1, .pulls = 4, .arms = {0, 2}, .units = {3 * kOne, 9 * kOne / 4}}));
  EXPECT_EQ(MeanOf(first, 0), 0.75);
  // Arm 5 was not asked for, and its rewards are discarded too.
  EXPECT_EQ(stream.releases(), 1);
  EXPECT_EQ(stream.pending(5), 0);
  ASSERT_TRUE(Record(bare, {{0, 1, 1}, {2, 1, 0}, {5, 1, 1}}, stream).ok());
  const ArmSums second = *Ask(bare, {2, {0, 2, 5}}, stream, noise.gen);
  EXPECT_EQ(second.pulls, 1);
  EXPECT_EQ(second.units, (std::vector<std::int64_t>{kOne, 0, kOne}));
}

TEST(BareArmSumsTest, ClipsASumToItsPulls) {
  const SiloArmSums bare = Bare({-1, 2});
  const auto units = [&](Count count, double sum) {
    ArmStream stream(bare);
    test::Noise noise(1);
    EXPECT_TRUE(Record(bare, {{0, count, sum}}, stream).ok());
    return Ask(bare, {1, {0}}, stream, noise.gen)->units.front();
  };
  EXPECT_EQ(units(3, 100), 6 * kOne);
  EXPECT_EQ(units(3, -100), -3 * kOne);
  EXPECT_EQ(units(3, kInfinity), 6 * kOne);
  EXPECT_EQ(units(3, -kInfinity), -3 * kOne);
  EXPECT_EQ(units(3, kNan), 3 * kOne / 2);
  EXPECT_EQ(units(3, 2.5), 5 * kOne / 2);
}

TEST(BareArmSumsTest, RoundsUpwardsFromTheMiddle) {
  const SiloArmSums bare = Bare({-1, 1});
  for (std::int64_t whole = -3; whole <= 3; ++whole) {
    for (const auto& [part, expected] : {std::pair{0.0, 0}, {0.25, 0}, {0.5, 1}, {0.75, 1}}) {
      ArmStream stream(bare);
      test::Noise noise(1);
      const double sum = (static_cast<double>(whole) + part) * kUnit;
      ASSERT_TRUE(Record(bare, {{0, 2, sum}}, stream).ok());
      EXPECT_EQ(Ask(bare, {1, {0}}, stream, noise.gen)->units.front(), whole + expected);
    }
  }
}

// --- what one reward moves

std::int64_t UnitsOf(const SiloArmSums& bare, Count count, double sum) {
  ArmStream stream(bare);
  test::Noise noise(1);
  EXPECT_TRUE(Record(bare, {{3, count, sum}}, stream).ok());
  return Ask(bare, {1, {3}}, stream, noise.gen)->units.front();
}

// Tries all intervals and rewards in quarters of units, so that ties occur. For each second reward, the first
// one takes every value.
TEST(ArmSumsSensitivityTest, OneRewardMovesASumByTheRangeAtMost) {
  constexpr double kQuarter = kUnit / 4;
  int tight = 0;
  for (int low = -6; low <= 5; ++low) {
    for (int high = low + 1; high <= low + 9; ++high) {
      const Interval rewards{low * kQuarter, high * kQuarter};
      const SiloArmSums bare = Bare(rewards);
      const double claimed = Made(Tight(1, rewards)).noise_scale() / kUnit;
      const bool whole = low % 4 == 0 && high % 4 == 0;
      if (whole) {
        EXPECT_EQ(claimed, (high - low) / 4) << "rounding adds nothing";
      }
      EXPECT_LT(claimed, (high - low) / 4.0 + 2);
      for (int second = low; second <= high; ++second) {
        std::int64_t least = UnitsOf(bare, 2, (low + second) * kQuarter), most = least;
        for (int first = low; first <= high; ++first) {
          const std::int64_t units = UnitsOf(bare, 2, (first + second) * kQuarter);
          least = std::min(least, units);
          most = std::max(most, units);
        }
        EXPECT_LE(static_cast<double>(most - least), claimed) << low << " " << high << " " << second;
        if (static_cast<double>(most - least) == claimed) ++tight;
      }
    }
  }
  EXPECT_GT(tight, 100);
}

TEST(ArmSumsSensitivityTest, OneRewardAloneMayBeAnything) {
  for (const Interval rewards : {Interval{0, 1}, {-1, 1}, {0.1, 0.7}, {-kUnit / 4, kUnit / 4}}) {
    const SiloArmSums bare = Bare(rewards);
    const double claimed = Made(Tight(1, rewards)).noise_scale() / kUnit;
    std::vector<std::int64_t> units;
    for (const double odd : {kNan, kInfinity, -kInfinity, 1e300, -1e300, 0.0, -0.0, 0.3, 5e-324}) {
      units.push_back(UnitsOf(bare, 1, odd));
    }
    const auto [least, most] = std::minmax_element(units.begin(), units.end());
    EXPECT_LE(static_cast<double>(*most - *least), claimed);
  }
}

// --- the noise

TEST(SiloArmSumsTest, TheScaleIsTheRangeOverEpsilonRoundedUp) {
  EXPECT_EQ(Made(Tight(1)).noise_scale(), 1);
  EXPECT_EQ(Made(Tight(0.5, {-1, 1})).noise_scale(), 4);
  const double third = Made(Tight(3)).noise_scale();
  EXPECT_GE(third, 1.0 / 3);
  EXPECT_LT(third, 1.0 / 3 + kUnit);
  EXPECT_EQ(Made(Tight(1e9)).noise_scale(), kUnit) << "never less than a unit";
  // An interval that is off the grid is widened.
  EXPECT_EQ(Made(Tight(1, {kUnit / 2, 1 + kUnit / 2})).noise_scale(), 1 + kUnit);
}

TEST(SiloArmSumsTest, ThePapersFormulaDeliversNEpsilon) {
  ArmSumsParams params = Tight(1);
  params.calibration = Calibration::kPaper;
  params.reporting = 50;
  const SiloArmSums paper = Made(params);
  EXPECT_EQ(paper.guarantee(), (DpGuarantee{50, 0}));
  EXPECT_EQ(paper.claims().front().guarantee, (DpGuarantee{50, 0}));
  EXPECT_EQ(paper.CostOf({1, {0}}), (DpGuarantee{50, 0}));
  EXPECT_GE(paper.noise_scale(), 0.02);
  EXPECT_LT(paper.noise_scale(), 0.02 + kUnit);
  params.calibration = Calibration::kTight;
  EXPECT_EQ(Made(params).noise_scale(), 1) << "tight: however many report";
}

TEST(SiloArmSumsTest, APersonWithSeveralRewardsTakesAsManyTimesTheNoise) {
  ArmSumsParams params = Tight(1);
  params.records_per_person = 3;
  EXPECT_EQ(Made(params).noise_scale(), 3);
  EXPECT_EQ(Made(params).guarantee(), (DpGuarantee{1, 0}));
  params.calibration = Calibration::kPaper;
  params.reporting = 2;
  EXPECT_EQ(Made(params).guarantee(), (DpGuarantee{6, 0}))
      << "the paper's noise stays, and the claim says so";
  params.records_per_person = 0;
  EXPECT_FALSE(SiloArmSums::Create(params).ok());
}

TEST(SiloArmSumsTest, ChargesWithTheFirstReleaseAlone) {
  const SiloArmSums mechanism = Made(Tight(2));
  EXPECT_EQ(mechanism.guarantee(), (DpGuarantee{2, 0}));
  EXPECT_EQ(mechanism.CostOf({1, {0}}), (DpGuarantee{2, 0}));
  EXPECT_EQ(mechanism.CostOf({2, {0}}), (DpGuarantee{0, 0}));
  const Claim claim = mechanism.claims().front();
  EXPECT_EQ(claim.unit, "one reward of one agent");
  EXPECT_EQ(claim.neighbours, "replace-one");
  EXPECT_THAT(claim.adversary, HasSubstr("together"));
  EXPECT_EQ(*mechanism.ReportBits({1, {0, 4}}), 64 * 3);
}

// Compares draws with the law of a release for one arm, summed over all integers.
class ArmSumsLawTest : public ::testing::TestWithParam<Sampler> {};
INSTANTIATE_TEST_SUITE_P(All, ArmSumsLawTest, ::testing::Values(Sampler::kExact, Sampler::kFast),
                         [](const auto& each) { return each.param == Sampler::kExact ? "exact" : "fast"; });

TEST_P(ArmSumsLawTest, IsDiscreteLaplace) {
  // A range of three units at epsilon 3/4 gives a scale of four units.
  ArmSumsParams params = Tight(0.75, {-kUnit, 2 * kUnit});
  params.sampler = GetParam();
  const SiloArmSums mechanism = Made(params);
  ASSERT_EQ(mechanism.noise_scale(), 4 * kUnit);
  constexpr int kFarthest = 60;
  constexpr int kDraws = 100'000;
  constexpr int kCentre = 3;  // the two rewards are 2 units and 1 unit
  std::vector<double> counts(2 * kFarthest + 1), masses(counts.size());
  double total = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    masses[i] = std::exp(-std::abs(static_cast<double>(i) - kFarthest) / 4);
    total += masses[i];
  }
  for (double& mass : masses) mass /= total;
  test::Noise noise(7);
  for (int draw = 0; draw < kDraws; ++draw) {
    ArmStream stream(mechanism);
    ASSERT_TRUE(Record(mechanism, {{0, 2, kCentre * kUnit}}, stream).ok());
    const std::int64_t units = Ask(mechanism, {1, {0}}, stream, noise.gen)->units.front();
    counts[static_cast<std::size_t>(std::clamp<std::int64_t>(units - kCentre, -kFarthest, kFarthest) +
                                    kFarthest)] += 1;
  }
  EXPECT_TRUE(test::FitsMasses(counts, masses));
}

TEST(ArmSumsRatioTest, NeighboursDifferByEpsilonAtMostAndNoLessNoiseWould) {
  for (const double epsilon : {0.1, 0.75, 1.0, 5.0}) {
    for (const int range : {1, 3, 10}) {
      const SiloArmSums mechanism = Made(Tight(epsilon, {0, range * kUnit}));
      const double scale = mechanism.noise_scale() / kUnit;
      const auto worst = [&](double noise) {
        double most = 0;
        for (int moved = 1; moved <= range; ++moved) {
          for (int seen = -50; seen <= 50; ++seen) {
            most = std::max(most, std::abs((std::abs(seen - moved) - std::abs(seen)) / noise));
          }
        }
        return most;
      };
      EXPECT_LE(worst(scale), epsilon);
      if (scale > 1) {
        EXPECT_GT(worst(scale - 1), epsilon);
      }
    }
  }
}

TEST(SiloArmSumsTest, ArmsAndReleasesHaveTheirOwnNoise) {
  const SiloArmSums mechanism = Made(Tight(1));
  ArmStream stream(mechanism);
  test::Noise noise(3);
  std::vector<std::int64_t> seen;
  for (std::int64_t release = 1; release <= 4; ++release) {
    ASSERT_TRUE(Record(mechanism, {{0, 1, 0}, {1, 1, 0}}, stream).ok());
    const ArmSums sums = *Ask(mechanism, {release, {0, 1}}, stream, noise.gen);
    seen.insert(seen.end(), sums.units.begin(), sums.units.end());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "at a scale of 2^20 units";
}

// --- errors

TEST(SiloArmSumsTest, BadParametersAreNamed) {
  const auto key = [](const ArmSumsParams& params) {
    const auto made = SiloArmSums::Create(params);
    return made.ok() ? "" : InputErrorOf(made.status())->key;
  };
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 1e-310, 1e-12}) {
    EXPECT_EQ(key(Tight(bad)), "epsilon") << bad;
  }
  for (const Interval bad : {Interval{1, 1}, {1, 0}, {kNan, 1}, {0, kNan}, {-kInfinity, 1}, {0, 1e9}}) {
    EXPECT_EQ(key(Tight(1, bad)), "rewards");
    EXPECT_FALSE(SiloArmSums::CreateBare(bad, Declassify("a test")).ok());
  }
  ArmSumsParams params = Tight(1);
  for (const Count bad : {Count{0}, Count{-1}, Count{1} << 32}) {
    params.reporting = bad;
    EXPECT_EQ(key(params), "reporting");
  }
}

TEST(SiloArmSumsTest, AskedOutOfTurnOrUnequallyNothingIsReleased) {
  const SiloArmSums mechanism = Made(Tight(1));
  ArmStream stream(mechanism);
  test::Noise noise(1);
  const auto code = [&](const ArmQuery& query) {
    return Ask(mechanism, query, stream, noise.gen).status().code();
  };
  ASSERT_TRUE(Record(mechanism, {{0, 2, 1}, {1, 2, 2}, {2, 3, 0}}, stream).ok());
  constexpr auto kTurn = absl::StatusCode::kFailedPrecondition;
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({2, {0, 1}}), kTurn);
  EXPECT_EQ(code({1, {0, 2}}), kTurn) << "2 and 3 pulls";
  EXPECT_EQ(code({1, {0, 7}}), kTurn) << "arm 7 has none";
  EXPECT_EQ(code({1, {7}}), kTurn);
  EXPECT_EQ(code({0, {0, 1}}), kBad);
  EXPECT_EQ(code({1, {}}), kBad);
  EXPECT_EQ(code({1, {1, 0}}), kBad);
  EXPECT_EQ(code({1, {0, 0}}), kBad);
  EXPECT_EQ(code({1, {-1, 0}}), kBad);
  EXPECT_EQ(stream.releases(), 0);
  EXPECT_EQ(code({1, {0, 1}}), absl::StatusCode::kOk);
  EXPECT_EQ(code({1, {0, 1}}), kTurn) << "again";
  EXPECT_EQ(code({2, {0, 1}}), kTurn) << "nothing new";
  const SiloArmSums other = Made(Tight(1));
  ArmStream elsewhere(other);
  EXPECT_EQ(mechanism.Randomize({1, {0}}, Raw<ArmStream*>(&elsewhere), noise.gen).status().code(), kTurn);
}

TEST(SiloArmSumsTest, RecordsAllOrNothingByCountsAlone) {
  const SiloArmSums mechanism = Made(Tight(1));
  ArmStream stream(mechanism);
  const std::array<Pull, 2> pulls{{{0, 1}, {1, 2}}};
  const auto record = [&](std::vector<RewardSum> sums) {
    return mechanism.Record(pulls, Raw<RewardSums>(sums), stream).code();
  };
  EXPECT_EQ(record({{1, 1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(record({{1, 1}, {3, 1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Record(mechanism, {{0, 1, 1}, {-1, 1, 1}}, stream).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Record(mechanism, {{0, 1, 1}, {0, -1, 1}}, stream).code(), absl::StatusCode::kInvalidArgument);
  constexpr Count kMost = Count{1} << 41;  // 2^61 units
  for (const double sum : {0.0, kNan}) {
    EXPECT_EQ(Record(mechanism, {{0, kMost + 1, sum}}, stream).code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(Record(mechanism, {{0, kMost, sum}, {0, 1, sum}}, stream).code(),
              absl::StatusCode::kOutOfRange);
  }
  EXPECT_EQ(stream.pending(0), 0);
  ASSERT_TRUE(Record(mechanism, {{0, kMost, static_cast<double>(kMost)}}, stream).ok());
  EXPECT_EQ(Record(mechanism, {{0, 1, 0}}, stream).code(), absl::StatusCode::kOutOfRange);
  test::Noise noise(1);
  EXPECT_NEAR(MeanOf(*Ask(mechanism, {1, {0}}, stream, noise.gen), 0), 1, 1e-9);
}

TEST(SiloArmSumsTest, OneAgentsReportIsARelease) {
  const SiloArmSums mechanism = Bare();
  const ArmQuery query{1, {0}};
  test::Noise noise(1);
  BasicReportSum<ArmQuery> sum;
  EXPECT_FALSE(mechanism.Seal(sum, noise.gen).ok());
  ASSERT_TRUE(mechanism.Add(query, Wire::FromUnits(NodeId{1}, {2, kOne}), sum).ok());
  EXPECT_TRUE(mechanism.Seal(sum, noise.gen).ok());
  ASSERT_TRUE(mechanism.Add(query, Wire::FromUnits(NodeId{2}, {2, kOne}), sum).ok());
  EXPECT_FALSE(mechanism.Seal(sum, noise.gen).ok());
  BasicReportSum<ArmQuery> wrong;
  EXPECT_FALSE(mechanism.Add(query, Wire::FromUnits(NodeId{1}, {2, kOne, kOne}), wrong).ok());
}

// --- raw means for the agent's own use

TEST(RevealMeansTest, AreOfAllThatWasRecorded) {
  const SiloArmSums mechanism = Made(Tight(1));
  const Declassify why("a test");
  ArmStream stream(mechanism, why);
  test::Noise noise(1);
  const std::vector<ArmId> arms{0, 1};
  EXPECT_FALSE(mechanism.RevealMeans(stream, arms, why).ok());
  ASSERT_TRUE(Record(mechanism, {{0, 2, 1}, {1, 2, 2}}, stream).ok());
  ASSERT_TRUE(Ask(mechanism, {1, {0, 1}}, stream, noise.gen).ok());
  ASSERT_TRUE(Record(mechanism, {{0, 2, 2}}, stream).ok());
  EXPECT_EQ(*mechanism.RevealMeans(stream, arms, why), (std::vector<double>{0.75, 1}));
}

TEST(ArmQueryTest, BytesTellQueriesApart) {
  EXPECT_NE((ArmQuery{1, {0}}.bytes()), (ArmQuery{2, {0}}.bytes()));
  EXPECT_NE((ArmQuery{1, {0}}.bytes()), (ArmQuery{1, {1}}.bytes()));
  EXPECT_NE((ArmQuery{1, {0}}.bytes()), (ArmQuery{1, {0, 1}}.bytes()));
}

}  // namespace
}  // namespace bandana
