#include "bandana/audit/catalog.h"
#include "bandana/audit/dealt_target.h"
#include "bandana/privacy/mean_privatizers.h"

namespace bandana::audit {
namespace {

constexpr DpGuarantee kAmplified{0.5, 0.01};  // at this setting 15 clients are enough to hide among
constexpr std::int64_t kDealtDraws = 200'000;
constexpr std::int64_t kShuffleDraws = 100'000;

template <class P>
auto DealtLaplace(Calibration calibration, const std::vector<Count>& dealt) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(P privatizer, P::Create({nominal.epsilon, calibration, Sampler::kExact}));
    return DealtTarget(name, std::move(privatizer), AuditDeal(dealt), NoiseShape::kLaplace);
  };
}

// The clients of the second coordinate are `clients`; `colluding` of them work with the server.
auto DealtShuffleSum(Count clients, Count colluding) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(ShuffleSumMean privatizer,
                             ShuffleSumMean::Create({.nominal = nominal,
                                                     .calibration = Calibration::kTight,
                                                     .sampler = Sampler::kExact,
                                                     .transport = Transport::kBits,
                                                     .collusion = {},
                                                     .most_clients = 10,
                                                     .loss = 0.05}));
    return DealtTarget(name, std::move(privatizer), AuditDeal({2, clients, 2}), NoiseShape::kUnknown,
                       colluding);
  };
}

auto DealtShuffledLaplace(Count colluding) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    const MeanQuery query = AuditDeal({3, 8, 4});
    BANDANA_ASSIGN_OR_RETURN(const ShuffledLaplaceMean privatizer,
                             ShuffledLaplaceMean::Create({.nominal = nominal,
                                                          .calibration = Calibration::kTight,
                                                          .sampler = Sampler::kExact,
                                                          .collusion = {},
                                                          .most_clients = query.clients}));
    return ShuffledDealTarget(name, privatizer, query, query, Deal::kSecret, colluding);
  };
}

}  // namespace

std::vector<Entry> DealtEntries() {
  return {
      {"dealt-central-laplace",
       "one reward per client, in one coordinate, with Laplace noise of a trusted server", kPure, kDealtDraws,
       DealtLaplace<CentralLaplaceMean>(Calibration::kTight, {2, 3, 2})},
      {"dealt-local-laplace",
       "one reward per client with the client's own noise; the adversary reads the report", kPure,
       kDealtDraws, DealtLaplace<LocalLaplaceMean>(Calibration::kTight, {1, 1, 1})},
      {"dealt-shuffle-sum", "one reward per client in sums of shuffled bits; the server sees totals", kSharp,
       kShuffleDraws, DealtShuffleSum(6, 0)},
      {"dealt-shuffle-sum-participant",
       "dealt-shuffle-sum, but one of the coordinate's two clients subtracts its own report", kSharp,
       kShuffleDraws, DealtShuffleSum(2, 1)},
      {"dealt-shuffled-laplace",
       "one reward per client with the client's own noise; a shuffler deals out the rounds and mixes the "
       "reports",
       kAmplified, kShuffleDraws, DealtShuffledLaplace(0)},
      {"dealt-shuffled-laplace-participant",
       "dealt-shuffled-laplace, but one client leaves its own report out", kAmplified, kShuffleDraws,
       DealtShuffledLaplace(1)},
  };
}

}  // namespace bandana::audit
