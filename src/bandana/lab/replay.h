#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/bandit/recorder.h"
#include "bandana/lab/settings.h"
#include "bandana/privacy/claim.h"

/// environment.kind = "replay": what a log has, for P5's algorithms and their baselines.
///
/// log = "obp": a file with the Open Bandit Pipeline's columns, by rejection (bandit/replay.h). Regret is not
/// known (nan). `value`, with an interval of 95 %: what a round earned on average so far; or, by evaluation =
/// "doubly-robust", what the greedy policy of the thetas at that checkpoint, learned from the log's first
/// half, earns in its second (bandit/off_policy.h).
///
/// log = "auto-lending": applicants drawn from the file, or from its synthetic twin, offered one of K prices.
/// A logistic regression of the file's own outcomes is the truth, regret is known, and `value` is the mean
/// reward so far.
///
/// A log may end before the horizon: later checkpoints repeat the last state. `clients` are rounds that
/// counted.
namespace bandana::lab {

bool IsReplay(const Settings& settings);

absl::Status CheckReplay(const Settings& settings);

/// Why a point claims nothing though it draws noise: people of a file who come again and again. Empty if it
/// does.
std::string ReplayVoidReason(const Settings& settings);

/// What a claim is not about.
std::vector<std::string> ReplayNotes(const Settings& settings);

absl::StatusOr<std::vector<Claim>> ReplayClaims(const Settings& settings);

absl::StatusOr<std::vector<Checkpoint>> RunReplay(const Settings& settings, std::uint32_t replicate,
                                                  const std::atomic<bool>& stop);

}  // namespace bandana::lab
