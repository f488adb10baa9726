#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/generators.h"
#include "bandana/core/noise_door.h"
#include "bandana/federation/release.h"
#include "bandana/federation/user_context.h"
#include "bandana/federation/user_learner.h"
#include "bandana/privacy/local_record.h"
#include "bandana/privacy/raw.h"

namespace bandana::sim {

struct UserSimParams {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
  /// How many users came before, if the learner continues where another simulator has left it. Coins and
  /// noise of a user are addressed by the user's number, so that no two users have the same.
  Count users_before = 0;
  const std::atomic<bool>* stop = nullptr;
};

/// A simulated user. It comes once and sends one message, so that it spends the mechanism's guarantee and
/// nothing needs to be counted.
class UserSeat final : public UserContext {
 public:
  /// `before` is how many users came before this one. `counts` must outlive the seat.
  UserSeat(std::uint64_t seed, std::uint32_t replicate, Count before, RangeCounts& counts)
      : noise_key_{.seed = seed,
                   .replicate = replicate,
                   .epoch = static_cast<Epoch>(before + 1),
                   .stream = Stream::kPrivacy},
        coin_bits_({.seed = seed,
                    .replicate = replicate,
                    .epoch = static_cast<Epoch>(before),
                    .stream = Stream::kExploration}),
        coin_(coin_bits_),
        counts_(&counts) {}

  CoinGen& coin() override { return coin_; }

 private:
  friend class bandana::Release;

  absl::Status ReleaseOnce(const DpGuarantee&, Count, LocalMessage&,
                           absl::FunctionRef<void(NoiseGen&)> draw) override {
    PhiloxSource bits(noise_key_);
    NoiseGen noise = NoiseDoor::Open(bits);
    draw(noise);
    return absl::OkStatus();
  }
  RangeCounts* range_counts() override { return counts_; }

  StreamKey noise_key_;
  PhiloxSource coin_bits_;
  CoinGen coin_;
  RangeCounts* counts_;
};

/// A learner in a world with a new user every round, while it is simulated.
class UserRun {
 public:
  virtual ~UserRun() = default;

  /// Plays until `until` rounds have counted, or the world has no more users.
  virtual absl::Status Run(Count until, RoundRecorder& recorder) = 0;

  Count rounds() const { return rounds_; }                     ///< that counted, with those of users before
  const RangeCounts& out_of_range() const { return counts_; }  ///< raw: for simulations alone

  /// Returns how many arms the users have left out of their choice, over all rounds. It is raw, too.
  virtual Count eliminated() const = 0;

 protected:
  explicit UserRun(Count users_before) : rounds_(users_before) {}

  Count rounds_;
  RangeCounts counts_;
};

/// The run of a Learner in a World: the abstract UserLearner and UserWorld, or concrete classes
/// (federation/user_learner.h says what a learner class has). With concrete classes a round is a few calls
/// that the compiler sees through: no allocation, no virtual call.
///
/// Rounds that do not count (those of a log, where the learner chose another arm) are not played: nobody
/// learns from them and they are not in the recorder.
template <class Learner, class World>
class UserSimulator final : public UserRun {
 public:
  UserSimulator(const UserSimParams& params, Learner& learner, World& world)
      : UserRun(params.users_before),
        params_(params),
        learner_(&learner),
        world_(&world),
        device_(learner.MakeDevice()) {}

  absl::Status Run(Count until, RoundRecorder& recorder) override {
    constexpr NodeId kLearner{1};
    constexpr Count kStopEvery = 4096;
    auto& device = DeviceIn(device_);
    while (rounds_ < until && world_->Next()) {
      UserSeat user(params_.seed, params_.replicate, rounds_, counts_);
      const ArmId arm = learner_->Choose(*world_, user.coin(), device);
      const std::optional<double> reward = world_->Reward(arm);
      if (!reward.has_value()) continue;
      recorder.Play(kLearner, ++rounds_, arm, world_->Gap(arm));
      const Raw record(LocalRecord{world_->Context(arm), *reward, arm});
      const absl::StatusOr<Count> users = learner_->Report(user, arm, record, device);
      if (!users.ok()) return users.status();
      if (*users > 0) learner_->Learn(MessageIn(device), *users);
      if (rounds_ % kStopEvery == 0 && params_.stop != nullptr && *params_.stop) {
        return absl::CancelledError("interrupted");
      }
    }
    return absl::OkStatus();
  }

  Count eliminated() const override {
    if constexpr (requires { device_->eliminated(); }) {
      return device_->eliminated();
    } else {
      return EliminatedBy(device_);
    }
  }

 private:
  template <class Device>
  static Device& DeviceIn(Device& device) {
    return device;
  }
  static UserDevice& DeviceIn(std::unique_ptr<UserDevice>& device) { return *device; }

  template <class Device>
  static const LocalMessage& MessageIn(const Device& device) {
    return device.message;
  }
  static const LocalMessage& MessageIn(const UserDevice& device) { return device.message(); }

  UserSimParams params_;
  Learner* learner_;
  World* world_;
  decltype(std::declval<const Learner&>().MakeDevice()) device_;
};

}  // namespace bandana::sim
