#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bandana/privacy/calibration/amplification.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "tests/privacy/mean_support.h"

// Tests of dealt queries, in which every client answers one coordinate with one reward. Seeds are fixed.
// Means may be off by four standard errors, variances by five; laws are compared with the Kolmogorov-Smirnov
// test at 1e-6.
namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;

constexpr DpGuarantee kNominal{1, 1e-4};
// Three coordinates of different ranges and different numbers of clients.
const MeanQuery kQuery{.bounds = {{-1, 1}, {0, 1}, {-0.5, 2}}, .clients = 30, .dealt = {5, 17, 8}};

template <class P>
P Make(DpGuarantee nominal, Sampler sampler, Calibration calibration = Calibration::kTight) {
  if constexpr (std::is_same_v<P, NoPrivacyMean>) {
    return NoPrivacyMean(Declassify("a test"));
  } else if constexpr (std::is_same_v<P, ShuffleSumMean>) {
    return *ShuffleSumMean::Create(
        {nominal, calibration, sampler, Transport::kBits, {0, 1}, 10'000'000, 0.1});
  } else if constexpr (std::is_same_v<P, ShuffledLaplaceMean>) {
    return *ShuffledLaplaceMean::Create({nominal, calibration, sampler, {0, 1}, 10'000'000});
  } else if constexpr (requires { P::Create(LaplaceParams{1, calibration, sampler}); }) {
    return *P::Create({nominal.epsilon, calibration, sampler});
  } else {
    return *P::Create({nominal, calibration, sampler});
  }
}

// Returns the reward of client `client` (from 1 on), whichever part it has been dealt.
double RewardOf(const MeanQuery& query, std::size_t part, std::uint32_t client) {
  const Interval& bound = query.bounds[part];
  return client % 3 == 0 ? bound.low : bound.high;
}

template <class P>
absl::StatusOr<Report> PartOf(const P& mean, const MeanQuery& query, int part, std::uint32_t client,
                              double reward, NoiseGen& noise) {
  const std::vector<RewardSum> one = {{1, reward}};
  BANDANA_ASSIGN_OR_RETURN(const Report report, mean.RandomizePart(query, part, Raw<RewardSums>(one), noise));
  return Wire::FromUnits(NodeId{client}, Wire::Units(report), report.bits(), report.quorum(), {},
                         report.part(), report.clients());
}

template <class P>
absl::StatusOr<Report> GroupOf(const P& mean, const MeanQuery& query, int part, std::uint32_t first,
                               const std::vector<RewardSum>& group, NoiseGen& noise) {
  BANDANA_ASSIGN_OR_RETURN(const Report report,
                           mean.RandomizeGroup(query, part, Raw<RewardSums>(group), noise));
  return Wire::FromUnits(NodeId{first}, Wire::Units(report), report.bits(), report.quorum(), {},
                         report.part(), report.clients());
}

enum class Who { kClients, kGroups };

// Returns the rewards of a part's clients as two sums, one for each end of the interval.
std::vector<RewardSum> Ends(const MeanQuery& query, std::size_t part, std::uint32_t first) {
  std::vector<RewardSum> ends(2);
  for (Count i = 0; i < query.dealt[part]; ++i) {
    const double reward = RewardOf(query, part, first + static_cast<std::uint32_t>(i));
    RewardSum& end = ends[reward == query.bounds[part].high];
    ++end.count;
    end.sum += reward;
  }
  return ends;
}

template <class P>
absl::StatusOr<std::vector<Report>> ReportsOf(const P& mean, const MeanQuery& query, Who who,
                                              NoiseGen& noise) {
  std::vector<Report> reports;
  std::uint32_t client = 1;
  for (std::size_t part = 0; part < query.dealt.size(); ++part) {
    const int index = static_cast<int>(part);
    if (who == Who::kGroups) {
      BANDANA_ASSIGN_OR_RETURN(Report group,
                               GroupOf(mean, query, index, client, Ends(query, part, client), noise));
      reports.push_back(std::move(group));
      client += static_cast<std::uint32_t>(query.dealt[part]);
      continue;
    }
    for (Count i = 0; i < query.dealt[part]; ++i, ++client) {
      BANDANA_ASSIGN_OR_RETURN(Report one,
                               PartOf(mean, query, index, client, RewardOf(query, part, client), noise));
      reports.push_back(std::move(one));
    }
  }
  return reports;
}

