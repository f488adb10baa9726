#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/accounting/privacy_loss_distribution.h"
#include "bandana/privacy/collusion.h"
#include "bandana/privacy/guarantee.h"

/// Sums in the shuffle model: A. Cheu, M. Joseph, J. Mao and B. Peng, "Shuffle private stochastic convex
/// optimization", ICLR 2022.
///
/// A client has a vector in [0, 1]^dimension; each coordinate is scaled from a public interval, the range.
/// The client writes a coordinate w as g (1/2 + span (w - 1/2)) and rounds it at random to one of the
/// neighbouring integers such that the mean stays. Then it adds Bin(b, p) ones: g + b bits. All bits of a
/// coordinate are shuffled over all clients, so the server sees the coordinate's number of ones and no more.
/// The server subtracts n b p and rescales. The neighbours are replace-one. docs/proofs/shuffle-sum.md says
/// why this is private, against whom, and derives all that is computed here.
///
/// Notation: g = levels, b = noise_bits, n = clients.
namespace bandana {

struct ShuffleSumParams {
  Count clients;           ///< n, also the quorum: no sum is released with fewer reports
  std::int64_t dimension;  ///< number of coordinates of one client's vector
  DpGuarantee guarantee;   ///< against the server; delta >= 1e-25
  Count hiding;            ///< in [1, clients]: the clients whose noise the adversary does not know
  double loss;  ///< >= 0: the relative excess over a trusted server's error, 0.1 for 10 %; only for
                ///< TightShuffleSum
};

struct ShuffleSumSetting {
  std::int64_t levels;
  std::int64_t noise_bits;
  double p;     ///< 1/2, or 1/4
  double span;  ///< the share of the levels that a coordinate's range takes: 1, or less for P_VEC

  /// Standard deviations of a coordinate of the released sum over n clients, in units of the range. Rounding
  /// counts with its largest variance, which for each client is 1/4 of a level squared.
  double stddev;           ///< the whole error, noise and rounding together
  double noise_stddev;     ///< the noise of all n clients
  double gaussian_stddev;  ///< the noise that a trusted server's Gaussian mechanism would add

  std::int64_t bits_per_coordinate;  ///< levels + noise_bits (transport = bits)
  std::int64_t bits_as_count;        ///< bits of the coordinate sent as a number (transport = counts)
  DpGuarantee delivered;             ///< an upper bound on the actual loss, at the requested delta
  bool within_loss;                  ///< stddev <= (1 + loss) gaussian_stddev sqrt(n / hiding)
};

/// Returns the setting with p = 1/2 and the fewest bits per coordinate whose error is within the loss, with
/// the fewest noise bits that give the guarantee. The other clients add noise, too, which is error
/// but does not count for privacy; this factor sqrt(n / hiding) is not held against the loss.
/// If no setting of up to 65536 bits is within the loss, returns the one with the most levels, and
/// `within_loss` is false.
absl::StatusOr<ShuffleSumSetting> TightShuffleSum(const ShuffleSumParams& params);

/// Returns P_1D with its published constants, as in P2's Algorithm 4: g = ceil(sqrt(n)), b = ceil(180 g^2
/// ln(2/delta)/(epsilon^2 n)), p = 1/2. For dimension = 1.
absl::StatusOr<ShuffleSumSetting> PaperScalarSum(const ShuffleSumParams& params);

/// Fails if the published constants for vectors are not for this guarantee.
absl::Status CheckPaperVectorSum(const DpGuarantee& guarantee);

/// Returns P_VEC with its published constants, as in P1's Theorem 4.6, for epsilon < 15 and delta < 1/2: g =
/// ceil(max(2 sqrt(n), dimension, 4)), b = ceil(24e4 g^2 ln^2(4 (dimension^2 + 1)/delta)/(epsilon^2 n)), p =
/// 1/4. Its levels span the diameter of the l2 ball around the box: span = 1/sqrt(dimension).
absl::StatusOr<ShuffleSumSetting> PaperVectorSum(const ShuffleSumParams& params);

/// The quantities that determine the privacy: the noise bits that the adversary does not know, and how far
/// the replacement of one client moves the count of each coordinate.
struct ShuffleSumView {
  std::int64_t noise_bits;  ///< per coordinate, all hiding clients together; more than 2^53 count as 2^53
  double p;                 ///< 1/2 or 1/4
  std::int64_t shift;
  std::int64_t dimension;
};

/// Returns an upper bound on the view's privacy loss, whichever coordinates move up or down, for both
/// directions. `resolution` is the delta that matters: masses below 1e-8 of it are not resolved.
PrivacyLossDistribution ShuffleSumLoss(const ShuffleSumView& view, double resolution);

/// Returns an upper bound on the epsilon that PaperScalarSum, or PaperVectorSum, delivers in any query to 1
/// .. `most_clients` clients with a vector of any dimension, at the requested delta. It is at most the
/// requested epsilon.
double PaperScalarEpsilon(const DpGuarantee& guarantee, const Collusion& collusion, Count most_clients);
double PaperVectorEpsilon(const DpGuarantee& guarantee, const Collusion& collusion, Count most_clients);

/// Returns the closed form of N. Agarwal et al., "cpSGD", NeurIPS 2018, Theorem 1, an upper bound. Fails
/// where it does not hold: below a variance of max(23 ln(10 dimension/delta), 2 shift).
absl::StatusOr<double> CpSgdEpsilon(const ShuffleSumView& view, double delta);

}  // namespace bandana
