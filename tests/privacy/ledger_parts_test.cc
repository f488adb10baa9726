#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <set>

#include "bandana/privacy/ledger/accounts.h"
#include "bandana/privacy/ledger/unit_ranges.h"
#include "bandana/privacy/sum_up.h"

namespace bandana {
namespace {

using boost::multiprecision::cpp_rational;

std::vector<NodeId> Ids(const std::vector<std::uint32_t>& values) {
  std::vector<NodeId> ids;
  for (const std::uint32_t value : values) ids.push_back(NodeId{value});
  return ids;
}

UnitRanges Range(const std::string& text) { return *UnitRanges::Parse(text); }

TEST(SumUpTest, IsTheLeastDoubleThatIsNotBelow) {
  EXPECT_EQ(SumUp(0.25, 0.5), 0.75);
  EXPECT_EQ(SumUp(1, 1e-300), std::nextafter(1, 2));
  EXPECT_EQ(SumUp(0x1p-1074, 0x1p-1074), 0x1p-1073);
  EXPECT_TRUE(std::isinf(SumUp(1e308, 1e308)));
}

RC_GTEST_PROP(SumUpTest, AgreesWithExactArithmetic, ()) {
  const auto number = [] {
    return std::ldexp(static_cast<double>(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 53)),
                      *rc::gen::inRange(-80, 20));
  };
  const double a = number();
  const double b = number();
  const double sum = SumUp(a, b);
  const cpp_rational exact = cpp_rational(a) + cpp_rational(b);
  RC_ASSERT(cpp_rational(sum) >= exact);
  RC_ASSERT(sum == 0 || cpp_rational(std::nextafter(sum, 0)) < exact);
}

TEST(UnitRangesTest, AreShortWhereIdsAreNeighbours) {
  EXPECT_EQ(UnitRanges::Of(Ids({5, 3, 1, 2, 9}))->ToText(), "1-3,5,9");
  EXPECT_EQ(UnitRanges::Of({})->ToText(), "");
  EXPECT_EQ(UnitRanges::Of(Ids({0, 4294967295, 4294967294}))->ToText(), "0,4294967294-4294967295");
  std::vector<NodeId> many;
  for (std::uint32_t id = 100'000; id > 0; --id) many.push_back(NodeId{id});
  EXPECT_EQ(UnitRanges::Of(many)->ToText(), "1-100000");
}

TEST(UnitRangesTest, NobodyIsNamedTwice) {
  const absl::Status status = UnitRanges::Of(Ids({4, 2, 4})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("client 4"));
}

TEST(UnitRangesTest, ReadOneSpellingOnly) {
  for (const char* bad :
       {"x",   ",",  "1,",   ",1", "1,,3", "3-1", "1-1",        "1-",           "-1",   "1-3,3", "1-3,4",
        "2,1", "01", "1-03", "+1", " 1",   "1 ",  "4294967296", "0-4294967295", "1--3", "1-3-5"}) {
    EXPECT_FALSE(UnitRanges::Parse(bad).ok()) << bad;
  }
}

TEST(UnitRangesTest, Contains) {
  const UnitRanges ranges = Range("1-3,7");
  const std::set<std::uint32_t> in = {1, 2, 3, 7};
  for (std::uint32_t id = 0; id < 10; ++id) EXPECT_EQ(ranges.Contains(NodeId{id}), in.contains(id)) << id;
  EXPECT_FALSE(UnitRanges().Contains(NodeId{0}));
}

RC_GTEST_PROP(UnitRangesTest, TextKeepsEverybody, ()) {
  const auto ids = *rc::gen::container<std::set<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 60));
  const auto ranges = *UnitRanges::Of(Ids({ids.begin(), ids.end()}));
  RC_ASSERT(ranges.count() == ids.size());
  const auto back = *UnitRanges::Parse(ranges.ToText());
  RC_ASSERT(back == ranges);
  std::set<std::uint32_t> seen;
  back.ForEach([&](NodeId id) { seen.insert(id.value); });
  RC_ASSERT(seen == ids);
}

TEST(AccountsTest, TenTenthsAreMoreThanOne) {
  Accounts accounts({.per_unit = {1, 0}});
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(accounts.Add({0.1, 0}, Range("1")).ok());
  EXPECT_EQ(accounts.Add({0.1, 0}, Range("1")).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(accounts.Of(NodeId{1}).releases, 9);
}

// The accounts are never below the exact sum, and at most one ulp per charge above it.
RC_GTEST_PROP(AccountsTest, NeverUnderstate, ()) {
  Accounts accounts({.per_unit = {1e6, 1}});
  cpp_rational exact = 0;
  const int charges = *rc::gen::inRange(1, 60);
  for (int i = 0; i < charges; ++i) {
    const double cost = *rc::gen::inRange(0, 1'000'000) * 1e-7;
    RC_ASSERT(accounts.Add({cost, 0}, Range("1-2")).ok());
    exact += cpp_rational(cost);
  }
  RC_ASSERT(cpp_rational(accounts.largest().amount) >= exact);
  RC_ASSERT(cpp_rational(accounts.largest().amount) <= exact * (1 + cpp_rational(charges * 0x1p-52)));
  RC_ASSERT(accounts.total() == accounts.largest());
}

TEST(AccountsTest, NameWhoSpentTheMost) {
  Accounts accounts({.per_unit = {1, 1}});
  EXPECT_EQ(accounts.LargestSpender(), std::nullopt);
  ASSERT_TRUE(accounts.Add({0.25, 0.5}, Range("1-5")).ok());
  EXPECT_EQ(accounts.LargestSpender(), NodeId{1});
  ASSERT_TRUE(accounts.Add({0.5, 0}, Range("3-4")).ok());
  EXPECT_EQ(accounts.LargestSpender(), NodeId{3});
  ASSERT_TRUE(accounts.Add({0.5, 0.75}, Range("9")).ok());
  EXPECT_EQ(accounts.LargestSpender(), NodeId{3});
  EXPECT_EQ(accounts.largest(), (Loss{0.75, 0.75})) << "each part for itself";
  const auto all = accounts.All();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[2].first, NodeId{3});
  EXPECT_EQ(all[2].second.releases, 2);
  EXPECT_EQ(all[5].first, NodeId{9});
}

TEST(AccountsTest, MeasuresHaveNames) {
  for (const Measure measure : {Measure::kApproximateDp, Measure::kZcdp, Measure::kGdp}) {
    EXPECT_EQ(MeasureOf(NameOf(measure)), measure);
    EXPECT_NE(AmountOf(measure), "");
  }
  EXPECT_EQ(MeasureOf("renyi"), std::nullopt);
}

TEST(UnitRangesTest, OfManyAtOnce) {
  EXPECT_EQ(UnitRanges(NodeId{7}).ToText(), "7");
  EXPECT_EQ(UnitRanges::From(NodeId{7}, 1), UnitRanges(NodeId{7}));
  const UnitRanges all = UnitRanges::From(NodeId{0}, Count{1} << 32);
  EXPECT_EQ(all.count(), std::uint64_t{1} << 32);
  EXPECT_EQ(all.ToText(), "0-4294967295");
  const std::vector<UnitRanges::Range> ranges = {{1, 3}, {4, 4}, {6, 9}};
  EXPECT_EQ(UnitRanges::FromRanges(ranges).ToText(), "1-4,6-9");
  EXPECT_EQ(UnitRanges::FromRanges(ranges).count(), 8u);
  EXPECT_TRUE(UnitRanges().empty());
}

}  // namespace
}  // namespace bandana
