#pragma once

#include <cstdint>

#include "bandana/privacy/accounting/privacy_loss_distribution.h"

namespace bandana {

/// Returns the privacy loss of n users who each send one report of an epsilon0-LDP randomizer through a
/// shuffler, as an event that composes. The neighbours are replace-one. Both directions have the same loss.
///
/// It uses the pair of V. Feldman, A. McMillan and K. Talwar, "Hiding among the clones", FOCS 2021, Theorem
/// 3.2: every such mechanism is a post-processing of it. Fewer clones never give better privacy, so numbers
/// of clones are grouped into blocks, and each block counts as its smallest number. Proof:
/// docs/proofs/accounting.md. epsilon0 > 0, n >= 1.
PrivacyLossDistribution ShuffledLdpLoss(double epsilon0, std::int64_t n, double spacing);

/// Returns roughly the standard deviation of that loss, to choose a grid by.
double ShuffledLdpScale(double epsilon0, std::int64_t n);

}  // namespace bandana
