#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/user_optimism.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/core/archive.h"
#include "bandana/core/savable.h"
#include "bandana/privacy/local_regression.h"

/// LDP-GLOC: K. Zheng, T. Cai, W. Huang, Z. Li, L. Wang, "Locally Differentially Private (Contextual) Bandits
/// Learning", NeurIPS 2020, after K.-S. Jun, A. Bhargava, R. Nowak, R. Willett, "Scalable Generalized Linear
/// Bandits", NIPS 2017: P5's baseline for links. Beside the estimate there is an online parameter theta_h. A
/// user sends x x', <x, theta_h> x and (mu(<x, theta_h>) - r) x in one joint release; theta_h steps by the
/// last of them and is projected onto its ball, without which the second had no bound; theta solves for the
/// second. With g the noise of an entry, n the messages and m the link's smallest slope:
///   step    step / sqrt(T)
///   bonus   sqrt(g sqrt(d n) / m), and 0 without privacy, as printed
namespace bandana {

struct LdpGlocParams {
  UserRegressionParams regression;  ///< no crowds: theta_h steps by every message
  MeanFunction mean;
  double theta_norm = 1;
  double least_slope = 1;  ///< m
  double step = 1;
  double bonus = 1;  ///< times the above
};

class LdpGloc final : public Savable {
 public:
  struct Device {
    LocalCrowd crowd;
    LocalMessage message;
    UserOptimism::Room room;
  };

  /// The mechanism has two sides, bounded by S L and by the largest |mu - r|.
  static absl::StatusOr<LdpGloc> Create(const LdpGlocParams& params, LocalRegression regression);

  Device MakeDevice() const { return {LocalCrowd(regression_), {}, {}}; }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    const auto bonus = [this](Count slot) { return bonuses_[static_cast<std::size_t>(slot)]; };
    return optimism_.Choose(world, model_.policy(), bonus, device.room);
  }

  Count Report(ArmId arm, const Raw<LocalRecord>& record, NoiseGen& noise, Device& device,
               RangeCounts* counts) const {
    const Count d = frame().dimension;
    const double* theta = online_.data() + (frame().multi ? arm : 0) * d;
    const auto sides = [&](std::span<const double> x, double reward, std::span<double> side) {
      side[0] = Dot(x.data(), theta, d);
      side[1] = params_.mean(side[0]) - reward;
    };
    regression_.Record(record, sides, device.crowd, counts);
    SendCrowd(regression_, model_.policy(), noise, device.crowd, device.message);
    return 1;
  }

  void Learn(const LocalMessage& message, Count users);

  const UserPolicy& policy() const { return model_.policy(); }
  Count repairs() const { return model_.repairs(); }
  Count slot_reals() const { return static_cast<Count>(regression_.slot_size()); }

  template <class Archive>
  void State(Archive& archive) {
    const std::size_t slots = bonuses_.size();
    const std::size_t size = online_.size();
    archive(model_, optimism_, online_, bonuses_);
    archive.Check(bonuses_.size() == slots && online_.size() == size, "parameters of another number");
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

 private:
  LdpGloc(const LdpGlocParams& params, LocalRegression regression);
  const UserFrame& frame() const { return params_.regression.frame; }
  void Step(Count slot, std::span<const double> gradient);

  LdpGlocParams params_;
  LocalRegression regression_;
  UserRegression model_;
  UserOptimism optimism_;
  std::vector<double> online_;   // theta_h, slot by slot
  std::vector<double> bonuses_;  // of each slot, at the last solution
};

}  // namespace bandana
