#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/audit/catalog.h"
#include "bandana/audit/dealt_target.h"
#include "bandana/audit/distinguisher.h"
#include "bandana/audit/mean_target.h"
#include "bandana/audit/shuffle_target.h"
#include "bandana/audit/target.h"
#include "bandana/core/distributions.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

/// Planted faults: mechanisms that are broken on purpose, each beside its sound twin under the same claim.
/// They are mistakes that private systems are known for. The audit must refute every broken mechanism and no
/// sound one. None of this is part of the product.
namespace bandana::test {

using audit::Neighbour;
using audit::Target;
using Units = std::vector<std::int64_t>;

struct Fault {
  std::string name;
  Target sound;
  Target broken;
};

inline constexpr DpGuarantee kFaultClaim{1, 0.01};

template <class P>
P MakeMean(DpGuarantee guarantee, Sampler sampler = Sampler::kExact,
           Calibration calibration = Calibration::kTight) {
  return *P::Create({guarantee, calibration, sampler});
}

template <class P>
Target SoundMean(const std::string& name, DpGuarantee guarantee, Count clients) {
  return audit::MeanTarget(name, MakeMean<P>(guarantee), audit::AuditQuery(clients),
                           audit::NoiseShape::kSpherical);
}

/// Returns the target with another claim.
inline Target Claiming(Target target, DpGuarantee claim) {
  target.claim->guarantee = claim;
  return target;
}

/// Returns the target with `change` applied to its view.
inline Target Changed(Target target, std::function<void(Neighbour, std::span<double>)> change) {
  target.draw = [draw = std::move(target.draw), change = std::move(change)](
                    Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    BANDANA_RETURN_IF_ERROR(draw(neighbour, noise, view));
    change(neighbour, view);
    return absl::OkStatus();
  };
  return target;
}

/// Returns the views of a mean target without noise, one for each neighbour.
inline std::array<std::vector<double>, 2> WithoutNoise(const MeanQuery& query) {
  const Target bare =
      audit::MeanTarget("", NoPrivacyMean(Declassify("a test")), query, audit::NoiseShape::kUnknown);
  std::array<std::vector<double>, 2> views;
  Noise unused(0);
  for (const Neighbour neighbour : {Neighbour::kFirst, Neighbour::kSecond}) {
    auto& view = views[neighbour == Neighbour::kSecond];
    view.resize(bare.dimension);
    (void)bare.draw(neighbour, unused.gen, view);
  }
  return views;
}

/// Returns the target with its noise multiplied by `factor`.
inline Target ScaledNoise(Target sound, const MeanQuery& query, double factor) {
  return Changed(std::move(sound),
                 [factor, bare = WithoutNoise(query)](Neighbour neighbour, std::span<double> view) {
                   for (std::size_t i = 0; i < view.size(); ++i) {
                     const double centre = bare[neighbour == Neighbour::kSecond][i];
                     view[i] = centre + factor * (view[i] - centre);
                   }
                 });
}

inline std::vector<Fault> HalfTheNoise() {
  const Target central = SoundMean<CentralGaussianMean>("central", kFaultClaim, 3);
  const Target local = SoundMean<LocalGaussianMean>("local", kFaultClaim, 1);
  return {{"half the noise, central", central, ScaledNoise(central, audit::AuditQuery(3), 0.5)},
          {"half the noise, local", local, ScaledNoise(local, audit::AuditQuery(1), 0.5)}};
}

/// Writes the sum that the central server releases if `adder` adds the reports and `query` sets the noise.
template <class P>
absl::Status SealedSum(const CentralGaussianMean& mean, const P& adder, const MeanQuery& query,
                       const std::vector<Units>& reports, NoiseGen& noise, std::span<double> view) {
  ReportSum sum;
  std::uint32_t client = 0;
  for (const Units& units : reports) {
    BANDANA_RETURN_IF_ERROR(adder.Add(query, Wire::FromUnits(NodeId{++client}, units), sum));
  }
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, mean.Seal(sum, noise));
  BANDANA_ASSIGN_OR_RETURN(const Released<Mean> released, mean.Open(query, sealed));
  for (std::size_t i = 0; i < view.size(); ++i) {
    view[i] = released.value().entries[i] * static_cast<double>(query.clients);
  }
  return absl::OkStatus();
}

/// Returns one report in units of the grid: the low or the high end of each interval, multiplied by `by`.
inline Units CornerUnits(const MeanQuery& query, Neighbour neighbour, double by = 1) {
  Units units;
  for (const Interval& bound : query.bounds) {
    const double end = neighbour == Neighbour::kSecond ? bound.high : bound.low;
    units.push_back(static_cast<std::int64_t>(std::nearbyint(by * end / GridMean::kUnit)));
  }
  return units;
}