template <class P>
absl::StatusOr<Released<Mean>> Opened(const P& mean, const MeanQuery& query,
                                      const std::vector<Report>& reports, NoiseGen& noise) {
  ReportSum sum;
  if constexpr (ShufflePrivatizer<P>) {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> mixed, mean.Mix(query, reports));
    BANDANA_RETURN_IF_ERROR(mean.AddMixed(query, mixed, sum));
  } else {
    for (const Report& report : reports) BANDANA_RETURN_IF_ERROR(mean.Add(query, report, sum));
  }
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, mean.Seal(sum, noise));
  return mean.Open(query, sealed);
}

std::vector<double> TrueMeans(const MeanQuery& query) {
  std::vector<double> means;
  std::uint32_t client = 1;
  for (std::size_t part = 0; part < query.dealt.size(); ++part) {
    double sum = 0;
    for (Count i = 0; i < query.dealt[part]; ++i) sum += RewardOf(query, part, client++);
    means.push_back(sum / static_cast<double>(query.dealt[part]));
  }
  return means;
}

template <class P>
test::Errors ErrorsOf(const P& mean, const MeanQuery& query, Who who, std::uint64_t seed, int draws) {
  test::Noise noise(seed);
  const std::vector<double> means = TrueMeans(query);
  test::Errors errors{std::vector<std::vector<double>>(means.size()), {}};
  for (int i = 0; i < draws; ++i) {
    const auto reports = ReportsOf(mean, query, who, noise.gen);
    EXPECT_TRUE(reports.ok()) << reports.status();
    if (!reports.ok()) break;
    const auto released = Opened(mean, query, *reports, noise.gen);
    EXPECT_TRUE(released.ok()) << released.status();
    if (!released.ok()) break;
    for (std::size_t j = 0; j < means.size(); ++j) {
      errors.entries[j].push_back(released->value().entries[j] - means[j]);
    }
    errors.laws = released->noise();
  }
  return errors;
}

template <class P>
class DealtTest : public ::testing::Test {
 protected:
  static constexpr bool kNoisy = !std::is_same_v<P, NoPrivacyMean>;
  const P mean_ = Make<P>(kNominal, Sampler::kFast);
  test::Noise noise_{1};
};
using Means = ::testing::Types<NoPrivacyMean, CentralGaussianMean, CentralLaplaceMean, LocalGaussianMean,
                               LocalLaplaceMean, ShuffleSumMean, ShuffledLaplaceMean>;
TYPED_TEST_SUITE(DealtTest, Means);

TYPED_TEST(DealtTest, TheErrorHasTheStatedLaw) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    constexpr int kDraws = 1500;
    const auto mean = Make<TypeParam>(kNominal, sampler);
    const test::Errors errors = ErrorsOf(mean, kQuery, Who::kClients, 3, kDraws);
    for (std::size_t j = 0; j < 3; ++j) {
      if (!this->kNoisy) {
        for (const double error : errors.entries[j]) EXPECT_NEAR(error, 0, 1e-15);
        EXPECT_EQ(errors.laws[j].stddev(), 0);
        continue;
      }
      const NoiseLaw& law = errors.laws[j];
      EXPECT_TRUE(test::IsCentred(errors.entries[j], law.stddev())) << j;
      EXPECT_TRUE(test::TailsAreBelow(errors.entries[j], law)) << j;
      NoiseLaw understated = law;
      understated.proxy *= 0.3;
      understated.laplace_scale *= 0.3;
      EXPECT_FALSE(test::TailsAreBelow(errors.entries[j], understated)) << "the test sees nothing";
      // An estimated Laplace variance has a relative standard error of sqrt(5/draws). The stated law of a
      // shuffle sum includes the most that rounding can add, and here it adds nothing.
      const double ratio = test::MomentsOf(errors.entries[j]).variance / (law.stddev() * law.stddev());
      const double spread = 5 * std::sqrt(5.0 / kDraws);
      EXPECT_LE(ratio, 1 + spread) << j;
      EXPECT_GE(ratio, (std::is_same_v<TypeParam, ShuffleSumMean> ? 0.9 : 1) - spread) << j;
    }
  }
}

