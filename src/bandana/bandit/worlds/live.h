#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/bandit/world.h"
#include "bandana/bandit/world_kind.h"

/// The kind "live" for slots: an application's own people choose among an application's own actions. Nothing
/// is simulated, so nobody knows the best action, and only `bandana server` can run it.
namespace bandana {

enum class LiveReward {
  kBernoulli,  ///< one of two values
  kBounded,    ///< any value in between, too
};

struct LiveWorldParams {
  std::string actions_file = {};
  LiveReward reward = LiveReward::kBernoulli;
  double reward_low = 0;
  double reward_high = 1;
  double reward_default = 0;
  std::string reward_window = {};  ///< a time, such as "2h"
  double client_sd = 0;
  Count population = 1'000'000'000;
};

/// An application's action.
struct LiveAction {
  std::string name;
  std::vector<double> features;  ///< empty: it has nothing in common with the others
};

/// Reads a file with the columns `name` and, if there are any, features. All names differ.
absl::StatusOr<std::vector<LiveAction>> ReadLiveActions(const std::string& path);

class LiveWorld final : public SlotWorld {
 public:
  static absl::StatusOr<std::unique_ptr<LiveWorld>> Create(const LiveWorldParams& params,
                                                           const WorldDraw& draw);

  const LiveWorldParams& params() const { return params_; }
  const std::vector<LiveAction>& actions() const { return actions_; }
  absl::Duration window() const { return window_; }
  /// Returns the interval to which rewards are mapped before anybody learns from them.
  Interval learned() const;

  const Facts& facts() const override { return facts_; }
  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override;

 private:
  LiveWorld() = default;

  LiveWorldParams params_;
  std::vector<LiveAction> actions_;
  absl::Duration window_;
  Facts facts_;
};

WorldKind LiveWorldKind();

}  // namespace bandana
