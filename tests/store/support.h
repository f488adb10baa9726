#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bandana/privacy/wire.h"
#include "bandana/store/memory_store.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"
#include "bandana/store/store_ledger.h"
#include "tests/folder.h"

/// Stores of tests.
namespace bandana::store {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

inline std::string RunId(char letter) { return std::string(16, letter); }
inline const absl::Time kBegan = absl::FromUnixMicros(1'800'000'000'123'456);
inline const absl::Time kEnded = absl::FromUnixMicros(1'800'000'100'000'000);

inline absl::Status Commit(Store& store, const Transaction& changes) { return store.Commit(changes); }

inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Row, class ForEach>
std::vector<Row> Rows(Store& store, ForEach for_each) {
  std::vector<Row> rows;
  const absl::Status status = (store.*for_each)([&](const Row& row) {
    rows.push_back(row);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}
inline std::vector<AddInput> Inputs(Store& store) { return Rows<AddInput>(store, &Store::ForEachInput); }
inline std::vector<PutOutput> Outputs(Store& store) { return Rows<PutOutput>(store, &Store::ForEachOutput); }
inline std::vector<Acknowledge> Acknowledgements(Store& store) {
  return Rows<Acknowledge>(store, &Store::ForEachAcknowledgement);
}
inline std::vector<AddDraw> Draws(Store& store) { return Rows<AddDraw>(store, &Store::ForEachDraw); }
inline std::vector<AddLine> Lines(Store& store, std::uint64_t from = 0) {
  std::vector<AddLine> lines;
  const absl::Status status = store.ForEachLine(from, [&](const AddLine& line) {
    lines.push_back(line);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return lines;
}

/// The header of a ledger whose units may spend 1 each.
inline LedgerHeader SmallHeader() {
  return {.deployment = "small",
          .configuration = "0123abcd",
          .claims = {},
          .void_reason = {},
          .limits = {.per_unit = {1, 0.5}}};
}

/// Returns a report that shows from which seed it was drawn.
inline Report ReportOf(const Key& seed) { return Wire::FromUnits(NodeId{7}, {seed[0], seed[1], seed[31]}); }

/// Asks for the seed, charges the unit and draws.
inline absl::StatusOr<Report> Release(StoreLedger& ledger, const ReleaseKey& key, double epsilon = 0.25,
                                      NodeId unit = NodeId{7}) {
  const absl::StatusOr<Key> seed = ledger.SeedOf(key);
  if (!seed.ok()) return seed.status();
  return ledger.Once(key, {{epsilon, 0}, {epsilon, 0}}, unit, [&] { return ReportOf(*seed); });
}

inline std::unique_ptr<StoreLedger> OpenLedger(Store& store, const LedgerHeader& header = SmallHeader()) {
  absl::StatusOr<std::unique_ptr<StoreLedger>> ledger = StoreLedger::Open(store, header);
  EXPECT_TRUE(ledger.ok()) << ledger.status();
  return ledger.ok() ? *std::move(ledger) : nullptr;
}

/// Makes valid lines of a ledger, also such that only a store refuses.
class LineMaker {
 public:
  explicit LineMaker(const LedgerHeader& header = SmallHeader()) {
    LedgerHeader of_store = header;
    of_store.of_store = true;
    header_ = Next(FormatHeader(of_store, kBegan));
  }
  const AddLine& header() const { return header_; }

  AddLine Charge(const std::string& run, const ReleaseKey& key, double epsilon = 0.25) {
    const LedgerEntry entry{.key = key,
                            .guarantee = {0.25, 0},
                            .loss = {epsilon, 0},
                            .units = NodeId{7},
                            .draw = {},
                            .run = RunName(run)};
    return Next(FormatEntry(entry, Measure::kApproximateDp, seq_, kBegan));
  }
  AddLine Next(const std::string& content) {
    hash_ = ChainHash(hash_, content);
    std::string line = Join(content, hash_);
    line.pop_back();
    return {seq_++, line};
  }

 private:
  std::uint64_t seq_ = 0;
  std::string hash_{kNoHash};
  AddLine header_;
};

}  // namespace bandana::store
