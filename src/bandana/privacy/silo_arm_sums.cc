#include "bandana/privacy/silo_arm_sums.h"

#include <algorithm>
#include <cmath>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/rounding.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kArmPerUnit = 1 / kArmSumsUnit;
constexpr std::int64_t kMostArmUnits = std::int64_t{1}
                                       << 61;  // the largest sum; noise has as much room again
// The largest scale in units: the sampler's limit. A draw needs more with probability e^-512.
constexpr double kMostScale = 0x1p52;
constexpr ArmId kMostArms = 1 << 24;

absl::StatusOr<ArmSumsSetting> SettingOf(Interval rewards) {
  constexpr double kMost = 0x1p20;
  if (!(rewards.low >= -kMost && rewards.low < rewards.high && rewards.high <= kMost)) {
    return InvalidField(Part::kFacts, "rewards", fmt::format("[{}, {}]", rewards.low, rewards.high),
                        "an interval that is not empty, from -2^20 to 2^20");
  }
  return ArmSumsSetting{.low = static_cast<std::int64_t>(std::floor(rewards.low * kArmPerUnit)),
                        .high = static_cast<std::int64_t>(std::ceil(rewards.high * kArmPerUnit)),
                        .rewards = rewards,
                        .scale = 0,
                        .delivered = {0, 0}};
}

// Returns the nearest integer, and the upper one for ties. So NearestUnits(x + k) = NearestUnits(x) + k for
// integers k; with ties to even, or away from 0, this would not hold.
std::int64_t NearestUnits(double x) {
  const double below = std::floor(x);
  return static_cast<std::int64_t>(below) + (x - below >= 0.5 ? 1 : 0);
}

}  // namespace

std::string ArmQuery::bytes() const {
  ByteString bytes;
  bytes.Add(release).Add(static_cast<std::uint64_t>(arms.size()));
  for (const ArmId arm : arms) bytes.Add(std::int64_t{arm});
  return bytes.Take();
}

ArmStream::ArmStream(const SiloArmSums& mechanism) : owner_(mechanism.setting_) {}

ArmStream::ArmStream(const SiloArmSums& mechanism, const Declassify&)
    : owner_(mechanism.setting_), keeps_(true) {}

Count ArmStream::pending(ArmId arm) const {
  const auto at = static_cast<std::size_t>(arm);
  return arm >= 0 && at < pending_.size() ? pending_[at].pulls : 0;
}

absl::StatusOr<SiloArmSums> SiloArmSums::Create(const ArmSumsParams& params) {
  BANDANA_ASSIGN_OR_RETURN(ArmSumsSetting setting, SettingOf(params.rewards));
  if (const absl::Status status = calibration::CheckPositive("epsilon", params.epsilon); !status.ok()) {
    return InvalidField(Part::kPrivacy, *InputErrorOf(status));
  }
  if (!(params.reporting >= 1 && params.reporting < (Count{1} << 32))) {
    return InvalidOption("reporting", static_cast<double>(params.reporting),
                         "a whole number from 1 to 2^32 - 1");
  }
  if (!(params.records_per_person >= 1 && params.records_per_person <= (1 << 20))) {
    return InvalidField(Part::kPrivacy, "records_per_person", static_cast<double>(params.records_per_person),
                        "a whole number from 1 to 2^20");
  }
  // A person's rewards are in one sum or in several, each with noise of its own: pure losses add up.
  const auto records = static_cast<double>(params.records_per_person);
  const bool tight = params.calibration == Calibration::kTight;
  const double of_paper = calibration::ProductUp(static_cast<double>(params.reporting), params.epsilon);
  const double epsilon = tight ? params.epsilon : calibration::ProductUp(records, of_paper);
  const auto range = static_cast<double>(setting.high - setting.low);
  const double scale =
      std::ceil(tight ? calibration::QuotientUp(calibration::ProductUp(range, records), epsilon)
                      : calibration::QuotientUp(range, of_paper));
  if (!(scale < kMostScale)) {
    return InvalidField(Part::kPrivacy, "epsilon", params.epsilon,
                        "a larger one: the noise is beyond the grid");
  }
  setting.scale = static_cast<std::uint64_t>(scale);
  setting.delivered = {epsilon, 0};
  BANDANA_ASSIGN_OR_RETURN(const LaplaceNoise noise, LaplaceNoise::Create({.epsilon = params.epsilon,
                                                                           .calibration = Calibration::kTight,
                                                                           .sampler = params.sampler}));
  return SiloArmSums(std::make_shared<const ArmSumsSetting>(setting), noise);
}