TYPED_TEST(DealtTest, AGroupIsTheSumOfItsClientsInLaw) {
  const test::Errors clients = ErrorsOf(this->mean_, kQuery, Who::kClients, 4, 3000);
  const test::Errors groups = ErrorsOf(this->mean_, kQuery, Who::kGroups, 5, 3000);
  const auto less = Make<TypeParam>({1.5, 1e-4}, Sampler::kFast);
  const test::Errors others = ErrorsOf(less, kQuery, Who::kGroups, 6, 3000);
  for (std::size_t j = 0; j < 3; ++j) {
    if (!this->kNoisy) {
      EXPECT_EQ(groups.entries[j], clients.entries[j]);
      continue;
    }
    EXPECT_TRUE(test::SameLaw(groups.entries[j], clients.entries[j])) << j;
    EXPECT_FALSE(test::SameLaw(others.entries[j], clients.entries[j])) << "the test sees nothing";
  }
}

TYPED_TEST(DealtTest, TheExactSamplersGroupHasTheSameLaw) {
  const test::Errors exact =
      ErrorsOf(Make<TypeParam>(kNominal, Sampler::kExact), kQuery, Who::kGroups, 7, 1500);
  const test::Errors fast = ErrorsOf(this->mean_, kQuery, Who::kGroups, 8, 1500);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_TRUE(test::SameLaw(exact.entries[j], fast.entries[j]));
}

// Ten million clients: a loop over them would take seconds.
TYPED_TEST(DealtTest, ALargeGroupCostsNoMoreThanASmallOne) {
  const MeanQuery query{{{-1, 1}, {0, 1}}, 10'000'000, {}, {9'000'000, 1'000'000}};
  test::Noise noise(9);
  constexpr int kDraws = 400;
  std::array<std::vector<double>, 2> entries;
  std::vector<NoiseLaw> laws;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<Report> reports;
    reports.push_back(
        *GroupOf(this->mean_, query, 0, 1, {{4'500'000, -4.5e6}, {4'500'000, 4.5e6}}, noise.gen));
    reports.push_back(*GroupOf(this->mean_, query, 1, 9'000'001, {{1'000'000, 1e6}}, noise.gen));
    EXPECT_EQ(reports[0].clients(), 9'000'000);
    EXPECT_EQ(reports[0].bits(), 9'000'000 * *this->mean_.ReportBits(query, 0));
    const auto released = Opened(this->mean_, query, reports, noise.gen);
    ASSERT_TRUE(released.ok()) << released.status();
    entries[0].push_back(released->value().entries[0]);
    entries[1].push_back(released->value().entries[1] - 1);
    laws = released->noise();
  }
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_TRUE(test::IsCentred(entries[j], laws[j].stddev())) << j;
    const double ratio =
        this->kNoisy ? test::MomentsOf(entries[j]).variance / (laws[j].stddev() * laws[j].stddev()) : 1;
    EXPECT_NEAR(ratio, 1, 5 * std::sqrt(2.0 / kDraws) + 0.1) << j;
  }
}

TYPED_TEST(DealtTest, WithoutNoiseItIsTheAverage) {
  // At this epsilon a Laplace scale is one unit of the grid, and a Gaussian one is 7e-7 of the range. Shuffle
  // sums accept at most epsilon = 100.
  if constexpr (!std::is_same_v<TypeParam, ShuffleSumMean>) {
    const auto mean = Make<TypeParam>({1e12, 1e-4}, Sampler::kExact);
    const auto none = Make<NoPrivacyMean>(kNominal, Sampler::kExact);
    for (const Who who : {Who::kClients, Who::kGroups}) {
      const auto reports = *ReportsOf(mean, kQuery, who, this->noise_.gen);
      const auto released = Opened(mean, kQuery, reports, this->noise_.gen);
      ASSERT_TRUE(released.ok()) << released.status();
      const auto bare =
          Opened(none, kQuery, *ReportsOf(none, kQuery, who, this->noise_.gen), this->noise_.gen);
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(released->value().entries[j], bare->value().entries[j], 1e-5);
      }
    }
  }
}

