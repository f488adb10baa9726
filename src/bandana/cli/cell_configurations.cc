#include "bandana/cli/cell_configurations.h"

#include <cmath>

#include "fmt/format.h"

namespace bandana::cli {

std::string CellConfiguration::Describe() const {
  return fmt::format("tilt {} degrees, power {} dBm, inactivity timer {} s", tilt_degrees, power_dbm,
                     inactivity_seconds);
}

std::vector<CellConfiguration> CellConfigurations() {
  std::vector<CellConfiguration> configurations;
  for (const double tilt : {0, 2, 4, 6, 8, 10, 12, 14}) {
    for (const double power : {36, 38, 40, 42, 44, 46}) {
      for (const double timer : {2, 5, 10, 20, 40}) {
        const double t = (tilt - 7) / 7;
        const double p = (power - 41) / 5;
        const double s = std::log(timer / 9) / std::log(4.5);
        // The features have squares and products, so that the best setting need not be an extreme one.
        // sqrt(8) bounds their norm.
        std::vector<double> features = {t, p, s, t * t, p * p, s * s, t * p, p * s};
        for (double& feature : features) feature /= std::sqrt(8.0);
        configurations.push_back({tilt, power, timer, std::move(features)});
      }
    }
  }
  return configurations;
}

}  // namespace bandana::cli