/// A server that takes reports as they are sent, without clipping, and adds noise for `query`. The local
/// model's server does so too, but there the reports carry their own noise.
inline Target TrustingServer(const std::string& name, const MeanQuery& query, std::array<Units, 2> changed) {
  Target target = SoundMean<CentralGaussianMean>(name, kFaultClaim, 1);
  target.draw = [mean = MakeMean<CentralGaussianMean>(kFaultClaim),
                 adder = MakeMean<LocalGaussianMean>(kFaultClaim), query,
                 changed = std::move(changed)](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    return SealedSum(mean, adder, query, {changed[neighbour == Neighbour::kSecond]}, noise, view);
  };
  return target;
}

/// The noise is calibrated for data in [-B/2, B/2], and the data are in [-B, B].
inline Fault SensitivityOffByTwo() {
  const MeanQuery query = audit::AuditQuery(1);
  MeanQuery halved = query;
  for (Interval& bound : halved.bounds) bound = {bound.low / 2, bound.high / 2};
  return {"sensitivity off by two", SoundMean<CentralGaussianMean>("central", kFaultClaim, 1),
          TrustingServer("central", halved,
                         {CornerUnits(query, Neighbour::kFirst), CornerUnits(query, Neighbour::kSecond)})};
}

/// A client sends a report of three times the allowed range. The server must clip it, and the broken one does
/// not.
inline Fault MissingServerClip() {
  const MeanQuery query = audit::AuditQuery(1);
  const std::array<Units, 2> wild = {CornerUnits(query, Neighbour::kFirst, 3),
                                     CornerUnits(query, Neighbour::kSecond, 3)};
  Target clips = SoundMean<CentralGaussianMean>("central", kFaultClaim, 1);
  clips.draw = [mean = MakeMean<CentralGaussianMean>(kFaultClaim), query, wild](
                   Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    return SealedSum(mean, mean, query, {wild[neighbour == Neighbour::kSecond]}, noise, view);
  };
  return {"missing clip, server", std::move(clips), TrustingServer("central", query, wild)};
}

/// Rewards are far outside of the interval. The client must clip its averages, and the broken one does not.
inline Fault MissingClientClip() {
  const MeanQuery query = audit::AuditQuery(1);
  Target sound = SoundMean<LocalGaussianMean>("local", kFaultClaim, 1);
  sound.draw = [mean = MakeMean<LocalGaussianMean>(kFaultClaim), query](
                   Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const double far = neighbour == Neighbour::kSecond ? 3 : -3;
    const std::vector<std::vector<RewardSum>> clients = {{{1, far}, {1, far}, {1, far}}};
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, audit::ReportsOf(mean, query, clients, noise));
    BANDANA_ASSIGN_OR_RETURN(const Mean released, audit::ReleaseMean(mean, query, reports, noise));
    std::copy(released.entries.begin(), released.entries.end(), view.begin());
    return absl::OkStatus();
  };
  Target broken = Changed(sound, [query](Neighbour neighbour, std::span<double> view) {
    for (std::size_t i = 0; i < view.size(); ++i) {
      view[i] += neighbour == Neighbour::kSecond ? 3 - query.bounds[i].high : -3 - query.bounds[i].low;
    }
  });
  return {"missing clip, client", std::move(sound), std::move(broken)};
}

/// The noise for three coordinates is calibrated for the l2 sensitivity of one of them.
inline Fault SensitivityOfOneCoordinate() {
  const MeanQuery three{{{-1, 1}, {-1, 1}, {-1, 1}}, 1};
  const MeanQuery one{{{-1, 1}}, 1};
  Target sound = audit::MeanTarget("central", MakeMean<CentralGaussianMean>(kFaultClaim), three,
                                   audit::NoiseShape::kSpherical);
  Target broken = sound;
  const Target single = audit::MeanTarget("central", MakeMean<CentralGaussianMean>(kFaultClaim), one,
                                          audit::NoiseShape::kSpherical);
  broken.draw = [single](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    for (std::size_t i = 0; i < view.size(); ++i) {
      BANDANA_RETURN_IF_ERROR(single.draw(neighbour, noise, view.subspan(i, 1)));
    }
    return absl::OkStatus();
  };
  return {"sensitivity of one coordinate", std::move(sound), std::move(broken)};
}

