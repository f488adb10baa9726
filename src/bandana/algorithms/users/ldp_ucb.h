#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/users/regression_learner.h"
#include "bandana/algorithms/users/user_optimism.h"
#include "bandana/core/archive.h"

/// LDP-UCB: K. Zheng, T. Cai, W. Huang, Z. Li, L. Wang, "Locally Differentially Private (Contextual) Bandits
/// Learning", NeurIPS 2020. It is a baseline of P5. Users send the messages of LDP-OLS: one joint release of
/// clipped data. An arm's score is its estimate plus a bonus times |x|_(A^-1) (user_optimism.h). With g the
/// standard deviation of the noise in an entry, n the number of messages, u = g sqrt(n) k_0,
/// k_0 = 4 sqrt(d) + 2 ln(2 T/a) and a = 0.1:
///   bonus   2 g sqrt(d ln T) + (sqrt(3 u) + g sqrt(d n/u)) d ln T
///
/// Without noise it is LinUCB with the width of Y. Abbasi-Yadkori, D. Pal, C. Szepesvari, "Improved
/// Algorithms for Linear Stochastic Bandits", NIPS 2011, Theorem 2. With |theta| <= S, |x| <= L and
/// sub-Gaussian rewards of proxy s:
///   bonus   s sqrt(d ln(1 + n L^2/d) + 2 ln(T)) + S
namespace bandana {

struct LdpUcbRules {
  UserRegressionRules regression;
  double bonus = 1;         ///< factor of the bonus above
  double theta_norm = 1;    ///< S
  double context_norm = 1;  ///< L
  double reward_proxy = 1;  ///< s
};

class LdpUcb final : public RegressionLearner {
 public:
  static constexpr bool kLooksAtContexts = true;
  struct Device : RegressionReporter::Device {
    UserOptimism::Room room;
  };

  static absl::StatusOr<LdpUcb> Create(const LdpUcbRules& rules, RegressionReporter reporter);

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
    archive.Check(bonuses_.size() == slots, "it has the wrong number of bonuses");
  }
  std::string Save() const { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) { return RestoreState(saved, *this); }

 private:
  LdpUcb(const LdpUcbRules& rules, RegressionReporter reporter);
  double BonusAt(double messages) const;

  LdpUcbRules rules_;
  UserOptimism optimism_;
  std::vector<double> bonuses_;  // for each slot, at the last solution
};

}  // namespace bandana
