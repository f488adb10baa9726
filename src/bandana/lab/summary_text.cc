#include "bandana/lab/summary_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "bandana/lab/judge/statistics.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

// A summary that was read from its file has null where a number is not known.
double NumberOrNaN(const Json& number) {
  return number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>();
}

// Returns the conditions without which the claims say nothing.
std::set<std::string> Conditions(const Json& privacy) {
  std::set<std::string> conditions;
  for (const Json& claim : privacy["delivered"]) {
    if (!claim["only_if"].is_null()) conditions.insert(claim["only_if"].get<std::string>());
  }
  return conditions;
}

std::string Delivered(const Json& privacy) {
  if (!privacy["void"].is_null()) return "VOID";
  if (privacy["delivered"].empty()) return "none";
  const Json& weakest = privacy["weakest"];
  const std::string text =
      ToText(DpGuarantee{weakest["epsilon"].get<double>(), weakest["delta"].get<double>()});
  return Conditions(privacy).empty() ? text : text + " *";
}

// Returns the table for logs. A log has no regret, but an estimate of the reward per round.
std::vector<std::vector<std::string>> RowsOfLogs(const Json& summary) {
  std::vector<std::vector<std::string>> rows = {{"point", "reward per round", "95 % interval",
                                                 "rounds offered", "rounds matched",
                                                 "privacy (epsilon, delta)"}};
  for (const Json& point : summary["points"]) {
    const auto mean = [&](const char* name) { return NumberOrNaN(point["metrics"][name]["mean"]); };
    rows.push_back({point["label"].get<std::string>(), fmt::format("{:.4g}", mean("value")),
                    fmt::format("{:.4g} to {:.4g}", mean("value_low"), mean("value_high")),
                    Figure(mean("offered")), Figure(mean("matched")), Delivered(point["privacy"])});
  }
  return rows;
}

// Returns the reasons why claims are void, and the conditions of those that are not, each with the points
// that it concerns.
std::string Qualifications(const Json& summary) {
  std::map<std::string, std::vector<std::string>> points;
  for (const Json& point : summary["points"]) {
    const auto label = point["label"].get<std::string>();
    const Json& why = point["privacy"]["void"];
    if (!why.is_null()) {
      points["VOID: " + why.get<std::string>()].push_back(label);
      continue;
    }
    for (const std::string& condition : Conditions(point["privacy"])) {
      points["* only if " + condition].push_back(label);
    }
  }
  std::string text;
  for (const auto& [why, labels] : points) text += fmt::format("{} ({})\n", why, fmt::join(labels, "; "));
  return text;
}

// Returns warnings about Gram matrices that were not positive definite because of noise and had to be
// repaired.
std::string Repairs(const Json& summary) {
  std::string text;
  for (const Json& point : summary["points"]) {
    const Json& metrics = point["metrics"];
    if (!metrics.contains("repairs")) continue;
    const Json& mean = metrics["repairs"]["mean"];  // no number at points whose algorithm repairs nothing
    if (!mean.is_number() || !(mean.get<double>() > 0)) continue;
    text += fmt::format("{}: the matrix V was not positive definite and was repaired {:.3g} times per run\n",
                        point["label"].get<std::string>(), mean.get<double>());
  }
  return text;
}

}  // namespace

std::vector<std::vector<std::string>> ResultRows(const Json& summary) {
  const Json& points = summary["points"];
  const bool logs = std::all_of(points.begin(), points.end(), [](const Json& point) {
    return !std::isfinite(NumberOrNaN(point["metrics"]["regret"]["mean"]));
  });
  if (logs) return RowsOfLogs(summary);
  const auto error = [](double se) { return std::isnan(se) ? "unknown" : Figure(se); };  // of one replicate
  std::vector<std::vector<std::string>> rows = {
      {"point", "regret", "+- se", "clients", "reals sent", "best action", "privacy (epsilon, delta)"}};
  for (const Json& point : points) {
    const Json& metrics = point["metrics"];
    const auto mean = [&](const char* name) { return NumberOrNaN(metrics[name]["mean"]); };
    rows.push_back({point["label"].get<std::string>(), Figure(mean("regret")),
                    error(NumberOrNaN(metrics["regret"]["se"])), Figure(mean("clients")),
                    Figure(mean("communication_reals")),
                    fmt::format("{:.1f} %", 100 * mean("best_action_rate")), Delivered(point["privacy"])});
  }
  return rows;
}

std::string Remarks(const Json& summary) { return Qualifications(summary) + Repairs(summary); }

}  // namespace bandana::lab
