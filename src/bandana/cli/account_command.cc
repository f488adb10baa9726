#include <string>
#include <vector>

#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/account_request.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

using lab::AccountRequest;
using lab::Json;

std::string Parameters(const Event& event) {
  std::string text;
  for (const MechanismParameter& parameter : FindMechanismKind(event.mechanism)->parameters) {
    text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", parameter.name,
                        event.parameters.at(parameter.name));
  }
  return text;
}

std::string Text(const AccountRequest& request, const AccountReport& report) {
  std::vector<std::vector<std::string>> rows = {{"event", "parameters", "one release", "count", "over"}};
  for (std::size_t i = 0; i < request.events.size(); ++i) {
    const Event& event = request.events[i];
    std::string over = event.cohort.empty() ? "everyone" : event.cohort;
    if (event.disjoint) over += ", disjoint";
    rows.push_back(
        {fmt::format("{} {}", i + 1,
                     event.name.empty() ? event.mechanism : event.name + " (" + event.mechanism + ")"),
         Parameters(event), report.events[i].loss, fmt::format("{:.0f}", event.count), over});
  }
  std::string text = Table(rows);
  text += fmt::format("\n({}, {})-differentially private for one {}, {} neighbours",
                      RoundedUp(report.guarantee.epsilon, 5), RoundedUp(report.guarantee.delta, 5),
                      report.unit, report.neighbours);
  if (report.cohorts > 0) {
    text += fmt::format("; the worst of {} disjoint cohorts: {}", report.cohorts, report.worst_cohort);
  }
  text += "\n\n";
  rows = {{"proof", "epsilon", "delta", ""}};
  for (const AccountProof& proof : report.proofs) {
    const bool used = proof.name == report.proof;
    rows.push_back({proof.title, proof.guarantee ? RoundedUp(proof.guarantee->epsilon, 5) : "-",
                    proof.guarantee ? RoundedUp(proof.guarantee->delta, 5) : "-",
                    used ? "used" : proof.why_not});
  }
  return text + Table(rows) +
         fmt::format("\nThe guarantee holds for a list that was fixed beforehand. Proofs: {}\n",
                     lab::kAccountProof);
}

}  // namespace

int AccountCommand(const AccountArguments& arguments, const Global& global) {
  const absl::StatusOr<Json> json = lab::ReadAccountFile(arguments.file);
  if (!json.ok()) return Fail(json.status(), global);
  absl::StatusOr<AccountRequest> request = lab::ReadAccountRequest(*json);
  if (!request.ok()) return Fail(WithFile(request.status(), arguments.file), global);
  const bool asked = arguments.delta.has_value() || arguments.epsilon.has_value();
  if (asked) request->target = {arguments.epsilon, arguments.delta};
  const absl::StatusOr<AccountReport> report = Account(request->events, request->target);
  if (!report.ok()) return Fail(WithFile(report.status(), arguments.file), global);
  fmt::print("{}", global.json ? lab::Dump(lab::ToJson(*request, *report)) : Text(*request, *report));
  return 0;
}

}  // namespace bandana::cli
