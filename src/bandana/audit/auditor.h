#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "bandana/audit/target.h"

namespace bandana::audit {

/// Where the target's noise comes from.
enum class Bits {
  /// Philox, addressed by (seed, neighbour, stage, block): the same finding for any number of threads.
  kSeeded,
  kSecure,  ///< the service's own generator: cannot be repeated
};

struct AuditOptions {
  std::int64_t draws = 0;  ///< the draws under each neighbour, all stages together; at least kLeastDraws
  /// In (0, 1). Over the draws, the probability of refuting a true claim, or of overstating epsilon, is at
  /// most this.
  double false_alarm = 0;
  Bits bits = Bits::kSeeded;
  std::uint64_t seed = 0;  ///< only for kSeeded
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;  ///< ends the audit with kCancelled
};

inline constexpr std::int64_t kLeastDraws = 1000;

/// The result of an attack. Both bounds hold together, with probability at least 1 - false_alarm.
struct Finding {
  std::string target;
  std::optional<Claim> claim;
  /// A lower bound on the true epsilon at the claimed delta (without a claim: at delta 0).
  double epsilon_lower = 0;
  /// A lower bound on the true delta at the claimed epsilon (without a claim: at epsilon 0).
  double delta_lower = 0;
  std::string distinguisher;  ///< the distinguisher behind epsilon_lower
  std::int64_t draws = 0;
  double false_alarm = 0;
  bool refuted = false;  ///< whether either bound exceeds the claim
};

/// Attacks the target. The draws are split into three parts. Distinguishers are learned on the first part. On
/// the second, a distinguisher and its threshold are chosen, for each direction and separately for epsilon
/// and delta. Only the rest, at least half, is counted for the bounds, so no choice has seen the data by
/// which it is judged. Each of the two limits of each of the four events has an eighth of the false alarm.
absl::StatusOr<Finding> Audit(const Target& target, const AuditOptions& options);

}  // namespace bandana::audit
