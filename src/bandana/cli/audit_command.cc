#include <algorithm>
#include <cstdio>
#include <thread>

#include "bandana/audit/auditor.h"
#include "bandana/audit/catalog.h"
#include "bandana/audit/deployed/recovery_target.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/interrupt.h"
#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "bandana/lab/audit_json.h"
#include "bandana/lab/progress.h"
#include "bandana/privacy/guarantee.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

using audit::Entry;
using audit::Finding;

int ListTargets(const Global& global) {
  lab::Json json = lab::Json::array();
  for (const Entry& entry : audit::Catalog()) {
    json.push_back(lab::ToJson(entry));
    if (!global.json) {
      fmt::print("{}\n    {}\n    default: {}, {} draws\n", entry.name, entry.summary, ToText(entry.nominal),
                 entry.draws);
      if (!entry.known_to_fail.empty()) fmt::print("    known to fail: {}\n", entry.known_to_fail);
    }
  }
  if (global.json) fmt::print("{}\n", json.dump(1));
  return 0;
}

absl::StatusOr<std::vector<const Entry*>> Asked(const AuditArguments& arguments) {
  std::vector<const Entry*> asked;
  if (arguments.all) {
    if (!arguments.target.empty() || !arguments.model.empty()) {
      return InvalidInput({.message = "cannot be combined with a target or a model",
                           .key = "--all",
                           .accepted = "a target, or --all"});
    }
    for (const Entry& entry : audit::Catalog()) {
      if (entry.known_to_fail.empty()) asked.push_back(&entry);
    }
    return asked;
  }
  if (arguments.target.empty()) {
    return InvalidInput(
        {.message = "missing", .key = "target", .accepted = "a target of bandana audit --list, or --all"});
  }
  const std::string name =
      arguments.model.empty() ? arguments.target : arguments.target + "-" + arguments.model;
  const absl::StatusOr<const Entry*> entry = audit::FindEntry(name);
  // The name of an algorithm without a model means the central model.
  if (!entry.ok() && arguments.model.empty()) {
    if (const auto central = audit::FindEntry(name + "-central"); central.ok()) return std::vector{*central};
  }
  if (!entry.ok()) return entry.status();
  return std::vector{*entry};
}

const char* Verdict(const Finding& finding) {
  if (!finding.claim) return "no claim";
  return finding.refuted ? "REFUTED" : "not refuted";
}

std::string Results(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows = {
      {"target", "claim (epsilon, delta)", "epsilon at least", "delta at least", "draws", "verdict"}};
  for (const Finding& finding : findings) {
    rows.push_back({finding.target, finding.claim ? ToText(finding.claim->guarantee) : "none",
                    fmt::format("{:.3f}", finding.epsilon_lower), fmt::format("{:.3g}", finding.delta_lower),
                    Figure(static_cast<double>(finding.draws)), Verdict(finding)});
  }
  return Table(rows);
}

absl::StatusOr<std::vector<Finding>> Attack(const AuditArguments& arguments, const Global& global) {
  if (!(arguments.confidence > 0 && arguments.confidence < 1)) {
    return InvalidOption("--confidence", arguments.confidence, "a number in (0, 1)");
  }
  BANDANA_ASSIGN_OR_RETURN(const std::vector<const Entry*> entries, Asked(arguments));
  std::vector<audit::Target> targets;  // all are made before the first attack, so that errors show at once
  for (const Entry* entry : entries) {
    const bool pure = entry->nominal.delta == 0;
    absl::StatusOr<audit::Target> target =
        audit::MakeTarget(*entry, arguments.epsilon, pure && arguments.all ? std::nullopt : arguments.delta);
    if (!target.ok()) return lab::NamedAsFlag(target.status());
    targets.push_back(*std::move(target));
  }
  audit::AuditOptions options{
      .false_alarm = (1 - arguments.confidence) / static_cast<double>(targets.size()),
      .bits = arguments.secure ? audit::Bits::kSecure : audit::Bits::kSeeded,
      .seed = arguments.seed,
      .threads = arguments.threads > 0 ? arguments.threads
                                       : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
      .stop = &Interrupted()};
  constexpr double kLeastFalseAlarm = 1e-12;
  if (options.false_alarm < kLeastFalseAlarm) {
    const double most = 1 - kLeastFalseAlarm * static_cast<double>(targets.size());
    return InvalidOption("--confidence", arguments.confidence, fmt::format("a number in (0, {})", most));
  }
  InstallInterrupt();
  std::vector<Finding> findings;
  lab::Progress progress("targets", targets.size(), 0, global.quiet);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    options.draws = arguments.draws.value_or(entries[i]->draws);
    absl::StatusOr<Finding> finding = audit::Audit(targets[i], options);
    if (!finding.ok()) return lab::NamedAsFlag(finding.status());
    findings.push_back(*std::move(finding));
    progress.Update(i + 1);
  }
  return findings;
}

}  // namespace

int AuditCommand(const AuditArguments& arguments, const Global& global) {
  audit::AddToCatalog(audit::DeployedEntries());
  if (arguments.list) return ListTargets(global);
  const absl::StatusOr<std::vector<Finding>> findings = Attack(arguments, global);
  if (!findings.ok()) return Fail(findings.status(), global);
  const auto refuted = std::count_if(findings->begin(), findings->end(),
                                     [](const Finding& finding) { return finding.refuted; });
  if (global.json) {
    lab::Json targets = lab::Json::array();
    for (const Finding& finding : *findings) targets.push_back(lab::ToJson(finding));
    const lab::Json json = {{"confidence", arguments.confidence},
                            {"seed", arguments.secure ? lab::Json(nullptr) : lab::Json(arguments.seed)},
                            {"refuted", refuted},
                            {"targets", targets}};
    fmt::print("{}", lab::Dump(json));
  } else {
    fmt::print(
        "{}\n{} of {} refuted. If all claims are true, the probability that any of them is refuted is at "
        "most {:.2g}.\n",
        Results(*findings), refuted, findings->size(), 1 - arguments.confidence);
    for (const Finding& finding : *findings) {
      if (const std::string why = lab::WhyItFails(finding); !why.empty()) {
        fmt::print("{} is known to fail: {}.\n", finding.target, why);
      }
    }
  }
  return refuted > 0 ? 1 : 0;
}

}  // namespace bandana::cli
