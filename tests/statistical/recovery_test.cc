#include <memory>
#include <optional>
#include <vector>

#include "bandana/audit/auditor.h"
#include "bandana/audit/deployed/recovery_target.h"
#include "gtest/gtest.h"
#include "tests/service/world/planted_stores.h"
#include "tests/support.h"

// Attacks processes that are killed, with `bandana audit`. Seeds are fixed and nothing is retried; a true
// claim is refuted with probability at most 1e-6 per case.
namespace bandana {
namespace {

using service::HastyStore;
using service::RedrawingStore;

constexpr std::int64_t kDraws = 4000;
constexpr DpGuarantee kClaim{1, 0.01};

audit::Finding Attack(const absl::StatusOr<audit::Target>& target, std::uint64_t seed) {
  EXPECT_TRUE(target.ok()) << target.status();
  const auto finding = audit::Audit(*target, {.draws = kDraws, .false_alarm = 1e-6, .seed = seed});
  EXPECT_TRUE(finding.ok()) << finding.status();
  return finding.value_or(audit::Finding{});
}

void ExpectNotRefuted(const audit::Finding& finding) {
  EXPECT_FALSE(finding.refuted) << finding.epsilon_lower << " by " << finding.distinguisher;
  EXPECT_GT(finding.epsilon_lower, 0.15 * kClaim.epsilon) << "the attack is too weak to mean anything";
}

void ExpectRefuted(const audit::Finding& finding) {
  EXPECT_TRUE(finding.refuted) << finding.epsilon_lower;
  EXPECT_GT(finding.epsilon_lower, 1.1 * kClaim.epsilon) << "caught by luck";
}

TEST(RecoveryAudit, KillsTellNothing) {
  ExpectNotRefuted(Attack(audit::CentralRecoveryTarget("central", kClaim), 81));
  ExpectNotRefuted(Attack(audit::LocalRecoveryTarget("local", kClaim), 82));
}

TEST(RecoveryAudit, SecondDrawsAfterAKillBreakTheClaim) {
  const audit::StoreWrap fault = [](store::Store& disk, const store::Ratchet& ratchet,
                                    const store::Entropy& entropy) {
    return std::make_unique<RedrawingStore>(disk, ratchet, entropy);
  };
  ExpectRefuted(Attack(audit::CentralRecoveryTarget("central", kClaim, fault), 83));
  ExpectRefuted(Attack(audit::LocalRecoveryTarget("local", kClaim, fault), 84));
}

TEST(RecoveryAudit, MessagesBeforeTheirLedgerLineBreakTheClaim) {
  const audit::StoreWrap fault = [](store::Store& disk, const store::Ratchet&, const store::Entropy&) {
    return std::make_unique<HastyStore>(disk);
  };
  ExpectRefuted(Attack(audit::CentralRecoveryTarget("central", kClaim, fault), 85));
  ExpectRefuted(Attack(audit::LocalRecoveryTarget("local", kClaim, fault), 86));
}

TEST(RecoveryAudit, EntriesDrawFromTheirGeneratorAlone) {
  for (const audit::Entry& entry : audit::DeployedEntries()) {
    const auto target = audit::MakeTarget(entry, std::nullopt, std::nullopt);
    ASSERT_TRUE(target.ok()) << entry.name << ": " << target.status();
    EXPECT_EQ(target->name, entry.name);
    EXPECT_TRUE(target->claim.has_value());
    std::vector<double> first(target->dimension), again(target->dimension), other(target->dimension);
    test::Noise noise(3), same(3), another(4);
    ASSERT_TRUE(target->draw(audit::Neighbour::kFirst, noise.gen, first).ok());
    ASSERT_TRUE(target->draw(audit::Neighbour::kFirst, same.gen, again).ok());
    ASSERT_TRUE(target->draw(audit::Neighbour::kFirst, another.gen, other).ok());
    EXPECT_EQ(first, again);
    EXPECT_NE(first, other);
    const std::size_t size = 3;  // two lives leave nothing, and all others the same
    EXPECT_EQ(std::vector<double>(first.begin(), first.begin() + 2 * size), std::vector<double>(2 * size));
    for (std::size_t at = 3 * size; at < first.size(); ++at) EXPECT_EQ(first[at], first[at - size]) << at;
  }
}

}  // namespace
}  // namespace bandana
