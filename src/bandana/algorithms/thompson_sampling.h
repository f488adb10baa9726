#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/regression_learner.h"
#include "bandana/core/archive.h"
#include "bandana/core/distributions.h"

/// Thompson sampling for linear rewards: S. Agrawal, N. Goyal, "Thompson Sampling for Contextual Bandits with
/// Linear Payoffs", ICML 2013. A baseline without privacy: every user draws thetas ~ N(theta, v^2 A^-1), A
/// the Gram matrix of the slot, and chooses by them. The paper's v = s sqrt(9 d ln(T)) is for its proof; here
/// v = spread s, s the rewards' proxy.
namespace bandana {

struct ThompsonSamplingParams {
  UserRegressionParams regression;
  double spread = 1;
  double reward_proxy = 1;  ///< s
};

class ThompsonSampling final : public RegressionLearner {
 public:
  struct Device : RegressionReporter::Device {
    std::vector<double> thetas;
  };

  static absl::StatusOr<ThompsonSampling> Create(const ThompsonSamplingParams& params,
                                                 RegressionReporter reporter);

  Device MakeDevice() const { return {reporter().MakeDevice(), {}}; }

  template <class World>
  ArmId Choose(World& world, CoinGen& coin, Device& device) const {
    if (policy().warming_up()) return policy().warm_up_arm();
    Draw(coin, device.thetas);
    device.scores.resize(static_cast<std::size_t>(policy().frame().arms));
    world.Scores(device.thetas, device.scores);
    return LargestScore(device.scores);
  }

  template <class Archive>
  void State(Archive& archive) {
    archive(model());
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

 private:
  ThompsonSampling(const ThompsonSamplingParams& params, RegressionReporter reporter)
      : RegressionLearner(params.regression, std::move(reporter)), params_(params) {}
  void Draw(CoinGen& coin, std::vector<double>& thetas) const;

  ThompsonSamplingParams params_;
};

}  // namespace bandana
