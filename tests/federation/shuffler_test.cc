#include "bandana/federation/shuffler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/wire.h"
#include "tests/federation/hand_context.h"

namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;
using test::HandContext;

constexpr Count kClients = 5;
const MeanQuery kQuery{{{-1, 1}, {-1, 1}}, kClients};
constexpr DpGuarantee kNominal{1, 1e-6};

template <class P>
P Made();
template <>
ShuffleSumMean Made<ShuffleSumMean>() {
  return *ShuffleSumMean::Create(
      {kNominal, Calibration::kTight, Sampler::kExact, Transport::kCounts, {0, 1}, 1 << 20, 0.1});
}
template <>
ShuffledLaplaceMean Made<ShuffledLaplaceMean>() {
  return *ShuffledLaplaceMean::Create({kNominal, Calibration::kTight, Sampler::kExact, {0, 1}, 1000});
}

template <class P>
class ShufflerTest : public ::testing::Test {
 protected:
  absl::Status Take(NodeId from, Payload body) {
    return shuffler_.OnMessage(context_, HandContext::From(from, std::move(body)));
  }
  absl::Status Call(Epoch epoch, const std::vector<std::uint32_t>& clients, NodeId from = kServerNode) {
    MixRequest mix_request{epoch, kQuery, {}};
    mix_request.query.clients = static_cast<Count>(clients.size());
    for (const std::uint32_t client : clients) mix_request.clients.push_back(NodeId{client});
    mix_request.query.cohort = CohortOf(mix_request.clients);
    questions_.try_emplace(epoch, Release::QuestionOf(mix_request.query));
    return Take(from, std::make_shared<const MixRequest>(std::move(mix_request)));
  }
  // Returns the question of the epoch's first mix request; before any mix request, the question to clients 1
  // to 5.
  std::string Asked(Epoch epoch) const {
    if (const auto it = questions_.find(epoch); it != questions_.end()) return it->second;
    MeanQuery query = kQuery;
    query.cohort = CohortOf({NodeId{1}, NodeId{2}, NodeId{3}, NodeId{4}, NodeId{5}});
    return Release::QuestionOf(query);
  }
  absl::Status Send(std::uint32_t client, Epoch epoch = 1, std::int64_t value = 7, Count quorum = kClients) {
    return Take(NodeId{client},
                Share{epoch, 0, Wire::FromUnits(NodeId{client}, Units(2, value), 0, quorum, Asked(epoch))});
  }
  // Returns the total of each coordinate over the reports that were sent to the server.
  Units Totals() const {
    Units totals(2);
    for (const Report& report : std::get<Mixed>(context_.sent.back().second).reports) {
      for (std::size_t i = 0; i < 2; ++i) totals[i] += Wire::Units(report)[i];
    }
    return totals;
  }

  std::map<Epoch, std::string> questions_;
  const P privatizer_ = Made<P>();
  Shuffler<P> shuffler_{privatizer_};
  HandContext context_{Topology::ShuffledStar(1000), kShufflerNode};
};
using ShuffleMeans = ::testing::Types<ShuffleSumMean, ShuffledLaplaceMean>;
TYPED_TEST_SUITE(ShufflerTest, ShuffleMeans);

TYPED_TEST(ShufflerTest, LetsNothingOutBeforeAllAreIn) {
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 5}).ok());
  for (const std::uint32_t client : {3, 1, 5, 2}) {
    ASSERT_TRUE(this->Send(client, 1, client).ok());
    EXPECT_TRUE(this->context_.sent.empty());
    EXPECT_FALSE(this->shuffler_.finished());
  }
  ASSERT_TRUE(this->Send(4, 1, 4).ok());
  ASSERT_EQ(this->context_.sent.size(), 1u);
  EXPECT_EQ(this->context_.sent[0].first, kServerNode);
  EXPECT_EQ(std::get<Mixed>(this->context_.sent[0].second).epoch, 1);
  EXPECT_THAT(this->Totals(), ::testing::ElementsAre(15, 15));
  EXPECT_TRUE(this->shuffler_.finished());
}

TYPED_TEST(ShufflerTest, SharesMayComeBeforeTheirRoll) {
  for (const std::uint32_t client : {1, 2, 3, 4, 5, 77}) ASSERT_TRUE(this->Send(client, 1, client).ok());
  EXPECT_TRUE(this->context_.sent.empty());
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 5}).ok());
  ASSERT_EQ(this->context_.sent.size(), 1u);
  EXPECT_THAT(this->Totals(), ::testing::ElementsAre(15, 15)) << "a stranger's report is in it";
}

