#include <iostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/service/world/planted_machines.h"
#include "tests/service/world/planted_stores.h"
#include "tests/service/world/schedules.h"
#include "tests/service/world/star.h"

// Deployments that are broken on purpose. Each must be found within the schedules that CI runs, and the
// schedule that is printed must be short.
namespace bandana::service {
namespace {

constexpr std::uint64_t kMostOperations = 50'000;  // more means that a run does not go on
constexpr std::size_t kFewFaults = 3;

template <class P>
void ExpectCaught(const std::string& fault, const P& privatizer, const StarParams& params,
                  const testing::Matcher<const std::string&>& says) {
  const Schedules schedules = RunSchedules([&](std::uint64_t seed, const std::vector<Fault>& faults) {
    Star<P> star(privatizer, seed, params);
    return star.world.Run(faults, kMostOperations);
  });
  std::cout << fmt::format("{}: found by schedule {}: {}\n    {}\n", fault, schedules.run, schedules.failure,
                           schedules.shortest);
  EXPECT_THAT(schedules.failure, says) << fault;
  EXPECT_LE(schedules.faults, kFewFaults) << schedules.shortest;
}

CentralGaussianMean Central() { return CentralGaussianMean::Create(SmallPrivacy()).value(); }
LocalGaussianMean Local() { return LocalGaussianMean::Create(SmallPrivacy()).value(); }

TEST(PlantedWorld, MessagesThatLeaveBeforeTheirLedgerLine) {
  const StarParams params{.wrap = Planted<HastyStore>()};
  ExpectCaught("before the line, central", Central(), params, testing::HasSubstr("before its ledger line"));
  ExpectCaught("before the line, local", Local(), params, testing::HasSubstr("before its ledger line"));
}

TEST(PlantedWorld, ChargesThatAreNotWritten) {
  ExpectCaught("no line", Local(), {.wrap = Planted<ChargelessStore>()}, testing::HasSubstr("ledger line"));
}

TEST(PlantedWorld, Refunds) {
  ExpectCaught("refund, central", Central(), {.wrap = Planted<RefundingStore>()}, testing::Ne(""));
  ExpectCaught("refund, local", Local(), {.wrap = Planted<RefundingStore>()}, testing::Ne(""));
}

// A server's draws are never made again: each is in the transaction of the snapshot that erases it.
TEST(PlantedWorld, SecondDraws) {
  ExpectCaught("second draw, local", Local(), {.wrap = Planted<RedrawingStore>()},
               testing::HasSubstr("has changed"));
  ExpectCaught("second draw, counts", SmallShuffleSum(Transport::kCounts),
               {.wrap = Planted<RedrawingStore>()}, testing::HasSubstr("has changed"));
}

// The noise is drawn from the same seed again, so that the difference of two releases shows data.
TEST(PlantedWorld, ReleasesThatAreRepeatedWithOtherData) {
  ExpectCaught("other data, local", Local(), {.wrap = Planted<RecomputingStore>(), .rewards_change = true},
               testing::HasSubstr("has changed"));
  ExpectCaught("other data, central", Central(), {.rewards_change = true}, testing::HasSubstr("has changed"));
}

// Their store without the fault is sound.
TEST(PlantedWorld, MessagesThatAreComputedAgainAreTheSame) {
  const auto privatizer = Local();
  ExpectAllSchedules([&](std::uint64_t seed, const std::vector<Fault>& faults) {
    return Star<LocalGaussianMean>(privatizer, seed, {.wrap = Planted<RecomputingStore>()}).world.Run(faults);
  });
}

TEST(PlantedWorld, DeposedProcessesThatCommit) {
  ExpectCaught("deposed process", Local(), {.wrap = Planted<UnfencedStore>()},
               testing::HasSubstr("a deposed process of"));
}

TEST(PlantedWorld, AcknowledgementsBeforeTheCommit) {
  ExpectCaught("early acknowledgement", Central(), {.wrap = Planted<EarlyAcknowledgingStore>()},
               testing::AnyOf(testing::HasSubstr("has acknowledged"), testing::HasSubstr("is an old copy")));
}

TEST(PlantedWorld, TransactionsThatAreTorn) {
  ExpectCaught("torn commit", Local(), {.wrap = Planted<TearingStore>()}, testing::Ne(""));
}

TEST(PlantedWorld, SnapshotsThatForgetAnInput) {
  ExpectCaught("forgetful snapshot", Central(), {.change = PlantedActor<ForgetfulMachine>::Of},
               testing::Ne(""));
}

TEST(PlantedWorld, ReportsThatAreMixedTwice) {
  ExpectCaught("mixed twice", SmallShuffleSum(Transport::kCounts),
               {.change = PlantedActor<RemixingMachine>::Of}, testing::HasSubstr("was mixed twice"));
}

TEST(PlantedWorld, MixesThatLackAReport) {
  ExpectCaught("report left out", SmallShuffledLaplace(), {.change = PlantedActor<DroppingMachine>::Of},
               testing::HasSubstr("is not the reports of its clients"));
}

}  // namespace
}  // namespace bandana::service
