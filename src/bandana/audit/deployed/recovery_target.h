#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/audit/catalog.h"
#include "bandana/audit/target.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"

/// A process of a deployment that is killed at the worst moments, and started again on its store. The
/// adversary sees all that leaves it over its lives. The claim is that of one release: a new process must not
/// draw again (docs/proofs/journaled-draws.md).
///
/// This folder needs the service, which libbandana does not have. So it is a library of its own, and a
/// program that has the service adds its entries to the catalog.
namespace bandana::audit {

/// Stands between a process and its disk: where tests plant a fault. `entropy` makes keys of this draw.
using StoreWrap = std::function<std::unique_ptr<store::Store>(
    store::Store& disk, const store::Ratchet& ratchet, const store::Entropy& entropy)>;

/// A trusted server that takes its clients' averages and releases their mean.
absl::StatusOr<Target> CentralRecoveryTarget(const std::string& name, DpGuarantee nominal,
                                             StoreWrap wrap = nullptr);

/// An agent that reports for one client.
absl::StatusOr<Target> LocalRecoveryTarget(const std::string& name, DpGuarantee nominal,
                                           StoreWrap wrap = nullptr);

/// The entries of this folder.
std::vector<Entry> DeployedEntries();

}  // namespace bandana::audit
