#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bandana/federation/collector.h"
#include "bandana/federation/shuffler.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/wire.h"
#include "tests/federation/hand_context.h"

// Tests of dealt rounds, one per client. The server deals them, or a shuffler does so in secret. Seeds are
// fixed.
namespace bandana {
namespace {

using test::HandContext;

// Clients 11 to 15: two answer the first coordinate, three the second.
constexpr NodeId kFirst{11};
constexpr Count kClients = 5;

std::shared_ptr<const Plan> DealtPlan(Epoch epoch, std::string cohort = {}) {
  return std::make_shared<const Plan>(Plan{
      .epoch = epoch,
      .pulls = {{4, 2}, {7, 3}},
      .query = {
          .bounds = {{-1, 1}, {-1, 1}}, .clients = kClients, .cohort = std::move(cohort), .dealt = {2, 3}}});
}

// --- AssignedParts

Report Part(int part, Count clients = 1) { return Wire::FromUnits(NodeId{1}, {1}, 0, 0, {}, part, clients); }

TEST(AssignedPartsTest, TakesEachClientsOwnPartOnce) {
  const std::vector<Count> dealt = {2, 3};
  AssignedParts parts(dealt, kFirst);
  EXPECT_FALSE(parts.Take(NodeId{10}, Part(0))) << "nobody's";
  EXPECT_FALSE(parts.Take(NodeId{16}, Part(1)));
  EXPECT_FALSE(parts.Take(NodeId{11}, Part(1))) << "another's part";
  EXPECT_FALSE(parts.Take(NodeId{13}, Part(0)));
  EXPECT_FALSE(parts.Take(NodeId{11}, Part(Report::kWhole)));
  for (const std::uint32_t client : {12, 11, 15, 13, 14}) {
    EXPECT_TRUE(parts.Take(NodeId{client}, Part(client < 13 ? 0 : 1))) << client;
    EXPECT_FALSE(parts.Take(NodeId{client}, Part(client < 13 ? 0 : 1))) << "a repeat";
  }
  EXPECT_FALSE(AssignedParts().Take(NodeId{1}, Part(0))) << "nothing was dealt";
}

TEST(AssignedPartsTest, AGroupIsOfOnePartAndOfThoseWhoHaveNotAnswered) {
  const std::vector<Count> dealt = {2, 3};
  AssignedParts parts(dealt, kFirst);
  EXPECT_FALSE(parts.Take(NodeId{11}, Part(0, 3))) << "beyond its part";
  EXPECT_FALSE(parts.Take(NodeId{14}, Part(1, 3)));
  EXPECT_FALSE(parts.Take(NodeId{11}, Part(0, 0)));
  EXPECT_TRUE(parts.Take(NodeId{11}, Part(0, 2)));
  EXPECT_FALSE(parts.Take(NodeId{12}, Part(0))) << "one of the group";
  EXPECT_TRUE(parts.Take(NodeId{15}, Part(1)));
  EXPECT_FALSE(parts.Take(NodeId{13}, Part(1, 3))) << "one of them has answered";
  EXPECT_TRUE(parts.Take(NodeId{13}, Part(1, 2)));
}

TEST(AssignedPartsTest, FollowsTheOrderOfTheDeal) {
  const std::vector<Count> dealt = {2, 3};
  const std::vector<std::uint32_t> order = {4, 1, 0, 2, 3};  // clients 15 and 12 have the first part
  AssignedParts parts(dealt, kFirst);
  parts.Permute(order);
  EXPECT_FALSE(parts.Take(NodeId{11}, Part(0)));
  EXPECT_FALSE(parts.Take(NodeId{12}, Part(1)));
  EXPECT_FALSE(parts.Take(NodeId{13}, Part(1, 2))) << "a group in a secret order";
  for (const std::uint32_t client : {11, 13, 14}) EXPECT_TRUE(parts.Take(NodeId{client}, Part(1)));
  for (const std::uint32_t client : {12, 15}) EXPECT_TRUE(parts.Take(NodeId{client}, Part(0)));
}

// --- a server deals

class DealtCollectorTest : public ::testing::Test {
 protected:
  Message Answer(std::uint32_t client, int part, std::int64_t units = 1 << 28, Epoch epoch = 1) {
    return HandContext::From(NodeId{client},
                             Share{epoch, 0, Wire::FromUnits(NodeId{client}, {units}, 64, 0, {}, part)});
  }
  void ExpectIdle(const Message& message) {
    const auto taken = collector_.Take(context_, message);
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_FALSE(taken->has_value());
  }

