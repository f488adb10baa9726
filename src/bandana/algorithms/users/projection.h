#pragma once

#include <cmath>
#include <span>

namespace bandana {

/// Moves the point to the nearest point of the ball around 0.
inline void ProjectOntoBall(std::span<double> point, double radius) {
  double squares = 0;
  for (const double each : point) squares += each * each;
  if (!(squares > radius * radius)) return;
  const double shrink = radius / std::sqrt(squares);
  for (double& each : point) each *= shrink;
}

}  // namespace bandana
