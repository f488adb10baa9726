#include <gtest/gtest.h>

#include <vector>

#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "tests/privacy/mean_support.h"
#include "tests/support.h"

namespace bandana {
namespace {

template <class P>
void ExpectForecastIsWhatIsReleased(const P& privatizer) {
  const MeanQuery query{.bounds = {{-1, 1}, {-2, 3}, {0, 0.5}}, .clients = 40};
  test::Noise noise(1);
  const auto released =
      test::ReleaseMean(privatizer, query, test::ClientAverages(40, {0.5, 1, 0.2}), noise.gen);
  ASSERT_TRUE(released.ok()) << released.status();
  const auto forecast = privatizer.Forecast(query);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  ASSERT_EQ(forecast->size(), released->noise().size());
  for (std::size_t i = 0; i < forecast->size(); ++i) {
    const NoiseLaw& law = released->noise()[i];
    EXPECT_EQ((*forecast)[i].proxy, law.proxy);
    EXPECT_EQ((*forecast)[i].laplace_scale, law.laplace_scale);
    EXPECT_EQ((*forecast)[i].laplace_terms, law.laplace_terms);
    EXPECT_EQ((*forecast)[i].normal, law.normal);
  }
}

TEST(ForecastTest, IsTheLawThatAReleaseCarries) {
  constexpr GaussianParams kGaussian{{1, 1e-3}, Calibration::kTight, Sampler::kFast};
  constexpr LaplaceParams kLaplace{1, Calibration::kTight, Sampler::kFast};
  ExpectForecastIsWhatIsReleased(NoPrivacyMean(Declassify("test")));
  ExpectForecastIsWhatIsReleased(*CentralGaussianMean::Create(kGaussian));
  ExpectForecastIsWhatIsReleased(*CentralLaplaceMean::Create(kLaplace));
  ExpectForecastIsWhatIsReleased(*LocalGaussianMean::Create(kGaussian));
  ExpectForecastIsWhatIsReleased(*LocalLaplaceMean::Create(kLaplace));
  ExpectForecastIsWhatIsReleased(*ShuffleSumMean::Create({.nominal = {1, 1e-3},
                                                          .calibration = Calibration::kTight,
                                                          .sampler = Sampler::kFast,
                                                          .transport = Transport::kCounts,
                                                          .collusion = {},
                                                          .most_clients = 1 << 20,
                                                          .loss = 1}));
  ExpectForecastIsWhatIsReleased(*ShuffledLaplaceMean::Create(
      {.nominal = {1, 1e-3}, .sampler = Sampler::kFast, .collusion = {}, .most_clients = 100}));
}

TEST(ForecastTest, OnlyGaussianNoiseIsCalledNormal) {
  const MeanQuery query{.bounds = {{-1, 1}}, .clients = 40};
  const auto gaussian = *CentralGaussianMean::Create({{1, 1e-3}, Calibration::kTight, Sampler::kFast});
  const auto laplace = *CentralLaplaceMean::Create({1, Calibration::kTight, Sampler::kFast});
  EXPECT_TRUE(gaussian.Forecast(query)->front().normal);
  EXPECT_FALSE(laplace.Forecast(query)->front().normal);
}

}  // namespace
}  // namespace bandana
