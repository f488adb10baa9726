#include "bandana/audit/catalog.h"
#include "bandana/audit/mean_target.h"
#include "bandana/audit/shuffle_target.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/wire.h"

namespace bandana::audit {
namespace {

constexpr std::int64_t kSumDraws = 100'000;
constexpr Count kSumClients = 10;
constexpr std::int64_t kLaplaceDraws = 100'000;
constexpr Count kLaplaceClients = 30;

MeanQuery OneCoordinate(Count clients) { return {.bounds = {{-1, 1}}, .clients = clients}; }

auto ShuffleSum(Transport transport, Count clients, Collusion collusion, Count colluding) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const ShuffleSumMean privatizer,
                             ShuffleSumMean::Create({.nominal = nominal,
                                                     .calibration = Calibration::kTight,
                                                     .sampler = Sampler::kExact,
                                                     .transport = transport,
                                                     .collusion = collusion,
                                                     .most_clients = clients,
                                                     .loss = 0.05}));
    return CollusionTarget(name, privatizer, AuditQuery(clients), colluding);
  };
}

absl::StatusOr<ShuffledLaplaceMean> LaplacePrivatizer(DpGuarantee nominal) {
  return ShuffledLaplaceMean::Create({.nominal = nominal,
                                      .calibration = Calibration::kTight,
                                      .sampler = Sampler::kExact,
                                      .collusion = {},
                                      .most_clients = kLaplaceClients});
}

auto ShuffledLaplace(Count colluding) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const ShuffledLaplaceMean privatizer, LaplacePrivatizer(nominal));
    return CollusionTarget(name, privatizer, OneCoordinate(kLaplaceClients), colluding);
  };
}

absl::StatusOr<Target> ShuffledLaplaceShuffler(const std::string& name, DpGuarantee nominal) {
  BANDANA_ASSIGN_OR_RETURN(const ShuffledLaplaceMean privatizer, LaplacePrivatizer(nominal));
  const MeanQuery query = OneCoordinate(kLaplaceClients);
  Target target{.name = name, .claim = ClaimOf(privatizer, 1), .dimension = 1};
  target.log_ratio = LaplaceLogRatio({-1}, {1}, 1);
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const std::vector<std::vector<RewardSum>> clients = {CornerClient(query, neighbour)};
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
    view[0] = static_cast<double>(Wire::Units(reports.front())[0]) * GridMean::kUnit;
    return absl::OkStatus();
  };
  return target;
}

}  // namespace

std::vector<Entry> ShuffleEntries() {
  const Collusion one;
  const Collusion half{.colluding = 0, .honest_fraction = 0.5};
  return {
      {"shuffle-sum-bits", "sums of shuffled bits; the server sees totals", kSharp, kSumDraws,
       ShuffleSum(Transport::kBits, kSumClients, one, 0)},
      {"shuffle-sum-counts", "shuffle-sum-bits, but clients send counts instead of bits", kSharp, kSumDraws,
       ShuffleSum(Transport::kCounts, kSumClients, one, 0)},
      {"shuffle-sum-participant", "shuffle-sum-bits, but one of two clients subtracts its own report", kSharp,
       kSumDraws, ShuffleSum(Transport::kBits, 2, one, 1)},
      {"shuffle-sum-half-honest", "shuffle-sum-bits, but half of the clients tell the server their reports",
       kSharp, kSumDraws, ShuffleSum(Transport::kBits, kSumClients, half, kSumClients / 2)},
      {"shuffled-laplace", "permuted reports with Laplace noise, against the server", kSharp, kLaplaceDraws,
       ShuffledLaplace(0)},
      {"shuffled-laplace-participant", "shuffled-laplace, but one client removes its own report", kSharp,
       kLaplaceDraws, ShuffledLaplace(1)},
      {"shuffled-laplace-shuffler", "one report with Laplace noise, against the shuffler", kSharp,
       kLaplaceDraws, ShuffledLaplaceShuffler},
  };
}

}  // namespace bandana::audit
