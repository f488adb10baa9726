#include "bandana/federation/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "bandana/federation/shuffler.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/wire.h"
#include "tests/federation/hand_context.h"

namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;
using test::HandContext;

std::shared_ptr<const Plan> MakePlan(Epoch epoch, Count clients) {
  return std::make_shared<const Plan>(
      Plan{.epoch = epoch, .pulls = {{0, 1}}, .query = {.bounds = {{-1, 1}}, .clients = clients}});
}

Message ShareOf(std::uint32_t client, Epoch epoch, std::int64_t units) {
  return HandContext::From(NodeId{client}, Share{epoch, 0, Wire::FromUnits(NodeId{client}, {units}, 64, 0)});
}

class CollectorTest : public ::testing::Test {
 protected:
  HandContext context_{Topology::Star(10), kServerNode};
  Collector<NoPrivacyMean> collector_{NoPrivacyMean(Declassify("test"))};
};

TEST_F(CollectorTest, ReleasesWithTheLastAnswerAndNeverBefore) {
  ASSERT_TRUE(collector_.Ask(context_, MakePlan(1, 3), {NodeId{4}, NodeId{2}, NodeId{9}}).ok());
  ASSERT_EQ(context_.sent.size(), 3u);
  EXPECT_EQ(context_.sent[1].first, NodeId{2});
  for (const std::uint32_t client : {9, 4}) {
    const auto taken = collector_.Take(context_, ShareOf(client, 1, 1 << 29));
    ASSERT_TRUE(taken.ok());
    EXPECT_FALSE(taken->has_value());
  }
  const auto last = collector_.Take(context_, ShareOf(2, 1, 1 << 29));
  ASSERT_TRUE(last.ok()) << last.status();
  ASSERT_TRUE(last->has_value());
  EXPECT_EQ((*last)->value().entries[0], 0.5);
}

TEST_F(CollectorTest, DropsRepeatsStrangersAndOtherEpochs) {
  ASSERT_TRUE(collector_.Ask(context_, MakePlan(1, 2), {NodeId{1}, NodeId{2}}).ok());
  const std::vector<Message> idle = {ShareOf(1, 1, 0), ShareOf(1, 1, 5), ShareOf(3, 1, 5), ShareOf(2, 2, 5)};
  for (const Message& message : idle) {
    const auto taken = collector_.Take(context_, message);
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_FALSE(taken->has_value());
  }
  const auto last = collector_.Take(context_, ShareOf(2, 1, 1 << 30));
  ASSERT_TRUE(last.ok() && last->has_value());
  EXPECT_EQ((*last)->value().entries[0], 0.5);
  // The collector is done; this share is late.
  EXPECT_FALSE(collector_.Take(context_, ShareOf(2, 1, 7))->has_value());
  // The next query starts from zero.
  ASSERT_TRUE(collector_.Ask(context_, MakePlan(2, 1), {NodeId{2}}).ok());
  EXPECT_FALSE(collector_.Take(context_, ShareOf(2, 1, 7))->has_value());
  EXPECT_EQ((*collector_.Take(context_, ShareOf(2, 2, 0)))->value().entries[0], 0);
}

