#include "bandana/audit/catalog.h"
#include "bandana/audit/regression_target.h"
#include "bandana/core/status.h"

namespace bandana::audit {
namespace {

auto WholeStream(PrefixSumMechanism mechanism, Calibration calibration, double reward_weight,
                 Count records_per_person = 1) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const RegressionPrefixSum privatizer,
                             RegressionPrefixSum::Create({.nominal = nominal,
                                                          .calibration = calibration,
                                                          .sampler = Sampler::kExact,
                                                          .mechanism = mechanism,
                                                          .steps = 3,
                                                          .dimension = 2,
                                                          .context_norm = 1,
                                                          .reward_bound = 1,
                                                          .reward_weight = reward_weight,
                                                          .records_per_person = records_per_person}));
    Target target = RegressionTarget(name, privatizer, WorstRecords(privatizer.space()), records_per_person);
    if (records_per_person > 1) {
      target.claim->unit = RecordUnit("record (x, y)", "records (x, y)", records_per_person);
    }
    return target;
  };
}

// There are four silos, and two of them add no noise.
auto Shuffled(Count silos, Collusion collusion, Count honest) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(
        const ShuffledRegressionSum privatizer,
        ShuffledRegressionSum::Create({.sums = {.nominal = nominal,
                                                .calibration = Calibration::kTight,
                                                .sampler = Sampler::kExact,
                                                .mechanism = PrefixSumMechanism::kToeplitz,
                                                .steps = 3,
                                                .dimension = 2,
                                                .context_norm = 1,
                                                .reward_bound = 1,
                                                .reward_weight = 0.5},
                                       .silos = silos,
                                       .collusion = collusion}));
    return ShuffledRegressionTarget(name, privatizer, honest, WorstRecords(privatizer.space()));
  };
}

}  // namespace

std::vector<Entry> RegressionEntries() {
  constexpr std::int64_t kDraws = 100'000;
  constexpr Calibration kTight = Calibration::kTight;
  return {
      {"regression-tree", "a silo's sums for regression by the binary tree, all steps together", kSharp,
       kDraws, WholeStream(PrefixSumMechanism::kTree, kTight, 0.5)},
      {"regression-tree-paper",
       "regression-tree with P3's formula, compared with the guarantee that it delivers",
       {20, 0.1},
       kDraws,
       WholeStream(PrefixSumMechanism::kTree, Calibration::kPaper, 1)},
      {"regression-honaker", "the tree's releases again, for Honaker's estimates", kSharp, kDraws,
       WholeStream(PrefixSumMechanism::kHonaker, kTight, 0.5)},
      {"regression-toeplitz", "a silo's sums for regression by the square-root factorisation", kSharp, kDraws,
       WholeStream(PrefixSumMechanism::kToeplitz, kTight, 0.5)},
      {"regression-person", "regression-toeplitz for a person with three records", kSharp, kDraws,
       WholeStream(PrefixSumMechanism::kToeplitz, kTight, 0.5, 3)},
      {"regression-shuffle-participant", "totals over two silos, one of which subtracts its own report",
       kSharp, kDraws, Shuffled(2, {}, 1)},
      {"regression-shuffle-half-honest", "totals over four silos, two of which tell the server their reports",
       kSharp, kDraws, Shuffled(4, {.colluding = 0, .honest_fraction = 0.5}, 2)},
  };
}

}  // namespace bandana::audit
