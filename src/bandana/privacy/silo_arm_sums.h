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

/// What an agent is asked for: all that it has recorded of these arms since its last release.
struct ArmQuery {
  std::int64_t release = 0;  ///< from 1
  std::vector<ArmId> arms;   ///< ascending
  bool operator==(const ArmQuery&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(release, arms);
  }
  std::string bytes() const;
};

struct ArmSumsParams {
  double epsilon;  ///< of the whole run, for one reward; pure
  Calibration calibration;
  Sampler sampler;
  Interval rewards;  ///< public; what a reward may be
  Count reporting;   ///< N of P4's formula: the agents that report in a round
};

/// How SiloArmSums was made; public.
struct ArmSumsSetting {
  std::int64_t low;     ///< the interval of rewards in units, rounded outwards
  std::int64_t high;    ///<
  Interval rewards;     ///< before that
  std::uint64_t scale;  ///< of the noise, in units; 0: none
  DpGuarantee delivered;
};

/// What an agent has recorded since its last release, sealed: only the mechanism that it was made for reads
/// it, once. How often an arm was pulled is public, and all that errors depend on. One of each, as SiloStream
/// is.
class ArmStream {
 public:
  explicit ArmStream(const SiloArmSums& mechanism);

  /// Keeps the sums of all it was ever given, too, for the agent's own eyes (RevealMeans).
  ArmStream(const SiloArmSums& mechanism, const Declassify&);

  ArmStream(const ArmStream&) = delete;
  ArmStream& operator=(const ArmStream&) = delete;

  std::int64_t releases() const { return releases_; }
  Count pending(ArmId arm) const;  ///< pulls of this arm that are not released

 private:
  friend class SiloArmSums;
  friend class StateAccess;  // saved with the agent that has it
  struct Cell {
    Count pulls = 0;
    std::int64_t units = 0;
    template <class Archive>
    void State(Archive& a) {
      a(pulls, units);
      a.Check(pulls >= 0, "fewer pulls than none");
    }
  };
  template <class Archive>
  void State(Archive& a) {
    a.Same(keeps_, "choice to keep rewards");
    a(pending_, all_, releases_);
    a.Check(releases_ >= 0, "fewer releases than none");
  }
  std::shared_ptr<const ArmSumsSetting> owner_;
  bool keeps_ = false;
  std::vector<Cell> pending_;  // by arm
  std::vector<Cell> all_;      // the same, never released; if keeps_
  std::int64_t releases_ = 0;
};

/// The sums of an agent's rewards, arm by arm, with Laplace noise of scale range/epsilon on each (P4's
/// privatizer, whose own formula is `paper`: range/(N epsilon), which delivers N epsilon). Unit: one reward
/// of one agent; neighbours: replace-one. A reward is in one sum of one release, so that the guarantee is
/// that of all releases together and is charged with the first (docs/proofs/silo-arm-sums.md).
class SiloArmSums : public Mechanism {
 public:
  using Query = ArmQuery;
  using Input = ArmStream*;
  using Output = ArmSums;
  static constexpr bool kChargesClient = true;
  static constexpr bool kChargesAnalyzer = false;

  static absl::StatusOr<SiloArmSums> Create(const ArmSumsParams& params);

  /// The same sums, clipped and rounded as the private ones are, without noise. Claims nothing, charges
  /// nothing.
  static absl::StatusOr<SiloArmSums> CreateBare(Interval rewards, const Declassify&);

  bool bare() const { return !noise_.has_value(); }
  std::vector<Claim> claims() const;
  DpGuarantee guarantee() const { return setting_->delivered; }
  DpGuarantee CostOf(const ArmQuery& query) const {
    return query.release == 1 ? setting_->delivered : DpGuarantee{0, 0};
  }
  double noise_scale() const { return static_cast<double>(setting_->scale) * kArmSumsUnit; }
  const Interval& rewards() const { return setting_->rewards; }

  /// A word for each arm, and one for how often each was pulled.
  absl::StatusOr<Count> ReportBits(const ArmQuery& query) const;

  /// What came of these pulls. The sum of n rewards, each of which is in the interval, is given exactly (as
  /// those of whole units are); it is clipped to n times the interval, and counts as its middle if it is not
  /// a number. One reward alone may be anything. All or nothing: an error if the counts are not the pulls',
  /// or sums of 64 bits might not hold them.
  absl::Status Record(std::span<const Pull> pulls, const Raw<RewardSums>& rewards, ArmStream& stream) const;

  /// The query's release must be the stream's next one, and its arms have been pulled equally often, at least
  /// once. Whatever else the stream has is dropped.
  absl::StatusOr<Report> Randomize(const ArmQuery& query, const Raw<ArmStream*>& stream,
                                   NoiseGen& noise) const;
  absl::Status Add(const ArmQuery& query, const Report& report, BasicReportSum<ArmQuery>& sum) const;
  absl::StatusOr<Sealed> Seal(const BasicReportSum<ArmQuery>& sum, NoiseGen& noise) const;
  absl::StatusOr<Released<ArmSums>> Open(const ArmQuery& query, const Sealed& sealed) const;

  /// An agent's own averages over all that it has recorded, for its own eyes (`local = raw`): what is done
  /// with them is not covered by any claim. The stream is one that keeps them; each arm has been pulled.
  absl::StatusOr<std::vector<double>> RevealMeans(const ArmStream& stream, std::span<const ArmId> arms,
                                                  const Declassify&) const;

  /// Rewards as they are, for an agent that hides nothing: a baseline.
  static RewardSums RevealRewards(const Raw<RewardSums>& rewards, const Declassify&) {
    return Reveal(rewards);
  }

 private:
  friend class ArmStream;
  friend class ArmHistory;
  friend class ArmTotal;
  SiloArmSums(std::shared_ptr<const ArmSumsSetting> setting, const std::optional<LaplaceNoise>& noise)
      : setting_(std::move(setting)), noise_(noise) {}
  // What is made of released sums alone.
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
