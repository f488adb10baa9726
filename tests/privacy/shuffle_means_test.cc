#include "bandana/privacy/shuffle_means.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "bandana/privacy/calibration/amplification.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/privacy_options.h"
#include "tests/privacy/mean_support.h"

// Seeds are fixed. Means may be off by four standard errors, variances by five; laws are compared with the
// Kolmogorov-Smirnov test at 1e-6.
namespace bandana {
namespace {

using test::ClientAverages;
using test::Errors;
using test::kInfinity;
using test::kNan;
using Units = std::vector<std::int64_t>;

constexpr DpGuarantee kNominal{1, 1e-6};
constexpr Count kClients = 40;

struct SumOptions {
  Sampler sampler = Sampler::kExact;
  Calibration calibration = Calibration::kTight;
  Transport transport = Transport::kBits;
  double honest_fraction = 1;
  Count colluding = 0;  // the tests of noise are simpler if everybody hides everybody
};

ShuffleSumMean Sum(DpGuarantee nominal = kNominal, const SumOptions& options = {}) {
  auto made = ShuffleSumMean::Create(
      {.nominal = nominal,
       .calibration = options.calibration,
       .sampler = options.sampler,
       .transport = options.transport,
       .collusion = {.colluding = options.colluding, .honest_fraction = options.honest_fraction},
       .most_clients = 1 << 20,
       .loss = 0.1});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

ShuffledLaplaceMean Amplified(DpGuarantee nominal = kNominal, Sampler sampler = Sampler::kExact,
                              Count colluding = 0) {
  auto made = ShuffledLaplaceMean::Create({.nominal = nominal,
                                           .calibration = Calibration::kTight,
                                           .sampler = sampler,
                                           .collusion = {.colluding = colluding},
                                           .most_clients = 100'000});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

template <class P>
P Made(DpGuarantee nominal = kNominal, Sampler sampler = Sampler::kExact) {
  if constexpr (std::is_same_v<P, ShuffleSumMean>) {
    return Sum(nominal, {.sampler = sampler});
  } else {
    return Amplified(nominal, sampler);
  }
}

const MeanQuery kQuery{{{-1, 1}, {-0.5, 2}, {0.25, 0.25}}, kClients};

ClientAverages Averages() {
  ClientAverages clients;
  for (int i = 0; i < kClients; ++i) clients.push_back({std::sin(i), 0.7 + std::cos(3 * i), 0.25});
  clients[0] = {17, -17, 17};  // this client is clipped
  return clients;
}

template <class P>
class ShuffleMeanTest : public ::testing::Test {
 protected:
  std::vector<Report> Reports(const P& mean, const MeanQuery& query = kQuery) {
    auto reports = test::ReportsOf(mean, query, Averages(), noise_.gen);
    EXPECT_TRUE(reports.ok()) << reports.status();
    return *std::move(reports);
  }
  absl::StatusOr<std::vector<Report>> Mix(const P& mean, std::vector<Report> reports,
                                          const MeanQuery& query = kQuery) {
    return mean.Mix(query, std::move(reports));
  }
  test::Noise noise_{1};
};
using ShuffleMeans = ::testing::Types<ShuffleSumMean, ShuffledLaplaceMean>;
TYPED_TEST_SUITE(ShuffleMeanTest, ShuffleMeans);

TYPED_TEST(ShuffleMeanTest, TheErrorHasTheStatedLaw) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    constexpr int kDraws = 1500;
    const Errors errors = test::DrawErrors(Made<TypeParam>(kNominal, sampler), kQuery, Averages(), 3, kDraws);
    for (std::size_t j = 0; j < 2; ++j) {
      const NoiseLaw& law = errors.laws[j];
      EXPECT_TRUE(test::IsCentred(errors.entries[j], law.stddev()));
      EXPECT_TRUE(test::TailsAreBelow(errors.entries[j], law));
      NoiseLaw understated = law;
      understated.proxy *= 0.5;
      understated.laplace_scale *= 0.5;
      EXPECT_FALSE(test::TailsAreBelow(errors.entries[j], understated)) << "the test sees nothing";
      // The stated variance includes the most that rounding can add, so the measured one may be a little
      // smaller.
      const double ratio = test::MomentsOf(errors.entries[j]).variance / (law.stddev() * law.stddev());
      EXPECT_LE(ratio, 1 + 5 * std::sqrt(2.0 / kDraws));
      EXPECT_GE(ratio, 0.9 - 5 * std::sqrt(2.0 / kDraws));
    }
  }
}

TYPED_TEST(ShuffleMeanTest, ExactAndFastSamplersAgreeInLaw) {
  const Errors exact =
      test::DrawErrors(Made<TypeParam>(kNominal, Sampler::kExact), kQuery, Averages(), 4, 3000);
  const Errors fast =
      test::DrawErrors(Made<TypeParam>(kNominal, Sampler::kFast), kQuery, Averages(), 5, 3000);
  const Errors less = test::DrawErrors(Made<TypeParam>({2, 1e-6}), kQuery, Averages(), 6, 3000);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_TRUE(test::SameLaw(exact.entries[j], fast.entries[j]));
    EXPECT_FALSE(test::SameLaw(exact.entries[j], less.entries[j])) << "the comparison sees nothing";
  }
}

TYPED_TEST(ShuffleMeanTest, AnIntervalOfNoWidthHasNoNoise) {
  const MeanQuery query{{{0.5, 0.5}}, 5};
  const auto released = test::ReleaseMean(Made<TypeParam>(), query,
                                          {{1}, {kNan}, {0.5}, {-kInfinity}, {1e300}}, this->noise_.gen);
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_EQ(released->value().entries[0], 0.5);
  EXPECT_EQ(released->noise()[0].stddev(), 0);
}

TYPED_TEST(ShuffleMeanTest, AReportThatNobodyMixedIsNotAdded) {
  const auto mean = Made<TypeParam>();
  std::vector<Report> reports = this->Reports(mean);
  ReportSum sum;
  for (const Report& report : reports) {
    EXPECT_EQ(mean.Add(kQuery, report, sum).code(), absl::StatusCode::kFailedPrecondition);
    // AddMixed refuses it too, because the client's name, or its quorum, is still on it.
    EXPECT_EQ(mean.AddMixed(kQuery, {report}, sum).code(), absl::StatusCode::kFailedPrecondition);
    const Report nameless = Wire::FromUnits({}, Wire::Units(report), report.bits(), report.quorum());
    EXPECT_EQ(mean.AddMixed(kQuery, {nameless}, sum).code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(mean.AddMixed(kQuery, {Report()}, sum).code(), absl::StatusCode::kInvalidArgument) << "made up";
  EXPECT_EQ(sum.reports(), 0);
  EXPECT_FALSE(mean.Seal(sum, this->noise_.gen).ok());
  const auto mixed = this->Mix(mean, reports);
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  EXPECT_TRUE(mean.AddMixed(kQuery, *mixed, sum).ok());
  EXPECT_TRUE(mean.Seal(sum, this->noise_.gen).ok());
}

// A mechanism that adds no noise of its own does not open a report either.
TYPED_TEST(ShuffleMeanTest, AReportIsNotLetOutThroughAnotherMechanism) {
  const auto local = *LocalLaplaceMean::Create({1, Calibration::kTight, Sampler::kExact});
  const MeanQuery one{kQuery.bounds, 1};
  ReportSum sum;
  ASSERT_TRUE(local.Add(one, this->Reports(Made<TypeParam>())[0], sum).ok());
  EXPECT_EQ(local.Seal(sum, this->noise_.gen).status().code(), absl::StatusCode::kFailedPrecondition);
}

TYPED_TEST(ShuffleMeanTest, NobodyIsMissingOrTwiceInAMix) {
  const auto mean = Made<TypeParam>();
  const std::vector<Report> reports = this->Reports(mean);
  std::vector<Report> fewer(reports.begin(), reports.end() - 1);
  EXPECT_EQ(this->Mix(mean, fewer).status().code(), absl::StatusCode::kFailedPrecondition);
  fewer.push_back(reports[0]);
  EXPECT_EQ(this->Mix(mean, fewer).status().code(), absl::StatusCode::kInvalidArgument);
  fewer.back() = Wire::FromUnits(kServerNode, Wire::Units(reports[0]), 0, kClients);
  EXPECT_EQ(this->Mix(mean, fewer).status().code(), absl::StatusCode::kInvalidArgument) << "of nobody";
  fewer.back() = Wire::FromUnits(NodeId{kClients}, {1, 2}, 0, kClients);
  EXPECT_EQ(this->Mix(mean, fewer).status().code(), absl::StatusCode::kInvalidArgument) << "two coordinates";
  EXPECT_FALSE(this->Mix(mean, {}).ok());
  std::vector<Report> more = reports;
  more.push_back(Wire::FromUnits(NodeId{kClients + 1}, Wire::Units(reports[0]), 0, kClients));
  EXPECT_FALSE(this->Mix(mean, more).ok()) << "more than were asked";
}

// The noise in a report is calibrated for a number of clients. A server that names another number to the
// shuffler gets nothing. With fewer clients there is too little noise; with more, the clip was made for less
// noise.
TYPED_TEST(ShuffleMeanTest, AReportIsMixedAmongAsManyAsItWasMadeFor) {
  const auto mean = Made<TypeParam>();
  for (const Count made_for : {kClients - 1, kClients + 1, 2 * kClients}) {
    std::vector<Report> reports = this->Reports(mean);
    reports[7] = Wire::FromUnits(NodeId{8}, Wire::Units(reports[7]), 0, made_for);
    EXPECT_EQ(this->Mix(mean, reports).status().code(), absl::StatusCode::kFailedPrecondition) << made_for;
  }
  for (const Report& report : this->Reports(mean)) EXPECT_EQ(report.quorum(), kClients);
}

TYPED_TEST(ShuffleMeanTest, NamesAndOrderAreOffAfterMixing) {
  const auto mean = Made<TypeParam>();
  std::vector<Report> reports = this->Reports(mean);
  const auto mixed = this->Mix(mean, reports);
  ASSERT_TRUE(mixed.ok());
  std::vector<Report> other;
  for (std::size_t i = reports.size(); i-- > 0;) {  // the same reports from other clients, in another order
    other.push_back(Wire::FromUnits(NodeId{static_cast<std::uint32_t>(2 * i + 5)}, Wire::Units(reports[i]),
                                    static_cast<Count>(i), kClients));
  }
  const auto again = mean.Mix(kQuery, other);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(mixed->size(), again->size());
  for (std::size_t i = 0; i < mixed->size(); ++i) {
    EXPECT_EQ(Wire::Units((*mixed)[i]), Wire::Units((*again)[i])) << "something of who or when is left";
    EXPECT_EQ((*mixed)[i].bits(), (*again)[i].bits());
    EXPECT_EQ((*mixed)[i].quorum(), 0);
  }
}

TYPED_TEST(ShuffleMeanTest, MixesOfTheWrongShapeAreRefused) {
  const auto mean = Made<TypeParam>();
  const auto mixed = *this->Mix(mean, this->Reports(mean));
  ReportSum sum;
  EXPECT_FALSE(mean.AddMixed(MeanQuery{{{-1, 1}}, kClients}, mixed, sum).ok());
  sum = {};
  EXPECT_TRUE(mean.AddMixed(kQuery, mixed, sum).ok());
  // Adding them twice is refused.
  (void)mean.AddMixed(kQuery, mixed, sum);
  EXPECT_EQ(mean.Seal(sum, this->noise_.gen).status().code(), absl::StatusCode::kFailedPrecondition);
  sum = {};
  EXPECT_FALSE(mean.AddMixed(kQuery, {}, sum).ok() && mean.Seal(sum, this->noise_.gen).ok());
}

TYPED_TEST(ShuffleMeanTest, QueriesThatMeanNothingAreErrorsWhateverTheData) {
  const auto mean = Made<TypeParam>();
  for (const MeanQuery& query : {MeanQuery{{{-kInfinity, 1}}, 5},
                                 {{{0, kNan}}, 5},
                                 {{{1, 0}}, 5},
                                 {{{-1e308, 1e308}}, 5},
                                 {{{0, 1}}, 0},
                                 {{{0, 1}}, -3}}) {
    for (const double reward : {0.0, 1e308, kNan}) {
      EXPECT_FALSE(test::ReportOf(mean, query, 1, {reward}, this->noise_.gen).ok());
    }
  }
}

TYPED_TEST(ShuffleMeanTest, NoiseThatGoesToNothingLeavesTheMeans) {
  const auto mean = Made<TypeParam>({100, 0.1});
  const Errors errors = test::DrawErrors(mean, kQuery, Averages(), 8, 1);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_LT(errors.laws[j].stddev(), 0.2);
    EXPECT_LT(std::abs(errors.entries[j][0]), 5 * errors.laws[j].stddev() + 1e-9);
  }
}

// --- sums of bits

TEST(ShuffleSumMeanTest, ClaimsWhatItIsAskedForAgainstEachAdversary) {
  const auto bits = Sum(kNominal, {.honest_fraction = 0.75, .colluding = 1}).claims();
  ASSERT_EQ(bits.size(), 2u);
  EXPECT_EQ(bits[0].guarantee, kNominal);
  EXPECT_THAT(bits[0].adversary,
              ::testing::HasSubstr("25 % of them if that is more, work with the adversary"));
  EXPECT_EQ(bits[1].guarantee, kNominal) << "queries follow from earlier releases";
  EXPECT_THAT(bits[1].adversary, ::testing::HasSubstr("shuffler"));
  const auto counts = Sum(kNominal, {.transport = Transport::kCounts}).claims();
  ASSERT_EQ(counts.size(), 1u) << "the shuffler is trusted: no claim against it";
  EXPECT_THAT(counts[0].adversary, ::testing::HasSubstr("trusted with the counts"));
}

TEST(ShuffleSumMeanTest, EveryQuerysSettingDeliversTheClaim) {
  for (const Calibration calibration : {Calibration::kTight, Calibration::kPaper}) {
    const auto mean = Sum(kNominal, {.calibration = calibration});
    for (const Count clients : {1, 2, 7, 100, 5000}) {
      for (const std::size_t size : {1, 6}) {
        const auto setting = mean.SettingFor({std::vector<Interval>(size, {-1, 1}), clients});
        ASSERT_TRUE(setting.ok()) << setting.status();
        EXPECT_LE(setting->delivered.epsilon, kNominal.epsilon);
        EXPECT_LE(setting->delivered.delta, kNominal.delta);
        EXPECT_TRUE(setting->p == 0.5 || setting->p == 0.25) << "the exact sampler has these two";
      }
    }
  }
}

TEST(ShuffleSumMeanTest, DishonestClientsCostTheOthersNoise) {
  const auto all = Sum().SettingFor(kQuery);
  const auto half = Sum(kNominal, {.honest_fraction = 0.5}).SettingFor(kQuery);
  ASSERT_TRUE(all.ok() && half.ok());
  EXPECT_GT(half->stddev, 1.3 * all->stddev);
}

TEST(ShuffleSumMeanTest, BadParametersAreRefusedByName) {
  const auto key = [](ShuffleSumMeanParams params) {
    const auto made = ShuffleSumMean::Create(params);
    return made.ok() ? "accepted" : InputErrorOf(made.status()).value_or(InputError{}).key;
  };
  const ShuffleSumMeanParams good{
      kNominal, Calibration::kTight, Sampler::kExact, Transport::kBits, {0, 1}, 1 << 20, 0.1};
  EXPECT_EQ(key(good), "accepted");
  for (const double bad : {0.0, -1.0, kNan, kInfinity}) {
    ShuffleSumMeanParams params = good;
    params.nominal.epsilon = bad;
    EXPECT_EQ(key(params), "epsilon") << bad;
    params = good;
    params.nominal.delta = bad;
    EXPECT_EQ(key(params), "delta") << bad;
    params = good;
    params.collusion.honest_fraction = bad;
    EXPECT_EQ(key(params), "honest_fraction") << bad;
  }
}

TEST(ShuffleSumMeanTest, BitsOnTheWireAreThoseOfTheTransport) {
  const auto setting = *Sum().SettingFor(kQuery);
  const Count ones = setting.levels + setting.noise_bits;
  EXPECT_EQ(*Sum().ReportBits(kQuery), 3 * ones);
  const Count counts = *Sum(kNominal, {.transport = Transport::kCounts}).ReportBits(kQuery);
  EXPECT_EQ(counts, 3 * static_cast<Count>(std::ceil(std::log2(ones + 1))));
  test::Noise noise(1);
  EXPECT_EQ(test::ReportOf(Sum(), kQuery, 1, {0, 0, 0}, noise.gen)->bits(), 3 * ones);
}

TEST(ShuffleSumMeanTest, NoRewardMovesACountOutsideItsRange) {
  const auto mean = Sum({100, 0.1});
  const auto setting = *mean.SettingFor(kQuery);
  test::Noise noise(2);
  for (const double wild : test::kWild) {
    for (int i = 0; i < 50; ++i) {
      const auto report = test::ReportOf(mean, kQuery, 1, {wild, wild, wild}, noise.gen);
      ASSERT_TRUE(report.ok()) << wild;
      for (const std::int64_t count : Wire::Units(*report)) {
        EXPECT_GE(count, 0) << wild;
        EXPECT_LE(count, setting.levels + setting.noise_bits) << wild;
      }
    }
  }
}

// Whatever a client sends, it counts as one client.
TEST(ShuffleSumMeanTest, AClientThatLiesMovesTheTotalByItsRangeAtMost) {
  const auto mean = Sum();
  const auto setting = *mean.SettingFor(kQuery);
  test::Noise noise(3);
  std::vector<Report> reports = *test::ReportsOf(mean, kQuery, Averages(), noise.gen);
  const Units honest = Wire::Units(mean.Mix(kQuery, reports)->front());
  const std::int64_t most = setting.levels + setting.noise_bits;
  for (const std::int64_t lie : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), most + 1,
                                 std::numeric_limits<std::int64_t>::max()}) {
    const Units before = Wire::Units(reports[4]);
    std::vector<Report> lied = reports;
    lied[4] = Wire::FromUnits(NodeId{5}, Units(3, lie), 0, kClients);
    const auto mixed = mean.Mix(kQuery, lied);
    ASSERT_TRUE(mixed.ok()) << mixed.status();
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(Wire::Units(mixed->front())[j], honest[j] - before[j] + (lie < 0 ? 0 : most));
    }
  }
}

// Compares one client's counts with the law that the proof assumes: levels by randomised rounding, plus
// Bin(b, p).
TEST(ShuffleSumMeanTest, AReportIsRoundedLevelsPlusBinomialNoise) {
  for (const Sampler sampler : {Sampler::kExact, Sampler::kFast}) {
    const auto mean = Sum(kNominal, {.sampler = sampler});
    const MeanQuery query{{{-1, 1}}, kClients};
    const auto setting = *mean.SettingFor(query);
    ASSERT_EQ(setting.p, 0.5);
    const double share = 0.37;
    const double place = static_cast<double>(setting.levels) * share;
    const auto bits = static_cast<std::size_t>(setting.noise_bits);
    std::vector<double> masses(static_cast<std::size_t>(setting.levels) + bits + 1);
    for (std::size_t k = 0; k <= bits; ++k) {
      const auto n = static_cast<double>(bits);
      const auto x = static_cast<double>(k);
      const double mass =
          std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) - n * std::log(2));
      const auto below = static_cast<std::size_t>(place);
      masses[below + k] += mass * (1 - (place - std::floor(place)));
      masses[below + 1 + k] += mass * (place - std::floor(place));
    }
    std::vector<double> counts(masses.size());
    test::Noise noise(4);
    for (int i = 0; i < 20'000; ++i) {
      const auto report = test::ReportOf(mean, query, 1, {2 * share - 1}, noise.gen);
      ++counts[static_cast<std::size_t>(Wire::Units(*report)[0])];
    }
    EXPECT_TRUE(test::FitsMasses(counts, masses));
  }
}

