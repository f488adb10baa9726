#include "bandana/lab/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bandana/config.h"
#include "bandana/core/status.h"
#include "bandana/lab/experiment.h"

namespace bandana::lab {
namespace {

// NaN, which JSON writes as null, stands for what is not known: one value tells nothing about the spread.
struct Moments {
  double mean = 0;
  double sd = 0;
};

Moments MomentsOf(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;  // exact for counts, so that the sd of equal counts is 0
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1)) : std::numeric_limits<double>::quiet_NaN()};
}

// Returns a quantile by linear interpolation between order statistics.
double Quantile(std::vector<double> values, double q) {
  for (const double value : values) {
    if (std::isnan(value)) return value;
  }
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> Column(const std::vector<std::vector<std::vector<double>>>& replicates,
                           std::size_t checkpoint, std::size_t metric) {
  std::vector<double> column;
  for (const auto& replicate : replicates) column.push_back(replicate[checkpoint][metric]);
  return column;
}

Json MetricsAtEnd(const std::vector<std::vector<std::vector<double>>>& replicates,
                  const std::vector<std::string>& names) {
  Json metrics = Json::object();
  for (std::size_t metric = 0; metric < names.size(); ++metric) {
    const std::vector<double> values = Column(replicates, replicates.front().size() - 1, metric);
    const Moments moments = MomentsOf(values);
    metrics[names[metric]] = {{"mean", moments.mean},
                              {"sd", moments.sd},
                              {"se", moments.sd / std::sqrt(static_cast<double>(values.size()))},
                              {"n", values.size()},
                              {"values", values}};
  }
  return metrics;
}

Json CurveOf(const std::vector<std::vector<std::vector<double>>>& replicates, std::size_t checkpoints,
             std::size_t metric) {
  Json curve = {{"mean", Json::array()},
                {"sd", Json::array()},
                {"median", Json::array()},
                {"q10", Json::array()},
                {"q90", Json::array()}};
  for (std::size_t i = 0; i < checkpoints; ++i) {
    const std::vector<double> values = Column(replicates, i, metric);
    const Moments moments = MomentsOf(values);
    curve["mean"].push_back(moments.mean);
    curve["sd"].push_back(moments.sd);
    curve["median"].push_back(Quantile(values, 0.5));
    curve["q10"].push_back(Quantile(values, 0.1));
    curve["q90"].push_back(Quantile(values, 0.9));
  }
  return curve;
}

// Returns the curve over time of regret and, for a log, of the off-policy value.
Json Curve(const std::vector<std::vector<std::vector<double>>>& replicates, const std::vector<Count>& times,
           const std::vector<std::string>& names) {
  Json curve = {{"t", times}, {"regret", CurveOf(replicates, times.size(), 0)}};
  const auto value = std::find(names.begin(), names.end(), "value");
  if (value != names.end()) {
    curve["value"] = CurveOf(replicates, times.size(), static_cast<std::size_t>(value - names.begin()));
  }
  return curve;
}

}  // namespace

