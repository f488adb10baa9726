#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "bandana/algorithms/users/regression_learner.h"
#include "bandana/core/archive.h"

/// LDP-OLS: P5, Algorithms 1 and 2 with equations (3) and (4). A user sends x x' and (r - c) x in one
/// Gaussian release (regression_learner.h), the server solves for theta, and users choose greedily. With a
/// link other than the identity, theta belongs to a linear approximation. Where all arms share one theta,
/// users need only its direction.
namespace bandana {

class LdpOls final : public RegressionLearner {
 public:
  static constexpr bool kLooksAtContexts = false;
  using Device = RegressionReporter::Device;

  static absl::StatusOr<LdpOls> Create(const UserRegressionRules& rules, RegressionReporter reporter);

  Device MakeDevice() const { return reporter().MakeDevice(); }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    return policy().Choose(world, device.scores, device.eliminated);
  }

  template <class Archive>
  void State(Archive& archive) {
    archive(model());
  }
  std::string Save() const { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) { return RestoreState(saved, *this); }

 private:
  using RegressionLearner::RegressionLearner;
};

}  // namespace bandana
