#pragma once

#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/algorithms/users/user_regression.h"
#include "bandana/core/status.h"
#include "bandana/federation/observations.h"
#include "bandana/federation/release.h"
#include "bandana/privacy/local_regression.h"

/// The parts that LDP-OLS, LDP-UCB and Thompson sampling share: their users send x x' and (r - c) x, for the
/// context x of the played arm and its reward r. c is the mean reward at <x, theta> = 0, which is public.
namespace bandana {

/// How a device turns its user's record into a message.
class RegressionReporter {
 public:
  /// The mechanism must have one side value, r - centre.
  RegressionReporter(LocalRegression regression, double centre)
      : regression_(std::move(regression)), centre_(centre) {}

  struct Device {
    SealedStatistics statistics;
    LocalMessage message;
    std::vector<double> scores;
    Count eliminated = 0;  // arms that equation (7) has left out, over all users: for simulations alone
  };
  Device MakeDevice() const { return {SealedStatistics(regression_), {}, {}, 0}; }

  template <class User>
  absl::StatusOr<Count> Report(User& user, const UserRegression& model, const Raw<LocalRecord>& record,
                               Device& device) const {
    const auto sides = [this](std::span<const double>, double reward, std::span<double> side) {
      side[0] = reward - centre_;
    };
    Release::Record(user, regression_, record, sides, device.statistics);
    const Count users = device.statistics.users();
    if (users < model.due()) return 0;
    const StatisticsQuestion question{device.statistics, model.policy().public_arm()};
    BANDANA_RETURN_IF_ERROR(Release::FromUser(user, regression_, question, device.message));
    return users;
  }

  const LocalRegression& mechanism() const { return regression_; }

 private:
  LocalRegression regression_;
  double centre_;
};

/// A learner (federation/user_learner.h) but for MakeDevice, Choose and saving.
class RegressionLearner {
 public:
  template <class User>
  absl::StatusOr<Count> Report(User& user, ArmId, const Raw<LocalRecord>& record,
                               RegressionReporter::Device& device) const {
    return reporter_.Report(user, model_, record, device);
  }

  void Learn(const LocalMessage& message, Count users) { model_.Add(message.entries(), users); }

  template <class World>
  ArmId Greedy(World& world) const {
    return policy().Greedy(world);
  }

  Count RealsSent(Count users) const { return slot_reals() * policy().shape().SlotsSent(users); }
  void Describe(Observations& observations) const {
    observations.numbers["unsolved"] = static_cast<double>(repairs());
  }

  const UserPolicy& policy() const { return model_.policy(); }
  Count repairs() const { return model_.repairs(); }
  Count slot_reals() const { return static_cast<Count>(mechanism().slot_size()); }
  const LocalRegression& mechanism() const { return reporter_.mechanism(); }

 protected:
  RegressionLearner(const UserRegressionRules& rules, RegressionReporter reporter)
      : reporter_(std::move(reporter)), model_(rules, 1, reporter_.mechanism().gram_noise()) {}

  const RegressionReporter& reporter() const { return reporter_; }
  const UserRegression& model() const { return model_; }
  UserRegression& model() { return model_; }

 private:
  RegressionReporter reporter_;
  UserRegression model_;
};

}  // namespace bandana
