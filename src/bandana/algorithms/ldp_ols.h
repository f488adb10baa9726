#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/user_regression.h"
#include "bandana/core/archive.h"
#include "bandana/core/savable.h"

/// LDP-OLS: P5, Algorithms 1 and 2 with equations (3) and (4). A user sends x x' and (r - c) x in one
/// Gaussian release; the server solves for theta; users choose greedily. c is the mean reward of <x, theta> =
/// 0, public: 0 with linear rewards. With another link theta is that of a linear approximation, of which
/// users need the direction alone where all arms share it.
namespace bandana {

/// What a user of the least-squares family does with its record.
class RegressionReporter {
 public:
  /// The mechanism has one side, r - centre.
  RegressionReporter(LocalRegression regression, double centre)
      : regression_(std::move(regression)), centre_(centre) {}

  struct Device {
    LocalCrowd crowd;
    LocalMessage message;
    std::vector<double> scores;
  };
  Device MakeDevice() const { return {LocalCrowd(regression_), {}, {}}; }

  Count Report(const UserRegression& model, const Raw<LocalRecord>& record, NoiseGen& noise, Device& device,
               RangeCounts* counts) const {
    const auto sides = [this](std::span<const double>, double reward, std::span<double> side) {
      side[0] = reward - centre_;
    };
    regression_.Record(record, sides, device.crowd, counts);
    const Count users = device.crowd.users();
    if (users < model.due()) return 0;
    SendCrowd(regression_, model.policy(), noise, device.crowd, device.message);
    return users;
  }

  const LocalRegression& mechanism() const { return regression_; }

 private:
  LocalRegression regression_;
  double centre_;
};

class LdpOls final : public Savable {
 public:
  using Device = RegressionReporter::Device;

  static absl::StatusOr<LdpOls> Create(const UserRegressionParams& params, RegressionReporter reporter);

  Device MakeDevice() const { return reporter_.MakeDevice(); }

  template <class World>
  ArmId Choose(World& world, CoinGen&, Device& device) const {
    return model_.policy().Choose(world, device.scores);
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
  LdpOls(const UserRegressionParams& params, RegressionReporter reporter)
      : reporter_(std::move(reporter)), model_(params, 1, reporter_.mechanism().gram_noise()) {}
  RegressionReporter reporter_;
  UserRegression model_;
};

}  // namespace bandana
