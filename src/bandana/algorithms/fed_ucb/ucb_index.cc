#include "bandana/algorithms/fed_ucb/ucb_index.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

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

/// The sums for kGroups registers of arms, which go on from step to step.
template <class Scalar>
struct Tile {
  std::array<Lanes<Scalar>, kGroups> form = {};  // x'A x
  std::array<Lanes<Scalar>, kGroups> mean = {};  // <x, theta>
};

/// Adds rows first, ..., first + rows - 1 for the arms at x. Returns where the next rows' coefficients begin.
template <int rows, class Scalar>
[[gnu::always_inline]] inline const Scalar* AddRows(const Scalar* x, Index stride, Index first,
                                                    const Scalar* forms, const Scalar* theta,
                                                    Tile<Scalar>& tile) {
  constexpr int kLanes = lanes::kCount<Scalar>;
  asm("" : "+r"(x));  // or else entries are kept from step to step, on the stack
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

/// Writes the coefficients that AddRows reads, from A by columns. Returns where the next rows' go.
template <int rows, class Scalar>
[[gnu::always_inline]] inline Scalar* Pack(const double* column, Index stride, Index first, Scalar* to) {
  column += first;
  for (Index k = 0; k < first; ++k, column += stride, to += rows) {
    for (int r = 0; r < rows; ++r) to[r] = static_cast<Scalar>(2 * column[r]);
  }
  for (int k = 0; k < rows; ++k, column += stride) {
    *to++ = static_cast<Scalar>(column[k]);
    for (int r = k + 1; r < rows; ++r) *to++ = static_cast<Scalar>(2 * column[r]);
  }
  return to;
}

/// Adds all rows: `dimension` of them, unless kDimension says how many when this is compiled.
/// Not inlined: with all coefficients in sight of the loop over tiles, compilers spread them over the stack.
template <int kDimension, class Scalar>
[[gnu::noinline]] Tile<Scalar> Sums(const Scalar* x, Index stride, Index dimension, const Scalar* forms,
                                    const Scalar* theta) {
  Tile<Scalar> tile;
  const Index rows = kDimension == Eigen::Dynamic ? dimension : kDimension;
  Index first = 0;
#pragma GCC unroll 8
  for (; first + kRows <= rows; first += kRows) {
    forms = AddRows<kRows>(x, stride, first, forms, theta, tile);
  }
  switch (rows - first) {
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

/// The largest index so far in every lane, and its arm: the first one if several have it.
template <class Scalar>
struct Leaders {
  using Arms = decltype(Lanes<Scalar>{} > Lanes<Scalar>{});  // whole numbers as wide as a Scalar
  static constexpr int kLanes = lanes::kCount<Scalar>;

  std::array<Lanes<Scalar>, kGroups> index;
  std::array<Arms, kGroups> arm;
  std::array<Arms, kGroups> next;  // arms of the tile to come

  Leaders() {
    index.fill(lanes::Broadcast(-std::numeric_limits<Scalar>::infinity()));
    for (int g = 0; g < kGroups; ++g) {
      for (int i = 0; i < kLanes; ++i) next[g][i] = g * kLanes + i;
    }
    arm = next;
  }

  /// Takes the next tile, in which there are no arms from `end` on.
  void Take(const Tile<Scalar>& tile, Scalar beta, std::optional<int> end = std::nullopt) {
    for (int g = 0; g < kGroups; ++g) {
      const auto width = lanes::Sqrt(lanes::Max(tile.form[g], Lanes<Scalar>{}));
      const auto challenger = lanes::MulAdd(lanes::Broadcast(beta), width, tile.mean[g]);
      Arms better = challenger > index[g];
      if (end.has_value()) better &= next[g] < *end;
      index[g] = better ? challenger : index[g];
      arm[g] = better ? next[g] : arm[g];
      next[g] += kLanes * kGroups;
    }
  }

  ArmId First() const {
    Scalar largest = index[0][0];
    auto first = arm[0][0];
    for (int g = 0; g < kGroups; ++g) {
      for (int i = 0; i < kLanes; ++i) {
        if (!(index[g][i] > largest || (index[g][i] == largest && arm[g][i] < first))) continue;
        largest = index[g][i];
        first = arm[g][i];
      }
    }
    return static_cast<ArmId>(first);
  }
};

template <int kDimension, class Scalar>
ArmId BestOf(const DecisionSet<Scalar>& set, const Scalar* forms, const Scalar* theta, Scalar beta) {
  constexpr Index kArms = Index{lanes::kCount<Scalar>} * kGroups;
  Leaders<Scalar> leaders;
  const auto sums = [&](Index first) {
    return Sums<kDimension>(set.entries + first, set.stride, set.dimension, forms, theta);
  };
  Index first = 0;
  // The square roots of several tiles are taken together, since each takes long but they overlap.
  constexpr Index kTiles = 4;
  for (; first + kTiles * kArms <= set.arms; first += kTiles * kArms) {
    std::array<Tile<Scalar>, kTiles> tiles;
    for (Index i = 0; i < kTiles; ++i) tiles[i] = sums(first + i * kArms);
    for (const Tile<Scalar>& tile : tiles) leaders.Take(tile, beta);
  }
  for (; first + kArms <= set.arms; first += kArms) leaders.Take(sums(first), beta);
  if (first < set.arms) leaders.Take(sums(first), beta, static_cast<int>(set.arms));
  return leaders.First();
}

}  // namespace

template <class Scalar>
void UcbIndex<Scalar>::Set(const Eigen::Ref<const Matrix>& inverse, const Vector& theta, double beta) {
  BANDANA_CHECK(theta.size() >= 1 && inverse.rows() == theta.size() && inverse.cols() == theta.size());
  BANDANA_CHECK(beta >= 0);
  dimension_ = theta.size();
  beta_ = static_cast<Scalar>(beta);
  theta_.resize(static_cast<std::size_t>(dimension_));
  std::copy(theta.begin(), theta.end(), theta_.begin());
  forms_.resize(static_cast<std::size_t>(dimension_ * (dimension_ + 1) / 2));
  const double* a = inverse.data();
  const Index stride = inverse.outerStride();
  Scalar* to = forms_.data();
  Index first = 0;
  for (; first + kRows <= dimension_; first += kRows) to = Pack<kRows>(a, stride, first, to);
  switch (dimension_ - first) {
    case 1:
      Pack<1>(a, stride, first, to);
      break;
    case 2:
      Pack<2>(a, stride, first, to);
      break;
    case 3:
      Pack<3>(a, stride, first, to);
      break;
    default:
      break;
  }
}

template <class Scalar>
ArmId UcbIndex<Scalar>::Best(const DecisionSet<Scalar>& set) const {
  BANDANA_CHECK(set.dimension == dimension_ && set.arms >= 1);
  BANDANA_CHECK(set.stride % (lanes::kCount<Scalar> * kGroups) == 0);
  const auto best = [&]<int kDimension> {
    return BestOf<kDimension>(set, forms_.data(), theta_.data(), beta_);
  };
  switch (dimension_) {
    case 5:
      return best.template operator()<5>();
    case 10:
      return best.template operator()<10>();
    case 20:
      return best.template operator()<20>();
    default:
      return best.template operator()<Eigen::Dynamic>();
  }
}

template class UcbIndex<double>;
template class UcbIndex<float>;

}  // namespace bandana
