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
  kMLogT,     ///< M log T messages in all: log2 T synchronisations
  kM15,       ///< M^1.5 messages: sqrt(M)
  kDoubling,  ///< after rounds 1, 2, 4, ...
  kReleased,  ///< when the information that released sums foretell has grown by its share; as many as kMLogT
  kDeterminant,  ///< when some agent's own data have grown enough: the paper's, and a leak
};

std::string_view NameOf(Sync sync);  ///< as in TOML

struct SyncScheduleParams {
  Sync sync = Sync::kMLogT;
  Count horizon = 0;  ///< T
  Count agents = 0;   ///< M
  Count batch = 0;    ///< kBatch
  /// kDeterminant: the most that are ever made; further triggers are not heard. 0: as many as rounds.
  Count most = 0;
};

/// Rounds after which there is a synchronisation: 1 <= t < T, since what is released after the last round
/// helps nobody.
class SyncSchedule {
 public:
  static absl::StatusOr<SyncSchedule> Create(const SyncScheduleParams& params);

  /// n, fixed beforehand.
  std::int64_t releases() const { return releases_; }

  /// The round of synchronisation number `step` (from 1), after one at `last` whose sums, over all records,
  /// are given with what is added to their Gram matrix; null before the first. The horizon: there is none.
  Count Next(std::int64_t step, Count last, const RegressionSums* sums, double shift) const;

  /// Whether agents must tell when it is time.
  bool triggered() const { return params_.sync == Sync::kDeterminant; }

  const SyncScheduleParams& params() const { return params_; }

 private:
  SyncSchedule(const SyncScheduleParams& params, std::int64_t releases)
      : params_(params), releases_(releases) {}

  SyncScheduleParams params_;
  std::int64_t releases_;
};

/// P3's Theorem 1: D = 2 T d / (log(rho_max/rho_min + T L^2/(d rho_min)) + 1).
double DeterminantThreshold(Count horizon, Count dimension, double context_norm, double rho_min,
                            double rho_max);

}  // namespace bandana
