#include "bandana/cli/cell_configurations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace bandana::cli {
namespace {

TEST(CellConfigurationsTest, Are240OfNormAtMostOne) {
  const std::vector<CellConfiguration> all = CellConfigurations();
  EXPECT_EQ(all.size(), 240u);
  std::set<std::vector<double>> features;
  std::set<std::string> words;
  for (const CellConfiguration& configuration : all) {
    double square = 0;
    for (const double feature : configuration.features) {
      EXPECT_TRUE(std::isfinite(feature));
      square += feature * feature;
    }
    EXPECT_EQ(configuration.features.size(), 8u);
    EXPECT_LE(std::sqrt(square), 1) << configuration.Describe();
    EXPECT_GT(square, 0) << configuration.Describe();
    features.insert(configuration.features);
    words.insert(configuration.Describe());
  }
  EXPECT_EQ(features.size(), all.size()) << "two configurations look the same to the learner";
  EXPECT_EQ(words.size(), all.size()) << "two configurations read the same";
}

TEST(CellConfigurationsTest, DescribesItselfWithUnits) {
  EXPECT_EQ(CellConfigurations().front().Describe(), "tilt 0 degrees, power 36 dBm, inactivity timer 2 s");
}

}  // namespace
}  // namespace bandana::cli