/// Two releases in which a client's values have opposite signs, under twice the claim by basic composition.
/// The broken twin uses the same noise in both, which cancels in their difference.
inline Fault ReusedNoise() {
  const MeanQuery query{{{-1, 1}}, 1};
  const Target once = audit::MeanTarget("two releases", MakeMean<CentralGaussianMean>(kFaultClaim), query,
                                        audit::NoiseShape::kSpherical);
  const auto twice = [&](bool reused) {
    Target target = Claiming(once, {2 * kFaultClaim.epsilon, 2 * kFaultClaim.delta});
    target.dimension = 2;
    target.direction = {1, -1};
    target.draw = [once, reused](Neighbour neighbour, NoiseGen& noise,
                                 std::span<double> view) -> absl::Status {
      const Neighbour other = neighbour == Neighbour::kFirst ? Neighbour::kSecond : Neighbour::kFirst;
      const std::uint64_t seed = noise();
      Noise first(seed, 1), second(seed, reused ? 1 : 2);
      BANDANA_RETURN_IF_ERROR(once.draw(neighbour, first.gen, view.first(1)));
      return once.draw(other, second.gen, view.last(1));
    };
    return target;
  };
  return {"reused noise", twice(false), twice(true)};
}

/// Noise from a generator that is seeded with one of 4096 numbers, such as the second of the start. The
/// adversary draws with every seed beforehand and looks for the value that it sees. The view's second
/// coordinate is whether it was found.
inline Fault SeededGenerator() {
  constexpr std::uint64_t kSeeds = 4096;
  const MeanQuery query{{{-1, 1}}, 1};
  const Target mean = audit::MeanTarget("seeded", MakeMean<CentralGaussianMean>(kFaultClaim), query,
                                        audit::NoiseShape::kSpherical);
  auto replayed = std::make_shared<std::vector<double>>();
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Noise noise(seed);
    double view = 0;
    (void)mean.draw(Neighbour::kSecond, noise.gen, std::span(&view, 1));
    replayed->push_back(view);
  }
  std::sort(replayed->begin(), replayed->end());
  const auto made = [&](bool seeded) {
    Target target = mean;
    target.dimension = 2;
    target.direction = {1, 0};
    target.draw = [mean, replayed, seeded](Neighbour neighbour, NoiseGen& noise,
                                           std::span<double> view) -> absl::Status {
      if (seeded) {
        Noise guessable(UniformBelow(kSeeds, noise));
        BANDANA_RETURN_IF_ERROR(mean.draw(neighbour, guessable.gen, view.first(1)));
      } else {
        BANDANA_RETURN_IF_ERROR(mean.draw(neighbour, noise, view.first(1)));
      }
      view[1] = std::binary_search(replayed->begin(), replayed->end(), view[0]) ? 1 : 0;
      return absl::OkStatus();
    };
    return target;
  };
  return {"seeded generator", made(false), made(true)};
}

inline double FloatingPointLaplace(double scale, NoiseGen& noise) {
  const double magnitude = -scale * std::log(internal::UniformPositive(noise));
  return (noise() >> 63) != 0 ? -magnitude : magnitude;
}

/// A number with Laplace noise. It is rounded to a grid, or released as the double that comes out.
inline Target LaplaceNumber(const std::string& name, std::array<double, 2> values, double scale,
                            double epsilon, bool on_grid) {
  return {.name = name,
          .claim = Claim{.adversary = "who sees the number",
                         .guarantee = {epsilon, 0},
                         .unit = "the number",
                         .neighbours = "replace-one",
                         .proof = "none: a test"},
          .dimension = 1,
          .draw =
              [values, scale, on_grid](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
                const double value = values[neighbour == Neighbour::kSecond];
                const double laplace = FloatingPointLaplace(scale, noise);
                constexpr double kGrid = 0x1p-20;
                view[0] = on_grid ? kGrid * (value / kGrid + std::floor(laplace / kGrid)) : value + laplace;
                return absl::OkStatus();
              },
          .log_ratio = audit::LaplaceLogRatio({values[0]}, {values[1]}, scale)};
}

/// P2's Lap(1/epsilon) under P2's own claim, for rewards in [-1, 1], whose range is 2.
inline Fault SensitivityOneForRangeTwo() {
  const auto made = [](Calibration calibration) {
    const auto mean = *CentralLaplaceMean::Create({1, calibration, Sampler::kExact});
    return Claiming(
        audit::MeanTarget("range", mean, {.bounds = {{-1, 1}}, .clients = 3}, audit::NoiseShape::kLaplace),
        {1, 0});
  };
  return {"sensitivity 1 for range 2", made(Calibration::kTight), made(Calibration::kPaper)};
}

