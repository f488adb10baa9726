#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "bandana/audit/auditor.h"
#include "bandana/audit/catalog.h"
#include "tests/statistical/faults.h"

// The audit on every claim of ours and on every planted fault. Seeds are fixed and nothing is retried; a true
// claim is refuted with probability at most 1e-6 a case, over seeds.
namespace bandana {
namespace {

using audit::Audit;
using audit::AuditOptions;
using audit::Catalog;
using audit::Entry;
using audit::Finding;
using audit::MakeTarget;

constexpr double kFalseAlarm = 1e-6;
constexpr std::int64_t kQuick = 200'000;

Finding Attack(const Target& target, std::int64_t draws, std::uint64_t seed) {
  const auto finding = Audit(target, {.draws = draws, .false_alarm = kFalseAlarm, .seed = seed});
  EXPECT_TRUE(finding.ok()) << target.name << ": " << finding.status();
  return finding.value_or(Finding{});
}

std::string TestName(std::string name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += c;
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  return plain;
}

// --- every claim of ours

class AuditClaimTest : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Entry& entry : Catalog()) names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Quick, AuditClaimTest, ::testing::ValuesIn(TargetNames()),
                         [](const auto& info) { return TestName(info.param); });

TEST_P(AuditClaimTest, IsNotRefuted) {
  const Entry& entry = **audit::FindEntry(GetParam());
  const Target target = *MakeTarget(entry, std::nullopt, std::nullopt);
  const Finding finding = Attack(target, std::min(entry.draws, kQuick), 10);
  EXPECT_FALSE(finding.refuted) << finding.epsilon_lower << " and " << finding.delta_lower << " by "
                                << finding.distinguisher;
  const double claimed = target.claim ? target.claim->guarantee.epsilon : 8;
  EXPECT_GT(finding.epsilon_lower, 0.45 * claimed) << "the attack is too weak to mean anything";
}

// --- planted faults

class PlantedFaultTest : public ::testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Quick, PlantedFaultTest, ::testing::Range<std::size_t>(0, test::AllFaults().size()),
                         [](const auto& info) { return TestName(test::AllFaults()[info.param].name); });

TEST_P(PlantedFaultTest, IsRefutedAndItsSoundTwinIsNot) {
  const test::Fault fault = test::AllFaults()[GetParam()];
  const double claimed = fault.broken.claim->guarantee.epsilon;
  const Finding broken = Attack(fault.broken, kQuick, 40);
  EXPECT_TRUE(broken.refuted);
  EXPECT_GT(broken.epsilon_lower, 1.3 * claimed) << "caught by luck";
  const Finding sound = Attack(fault.sound, kQuick, 40);
  EXPECT_FALSE(sound.refuted) << sound.epsilon_lower << " by " << sound.distinguisher;
  EXPECT_GT(sound.epsilon_lower, 0.4 * claimed) << "the attack is too weak to mean anything";
}

}  // namespace
}  // namespace bandana
