#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "bandana/federation/collector.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/wire.h"
#include "tests/federation/hand_context.h"

// Questions that some clients never answer.
namespace bandana {
namespace {

using test::HandContext;

constexpr std::int64_t kOne = 1 << 30;
constexpr DpGuarantee kBudget{1, 1e-6};

std::shared_ptr<const Plan> MakePlan(Count clients, Count goal, double quorum,
                                     std::vector<Count> dealt = {}) {
  Plan plan{.epoch = 1, .pulls = {{0, 1}}, .query = {.bounds = {{-4, 4}}, .clients = clients}};
  if (!dealt.empty()) {
    plan.pulls = {{0, dealt[0]}, {1, dealt[1]}};
    plan.query.bounds = {{-4, 4}, {-4, 4}};
  }
  plan.query.dealt = std::move(dealt);
  plan.query.goal = goal;
  plan.query.quorum = quorum;
  return std::make_shared<const Plan>(std::move(plan));
}

std::vector<NodeId> Clients(Count count) {
  std::vector<NodeId> clients;
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(count); ++i) clients.push_back(NodeId{i});
  return clients;
}

Message ShareOf(std::uint32_t client, std::int64_t units, int part = Report::kWhole) {
  return HandContext::From(NodeId{client},
                           Share{1, 0, Wire::FromUnits(NodeId{client}, {units}, 64, 0, "", part)});
}

template <Privatizer P>
struct Asked {
  Asked(P privatizer, const std::shared_ptr<const Plan>& plan) : collector(std::move(privatizer)) {
    const absl::Status status = plan->query.dealt.empty()
                                    ? collector.Ask(context, plan, Clients(plan->query.clients))
                                    : collector.Deal(context, plan, NodeId{1});
    EXPECT_TRUE(status.ok()) << status;
  }
  bool Take(std::uint32_t client, std::int64_t units, int part = Report::kWhole) {
    auto taken = collector.Take(context, ShareOf(client, units, part));
    EXPECT_TRUE(taken.ok()) << taken.status();
    return Keep(*std::move(taken));
  }
  bool AtDeadline(Epoch epoch = 1) {
    auto closed = collector.AtDeadline(context, epoch);
    EXPECT_TRUE(closed.ok()) << closed.status();
    return Keep(*std::move(closed));
  }
  bool Keep(std::optional<Released<Mean>> release) {
    if (!release) return false;
    mean = release->value().entries;
    noise = release->noise();
    return true;
  }

  HandContext context{Topology::Star(20), kServerNode};
  Collector<P> collector;
  std::vector<double> mean;
  std::vector<NoiseLaw> noise;
};

NoPrivacyMean Bare() { return NoPrivacyMean(Declassify("test")); }

TEST(DropoutTest, ThePhaseEndsWhenAsManyHaveAnsweredAsItNeeds) {
  Asked asked(Bare(), MakePlan(5, 3, 1));
  EXPECT_FALSE(asked.Take(2, kOne));
  EXPECT_FALSE(asked.Take(5, kOne));
  ASSERT_TRUE(asked.Take(1, 4 * kOne));
  EXPECT_EQ(asked.mean, std::vector<double>{2}) << "the mean of those who have answered";
  EXPECT_EQ(asked.collector.answered().clients, 3);
  EXPECT_FALSE(asked.Take(3, kOne)) << "too late";
}

TEST(DropoutTest, ADeadlineNeedsTheQuorum) {
  Asked asked(Bare(), MakePlan(13, 10, 0.8));
  for (std::uint32_t client = 1; client <= 7; ++client) EXPECT_FALSE(asked.Take(client, kOne));
  EXPECT_FALSE(asked.AtDeadline()) << "7 of 10";
  EXPECT_FALSE(asked.Take(8, 3 * kOne)) << "it waits on";
  EXPECT_FALSE(asked.AtDeadline(2)) << "the deadline of another epoch";
  ASSERT_TRUE(asked.AtDeadline());
  EXPECT_EQ(asked.mean, std::vector<double>{1.25});
  EXPECT_FALSE(asked.AtDeadline()) << "it is over";
}

TEST(DropoutTest, NobodyAtAllIsNoQuorum) {
  Asked asked(Bare(), MakePlan(2, 0, 0.01));
  EXPECT_FALSE(asked.AtDeadline());
  EXPECT_FALSE(asked.Take(2, kOne));
  EXPECT_TRUE(asked.AtDeadline());
}

TEST(DropoutTest, EveryPartOfADealNeedsItsOwnQuorum) {
  Asked asked(Bare(), MakePlan(6, 0, 0.5, {4, 2}));
  for (std::uint32_t client = 1; client <= 4; ++client) EXPECT_FALSE(asked.Take(client, kOne, 0));
  EXPECT_FALSE(asked.AtDeadline()) << "nobody has answered the second part";
  EXPECT_FALSE(asked.Take(6, 3 * kOne, 1));
  ASSERT_TRUE(asked.AtDeadline());
  EXPECT_EQ(asked.mean, (std::vector<double>{1, 3}));
  EXPECT_EQ(asked.collector.answered().dealt, (std::vector<Count>{4, 1}));
}

TEST(DropoutTest, TheServersNoiseDoesNotDependOnWhoAnswers) {
  const auto privatizer = *CentralGaussianMean::Create({kBudget, Calibration::kTight, Sampler::kExact});
  Asked all(privatizer, MakePlan(4, 0, 1)), few(privatizer, MakePlan(4, 0, 0.5));
  for (std::uint32_t client = 1; client <= 4; ++client) all.Take(client, 0);
  few.Take(1, 0);
  few.Take(4, 0);
  ASSERT_TRUE(few.AtDeadline());
  EXPECT_DOUBLE_EQ(few.noise[0].proxy * 2, all.noise[0].proxy * 4) << "the sum has the same noise";
  EXPECT_EQ(few.context.releases.odometer().units(), 2u) << "who has not answered has not paid";
}

TEST(DropoutTest, WhoHasPaidIsCounted) {
  const auto privatizer = *LocalGaussianMean::Create({kBudget, Calibration::kTight, Sampler::kExact});
  Asked asked(privatizer, MakePlan(5, 3, 1));
  for (std::uint32_t client = 1; client <= 4; ++client) EXPECT_FALSE(asked.Take(client, 0));
  ASSERT_TRUE(asked.AtDeadline());
  EXPECT_EQ(asked.collector.answered().clients, 4);
}

}  // namespace
}  // namespace bandana