/// Makes a shuffle sum under the claim of the faults.
inline ShuffleSumMean FaultSum(Collusion collusion) {
  return *ShuffleSumMean::Create({.nominal = kFaultClaim,
                                  .calibration = Calibration::kTight,
                                  .sampler = Sampler::kExact,
                                  .transport = Transport::kBits,
                                  .collusion = collusion,
                                  .most_clients = 11,
                                  .loss = 0.05});
}

/// A sum of shuffled bits in which only 2 of 10 clients add their noise. The sound twin is calibrated for 2
/// honest clients, the broken one for 10.
inline Fault UncountedDishonestClients() {
  const auto made = [](double honest_fraction) {
    const auto mean = FaultSum({.colluding = 0, .honest_fraction = honest_fraction});
    const MeanQuery query = audit::AuditQuery(10);
    Target target = audit::MeanTarget("dishonest", mean, query, audit::NoiseShape::kUnknown);
    target.draw = [mean, query](Neighbour neighbour, NoiseGen& noise,
                                std::span<double> view) -> absl::Status {
      const std::vector<std::vector<RewardSum>> honest = {audit::CornerClient(query, neighbour),
                                                          audit::CornerClient(query, Neighbour::kFirst)};
      BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, audit::ReportsOf(mean, query, honest, noise));
      for (std::uint32_t client = 3; client <= 10; ++client) {
        reports.push_back(Wire::FromUnits(NodeId{client}, Units(query.bounds.size(), 0)));
      }
      BANDANA_ASSIGN_OR_RETURN(const Mean released, audit::ReleaseMean(mean, query, reports, noise));
      std::copy(released.entries.begin(), released.entries.end(), view.begin());
      return absl::OkStatus();
    };
    return target;
  };
  return {"uncounted dishonest clients", made(0.2), made(1)};
}

/// A sum of shuffled bits of three clients, two of whom subtract their own reports. The sound twin is
/// calibrated for two clients that work with the adversary, the broken one counts the noise of all three.
inline Fault UncountedParticipant() {
  const auto made = [](Count colluding) {
    const auto mean = FaultSum({.colluding = colluding});
    return audit::CollusionTarget("participant", mean, audit::AuditQuery(3), 2);
  };
  return {"uncounted participants", made(2), made(0)};
}

/// Eleven clients and two sums of ten; the first client is in the first sum only. In the broken twin both
/// sums use the same draws, so that the noise of nine clients cancels in the difference. In the sound twin
/// each client draws anew, because the cohort is another one.
inline Fault DrawsMixedTwice() {
  const auto made = [](bool again) {
    const auto mean = FaultSum({.colluding = 0, .honest_fraction = 1});
    const MeanQuery query = audit::AuditQuery(10);
    const std::size_t size = query.bounds.size();
    Target target = audit::MeanTarget("two mixes", mean, query, audit::NoiseShape::kUnknown);
    target.dimension = 2 * size;
    target.direction = std::vector<double>(2 * size, 1);
    for (std::size_t i = size; i < 2 * size; ++i) target.direction[i] = again ? -1 : 0;
    target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
      std::vector<std::vector<RewardSum>> clients(11, audit::CornerClient(query, Neighbour::kFirst));
      clients[0] = audit::CornerClient(query, neighbour);
      BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, audit::ReportsOf(mean, query, clients, noise));
      const auto release = [&](std::size_t first, std::span<double> to) -> absl::Status {
        const std::vector<Report> ten(reports.begin() + static_cast<std::ptrdiff_t>(first),
                                      reports.begin() + static_cast<std::ptrdiff_t>(first) + 10);
        BANDANA_ASSIGN_OR_RETURN(const Mean released, audit::ReleaseMean(mean, query, ten, noise));
        std::copy(released.entries.begin(), released.entries.end(), to.begin());
        return absl::OkStatus();
      };
      BANDANA_RETURN_IF_ERROR(release(0, view.first(size)));
      if (!again) {
        BANDANA_ASSIGN_OR_RETURN(reports, audit::ReportsOf(mean, query, clients, noise));
      }
      return release(1, view.last(size));
    };
    return target;
  };
  return {"draws mixed twice", made(false), made(true)};
}

/// Duchi et al.'s randomizer with the coin for twice the epsilon.
inline Fault TooBoldACoin() {
  const auto made = [](double epsilon) {
    return *audit::MakeTarget(**audit::FindEntry("l2-ball-duchi"), epsilon, {});
  };
  return {"too bold a coin", made(1), Claiming(made(2), made(1).claim->guarantee)};
}

/// A shuffler that keeps the reports in order, so that the adversary knows whose report each one is.
inline Fault MissingShuffle() {
  const auto made = [](const char* name) { return *audit::MakeTarget(**audit::FindEntry(name), {}, {}); };
  Target shuffled = made("shuffled-laplace");
  Target in_order = Claiming(made("shuffled-laplace-shuffler"), shuffled.claim->guarantee);
  return {"missing shuffle", std::move(shuffled), std::move(in_order)};
}