Json ToJson(const Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json GuaranteeJson(const DpGuarantee& guarantee) {
  return {{"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}};
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string Dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

namespace {

// Adds what a world or an algorithm tells about itself, for example the net of actions that was played. A
// value that is not known is null.
void Add(const std::vector<Statement>& statements, Json& point) {
  for (const Statement& statement : statements) {
    Json& json = point[statement.name] = Json::object();
    for (const auto& [key, value] : statement.values) {
      json[key] = value.has_value() ? lab::ToJson(*value) : Json(nullptr);
    }
  }
}

absl::StatusOr<std::vector<Statement>> DescribeWorld(const Experiment& experiment) {
  if (!experiment.kind->describe) return std::vector<Statement>{};
  return experiment.kind->describe(experiment.world, experiment.run.horizon);
}

// Returns a picture of the network traffic in the first replicate. The replicate is run again for this,
// because results.csv does not keep the traffic. Returns null if there are no messages, or too many nodes to
// draw.
absl::StatusOr<Json> NetworkStatement(const Instance& instance, const Settings& settings) {
  constexpr Count kMostNodes = 500;
  const Topology& topology = instance.federation.topology;
  const bool talks =
      instance.federation.time() == TimeModel::kTick &&
      (topology.has_server() || (topology.graph() != nullptr && topology.graph()->edges() > 0));
  if (!talks || topology.clients() > kMostNodes) return Json(nullptr);
  const std::atomic<bool> stop = false;
  BANDANA_ASSIGN_OR_RETURN(const Outcome outcome, RunReplicate(settings, 0, stop));
  return outcome.network.has_value() ? ToJson(*outcome.network) : Json(nullptr);
}

Json ToJson(const std::vector<NodeId>& nodes) {
  Json list = Json::array();
  for (const NodeId node : nodes) list.push_back(node.value);
  return list;
}

}  // namespace

Json ToJson(const NetworkPicture& picture) {
  Json edges = Json::array();
  for (std::size_t i = 0; i < picture.edges.size(); ++i) {
    edges.push_back({picture.edges[i].a.value, picture.edges[i].b.value, picture.edge_messages[i]});
  }
  Json uplinks = Json::array();
  for (std::size_t i = 0; i < picture.uplink_messages.size(); ++i) {
    if (picture.uplink_messages[i] > 0) uplinks.push_back({i + 1, picture.uplink_messages[i]});
  }
  Json components = Json::array();
  for (const auto& component : picture.components) components.push_back(ToJson(component));
  Json links = Json::array();
  for (const Edge& edge : picture.lost_links) links.push_back({edge.a.value, edge.b.value});
  return Json{
      {"nodes", picture.nodes},
      {"server", picture.server},
      {"edges", edges},
      {"uplinks", uplinks},
      {"sinks", ToJson(picture.sinks)},
      {"components", components},
      {"lost",
       {{"agents", ToJson(picture.lost_agents)}, {"links", links}, {"messages", picture.lost_messages}}},
      {"new_sinks", picture.new_sinks}};
}

Json ToJson(const Claim& claim) {
  return {{"adversary", claim.adversary},
          {"epsilon", claim.guarantee.epsilon},
          {"delta", claim.guarantee.delta},
          {"unit", claim.unit},
          {"neighbours", claim.neighbours},
          {"proof", claim.proof},
          {"only_if", claim.only_if.empty() ? Json(nullptr) : Json(claim.only_if)},
          {"asked", claim.asked},
          {"text", bandana::ToText(claim)}};
}

Json PrivacyStatement(const Instance& instance, const std::string& void_reason) {
  const std::vector<Claim>& claims = instance.federation.claims;
  const Privacy& privacy = instance.experiment.privacy;
  Json statement;
  statement["nominal"] = nullptr;
  if (privacy.is_private()) statement["nominal"] = {{"epsilon", privacy.epsilon}, {"delta", privacy.delta}};
  statement["delivered"] = Json::array();
  statement["asked"] = Json::array();
  for (const Claim& claim : claims) {
    statement["delivered"].push_back(ToJson(claim));
    Json asked = nullptr;
    if (claim.asked) {
      asked = {{"epsilon", claim.asked_epsilon.value_or(privacy.epsilon)}, {"delta", privacy.delta}};
    }
    statement["asked"].push_back(std::move(asked));
  }
  const std::optional<DpGuarantee> weakest = Weakest(claims);
  statement["weakest"] = nullptr;
  if (weakest) statement["weakest"] = {{"epsilon", weakest->epsilon}, {"delta", weakest->delta}};
  statement["void"] = void_reason.empty() ? Json(nullptr) : Json(void_reason);
  return statement;
}

absl::StatusOr<Json> Summarize(const Spec& spec, const ResultsFile& results, const Timing& timing) {
  Json summary = {{"name", spec.name},       {"version", Version()},  {"spec_sha256", spec.sha256},
                  {"wall_s", timing.wall_s}, {"cpu_s", timing.cpu_s}, {"points", Json::array()}};
  const std::vector<std::string> names = MetricNames(spec);
  for (std::size_t i = 0; i < spec.points.size(); ++i) {
    const Point& point = spec.points[i];
    Json varied = Json::object();
    for (const auto& [key, value] : point.varied.values()) varied[key] = ToJson(value);
    BANDANA_ASSIGN_OR_RETURN(const Instance instance, MakeInstance(point.settings, 0));
    const Json privacy = PrivacyStatement(instance, instance.federation.void_reason());
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Statement> about_world, DescribeWorld(instance.experiment));
    BANDANA_ASSIGN_OR_RETURN(const Json network, NetworkStatement(instance, point.settings));
    summary["points"].push_back({{"point", varied},
                                 {"label", point.label},
                                 {"algorithm", point.settings.Text("algorithm.name")},
                                 {"replicates", spec.replicates()},
                                 {"metrics", MetricsAtEnd(results.values()[i], names)},
                                 {"curve", Curve(results.values()[i], Checkpoints(point.settings), names)},
                                 {"privacy", privacy}});
    Add(about_world, summary["points"].back());
    std::vector<std::string> notes;
    for (const Note& note : instance.federation.notes) {
      if (note.weight != Note::Weight::kVoidsClaim) notes.push_back(note.text);
    }
    if (!notes.empty()) summary["points"].back()["notes"] = notes;
    if (!network.is_null()) summary["points"].back()["network"] = network;
    if (instance.federation.describe) Add(instance.federation.describe(), summary["points"].back());
  }
  return summary;
}

}  // namespace bandana::lab
