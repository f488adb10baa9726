#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/privatizer.h"
#include "bandana/privacy/wire.h"
#include "tests/support.h"

/// Runs whole releases of a mean mechanism without a network, and checks their errors.
namespace bandana::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rewards that no client should have, and that a mechanism must survive.
inline const std::vector<double> kWild = {kNan, kInfinity, -kInfinity, 1e308, -1e308, 1e-320, -1e-320, -0.0};

/// Returns one client's report under its name, as its driver would send it.
template <class P>
absl::StatusOr<Report> ReportOf(const P& privatizer, const MeanQuery& query, std::uint32_t client,
                                const std::vector<double>& averages, NoiseGen& noise) {
  std::vector<RewardSum> rewards;
  for (const double average : averages) rewards.push_back({1, average});
  BANDANA_ASSIGN_OR_RETURN(const Report report, privatizer.Randomize(query, Raw<RewardSums>(rewards), noise));
  return Wire::FromUnits(NodeId{client}, Wire::Units(report), report.bits(), report.quorum());
}

using ClientAverages = std::vector<std::vector<double>>;

template <class P>
absl::StatusOr<std::vector<Report>> ReportsOf(const P& privatizer, const MeanQuery& query,
                                              const ClientAverages& clients, NoiseGen& noise) {
  std::vector<Report> reports;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    BANDANA_ASSIGN_OR_RETURN(
        Report report, ReportOf(privatizer, query, static_cast<std::uint32_t>(i + 1), clients[i], noise));
    reports.push_back(std::move(report));
  }
  return reports;
}

/// Runs one release: every client reports, the shuffler mixes if there is one, the analyzer seals and opens.
template <class P>
absl::StatusOr<Released<Mean>> ReleaseMean(const P& privatizer, const MeanQuery& query,
                                           const ClientAverages& clients, NoiseGen& noise) {
  BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
  ReportSum sum;
  if constexpr (ShufflePrivatizer<P>) {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> mixed, privatizer.Mix(query, std::move(reports)));
    BANDANA_RETURN_IF_ERROR(privatizer.AddMixed(query, mixed, sum));
  } else {
    for (const Report& report : reports) BANDANA_RETURN_IF_ERROR(privatizer.Add(query, report, sum));
  }
  BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, privatizer.Seal(sum, noise));
  return privatizer.Open(query, sealed);
}

/// The errors of many releases against the clients' true means, one list per coordinate, and the stated noise
/// laws.
struct Errors {
  std::vector<std::vector<double>> entries;
  std::vector<NoiseLaw> laws;
};

template <class P>
Errors DrawErrors(const P& privatizer, const MeanQuery& query, const ClientAverages& clients,
                  std::uint64_t seed, int draws) {
  Noise noise(seed);
  Errors errors{std::vector<std::vector<double>>(query.bounds.size()), {}};
  for (int i = 0; i < draws; ++i) {
    const auto released = ReleaseMean(privatizer, query, clients, noise.gen);
    EXPECT_TRUE(released.ok()) << released.status();
    if (!released.ok()) break;
    for (std::size_t j = 0; j < query.bounds.size(); ++j) {
      double mean = 0;
      for (const std::vector<double>& averages : clients) {
        mean += std::clamp(averages[j], query.bounds[j].low, query.bounds[j].high) /
                static_cast<double>(clients.size());
      }
      errors.entries[j].push_back(released->value().entries[j] - mean);
    }
    errors.laws = released->noise();
  }
  return errors;
}

/// Returns whether the mean error is within `sigmas` standard errors of 0 for noise of this standard
/// deviation.
inline bool IsCentred(const std::vector<double>& errors, double stddev, double sigmas = 4) {
  return std::abs(MomentsOf(errors).mean) <=
         sigmas * stddev / std::sqrt(static_cast<double>(errors.size())) + 1e-9;
}

/// Returns whether no tail is heavier than the law's bound on moments allows: P(X > c) <= exp(K(t) - t c) for
/// the best t, where K is the law's LogMoment. Each level c has five standard errors to spare.
inline bool TailsAreBelow(const std::vector<double>& errors, const NoiseLaw& law) {
  const auto n = static_cast<double>(errors.size());
  for (const double multiple : {0.5, 1.0, 2.0, 3.0, 4.0, 6.0}) {
    const double c = multiple * law.stddev();
    double bound = 1;
    const double most = law.laplace_terms > 0 ? 1 / law.laplace_scale : 20 / law.proxy;
    for (int i = 1; i < 1000; ++i) {
      const double t = most * i / 1000;
      bound = std::min(bound, std::exp(law.LogMoment(t) - t * c));
    }
    double above = 0, below = 0;
    for (const double error : errors) {
      above += error > c;
      below += error < -c;
    }
    const double allowed = n * bound + 5 * std::sqrt(n * bound) + 1;
    if (above > allowed || below > allowed) return false;
  }
  return true;
}

}  // namespace bandana::test
