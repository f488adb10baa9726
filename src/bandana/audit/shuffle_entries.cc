#include <algorithm>
#include <cmath>

#include "bandana/audit/catalog.h"
#include "bandana/audit/mean_target.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/privacy/wire.h"

namespace bandana::audit {
namespace {

constexpr std::int64_t kSumDraws = 100'000;
constexpr Count kSumClients = 10;
constexpr std::int64_t kLaplaceDraws = 100'000;
constexpr Count kLaplaceClients = 30;

absl::StatusOr<ShuffleSumMean> SumPrivatizer(DpGuarantee nominal, Transport transport,
                                             double honest_fraction) {
  return ShuffleSumMean::Create({.nominal = nominal,
                                 .calibration = Calibration::kTight,
                                 .sampler = Sampler::kExact,
                                 .transport = transport,
                                 .honest_fraction = honest_fraction,
                                 .loss = 0.05});
}

auto ShuffleSum(Transport transport) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(ShuffleSumMean privatizer, SumPrivatizer(nominal, transport, 1));
    return MeanTarget(name, std::move(privatizer), AuditQuery(kSumClients), NoiseShape::kUnknown);
  };
}

// Half of the clients collude with the adversary: they add no noise.
absl::StatusOr<Target> HalfHonest(const std::string& name, DpGuarantee nominal) {
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumMean privatizer, SumPrivatizer(nominal, Transport::kBits, 0.5));
  const MeanQuery query = AuditQuery(kSumClients);
  Target target = MeanTarget(name, privatizer, query, NoiseShape::kUnknown);
  MeanQuery honest = query;
  honest.clients = kSumClients / 2;
  target.draw = [=, populations = std::array{Population(honest, Neighbour::kFirst),
                                             Population(honest, Neighbour::kSecond)}](
                    Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const auto& clients = populations[neighbour == Neighbour::kSecond];
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
    while (static_cast<Count>(reports.size()) < query.clients) {
      const NodeId dishonest{static_cast<std::uint32_t>(reports.size() + 1)};
      reports.push_back(Wire::FromUnits(dishonest, std::vector<std::int64_t>(query.bounds.size(), 0)));
    }
    BANDANA_ASSIGN_OR_RETURN(const Mean mean, ReleaseMean(privatizer, query, reports, noise));
    std::copy(mean.entries.begin(), mean.entries.end(), view.begin());
    return absl::OkStatus();
  };
  return target;
}

MeanQuery OneCoordinate(Count clients) { return {.bounds = {{-1, 1}}, .clients = clients}; }

double Value(const Report& report) { return static_cast<double>(Wire::Units(report)[0]) * GridMean::kUnit; }

absl::StatusOr<ShuffledLaplaceMean> LaplacePrivatizer(DpGuarantee nominal) {
  return ShuffledLaplaceMean::Create({.nominal = nominal,
                                      .calibration = Calibration::kTight,
                                      .sampler = Sampler::kExact,
                                      .honest_fraction = 1,
                                      .most_clients = kLaplaceClients});
}

// All clients but the first are at the first neighbour's end, where the first client's report hides best
// among theirs. The server sees reports y_1 .. y_n in an order that carries no information. So all it can
// learn is in the ratio of their likelihoods under the two neighbours, (1/n) sum_i
// f_second(y_i)/f_first(y_i). The view is this ratio and the sum of the reports.
absl::StatusOr<Target> ShuffledLaplaceServer(const std::string& name, DpGuarantee nominal) {
  BANDANA_ASSIGN_OR_RETURN(const ShuffledLaplaceMean privatizer, LaplacePrivatizer(nominal));
  const MeanQuery query = OneCoordinate(kLaplaceClients);
  BANDANA_ASSIGN_OR_RETURN(const double epsilon0, privatizer.LocalEpsilon(query.clients));
  const double scale = GridMean::SensitivityL1(query) * GridMean::kUnit / epsilon0;
  std::array<std::vector<std::vector<RewardSum>>, 2> populations;
  for (const Neighbour neighbour : {Neighbour::kFirst, Neighbour::kSecond}) {
    auto& clients = populations[neighbour == Neighbour::kSecond];
    clients.assign(static_cast<std::size_t>(query.clients), CornerClient(query, Neighbour::kFirst));
    clients.front() = CornerClient(query, neighbour);
  }
  Target target{.name = name, .claim = ClaimOf(privatizer, 0), .dimension = 2};
  target.log_ratio = [](std::span<const double> view) { return view[0]; };
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const auto& clients = populations[neighbour == Neighbour::kSecond];
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> mixed, privatizer.Mix(query, std::move(reports)));
    view[0] = view[1] = 0;
    for (const Report& report : mixed) {
      const double y = Value(report);
      view[0] += std::exp((std::abs(y + 1) - std::abs(y - 1)) / scale);
      view[1] += y;
    }
    return absl::OkStatus();
  };
  return target;
}

absl::StatusOr<Target> ShuffledLaplaceShuffler(const std::string& name, DpGuarantee nominal) {
  BANDANA_ASSIGN_OR_RETURN(const ShuffledLaplaceMean privatizer, LaplacePrivatizer(nominal));
  const MeanQuery query = OneCoordinate(kLaplaceClients);
  Target target{.name = name, .claim = ClaimOf(privatizer, 1), .dimension = 1};
  target.log_ratio = LaplaceLogRatio({-1}, {1}, 1);
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const std::vector<std::vector<RewardSum>> clients = {CornerClient(query, neighbour)};
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> reports, ReportsOf(privatizer, query, clients, noise));
    view[0] = Value(reports.front());
    return absl::OkStatus();
  };
  return target;
}

}  // namespace

std::vector<Entry> ShuffleEntries() {
  return {
      {"shuffle-sum-bits", "sums of shuffled bits; the server sees totals", kSharp, kSumDraws,
       ShuffleSum(Transport::kBits)},
      {"shuffle-sum-counts", "shuffle-sum-bits, but clients send counts instead of bits", kSharp, kSumDraws,
       ShuffleSum(Transport::kCounts)},
      {"shuffle-sum-half-honest", "shuffle-sum-bits, but half of the clients add no noise", kSharp, kSumDraws,
       HalfHonest},
      {"shuffled-laplace", "permuted reports with Laplace noise, against the server", kSharp, kLaplaceDraws,
       ShuffledLaplaceServer},
      {"shuffled-laplace-shuffler", "one report with Laplace noise, against the shuffler", kSharp,
       kLaplaceDraws, ShuffledLaplaceShuffler},
  };
}

}  // namespace bandana::audit
