#include <utility>

#include "bandana/core/status.h"
#include "bandana/lab.h"
#include "bandana/lab/experiment.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/spec.h"

namespace bandana {
namespace {

using lab::Json;

std::vector<double> Numbers(const Json& json) { return json.get<std::vector<double>>(); }

MetricSummary MetricOf(const Json& json) {
  return {.mean = json["mean"].get<double>(),
          .sd = json["sd"].get<double>(),
          .se = json["se"].get<double>(),
          .values = Numbers(json["values"])};
}

CurveSummary CurveOf(const Json& json) {
  return {.mean = Numbers(json["mean"]),
          .sd = Numbers(json["sd"]),
          .median = Numbers(json["median"]),
          .q10 = Numbers(json["q10"]),
          .q90 = Numbers(json["q90"])};
}

absl::StatusOr<PointSummary> SummaryOf(const lab::Point& point, const Json& json) {
  PointSummary summary{.label = point.label,
                       .algorithm = point.settings.Text("algorithm.name"),
                       .point = point.varied.values(),
                       .t = json["curve"]["t"].get<std::vector<Count>>()};
  for (const auto& [name, metric] : json["metrics"].items()) summary.metrics[name] = MetricOf(metric);
  for (const auto& [name, curve] : json["curve"].items()) {
    if (name != "t") summary.curves[name] = CurveOf(curve);
  }
  BANDANA_ASSIGN_OR_RETURN(const lab::Instance instance, lab::MakeInstance(point.settings, 0));
  summary.claims = instance.federation.claims;
  summary.void_reason = instance.federation.void_reason();
  return summary;
}

absl::StatusOr<RunSummary> Run(const lab::Spec& spec, const RunSpecOptions& options) {
  const std::atomic<bool> never = false;
  BANDANA_ASSIGN_OR_RETURN(const Json json,
                           lab::RunExperiment(spec,
                                              {.out = options.out,
                                               .threads = options.threads,
                                               .resume = options.resume,
                                               .quiet = true,
                                               .command = "",
                                               .trace = "",
                                               .progress = options.progress},
                                              options.stop == nullptr ? never : *options.stop));
  RunSummary summary{.folder = options.out, .points = {}};
  for (std::size_t i = 0; i < spec.points.size(); ++i) {
    BANDANA_ASSIGN_OR_RETURN(PointSummary point, SummaryOf(spec.points[i], json["points"][i]));
    summary.points.push_back(std::move(point));
  }
  return summary;
}

}  // namespace

absl::StatusOr<RunSummary> RunSpec(const std::string& file, const RunSpecOptions& options) {
  BANDANA_ASSIGN_OR_RETURN(const lab::Spec spec, lab::LoadSpec(file, options.set));
  return Run(spec, options);
}

absl::StatusOr<RunSummary> RunSpecText(const std::string& toml, const RunSpecOptions& options) {
  BANDANA_ASSIGN_OR_RETURN(const lab::Spec spec, lab::ParseSpec(toml, "spec", options.set));
  return Run(spec, options);
}

}  // namespace bandana
