#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/store/anchor.h"
#include "bandana/store/identity.h"
#include "bandana/store/ledger_mirror.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// A store whose ledger is also known outside of it. A transaction with lines of the ledger gets the new
/// head, signed, and Commit returns only after the copy of the ledger and the anchor are durable, too. So
/// whatever leaves the process is after a point that an old copy of the store lacks.
class GuardedStore final : public Store {
 public:
  struct Params {
    std::string mirror;                   ///< the file of the copy of the ledger; empty: no copy
    std::string anchor;                   ///< the file of the anchor; empty: no anchor
    std::optional<IdentityKey> identity;  ///< the key that signs heads
  };

  /// Opens mirror and anchor, and brings them to where the store is. Fails as LedgerMirror::Open and
  /// Anchor::Open do; then the store must not be used.
  static absl::StatusOr<std::unique_ptr<GuardedStore>> Open(std::unique_ptr<Store> store, Params params);

  const std::string& name() const override { return store_->name(); }
  absl::Status Commit(std::span<const Change> changes) override;
  absl::StatusOr<std::vector<Run>> Runs() override {
    if (!failed_.ok()) return failed_;
    return store_->Runs();
  }
  absl::StatusOr<std::optional<std::string>> Meta(const std::string& key) override {
    if (!failed_.ok()) return failed_;
    return store_->Meta(key);
  }
  absl::StatusOr<std::optional<PutSnapshot>> Snapshot() override {
    if (!failed_.ok()) return failed_;
    return store_->Snapshot();
  }
  absl::Status ForEachInput(absl::FunctionRef<absl::Status(const AddInput&)> visit) override {
    if (!failed_.ok()) return failed_;
    return store_->ForEachInput(visit);
  }
  absl::Status ForEachOutput(absl::FunctionRef<absl::Status(const PutOutput&)> visit) override {
    if (!failed_.ok()) return failed_;
    return store_->ForEachOutput(visit);
  }
  absl::Status ForEachAcknowledgement(absl::FunctionRef<absl::Status(const Acknowledge&)> visit) override {
    if (!failed_.ok()) return failed_;
    return store_->ForEachAcknowledgement(visit);
  }
  absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const AddDraw&)> visit) override {
    if (!failed_.ok()) return failed_;
    return store_->ForEachDraw(visit);
  }
  absl::StatusOr<std::uint64_t> Lines() override {
    if (!failed_.ok()) return failed_;
    return store_->Lines();
  }
  absl::Status ForEachLine(std::uint64_t from,
                           absl::FunctionRef<absl::Status(const AddLine&)> visit) override {
    if (!failed_.ok()) return failed_;
    return store_->ForEachLine(from, visit);
  }
  void WatchCharges(std::shared_ptr<const bool> waiting) override {
    store_->WatchCharges(std::move(waiting));
  }

 private:
  GuardedStore(std::unique_ptr<Store> store, Params params)
      : store_(std::move(store)), params_(std::move(params)) {}
  absl::Status Begin();
  absl::Status TakeHeader(const AddLine& line);
  SignedHead HeadAfter(const AddLine& line) const;
  absl::Status Publish(const SignedHead& head);

  std::unique_ptr<Store> store_;
  Params params_;
  std::string identity_;       // of the store
  std::string configuration_;  // of the ledger, empty as long as it has no header
  std::optional<LedgerMirror> mirror_;
  std::optional<Anchor> anchor_;
  bool knows_anchor_ = false;  // the store remembers its anchor
  absl::Status failed_;
};

}  // namespace bandana::store
