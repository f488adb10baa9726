#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/reward.h"
#include "bandana/privacy/arm_sums.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/laplace_noise.h"
#include "bandana/privacy/mechanism.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

class SiloArmSums;

/// Asks an agent for everything that it has recorded for these arms since its last release.
struct ArmQuery {
  std::int64_t release = 0;  ///< the number of the release, from 1
  std::vector<ArmId> arms;   ///< in ascending order
  bool operator==(const ArmQuery&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(release, arms);
  }
  std::string bytes() const;
};

struct ArmSumsParams {
  double epsilon;  ///< for one person's rewards, over the whole run; delta = 0
  Calibration calibration;
  Sampler sampler;
  Interval rewards;              ///< public; the range of a reward
  Count reporting;               ///< N in P4's formula: the agents that report in a round
  Count records_per_person = 1;  ///< the guarantee is for so many rewards together
};

/// The public setting of a SiloArmSums.
struct ArmSumsSetting {
  std::int64_t low;     ///< lower end of the rewards in grid units, rounded down
  std::int64_t high;    ///< upper end of the rewards in grid units, rounded up
  Interval rewards;     ///< the interval before rounding
  std::uint64_t scale;  ///< scale of the noise in grid units; 0: no noise
  DpGuarantee delivered;
};

/// The sealed rewards that an agent has recorded since its last release. Only the mechanism that it was made
/// for reads them, once. The number of pulls of each arm is public, and errors depend on nothing else. Not
/// copyable: a copy could release the same data a second time.
class ArmStream {
 public:
  explicit ArmStream(const SiloArmSums& mechanism);

  /// Keeps also the sums of all rewards ever recorded, for the agent alone (RevealMeans).
  ArmStream(const SiloArmSums& mechanism, const Declassify&);

  ArmStream(const ArmStream&) = delete;
  ArmStream& operator=(const ArmStream&) = delete;

  std::int64_t releases() const { return releases_; }
  Count pending(ArmId arm) const;  ///< pulls of this arm that have not been released

 private:
  friend class SiloArmSums;
  friend class StateAccess;  // saved with the agent that owns it
  struct Cell {
    Count pulls = 0;
    std::int64_t units = 0;
    template <class Archive>
    void State(Archive& a) {
      a(pulls, units);
      a.Check(pulls >= 0, "an arm has a negative number of pulls");
    }
  };
  template <class Archive>
  void State(Archive& a) {
    a.Same(keeps_, "choice to keep rewards");
    a(pending_, all_, releases_);
    a.Check(releases_ >= 0, "the number of releases is negative");
  }
  std::shared_ptr<const ArmSumsSetting> owner_;
  bool keeps_ = false;
  std::vector<Cell> pending_;  // by arm
  std::vector<Cell> all_;      // by arm, everything ever recorded; never released; only if keeps_
  std::int64_t releases_ = 0;
};

/// Releases the sums of an agent's rewards, one per arm, with Laplace noise of scale range/epsilon on each
/// (P4's privatizer). Calibration::kPaper uses P4's own formula, range/(N epsilon), which delivers N epsilon.
/// The unit is one reward of one agent; the neighbours are replace-one. A reward is in one sum of one
/// release, so the guarantee covers all releases together and is charged with the first
/// (docs/proofs/silo-arm-sums.md).
class SiloArmSums : public Mechanism {
 public:
  using Query = ArmQuery;
  using Input = ArmStream*;
  using Output = ArmSums;
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;

  static absl::StatusOr<SiloArmSums> Create(const ArmSumsParams& params);

  /// Makes a mechanism that releases the sums without noise, clipped and rounded like the private ones. It
  /// claims nothing and charges nothing.
  static absl::StatusOr<SiloArmSums> CreateBare(Interval rewards, const Declassify&);

  bool bare() const { return !noise_.has_value(); }
  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return setting_->delivered; }
  DpGuarantee CostOf(const ArmQuery& query) const {
    return query.release == 1 ? setting_->delivered : DpGuarantee{0, 0};
  }
  double noise_scale() const { return static_cast<double>(setting_->scale) * kArmSumsUnit; }
  const Interval& rewards() const { return setting_->rewards; }

  /// Returns one word for each arm, and one for the number of pulls.
  absl::StatusOr<Count> ReportBits(const ArmQuery& query) const;

  /// Records the rewards of these pulls. Each entry must be the exact sum of n rewards, each of which is in
  /// the interval (sums of whole units are exact). It is clipped to n times the interval; NaN counts as the
  /// middle. A single reward may have any value. Fails if the counts are not those of the pulls, or if sums
  /// of 64 bits might not hold them; then nothing is recorded.
  absl::Status Record(std::span<const Pull> pulls, const Raw<RewardSums>& rewards, ArmStream& stream) const;

  /// Releases the sums. The query's release must be the stream's next one, and its arms must have been pulled
  /// equally often, at least once. Records of all other arms are dropped.
  absl::StatusOr<Report> Randomize(const ArmQuery& query, const Raw<ArmStream*>& stream,
                                   NoiseGen& noise) const;
  absl::Status Add(const ArmQuery& query, const Report& report, BasicReportSum<ArmQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<ArmQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<ArmSums>> Open(const ArmQuery& query, const Sealed& sealed) const;

  /// Returns an agent's own averages over everything that it has recorded, for the agent alone (`local =
  /// raw`). No claim covers what is done with them. The stream must be one that keeps them, and each arm must
  /// have been pulled.
  absl::StatusOr<std::vector<double>> RevealMeans(const ArmStream& stream, std::span<const ArmId> arms,
                                                  const Declassify&) const;

  /// Returns the raw rewards, for a baseline agent that protects nothing.
  static RewardSums RevealRewards(const Raw<RewardSums>& rewards, const Declassify&) {
    return Reveal(rewards);
  }

 private:
  friend class ArmStream;
  friend class ArmHistory;
  friend class ArmTotal;
  SiloArmSums(std::shared_ptr<const ArmSumsSetting> setting, const std::optional<LaplaceNoise>& noise)
      : setting_(std::move(setting)), noise_(noise) {}
  // Makes a released value from sums that are already released.
  static Released<ArmSums> MintSums(ArmSums sums);

  std::int64_t UnitsOfSum(const RewardSum& rewards) const;
  absl::Status CheckPulls(std::span<const Pull> pulls, RewardSums rewards, const ArmStream& stream) const;
  static absl::Status CheckArms(const ArmQuery& query);
  static absl::StatusOr<Count> PullsOf(const ArmQuery& query, const ArmStream& stream);

  std::shared_ptr<const ArmSumsSetting> setting_;
  std::optional<LaplaceNoise> noise_;
};

static_assert(Privatizer<SiloArmSums>);

}  // namespace bandana