  HandContext context_{Topology::Star(100), kServerNode};
  Collector<NoPrivacyMean> collector_{NoPrivacyMean(Declassify("test"))};
};

TEST_F(DealtCollectorTest, EachClientGetsOneTaskInOrderOfTheParts) {
  ASSERT_TRUE(collector_.Deal(context_, DealtPlan(1), kFirst).ok());
  ASSERT_EQ(context_.sent.size(), 5u);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(context_.sent[i].first, NodeId{11 + i});
    const Task& task = std::get<Task>(context_.sent[i].second);
    EXPECT_EQ(task.part, i < 2 ? 0 : 1);
    EXPECT_EQ(task.clients, 1);
    EXPECT_EQ(task.plan->query.dealt, (std::vector<Count>{2, 3}));
  }
}

TEST_F(DealtCollectorTest, DropsRepeatsStrangersAndPartsThatWereNotDealt) {
  ASSERT_TRUE(collector_.Deal(context_, DealtPlan(1), kFirst).ok());
  ExpectIdle(Answer(11, 1, 999));  // not its part; it can still answer its own
  ExpectIdle(Answer(10, 0, 999));
  ExpectIdle(Answer(16, 1, 999));
  ExpectIdle(Answer(11, 0, 999, 2));
  ExpectIdle(Answer(11, 0));
  ExpectIdle(Answer(11, 0, 999));
  ExpectIdle(Answer(15, 1));
  ExpectIdle(Answer(14, 1));
  ExpectIdle(Answer(14, 0, 999));
  ExpectIdle(Answer(12, 0));
  const auto last = collector_.Take(context_, Answer(13, 1));
  ASSERT_TRUE(last.ok() && last->has_value()) << last.status();
  EXPECT_THAT((*last)->value().entries, ::testing::ElementsAre(0.25, 0.25)) << "something else is in it";
  ExpectIdle(Answer(13, 1));
  // The next deal is to other clients.
  ASSERT_TRUE(collector_.Deal(context_, DealtPlan(2), NodeId{16}).ok());
  ExpectIdle(Answer(11, 0, 999, 2));
  for (const std::uint32_t client : {16, 17, 18, 19}) {
    ExpectIdle(Answer(client, client < 18 ? 0 : 1, 1 << 29, 2));
  }
  const auto next = collector_.Take(context_, Answer(20, 1, 1 << 29, 2));
  ASSERT_TRUE(next.ok() && next->has_value());
  EXPECT_THAT((*next)->value().entries, ::testing::ElementsAre(0.5, 0.5));
}

// --- a shuffler deals

template <class P>
P Made();
template <>
ShuffleSumMean Made<ShuffleSumMean>() {
  return *ShuffleSumMean::Create(
      {{1, 1e-6}, Calibration::kTight, Sampler::kExact, Transport::kCounts, {0, 1}, 1 << 20, 0.1});
}
template <>
ShuffledLaplaceMean Made<ShuffledLaplaceMean>() {
  return *ShuffledLaplaceMean::Create({{1, 1e-6}, Calibration::kTight, Sampler::kExact, {0, 1}, 1000});
}

template <class P>
class DealingShufflerTest : public ::testing::Test {
 protected:
  using Units = std::vector<std::int64_t>;

