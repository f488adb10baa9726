#pragma once

#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "bandana/algorithms/users/user_policy.h"
#include "bandana/core/linear_algebra.h"

namespace bandana {

/// The shift that is added to the diagonal of the noisy Gram matrix of n messages, to keep it positive
/// definite: scale g sqrt(n) k, where g is the standard deviation of the noise in an entry off the diagonal.
struct GramShift {
  double scale = 1;
  /// False: k = 2 sqrt(d), to which the largest eigenvalue of the noise tends. True: k as in P5, Theorems 3.1
  /// and 4.1, 2 (4 sqrt(d) + 2 ln(2 T arms/a)) with a = 0.1.
  bool paper = false;
  double arms = 1;  ///< K where Theorem 4.1 holds; 1 for one theta, and for the baselines
};

struct UserRegressionRules {
  UserModelShape shape;
  GramShift shift;
  /// The estimates are solved for again when the number of messages has grown by this share; 0: after every
  /// message. The messages alone determine when that is, not what they contain.
  double lazy = 0;
  /// Whether a simulator may draw the sum of all messages between two solutions at once, which has the same
  /// law. False with the exact sampler.
  bool combine_messages = false;
};

/// The least-squares estimates of P5, equation (4), for each slot, from what users send: x x' and s x for
/// side values s. LDP-OLS, LDP-UCB, LDP-GLOC and their forms without privacy share it.
///   theta = (sum of x x' + (1 + shift sqrt(n)) I)^-1 sum of s x
class UserRegression {
 public:
  /// `sides` is the number of side values in a message. `noise` is the standard deviation of the noise in an
  /// entry of x x' off the diagonal, in one message.
  UserRegression(const UserRegressionRules& rules, Count sides, double noise);

  static absl::Status Check(const UserRegressionRules& rules);

  const UserRegressionRules& rules() const { return rules_; }
  const UserPolicy& policy() const { return policy_; }

  /// Returns how many users' messages may be combined: those until the next solution, or 1.
  Count due() const { return rules_.combine_messages && !policy_.warming_up() ? next_ - policy_.users() : 1; }

  /// Adds a message of so many users. Returns whether the estimates are new. They are solved for from the
  /// sums of the first side value.
  bool Add(std::span<const double> entries, Count users);

  /// Returns L of L L', the shifted Gram matrix of a slot at the last solution.
  const Matrix& factor(Count slot) const { return factors_[static_cast<std::size_t>(slot)]; }

  /// Returns the sums of side value 0, 1, ... of a slot.
  std::span<const double> moments(Count slot, Count side) const {
    return std::span(sums_).subspan(static_cast<std::size_t>(slot) * slot_entries_ + triangle_ +
                                        static_cast<std::size_t>(side) * dimension_,
                                    dimension_);
  }
  double messages(Count slot) const { return messages_[static_cast<std::size_t>(slot)]; }

  /// Returns how many solutions were left out because noise had made a matrix indefinite.
  Count repairs() const { return repairs_; }

  template <class Archive>
  void State(Archive& archive) {
    const std::size_t entries = sums_.size();
    archive(policy_, sums_, messages_, next_, repairs_);
    archive.Check(sums_.size() == entries && messages_.size() == factors_.size(),
                  "its sums have the wrong size");
    archive.Check(next_ > policy_.users(), "the round of its next estimate is already over");
    archive.Each(factors_);
    for (const Matrix& factor : factors_) {
      archive.Check(factor.rows() == gram_.rows() && factor.cols() == gram_.cols(),
                    "a matrix has the wrong size");
    }
  }

 private:
  void AddSlot(Count slot, std::span<const double> entries, Count users);
  void Solve(Count slot);

  UserRegressionRules rules_;
  std::size_t dimension_;
  std::size_t triangle_;      // entries of the lower triangle
  std::size_t slot_entries_;  // entries of the lower triangle and of all sides
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
