#include "bandana/bandit/logged_rounds.h"

#include <cmath>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"

namespace bandana {

absl::StatusOr<LoggedFeatures> LoggedFeatures::Create(const LoggedData& log, ParameterKind parameters,
                                                      double bound) {
  if (!(std::isnormal(bound) && bound > 0)) {
    return InvalidOption("environment.context_bound", bound, "a finite number > 0");
  }
  LoggedFeatures features;
  features.scale_ = 1 / bound;
  features.multi_ = parameters == ParameterKind::kMulti;
  features.dimension_ = log.dimension();
  if (features.multi_) return features;
  if (log.action_contexts().rows() == 0) {
    return InvalidInput({.message = "the log has no features of actions",
                         .key = "environment.parameters",
                         .value = "single",
                         .accepted = "multi, or a file of them in environment.action_context"});
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
                           std::uint32_t replicate)
    : replay_(std::move(replay)),
      features_(std::move(features)),
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
  }
  BANDANA_CHECK(arm == played_);
  return reward_;
}

}  // namespace bandana
