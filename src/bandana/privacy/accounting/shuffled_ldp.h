#pragma once

#include <cstdint>

#include "bandana/privacy/accounting/privacy_loss_distribution.h"

namespace bandana {

/// n users each send one report of an epsilon0-LDP randomizer through a shuffler: as an event that composes.
/// Neighbours: replace-one. The same both ways round.
///
/// The pair of V. Feldman, A. McMillan and K. Talwar, "Hiding among the clones", FOCS 2021, Theorem 3.2, of
/// which every such mechanism is a post-processing. A smaller number of clones is never better, so that
/// numbers of clones are taken together in blocks, each as its least. Proof: docs/proofs/accounting.md.
/// epsilon0 > 0, n >= 1.
PrivacyLossDistribution ShuffledLdpLoss(double epsilon0, std::int64_t n, double spacing);

/// About the standard deviation of that loss, to choose a grid by.
double ShuffledLdpScale(double epsilon0, std::int64_t n);

}  // namespace bandana
