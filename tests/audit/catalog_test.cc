#include "bandana/audit/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bandana/audit/auditor.h"
#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana::audit {
namespace {

TEST(CatalogTest, NamesDiffer) {
  std::set<std::string> names;
  for (const Entry& entry : Catalog()) EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
}

TEST(CatalogTest, EveryTargetDrawsAndClaims) {
  for (const Entry& entry : Catalog()) {
    const auto target = MakeTarget(entry, std::nullopt, std::nullopt);
    ASSERT_TRUE(target.ok()) << entry.name << ": " << target.status();
    EXPECT_EQ(target->name, entry.name);
    EXPECT_EQ(target->claim.has_value(), entry.name != "none");
    std::vector<double> first(target->dimension), second(target->dimension), again(target->dimension);
    for (const Neighbour neighbour : {Neighbour::kFirst, Neighbour::kSecond}) {
      test::Noise noise(3), same(3), other(4);
      ASSERT_TRUE(target->draw(neighbour, noise.gen, first).ok()) << entry.name;
      ASSERT_TRUE(target->draw(neighbour, same.gen, again).ok());
      ASSERT_TRUE(target->draw(neighbour, other.gen, second).ok());
      EXPECT_EQ(first, again) << entry.name << " draws from somewhere else";
      EXPECT_EQ(first == second, entry.name == "none") << entry.name;
    }
  }
}

TEST(CatalogTest, OnlyActingOnRawRecordsIsKnownToFail) {
  for (const Entry& entry : Catalog()) {
    EXPECT_EQ(!entry.known_to_fail.empty(), entry.name.ends_with("-raw")) << entry.name;
  }
}

TEST(CatalogTest, TheClaimFollowsTheSetting) {
  const Entry* entry = *FindEntry("central-gaussian");
  EXPECT_EQ(MakeTarget(*entry, 0.5, 1e-3)->claim->guarantee, (DpGuarantee{0.5, 1e-3}));
  EXPECT_EQ(MakeTarget(*entry, 0.5, std::nullopt)->claim->guarantee,
            (DpGuarantee{0.5, entry->nominal.delta}));
  // P1's formula at its own setting claims only the epsilon that it delivers.
  EXPECT_GT(MakeTarget(**FindEntry("central-gaussian-paper"), 10, 0.1)->claim->guarantee.epsilon, 14);
}

TEST(CatalogTest, BadSettingsAreNamed) {
  const Entry& entry = **FindEntry("central-gaussian");
  const auto key = [&](std::optional<double> epsilon, std::optional<double> delta) {
    const auto target = MakeTarget(entry, epsilon, delta);
    return target.ok() ? "" : InputErrorOf(target.status())->key;
  };
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) EXPECT_EQ(key(bad, 0.1), "epsilon");
  for (const double bad : {0.0, 1.0, -0.1, std::nan(""), HUGE_VAL}) EXPECT_EQ(key(1, bad), "delta");
  const auto unknown = FindEntry("central-gausian");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(InputErrorOf(unknown.status())->key, "target");
  EXPECT_THAT(unknown.status().message(), ::testing::HasSubstr("central-gaussian"));
}

}  // namespace
}  // namespace bandana::audit
