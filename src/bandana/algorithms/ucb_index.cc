#include "bandana/algorithms/ucb_index.h"

#include <algorithm>
#include <array>
#include <limits>

#include "bandana/core/check.h"
#include "bandana/core/lanes.h"

namespace bandana {
namespace {

using Eigen::Index;
using lanes::Lanes;

// x'A x is the sum over rows j of x_j s_j, s_j the sum over k <= j of B_jk x_k, B_jj = A_jj, B_jk = 2 A_jk.
// A step takes kRows of the s_j of kGroups registers of arms, as many sums as the registers hold: every x_k
// and B_jk read serves several multiply-adds.
constexpr Index kRows = 4;
constexpr int kGroups = 2;

/// Sums that go on from step to step, of kGroups registers of arms.
template <class Scalar>
struct Tile {
  std::array<Lanes<Scalar>, kGroups> form = {};  // x'A x
  std::array<Lanes<Scalar>, kGroups> mean = {};  // <x, theta>
};

/// Rows `first`, ..., first + rows - 1 for the arms at x; returns where the next rows' coefficients begin.
template <int rows, class Scalar>
[[gnu::always_inline]] inline const Scalar* AddRows(const Scalar* x, Index stride, Index first,
                                                    const Scalar* forms, const Scalar* theta,
                                                    Tile<Scalar>& tile) {
  constexpr int kLanes = lanes::kCount<Scalar>;
  std::array<std::array<Lanes<Scalar>, kGroups>, rows> sums = {};
  for (Index k = 0; k < first; ++k, x += stride, forms += rows) {
    for (int g = 0; g < kGroups; ++g) {
      const auto entry = lanes::Load(x + g * kLanes);
      for (int r = 0; r < rows; ++r) {
        sums[r][g] = lanes::MulAdd(lanes::Broadcast(forms[r]), entry, sums[r][g]);
      }
    }
  }
  for (int k = 0; k < rows; ++k, x += stride, forms += rows - k + 1) {
    for (int g = 0; g < kGroups; ++g) {
      const auto entry = lanes::Load(x + g * kLanes);
      for (int r = k; r < rows; ++r) {
        sums[r][g] = lanes::MulAdd(lanes::Broadcast(forms[r - k]), entry, sums[r][g]);
      }
      tile.form[g] = lanes::MulAdd(entry, sums[k][g], tile.form[g]);
      tile.mean[g] = lanes::MulAdd(lanes::Broadcast(theta[first + k]), entry, tile.mean[g]);
    }
  }
  return forms;
}

template <class Scalar>
[[gnu::always_inline]] inline Tile<Scalar> Sums(const Scalar* x, Index stride, Index dimension,
                                                const Scalar* forms, const Scalar* theta) {
  Tile<Scalar> tile;
  Index first = 0;
  for (; first + kRows <= dimension; first += kRows) {
    forms = AddRows<kRows>(x, stride, first, forms, theta, tile);
  }
  switch (dimension - first) {
    case 1:
      AddRows<1>(x, stride, first, forms, theta, tile);
      break;
    case 2:
      AddRows<2>(x, stride, first, forms, theta, tile);
      break;
    case 3:
      AddRows<3>(x, stride, first, forms, theta, tile);
      break;
    default:
      break;
  }
  return tile;
}

}  // namespace

template <class Scalar>
void UcbIndex<Scalar>::Set(const Matrix& inverse, const Vector& theta, double beta) {
  BANDANA_CHECK(theta.size() >= 1 && inverse.rows() == theta.size() && inverse.cols() == theta.size());
  BANDANA_CHECK(beta >= 0);
  dimension_ = theta.size();
  beta_ = static_cast<Scalar>(beta);
  theta_.resize(static_cast<std::size_t>(dimension_));
  std::copy(theta.begin(), theta.end(), theta_.begin());
  forms_.resize(static_cast<std::size_t>(dimension_ * (dimension_ + 1) / 2));
  Scalar* to = forms_.data();
  for (Index first = 0; first < dimension_; first += kRows) {
    const Index end = std::min(first + kRows, dimension_);
    for (Index k = 0; k < end; ++k) {
      const double* column = inverse.col(k).data();
      for (Index j = std::max(first, k); j < end; ++j) {
        *to++ = static_cast<Scalar>(j == k ? column[j] : 2 * column[j]);
      }
    }
  }
}

template <class Scalar>
ArmId UcbIndex<Scalar>::Best(const DecisionSet<Scalar>& set) const {
  constexpr int kLanes = lanes::kCount<Scalar>;
  constexpr int kArms = kLanes * kGroups;
  BANDANA_CHECK(set.dimension == dimension_ && set.arms >= 1 && set.stride % kArms == 0);
  constexpr Scalar kLowest = -std::numeric_limits<Scalar>::infinity();
  const auto lowest = lanes::Broadcast(kLowest);
  std::array<Lanes<Scalar>, kGroups> best;
  best.fill(lowest);
  // Of the registers' comparisons: as many bits as a Scalar.
  using Where = decltype(lowest > lowest);
  std::array<Where, kGroups> best_arm;
  Where lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  for (int g = 0; g < kGroups; ++g) best_arm[g] = lane + g * kLanes;
  for (Index first = 0; first < set.arms; first += kArms) {
    const Tile<Scalar> tile = Sums(set.entries + first, set.stride, dimension_, forms_.data(), theta_.data());
    for (int g = 0; g < kGroups; ++g) {
      const Where arm = lane + static_cast<int>(first + g * kLanes);
      const auto width = lanes::Sqrt(lanes::Max(tile.form[g], Lanes<Scalar>{}));
      const auto index = lanes::MulAdd(lanes::Broadcast(beta_), width, tile.mean[g]);
      const Where better = index > best[g] && arm < static_cast<int>(set.arms);
      best[g] = better ? index : best[g];
      best_arm[g] = better ? arm : best_arm[g];
    }
  }
  Scalar largest = kLowest;
  auto chosen = best_arm[0][0];
  for (int g = 0; g < kGroups; ++g) {
    for (int i = 0; i < kLanes; ++i) {
      const bool better = best[g][i] > largest || (best[g][i] == largest && best_arm[g][i] < chosen);
      if (!better) continue;
      largest = best[g][i];
      chosen = best_arm[g][i];
    }
  }
  return static_cast<ArmId>(chosen);
}

template class UcbIndex<double>;
template class UcbIndex<float>;

}  // namespace bandana
