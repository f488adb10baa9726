#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/users/user_optimism.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/core/archive.h"
#include "bandana/core/status.h"
#include "bandana/federation/observations.h"
#include "bandana/federation/release.h"
#include "bandana/privacy/local_regression.h"

/// LDP-GLOC: K. Zheng, T. Cai, W. Huang, Z. Li, L. Wang, "Locally Differentially Private (Contextual) Bandits
/// Learning", NeurIPS 2020, after K.-S. Jun, A. Bhargava, R. Nowak, R. Willett, "Scalable Generalized Linear
/// Bandits", NIPS 2017. It is a baseline of P5 for links. Beside the estimate theta there is an online
/// parameter theta_h. A user sends x x', <x, theta_h> x and (mu(<x, theta_h>) - r) x in one joint release.
/// theta_h steps by the last of them and is projected onto its ball; without the projection the second would
/// have no bound. theta solves for the second. With g the standard deviation of the noise in an entry, n the
/// number of messages and m the smallest slope of the link:
///   step    step / sqrt(T)
///   bonus   sqrt(g sqrt(d n) / m), which is 0 without privacy, as in the paper
namespace bandana {

struct LdpGlocRules {
  UserRegressionRules regression;  ///< combines no messages: theta_h steps by every message
  MeanFunction mean;
  double theta_norm = 1;
  double least_slope = 1;  ///< m
  double step = 1;
  double bonus = 1;  ///< factor of the bonus above
};

class LdpGloc final {
 public:
  static constexpr bool kLooksAtContexts = true;
  struct Device {
    SealedStatistics statistics;
    LocalMessage message;
    UserOptimism::Room room;
  };

  /// The mechanism must have two side values, <x, theta_h> and mu - r, with their bounds.
  static absl::StatusOr<LdpGloc> Create(const LdpGlocRules& rules, LocalRegression regression);

  Device MakeDevice() const { return {SealedStatistics(regression_), {}, {}}; }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    const auto bonus = [this](Count slot) { return bonuses_[static_cast<std::size_t>(slot)]; };
    return optimism_.Choose(world, model_.policy(), bonus, device.room);
  }

  template <class User>
  absl::StatusOr<Count> Report(User& user, ArmId arm, const Raw<LocalRecord>& record, Device& device) const {
    const Count d = shape().dimension;
    const double* theta = online_.data() + (shape().multi ? arm : 0) * d;
    const auto sides = [&](std::span<const double> x, double reward, std::span<double> side) {
      side[0] = Dot(x.data(), theta, d);
      side[1] = rules_.mean(side[0]) - reward;
    };
    Release::Record(user, regression_, record, sides, device.statistics);
    const StatisticsQuestion question{device.statistics, policy().public_arm()};
    BANDANA_RETURN_IF_ERROR(Release::FromUser(user, regression_, question, device.message));
    return 1;
  }

  void Learn(const LocalMessage& message, Count users);

  template <class World>
  ArmId Greedy(World& world) const {
    return policy().Greedy(world);
  }

  Count RealsSent(Count users) const { return slot_reals() * shape().SlotsSent(users); }
  void Describe(Observations& observations) const {
    observations.numbers["unsolved"] = static_cast<double>(repairs());
  }

  const UserPolicy& policy() const { return model_.policy(); }
  Count repairs() const { return model_.repairs(); }
  Count slot_reals() const { return static_cast<Count>(regression_.slot_size()); }
  const LocalRegression& mechanism() const { return regression_; }

  template <class Archive>
  void State(Archive& archive) {
    const std::size_t slots = bonuses_.size();
    const std::size_t size = online_.size();
    archive(model_, optimism_, online_, bonuses_);
    archive.Check(bonuses_.size() == slots && online_.size() == size,
                  "it has the wrong number of parameters");
  }
  std::string Save() const { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) { return RestoreState(saved, *this); }

 private:
  LdpGloc(const LdpGlocRules& rules, LocalRegression regression);
  const UserModelShape& shape() const { return rules_.regression.shape; }
  void Step(Count slot, std::span<const double> gradient);

  LdpGlocRules rules_;
  LocalRegression regression_;
  UserRegression model_;
  UserOptimism optimism_;
  std::vector<double> online_;   // theta_h, slot by slot
  std::vector<double> bonuses_;  // for each slot, at the last solution
};

}  // namespace bandana
