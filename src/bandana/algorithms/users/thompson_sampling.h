#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/users/regression_learner.h"
#include "bandana/core/archive.h"
#include "bandana/core/distributions.h"

/// Thompson sampling for linear rewards: S. Agrawal, N. Goyal, "Thompson Sampling for Contextual Bandits with
/// Linear Payoffs", ICML 2013. It is a baseline without privacy. Every user draws thetas ~ N(theta, v^2
/// A^-1), where A is the Gram matrix of the slot, and chooses by them. The paper takes v = s sqrt(9 d ln(T))
/// for its proof. Here v = spread s, where s is the sub-Gaussian proxy of rewards.
namespace bandana {

struct ThompsonSamplingRules {
  UserRegressionRules regression;
  double spread = 1;
  double reward_proxy = 1;  ///< s
};

class ThompsonSampling final : public RegressionLearner {
 public:
  static constexpr bool kLooksAtContexts = false;
  struct Device : RegressionReporter::Device {
    std::vector<double> thetas;
  };

  static absl::StatusOr<ThompsonSampling> Create(const ThompsonSamplingRules& rules,
                                                 RegressionReporter reporter);

  Device MakeDevice() const { return {reporter().MakeDevice(), {}}; }

  template <class World>
  ArmId Choose(World& world, CoinGen& coin, Device& device) const {
    if (policy().warming_up()) return policy().warm_up_arm();
    Draw(coin, device.thetas);
    device.scores.resize(static_cast<std::size_t>(policy().shape().arms));
    world.Scores(device.thetas, device.scores);
    return LargestScore(device.scores);
  }

  template <class Archive>
  void State(Archive& archive) {
    archive(model());
  }
  std::string Save() const { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) { return RestoreState(saved, *this); }

 private:
  ThompsonSampling(const ThompsonSamplingRules& rules, RegressionReporter reporter)
      : RegressionLearner(rules.regression, std::move(reporter)), rules_(rules) {}
  void Draw(CoinGen& coin, std::vector<double>& thetas) const;

  ThompsonSamplingRules rules_;
};

}  // namespace bandana
