#include "bandana/federation/release.h"

#include <gtest/gtest.h>

#include <vector>

#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/silo_prefix_sum.h"
#include "bandana/privacy/wire.h"
#include "tests/federation/hand_context.h"

// Who is charged, for what, and how often.
namespace bandana {
namespace {

using test::HandContext;

constexpr NodeId kClient{1};
const MeanQuery kQuery{{{-1, 1}}, 3};

template <class P>
absl::StatusOr<Report> Randomized(HandContext& context, const P& privatizer, Epoch epoch) {
  const std::vector<RewardSum> rewards = {{1, 0.5}};
  return Release::FromClient(context, privatizer, epoch, kQuery, Raw<RewardSums>(rewards));
}

// A client pays once for a release however often it is asked for, and another is another.
template <class P>
void PaysOnce(const P& privatizer, const Topology& topology) {
  HandContext context(topology, kClient, privatizer.guarantee());
  const auto report = Randomized(context, privatizer, 1);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(context.releases.odometer().spent(), privatizer.guarantee());
  const auto again = Randomized(context, privatizer, 1);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(Wire::Units(*again), Wire::Units(*report));
  EXPECT_EQ(again->quorum(), report->quorum());
  EXPECT_EQ(context.releases.odometer().spent(), privatizer.guarantee());
  EXPECT_EQ(Randomized(context, privatizer, 2).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ReleaseTest, AClientPaysForItsOwnNoise) {
  PaysOnce(*LocalLaplaceMean::Create({1, Calibration::kTight, Sampler::kExact}), Topology::Star(3));
  PaysOnce(*LocalLaplaceMean::Create({1, Calibration::kPaper, Sampler::kExact}), Topology::Star(3));
  PaysOnce(
      *ShuffleSumMean::Create({{1, 1e-6}, Calibration::kTight, Sampler::kExact, Transport::kBits, 1, 0.1}),
      Topology::ShuffledStar(3));
  PaysOnce(*ShuffledLaplaceMean::Create({{1, 1e-6}, Calibration::kTight, Sampler::kExact, 1, 3}),
           Topology::ShuffledStar(3));
}

TEST(ReleaseTest, ACentralClientPaysNothingAndItsReportIsToBeProtected) {
  const auto central = *CentralLaplaceMean::Create({1, Calibration::kTight, Sampler::kExact});
  HandContext context(Topology::Star(3), kClient, {0, 0});
  const auto report = Randomized(context, central, 1);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->quorum(), 3);
  // Its collector cannot get at it but by the noise it pays for.
  HandContext server(Topology::Star(3), kServerNode, {0, 0});
  const MeanQuery one{kQuery.bounds, 1};
  const auto local = *LocalLaplaceMean::Create({1, Calibration::kTight, Sampler::kExact});
  ReportSum bare, noisy;
  ASSERT_TRUE(local.Add(one, *report, bare).ok());
  EXPECT_FALSE(Release::FromAnalyzer(server, local, 1, bare).ok()) << "a client's average in the clear";
  ASSERT_TRUE(central.Add(one, *report, noisy).ok());
  EXPECT_FALSE(Release::FromAnalyzer(server, local, 2, noisy).ok());
  EXPECT_EQ(Release::FromAnalyzer(server, central, 3, noisy).status().code(),
            absl::StatusCode::kResourceExhausted);
}

class SiloReleaseTest : public ::testing::TestWithParam<PrefixSumMechanism> {};
INSTANTIATE_TEST_SUITE_P(All, SiloReleaseTest,
                         ::testing::Values(PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker,
                                           PrefixSumMechanism::kToeplitz),
                         [](const auto& param_info) { return std::string(NameOf(param_info.param)); });

TEST_P(SiloReleaseTest, AStreamIsChargedOnceWithItsFirstStep) {
  const SiloPrefixSum mechanism = *SiloPrefixSum::Create(
      {{1, 1e-6}, Calibration::kTight, Sampler::kExact, GetParam(), /*steps=*/5, /*dimension=*/2, 1});
  HandContext context(Topology::Star(1), kClient, mechanism.guarantee());
  const std::vector<std::vector<double>> records = {{1, 0}};
  SiloStream stream;
  for (Epoch t = 1; t <= 5; ++t) {
    ASSERT_TRUE(mechanism.Append(Raw<StepRecords>(StepRecords(records)), stream).ok());
    const StepQuery query{t, 1};
    const auto release = [&](Epoch epoch) {
      return Release::FromClient(context, mechanism, epoch, query, Raw<SiloStream*>(&stream));
    };
    const auto report = release(t);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(context.releases.odometer().spent(), mechanism.guarantee()) << t;
    // A retry has the first draw again, and another name for the same step has none.
    const auto again = release(t);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(Wire::Units(*again), Wire::Units(*report));
    EXPECT_FALSE(release(100 + t).ok());
    EXPECT_EQ(context.releases.odometer().spent(), mechanism.guarantee()) << t;
  }
  // A second stream is paid for again, and the budget is for one.
  SiloStream second;
  ASSERT_TRUE(mechanism.Append(Raw<StepRecords>(StepRecords(records)), second).ok());
  EXPECT_EQ(
      Release::FromClient(context, mechanism, 50, StepQuery{1, 1}, Raw<SiloStream*>(&second)).status().code(),
      absl::StatusCode::kResourceExhausted);
}

// What begins later would be free: it is refused.
TEST_P(SiloReleaseTest, NothingIsFreeBeforeTheFirstStep) {
  const SiloPrefixSum mechanism = *SiloPrefixSum::Create(
      {{1, 1e-6}, Calibration::kTight, Sampler::kExact, GetParam(), /*steps=*/5, /*dimension=*/2, 1});
  HandContext context(Topology::Star(1), kClient, {0, 0});
  const std::vector<std::vector<double>> records = {{1, 0}};
  SiloStream stream;
  for (int t = 1; t <= 3; ++t) {
    ASSERT_TRUE(mechanism.Append(Raw<StepRecords>(StepRecords(records)), stream).ok());
    EXPECT_FALSE(Release::FromClient(context, mechanism, t, StepQuery{t, 1}, Raw<SiloStream*>(&stream)).ok());
  }
}

}  // namespace
}  // namespace bandana
