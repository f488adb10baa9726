#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bandana/privacy/calibration/l2_ball.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// The clients' average vector, each of them in the l2 ball of the mechanism.
struct BallQuery {
  Count clients = 0;  ///< and the quorum
  bool operator==(const BallQuery&) const = default;
  std::uint64_t fingerprint() const { return Fingerprint().Add(clients).value(); }
};

struct L2BallParams {
  double epsilon;
  L2BallRandomizer randomizer;
  std::int64_t dimension;
  double radius;  ///< public; a longer vector is shortened to it
  Sampler sampler;
};

/// One vector a client, randomized by itself: epsilon-LDP, unbiased inside the ball (P5; Duchi, Jordan and
/// Wainwright, or PrivUnit). Unit: one client's vector; neighbours: any two vectors
/// (docs/proofs/l2-ball-mean.md).
class L2BallMean : public Mechanism {
 public:
  using Query = BallQuery;
  using Input = std::span<const double>;
  using Output = Mean;
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;
  static constexpr double kUnit = 1.0 / (1 << 30);

  static absl::StatusOr<L2BallMean> Create(const L2BallParams& params);

  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return {epsilon_, 0}; }
  const L2BallSetting& setting() const { return setting_; }
  absl::StatusOr<Count> ReportBits(const BallQuery&) const { return 64 * params_.dimension; }

  /// A vector that is not finite counts as 0: to refuse it would tell that it was there.
  absl::StatusOr<Report> Randomize(const BallQuery& query, const Raw<std::span<const double>>& vector,
                                   NoiseGen& noise) const;
  absl::Status Add(const BallQuery& query, const Report& report, BasicReportSum<BallQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<BallQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<Mean>> Open(const BallQuery& query, const Sealed& sealed) const;

 private:
  L2BallMean(const L2BallParams& params, const L2BallSetting& setting, double epsilon)
      : params_(params), setting_(setting), epsilon_(epsilon) {}
  L2BallParams params_;
  L2BallSetting setting_;
  double epsilon_;  // the setting's, and what drawing on a lattice costs
};

static_assert(Privatizer<L2BallMean>);

}  // namespace bandana
