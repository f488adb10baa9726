#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/ids.h"

/// The frame of P5's algorithms: every round a new user comes with a context that is its own, chooses by the
/// public model, and leaves one message, from which the server learns. A learner is one class: what its
/// `const` members do is done on the user's device, with a copy of the model; Learn is the server's.
///
///   MakeDevice()            what a device needs beside the model
///   Choose(world, coin, device)
///                           the arm that the user pulls (bandit/user_rounds.h)
///   Report(arm, record, noise, device, counts)
///                           how many users' messages device.message is; 0: none yet. `counts` is the lab's,
///                           of what was out of range; null in service
///   Learn(message, users)
///   policy(), slot_reals()  for whoever watches: numbers in a slot of a message
///   Save(), Restore(bytes)  the server's state, all of it public (docs/saving.md)
///
///   paper        here
///   K, d         arms, dimension
///   s_0          warm_up
///   h            elimination_gap
///   theta_0:K    slots of dimension numbers each; one slot where all arms share a theta
namespace bandana {

struct UserFrame {
  Count horizon = 0;
  Count dimension = 0;
  Count arms = 0;
  bool multi = false;          ///< every arm has a theta of its own: Algorithm 2; else Algorithm 1
  Count warm_up = 0;           ///< pulls of each arm before contexts decide; with `multi` alone
  double elimination_gap = 0;  ///< with `multi` alone

  Count slots() const { return multi ? arms : 1; }
  Count warm_up_rounds() const { return multi ? arms * warm_up : 0; }

  /// Errors name keys of the lab.
  absl::Status Check() const;
};

/// A link whose slope may be smaller is as good as flat, and nothing is learned through it.
inline constexpr double kLeastSlope = 1e-100;

/// The arm with the largest score, the smallest index if several have it.
inline ArmId LargestScore(std::span<const double> scores) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  return static_cast<ArmId>(best);
}

/// The thetas that users choose by.
class UserPolicy {
 public:
  explicit UserPolicy(const UserFrame& frame)
      : frame_(frame), thetas_(static_cast<std::size_t>(frame.slots() * frame.dimension), 0.0) {}

  const UserFrame& frame() const { return frame_; }
  Count users() const { return users_; }  ///< that the server has learned from
  bool warming_up() const { return users_ < frame_.warm_up_rounds(); }

  /// In the warm-up the arm is the round's, and says nothing about the user.
  ArmId warm_up_arm() const { return static_cast<ArmId>(users_ % frame_.arms); }

  std::span<double> theta(Count slot) {
    return std::span(thetas_).subspan(static_cast<std::size_t>(slot * frame_.dimension), dimension());
  }
  std::span<const double> theta(Count slot) const {
    return std::span(thetas_).subspan(static_cast<std::size_t>(slot * frame_.dimension), dimension());
  }
  std::span<const double> thetas() const { return thetas_; }

  /// So many more users. At the end of the warm-up the thetas of that moment are kept for equation (7).
  void Advance(Count users) {
    const bool warm = warming_up();
    users_ += users;
    if (warm && !warming_up()) screen_ = thetas_;
  }

  /// The largest score of all; after a warm-up, of those that were not more than h/2 below the best by the
  /// estimates of its end. The smallest index if several have it.
  template <class World>
  ArmId Choose(World& world, std::vector<double>& scores) const {
    if (warming_up()) return warm_up_arm();
    scores.resize(2 * static_cast<std::size_t>(frame_.arms));
    const std::span<double> now = std::span(scores).first(static_cast<std::size_t>(frame_.arms));
    world.Scores(thetas_, now);
    if (screen_.empty()) return LargestScore(now);
    const std::span<double> then = std::span(scores).last(static_cast<std::size_t>(frame_.arms));
    world.Scores(screen_, then);
    return LargestOfScreened(now, then);
  }

  template <class Archive>
  void State(Archive& archive) {
    archive.Same(frame_.horizon, "horizon");
    archive.Same(frame_.dimension, "environment.dimension");
    archive.Same(frame_.arms, "environment.actions");
    archive.Same(frame_.multi, "environment.parameters = multi");
    const std::size_t size = thetas_.size();
    archive(users_, thetas_, screen_);
    archive.Check(users_ >= 0 && users_ <= frame_.horizon, "more users than the horizon has");
    archive.Check(thetas_.size() == size, "parameters of another number");
    const auto finite = [](double x) { return std::isfinite(x); };
    archive.Check(std::all_of(thetas_.begin(), thetas_.end(), finite) &&
                      std::all_of(screen_.begin(), screen_.end(), finite),
                  "a parameter that is not finite");
    const bool screened = frame_.warm_up_rounds() > 0 && !warming_up();
    archive.Check(screen_.size() == (screened ? size : 0), "a screen that is not the warm-up's");
  }

 private:
  std::size_t dimension() const { return static_cast<std::size_t>(frame_.dimension); }

  ArmId LargestOfScreened(std::span<const double> now, std::span<const double> then) const {
    const auto first = static_cast<std::size_t>(LargestScore(then));
    const double least = then[first] - frame_.elimination_gap / 2;
    std::size_t best = first;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (then[i] >= least && (now[i] > now[best] || (now[i] == now[best] && i < best))) best = i;
    }
    return static_cast<ArmId>(best);
  }

  UserFrame frame_;
  Count users_ = 0;
  std::vector<double> thetas_;
  std::vector<double> screen_;  // thetas at the end of the warm-up; empty before, and without one
};

}  // namespace bandana
