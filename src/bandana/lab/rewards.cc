#include "bandana/lab/rewards.h"

#include "bandana/lab/algorithms.h"
#include "bandana/lab/contexts.h"

namespace bandana::lab {
namespace {

std::optional<double> RewardBound(const Settings& settings) {
  if (!settings.Has("environment.reward_bound")) return std::nullopt;
  const std::optional<double> given = settings.NumberOrAuto("environment.reward_bound");
  const bool paper = settings.Has("privacy.calibration") && settings.Text("privacy.calibration") == "paper";
  if (!given.has_value() && paper) return 1.0;  // P1: |y| <= B
  return given;
}

RewardModel LawOfRewards(const Settings& settings) {
  const std::string& kind = settings.Text("environment.reward");
  if (kind == "rademacher") return {.kind = RewardKind::kRademacher};
  if (kind == "bernoulli") return {.kind = RewardKind::kBernoulli};
  if (kind == "uniform") return {.kind = RewardKind::kUniform};
  return {.kind = RewardKind::kGaussian, .sd = settings.Number("environment.reward_sd")};
}

}  // namespace

RewardModel MakeRewardModel(const Settings& settings) {
  RewardModel model = LawOfRewards(settings);
  model.mean_varies = HasContexts(settings) && !HasUsers(settings);
  return model;
}

Link LinkOf(const Settings& settings) {
  const std::string link = settings.Has("environment.link") ? settings.Text("environment.link") : "identity";
  if (link == "logistic") return Link::kLogistic;
  if (link == "probit") return Link::kProbit;
  return link == "poisson" ? Link::kPoisson : Link::kIdentity;
}

ClipRule MakeClipRule(const Settings& settings) {
  return {.reward = MakeRewardModel(settings),
          .client_sd = HasContexts(settings) ? 0 : settings.Number("environment.client_sd"),
          .fixed_bound = RewardBound(settings)};
}

}  // namespace bandana::lab
