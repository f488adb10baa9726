#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/ids.h"

/// P5's algorithms: Y. Han, Z. Liang, Y. Wang, J. Zhang, "Generalized Linear Bandits with Local Differential
/// Privacy", NeurIPS 2021. Every round a new user comes with its own context. It chooses an arm by the public
/// model and sends one message, from which the server learns.
///   paper        here
///   K, d         arms, dimension
///   s_0          warm_up
///   h            elimination_gap
///   theta_0:K    one slot of `dimension` numbers for each theta
namespace bandana {

/// The public numbers that fix the size of the model and how users choose by it. All of a learner's parts
/// share them.
struct UserModelShape {
  Count horizon = 0;
  Count dimension = 0;
  Count arms = 0;
  bool multi = false;  ///< Algorithm 2: every arm has its own theta; false: Algorithm 1, one theta for all
  Count warm_up = 0;   ///< if multi: how often each arm is played before contexts decide
  double elimination_gap = 0;  ///< if multi

  Count slots() const { return multi ? arms : 1; }
  Count warm_up_rounds() const { return multi ? arms * warm_up : 0; }

  /// Returns how many slots the first `users` users send in all: one each in the warm-up, later all slots.
  Count SlotsSent(Count users) const {
    const Count warm = std::min(users, warm_up_rounds());
    return warm + slots() * (users - warm);
  }

  absl::Status Check() const;
};

/// The smallest slope of a link that is accepted. Through a flatter link nothing can be learned.
inline constexpr double kLeastSlope = 1e-100;

/// Returns the arm with the largest score, and the first of them if there are several.
inline ArmId LargestScore(std::span<const double> scores) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return static_cast<ArmId>(best);
}

/// The thetas by which users choose, and how they choose.
class UserPolicy {
 public:
  explicit UserPolicy(const UserModelShape& shape)
      : shape_(shape), thetas_(static_cast<std::size_t>(shape.slots() * shape.dimension), 0.0) {}

  const UserModelShape& shape() const { return shape_; }
  Count users() const { return users_; }  ///< from whom the server has learned
  bool warming_up() const { return users_ < shape_.warm_up_rounds(); }

  /// Returns the arm of this round of the warm-up. The round alone determines it, so it tells nothing about
  /// the user.
  ArmId warm_up_arm() const { return static_cast<ArmId>(users_ % shape_.arms); }

  /// Returns the arm of this round if it is public, which it is in the warm-up.
  std::optional<ArmId> public_arm() const {
    return warming_up() ? std::optional(warm_up_arm()) : std::nullopt;
  }

  std::span<double> theta(Count slot) {
    return std::span(thetas_).subspan(static_cast<std::size_t>(slot * shape_.dimension), dimension());
  }
  std::span<const double> theta(Count slot) const {
    return std::span(thetas_).subspan(static_cast<std::size_t>(slot * shape_.dimension), dimension());
  }
  std::span<const double> thetas() const { return thetas_; }

  /// Counts more users. At the end of the warm-up it keeps a copy of the thetas for equation (7).
  void Advance(Count users) {
    const bool warm = warming_up();
    users_ += users;
    if (warm && !warming_up()) screen_ = thetas_;
  }

  /// Returns the arm that a user plays: the arm with the largest score. After a warm-up, only arms count
  /// whose score by the thetas of its end was at most h/2 below the best (equation (7)). Adds to `eliminated`
  /// how many arms do not count.
  template <class World>
  ArmId Choose(World& world, std::vector<double>& scores, Count& eliminated) const {
    if (warming_up()) return warm_up_arm();
    scores.resize(2 * static_cast<std::size_t>(shape_.arms));
    const std::span<double> now = std::span(scores).first(static_cast<std::size_t>(shape_.arms));
    world.Scores(thetas_, now);
    if (screen_.empty()) return LargestScore(now);
    const std::span<double> then = std::span(scores).last(static_cast<std::size_t>(shape_.arms));
    world.Scores(screen_, then);
    return LargestOfScreened(now, then, eliminated);
  }

  /// Returns the best arm by the thetas of this moment, also in the warm-up.
  template <class World>
  ArmId Greedy(World& world) const {
    std::vector<double> scores(static_cast<std::size_t>(shape_.arms));
    Count eliminated = 0;
    if (!warming_up()) return Choose(world, scores, eliminated);
    world.Scores(thetas_, scores);
    return LargestScore(scores);
  }

  template <class Archive>
  void State(Archive& archive) {
    archive.Same(shape_.horizon, "horizon");
    archive.Same(shape_.dimension, "dimension");
    archive.Same(shape_.arms, "number of actions");
    archive.Same(shape_.multi, "choice of parameters = multi");
    const std::size_t size = thetas_.size();
    archive(users_, thetas_, screen_);
    archive.Check(users_ >= 0 && users_ <= shape_.horizon, "it has more users than the horizon");
    archive.Check(thetas_.size() == size, "it has the wrong number of parameters");
    const auto finite = [](double x) { return std::isfinite(x); };
    archive.Check(std::all_of(thetas_.begin(), thetas_.end(), finite) &&
                      std::all_of(screen_.begin(), screen_.end(), finite),
                  "a parameter is not finite");
    const bool screened = shape_.warm_up_rounds() > 0 && !warming_up();
    archive.Check(screen_.size() == (screened ? size : 0),
                  "the parameters from its warm-up have the wrong size");
  }

 private:
  std::size_t dimension() const { return static_cast<std::size_t>(shape_.dimension); }

  ArmId LargestOfScreened(std::span<const double> now, std::span<const double> then,
                          Count& eliminated) const {
    const auto first = static_cast<std::size_t>(LargestScore(then));
    const double least = then[first] - shape_.elimination_gap / 2;
    std::size_t best = first;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (!(then[i] >= least)) {
        ++eliminated;
      } else if (now[i] > now[best] || (now[i] == now[best] && i < best)) {
        best = i;
      }
    }
    return static_cast<ArmId>(best);
  }

  UserModelShape shape_;
  Count users_ = 0;
  std::vector<double> thetas_;
  std::vector<double> screen_;  // the thetas at the end of the warm-up; empty before, and if there is none
};

}  // namespace bandana
