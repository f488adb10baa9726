#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/accounting/privacy_loss_distribution.h"
#include "bandana/privacy/guarantee.h"

/// Sums in the shuffle model: A. Cheu, M. Joseph, J. Mao and B. Peng, "Shuffle private stochastic convex
/// optimization", ICLR 2022.
///
/// A client has a vector in [0, 1]^dimension, each coordinate scaled from a public interval, the range. It
/// writes a coordinate w as g (1/2 + span (w - 1/2)), rounded at random to one of the neighbouring integers
/// so that the mean stays, and adds Bin(b, p) ones: g + b bits. All bits of a coordinate are shuffled over
/// all clients, so the server sees the coordinate's number of ones and no more; it subtracts n b p and
/// rescales. Neighbours: replace-one. Why this is private, against whom, and all that is computed here:
/// docs/proofs/shuffle-sum.md.
///
/// Notation: g = levels, b = noise_bits, n = clients.
namespace bandana {

struct ShuffleSumParams {
  Count clients;           ///< n: the quorum; no sum is released with fewer reports
  std::int64_t dimension;  ///< coordinates of one client's vector
  DpGuarantee guarantee;   ///< against the server; delta >= 1e-25
  double honest_fraction;  ///< in (0, 1]: the share of the clients that adds its noise and keeps it secret
  double loss;             ///< >= 0: how much more error than a trusted server's, 0.1 for 10 %; tight only
};

struct ShuffleSumSetting {
  std::int64_t levels;
  std::int64_t noise_bits;
  double p;     ///< 1/2, or 1/4
  double span;  ///< the share of the levels that a coordinate's range takes: 1, less for P_VEC

  /// Standard deviations of a coordinate of the released sum over n clients, in units of the range. Rounding
  /// counts with its largest variance, 1/4 of a level's square a client.
  double stddev;           ///< of the whole error: noise and rounding
  double noise_stddev;     ///< of the noise of all n clients
  double gaussian_stddev;  ///< what a trusted server's Gaussian mechanism would add

  std::int64_t bits_per_coordinate;  ///< levels + noise_bits (transport = bits)
  std::int64_t bits_as_count;        ///< the same, sent as a number (transport = counts)
  DpGuarantee delivered;             ///< what really holds, from above, at the delta asked for
  bool within_loss;                  ///< stddev <= (1 + loss) gaussian_stddev sqrt(n / honest clients)
};

/// The least number of clients that are honest if `fraction` of `clients` are: ceil(fraction * clients), a
/// fraction that rounding put just above a whole number taken as that number.
Count HonestClients(Count clients, double fraction);

/// The setting with the fewest bits a coordinate whose error is within the loss, p = 1/2, with the fewest
/// noise bits that give the guarantee. Clients who may be dishonest still add noise, which is error but not
/// privacy: that factor sqrt(n / honest clients) is not held against the loss. Where no setting of up to
/// 65536 bits is within the loss, the one with the most levels, and `within_loss` says so.
absl::StatusOr<ShuffleSumSetting> TightShuffleSum(const ShuffleSumParams& params);

/// P_1D with its published constants, as in P2's Algorithm 4: g = ceil(sqrt(n)),
/// b = ceil(180 g^2 ln(2/delta)/(epsilon^2 n)), p = 1/2. For dimension = 1.
absl::StatusOr<ShuffleSumSetting> PaperScalarSum(const ShuffleSumParams& params);

/// P_VEC with its published constants, as in P1's Theorem 4.6, for epsilon < 15 and delta < 1/2:
/// g = ceil(max(2 sqrt(n), dimension, 4)), b = ceil(24e4 g^2 ln^2(4 (dimension^2 + 1)/delta)/(epsilon^2 n)),
/// p = 1/4. Its levels span the diameter of the l2 ball around the box: span = 1/sqrt(dimension).
absl::StatusOr<ShuffleSumSetting> PaperVectorSum(const ShuffleSumParams& params);

/// What privacy rests on: the bits of noise that the adversary does not know, and how far one client's
/// replacement moves each of the coordinates' counts.
struct ShuffleSumView {
  std::int64_t noise_bits;  ///< of all honest clients together, a coordinate; beyond 2^53 they count as 2^53
  double p;                 ///< 1/2 or 1/4
  std::int64_t shift;
  std::int64_t dimension;
};

/// The view's privacy loss, whichever coordinates move up or down: from above, both directions in one.
/// `resolution` is the delta that matters: masses below 1e-8 of it are not resolved.
PrivacyLossDistribution ShuffleSumLoss(const ShuffleSumView& view, double resolution);

/// N. Agarwal et al., "cpSGD", NeurIPS 2018, Theorem 1: a closed form from above. An error where it does not
/// hold, below a variance of max(23 ln(10 dimension/delta), 2 shift).
absl::StatusOr<double> CpSgdEpsilon(const ShuffleSumView& view, double delta);

}  // namespace bandana
