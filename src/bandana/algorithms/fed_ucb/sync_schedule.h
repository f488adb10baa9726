#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/regression_sums.h"

namespace bandana {

/// When silos release: P3's Remark 1, and ours. All but the last are public beforehand or follow from what
/// has been released.
enum class Sync {
  kEvery,     ///< every round
  kBatch,     ///< every `batch` rounds
  kMLogT,     ///< M log T messages in all, in log2 T syncs
  kM15,       ///< M^1.5 messages in all, in sqrt(M) syncs
  kDoubling,  ///< after rounds 1, 2, 4, ...
  kReleased,  ///< when the determinant that released sums predict has grown by a fixed factor; log2 T syncs
  kDeterminant,  ///< when some agent's own data have grown enough: the paper's choice, and a leak
};

std::string_view NameOf(Sync sync);

struct SyncScheduleParams {
  Sync sync = Sync::kMLogT;
  Count horizon = 0;  ///< T
  Count agents = 0;   ///< M
  Count batch = 0;    ///< with kBatch
  /// With kDeterminant: the largest number of syncs; further triggers are ignored. 0: as many as rounds.
  Count most = 0;
};

/// The rounds after which there is a sync. They are 1 <= t < T, since what is released after the last round
/// helps nobody.
class SyncSchedule {
 public:
  static absl::StatusOr<SyncSchedule> Create(const SyncScheduleParams& params);

  /// Returns n, the number of releases, which is fixed beforehand.
  std::int64_t releases() const { return releases_; }

  /// Returns the round of sync number `step` (from 1). The sync before it was after round `last`; `sums` are
  /// its sums over all records and `shift` is what is added to their Gram matrix. Before the first sync
  /// `sums` is null. The horizon is returned if there is no such sync.
  Count Next(std::int64_t step, Count last, const RegressionSums* sums, double shift) const;

  /// Returns whether agents must ask for syncs.
  bool triggered() const { return params_.sync == Sync::kDeterminant; }

  const SyncScheduleParams& params() const { return params_; }

 private:
  SyncSchedule(const SyncScheduleParams& params, std::int64_t releases)
      : params_(params), releases_(releases) {}

  SyncScheduleParams params_;
  std::int64_t releases_;
};

/// Returns D of P3's Theorem 1: D = 2 T d / (log(rho_max/rho_min + T L^2/(d rho_min)) + 1).
double DeterminantThreshold(Count horizon, Count dimension, double context_norm, double rho_min,
                            double rho_max);

}  // namespace bandana
