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
  kSeeded,  ///< Philox, addressed by (seed, neighbour, stage, block): the same finding for any number of
            ///< threads
  kSecure,  ///< the service's own generator: cannot be repeated
};

struct AuditOptions {
  std::int64_t draws = 0;  ///< under each neighbour, all stages together; at least kLeastDraws
  double false_alarm = 0;  ///< in (0, 1): refutes a true claim, or overstates epsilon, with at most this
                           ///< probability over the draws
  Bits bits = Bits::kSeeded;
  std::uint64_t seed = 0;  ///< of kSeeded
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;  ///< ends the audit with kCancelled
};

inline constexpr std::int64_t kLeastDraws = 1000;

/// What an attack has found. Both bounds hold together, with probability at least 1 - false_alarm.
struct Finding {
  std::string target;
  std::optional<Claim> claim;
  double epsilon_lower =
      0;  ///< the true epsilon at the claimed delta (no claim: at delta 0) is at least this
  double delta_lower =
      0;  ///< the true delta at the claimed epsilon (no claim: at epsilon 0) is at least this
  std::string distinguisher;  ///< behind epsilon_lower
  std::int64_t draws = 0;
  double false_alarm = 0;
  bool refuted = false;  ///< either bound exceeds the claim
};

/// Attacks the target. The draws are split: on a first part distinguishers are learned, on a second one is
/// chosen with its threshold, for each direction and for epsilon and delta apart, and only the rest, at least
/// half, are counted for the bounds, so that no choice has seen the data it is judged by. The two limits of
/// each of the four events take an eighth of the false alarm.
absl::StatusOr<Finding> Audit(const Target& target, const AuditOptions& options);

}  // namespace bandana::audit
