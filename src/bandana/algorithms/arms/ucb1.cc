#include "bandana/algorithms/arms/ucb1.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/core/lanes.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using lanes::Doubles;

constexpr Count kMostArms = 1 << 20;
constexpr std::size_t kLanes = lanes::kCount<double>;
constexpr std::size_t kGroups = 4;
constexpr std::size_t kTile = kLanes * kGroups;

/// Holds, for every lane, the largest index so far and the tile of the first arm that has it.
struct Leaders {
  using Whole = decltype(Doubles{} > Doubles{});
  Doubles index = lanes::Broadcast(-kInfinity);
  Whole tile = {};

  void Take(const Doubles& challenger, const Whole& its_tile) {
    const Whole better = challenger > index;
    index = better ? challenger : index;
    tile = better ? its_tile : tile;
  }
};

}  // namespace

Ucb1::Ucb1(Count arms, double bonus)
    : bonus_(bonus),
      untried_(arms),
      pulls_(static_cast<std::size_t>(arms)),
      sums_(static_cast<std::size_t>(arms)) {
  const std::size_t tiles = (pulls_.size() + kTile - 1) / kTile;
  means_.assign(tiles * kTile, -kInfinity);
  widths_.assign(tiles * kTile, 0);
}

absl::StatusOr<Ucb1> Ucb1::Create(Count arms, double bonus) {
  if (!(arms >= 1 && arms <= kMostArms)) {
    return InvalidField(Part::kFacts, "arms", fmt::format("{}", arms),
                        fmt::format("a whole number from 1 to {}", kMostArms));
  }
  if (!(bonus >= 0 && std::isfinite(bonus))) {
    return InvalidField(Part::kParams, "bonus", bonus, "a finite number >= 0");
  }
  return Ucb1(arms, bonus);
}

ArmId Ucb1::Choose() const {
  if (untried_ > 0) {
    return static_cast<ArmId>(std::find(pulls_.begin(), pulls_.end(), 0) - pulls_.begin());
  }
  const Doubles root = lanes::Broadcast(bonus_ * std::sqrt(2 * std::log(static_cast<double>(time_))));
  std::array<Leaders, kGroups> leaders;
  Leaders::Whole tile = {};
  for (std::size_t first = 0; first < means_.size(); first += kTile, tile += 1) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::size_t at = first + g * kLanes;
      leaders[g].Take(lanes::MulAdd(root, lanes::Load(&widths_[at]), lanes::Load(&means_[at])), tile);
    }
  }
  double largest = -kInfinity;
  ArmId best = std::numeric_limits<ArmId>::max();
  for (std::size_t g = 0; g < kGroups; ++g) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double index = leaders[g].index[i];
      const auto arm = static_cast<ArmId>(leaders[g].tile[i] * kTile + g * kLanes + i);
      const bool better = index > largest || (index == largest && arm < best);
      largest = better ? index : largest;
      best = better ? arm : best;
    }
  }
  return best;
}

void Ucb1::Learn(ArmId arm, double sum, Count count) {
  BANDANA_CHECK(arm >= 0 && arm < arms() && count >= 0);
  BANDANA_CHECK(sum >= 0 && sum <= static_cast<double>(count));
  if (count == 0) return;
  const auto at = static_cast<std::size_t>(arm);
  if (pulls_[at] == 0) --untried_;
  pulls_[at] += count;
  sums_[at] += sum;
  time_ += count;
  const auto n = static_cast<double>(pulls_[at]);
  means_[at] = sums_[at] / n;
  widths_[at] = 1 / std::sqrt(n);
}

}  // namespace bandana
