#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bandana/algorithms/user_regression.h"
#include "bandana/core/savable.h"
#include "bandana/privacy/local_regression.h"

/// What the learners share whose users send x x' and (r - c) x: LDP-OLS, LDP-UCB, Thompson sampling.
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

/// All of a learner (algorithms/user_frame.h) but how users choose.
class RegressionLearner : public Savable {
 public:
  Count Report(ArmId, const Raw<LocalRecord>& record, NoiseGen& noise, RegressionReporter::Device& device,
               RangeCounts* counts) const {
    return reporter_.Report(model_, record, noise, device, counts);
  }

  void Learn(const LocalMessage& message, Count users) { model_.Add(message.entries(), users); }

  const UserPolicy& policy() const { return model_.policy(); }
  Count repairs() const { return model_.repairs(); }
  Count slot_reals() const { return static_cast<Count>(reporter_.mechanism().slot_size()); }

 protected:
  RegressionLearner(const UserRegressionParams& params, RegressionReporter reporter)
      : reporter_(std::move(reporter)), model_(params, 1, reporter_.mechanism().gram_noise()) {}

  const RegressionReporter& reporter() const { return reporter_; }
  const UserRegression& model() const { return model_; }
  UserRegression& model() { return model_; }

 private:
  RegressionReporter reporter_;
  UserRegression model_;
};

}  // namespace bandana
