#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/bandit/user_rounds.h"
#include "bandana/core/generators.h"
#include "bandana/core/noise_door.h"
#include "bandana/privacy/local_record.h"
#include "bandana/privacy/raw.h"

namespace bandana::sim {

struct UserSimParams {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
  /// Users who came before, if the learner goes on from where another simulator left it: every user has coins
  /// and noise of its own, addressed by its number, and no two have the same.
  Count users_before = 0;
  const std::atomic<bool>* stop = nullptr;
};

/// Runs a learner of P5 (algorithms/user_frame.h) in a world with a new user every round. A template, so that
/// a round is a few calls that the compiler sees through: no message object, no allocation, no virtual call.
///
/// A user comes once and leaves one message, so that what it has spent is the mechanism's guarantee: nothing
/// is counted. Rounds that do not count (a log's, where the learner chose otherwise) are not played: nobody
/// learns from them and they are not in the recorder.
template <class Learner, UserWorld World>
class UserSimulator {
 public:
  UserSimulator(const UserSimParams& params, Learner& learner, World& world)
      : params_(params),
        learner_(&learner),
        world_(&world),
        device_(learner.MakeDevice()),
        rounds_(params.users_before) {}

  /// Plays until `until` rounds have counted, or the world has no more users.
  absl::Status Run(Count until, RoundRecorder& recorder) {
    constexpr NodeId kLearner{1};
    constexpr Count kStopEvery = 4096;
    while (rounds_ < until && world_->Next()) {
      PhiloxSource coin_bits(Key(Stream::kExploration));
      CoinGen coin(coin_bits);
      const ArmId arm = learner_->Choose(*world_, coin, device_);
      const std::optional<double> reward = world_->Reward(arm);
      if (!reward.has_value()) continue;
      recorder.Play(kLearner, ++rounds_, arm, world_->Gap(arm));
      const Raw record(LocalRecord{world_->Context(arm), *reward, arm});
      PhiloxSource noise_bits(Key(Stream::kPrivacy));
      NoiseGen noise = NoiseDoor::Open(noise_bits);
      const Count users = learner_->Report(arm, record, noise, device_, &counts_);
      if (users > 0) learner_->Learn(device_.message, users);
      if (rounds_ % kStopEvery == 0 && params_.stop != nullptr && *params_.stop) {
        return absl::CancelledError("interrupted");
      }
    }
    return absl::OkStatus();
  }

  Count rounds() const { return rounds_; }  ///< that counted, those of users before included
  const RangeCounts& out_of_range() const { return counts_; }

 private:
  // Of the user who is there: before its round counts for its coins, and after that for its noise.
  StreamKey Key(Stream stream) const {
    return {.seed = params_.seed,
            .replicate = params_.replicate,
            .epoch = static_cast<Epoch>(rounds_),
            .stream = stream};
  }

  UserSimParams params_;
  Learner* learner_;
  World* world_;
  typename Learner::Device device_;
  RangeCounts counts_;
  Count rounds_;
};

}  // namespace bandana::sim
