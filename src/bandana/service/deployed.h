#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/service/limits.h"
#include "bandana/service/log_event.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"

namespace bandana::service {

class KeyRing;

/// Where a process keeps what it must not forget. Both must outlive the run.
struct Storage {
  store::Store* store = nullptr;
  store::Ratchet* ratchet = nullptr;
};

/// How a process of a deployment is run: what it keeps, and how it knows the others. Every role has one.
struct Deployed {
  Storage storage = {};      ///< without a store, it keeps its run in memory
  LedgerHeader header = {};  ///< of the store's ledger; only with a store
  /// Whether the store outlives the process, so that the run can go on later.
  bool comes_back = false;
  std::shared_ptr<const KeyRing> keys = {};    ///< null: plain text, which does not leave this machine
  absl::Duration silence = absl::Minutes(10);  ///< a process that was away for longer is given up
  Limits limits = {};
  absl::Duration recheck = absl::Seconds(2);  ///< how often open connections are checked again
  TakeEvent on_event = {};
};

}  // namespace bandana::service
