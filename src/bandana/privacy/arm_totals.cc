#include "bandana/privacy/arm_totals.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "bandana/privacy/silo_arm_sums.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kMostTotal = Count{1} << 62;

bool Ascending(const std::vector<ArmId>& arms) {
  return std::adjacent_find(arms.begin(), arms.end(), std::greater_equal<>()) == arms.end();
}

// Sums from another process may hold anything, so everything is checked.
absl::Status CheckShape(const ArmSums& sums) {
  if (!(sums.agents >= 1 && sums.agents < kMostTotal && sums.pulls >= 1 && sums.pulls < kMostTotal)) {
    return absl::InvalidArgumentError(
        fmt::format("the sums say {} pulls of {} agents, which is not possible", sums.pulls, sums.agents));
  }
  const bool noisy = sums.noise_scale > 0 && sums.noise_scale < kInfinity;
  const bool terms = noisy ? sums.noise_terms >= 1 && sums.noise_terms < kMostTotal : sums.noise_terms == 0;
  if (!((noisy || sums.noise_scale == 0) && terms)) {
    return absl::InvalidArgumentError(
        fmt::format("the sums say {} terms of noise of scale {}, which is not possible", sums.noise_terms,
                    sums.noise_scale));
  }
  if (sums.units.size() != sums.arms.size()) {
    return absl::InvalidArgumentError(
        fmt::format("there are {} sums for {} arms", sums.units.size(), sums.arms.size()));
  }
  return absl::OkStatus();
}

absl::Status CheckScale(double scale, double other) {
  if (scale == other) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("this release has noise of scale {}, but the others have {}", other, scale));
}

absl::Status TooMany() { return absl::OutOfRangeError("the sum of an arm exceeds 2^62 units"); }

bool Within(std::int64_t units) { return units >= -kMostTotal && units < kMostTotal; }

// Adds all or none, and returns whether it added. Unsigned words wrap around, so that a sum that is too large
// can be undone.
bool AddAll(const std::int64_t* from, std::int64_t* to, std::size_t size) {
  constexpr auto kShift = static_cast<std::uint64_t>(kMostTotal);
  std::uint64_t beyond = 0;  // its top bit is set if some value is not in [-2^62, 2^62)
  for (std::size_t i = 0; i < size; ++i) {
    const auto each = static_cast<std::uint64_t>(from[i]);
    const std::uint64_t sum = static_cast<std::uint64_t>(to[i]) + each;
    beyond |= (each + kShift) | (sum + kShift);
    to[i] = static_cast<std::int64_t>(sum);
  }
  if (beyond >> 63 == 0) return true;
  for (std::size_t i = 0; i < size; ++i) {
    to[i] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(to[i]) - static_cast<std::uint64_t>(from[i]));
  }
  return false;
}

// Writes the units of some of the arms. Both lists of arms are ascending.
absl::Status Pick(const ArmSums& sums, const std::vector<ArmId>& arms, std::vector<std::int64_t>& units) {
  units.resize(arms.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    while (at < sums.arms.size() && sums.arms[at] < arms[i]) ++at;
    if (at == sums.arms.size() || sums.arms[at] != arms[i]) {
      return absl::InvalidArgumentError(fmt::format("the sums lack arm {}", arms[i]));
    }
    units[i] = sums.units[at];
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ArmHistory::Add(const Released<ArmSums>& release) {
  const ArmSums& next = release.value();
  BANDANA_RETURN_IF_ERROR(CheckShape(next));
  if (!Ascending(next.arms)) return absl::InvalidArgumentError("the arms must be in ascending order");
  if (!sums_) {
    if (!std::all_of(next.units.begin(), next.units.end(), Within)) return TooMany();
    sums_ = next;
    return absl::OkStatus();
  }
  BANDANA_RETURN_IF_ERROR(CheckScale(sums_->noise_scale, next.noise_scale));
  if (next.agents != sums_->agents) {
    return absl::InvalidArgumentError(fmt::format(
        "this release is of {} agents, but the release before is of {}", next.agents, sums_->agents));
  }
  std::vector<std::int64_t> units;
  BANDANA_RETURN_IF_ERROR(Pick(*sums_, next.arms, units));
  if (!Within(sums_->pulls + next.pulls) || !Within(sums_->noise_terms + next.noise_terms) ||
      !AddAll(next.units.data(), units.data(), units.size())) {
    return TooMany();
  }
  sums_->pulls += next.pulls;
  sums_->noise_terms += next.noise_terms;
  sums_->arms = next.arms;
  sums_->units = std::move(units);
  return absl::OkStatus();
}

Released<ArmSums> ArmHistory::Sums() const {
  BANDANA_CHECK(sums_.has_value());
  return SiloArmSums::MintSums(*sums_);
}

ArmTotal::ArmTotal(std::vector<ArmId> arms) {
  BANDANA_CHECK(Ascending(arms));
  total_.agents = 0;
  total_.units.assign(arms.size(), 0);
  total_.arms = std::move(arms);
}

absl::Status ArmTotal::Add(const Released<ArmSums>& sums) {
  const ArmSums& more = sums.value();
  BANDANA_RETURN_IF_ERROR(CheckShape(more));
  if (total_.agents > 0) BANDANA_RETURN_IF_ERROR(CheckScale(total_.noise_scale, more.noise_scale));
  if (!(Within(total_.agents + more.agents) && Within(total_.pulls + more.pulls) &&
        Within(total_.noise_terms + more.noise_terms))) {
    return TooMany();
  }
  if (more.arms == total_.arms) {
    if (!AddAll(more.units.data(), total_.units.data(), more.units.size())) return TooMany();
  } else {
    std::vector<std::int64_t> units;
    BANDANA_RETURN_IF_ERROR(Pick(more, total_.arms, units));
    if (!AddAll(units.data(), total_.units.data(), units.size())) return TooMany();
  }
  total_.agents += more.agents;
  total_.pulls += more.pulls;
  total_.noise_terms += more.noise_terms;
  total_.noise_scale = more.noise_scale;
  return absl::OkStatus();
}

Released<ArmSums> ArmTotal::Sums() const {
  BANDANA_CHECK(total_.agents >= 1);
  return SiloArmSums::MintSums(total_);
}

}  // namespace bandana
