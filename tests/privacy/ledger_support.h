#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bandana/privacy/ledger/ledger.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/wire.h"
#include "tests/folder.h"

/// Ledgers of tests.
namespace bandana {

using test::Folder;
using test::Medium;
using Units = std::vector<std::int64_t>;
using Durability = Ledger::Durability;

inline LedgerHeader Header() {
  return {.deployment = "a \"small\"\ndeployment \\ of ours",
          .configuration = "0123abcd",
          .claims = {ClientClaim("everyone \"outside\"", {1, 0.5}, "docs/proofs/central-gaussian.md"),
                     {.adversary = "the shuffler",
                      .guarantee = {2.25, 0},
                      .unit = "one reward",
                      .neighbours = "replace-one",
                      .proof = "docs/proofs/dealt.md",
                      .only_if = "streams are logged",
                      .asked = false}},
          .void_reason = "a seed is known",
          .limits = {.per_unit = {1, 0.5}}};
}

inline std::string Slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void Spill(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

inline absl::StatusOr<LedgerState> Verify(const std::string& path, const ReadOptions& options = {}) {
  return ReadLedger(path, options,
                    [](const Dated<LedgerEntry>&, std::string_view) { return absl::OkStatus(); });
}

// Counts its draws and numbers them.
class Drawer {
 public:
  absl::StatusOr<Units> Once(Ledger& ledger, const ReleaseKey& key, double epsilon,
                             const std::vector<std::uint32_t>& clients) {
    std::vector<NodeId> units;
    for (const std::uint32_t client : clients) units.push_back(NodeId{client});
    const auto ranges = UnitRanges::Of(std::move(units));
    if (!ranges.ok()) return ranges.status();
    const auto report =
        ledger.Once(key, {{epsilon, 0.0625}, {epsilon, 0.0625}}, *ranges, [&]() -> absl::StatusOr<Report> {
          ++draws;
          if (fails) return absl::InternalError("no draw");
          return Wire::FromUnits(key.node, {draws, -draws, std::int64_t{1} << 62}, 33, 5);
        });
    if (!report.ok()) return report.status();
    Units all = Wire::Units(*report);
    all.insert(all.end(), {report->bits(), report->quorum()});
    return all;
  }

  std::int64_t draws = 0;
  bool fails = false;
};

class LedgerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Ledger> Open(Durability durability = Durability::kEach) {
    auto ledger = Ledger::Open(path_, Header(), durability);
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    return ledger.ok() ? *std::move(ledger) : nullptr;
  }
  absl::Status OpenStatus(const LedgerHeader& header = Header()) {
    return Ledger::Open(path_, header, Durability::kEach).status();
  }
  absl::StatusOr<Units> Once(Ledger& ledger, const ReleaseKey& key, double epsilon,
                             const std::vector<std::uint32_t>& clients) {
    return drawer_.Once(ledger, key, epsilon, clients);
  }
  // Writes and closes a ledger with a header and three charges.
  void WriteSmall() {
    const auto ledger = Open();
    ASSERT_TRUE(Once(*ledger, {NodeId{0}, 1}, 0.25, {3, 1, 2}).ok());
    ASSERT_TRUE(Once(*ledger, {NodeId{0}, 2}, 0.25, {1, 9}).ok());
    ASSERT_TRUE(Once(*ledger, {NodeId{0}, 3}, 0.5, {7}).ok());
  }

  Folder folder_;
  std::string path_ = folder_ / "ledger";
  std::string head_path_ = HeadPath(path_);
  Drawer drawer_;
};

}  // namespace bandana
