#include "bandana/algorithms/arms/successive_elimination.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kMostSweptArms = 1 << 20;

absl::Status CheckCount(Part part, const char* field, Count value, Count most) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return InvalidField(part, field, fmt::format("{}", value),
                      fmt::format("a whole number from 1 to {}", most));
}

}  // namespace

SuccessiveElimination::SuccessiveElimination(const SuccessiveEliminationParams& params)
    : params_(params),
      active_(static_cast<std::size_t>(params.arms)),
      sums_(static_cast<std::size_t>(params.arms)) {
  std::iota(active_.begin(), active_.end(), 0);
}

absl::StatusOr<SuccessiveElimination> SuccessiveElimination::Create(
    const SuccessiveEliminationParams& params) {
  constexpr Count kMost = std::numeric_limits<Count>::max();
  BANDANA_RETURN_IF_ERROR(CheckCount(Part::kFacts, "arms", params.arms, kMostSweptArms));
  BANDANA_RETURN_IF_ERROR(CheckCount(Part::kFacts, "horizon", params.horizon, kMost));
  BANDANA_RETURN_IF_ERROR(CheckCount(Part::kParams, "block", params.block, params.horizon));
  if (!(params.bonus > 0 && std::isfinite(params.bonus))) {
    return InvalidField(Part::kParams, "bonus", params.bonus, "a finite number > 0");
  }
  return SuccessiveElimination(params);
}

void SuccessiveElimination::Learn(ArmId arm, double sum, Count count) {
  BANDANA_CHECK(arm == Choose() && count >= 0 && count <= Due());
  BANDANA_CHECK(sum >= 0 && sum <= static_cast<double>(count));
  if (active_.size() == 1) return;  // there is nothing left to learn
  sums_[next_] += sum;
  pulled_ += count;
  if (pulled_ < params_.block) return;
  pulled_ = 0;
  if (++next_ < active_.size()) return;
  next_ = 0;
  EndSweep();
}

void SuccessiveElimination::EndSweep() {
  ++sweeps_;
  const double n = static_cast<double>(sweeps_) * static_cast<double>(params_.block);
  const double k = static_cast<double>(params_.arms);
  // The margin 2 c_n for sums instead of means: 2 n sqrt(L/(2 n)) = sqrt(2 n L).
  const double margin =
      params_.bonus * std::sqrt(2 * n * std::log(4 * k * n * n * static_cast<double>(params_.horizon)));
  const double best = *std::max_element(sums_.begin(), sums_.end());
  if (!(best >= margin)) return;  // no sum can be so far below
  std::size_t kept = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (best - sums_[i] >= margin) continue;
    active_[kept] = active_[i];
    sums_[kept++] = sums_[i];
  }
  active_.resize(kept);
  sums_.resize(kept);
}

}  // namespace bandana
