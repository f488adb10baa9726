#include "bandana/audit/regression_target.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bandana/audit/mean_target.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"
#include "bandana/core/noise_door.h"
#include "bandana/privacy/wire.h"

namespace bandana::audit {

std::array<RegressionRecord, 2> WorstRecords(const RegressionSpace& space) {
  BANDANA_CHECK(space.dimension >= 2);
  const double ratio = space.reward_weight * space.reward_bound / space.context_norm;
  const double cosine = std::min(1.0, ratio * ratio);
  std::vector<double> first(static_cast<std::size_t>(space.dimension), 0);
  std::vector<double> second = first;
  first[0] = space.context_norm;
  second[0] = space.context_norm * cosine;
  second[1] = space.context_norm * std::sqrt(1 - cosine * cosine);
  return {{{first, space.reward_bound}, {second, -space.reward_bound}}};
}

namespace {

void Show(const StepValues& values, std::span<double> view, std::size_t& seen) {
  for (const std::vector<double>& value : values.values) {
    for (const double entry : value) view[seen++] = entry;
  }
}

// Returns the difference between the noiseless views of the second and the first record.
std::vector<double> DirectionOf(const PrefixSumStrategy& strategy, const RegressionSpace& space,
                                const std::array<RegressionRecord, 2>& records) {
  std::vector<double> direction = RegressionCentre(strategy, space, records[1]);
  const std::vector<double> first = RegressionCentre(strategy, space, records[0]);
  for (std::size_t i = 0; i < direction.size(); ++i) direction[i] -= first[i];
  return direction;
}

absl::Status DrawShuffled(const ShuffledRegressionSum& privatizer, Count honest,
                          const RegressionRecord& first, NoiseGen& noise, std::span<double> view) {
  std::size_t seen = 0;
  std::vector<std::unique_ptr<RegressionStream>> streams;
  for (Count i = 0; i < honest; ++i) streams.push_back(std::make_unique<RegressionStream>(privatizer));
  privatizer.Record(ChosenArm(0, first.x), Raw<double>(first.y), *streams[0]);
  for (std::int64_t step = 1; step <= privatizer.space().steps; ++step) {
    const StepQuery query{.step = step, .silos = privatizer.silos()};
    const auto epoch = static_cast<Epoch>(step);
    std::vector<Report> reports;
    for (Count i = 1; i <= privatizer.silos(); ++i) {
      const NodeId id{static_cast<std::uint32_t>(i)};
      if (i > honest) {
        const std::size_t size = Wire::Units(reports.front()).size();
        reports.push_back(Wire::FromUnits(id, std::vector<std::int64_t>(size, 0), 0, query.silos));
        continue;
      }
      RegressionStream& stream = *streams[static_cast<std::size_t>(i - 1)];
      AuditContext silo(id, noise);
      BANDANA_RETURN_IF_ERROR(privatizer.EndStep(stream));
      BANDANA_ASSIGN_OR_RETURN(Report report, Release::FromClient(silo, privatizer, epoch, query,
                                                                  Raw<RegressionStream*>(&stream)));
      reports.push_back(std::move(report));
    }
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> mixed, privatizer.Mix(query, reports));
    BasicReportSum<StepQuery> sum;
    BANDANA_RETURN_IF_ERROR(privatizer.AddMixed(query, mixed, sum));
    AuditContext analyzer(kServerNode, noise);
    BANDANA_ASSIGN_OR_RETURN(const Released<StepValues> released,
                             Release::FromAnalyzer(analyzer, privatizer, epoch, sum));
    Show(released.value(), view, seen);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DrawRegression(const RegressionPrefixSum& privatizer, const RegressionRecord& first,
                            const std::function<NoiseGen&(std::int64_t step)>& noise, std::span<double> view,
                            Count records) {
  std::size_t seen = 0;
  RegressionStream stream(privatizer);
  for (std::int64_t step = 1; step <= privatizer.space().steps; ++step) {
    const StepQuery query{.step = step, .silos = 1};
    const auto epoch = static_cast<Epoch>(step);
    AuditContext silo(NodeId{1}, noise(step)), analyzer(kServerNode, noise(step));
    for (Count i = 0; step == 1 && i < records; ++i) {
      privatizer.Record(ChosenArm(0, first.x), Raw<double>(first.y), stream);
    }
    BANDANA_RETURN_IF_ERROR(privatizer.EndStep(stream));
    BANDANA_ASSIGN_OR_RETURN(const Report report, Release::FromClient(silo, privatizer, epoch, query,
                                                                      Raw<RegressionStream*>(&stream)));
    BasicReportSum<StepQuery> sum;
    BANDANA_RETURN_IF_ERROR(privatizer.Add(query, report, sum));
    BANDANA_ASSIGN_OR_RETURN(const Released<StepValues> released,
                             Release::FromAnalyzer(analyzer, privatizer, epoch, sum));
    Show(released.value(), view, seen);
  }
  return absl::OkStatus();
}

std::vector<double> RegressionCentre(const PrefixSumStrategy& strategy, const RegressionSpace& space,
                                     const RegressionRecord& first) {
  RegressionSpace one = space;
  one.steps = 1;
  const auto bare = RegressionPrefixSum::CreateBare(one, Declassify("a record of the audit's own making"));
  BANDANA_CHECK(bare.ok());
  std::vector<double> entries(static_cast<std::size_t>(space.dimension * (space.dimension + 3) / 2));
  PhiloxSource source(StreamKey{.stream = Stream::kTest});
  NoiseGen unused = NoiseDoor::Open(source);
  BANDANA_CHECK(
      DrawRegression(*bare, first, [&](std::int64_t) -> NoiseGen& { return unused; }, entries).ok());
  std::vector<double> centre;
  for (std::int64_t step = 1; step <= space.steps; ++step) {
    for (std::int64_t j = 0; j < strategy.ReleasedBy(step) - strategy.ReleasedBy(step - 1); ++j) {
      double weight = 0;
      for (const WeightedTerm& term : strategy.Functional(step, j)) {
        if (term.index == 1) weight += term.weight;
      }
      for (const double entry : entries) centre.push_back(weight * entry);
    }
  }
  return centre;
}

Target RegressionTarget(const std::string& name, const RegressionPrefixSum& privatizer,
                        const std::array<RegressionRecord, 2>& records, Count records_of_person) {
  std::vector<double> direction = DirectionOf(privatizer.strategy(), privatizer.space(), records);
  Target target{.name = name, .claim = ClaimOf(privatizer), .dimension = direction.size()};
  target.direction = std::move(direction);
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    return DrawRegression(
        privatizer, records[neighbour == Neighbour::kSecond],
        [&](std::int64_t) -> NoiseGen& { return noise; }, view, records_of_person);
  };
  return target;
}

Target ShuffledRegressionTarget(const std::string& name, const ShuffledRegressionSum& privatizer,
                                Count honest, const std::array<RegressionRecord, 2>& records) {
  std::vector<double> direction = DirectionOf(privatizer.strategy(), privatizer.space(), records);
  Target target{.name = name, .claim = ClaimOf(privatizer), .dimension = direction.size()};
  target.direction = std::move(direction);
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    return DrawShuffled(privatizer, honest, records[neighbour == Neighbour::kSecond], noise, view);
  };
  return target;
}

}  // namespace bandana::audit
