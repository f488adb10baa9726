#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "bandana/core/status.h"
#include "bandana/store/memory_store.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"
#include "bandana/store/store_ledger.h"
#include "fmt/format.h"
#include "tests/service/world/world.h"

/// Stores that are broken on purpose, and behave as stores do otherwise. A world must find each of them.
namespace bandana::service {

/// Does what the store below it does.
class ForwardingStore : public store::Store {
 public:
  explicit ForwardingStore(store::Store& below) : below_(&below) {}
  const std::string& name() const override { return below_->name(); }
  absl::Status Commit(std::span<const store::Change> changes) override { return below_->Commit(changes); }
  absl::StatusOr<std::vector<store::Run>> Runs() override { return below_->Runs(); }
  absl::StatusOr<std::optional<std::string>> Meta(const std::string& key) override {
    return below_->Meta(key);
  }
  absl::StatusOr<std::optional<store::PutSnapshot>> Snapshot() override { return below_->Snapshot(); }
  absl::Status ForEachInput(absl::FunctionRef<absl::Status(const store::AddInput&)> visit) override {
    return below_->ForEachInput(visit);
  }
  absl::Status ForEachOutput(absl::FunctionRef<absl::Status(const store::PutOutput&)> visit) override {
    return below_->ForEachOutput(visit);
  }
  absl::Status ForEachAcknowledgement(
      absl::FunctionRef<absl::Status(const store::Acknowledge&)> visit) override {
    return below_->ForEachAcknowledgement(visit);
  }
  absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const store::AddDraw&)> visit) override {
    return below_->ForEachDraw(visit);
  }
  absl::StatusOr<std::uint64_t> Lines() override { return below_->Lines(); }
  absl::Status ForEachLine(std::uint64_t from,
                           absl::FunctionRef<absl::Status(const store::AddLine&)> visit) override {
    return below_->ForEachLine(from, visit);
  }

 protected:
  store::Store& below() { return *below_; }

 private:
  store::Store* below_;
};

template <class Row>
bool Has(std::span<const store::Change> changes) {
  return std::any_of(changes.begin(), changes.end(),
                     [](const store::Change& each) { return std::holds_alternative<Row>(each); });
}

/// Says that a transaction is durable before it is: a crash loses the last one.
class HastyStore : public ForwardingStore {
 public:
  explicit HastyStore(store::Store& below) : ForwardingStore(below) {}
  explicit HastyStore(const SimulatedWorld::Place& place) : ForwardingStore(place.store) {}
  absl::Status Commit(std::span<const store::Change> changes) override {
    const store::Transaction next(changes.begin(), changes.end());
    if (const auto held = std::exchange(held_, next); !held.empty()) return below().Commit(held);
    return absl::OkStatus();
  }

 protected:
  store::Transaction held_;
};

/// Does so only for transactions that have nothing but messages that were taken.
class EarlyAcknowledgingStore final : public HastyStore {
 public:
  using HastyStore::HastyStore;
  absl::Status Commit(std::span<const store::Change> changes) override {
    const bool only_inputs = std::all_of(changes.begin(), changes.end(), [](const store::Change& each) {
      return std::holds_alternative<store::AddInput>(each) ||
             std::holds_alternative<store::Acknowledge>(each);
    });
    if (only_inputs) {
      held_.insert(held_.end(), changes.begin(), changes.end());
      return absl::OkStatus();
    }
    store::Transaction all = std::exchange(held_, {});
    all.insert(all.end(), changes.begin(), changes.end());
    return below().Commit(all);
  }
};

/// Does not write the charges of a release, although it says so.
class ChargelessStore final : public ForwardingStore {
 public:
  explicit ChargelessStore(const SimulatedWorld::Place& place) : ForwardingStore(place.store) {}
  absl::Status Commit(std::span<const store::Change> changes) override {
    store::Transaction kept;
    for (const store::Change& change : changes) {
      const auto* const line = std::get_if<store::AddLine>(&change);
      if ((line != nullptr && line->seq > 0) || std::holds_alternative<store::AddDraw>(change)) continue;
      kept.push_back(change);
    }
    return below().Commit(kept);
  }
};

