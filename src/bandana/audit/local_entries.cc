#include "bandana/audit/catalog.h"
#include "bandana/audit/local_target.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"

namespace bandana::audit {
namespace {

auto Gradient(L2BallRandomizer randomizer, Count slots, bool lift = false) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const LocalGradient mechanism,
                             LocalGradient::Create({.epsilon = nominal.epsilon,
                                                    .randomizer = randomizer,
                                                    .sampler = Sampler::kExact,
                                                    .calibration = Calibration::kTight,
                                                    .dimension = 4,
                                                    .slots = slots,
                                                    .slot_budget = SlotBudget::kFull,
                                                    .context_norm = 1,
                                                    .rewards = {0, 1},
                                                    .means = {0, 1},
                                                    .out_of_range = OutOfRange::kClip,
                                                    .lift = lift}));
    BANDANA_CHECK(mechanism.lifted() == lift);
    return LocalGradientTarget(name, mechanism, FarthestGradients(mechanism.space()));
  };
}

auto Regression(Calibration calibration, Count slots) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    const double weight = calibration == Calibration::kPaper ? 1 : 0.5;
    BANDANA_ASSIGN_OR_RETURN(const LocalRegression mechanism,
                             LocalRegression::Create({.nominal = nominal,
                                                      .calibration = calibration,
                                                      .sampler = Sampler::kExact,
                                                      .dimension = 2,
                                                      .slots = slots,
                                                      .slot_budget = SlotBudget::kFull,
                                                      .context_norm = 1,
                                                      .rewards = {-1, 1},
                                                      .side_bounds = {1},
                                                      .side_weights = {weight},
                                                      .out_of_range = OutOfRange::kClip}));
    return LocalRegressionTarget(name, mechanism, FarthestRegressions(mechanism.space(), weight));
  };
}

}  // namespace

std::vector<Entry> LocalEntries() {
  constexpr std::int64_t kDraws = 200'000;
  return {
      {"local-gradient-duchi",
       "a user's gradient with the randomizer of Duchi et al.; the adversary reads the message",
       {1, 0},
       kDraws,
       Gradient(L2BallRandomizer::kDuchi, 1)},
      {"local-gradient-privunit",
       "local-gradient-duchi with PrivUnit instead",
       {1, 0},
       kDraws,
       Gradient(L2BallRandomizer::kPrivUnit, 1)},
      {"local-gradient-slots",
       "a slot for every arm, and users of different arms",
       {1, 0},
       kDraws,
       Gradient(L2BallRandomizer::kPrivUnit, 3)},
      {"local-gradient-lifted",
       "a user's gradient by PrivUnit in one more dimension, which is not sent",
       {4, 0},
       kDraws,
       Gradient(L2BallRandomizer::kPrivUnit, 1, true)},
      {"local-regression", "a user's statistics for regression in one Gaussian release", kSharp, kDraws,
       Regression(Calibration::kTight, 1)},
      {"local-regression-paper",
       "local-regression with P5's formula, compared with the guarantee that it delivers",
       {2, 0.1},
       kDraws,
       Regression(Calibration::kPaper, 1)},
      {"local-regression-slots", "a slot for every arm, and users of different arms", kSharp, kDraws,
       Regression(Calibration::kTight, 3)},
  };
}

}  // namespace bandana::audit
