#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "bandana/algorithms/regression_learner.h"
#include "bandana/algorithms/user_optimism.h"
#include "bandana/core/archive.h"

/// LDP-UCB: K. Zheng, T. Cai, W. Huang, Z. Li, L. Wang, "Locally Differentially Private (Contextual) Bandits
/// Learning", NeurIPS 2020, P5's baseline, with the messages of LDP-OLS: one joint release, clipped. With
/// g the noise of an entry, n the messages, u = g sqrt(n) k_0, k_0 = 4 sqrt(d) + 2 ln(2 T/a), a = 0.1:
///   bonus   2 g sqrt(d ln T) + (sqrt(3 u) + g sqrt(d n/u)) d ln T
/// Without privacy it is LinUCB, as Y. Abbasi-Yadkori, D. Pal, C. Szepesvari, "Improved Algorithms for Linear
/// Stochastic Bandits", NIPS 2011, Theorem 2, has it, with |theta| <= S and sub-Gaussian rewards of proxy s:
///   bonus   s sqrt(d ln(1 + n L^2/d) + 2 ln(T)) + S
namespace bandana {

struct LdpUcbParams {
  UserRegressionParams regression;
  double bonus = 1;         ///< times the above
  double theta_norm = 1;    ///< S
  double context_norm = 1;  ///< L
  double reward_proxy = 1;  ///< s
};

class LdpUcb final : public RegressionLearner {
 public:
  struct Device : RegressionReporter::Device {
    UserOptimism::Room room;
  };

  static absl::StatusOr<LdpUcb> Create(const LdpUcbParams& params, RegressionReporter reporter);

  Device MakeDevice() const { return {reporter().MakeDevice(), {}}; }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    const auto bonus = [this](Count slot) { return bonuses_[static_cast<std::size_t>(slot)]; };
    return optimism_.Choose(world, policy(), bonus, device.room);
  }

  void Learn(const LocalMessage& message, Count users);

  template <class Archive>
  void State(Archive& archive) {
    const std::size_t slots = bonuses_.size();
    archive(model(), optimism_, bonuses_);
    archive.Check(bonuses_.size() == slots, "bonuses of another number of arms");
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

 private:
  LdpUcb(const LdpUcbParams& params, RegressionReporter reporter);
  double BonusAt(double messages) const;

  LdpUcbParams params_;
  UserOptimism optimism_;
  std::vector<double> bonuses_;  // of each slot, at the last solution
};

}  // namespace bandana
