#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "bandana/cli/commands.h"
#include "bandana/cli/interrupt.h"
#include "bandana/lab/runner.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

// Returns a folder name made from the name of an experiment.
std::string Slug(const std::string& name) {
  std::string slug;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (plain || slug.empty() || slug.back() != '-') slug += plain ? c : '-';
  }
  const std::size_t begin = slug.find_first_not_of("-.");
  return begin == std::string::npos ? "experiment"
                                    : slug.substr(begin, slug.find_last_not_of('-') - begin + 1);
}

// Returns the conditions without which the claims say nothing.
std::set<std::string> Conditions(const lab::Json& privacy) {
  std::set<std::string> conditions;
  for (const lab::Json& claim : privacy["delivered"]) {
    if (!claim["only_if"].is_null()) conditions.insert(claim["only_if"].get<std::string>());
  }
  return conditions;
}

std::string Delivered(const lab::Json& privacy) {
  if (!privacy["void"].is_null()) return "VOID";
  if (privacy["delivered"].empty()) return "none";
  const lab::Json& weakest = privacy["weakest"];
  const std::string text =
      ToText(DpGuarantee{weakest["epsilon"].get<double>(), weakest["delta"].get<double>()});
  return Conditions(privacy).empty() ? text : text + " *";
}

// Returns the table for logs. A log has no regret, but an estimate of the reward per round.
std::string ResultsOfLogs(const lab::Json& summary) {
  std::vector<std::vector<std::string>> rows = {{"point", "reward per round", "95 % interval",
                                                 "rounds offered", "rounds matched",
                                                 "privacy (epsilon, delta)"}};
  for (const lab::Json& point : summary["points"]) {
    const auto mean = [&](const char* name) { return point["metrics"][name]["mean"].get<double>(); };
    rows.push_back({point["label"].get<std::string>(), fmt::format("{:.4g}", mean("value")),
                    fmt::format("{:.4g} to {:.4g}", mean("value_low"), mean("value_high")),
                    Figure(mean("offered")), Figure(mean("matched")), Delivered(point["privacy"])});
  }
  return Table(rows);
}

std::string Results(const lab::Json& summary) {
  const lab::Json& points = summary["points"];
  const bool logs = std::all_of(points.begin(), points.end(), [](const lab::Json& point) {
    return !std::isfinite(point["metrics"]["regret"]["mean"].get<double>());
  });
  if (logs) return ResultsOfLogs(summary);
  const auto error = [](double se) { return std::isnan(se) ? "unknown" : Figure(se); };  // of one replicate
  std::vector<std::vector<std::string>> rows = {
      {"point", "regret", "+- se", "clients", "reals sent", "best action", "privacy (epsilon, delta)"}};
  for (const lab::Json& point : points) {
    const lab::Json& metrics = point["metrics"];
    const auto mean = [&](const char* name) { return metrics[name]["mean"].get<double>(); };
    rows.push_back({point["label"].get<std::string>(), Figure(mean("regret")),
                    error(metrics["regret"]["se"].get<double>()), Figure(mean("clients")),
                    Figure(mean("communication_reals")),
                    fmt::format("{:.1f} %", 100 * mean("best_action_rate")), Delivered(point["privacy"])});
  }
  return Table(rows);
}

// Returns the reasons why claims are void, and the conditions of those that are not, each with the points
// that it concerns.
std::string Qualifications(const lab::Json& summary) {
  std::map<std::string, std::vector<std::string>> points;
  for (const lab::Json& point : summary["points"]) {
    const auto label = point["label"].get<std::string>();
    const lab::Json& why = point["privacy"]["void"];
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
std::string Repairs(const lab::Json& summary) {
  std::string text;
  for (const lab::Json& point : summary["points"]) {
    const lab::Json& metrics = point["metrics"];
    if (!metrics.contains("repairs")) continue;
    const lab::Json& mean = metrics["repairs"]["mean"];  // no number at points whose algorithm repairs nothing
    if (!mean.is_number() || !(mean.get<double>() > 0)) continue;
    text += fmt::format("{}: the matrix V was not positive definite and was repaired {:.3g} times per run\n",
                        point["label"].get<std::string>(), mean.get<double>());
  }
  return text;
}

}  // namespace

int RunCommand(const RunArguments& arguments, const Global& global) {
  const absl::StatusOr<lab::Spec> spec = lab::LoadSpec(arguments.spec, arguments.set);
  if (!spec.ok()) return Fail(spec.status(), global);
  NoteKeysWithoutEffect(*spec, global);
  const std::string out = arguments.out.empty() ? "results/" + Slug(spec->name) : arguments.out;
  std::string command = "bandana run " + Quoted(arguments.spec);
  for (const std::string& assignment : arguments.set) command += " --set " + Quoted(assignment);
  command += PluginFlags(global);

  InstallInterrupt();
  const absl::StatusOr<lab::Json> summary = lab::RunExperiment(
      *spec, {out, arguments.threads, arguments.resume, global.quiet, command, arguments.trace},
      Interrupted());
  if (absl::IsCancelled(summary.status())) {
    if (!arguments.trace.empty()) command += " --trace " + Quoted(arguments.trace);
    const std::string how =
        fmt::format("interrupted; continue with: {} --out {} --resume", command, Quoted(out));
    return Fail(absl::CancelledError(how), global);
  }
  if (!summary.ok()) return Fail(summary.status(), global);
  if (global.json) {
    fmt::print("{}", lab::Dump(*summary));
  } else {
    fmt::print("{}{}{}\n{:.2f} s ({:.2f} s of CPU). Report: {}/report.html\n", Results(*summary),
               Qualifications(*summary), Repairs(*summary), (*summary)["wall_s"].get<double>(),
               (*summary)["cpu_s"].get<double>(), out);
  }
  return 0;
}

}  // namespace bandana::cli
