#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "bandana/bandit/decision_set.h"
#include "bandana/core/check.h"
#include "bandana/core/ids.h"

namespace bandana {

/// The decision sets of consecutive rounds of one agent, in memory that is reused. It also holds what the
/// world knows and the agent does not: each arm's mean reward, the best mean of the round, and a uniform
/// number that determines the reward of any arm. A world that does not know the means leaves them out in all
/// rounds: gaps are then NaN. Rounds count from 0 within a block.
template <class Scalar>
class DecisionBlock {
 public:
  static constexpr std::size_t kAlignment = 64;

  DecisionBlock(Count most_rounds, Eigen::Index arms, Eigen::Index dimension)
      : most_rounds_(most_rounds),
        rounds_(most_rounds),
        arms_(arms),
        dimension_(dimension),
        stride_(Stride(arms)),
        means_stride_((arms + kMeansTile - 1) / kMeansTile * kMeansTile),
        entries_(static_cast<std::size_t>(most_rounds * dimension * stride_)),
        means_(static_cast<std::size_t>(most_rounds * means_stride_)),
        truths_(static_cast<std::size_t>(most_rounds)) {
    BANDANA_CHECK(most_rounds >= 1 && arms >= 1 && dimension >= 1);
  }

  Count most_rounds() const { return most_rounds_; }
  Count rounds() const { return rounds_; }
  Eigen::Index arms() const { return arms_; }
  Eigen::Index dimension() const { return dimension_; }
  Eigen::Index stride() const { return stride_; }

  /// Shortens the block, for the end of a run. Allocates nothing.
  void SetRounds(Count rounds) {
    BANDANA_CHECK(rounds >= 1 && rounds <= most_rounds_);
    rounds_ = rounds;
  }

  DecisionSet<Scalar> set(Count round) const {
    return {.entries = entries_.data() + Offset(round) * dimension_ * stride_,
            .arms = arms_,
            .stride = stride_,
            .dimension = dimension_};
  }
  std::span<const double> means(Count round) const {
    return {means_.data() + Offset(round) * means_stride_, static_cast<std::size_t>(arms_)};
  }
  double best_mean(Count round) const { return truths_[Offset(round)].best_mean; }
  double uniform(Count round) const { return truths_[Offset(round)].uniform; }
  double Gap(Count round, ArmId arm) const { return best_mean(round) - means(round)[arm]; }

  /// Write access, for the code that fills the block. `entries` is laid out as in DecisionSet; entries beyond
  /// the last arm must stay 0. `means_of` has room for a multiple of 8 means.
  Scalar* entries(Count round) { return entries_.data() + Offset(round) * dimension_ * stride_; }
  double* means_of(Count round) { return means_.data() + Offset(round) * means_stride_; }
  void SetTruth(Count round, double best_mean, double uniform) {
    truths_[Offset(round)] = {best_mean, uniform};
  }

 private:
  struct Truth {
    double best_mean = std::numeric_limits<double>::quiet_NaN();
    double uniform = 0;
  };

  template <class T>
  struct Aligned {
    using value_type = T;
    Aligned() = default;
    template <class U>
    Aligned(const Aligned<U>&) {}  // NOLINT(google-explicit-constructor)
    T* allocate(std::size_t n) {
      return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(kAlignment)));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(kAlignment)); }
    bool operator==(const Aligned&) const { return true; }
  };

  static constexpr Eigen::Index kMeansTile = 8;

  /// The stride is an odd number of cache lines, so that the coordinates of an arm do not fall into a few
  /// sets of the cache.
  static Eigen::Index Stride(Eigen::Index arms) {
    constexpr Eigen::Index kLine = kAlignment / sizeof(Scalar);
    return ((arms + kLine - 1) / kLine | 1) * kLine;
  }

  Eigen::Index Offset(Count round) const {
    BANDANA_CHECK(round >= 0 && round < rounds_);
    return round;
  }

  Count most_rounds_;
  Count rounds_;
  Eigen::Index arms_;
  Eigen::Index dimension_;
  Eigen::Index stride_;
  Eigen::Index means_stride_;
  std::vector<Scalar, Aligned<Scalar>> entries_;
  std::vector<double, Aligned<double>> means_;
  std::vector<Truth> truths_;
};

}  // namespace bandana