// The noise of a coordinate has the law of a query for this coordinate alone to its clients.
TYPED_TEST(DealtTest, EachCoordinateHasTheNoiseOfItsOwnRange) {
  const auto reports = *ReportsOf(this->mean_, kQuery, Who::kClients, this->noise_.gen);
  const auto all = Opened(this->mean_, kQuery, reports, this->noise_.gen);
  ASSERT_TRUE(all.ok()) << all.status();
  if constexpr (std::is_same_v<TypeParam, ShuffledLaplaceMean>) {
    const double epsilon0 = *this->mean_.LocalEpsilon(30);  // among all clients, not among those of its part
    for (std::size_t j = 0; j < 3; ++j) {
      const double range = kQuery.bounds[j].high - kQuery.bounds[j].low;
      EXPECT_EQ(all->noise()[j].laplace_terms, kQuery.dealt[j]);
      EXPECT_NEAR(all->noise()[j].laplace_scale, range / epsilon0 / static_cast<double>(kQuery.dealt[j]),
                  1e-9);
    }
  } else {
    for (std::size_t j = 0; j < 3; ++j) {
      const MeanQuery alone{{kQuery.bounds[j]}, kQuery.dealt[j]};
      test::ClientAverages clients(static_cast<std::size_t>(kQuery.dealt[j]), {kQuery.bounds[j].low});
      const auto one = test::ReleaseMean(this->mean_, alone, clients, this->noise_.gen);
      ASSERT_TRUE(one.ok()) << one.status();
      EXPECT_NEAR(all->noise()[j].stddev(), one->noise()[0].stddev(), 1e-9) << j;
      EXPECT_EQ(all->noise()[j].laplace_terms, one->noise()[0].laplace_terms) << j;
    }
  }
}

