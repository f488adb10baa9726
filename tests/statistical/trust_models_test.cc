#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "bandana/lab/experiment.h"
#include "bandana/lab/spec.h"
#include "fmt/format.h"
#include "tests/support.h"

// Tests of what trust is worth: DP-DPE under every model, at equal epsilon, on paired instances. Seeds are
// fixed and nothing is retried; comparisons are of means over the replicates, with their standard errors.
namespace bandana::lab {
namespace {

constexpr char kSpec[] = R"(horizon = 100_000
seed = 5
environment = { dimension = 4, actions = 50, client_sd = 0.1, population = 50_000 }
algorithm.name = "dp-dpe"
privacy = { model = "central", epsilon = 2.0, delta = 1e-5 }
)";

constexpr std::uint32_t kReplicates = 12;

std::vector<double> Regrets(const std::vector<std::string>& set) {
  const absl::StatusOr<Spec> spec = ParseSpec(kSpec, "x.toml", set);
  EXPECT_TRUE(spec.ok()) << spec.status();
  const std::atomic<bool> stop = false;
  std::vector<double> regrets;
  for (std::uint32_t replicate = 0; replicate < kReplicates; ++replicate) {
    const absl::StatusOr<Outcome> outcome = RunReplicate(spec->points[0].settings, replicate, stop);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    regrets.push_back(outcome.ok() ? outcome->checkpoints.back().regret : 0);
  }
  return regrets;
}

double Mean(const std::vector<double>& values) { return test::MomentsOf(values).mean; }

// Returns the mean of the paired differences in units of its standard error.
double PairedScore(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const test::Moments moments = test::MomentsOf(differences);
  return moments.mean / std::sqrt(moments.variance / static_cast<double>(a.size()));
}

// With exact calibration a shuffler is about as good as a trusted server.
TEST(TrustModelsTest, AShuffleSumIsAsGoodAsATrustedServer) {
  const std::vector<double> central = Regrets({"privacy.model=central"});
  const std::vector<double> shuffle = Regrets({"privacy.model=shuffle"});
  const std::vector<double> more_bits = Regrets({"privacy.model=shuffle", "privacy.loss=0.01"});
  const std::vector<double> half = Regrets({"privacy.model=central", "privacy.epsilon=1"});
  RecordProperty("central", fmt::format("{}", Mean(central)));
  RecordProperty("shuffle", fmt::format("{}", Mean(shuffle)));
  EXPECT_NEAR(Mean(shuffle) / Mean(central), 1, 0.2);  // the default loss is 10 % of the noise
  EXPECT_NEAR(Mean(more_bits) / Mean(central), 1, 0.1);
  RecordProperty("shuffle_more_bits", fmt::format("{}", Mean(more_bits)));
  EXPECT_GT(Mean(half) / Mean(central), 1.15) << "half the budget costs no more: the test sees nothing";
}

TEST(TrustModelsTest, TrustIsWorthSomething) {
  for (const char* noise : {"gaussian", "laplace"}) {
    const std::string set = fmt::format("privacy.noise={}", noise);
    const std::vector<double> none = Regrets({"privacy.model=none"});
    const std::vector<double> central = Regrets({"privacy.model=central", set});
    const std::vector<double> local = Regrets({"privacy.model=local", set});
    EXPECT_GT(Mean(none), 0);
    EXPECT_GT(PairedScore(central, none), 4) << noise;
    EXPECT_GT(PairedScore(local, central), 4) << noise;
    EXPECT_LT(Mean(local), 100'000) << "nothing was learned";
    RecordProperty(noise, fmt::format("{} {} {}", Mean(none), Mean(central), Mean(local)));
  }
}

// Permuted reports with local noise lie between the two: much better than local noise, worse than the sum.
TEST(TrustModelsTest, AmplifiedNoiseLiesBetween) {
  const std::vector<double> sum = Regrets({"privacy.model=shuffle"});
  const std::vector<double> amplified = Regrets({"privacy.model=shuffle", "privacy.shuffle=amplified"});
  const std::vector<double> local = Regrets({"privacy.model=local", "privacy.noise=laplace"});
  EXPECT_GT(PairedScore(amplified, sum), 4);
  EXPECT_GT(PairedScore(local, amplified), 4);
  RecordProperty("amplified", fmt::format("{} {} {}", Mean(sum), Mean(amplified), Mean(local)));
}

}  // namespace
}  // namespace bandana::lab