absl::StatusOr<SiloArmSums> SiloArmSums::CreateBare(Interval rewards, const Declassify&) {
  BANDANA_ASSIGN_OR_RETURN(const ArmSumsSetting setting, SettingOf(rewards));
  return SiloArmSums(std::make_shared<const ArmSumsSetting>(setting), std::nullopt);
}

std::vector<Claim> SiloArmSums::claims() const {
  if (bare()) return {};
  return {{.adversary = "everyone who sees what the agent sends: all other agents and, if there is one, the "
                        "server, together",
           .guarantee = guarantee(),
           .unit = "one reward of one agent",
           .neighbours = "replace-one",
           .proof = "docs/proofs/silo-arm-sums.md"}};
}

absl::Status SiloArmSums::CheckArms(const ArmQuery& query) {
  if (query.release < 1) {
    return absl::InvalidArgumentError(
        fmt::format("release number {} is not accepted: releases are counted from 1", query.release));
  }
  if (query.arms.empty()) return absl::InvalidArgumentError("the query names no arm");
  for (std::size_t i = 0; i < query.arms.size(); ++i) {
    const ArmId least = i == 0 ? 0 : query.arms[i - 1] + 1;
    if (!(query.arms[i] >= least && query.arms[i] < kMostArms)) {
      return absl::InvalidArgumentError(
          fmt::format("arm {} is not accepted here: arms ascend, and {} to {} may follow", query.arms[i],
                      least, kMostArms - 1));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Count> SiloArmSums::ReportBits(const ArmQuery& query) const {
  BANDANA_RETURN_IF_ERROR(CheckArms(query));
  return static_cast<Count>(64 * (query.arms.size() + 1));
}

std::int64_t SiloArmSums::UnitsOfSum(const RewardSum& rewards) const {
  const Interval& one = setting_->rewards;
  const auto count = static_cast<double>(rewards.count);
  const double sum = std::isnan(rewards.sum) ? count * ((one.low + one.high) / 2)
                                             : std::clamp(rewards.sum, count * one.low, count * one.high);
  return std::clamp(NearestUnits(sum * kArmPerUnit), rewards.count * setting_->low,
                    rewards.count * setting_->high);
}

// Errors depend on arms and counts, which are public, and never on the rewards.
absl::Status SiloArmSums::CheckPulls(std::span<const Pull> pulls, RewardSums rewards,
                                     const ArmStream& stream) const {
  if (pulls.size() != rewards.size()) {
    return absl::InvalidArgumentError(
        fmt::format("there are {} pulls but {} sums of rewards", pulls.size(), rewards.size()));
  }
  const Count most = kMostArmUnits / std::max<std::int64_t>({1, -setting_->low, setting_->high});
  Count left = most;  // over all these pulls together, so that an arm may appear twice
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const Pull& pull = pulls[i];
    if (!(pull.arm >= 0 && pull.arm < kMostArms)) {
      return absl::InvalidArgumentError(
          fmt::format("arm {} does not exist: arms are 0 to {}", pull.arm, kMostArms - 1));
    }
    if (pull.count < 0 || pull.count != rewards[i].count) {
      return absl::InvalidArgumentError(
          fmt::format("there are {} pulls of arm {} but {} rewards", pull.count, pull.arm, rewards[i].count));
    }
    const auto at = static_cast<std::size_t>(pull.arm);
    const Count before = stream.keeps_ && at < stream.all_.size() ? stream.all_[at].pulls  // >= pending
                                                                  : stream.pending(pull.arm);
    if (pull.count > left || pull.count > most - before) {
      return absl::OutOfRangeError(
          fmt::format("arm {} has more pulls than a sum can hold: at most {}", pull.arm, most));
    }
    left -= pull.count;
  }
  return absl::OkStatus();
}

absl::Status SiloArmSums::Record(std::span<const Pull> pulls, const Raw<RewardSums>& rewards,
                                 ArmStream& stream) const {
  BANDANA_CHECK(stream.owner_ == setting_);
  const RewardSums sums = Reveal(rewards);
  BANDANA_RETURN_IF_ERROR(CheckPulls(pulls, sums, stream));
  const auto add = [](std::vector<ArmStream::Cell>& cells, ArmId arm, Count count, std::int64_t units) {
    const auto at = static_cast<std::size_t>(arm);
    if (at >= cells.size()) cells.resize(at + 1);
    cells[at].pulls += count;
    cells[at].units += units;
  };
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const std::int64_t units = UnitsOfSum(sums[i]);
    add(stream.pending_, pulls[i].arm, pulls[i].count, units);
    if (stream.keeps_) add(stream.all_, pulls[i].arm, pulls[i].count, units);
  }
  return absl::OkStatus();
}

absl::StatusOr<Count> SiloArmSums::PullsOf(const ArmQuery& query, const ArmStream& stream) {
  const Count pulls = stream.pending(query.arms.front());
  for (const ArmId arm : query.arms) {
    if (stream.pending(arm) >= 1 && stream.pending(arm) == pulls) continue;
    return absl::FailedPreconditionError(
        fmt::format("arm {} has been pulled {} times and arm {} {} times since the last release: all are "
                    "to be pulled equally often, at least once",
                    query.arms.front(), pulls, arm, stream.pending(arm)));
  }
  return pulls;
}

absl::StatusOr<Report> SiloArmSums::Randomize(const ArmQuery& query, const Raw<ArmStream*>& stream,
                                              NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(CheckArms(query));
  ArmStream& data = *Reveal(stream);
  if (data.owner_ != setting_) {
    return absl::FailedPreconditionError(
        "the stream belongs to another mechanism, whose noise was set for other data");
  }
  if (query.release != data.releases_ + 1) {
    return absl::FailedPreconditionError(
        fmt::format("release {} is asked for, but {} have been made", query.release, data.releases_));
  }
  BANDANA_ASSIGN_OR_RETURN(const Count pulls, PullsOf(query, data));
  Units units{pulls};
  units.reserve(query.arms.size() + 1);
  for (const ArmId arm : query.arms) {
    const std::int64_t sum = data.pending_[static_cast<std::size_t>(arm)].units;
    units.push_back(bare() ? sum : sum + noise_->Draw(setting_->scale, noise));
  }
  std::fill(data.pending_.begin(), data.pending_.end(), ArmStream::Cell{});
  ++data.releases_;
  const auto bits = static_cast<Count>(64 * units.size());
  return MakeReport(std::move(units), bits);
}

absl::Status SiloArmSums::Add(const ArmQuery& query, const Report& report,
                              BasicReportSum<ArmQuery>& sum) const {
  BANDANA_RETURN_IF_ERROR(CheckArms(query));
  return AddReport(
      query, query.arms.size() + 1, report, [](std::size_t, std::int64_t units) { return units; }, sum);
}

absl::StatusOr<Sealed> SiloArmSums::Seal(const BasicReportSum<ArmQuery>& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, 1, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<ArmSums>> SiloArmSums::Open(const ArmQuery& query, const Sealed& sealed) const {
  BANDANA_RETURN_IF_ERROR(CheckArms(query));
  const Units& units = UnitsOf(sealed);
  BANDANA_RETURN_IF_ERROR(CheckSize(query.arms.size() + 1, units));
  if (units.front() < 1) {
    return absl::InvalidArgumentError(
        fmt::format("the report says {} pulls of each arm, which is not possible", units.front()));
  }
  return MintSums({.agents = 1,
                   .pulls = units.front(),
                   .arms = query.arms,
                   .units = Units(units.begin() + 1, units.end()),
                   .noise_scale = noise_scale(),
                   .noise_terms = bare() ? 0 : 1});
}

absl::StatusOr<std::vector<double>> SiloArmSums::RevealMeans(const ArmStream& stream,
                                                             std::span<const ArmId> arms,
                                                             const Declassify&) const {
  BANDANA_CHECK(stream.owner_ == setting_ && stream.keeps_);
  std::vector<double> means;
  means.reserve(arms.size());
  for (const ArmId arm : arms) {
    const auto at = static_cast<std::size_t>(arm);
    if (!(arm >= 0 && at < stream.all_.size() && stream.all_[at].pulls >= 1)) {
      return absl::FailedPreconditionError(fmt::format("arm {} has no rewards", arm));
    }
    const ArmStream::Cell& cell = stream.all_[at];
    means.push_back(static_cast<double>(cell.units) * kArmSumsUnit / static_cast<double>(cell.pulls));
  }
  return means;
}

Released<ArmSums> SiloArmSums::MintSums(ArmSums sums) {
  std::vector<NoiseLaw> laws = NoiseOf(sums);
  return SiloArmSums(nullptr, std::nullopt).Mint(std::move(sums), std::move(laws));
}

}  // namespace bandana
