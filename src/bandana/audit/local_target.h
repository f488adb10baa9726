#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "bandana/audit/target.h"
#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_regression.h"

namespace bandana::audit {

struct LocalUser {
  std::vector<double> context;
  double reward = 0;
  ArmId arm = 0;
};

/// The user's message under a public model that predicts the highest mean for everyone.
std::vector<double> GradientMessage(const LocalGradient& mechanism, const LocalUser& user, NoiseGen& noise);

/// The user's message, its sides all equal to its reward, each entry over its noise, so that noise is
/// spherical.
std::vector<double> RegressionMessage(const LocalRegression& mechanism, const LocalUser& user,
                                      NoiseGen& noise);

/// The same without noise, each entry over the noise that `mechanism` would have put to it. `space` says how
/// the record is clipped.
std::vector<double> RegressionCentre(const LocalRegression& mechanism, const LocalRegressionSpace& space,
                                     const LocalUser& user);

/// The adversary sees the message of one of two users, all slots of it, and knows the rest.
Target LocalGradientTarget(const std::string& name, const LocalGradient& mechanism,
                           const std::array<LocalUser, 2>& users);
Target LocalRegressionTarget(const std::string& name, const LocalRegression& mechanism,
                             const std::array<LocalUser, 2>& users);

/// Users whose gradients are at either end of a diameter; with several slots, of the first and the last arm.
std::array<LocalUser, 2> FarthestGradients(const LocalGradientSpace& space);

/// Users whose statistics are as far apart as they can be (docs/proofs/local-regression.md); with several
/// slots, those of the first and the last arm. Tight noise, one side, dimension >= 2.
std::array<LocalUser, 2> FarthestRegressions(const LocalRegressionSpace& space, double side_weight);

}  // namespace bandana::audit