// --- amplification

TEST(ShuffledLaplaceMeanTest, ClaimsTheServersAndTheShufflersGuarantee) {
  const auto mean = Amplified();
  const auto claims = mean.claims();
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].guarantee, kNominal);
  EXPECT_EQ(claims[1].guarantee.delta, 0);
  EXPECT_GT(claims[1].guarantee.epsilon, kNominal.epsilon);
  for (const Count clients : {1, 2, 100, 10'000, 99'999, 100'000}) {
    EXPECT_LE(*mean.LocalEpsilon(clients), claims[1].guarantee.epsilon) << clients;
  }
}

TEST(ShuffledLaplaceMeanTest, LocalNoiseShrinksAsClientsGrow) {
  const auto mean = Amplified();
  double last = kNominal.epsilon;
  for (const Count clients : {1, 10, 100, 1000, 10'000, 100'000}) {
    const double epsilon0 = *mean.LocalEpsilon(clients);
    EXPECT_GE(epsilon0, last) << clients;
    EXPECT_LE(*NumericalAmplification(epsilon0, clients, kNominal.delta), kNominal.epsilon * (1 + 1e-8));
    last = epsilon0;
  }
  EXPECT_GT(last, 3 * kNominal.epsilon);
  EXPECT_EQ(mean.LocalEpsilon(100'001).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(mean.LocalEpsilon(0).ok());
  EXPECT_FALSE(ShuffledLaplaceMean::Create({kNominal, Calibration::kTight, Sampler::kExact, {0, 1}, 0}).ok());
  for (const double fraction : {0.0, -1.0, 1.1, std::nan("")}) {
    EXPECT_FALSE(
        ShuffledLaplaceMean::Create({kNominal, Calibration::kTight, Sampler::kExact, {0, fraction}, 1000})
            .ok())
        << fraction;
  }
}

// A client that works with the adversary removes its report, and the others hide each other without it.
TEST(ShuffledLaplaceMeanTest, HidesAClientAmongThoseWhoDoNotCollude) {
  const auto mean = Amplified(kNominal, Sampler::kExact, 1);
  const auto two = Amplified(kNominal, Sampler::kExact, 2);
  for (const Count clients : {2, 100, 2000}) {
    EXPECT_EQ(*mean.LocalEpsilon(clients), LargestLocalEpsilon(kNominal, clients - 1)->epsilon0) << clients;
  }
  EXPECT_EQ(*two.LocalEpsilon(2000), LargestLocalEpsilon(kNominal, 1998)->epsilon0);
  EXPECT_LT(*mean.LocalEpsilon(2000), *Amplified().LocalEpsilon(2000));
}

TEST(ShuffleMeansTest, SomebodyAlwaysWorksWithTheAdversary) {
  Privacy privacy{.model = TrustModel::kShuffle, .epsilon = 1, .delta = 1e-6};
  EXPECT_TRUE(CheckPrivacy(privacy, MeanModels()).ok());
  privacy.colluding = 0;
  EXPECT_EQ(InputErrorOf(CheckPrivacy(privacy, MeanModels()))->key, "colluding");
}

TEST(ShuffledLaplaceMeanTest, TheNoiseIsTheLocalEpsilons) {
  const auto mean = Amplified();
  test::Noise noise(5);
  const auto released = test::ReleaseMean(mean, kQuery, Averages(), noise.gen);
  ASSERT_TRUE(released.ok());
  const double epsilon0 = *mean.LocalEpsilon(kClients);
  EXPECT_NEAR(released->noise()[0].laplace_scale * kClients, (2 + 2.5) / epsilon0, 1e-6);
  EXPECT_EQ(released->noise()[0].laplace_terms, kClients);
}

TEST(ShuffledLaplaceMeanTest, MixedReportsAreSortedAndWhole) {
  const auto mean = Amplified();
  test::Noise noise(6);
  const std::vector<Report> reports = *test::ReportsOf(mean, kQuery, Averages(), noise.gen);
  std::vector<Units> sent, mixed;
  for (const Report& report : reports) sent.push_back(Wire::Units(report));
  const std::vector<Report> made = *mean.Mix(kQuery, reports);
  for (const Report& report : made) mixed.push_back(Wire::Units(report));
  EXPECT_FALSE(std::is_sorted(sent.begin(), sent.end()));
  std::sort(sent.begin(), sent.end());
  EXPECT_EQ(mixed, sent);
}

}  // namespace
}  // namespace bandana
