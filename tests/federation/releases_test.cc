#include "bandana/federation/releases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bandana/privacy/ledger/ledger.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

namespace bandana {
namespace {

using Units = std::vector<std::int64_t>;

constexpr DpGuarantee kBudget{1.0, 0.5};
constexpr ReleaseKey kKey{NodeId{7}, 3};

class ReleasesTest : public ::testing::Test {
 protected:
  absl::StatusOr<Units> Once(const ReleaseKey& key, const Charge& charge) {
    const auto report =
        releases_.Once(key, charge, noise_.gen, [&](NoiseGen& noise) -> absl::StatusOr<Report> {
          ++draws_;
          if (fails_) return absl::InternalError("no draw");
          return Wire::FromUnits(NodeId{7}, {RoundedNormal(1 << 30, noise)});
        });
    if (!report.ok()) return report.status();
    return Wire::Units(*report);
  }

  static Charge For(std::uint32_t unit, double epsilon) { return {{epsilon, 0.1}, {NodeId{unit}}}; }

  Releases releases_{kBudget};
  test::Noise noise_{1};
  int draws_ = 0;
  bool fails_ = false;
};

TEST_F(ReleasesTest, ASecondCallGetsTheFirstDrawAndChargesNothing) {
  const auto first = Once(kKey, For(7, 0.75));
  const auto again = Once(kKey, For(7, 0.75));
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(releases_.odometer().spent(), (DpGuarantee{0.75, 0.1}));
}

TEST_F(ReleasesTest, AnotherNodeOrEpochIsAnotherDraw) {
  const auto first = Once(kKey, For(7, 0.25));
  const auto later = Once({NodeId{7}, 4}, For(7, 0.25));
  const auto other = Once({NodeId{8}, 3}, For(8, 0.25));
  ASSERT_TRUE(first.ok() && later.ok() && other.ok());
  EXPECT_NE(*first, *later);
  EXPECT_NE(*first, *other);
  EXPECT_NE(*later, *other);
  EXPECT_EQ(draws_, 3);
  EXPECT_EQ(releases_.odometer().spent().epsilon, 0.5);
  EXPECT_EQ(*Once(kKey, For(7, 0.25)), *first) << "an old release is remembered";
}

// Otherwise a client would return the answer to another question than it was asked.
TEST_F(ReleasesTest, AnotherQuestionInTheSameEpochIsAnotherReleaseAndCostsAgain) {
  const auto first = Once({NodeId{7}, 3, "a"}, For(7, 0.5));
  const auto other = Once({NodeId{7}, 3, "b"}, For(7, 0.5));
  ASSERT_TRUE(first.ok() && other.ok());
  EXPECT_NE(*first, *other);
  EXPECT_EQ(releases_.odometer().spent().epsilon, 1);
  EXPECT_EQ(Once({NodeId{7}, 3, "c"}, For(7, 0.5)).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ReleasesTest, WhatTheBudgetCannotPayIsNeverDrawn) {
  ASSERT_TRUE(Once(kKey, For(7, 0.75)).ok());
  EXPECT_EQ(Once({NodeId{7}, 4}, For(7, 0.5)).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(releases_.odometer().spent().epsilon, 0.75);
  // A refusal is not a release: a cheaper one under the same key can still be drawn.
  EXPECT_TRUE(Once({NodeId{7}, 4}, For(7, 0.25)).ok());
  EXPECT_EQ(draws_, 2);
}

TEST_F(ReleasesTest, AChargeComesBeforeTheDraw) {
  const auto report =
      releases_.Once(kKey, For(7, 0.75), noise_.gen, [&](NoiseGen&) -> absl::StatusOr<Report> {
        EXPECT_EQ(releases_.odometer().spent().epsilon, 0.75);
        return Wire::FromUnits(NodeId{7}, {1});
      });
  EXPECT_TRUE(report.ok());
}

TEST_F(ReleasesTest, AFailedDrawIsNotRemembered) {
  fails_ = true;
  EXPECT_EQ(Once(kKey, Charge{}).status().code(), absl::StatusCode::kInternal);
  fails_ = false;
  EXPECT_TRUE(Once(kKey, Charge{}).ok());
  EXPECT_EQ(draws_, 2);
}

// Keyed draws repeat by themselves, so that no journal is needed.
TEST_F(ReleasesTest, WithoutAJournalKeyedDrawsAreTheSameAgain) {
  Releases unjournaled(kBudget, Releases::Journal::kNotNeeded);
  const auto draw = [&](std::uint64_t key) {
    test::Noise keyed(key);
    const auto report =
        unjournaled.Once(kKey, Charge{}, keyed.gen, [&](NoiseGen& noise) -> absl::StatusOr<Report> {
          return Wire::FromUnits(NodeId{7}, {RoundedNormal(1 << 30, noise)});
        });
    EXPECT_TRUE(report.ok());
    return Wire::Units(*report);
  };
  EXPECT_EQ(draw(5), draw(5));
  EXPECT_NE(draw(5), draw(6));
  EXPECT_EQ(
      unjournaled.Once(kKey, For(7, 1.5), noise_.gen, [](NoiseGen&) { return Report(); }).status().code(),
      absl::StatusCode::kResourceExhausted);
}

TEST_F(ReleasesTest, WhatProtectsNobodyCostsNothing) {
  EXPECT_TRUE(Once(kKey, Charge{}).ok());
  EXPECT_EQ(releases_.odometer().spent(), (DpGuarantee{0, 0}));
  EXPECT_EQ(releases_.odometer().units(), 0u);
}

// A ledger keeps every paid release when the process ends. A release that costs nothing is never written
// there.
TEST_F(ReleasesTest, ALedgerKeepsWhatWasPaidFor) {
  const std::string path = ::testing::TempDir() + "releases_test.ledger";
  const LedgerHeader header{.deployment = "test", .limits = {.per_unit = {kBudget.epsilon, kBudget.delta}}};
  const auto forget = [&] {
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".head");
  };
  forget();
  Units paid;
  for (int run = 0; run < 2; ++run) {
    const auto ledger = Ledger::Open(path, header, Ledger::Durability::kGrouped);
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    releases_ = Releases(kBudget, ledger->get());
    EXPECT_EQ(releases_.spent().epsilon, run == 0 ? 0 : 0.75);
    const auto draw = Once(kKey, For(7, 0.75));
    ASSERT_TRUE(draw.ok());
    if (run == 0) paid = *draw;
    EXPECT_EQ(*draw, paid);
    ASSERT_TRUE(Once({NodeId{8}, 3}, Charge{}).ok());
    EXPECT_EQ(Once({NodeId{7}, 4}, For(7, 0.5)).status().code(), absl::StatusCode::kResourceExhausted);
    ASSERT_TRUE(releases_.Commit().ok());
    EXPECT_EQ((*ledger)->head().seq, 1u);
    EXPECT_EQ(releases_.spent(), (DpGuarantee{0.75, 0.1}));
  }
  EXPECT_EQ(draws_, 3) << "one that was paid for, and the free one in each run";
  forget();
}

}  // namespace
}  // namespace bandana