  absl::Status Deal(Epoch epoch, NodeId first = kFirst, NodeId from = kServerNode, Count cohort = kClients) {
    const auto plan = DealtPlan(epoch, CohortOf(kFirst, cohort));
    return shuffler_.OnMessage(context_, HandContext::From(from, bandana::Deal{plan, first}));
  }

  // Returns which part each client was dealt, and checks that each has exactly one task.
  std::map<NodeId, int> Tasks() const {
    std::map<NodeId, int> parts;
    for (const auto& [to, payload] : context_.sent) {
      if (const auto* task = std::get_if<Task>(&payload)) {
        EXPECT_TRUE(parts.emplace(to, task->part).second) << to.value << " has two tasks";
        EXPECT_EQ(task->clients, 1);
      }
    }
    return parts;
  }

  absl::Status Answer(NodeId client, int part, std::int64_t units = 3, Epoch epoch = 1) {
    const MeanQuery query = DealtPlan(epoch, CohortOf(kFirst, kClients))->query;
    const Count quorum = std::is_same_v<P, ShuffleSumMean> ? query.dealt[static_cast<std::size_t>(part)] : 5;
    const Report report = Wire::FromUnits(client, {units}, 0, quorum, Release::QuestionOf(query), part, 1);
    return shuffler_.OnMessage(context_, HandContext::From(client, Share{epoch, 0, report}));
  }

  const Mixed* MixedSent() const {
    return context_.sent.empty() ? nullptr : std::get_if<Mixed>(&context_.sent.back().second);
  }

