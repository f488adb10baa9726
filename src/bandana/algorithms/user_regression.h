#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/user_frame.h"
#include "bandana/core/generators.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/privacy/local_regression.h"

namespace bandana {

/// What keeps the noisy Gram matrix of n messages positive definite: scale g sqrt(n) k is added to its
/// diagonal, g the noise of an entry off it.
struct GramShift {
  double scale = 1;
  /// k = 2 sqrt(d), to which the largest eigenvalue of the noise tends; or P5's 2 (4 sqrt(d) + 2 ln(2 T/a)),
  /// with a = 0.1.
  bool paper = false;
};

struct UserRegressionParams {
  UserFrame frame;
  GramShift shift;
  /// Estimates are solved for again when there are this share more messages: 0: after every one. Which that
  /// is is known beforehand, so that nothing is learned from it.
  double lazy = 0;
  /// A simulator may draw the noise of all messages between two solutions at once: the same in law. Not with
  /// the exact sampler.
  bool crowds = false;
};

/// What a crowd's message is: in a warm-up it tells the arm, which is the round's and no user's choice.
inline void SendCrowd(const LocalRegression& mechanism, const UserPolicy& policy, NoiseGen& noise,
                      LocalCrowd& crowd, LocalMessage& message) {
  if (policy.warming_up()) {
    mechanism.ReleasePublic(crowd, policy.warm_up_arm(), noise, message);
  } else {
    mechanism.Release(crowd, noise, message);
  }
}

/// The least-squares estimates of P5, equation (4), from what users send of x x' and s x, in each slot: what
/// LDP-OLS, LDP-UCB, LDP-GLOC and their models without privacy share.
///   theta = (sum M + (1 + shift sqrt(n)) I)^-1 sum u
class UserRegression {
 public:
  /// `moments`: how many sides a message has. `noise`: of an entry off the diagonal of one M.
  UserRegression(const UserRegressionParams& params, Count moments, double noise);

  static absl::Status Check(const UserRegressionParams& params);

  const UserRegressionParams& params() const { return params_; }
  const UserPolicy& policy() const { return policy_; }

  /// Messages until estimates are solved for again, or 1 if they must come one by one.
  Count due() const { return params_.crowds && !policy_.warming_up() ? next_ - policy_.users() : 1; }

  /// True if estimates are new: solved for from the sums of the first side.
  bool Add(std::span<const double> entries, Count users);

  /// L of L L', the Gram matrix of a slot, shifted, at the last solution.
  const Matrix& factor(Count slot) const { return factors_[static_cast<std::size_t>(slot)]; }

  /// Sums of side 0, 1, ... of a slot.
  std::span<const double> moments(Count slot, Count side) const {
    return std::span(sums_).subspan(static_cast<std::size_t>(slot) * slot_entries_ + triangle_ +
                                        static_cast<std::size_t>(side) * dimension_,
                                    dimension_);
  }
  double messages(Count slot) const { return messages_[static_cast<std::size_t>(slot)]; }
  Count repairs() const { return repairs_; }  ///< solutions left out: noise had made a matrix indefinite

  template <class Archive>
  void State(Archive& archive) {
    const std::size_t entries = sums_.size();
    archive(policy_, sums_, messages_, next_, repairs_);
    archive.Check(sums_.size() == entries && messages_.size() == factors_.size(), "sums of another size");
    archive.Check(next_ > policy_.users(), "a solution that is overdue");
    archive.Each(factors_);
    for (const Matrix& factor : factors_) {
      archive.Check(factor.rows() == gram_.rows() && factor.cols() == gram_.cols(),
                    "a matrix of another size");
    }
  }

 private:
  void AddSlot(Count slot, std::span<const double> entries, Count users);
  void Solve(Count slot);

  UserRegressionParams params_;
  std::size_t dimension_;
  std::size_t triangle_;      // entries of the lower triangle
  std::size_t slot_entries_;  // that, and the sides
  double shift_;
  UserPolicy policy_;
  std::vector<double> sums_;      // of messages' entries, slot by slot
  std::vector<double> messages_;  // in each slot
  Count next_;                    // users at the next solution
  Count repairs_ = 0;
  std::vector<Matrix> factors_;
  Matrix gram_;  // scratch
};

}  // namespace bandana
