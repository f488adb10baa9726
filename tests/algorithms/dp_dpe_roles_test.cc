#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bandana/bandit/linear_problem.h"
#include "bandana/federation/drive.h"
#include "bandana/federation/releases.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "tests/algorithms/dp_dpe_support.h"
#include "tests/support.h"

namespace bandana {
namespace {
// The roles of DP-DPE, message by message.

// A minimal driver that hands messages to roles one by one.
class HandContext final : public Context {
 public:
  explicit HandContext(NodeId self, Releases& releases)
      : links_(Topology::Star(1000).LinksOf(self)), releases_(releases), noise_(self.value + 1) {}

  const Links& links() const override { return links_; }
  void Send(NodeId to, Payload payload) override { sent.push_back({to, std::move(payload)}); }
  void Play(std::span<const Pull> pulls) override {
    for (const Pull& pull : pulls) played += pull.count;
  }
  CoinGen& coin(Epoch) override { return coins_.gen; }
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    return releases_.Once(key, charge, noise_.gen, draw);
  }

  Message From(NodeId origin, Payload body) { return {origin, origin, 0, ++seq_, std::move(body)}; }

  std::vector<std::pair<NodeId, Payload>> sent;
  Count played = 0;

 private:
  Links links_;
  Releases& releases_;
  test::Coins coins_{77};
  test::Noise noise_;
  Seq seq_ = 0;
};

std::shared_ptr<const Plan> PlanIn(const Payload& payload) {
  const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&payload);
  return plan == nullptr ? nullptr : *plan;
}

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    auto server = EliminationServer<NoPrivacyMean>::Create(DpDpeRules(Params(200), *ActionsOf(problem_)),
                                                           ActionsOf(problem_), Bare());
    EXPECT_TRUE(server.ok());
    server_ = std::make_unique<EliminationServer<NoPrivacyMean>>(*std::move(server));
    EXPECT_TRUE(server_->OnStart(context_).ok());
  }

  Message ShareFrom(NodeId client, Epoch epoch, std::size_t size) {
    return context_.From(client,
                         Share{epoch, 0, Wire::FromUnits(client, std::vector<std::int64_t>(size, 1 << 20))});
  }

  const std::shared_ptr<const LinearProblem> problem_ = DrawnProblem(2, 5);
  Releases releases_{kPlenty};
  HandContext context_{kServerNode, releases_};
  std::unique_ptr<EliminationServer<NoPrivacyMean>> server_;
};

TEST_F(ServerTest, AsksEachClientOnceInTheWholeRun) {
  std::set<NodeId> asked;
  std::size_t next = 0;
  while (!server_->finished()) {
    ASSERT_LT(next, context_.sent.size()) << "the server waits for nobody";
    const auto [client, payload] = context_.sent[next++];
    EXPECT_TRUE(asked.insert(client).second) << client.value;
    EXPECT_GE(client.value, 1u);
    EXPECT_LE(client.value, 100'000u);
    const auto plan = PlanIn(payload);
    ASSERT_NE(plan, nullptr);
    ASSERT_TRUE(server_->OnMessage(context_, ShareFrom(client, plan->epoch, plan->pulls.size())).ok());
  }
  EXPECT_EQ(next, context_.sent.size()) << "not all who were asked were heard";
  EXPECT_EQ(context_.played, 200);
  EXPECT_GE(server_->policy().history().size(), 4u);
}

TEST_F(ServerTest, RepeatedSharesChangeNothing) {
  ASSERT_EQ(context_.sent.size(), 2u);  // ceil(2^0.8) clients
  const auto plan = PlanIn(context_.sent[0].second);
  const Message first = ShareFrom(context_.sent[0].first, 1, plan->pulls.size());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(server_->OnMessage(context_, first).ok());
  EXPECT_TRUE(server_->policy().history().empty()) << "one client's repeats stood in for another";
  const Message second = ShareFrom(context_.sent[1].first, 1, plan->pulls.size());
  ASSERT_TRUE(server_->OnMessage(context_, second).ok());
  ASSERT_EQ(server_->policy().history().size(), 1u);
  const double average = static_cast<double>(1 << 20) * GridMean::kUnit;
  for (const double entry : server_->policy().history()[0].averages) EXPECT_EQ(entry, average);
  const std::size_t sent = context_.sent.size();
  ASSERT_TRUE(server_->OnMessage(context_, first).ok());
  ASSERT_TRUE(server_->OnMessage(context_, second).ok());
  EXPECT_EQ(server_->policy().history().size(), 1u);
  EXPECT_EQ(context_.sent.size(), sent);
}

TEST_F(ServerTest, SharesOfStrangersAndOfOtherPhasesAreIgnored) {
  const std::size_t size = PlanIn(context_.sent[0].second)->pulls.size();
  std::uint32_t stranger = 1;
  while (NodeId{stranger} == context_.sent[0].first || NodeId{stranger} == context_.sent[1].first) ++stranger;
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(NodeId{stranger}, 1, size)).ok());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 2, size)).ok());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 0, size)).ok());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[1].first, 1, size)).ok());
  EXPECT_TRUE(server_->policy().history().empty());
  EXPECT_TRUE(server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 1, size)).ok());
  EXPECT_EQ(server_->policy().history().size(), 1u);
}