TYPED_TEST(DealtTest, WhatIsNoPartIsRefused) {
  const auto part = [&](const MeanQuery& query, int index) {
    return PartOf(this->mean_, query, index, 1, 0.5, this->noise_.gen).status();
  };
  const auto group = [&](const MeanQuery& query, int index, const std::vector<RewardSum>& rewards) {
    return GroupOf(this->mean_, query, index, 1, rewards, this->noise_.gen).status();
  };
  EXPECT_TRUE(part(kQuery, 2).ok());
  for (const int bad : {-2, -1, 3, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_EQ(part(kQuery, bad).code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_EQ(group(kQuery, bad, {{1, 1}}).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  MeanQuery whole = kQuery;
  whole.dealt.clear();
  EXPECT_EQ(part(whole, 0).code(), absl::StatusCode::kInvalidArgument);
  const std::vector<RewardSum> all = {{1, 0.5}, {1, 0.5}, {1, 0.5}};
  EXPECT_TRUE(this->mean_.Randomize(whole, Raw<RewardSums>(all), this->noise_.gen).ok());
  EXPECT_EQ(this->mean_.Randomize(kQuery, Raw<RewardSums>(all), this->noise_.gen).status().code(),
            absl::StatusCode::kInvalidArgument);
  constexpr Count kMost = std::numeric_limits<Count>::max();
  for (const std::vector<Count>& dealt : std::vector<std::vector<Count>>{{5, 25},
                                                                         {5, 17, 8, 0},
                                                                         {5, 17, 7},
                                                                         {5, 17, 9},
                                                                         {30, 0, 0},
                                                                         {-1, 23, 8},
                                                                         {kMost, kMost, 32},
                                                                         {kMost, 1, 30}}) {
    MeanQuery query = kQuery;
    query.dealt = dealt;
    EXPECT_EQ(part(query, 0).code(), absl::StatusCode::kInvalidArgument) << ::testing::PrintToString(dealt);
    EXPECT_FALSE(CheckQuery(query).ok());
  }
  for (const std::vector<RewardSum>& rewards :
       std::vector<std::vector<RewardSum>>{{},
                                           {{0, 0}},
                                           {{6, 6}},
                                           {{-1, 0}},
                                           {{3, 3}, {3, -3}},
                                           {{6, 6}, {-1, 0}},
                                           {{kMost, 0}, {kMost, 0}}}) {
    EXPECT_EQ(group(kQuery, 0, rewards).code(), absl::StatusCode::kInvalidArgument);
  }
}

TYPED_TEST(DealtTest, NobodyIsInASumTwice) {
  const auto reports = *ReportsOf(this->mean_, kQuery, Who::kClients, this->noise_.gen);
  const auto refused = [&](std::vector<Report> changed) {
    return !Opened(this->mean_, kQuery, changed, this->noise_.gen).ok();
  };
  EXPECT_FALSE(refused(reports));
  std::vector<Report> other = reports;
  other[1] = *PartOf(this->mean_, kQuery, 0, 1, 1, this->noise_.gen);
  EXPECT_TRUE(refused(other)) << "a client twice in one part";
  other[1] = reports[1];
  other[29] = *PartOf(this->mean_, kQuery, 2, 1, 1, this->noise_.gen);
  EXPECT_TRUE(refused(other)) << "a client in two parts";
  other[29] = *PartOf(this->mean_, kQuery, 1, 30, 1, this->noise_.gen);
  EXPECT_TRUE(refused(other)) << "18 clients in a part of 17, and 7 in one of 8";
  other = reports;
  other.pop_back();
  EXPECT_TRUE(refused(other)) << "one is missing";
  other[0] = *GroupOf(this->mean_, kQuery, 0, 30, {{1, 1}}, this->noise_.gen);
  EXPECT_TRUE(refused(other)) << "and one more is";
}

TYPED_TEST(DealtTest, GroupsDoNotOverlap) {
  const auto opened = [&](const std::vector<std::pair<std::uint32_t, Count>>& groups) {
    std::vector<Report> reports;
    for (std::size_t part = 0; part < groups.size(); ++part) {
      const auto [first, clients] = groups[part];
      reports.push_back(*GroupOf(this->mean_, kQuery, static_cast<int>(part), first,
                                 {{clients, static_cast<double>(clients) * kQuery.bounds[part].high}, {0, 0}},
                                 this->noise_.gen));
    }
    return Opened(this->mean_, kQuery, reports, this->noise_.gen).ok();
  };
  EXPECT_TRUE(opened({{1, 5}, {6, 17}, {23, 8}}));
  EXPECT_TRUE(opened({{100, 5}, {1, 17}, {18, 8}})) << "any clients, in any order";
  EXPECT_FALSE(opened({{1, 5}, {5, 17}, {23, 8}}));
  EXPECT_FALSE(opened({{1, 5}, {7, 17}, {2, 8}}));
  EXPECT_FALSE(opened({{10, 5}, {1, 17}, {23, 8}})) << "one inside the other";
  EXPECT_FALSE(opened({{1, 5}, {6, 16}, {23, 8}})) << "one is missing";
  EXPECT_FALSE(opened({{0, 5}, {6, 17}, {23, 8}})) << "the server is nobody";
  EXPECT_FALSE(opened({{1, 5}, {6, 17}, {0xfffffffb, 8}})) << "ids that there are not";
}

TYPED_TEST(DealtTest, WildRewardsAreTakenAndCountForNoMore) {
  const auto mean = Make<TypeParam>({50, 1e-4}, Sampler::kExact);
  for (const double wild : test::kWild) {
    auto reports = *ReportsOf(mean, kQuery, Who::kClients, this->noise_.gen);
    auto part = PartOf(mean, kQuery, 0, 1, wild, this->noise_.gen);
    ASSERT_TRUE(part.ok()) << wild;
    reports[0] = *std::move(part);
    const auto released = Opened(mean, kQuery, reports, this->noise_.gen);
    ASSERT_TRUE(released.ok()) << released.status();
    EXPECT_LT(std::abs(released->value().entries[0]), 3) << wild;
    const auto group = GroupOf(mean, kQuery, 0, 1, {{5, wild}, {0, 0}}, this->noise_.gen);
    ASSERT_TRUE(group.ok()) << wild << group.status();
  }
}

TYPED_TEST(DealtTest, AReportIsOfOneCoordinateAndSaysWhat) {
  const auto report = *PartOf(this->mean_, kQuery, 2, 7, 0.5, this->noise_.gen);
  EXPECT_EQ(report.part(), 2);
  EXPECT_EQ(report.clients(), 1);
  EXPECT_EQ(report.size(), 1u);
  EXPECT_EQ(report.bits(), *this->mean_.ReportBits(kQuery, 2));
  EXPECT_EQ(Report().part(), Report::kWhole);
}

TEST(DealtQueryTest, IsAnotherQuestion) {
  MeanQuery whole = kQuery;
  whole.dealt.clear();
  MeanQuery other = kQuery;
  std::swap(other.dealt[0], other.dealt[1]);
  EXPECT_NE(kQuery.bytes(), whole.bytes());
  EXPECT_NE(kQuery.bytes(), other.bytes());
  EXPECT_FALSE(kQuery == other);
  // A number of clients is not confused with a bound.
  const MeanQuery two{.bounds = {{0, 1}, {0, 1}}, .clients = 2, .dealt = {1, 1}};
  const MeanQuery three{.bounds = {{0, 1}, {0, 1}, {0, 1}}, .clients = 2};
  EXPECT_NE(two.bytes(), three.bytes());
}

TEST(DealtQueryTest, ASumIsOfOneDeal) {
  const auto mean = Make<LocalLaplaceMean>(kNominal, Sampler::kExact);
  test::Noise noise(1);
  MeanQuery other = kQuery;
  std::swap(other.dealt[0], other.dealt[2]);
  ReportSum sum;
  ASSERT_TRUE(mean.Add(kQuery, *PartOf(mean, kQuery, 0, 1, 1, noise.gen), sum).ok());
  EXPECT_FALSE(mean.Add(other, *PartOf(mean, other, 0, 2, 1, noise.gen), sum).ok());
  EXPECT_EQ(sum.reports(), 1);
}

// A central report, which its server must protect, cannot be opened through another mechanism.
TEST(DealtQueryTest, APartIsProtectedByItsCollector) {
  const auto central = Make<CentralLaplaceMean>(kNominal, Sampler::kExact);
  const auto local = Make<LocalLaplaceMean>(kNominal, Sampler::kExact);
  test::Noise noise(1);
  ReportSum sum;
  const std::vector<Report> reports = *ReportsOf(central, kQuery, Who::kClients, noise.gen);
  for (const Report& report : reports) {
    ASSERT_TRUE(local.Add(kQuery, report, sum).ok());
  }
  EXPECT_EQ(local.Seal(sum, noise.gen).status().code(), absl::StatusCode::kFailedPrecondition);
}

// --- P2's formulas

TEST(DealtPaperTest, LaplaceNoiseIsForHalfTheRangeAndSaysSo) {
  const auto tight = Make<CentralLaplaceMean>(kNominal, Sampler::kExact);
  const auto paper = Make<CentralLaplaceMean>(kNominal, Sampler::kExact, Calibration::kPaper);
  test::Noise noise(1);
  const auto law = [&](const CentralLaplaceMean& mean) {
    return Opened(mean, kQuery, *ReportsOf(mean, kQuery, Who::kClients, noise.gen), noise.gen)->noise()[0];
  };
  EXPECT_NEAR(law(paper).laplace_scale, 1.0 / 5, 1e-8) << "Lap(1/epsilon) on the sum, over n = 5";
  EXPECT_NEAR(law(tight).laplace_scale, 2.0 / 5, 1e-8);
  EXPECT_EQ(paper.guarantee(), (DpGuarantee{2, 0}));
}

TEST(DealtPaperTest, ShuffleSumsHaveThePublishedConstantsForScalars) {
  const auto paper = Make<ShuffleSumMean>({1, 1e-6}, Sampler::kFast, Calibration::kPaper);
  const MeanQuery query{{{-1, 1}, {-1, 1}}, 2000, {}, {1000, 1000}};
  const auto setting = paper.SettingFor(query, 0);
  ASSERT_TRUE(setting.ok()) << setting.status();
  EXPECT_EQ(setting->levels, 32);  // ceil(sqrt(1000))
  EXPECT_EQ(setting->noise_bits, static_cast<std::int64_t>(std::ceil(180 * 32 * 32 * std::log(2e6) / 1000)));
  EXPECT_LT(setting->delivered.epsilon, 0.15) << "more than was asked for";
  // P2's noise is sub-Gaussian with variance 180 ln(2/delta)/epsilon^2 for a sum of rewards in [-1, 1].
  test::Noise noise(1);
  const auto released = Opened(paper, query, *ReportsOf(paper, query, Who::kGroups, noise.gen), noise.gen);
  ASSERT_TRUE(released.ok()) << released.status();
  const double proxy = 1000 * released->noise()[0].proxy;
  EXPECT_NEAR(proxy * proxy / (180 * std::log(2e6)), 1, 0.01);
  // A query that is not dealt is P1's vector sum, even with one coordinate.
  EXPECT_EQ(paper.SettingFor({{{-1, 1}}, 1000})->p, 0.25);
}

TEST(DealtPaperTest, ShuffledLaplaceSaysWhatItReallyGives) {
  for (const Count clients : {Count{1}, Count{100}, Count{100'000}}) {
    const auto paper =
        *ShuffledLaplaceMean::Create({{1, 1e-6}, Calibration::kPaper, Sampler::kFast, {0, 1}, clients});
    const double epsilon0 = *paper.LocalEpsilon(clients);
    EXPECT_NEAR(paper.claims()[1].guarantee.epsilon, 2 * epsilon0, 1e-9) << "range 2";
    EXPECT_EQ(paper.claims()[0].guarantee, paper.guarantee());
    for (Count n = 1; n <= clients; n = n * 3 + 1) {
      const double really = *NumericalAmplification(2 * *paper.LocalEpsilon(n), n, 1e-6);
      EXPECT_LE(really, paper.guarantee().epsilon * (1 + 1e-8)) << n;
    }
    EXPECT_LE(paper.guarantee().epsilon, 2 * epsilon0 * (1 + 1e-8));
  }
}

// --- shuffling

TEST(DealtShuffleTest, NothingOfTheOrderIsLeft) {
  const auto mean = Make<ShuffledLaplaceMean>(kNominal, Sampler::kExact);
  test::Noise noise(1);
  std::vector<Report> reports = *ReportsOf(mean, kQuery, Who::kClients, noise.gen);
  const auto mixed = *mean.Mix(kQuery, reports);
  std::rotate(reports.begin(), reports.begin() + 11, reports.end());
  std::swap(reports[3], reports[20]);
  const auto again = *mean.Mix(kQuery, reports);
  ASSERT_EQ(mixed.size(), 30u);
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_EQ(mixed[i].part(), again[i].part());
    EXPECT_EQ(Wire::Units(mixed[i]), Wire::Units(again[i]));
    EXPECT_EQ(mixed[i].quorum(), 0);
    if (i == 0) continue;
    EXPECT_LE(std::pair(mixed[i - 1].part(), Wire::Units(mixed[i - 1])),
              std::pair(mixed[i].part(), Wire::Units(mixed[i])));
  }
}

TEST(DealtShuffleTest, APartIsMixedAmongAsManyAsItWasMadeFor) {
  test::Noise noise(1);
  // Both queries have 30 clients; part 0 has 5 in one and 8 in the other.
  MeanQuery other = kQuery;
  std::swap(other.dealt[0], other.dealt[2]);
  const auto sum = Make<ShuffleSumMean>(kNominal, Sampler::kExact);
  std::vector<Report> reports = *ReportsOf(sum, other, Who::kClients, noise.gen);
  ASSERT_TRUE(sum.Mix(other, reports).ok());
  reports[0] = *PartOf(sum, kQuery, 0, 1, 1, noise.gen);
  EXPECT_EQ(sum.Mix(other, reports).status().code(), absl::StatusCode::kFailedPrecondition);
  // An answer to the whole query is not an answer to a part.
  MeanQuery whole = kQuery;
  whole.dealt.clear();
  const auto laplace = Make<ShuffledLaplaceMean>(kNominal, Sampler::kExact);
  std::vector<Report> parts = *ReportsOf(laplace, kQuery, Who::kClients, noise.gen);
  parts[0] = *test::ReportOf(laplace, whole, 1, {0, 0, 0}, noise.gen);
  EXPECT_FALSE(laplace.Mix(kQuery, parts).ok());
  ReportSum into;
  EXPECT_FALSE(laplace.AddMixed(kQuery, {Wire::FromUnits({}, {1, 2, 3})}, into).ok());
  EXPECT_FALSE(laplace.AddMixed(kQuery, {Wire::FromUnits({}, {1}, 0, 0, {}, 3)}, into).ok());
  EXPECT_FALSE(laplace.AddMixed(whole, {Wire::FromUnits({}, {1}, 0, 0, {}, 1)}, into).ok());
  EXPECT_TRUE(laplace.AddMixed(kQuery, {Wire::FromUnits({}, {1}, 0, 0, {}, 1)}, into).ok());
  EXPECT_FALSE(laplace.AddMixed(kQuery, {parts[1]}, into).ok()) << "as a client made it";
}

// A coin rounds each reward inside of the interval, so the sum of the rewards does not determine the law. A
// group must therefore give its rewards by value; a sum of different rewards is refused.
TEST(DealtShuffleTest, AGroupOfAShuffleSumIsGivenByValue) {
  const auto mean = Make<ShuffleSumMean>(kNominal, Sampler::kFast);
  test::Noise noise(1);
  const MeanQuery query{{{-1, 1}}, 600, {}, {600}};
  const auto group = [&](const std::vector<RewardSum>& rewards) {
    return GroupOf(mean, query, 0, 1, rewards, noise.gen);
  };
  EXPECT_EQ(group({{600, 100}}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(group({{600, 600}}).ok()) << "all at one end";
  EXPECT_TRUE(group({{600, -600}}).ok());
  EXPECT_TRUE(group({{1, 0.3}}).ok());
  // A third of the clients has each of three values, and one value is inside of the interval.
  const std::array<double, 3> values = {-1, 0.37, 1};
  std::vector<RewardSum> by_value;
  for (const double value : values) by_value.push_back({200, 200 * value});
  std::vector<double> at_once, one_by_one;
  for (int i = 0; i < 2000; ++i) {
    at_once.push_back(static_cast<double>(Wire::Units(*group(by_value))[0]));
    double sum = 0;
    for (int j = 0; j < 600; ++j) {
      const auto report = PartOf(mean, query, 0, 1, values[static_cast<std::size_t>(j) % 3], noise.gen);
      sum += static_cast<double>(Wire::Units(*report)[0]);
    }
    one_by_one.push_back(sum);
  }
  EXPECT_TRUE(test::SameLaw(at_once, one_by_one));
  const test::Moments a = test::MomentsOf(at_once), b = test::MomentsOf(one_by_one);
  EXPECT_NEAR(a.mean, b.mean, 4 * std::sqrt((a.variance + b.variance) / 2000));
  EXPECT_NEAR(a.variance / b.variance, 1, 5 * std::sqrt(4.0 / 2000));
}

// --- claims

TEST(ClaimTest, OfDealtQueriesAndOfKnownContexts) {
  const auto mean = Make<ShuffledLaplaceMean>(kNominal, Sampler::kExact);
  const auto dealt = DealtClaims(mean);
  const auto joint = AsJoint(dealt);
  ASSERT_EQ(dealt.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(dealt[i].guarantee, mean.claims()[i].guarantee);
    EXPECT_EQ(joint[i].guarantee, mean.claims()[i].guarantee);
    EXPECT_EQ(dealt[i].unit, "one client's one reward");
    EXPECT_EQ(joint[i].unit, "one client's context and reward");
    EXPECT_THAT(joint[i].adversary, ::testing::HasSubstr("This is joint differential privacy"));
    EXPECT_THAT(joint[i].adversary, ::testing::HasSubstr(mean.claims()[i].adversary));
  }
  EXPECT_THAT(dealt[0].adversary, ::testing::HasSubstr("the shuffler's secret"));
  EXPECT_TRUE(DealtClaims(Make<NoPrivacyMean>(kNominal, Sampler::kExact)).empty());
  const auto sum = Make<ShuffleSumMean>(kNominal, Sampler::kExact);
  EXPECT_THAT(DealtClaims(sum)[0].adversary, ::testing::HasSubstr("each coordinate"));
}

}  // namespace
}  // namespace bandana