TYPED_TEST(ShufflerTest, StrangersAndRepeatsChangeNothing) {
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 5}).ok());
  ASSERT_TRUE(this->Send(77).ok());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(this->Send(1, 1, 1 + i).ok());
  EXPECT_TRUE(this->context_.sent.empty()) << "repeats stood in for somebody else";
  for (const std::uint32_t client : {2, 3, 4, 5}) ASSERT_TRUE(this->Send(client, 1, client).ok());
  EXPECT_THAT(this->Totals(), ::testing::ElementsAre(15, 15)) << "the first of repeats counts";
  // After the epoch is done, nothing starts it again: no share, no mix request and no smaller mix request.
  ASSERT_TRUE(this->Send(1, 1, 9).ok());
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 5}).ok());
  for (const std::uint32_t client : {1, 2, 3, 4, 5}) ASSERT_TRUE(this->Send(client).ok());
  ASSERT_TRUE(this->Call(1, {1}).ok());
  EXPECT_EQ(this->context_.sent.size(), 1u);
  EXPECT_TRUE(this->shuffler_.finished()) << "a repeated mix request is waited for, for ever";
}

TYPED_TEST(ShufflerTest, TheFirstRollOfAnEpochStands) {
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 5}).ok());
  ASSERT_TRUE(this->Call(1, {1}).ok());
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 6}).ok());
  for (const std::uint32_t client : {1, 2, 3, 4, 6}) ASSERT_TRUE(this->Send(client).ok());
  EXPECT_TRUE(this->context_.sent.empty());
}

// The reports state how many clients there must be; the server's statement does not count.
TYPED_TEST(ShufflerTest, ARollSmallerThanTheReportsQuorumIsRefused) {
  ASSERT_TRUE(this->Call(1, {1, 2}).ok());
  ASSERT_TRUE(this->Send(1).ok());
  EXPECT_EQ(this->Send(2).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(this->context_.sent.empty());
}

TYPED_TEST(ShufflerTest, ARollLargerThanTheReportsQuorumIsRefusedToo) {
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 5, 6}).ok());
  for (const std::uint32_t client : {1, 2, 3, 4, 5}) ASSERT_TRUE(this->Send(client, 1, 7, 6).ok());
  EXPECT_EQ(this->Send(6, 1, 7, 5).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(this->context_.sent.empty());
}

TYPED_TEST(ShufflerTest, ReportsOfAnotherSizeAreRefused) {
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 5}).ok());
  for (const std::uint32_t client : {1, 2, 3, 4}) ASSERT_TRUE(this->Send(client).ok());
  const Report large = Wire::FromUnits(NodeId{5}, Units(3, 1), 0, kClients, this->Asked(1));
  EXPECT_FALSE(this->Take(NodeId{5}, Share{1, 0, large}).ok());
  EXPECT_TRUE(this->context_.sent.empty());
}

TYPED_TEST(ShufflerTest, EpochsAreKeptApart) {
  for (const Epoch epoch : {1, 2}) ASSERT_TRUE(this->Call(epoch, {1, 2, 3, 4, 5}).ok());
  for (const std::uint32_t client : {1, 2, 3}) ASSERT_TRUE(this->Send(client, 1).ok());
  for (const std::uint32_t client : {4, 5}) ASSERT_TRUE(this->Send(client, 2).ok());
  EXPECT_TRUE(this->context_.sent.empty());
  for (const std::uint32_t client : {1, 2, 3}) ASSERT_TRUE(this->Send(client, 2).ok());
  ASSERT_EQ(this->context_.sent.size(), 1u);
  EXPECT_EQ(std::get<Mixed>(this->context_.sent[0].second).epoch, 2);
}

// A draw in two mixes would lose the noise of the clients who are in both. A report that answers another
// question is recognised by the question that it names.
TYPED_TEST(ShufflerTest, AReportForAnotherCohortOrQuestionIsRefused) {
  ASSERT_TRUE(this->Call(1, {1, 2, 3, 4, 6}).ok());
  for (const std::uint32_t client : {1, 2, 3, 4}) ASSERT_TRUE(this->Send(client).ok());
  const Report replayed = Wire::FromUnits(NodeId{6}, Units(2, 7), 0, kClients, this->Asked(99));
  EXPECT_EQ(this->Take(NodeId{6}, Share{1, 0, replayed}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(this->context_.sent.empty());
}

TYPED_TEST(ShufflerTest, ARollOfOthersThanItsQueryNamesIsRefused) {
  MixRequest mix_request{1, kQuery, {NodeId{1}, NodeId{2}, NodeId{3}, NodeId{4}, NodeId{5}}};
  mix_request.query.cohort = CohortOf({NodeId{1}, NodeId{2}, NodeId{3}, NodeId{4}, NodeId{6}});
  EXPECT_EQ(this->Take(kServerNode, std::make_shared<const MixRequest>(mix_request)).code(),
            absl::StatusCode::kInvalidArgument);
}

TYPED_TEST(ShufflerTest, OnlyTheServerCallsARoll) {
  EXPECT_EQ(this->Call(1, {1, 2, 3, 4, 5}, NodeId{3}).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_FALSE(this->Take(kServerNode, std::make_shared<const Plan>()).ok());
  EXPECT_FALSE(this->Take(kServerNode, Mixed{1, {}}).ok());
  EXPECT_FALSE(this->Call(2, {}).ok()) << "a mix request of nobody";
}

}  // namespace
}  // namespace bandana
