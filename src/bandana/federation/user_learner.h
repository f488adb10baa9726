#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/observations.h"
#include "bandana/federation/role.h"
#include "bandana/federation/user_context.h"
#include "bandana/privacy/local_message.h"
#include "bandana/privacy/raw.h"

namespace bandana {

/// The memory of a user's device beside the public model: the message that it sends, and scratch space.
class UserDevice {
 public:
  virtual ~UserDevice() = default;
  virtual const LocalMessage& message() const = 0;

  /// Returns how many arms the device's users have left out of their choice. It is raw: for simulations
  /// alone.
  virtual Count eliminated() const { return 0; }
};

/// Returns what UserDevice::eliminated does, for a device of a class of its own.
template <class Device>
Count EliminatedBy(const Device& device) {
  if constexpr (requires { device.eliminated; }) {
    return device.eliminated;
  } else {
    return 0;
  }
}

/// A learner that meets a new user in every round. The `const` members run on the user's device, with a copy
/// of the public model; Learn runs at the server.
class UserLearner : public Role {
 public:
  virtual std::unique_ptr<UserDevice> MakeDevice() const = 0;

  /// Returns the arm that the user plays.
  virtual ArmId Choose(UserView& view, CoinGen& coin, UserDevice& device) const = 0;

  /// Fills in the device's message through federation/release.h, and returns how many users' data it holds.
  /// 0: the message is not due yet, which only a simulator sees.
  virtual absl::StatusOr<Count> Report(UserContext& user, ArmId arm, const Raw<LocalRecord>& record,
                                       UserDevice& device) const = 0;

  /// Learns from a message of so many users.
  virtual void Learn(const LocalMessage& message, Count users) = 0;

  /// Returns the best arm by the public model of this moment, without any exploration.
  virtual ArmId Greedy(UserView& view) const = 0;

  /// Returns whether Choose looks at all contexts, and not at scores alone.
  virtual bool looks_at_contexts() const = 0;

  /// Returns how many numbers the first `users` users send in all.
  virtual Count RealsSent(Count users) const = 0;

  /// Returns the public estimates, one theta after the other. Empty: the learner has no such estimates.
  virtual std::span<const double> thetas() const { return {}; }
};

/// Makes a UserLearner of a class L. L has the same functions, but Choose, Report and Greedy are templates
/// over the world and the user, and devices have a type of L's own with a field `message`. So a simulator
/// that knows L compiles a round into straight code:
///   static constexpr bool kLooksAtContexts
///   Device MakeDevice() const
///   ArmId Choose(World&, CoinGen&, Device&) const
///   absl::StatusOr<Count> Report(User&, ArmId, const Raw<LocalRecord>&, Device&) const
///   void Learn(const LocalMessage&, Count users)
///   ArmId Greedy(World&) const
///   Count RealsSent(Count users) const
///   void Describe(Observations&) const
///   Save() and Restore(), as in core/savable.h
template <class L>
class UserLearnerOf final : public UserLearner {
 public:
  explicit UserLearnerOf(L learner) : learner_(std::move(learner)) {}

  L& learner() { return learner_; }
  const L& learner() const { return learner_; }

  struct Device final : UserDevice {
    explicit Device(typename L::Device of) : device(std::move(of)) {}
    const LocalMessage& message() const override { return device.message; }
    Count eliminated() const override { return EliminatedBy(device); }
    typename L::Device device;
  };

  std::unique_ptr<UserDevice> MakeDevice() const override {
    return std::make_unique<Device>(learner_.MakeDevice());
  }
  ArmId Choose(UserView& view, CoinGen& coin, UserDevice& device) const override {
    return learner_.Choose(view, coin, Own(device));
  }
  absl::StatusOr<Count> Report(UserContext& user, ArmId arm, const Raw<LocalRecord>& record,
                               UserDevice& device) const override {
    return learner_.Report(user, arm, record, Own(device));
  }
  void Learn(const LocalMessage& message, Count users) override { learner_.Learn(message, users); }
  ArmId Greedy(UserView& view) const override { return learner_.Greedy(view); }
  bool looks_at_contexts() const override { return L::kLooksAtContexts; }
  Count RealsSent(Count users) const override { return learner_.RealsSent(users); }
  std::span<const double> thetas() const override {
    if constexpr (requires { learner_.policy().thetas(); }) {
      return learner_.policy().thetas();
    } else {
      return {};
    }
  }
  void Describe(Observations& observations) const override { learner_.Describe(observations); }
  std::string Save() const override { return learner_.Save(); }
  absl::Status Restore(std::string_view saved) override { return learner_.Restore(saved); }

 private:
  static typename L::Device& Own(UserDevice& device) { return static_cast<Device&>(device).device; }

  L learner_;
};

}  // namespace bandana