/// P2's Lap(1/epsilon) under P2's own claim in its local model, for one reward of range 2.
inline Fault DealtRangeTwo() {
  const auto made = [](Calibration calibration) {
    const auto mean = *LocalLaplaceMean::Create({1, calibration, Sampler::kExact});
    MeanQuery query = audit::AuditDeal({1, 1, 1});
    query.bounds[1] = {-1, 1};
    return Claiming(audit::DealtTarget("dealt range", mean, query, audit::NoiseShape::kLaplace), {1, 0});
  };
  return {"sensitivity 1 for a dealt range 2", made(Calibration::kTight), made(Calibration::kPaper)};
}

/// A claim at which mixing 15 clients already amplifies the privacy of their reports.
inline constexpr DpGuarantee kAmplifiedClaim{0.5, 0.01};

/// Laplace noise that is calibrated for a mix of 300 clients, in a mix of only 15.
inline Fault MixedAmongFewer() {
  const auto made = [](std::vector<Count> made_for) {
    const auto mean =
        *ShuffledLaplaceMean::Create({kAmplifiedClaim, Calibration::kTight, Sampler::kExact, {0, 1}, 300});
    return audit::ShuffledDealTarget("too few", mean, audit::AuditDeal({3, 8, 4}),
                                     audit::AuditDeal(std::move(made_for)), audit::Deal::kSecret);
  };
  return {"mixed among fewer clients", made({3, 8, 4}), made({60, 160, 80})};
}

/// Laplace noise that is calibrated for a mix of 15 clients who answer three arms. In the broken twin
/// everyone knows which arm the client answered, and nobody else answers that arm.
inline Fault DealKnown() {
  const auto made = [](audit::Deal deal) {
    const auto mean =
        *ShuffledLaplaceMean::Create({kAmplifiedClaim, Calibration::kTight, Sampler::kExact, {0, 1}, 15});
    const MeanQuery query = audit::AuditDeal({1, 13, 1});
    return audit::ShuffledDealTarget("deal", mean, query, query, deal);
  };
  return {"a deal that is known", made(audit::Deal::kSecret), made(audit::Deal::kPublic)};
}

/// I. Mironov, CCS 2012: some doubles can be 1 + noise but not 0 + noise, so they show the input.
inline Fault FloatingPointNoise() {
  return {"floating-point Laplace", LaplaceNumber("grid", {0, 1}, 1, 1, true),
          LaplaceNumber("floating point", {0, 1}, 1, 1, false)};
}

/// A release whose time everyone sees. In the broken twin it comes when the raw sum of rewards passes a
/// threshold; in the sound twin its time is public. One of two clients has reward 1 in every round, or 0; the
/// other's rewards are independent fair coins.
inline Fault DataDependentTrigger() {
  const MeanQuery query{{{0, 1}}, 1};
  const Target mean = audit::MeanTarget("trigger", MakeMean<CentralGaussianMean>(kFaultClaim), query,
                                        audit::NoiseShape::kSpherical);
  const auto made = [&](bool data_dependent) {
    Target target = mean;
    target.dimension = 2;
    target.direction = {1, 0};
    target.draw = [mean, data_dependent](Neighbour neighbour, NoiseGen& noise,
                                         std::span<double> view) -> absl::Status {
      constexpr double kThreshold = 8;
      int rounds = 0;
      for (double sum = 0; sum < kThreshold; ++rounds) {
        sum += (neighbour == Neighbour::kSecond ? 1 : 0) + static_cast<double>(noise() >> 63);
      }
      view[1] = data_dependent ? rounds : kThreshold;
      return mean.draw(neighbour, noise, view.first(1));
    };
    return target;
  };
  return {"data-dependent trigger", made(false), made(true)};
}

inline std::vector<Fault> MeanFaults() {
  std::vector<Fault> faults = HalfTheNoise();
  for (Fault (*fault)() :
       {SensitivityOffByTwo, SensitivityOneForRangeTwo, SensitivityOfOneCoordinate, MissingServerClip,
        MissingClientClip, ReusedNoise, SeededGenerator, DataDependentTrigger, UncountedDishonestClients,
        UncountedParticipant, MissingShuffle, DrawsMixedTwice, DealtRangeTwo, MixedAmongFewer, DealKnown,
        TooBoldACoin, FloatingPointNoise}) {
    faults.push_back(fault());
  }
  return faults;
}

}  // namespace bandana::test
