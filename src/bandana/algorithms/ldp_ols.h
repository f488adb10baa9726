#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/regression_learner.h"
#include "bandana/core/archive.h"

/// LDP-OLS: P5, Algorithms 1 and 2 with equations (3) and (4). A user sends x x' and (r - c) x in one
/// Gaussian release; the server solves for theta; users choose greedily. c is the mean reward of <x, theta> =
/// 0, public: 0 with linear rewards. With another link theta is that of a linear approximation, of which
/// users need the direction alone where all arms share it.
namespace bandana {

class LdpOls final : public RegressionLearner {
 public:
  using Device = RegressionReporter::Device;

  static absl::StatusOr<LdpOls> Create(const UserRegressionParams& params, RegressionReporter reporter);

  Device MakeDevice() const { return reporter().MakeDevice(); }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    return policy().Choose(world, device.scores);
  }

  template <class Archive>
  void State(Archive& archive) {
    archive(model());
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

 private:
  using RegressionLearner::RegressionLearner;
};

}  // namespace bandana
