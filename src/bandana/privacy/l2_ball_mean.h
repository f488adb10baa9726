#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bandana/privacy/calibration/l2_ball.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// Asks for the average of the clients' vectors. Each vector is in the l2 ball of the mechanism.
struct BallQuery {
  Count clients = 0;  ///< the number of clients, and also the quorum
  bool operator==(const BallQuery&) const = default;
  std::string bytes() const { return ByteString().Add(clients).Take(); }
};

struct L2BallParams {
  double epsilon;
  L2BallRandomizer randomizer;
  std::int64_t dimension;
  double radius;  ///< public; a longer vector is shortened to this length
  Sampler sampler;
};

/// Each client randomizes its own vector: epsilon-LDP, unbiased for vectors inside the ball (P5; the
/// randomizer of Duchi, Jordan and Wainwright, or PrivUnit). The unit is one client's vector; the neighbours
/// are any two vectors (docs/proofs/l2-ball-mean.md).
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

  /// A vector that is not finite counts as 0: an error would reveal that it was there.
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
  double epsilon_;  // the setting's epsilon plus the cost of the lattice
};

static_assert(Privatizer<L2BallMean>);

}  // namespace bandana
