#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/ldp_ols.h"
#include "bandana/core/archive.h"
#include "bandana/core/distributions.h"
#include "bandana/core/savable.h"

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

class ThompsonSampling final : public Savable {
 public:
  struct Device : RegressionReporter::Device {
    std::vector<double> thetas;
  };

  static absl::StatusOr<ThompsonSampling> Create(const ThompsonSamplingParams& params,
                                                 RegressionReporter reporter);

  Device MakeDevice() const { return {reporter_.MakeDevice(), {}}; }

  template <class World>
  ArmId Choose(World& world, CoinGen& coin, Device& device) const {
    const UserPolicy& policy = model_.policy();
    if (policy.warming_up()) return policy.warm_up_arm();
    Draw(coin, device.thetas);
    device.scores.resize(static_cast<std::size_t>(policy.frame().arms));
    world.Scores(device.thetas, device.scores);
    return LargestScore(device.scores);
  }

  Count Report(ArmId, const Raw<LocalRecord>& record, NoiseGen& noise, Device& device,
               RangeCounts* counts) const {
    return reporter_.Report(model_, record, noise, device, counts);
  }

  void Learn(const LocalMessage& message, Count users) { model_.Add(message.entries(), users); }

  const UserPolicy& policy() const { return model_.policy(); }
  Count repairs() const { return model_.repairs(); }
  Count slot_reals() const { return static_cast<Count>(reporter_.mechanism().slot_size()); }

  template <class Archive>
  void State(Archive& archive) {
    archive(model_);
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

 private:
  ThompsonSampling(const ThompsonSamplingParams& params, RegressionReporter reporter)
      : params_(params),
        reporter_(std::move(reporter)),
        model_(params.regression, 1, reporter_.mechanism().gram_noise()) {}
  void Draw(CoinGen& coin, std::vector<double>& thetas) const;

  ThompsonSamplingParams params_;
  RegressionReporter reporter_;
  UserRegression model_;
};

}  // namespace bandana
