#include "bandana/federation/release.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/silo_arm_sums.h"
#include "bandana/privacy/silo_prefix_sum.h"
#include "bandana/privacy/wire.h"
#include "tests/federation/hand_context.h"

// Tests of charges: who is charged, for what, and how often.
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

// A client pays once for a release, no matter how often it is asked for. Another release costs again.
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
  PaysOnce(*ShuffleSumMean::Create(
               {{1, 1e-6}, Calibration::kTight, Sampler::kExact, Transport::kBits, {0, 1}, 1 << 20, 0.1}),
           Topology::ShuffledStar(3));
  PaysOnce(*ShuffledLaplaceMean::Create({{1, 1e-6}, Calibration::kTight, Sampler::kExact, {0, 1}, 3}),
           Topology::ShuffledStar(3));
}

TEST(ReleaseTest, ACentralClientPaysNothingAndItsReportIsToBeProtected) {
  const auto central = *CentralLaplaceMean::Create({1, Calibration::kTight, Sampler::kExact});
  HandContext context(Topology::Star(3), kClient, {0, 0});
  const auto report = Randomized(context, central, 1);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->quorum(), 3);
  // The collector can only read the report with noise that it pays for.
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

// --- a silo that is its own client and analyzer

constexpr NodeId kSilo{2};

struct Silo {
  explicit Silo(DpGuarantee budget)
      : mechanism(*SiloArmSums::Create({1, Calibration::kTight, Sampler::kExact, {0, 1}, 3})),
        stream(mechanism),
        context(Topology::Star(3), kSilo, budget) {}

  absl::StatusOr<Released<ArmSums>> Ask(Epoch epoch, std::int64_t release) {
    return Release::FromSilo(context, mechanism, epoch, ArmQuery{release, {0, 1}}, Raw<ArmStream*>(&stream));
  }
  void Record() {
    const std::vector<RewardSum> rewards = {{2, 1}, {2, 2}};
    const std::vector<Pull> pulls = {{0, 2}, {1, 2}};
    ASSERT_TRUE(mechanism.Record(pulls, Raw<RewardSums>(rewards), stream).ok());
  }

  SiloArmSums mechanism;
  ArmStream stream;
  HandContext context;
};

TEST(SiloReleaseTest, ASiloPaysOnceForItsWholeStream) {
  Silo silo({1, 0});
  silo.Record();
  const auto first = silo.Ask(1, 1);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(silo.context.releases.odometer().spent(), (DpGuarantee{1, 0})) << "not twice";
  const auto again = silo.Ask(1, 1);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->value().units, first->value().units) << "the draw that was made";
  silo.Record();
  ASSERT_TRUE(silo.Ask(2, 2).ok()) << "its first release has paid for all of them";
  EXPECT_EQ(silo.context.releases.odometer().spent(), (DpGuarantee{1, 0}));
}

TEST(SiloReleaseTest, ASiloThatCannotPayReleasesNothing) {
  Silo silo({0.5, 0});
  silo.Record();
  EXPECT_EQ(silo.Ask(1, 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(silo.stream.releases(), 0);
}

// The two steps by themselves, as a client and its analyzer take them.
TEST(SiloReleaseTest, DrawsWhatAClientAndItsAnalyzerDraw) {
  Silo silo({1, 0});
  Silo other({1, 0});
  silo.Record();
  other.Record();
  const ArmQuery query{1, {0, 1}};
  const auto report =
      Release::FromClient(other.context, other.mechanism, 1, query, Raw<ArmStream*>(&other.stream));
  ASSERT_TRUE(report.ok()) << report.status();
  BasicReportSum<ArmQuery> sum;
  ASSERT_TRUE(other.mechanism.Add(query, *report, sum).ok());
  const auto released = Release::FromAnalyzer(other.context, other.mechanism, 1, sum);
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_EQ(silo.Ask(1, 1)->value().units, released->value().units);
}

// --- parts of a dealt query, and groups

const MeanQuery kDealt{.bounds = {{-1, 1}, {-1, 1}}, .clients = 20, .dealt = {8, 12}};

TEST(DealtReleaseTest, AnotherPartIsAnotherDraw) {
  const auto local = *LocalLaplaceMean::Create({1, Calibration::kTight, Sampler::kExact});
  HandContext context(Topology::Star(20), kClient, {3, 0});
  const std::vector<RewardSum> one = {{1, 0.5}};
  const auto part = [&](int index, const MeanQuery& query = kDealt) {
    return Release::PartFromClient(context, local, 1, query, index, Raw<RewardSums>(one));
  };
  const auto first = part(0);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->part(), 0);
  EXPECT_EQ(first->clients(), 1);
  EXPECT_EQ(Wire::Units(*part(0)), Wire::Units(*first));
  EXPECT_EQ(context.releases.odometer().spent(), (DpGuarantee{1, 0})) << "a repetition is free";
  EXPECT_NE(Wire::Units(*part(1)), Wire::Units(*first));
  EXPECT_EQ(part(1)->part(), 1) << "when handed out again too";
  EXPECT_EQ(context.releases.odometer().spent(), (DpGuarantee{2, 0}));
  MeanQuery other = kDealt;
  other.dealt = {12, 8};
  EXPECT_NE(Wire::Units(*part(0, other)), Wire::Units(*first));
  EXPECT_EQ(context.releases.odometer().spent(), (DpGuarantee{3, 0}));
}

TEST(DealtReleaseTest, APartNamesItsQuestionToTheShuffler) {
  const auto shuffled =
      *ShuffledLaplaceMean::Create({{1, 1e-6}, Calibration::kTight, Sampler::kExact, {0, 1}, 100});
  HandContext context(Topology::ShuffledStar(20), kClient);
  const std::vector<RewardSum> one = {{1, 0.5}};
  const auto report = Release::PartFromClient(context, shuffled, 1, kDealt, 1, Raw<RewardSums>(one));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->question(), Release::QuestionOf(kDealt));
  EXPECT_EQ(report->quorum(), 20);
}

