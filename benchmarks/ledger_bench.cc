// Charges per second, with waiting for the disk: one at a time, in groups, and one that names 10^5 clients;
// and the speed of verifying a ledger. The files are in the working folder, so that you choose the disk.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <numeric>

#include "bandana/core/check.h"
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/wire.h"

namespace bandana {
namespace {

constexpr char kPath[] = "ledger_bench.ledger";
constexpr double kCost = 1e-6;

void Remove() {
  std::filesystem::remove(kPath);
  std::filesystem::remove(HeadPath(kPath));
}

std::unique_ptr<Ledger> Fresh(Ledger::Durability durability) {
  Remove();
  auto ledger = Ledger::Open(kPath,
                             {.deployment = "bench",
                              .configuration = "none",
                              .claims = {},
                              .void_reason = {},
                              .limits = {.per_unit = {1e9, 1}}},
                             durability);
  BANDANA_CHECK(ledger.ok());
  return *std::move(ledger);
}

void Release(Ledger& ledger, Epoch epoch, std::vector<NodeId> units) {
  const auto report =
      ledger.Once({NodeId{0}, epoch}, {{kCost, 0}, {kCost, 0}}, *UnitRanges::Of(std::move(units)), [] {
        return absl::StatusOr<Report>(Wire::FromUnits(NodeId{0}, std::vector<std::int64_t>(20, 123456789)));
      });
  BANDANA_CHECK(report.ok());
}

void BM_ChargeEachDurable(benchmark::State& state) {
  const auto ledger = Fresh(Ledger::Durability::kEach);
  Epoch epoch = 0;
  for (auto _ : state) Release(*ledger, ++epoch, {NodeId{7}});
  state.SetItemsProcessed(state.iterations());
  Remove();
}
BENCHMARK(BM_ChargeEachDurable)->Unit(benchmark::kMicrosecond)->UseRealTime();

void BM_ChargesInGroups(benchmark::State& state) {
  const auto ledger = Fresh(Ledger::Durability::kGrouped);
  Epoch epoch = 0;
  for (auto _ : state) {
    for (int i = 0; i < state.range(0); ++i) Release(*ledger, ++epoch, {NodeId{7}});
    BANDANA_CHECK(ledger->Commit().ok());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  Remove();
}
BENCHMARK(BM_ChargesInGroups)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond)->UseRealTime();

// The charge names every `gap`-th client: 1 gives one range, 2 the longest possible text.
void BM_ChargeOfManyClients(benchmark::State& state) {
  const auto ledger = Fresh(Ledger::Durability::kEach);
  std::vector<NodeId> units;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    units.push_back(NodeId{1 + i * static_cast<std::uint32_t>(state.range(0))});
  }
  Epoch epoch = 0;
  for (auto _ : state) Release(*ledger, ++epoch, units);
  state.counters["bytes_a_line"] = static_cast<double>(std::filesystem::file_size(kPath)) / epoch;
  Remove();
}
BENCHMARK(BM_ChargeOfManyClients)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Verify(benchmark::State& state) {
  {
    const auto ledger = Fresh(Ledger::Durability::kGrouped);
    for (Epoch epoch = 1; epoch <= state.range(0); ++epoch) {
      Release(*ledger, epoch, {NodeId{static_cast<std::uint32_t>(epoch)}});
    }
    BANDANA_CHECK(ledger->Commit().ok());
  }
  for (auto _ : state) {
    const auto read =
        ReadLedger(kPath, {}, [](const Dated<LedgerEntry>&, std::string_view) { return absl::OkStatus(); });
    BANDANA_CHECK(read.ok());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  Remove();
}
BENCHMARK(BM_Verify)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bandana