TEST_F(ServerTest, PlansAndSharesOfTheWrongSizeAreRefused) {
  const auto plan = PlanIn(context_.sent[0].second);
  EXPECT_EQ(server_->OnMessage(context_, context_.From(context_.sent[0].first, plan)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(
      server_->OnMessage(context_, ShareFrom(context_.sent[0].first, 1, plan->pulls.size() + 1)).ok());
}

class ClientTest : public ::testing::Test {
 protected:
  static std::shared_ptr<Plan> PlanOf(Epoch epoch) {
    return std::make_shared<Plan>(Plan{
        .epoch = epoch, .pulls = {{0, 2}, {1, 3}}, .query = {.bounds = {{-1, 1}, {-2, 2}}, .clients = 4}});
  }
  absl::Status Give(std::shared_ptr<const Plan> plan) {
    return client_.OnMessage(context_, context_.From(kServerNode, std::move(plan)));
  }
  absl::Status Observe() {
    const std::vector<RewardSum> rewards = {{2, 1.0}, {3, 0.75}};
    return client_.Observe(context_, Raw<RewardSums>(rewards));
  }

  Releases releases_{{1, 0.1}};
  HandContext context_{NodeId{9}, releases_};
  LocalGaussianMean privatizer_ =
      *LocalGaussianMean::Create({{1, 0.1}, Calibration::kTight, Sampler::kExact});
  EliminationClient<LocalGaussianMean> client_{privatizer_};
};

TEST_F(ClientTest, WatchesOnePhaseAndReportsOnce) {
  EXPECT_TRUE(client_.Act(context_).empty()) << "plays before it is asked";
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  const auto pulls = client_.Act(context_);
  EXPECT_THAT(std::vector<Pull>(pulls.begin(), pulls.end()), ::testing::ElementsAre(Pull{0, 2}, Pull{1, 3}));
  ASSERT_TRUE(Observe().ok());
  ASSERT_EQ(context_.sent.size(), 1u);
  EXPECT_EQ(context_.sent[0].first, kServerNode);
  const Share& share = std::get<Share>(context_.sent[0].second);
  EXPECT_EQ(share.epoch, 3);
  EXPECT_EQ(share.report.size(), 2u);
  EXPECT_NE(Wire::Units(share.report)[0], 1 << 29) << "no noise";
  EXPECT_EQ(releases_.odometer().spent(), (DpGuarantee{1, 0.1}));
  EXPECT_TRUE(client_.Act(context_).empty()) << "plays twice";
  EXPECT_TRUE(client_.finished());
}

TEST_F(ClientTest, RepeatsAreIgnored) {
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  ASSERT_TRUE(Observe().ok());
  EXPECT_TRUE(Give(PlanOf(3)).ok());
  EXPECT_TRUE(client_.Act(context_).empty());
  EXPECT_EQ(context_.sent.size(), 1u);
}

TEST_F(ClientTest, ARetriedReportIsTheSameReport) {
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  ASSERT_TRUE(Observe().ok());
  ASSERT_TRUE(Observe().ok());
  ASSERT_EQ(context_.sent.size(), 2u);
  EXPECT_EQ(Wire::Units(std::get<Share>(context_.sent[0].second).report),
            Wire::Units(std::get<Share>(context_.sent[1].second).report));
  EXPECT_EQ(releases_.odometer().spent(), (DpGuarantee{1, 0.1}));
}

TEST_F(ClientTest, TakesPartInOnePhaseOnly) {
  ASSERT_TRUE(Give(PlanOf(3)).ok());
  EXPECT_EQ(Give(PlanOf(4)).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Observe().ok());
  EXPECT_EQ(Give(PlanOf(4)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Give(PlanOf(2)).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ClientTest, SharesAreRefused) {
  EXPECT_EQ(client_.OnMessage(context_, context_.From(kServerNode, Share{})).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(client_.Act(context_).empty());
  EXPECT_FALSE(client_.finished());
}

TEST_F(ClientTest, NothingLeavesBeyondTheBudget) {
  Releases poor({0.5, 0.1});
  HandContext context(NodeId{9}, poor);
  ASSERT_TRUE(client_.OnMessage(context, context.From(kServerNode, PlanOf(3))).ok());
  const std::vector<RewardSum> rewards = {{2, 1.0}, {3, 0.75}};
  EXPECT_EQ(client_.Observe(context, Raw<RewardSums>(rewards)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(context.sent.empty());
}

}  // namespace
}  // namespace bandana