TEST_F(CollectorTest, AsksAsManyAsTheQuerySaysEachOnceOrSendsNothing) {
  const std::vector<std::vector<NodeId>> bad = {{},
                                                {NodeId{1}},
                                                {NodeId{1}, NodeId{1}},
                                                {NodeId{1}, NodeId{2}, NodeId{3}},
                                                {NodeId{1}, NodeId{2}, NodeId{2}}};
  for (const std::vector<NodeId>& clients : bad) {
    EXPECT_EQ(collector_.Ask(context_, MakePlan(1, 2), clients).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(context_.sent.empty());
}

TEST_F(CollectorTest, TakesSharesAlone) {
  ASSERT_TRUE(collector_.Ask(context_, MakePlan(1, 1), {NodeId{1}}).ok());
  EXPECT_FALSE(collector_.Take(context_, HandContext::From(NodeId{1}, MakePlan(1, 1))).ok());
  EXPECT_FALSE(collector_.Take(context_, HandContext::From(NodeId{1}, Mixed{1, {}})).ok());
  EXPECT_FALSE(
      collector_.Take(context_, HandContext::From(NodeId{1}, Share{1, 0, Wire::FromUnits(NodeId{1}, {1, 2})}))
          .ok())
      << "two coordinates for one";
}

TEST(CentralCollectorTest, ChargesThoseWhoseReportsAreInTheSum) {
  const auto central = *CentralGaussianMean::Create({{1, 0.1}, Calibration::kTight, Sampler::kExact});
  HandContext context(Topology::Star(10), kServerNode, central.guarantee());
  Collector collector(central);
  for (const Epoch epoch : {1, 2, 3}) {
    // The clients are 1 and 2 in the first epoch, 3 and 4 in the second, and 1 again in the third.
    const std::uint32_t first = epoch == 3 ? 1 : 2 * static_cast<std::uint32_t>(epoch) - 1;
    const std::vector<NodeId> clients = {NodeId{first}, NodeId{epoch == 3 ? 9 : first + 1}};
    ASSERT_TRUE(collector.Ask(context, MakePlan(epoch, 2), clients).ok());
    ASSERT_TRUE(collector.Take(context, ShareOf(clients[0].value, epoch, 0)).ok());
    const auto released = collector.Take(context, ShareOf(clients[1].value, epoch, 0));
    if (epoch < 3) {
      ASSERT_TRUE(released.ok()) << released.status();
      EXPECT_EQ(context.releases.odometer().units(), 2u * static_cast<std::size_t>(epoch));
    } else {
      EXPECT_EQ(released.status().code(), absl::StatusCode::kResourceExhausted);
    }
  }
}

// --- with a shuffler

constexpr Count kClients = 4;

class ShuffledCollectorTest : public ::testing::Test {
 protected:
  Mixed MixedReports(Epoch epoch) {
    std::vector<Report> reports;
    for (std::uint32_t client = 1; client <= kClients; ++client) {
      const std::vector<RewardSum> rewards = {{1, 0.5}};
      const auto report = privatizer_.Randomize(plan_->query, Raw<RewardSums>(rewards), noise_.gen);
      reports.push_back(Wire::FromUnits(NodeId{client}, Wire::Units(*report), 0, report->quorum()));
    }
    return {epoch, *privatizer_.Mix(plan_->query, reports)};
  }

  const ShuffledLaplaceMean privatizer_ =
      *ShuffledLaplaceMean::Create({{1, 1e-6}, Calibration::kTight, Sampler::kExact, {0, 1}, 1000});
  const std::shared_ptr<const Plan> plan_ = MakePlan(1, kClients);
  const std::vector<NodeId> clients_ = {NodeId{1}, NodeId{2}, NodeId{3}, NodeId{4}};
  HandContext context_{Topology::ShuffledStar(10), kServerNode};
  Collector<ShuffledLaplaceMean> collector_{privatizer_};
  test::Noise noise_{1};
};

TEST_F(ShuffledCollectorTest, SendsPlansToClientsAndTheRollToTheShuffler) {
  ASSERT_TRUE(collector_.Ask(context_, plan_, clients_).ok());
  ASSERT_EQ(context_.sent.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(context_.sent[i].first, clients_[i]);
  EXPECT_EQ(context_.sent[4].first, kShufflerNode);
  const auto& mix_request = std::get<std::shared_ptr<const MixRequest>>(context_.sent[4].second);
  EXPECT_EQ(mix_request->clients, clients_);
  EXPECT_EQ(mix_request->query.cohort, CohortOf(clients_)) << "or a draw could be mixed twice";
  EXPECT_EQ(mix_request->query.bounds, plan_->query.bounds);
  EXPECT_EQ(std::get<std::shared_ptr<const Plan>>(context_.sent[0].second)->query, mix_request->query);
}

TEST_F(ShuffledCollectorTest, WithoutAShufflerNothingIsSent) {
  HandContext bare(Topology::Star(10), kServerNode);
  EXPECT_EQ(collector_.Ask(bare, plan_, clients_).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(bare.sent.empty()) << "clients would report to nobody who mixes";
}

TEST_F(ShuffledCollectorTest, TakesWhatItsShufflerMixedAndNothingElse) {
  ASSERT_TRUE(collector_.Ask(context_, plan_, clients_).ok());
  EXPECT_FALSE(collector_.Take(context_, ShareOf(1, 1, 5)).ok()) << "a client's own report";
  EXPECT_FALSE(collector_.Take(context_, HandContext::From(NodeId{2}, MixedReports(1))).ok());
  const auto other = collector_.Take(context_, HandContext::From(kShufflerNode, MixedReports(2)));
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->has_value()) << "of an epoch that nobody waits for";
  const auto released = collector_.Take(context_, HandContext::From(kShufflerNode, MixedReports(1)));
  ASSERT_TRUE(released.ok()) << released.status();
  ASSERT_TRUE(released->has_value());
  const auto again = collector_.Take(context_, HandContext::From(kShufflerNode, MixedReports(1)));
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->has_value());
  EXPECT_EQ(context_.releases.odometer().units(), 0u) << "the clients have paid";
}

TEST_F(ShuffledCollectorTest, ABrokenMixIsAnErrorAndNotARelease) {
  ASSERT_TRUE(collector_.Ask(context_, plan_, clients_).ok());
  Mixed fewer = MixedReports(1);
  fewer.reports.pop_back();
  EXPECT_EQ(collector_.Take(context_, HandContext::From(kShufflerNode, fewer)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace bandana