/// Takes the last charge back when its process starts again.
class RefundingStore final : public ForwardingStore {
 public:
  explicit RefundingStore(const SimulatedWorld::Place& place) : ForwardingStore(place.store) {
    const std::uint64_t lines = place.disk.lines().size();
    if (lines > 1) hidden_ = lines - 1;
  }
  absl::StatusOr<std::uint64_t> Lines() override {
    BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, below().Lines());
    return hidden_ ? lines - 1 : lines;
  }
  absl::Status ForEachLine(std::uint64_t from,
                           absl::FunctionRef<absl::Status(const store::AddLine&)> visit) override {
    return below().ForEachLine(from, [&](const store::AddLine& line) {
      return hidden_ == line.seq ? absl::OkStatus() : visit(line);
    });
  }

 private:
  std::optional<std::uint64_t> hidden_;
};

/// Keeps no message that waits, so that a new process computes them again. Such a store is sound: the
/// messages follow from seeds and inputs. But it shows where these change.
class RecomputingStore : public ForwardingStore {
 public:
  RecomputingStore(store::Store& below, const store::Ratchet& ratchet)
      : ForwardingStore(below), ratchet_(ratchet) {}
  explicit RecomputingStore(const SimulatedWorld::Place& place)
      : RecomputingStore(place.store, place.ratchet) {}
  absl::Status Commit(std::span<const store::Change> changes) override {
    if (Has<store::PutSnapshot>(changes)) return below().Commit(changes);
    store::Transaction kept;
    for (const store::Change& change : changes) {
      if (!std::holds_alternative<store::PutOutput>(change)) kept.push_back(change);
    }
    return below().Commit(kept);
  }

 protected:
  store::Sealer sealer() const { return store::Sealer(ratchet_); }

 private:
  const store::Ratchet& ratchet_;
};

/// Gives a process that starts again other seeds than those that it has drawn with.
class RedrawingStore final : public RecomputingStore {
 public:
  using RecomputingStore::RecomputingStore;
  RedrawingStore(store::Store& below, const store::Ratchet& ratchet, store::Entropy entropy)
      : RecomputingStore(below, ratchet), entropy_(std::move(entropy)) {}
  absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const store::AddDraw&)> visit) override {
    return below().ForEachDraw([&](const store::AddDraw& draw) {
      const store::Key seed = entropy_();
      const std::string place = store::DrawPlace(draw.key);
      return visit({draw.key, sealer().Seal(place, std::string(seed.begin(), seed.end()))});
    });
  }

 private:
  store::Entropy entropy_ = store::RandomKey;
};

/// Is used by every process that has ever opened it, also by those that were deposed.
class UnfencedStore final : public ForwardingStore {
 public:
  explicit UnfencedStore(const SimulatedWorld::Place& place)
      : ForwardingStore(place.store), disk_(place.disk) {}
  absl::Status Commit(std::span<const store::Change> changes) override {
    return store::MemoryStore(disk_).Commit(changes);
  }

 private:
  store::MemoryDisk& disk_;
};

/// If a commit fails, a part of the transaction is durable.
class TearingStore final : public ForwardingStore {
 public:
  explicit TearingStore(const SimulatedWorld::Place& place)
      : ForwardingStore(place.store), disk_(place.disk) {}
  absl::Status Commit(std::span<const store::Change> changes) override {
    const absl::Status status = below().Commit(changes);
    const bool tears = absl::StrContains(status.message(), "the process ends in commit");
    for (std::size_t kept = tears ? changes.size() - 1 : 0; kept > 0; --kept) {
      if (store::MemoryStore(disk_).Commit(changes.subspan(0, kept)).ok()) break;
    }
    return status;
  }

 private:
  store::MemoryDisk& disk_;
};

template <class Store>
SimulatedWorld::Wrap Planted() {
  return [](const SimulatedWorld::Place& place) -> absl::StatusOr<std::unique_ptr<store::Store>> {
    return std::make_unique<Store>(place);
  };
}

}  // namespace bandana::service
