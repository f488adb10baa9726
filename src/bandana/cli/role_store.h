#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/cli/role_run.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/service/deployed.h"
#include "bandana/store/memory_store.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"

namespace bandana::cli {

/// A role's store, its keys and the copies of its ledger, opened as [service] says.
class RoleStore {
 public:
  /// `name` is the name of the process, such as "agent/3", and `budget` that of one unit. `run` must outlive
  /// the result. Errors name the key.
  static absl::StatusOr<std::unique_ptr<RoleStore>> Open(const RoleRun& run, const std::string& name,
                                                         const DpGuarantee& budget);

  const service::Deployed& deployed() const { return deployed_; }

  /// Returns the head of the ledger; nothing if nobody keeps it.
  std::optional<LedgerHead> head() const;

 private:
  RoleStore() = default;
  absl::Status OpenStore(const RoleRun& run, const std::string& name);
  absl::Status Guard(const RoleRun& run, const std::string& name);
  absl::Status OpenKeys(const RoleRun& run, const std::string& name);

  store::MemoryDisk disk_;
  std::unique_ptr<store::Store> store_;
  std::optional<store::Ratchet> ratchet_;
  bool keeps_ledger_ = false;
  service::Deployed deployed_;
};

/// Returns whether a role's run outlives its process.
bool IsDurable(const RoleConfig& config);

}  // namespace bandana::cli
