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

/// Returns the user's message under a public model that predicts the highest mean for everyone.
std::vector<double> GradientMessage(const LocalGradient& mechanism, const LocalUser& user, NoiseGen& noise);

/// Returns the user's message. Its sides all equal its reward. Each entry is divided by its noise's standard
/// deviation, so that the noise is spherical.
std::vector<double> RegressionMessage(const LocalRegression& mechanism, const LocalUser& user,
                                      NoiseGen& noise);

/// Returns the message without noise, each entry divided by the standard deviation that `mechanism` would
/// use. `space` determines how the record is clipped.
std::vector<double> RegressionCentre(const LocalRegression& mechanism, const LocalRegressionSpace& space,
                                     const LocalUser& user);

/// The adversary sees the message of one of two users, with all its slots, and knows everything else.
Target LocalGradientTarget(const std::string& name, const LocalGradient& mechanism,
                           const std::array<LocalUser, 2>& users);
Target LocalRegressionTarget(const std::string& name, const LocalRegression& mechanism,
                             const std::array<LocalUser, 2>& users);

/// Returns users whose gradients are at opposite ends of a diameter. If there are several slots, the users
/// have the first and the last arm.
std::array<LocalUser, 2> FarthestGradients(const LocalGradientSpace& space);

/// Returns users whose statistics are as far apart as possible (docs/proofs/local-regression.md). If there
/// are several slots, the users have the first and the last arm. Requires tight noise, one side, and
/// dimension >= 2.
std::array<LocalUser, 2> FarthestRegressions(const LocalRegressionSpace& space, double side_weight);

}  // namespace bandana::audit