  P privatizer_ = Made<P>();
  HandContext context_{Topology::ShuffledStar(100), kShufflerNode};
  Shuffler<P> shuffler_{privatizer_};
};
using ShuffleMeans = ::testing::Types<ShuffleSumMean, ShuffledLaplaceMean>;
TYPED_TEST_SUITE(DealingShufflerTest, ShuffleMeans);

TYPED_TEST(DealingShufflerTest, EachClientIsDealtOnePart) {
  ASSERT_TRUE(this->Deal(1).ok());
  EXPECT_FALSE(this->shuffler_.finished());
  const auto tasks = this->Tasks();
  ASSERT_EQ(tasks.size(), 5u);
  EXPECT_EQ(tasks.begin()->first, kFirst);
  EXPECT_EQ(tasks.rbegin()->first, NodeId{15});
  int first_part = 0;
  for (const auto& [client, part] : tasks) first_part += part == 0;
  EXPECT_EQ(first_part, 2);
}

// All 10 ways to choose two of five clients for the first part are equally likely: chi-square at 1e-6.
TYPED_TEST(DealingShufflerTest, NobodyCanTellWhoHasWhich) {
  constexpr int kDeals = 2000;
  std::map<std::vector<std::uint32_t>, double> seen;
  for (Epoch epoch = 1; epoch <= kDeals; ++epoch) {
    Shuffler<TypeParam> shuffler(this->privatizer_);
    this->context_.sent.clear();
    ASSERT_TRUE(shuffler
                    .OnMessage(this->context_,
                               HandContext::From(
                                   kServerNode, bandana::Deal{DealtPlan(epoch, CohortOf(kFirst, 5)), kFirst}))
                    .ok());
    std::vector<std::uint32_t> firsts;
    for (const auto& [client, part] : this->Tasks()) {
      if (part == 0) firsts.push_back(client.value);
    }
    seen[firsts] += 1;
  }
  ASSERT_EQ(seen.size(), 10u);
  std::vector<double> counts;
  for (const auto& [who, count] : seen) counts.push_back(count);
  EXPECT_TRUE(test::FitsCounts(counts, std::vector<double>(10, kDeals / 10.)));
}

TYPED_TEST(DealingShufflerTest, MixesWhenAllAreInAndNeverBefore) {
  ASSERT_TRUE(this->Deal(1).ok());
  const auto tasks = this->Tasks();
  std::size_t answers = 0;
  for (const auto& [client, part] : tasks) {
    EXPECT_EQ(this->MixedSent(), nullptr) << answers << " answers";
    ASSERT_TRUE(this->Answer(client, 1 - part, 99).ok()) << "not its part";
    ASSERT_TRUE(this->Answer(NodeId{77}, part, 99).ok()) << "a stranger";
    ASSERT_TRUE(this->Answer(client, part, 3).ok());
    ++answers;
    if (answers < 5) {
      ASSERT_TRUE(this->Answer(client, part, 99).ok()) << "a repeat";
    }
  }
  ASSERT_NE(this->MixedSent(), nullptr);
  EXPECT_EQ(this->MixedSent()->epoch, 1);
  EXPECT_TRUE(this->shuffler_.finished());
  ReportSum sum;
  MeanQuery query = DealtPlan(1, CohortOf(kFirst, kClients))->query;
  ASSERT_TRUE(this->privatizer_.AddMixed(query, this->MixedSent()->reports, sum).ok());
  // The reports are five threes and nothing else: two in the first coordinate, three in the second.
  std::vector<std::int64_t> totals(2);
  for (const Report& report : this->MixedSent()->reports) {
    const std::vector<std::int64_t>& units = Wire::Units(report);
    if (report.part() == Report::kWhole) {
      for (std::size_t i = 0; i < units.size(); ++i) totals[i] += units[i];
    } else {
      totals[static_cast<std::size_t>(report.part())] += units[0];
    }
  }
  EXPECT_THAT(totals, ::testing::ElementsAre(6, 9));
  // The epoch is over: neither an answer nor another deal changes anything.
  const std::size_t sent = this->context_.sent.size();
  ASSERT_TRUE(this->Answer(kFirst, tasks.begin()->second).ok());
  ASSERT_TRUE(this->Deal(1).ok());
  EXPECT_EQ(this->context_.sent.size(), sent);
}

TYPED_TEST(DealingShufflerTest, RefusesWhatIsNotItsServersDealToTheCohortOfTheQuery) {
  EXPECT_EQ(this->Deal(1, kFirst, NodeId{12}).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(this->Deal(1, NodeId{12}).code(), absl::StatusCode::kInvalidArgument) << "to others";
  EXPECT_EQ(this->Deal(1, kFirst, kServerNode, 6).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(this->context_.sent.empty());
  EXPECT_TRUE(this->shuffler_.finished());
  EXPECT_TRUE(this->Deal(1).ok());
}

TYPED_TEST(DealingShufflerTest, ADealThatIsOutIsNotDealtAgain) {
  ASSERT_TRUE(this->Deal(1).ok());
  ASSERT_TRUE(this->Deal(1).ok());
  EXPECT_EQ(this->Tasks().size(), 5u);
  EXPECT_EQ(this->context_.sent.size(), 5u);
}

TYPED_TEST(DealingShufflerTest, TheServerHandsTheDealToItsShuffler) {
  HandContext server(Topology::ShuffledStar(100), kServerNode);
  Collector<TypeParam> collector{this->privatizer_};
  ASSERT_TRUE(collector.Deal(server, DealtPlan(1), kFirst).ok());
  ASSERT_EQ(server.sent.size(), 1u) << "or the server knows who has what";
  EXPECT_EQ(server.sent[0].first, kShufflerNode);
  const auto& deal = std::get<bandana::Deal>(server.sent[0].second);
  EXPECT_EQ(deal.first, kFirst);
  EXPECT_EQ(deal.plan->query.cohort, CohortOf(kFirst, kClients));
  HandContext bare(Topology::Star(100), kServerNode);
  EXPECT_EQ(collector.Deal(bare, DealtPlan(1), kFirst).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(bare.sent.empty());
}

}  // namespace
}  // namespace bandana
