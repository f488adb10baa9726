// Samplers of privacy noise, from Philox (the lab) and from the operating system's entropy (the service).
// Targets, in draws per second on one core: 2 million for DiscreteGaussian/secure, 100 million for
// Normals/philox.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/core/noise_door.h"
#include "bandana/privacy/samplers/discrete_gaussian.h"
#include "bandana/privacy/samplers/discrete_laplace.h"
#include "bandana/privacy/samplers/exact_binomial.h"
#include "bandana/privacy/samplers/fast_noise.h"
#include "bandana/privacy/samplers/geometric.h"
#include "bandana/privacy/samplers/rounded_normal.h"
#include "bandana/privacy/samplers/sphere.h"
#include "benchmark/benchmark.h"

namespace bandana {
namespace {

std::unique_ptr<BitSource> Source(bool secure) {
  if (secure) return std::make_unique<SecureSource>();
  return std::make_unique<PhiloxSource>(StreamKey{.seed = 1, .stream = Stream::kPrivacy});
}

/// Times `draw`, which makes `draws` draws per call, with both sources.
template <class Draw>
void Register(const std::string& name, const Draw& draw, int draws = 1) {
  for (const bool secure : {false, true}) {
    const std::string full = name + (secure ? "/secure" : "/philox");
    benchmark::RegisterBenchmark(full.c_str(), [draw, draws, secure](benchmark::State& state) {
      const std::unique_ptr<BitSource> source = Source(secure);
      NoiseGen gen = NoiseDoor::Open(*source);
      auto drawing = draw;
      for (auto _ : state) benchmark::DoNotOptimize(drawing(gen));
      state.SetItemsProcessed(state.iterations() * draws);
    });
  }
}

template <class Fill>
void RegisterDirections(const std::string& name, Fill fill) {
  constexpr int kDimension = 100;
  Register(name, [fill, axis = std::vector<std::int64_t>(kDimension, 1),
                  direction = std::vector<std::int64_t>(kDimension)](NoiseGen& gen) mutable {
    fill(axis, direction, gen);
    return direction[0];
  });
}

const int kRegistered = [] {
  constexpr std::uint64_t kOne = 1;
  Register("Word", [](NoiseGen& gen) { return gen(); });
  for (const int bits : {2, 30, 51}) {
    const Rational scale{kOne << bits, 1};
    const std::string suffix = "/2^" + std::to_string(bits);
    Register("RoundedNormal" + suffix, [=](NoiseGen& gen) { return RoundedNormal(scale.num, gen); });
    Register("DiscreteGaussian" + suffix, [=](NoiseGen& gen) { return DiscreteGaussian(scale, gen); });
    Register("DiscreteLaplace" + suffix, [=](NoiseGen& gen) { return DiscreteLaplace(scale, gen); });
  }
  Register("DiscreteGaussian/7:10", [](NoiseGen& gen) { return DiscreteGaussian({7, 10}, gen); });
  Register("DiscreteLaplace/7:10", [](NoiseGen& gen) { return DiscreteLaplace({7, 10}, gen); });
  for (const Rational variance : {Rational{5, 4}, {(kOne << 60) + 1, 1}}) {
    Register(
        "DiscreteGaussianOfVariance/" + std::to_string(variance.num) + ":" + std::to_string(variance.den),
        [=](NoiseGen& gen) { return DiscreteGaussianOfVariance(variance, gen); });
  }
  Register("Geometric/1:1000", [](NoiseGen& gen) { return Geometric({1, 1000}, gen); });
  for (const int bits : {6, 10, 20, 40, 60}) {
    const std::string suffix = "/2^" + std::to_string(bits);
    const std::uint64_t n = kOne << bits;
    Register("ExactBinomial/half" + suffix, [=](NoiseGen& gen) { return ExactBinomial(n, gen); });
    Register("ExactBinomial/third" + suffix, [=](NoiseGen& gen) { return ExactBinomial(n, {1, 3}, gen); });
    Register("FastBinomial/half" + suffix,
             [=](NoiseGen& gen) { return Binomial(static_cast<std::int64_t>(n), 0.5, gen); });
  }
  RegisterDirections("UniformDirection/100",
                     [](auto&, auto& direction, NoiseGen& gen) { UniformDirection(direction, gen); });
  RegisterDirections("UniformOnHalfSphere/100", [](auto& axis, auto& direction, NoiseGen& gen) {
    UniformOnHalfSphere(axis, direction, gen);
  });
  RegisterDirections("UniformByCap/100", [](auto& axis, auto& direction, NoiseGen& gen) {
    UniformByCap(axis, {1, 10}, CapSide::kInside, direction, gen);
  });
  Register("Normal", [](NoiseGen& gen) { return StandardNormal(gen); });
  Register("Laplace", [](NoiseGen& gen) { return StandardLaplace(gen); });
  for (const std::uint64_t n : {1, 1000}) {
    Register("SumOfLaplace/" + std::to_string(n), [=](NoiseGen& gen) { return SumOfLaplace(n, gen); });
  }
  return 0;
}();

}  // namespace
}  // namespace bandana
