#include "bandana/audit/catalog.h"
#include "bandana/audit/mean_target.h"
#include "bandana/privacy/silo_prefix_sum.h"

namespace bandana::audit {
namespace {

constexpr std::int64_t kSteps = 7;
constexpr std::int64_t kDimension = 2;
constexpr double kRadius = 1;

using Records = std::vector<std::vector<double>>;

/// The record of the first step, which enters the most releases, is at either end of a diameter. Later
/// records are zero, and the adversary knows this.
Records FirstRecords(Neighbour neighbour) {
  const double end = neighbour == Neighbour::kSecond ? kRadius : -kRadius;
  return {{0.6 * end, -0.8 * end}};
}

/// Returns the weight of the first record in each released entry.
std::vector<double> Direction(const PrefixSumStrategy& strategy) {
  std::vector<double> direction;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    for (std::int64_t j = 0; j < strategy.ReleasedBy(step) - strategy.ReleasedBy(step - 1); ++j) {
      double weight = 0;
      for (const WeightedTerm& term : strategy.Functional(step, j)) {
        if (term.index == 1) weight += term.weight;
      }
      direction.insert(direction.end(), {0.6 * weight, -0.8 * weight});
    }
  }
  return direction;
}

absl::Status Run(const SiloPrefixSum& privatizer, const Records& first, NoiseGen& noise,
                 std::span<double> view) {
  std::size_t seen = 0;
  SiloStream stream;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    const StepQuery query{.step = step, .silos = 1};
    const auto epoch = static_cast<Epoch>(step);
    AuditContext silo(NodeId{1}, noise), analyzer(kServerNode, noise);
    BANDANA_RETURN_IF_ERROR(
        privatizer.Append(Raw<StepRecords>(step == 1 ? StepRecords(first) : StepRecords()), stream));
    BANDANA_ASSIGN_OR_RETURN(const Report report,
                             Release::FromClient(silo, privatizer, epoch, query, Raw<SiloStream*>(&stream)));
    BasicReportSum<StepQuery> sum;
    BANDANA_RETURN_IF_ERROR(privatizer.Add(query, report, sum));
    BANDANA_ASSIGN_OR_RETURN(const Released<StepValues> released,
                             Release::FromAnalyzer(analyzer, privatizer, epoch, sum));
    for (const std::vector<double>& value : released.value().values) {
      for (const double entry : value) view[seen++] = entry;
    }
  }
  return absl::OkStatus();
}

// Attacks all releases of a whole stream.
auto PrefixSumStream(PrefixSumMechanism mechanism, Calibration calibration) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const SiloPrefixSum privatizer,
                             SiloPrefixSum::Create({.nominal = nominal,
                                                    .calibration = calibration,
                                                    .sampler = Sampler::kExact,
                                                    .mechanism = mechanism,
                                                    .steps = kSteps,
                                                    .dimension = kDimension,
                                                    .radius = kRadius}));
    std::vector<double> direction = Direction(privatizer.strategy());
    Target target{.name = name, .claim = ClaimOf(privatizer), .dimension = direction.size()};
    target.direction = std::move(direction);
    target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
      return Run(privatizer, FirstRecords(neighbour), noise, view);
    };
    return target;
  };
}

}  // namespace

std::vector<Entry> PrefixSumEntries() {
  constexpr std::int64_t kDraws = 100'000;
  constexpr Calibration kTight = Calibration::kTight;
  return {
      {"silo-tree", "a silo's prefix sums by the binary tree, all steps together", kSharp, kDraws,
       PrefixSumStream(PrefixSumMechanism::kTree, kTight)},
      {"silo-tree-paper",
       "silo-tree with P3's formula, compared with the guarantee that it delivers",
       {20, 0.1},
       kDraws,
       PrefixSumStream(PrefixSumMechanism::kTree, Calibration::kPaper)},
      {"silo-honaker", "the tree's releases again, for Honaker's estimates", kSharp, kDraws,
       PrefixSumStream(PrefixSumMechanism::kHonaker, kTight)},
      {"silo-toeplitz", "a silo's prefix sums by the square-root factorisation", kSharp, kDraws,
       PrefixSumStream(PrefixSumMechanism::kToeplitz, kTight)},
  };
}

}  // namespace bandana::audit