TEST(DealtReleaseTest, AGroupPaysForAllItsClients) {
  const auto local = *LocalLaplaceMean::Create({1, Calibration::kTight, Sampler::kFast});
  HandContext context(Topology::Star(20), kServerNode, {1, 0});
  const std::vector<RewardSum> group = {{12, 3}};
  const auto release = [&](NodeId first, Epoch epoch) {
    return Release::FromGroup(context, local, epoch, kDealt, 1, first, Raw<RewardSums>(group));
  };
  const auto report = release(NodeId{5}, 1);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->clients(), 12);
  EXPECT_EQ(report->part(), 1);
  EXPECT_EQ(context.releases.odometer().units(), 12u);
  EXPECT_EQ(Wire::Units(*release(NodeId{5}, 1)), Wire::Units(*report));
  EXPECT_EQ(release(NodeId{16}, 1).status().code(), absl::StatusCode::kResourceExhausted) << "16 has paid";
  EXPECT_TRUE(release(NodeId{17}, 1).ok());
  EXPECT_FALSE(release(kServerNode, 1).ok());
  EXPECT_FALSE(release(NodeId{0xffffffff}, 1).ok());
}

TEST(DealtReleaseTest, TheAnalyzerPaysForGroups) {
  const auto central = *CentralLaplaceMean::Create({1, Calibration::kTight, Sampler::kFast});
  HandContext context(Topology::Star(20), kServerNode, {1, 0});
  const std::vector<RewardSum> eight = {{8, 3}}, twelve = {{12, 3}};
  ReportSum sum;
  for (const auto& [part, first, group] :
       {std::tuple(0, NodeId{13}, eight), std::tuple(1, NodeId{1}, twelve)}) {
    const auto report = Release::FromGroup(context, central, 1, kDealt, part, first, Raw<RewardSums>(group));
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_TRUE(central.Add(kDealt, *report, sum).ok());
  }
  EXPECT_EQ(context.releases.odometer().units(), 0u);
  ASSERT_TRUE(Release::FromAnalyzer(context, central, 1, sum).ok());
  EXPECT_EQ(context.releases.odometer().units(), 20u);
  EXPECT_EQ(context.releases.odometer().spent(), (DpGuarantee{1, 0}));
}

// A group that cannot be drawn at once is not charged; the clients are asked one by one instead.
TEST(DealtReleaseTest, ARefusedGroupPaysNothing) {
  const auto sum = *ShuffleSumMean::Create(
      {{1, 1e-6}, Calibration::kTight, Sampler::kFast, Transport::kBits, {0, 1}, 1 << 20, 0.1});
  HandContext context(Topology::ShuffledStar(20), kServerNode, sum.guarantee());
  const std::vector<RewardSum> inside = {{12, 3}}, ends = {{4, -4}, {8, 8}};
  EXPECT_EQ(
      Release::FromGroup(context, sum, 1, kDealt, 1, NodeId{1}, Raw<RewardSums>(inside)).status().code(),
      absl::StatusCode::kUnimplemented);
  EXPECT_EQ(context.releases.odometer().units(), 0u);
  const auto report = Release::FromGroup(context, sum, 1, kDealt, 1, NodeId{1}, Raw<RewardSums>(ends));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->quorum(), 12) << "its part's clients";
  EXPECT_EQ(report->question(), Release::QuestionOf(kDealt));
  EXPECT_EQ(context.releases.odometer().units(), 12u);
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
    // A retry returns the first draw again, and the same step under another name is refused.
    const auto again = release(t);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(Wire::Units(*again), Wire::Units(*report));
    EXPECT_FALSE(release(100 + t).ok());
    EXPECT_EQ(context.releases.odometer().spent(), mechanism.guarantee()) << t;
  }
  // A second stream costs again, and the budget is for one.
  SiloStream second;
  ASSERT_TRUE(mechanism.Append(Raw<StepRecords>(StepRecords(records)), second).ok());
  EXPECT_EQ(
      Release::FromClient(context, mechanism, 50, StepQuery{1, 1}, Raw<SiloStream*>(&second)).status().code(),
      absl::StatusCode::kResourceExhausted);
}

// Only the first step is charged, so a stream that starts at a later step would be free. It is refused.
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
