#include "bandana/bandit/worlds/logged_rounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/bandit/off_policy.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

/// One context of a log, for a policy to choose in.
class OneRound final : public UserView {
 public:
  explicit OneRound(const LoggedFeatures& features) : features_(&features) {}
  void Set(const ContextView& context) { features_->Write(context, contexts_); }

  const ActionMatrix& Contexts() override { return contexts_; }
  void Scores(std::span<const double> thetas, std::span<double> scores) override {
    LoggedFeatures::Scores(contexts_, features_->multi(), thetas, scores);
  }

 private:
  const LoggedFeatures* features_;
  ActionMatrix contexts_;
};

}  // namespace

absl::StatusOr<LoggedFeatures> LoggedFeatures::Create(const LoggedData& log, ParameterKind parameters,
                                                      double bound) {
  if (!(std::isnormal(bound) && bound > 0)) {
    return InvalidField(Part::kParams, "context_bound", bound, "a finite number > 0");
  }
  LoggedFeatures features;
  features.scale_ = 1 / bound;
  features.multi_ = parameters == ParameterKind::kMulti;
  features.dimension_ = log.dimension();
  if (features.multi_) return features;
  if (log.action_contexts().rows() == 0) {
    return InvalidField(Part::kParams,
                        {.message = "the log has no features of actions",
                         .key = "parameters",
                         .value = "single",
                         .accepted = "multi, or a file with these features in action_context"});
  }
  features.action_contexts_ = log.action_contexts();
  features.dimension_ = log.dimension() * log.action_contexts().cols();
  return features;
}

void LoggedFeatures::Write(const ContextView& context, ActionMatrix& features) const {
  if (multi_) {
    features.resize(1, dimension_);
    for (Eigen::Index i = 0; i < context.size(); ++i) features(0, i) = scale_ * context[i];
    return;
  }
  const Eigen::Index width = action_contexts_.cols();
  features.resize(action_contexts_.rows(), dimension_);
  for (Eigen::Index a = 0; a < features.rows(); ++a) {
    for (Eigen::Index i = 0; i < context.size(); ++i) {
      for (Eigen::Index j = 0; j < width; ++j) {
        features(a, i * width + j) = scale_ * context[i] * action_contexts_(a, j);
      }
    }
  }
}

void LoggedFeatures::Scores(const ActionMatrix& features, bool multi, std::span<const double> thetas,
                            std::span<double> scores) {
  const Eigen::Index d = features.cols();
  const auto arms = static_cast<Eigen::Index>(scores.size());
  BANDANA_CHECK(multi ? features.rows() == 1 : features.rows() == arms);
  BANDANA_CHECK(thetas.size() == static_cast<std::size_t>(multi ? arms * d : d));
  for (Eigen::Index a = 0; a < arms; ++a) {
    scores[static_cast<std::size_t>(a)] =
        Dot(features.data() + (multi ? 0 : a * d), thetas.data() + (multi ? a * d : 0), d);
  }
}

LoggedRounds::LoggedRounds(Replay replay, LoggedFeatures features, std::uint64_t seed,
                           std::uint32_t replicate, Facts facts, std::shared_ptr<const LoggedData> held_out)
    : replay_(std::move(replay)),
      features_(std::move(features)),
      facts_(std::move(facts)),
      held_out_(std::move(held_out)),
      bits_({.seed = seed, .replicate = replicate, .stream = Stream::kReward}),
      coin_(bits_) {}

bool LoggedRounds::Next() {
  if (on_offer_) replay_.Pass(coin_);
  on_offer_ = !replay_.done();
  played_ = -1;
  reward_.reset();
  if (on_offer_) features_.Write(replay_.context(), contexts_);
  return on_offer_;
}

std::optional<double> LoggedRounds::Reward(ArmId arm) {
  if (on_offer_) {
    on_offer_ = false;
    played_ = arm;
    reward_ = replay_.Play(arm, coin_);
    if (reward_.has_value()) earned_.Add(*reward_);
  }
  BANDANA_CHECK(arm == played_);
  return reward_;
}

absl::Status LoggedRounds::Measure(GreedyPolicy greedy, std::map<std::string, double>& series) {
  series["offered"] = static_cast<double>(replay_.offered());
  series["matched"] = static_cast<double>(replay_.matched());
  if (held_out_ == nullptr) {
    earned_.Value(facts_.rewards).AddTo(series);
    return absl::OkStatus();
  }
  if (earned_.rounds() != evaluated_) BANDANA_RETURN_IF_ERROR(Evaluate(greedy));
  greedy_value_.AddTo(series);
  return absl::OkStatus();
}

absl::Status LoggedRounds::Evaluate(GreedyPolicy greedy) {
  constexpr double kLevel = 0.05;
  constexpr double kPenalty = 1;  // of the model in doubly robust estimates
  OneRound round(features_);
  const StochasticPolicy policy = [&](const ContextView& context, Eigen::Ref<Vector> probabilities) {
    round.Set(context);
    probabilities.setZero();
    probabilities[greedy(round)] = 1;
  };
  const Interval& rewards = facts_.rewards;
  BANDANA_ASSIGN_OR_RETURN(
      const ValueEstimate estimate,
      CrossFittedDoublyRobust(*held_out_, policy, kPenalty, {.rewards = rewards, .level = kLevel}));
  const double pad = ValuePad(rewards, std::max(1.0, estimate.effective_sample_size));
  greedy_value_ = {estimate.value, std::clamp(estimate.normal.low - pad, rewards.low, rewards.high),
                   std::clamp(estimate.normal.high + pad, rewards.low, rewards.high)};
  evaluated_ = earned_.rounds();
  return absl::OkStatus();
}

}  // namespace bandana
