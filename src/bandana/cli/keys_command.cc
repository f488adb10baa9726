#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/service/key_files.h"
#include "bandana/service/names.h"
#include "bandana/service/party.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

using service::IssuedCertificate;

void PrintJson(const lab::Json& json) {
  fmt::print("{}\n", json.dump(1, ' ', false, lab::Json::error_handler_t::replace));
}

std::string Instant(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string Day(absl::Time time) { return absl::FormatTime("%Y-%m-%d %H:%M", time, absl::UTCTimeZone()); }

std::string StateOf(const IssuedCertificate& certificate, absl::Time now) {
  if (certificate.revoked) return "revoked";
  if (now >= certificate.not_after) return "expired";
  return now < certificate.not_before ? "not yet valid" : "valid";
}

lab::Json CertificateJson(const IssuedCertificate& certificate) {
  return {{"party", certificate.party},
          {"serial", certificate.serial},
          {"not_before", Instant(certificate.not_before)},
          {"not_after", Instant(certificate.not_after)},
          {"revoked", certificate.revoked},
          {"state", StateOf(certificate, absl::Now())}};
}

lab::Json CertificatesJson(const std::vector<IssuedCertificate>& certificates) {
  lab::Json list = lab::Json::array();
  for (const IssuedCertificate& each : certificates) list.push_back(CertificateJson(each));
  return list;
}

int InitKeys(const KeysArguments& arguments, const std::string& folder, const Global& global) {
  const absl::StatusOr<std::string> deployment =
      service::MakeDeployment(folder, {.deployment = arguments.deployment});
  if (!deployment.ok()) return Fail(deployment.status(), global);
  if (global.json) {
    PrintJson({{"keys", folder}, {"deployment", *deployment}});
    return 0;
  }
  fmt::print(
      "{}: the CA of the deployment {}\n"
      "Keep ca.key secret, and off the machines that the parties run on.\n",
      folder, *deployment);
  return 0;
}

int IssueOrRotate(const KeysArguments& arguments, const std::string& folder, const Global& global) {
  const service::IssueOptions options{.days = arguments.days.value_or(service::IssueOptions().days),
                                      .out = arguments.out};
  const bool is_new = arguments.action == "issue";
  const absl::StatusOr<IssuedCertificate> made = is_new ? service::Issue(folder, arguments.subject, options)
                                                        : service::Rotate(folder, arguments.subject, options);
  if (!made.ok()) return Fail(made.status(), global);
  const std::string& target = arguments.out.empty() ? folder : arguments.out;
  std::vector<std::string> files;
  for (const char* ending : {".pem", ".key", ".identity", ".identity.pub"}) {
    if (is_new || files.size() < 2) files.push_back(service::FileNameOf(made->party) + ending);
  }
  if (is_new && made->party == service::kServerName) files.push_back("application.key");
  if (global.json) {
    lab::Json json = CertificateJson(*made);
    json["folder"] = target;
    json["files"] = files;
    PrintJson(json);
    return 0;
  }
  fmt::print("{}: certificate {}, valid until {} UTC\nwritten to {}: {}\n", made->party, made->serial,
             Day(made->not_after), target, fmt::join(files, ", "));
  if (!arguments.out.empty()) {
    fmt::print("Carry {} to the machine of {}, and then delete it here.\n", target, made->party);
  }
  return 0;
}

int RevokeKeys(const KeysArguments& arguments, const std::string& folder, const Global& global) {
  const absl::StatusOr<std::vector<IssuedCertificate>> revoked = service::Revoke(folder, arguments.subject);
  if (!revoked.ok()) return Fail(revoked.status(), global);
  if (global.json) {
    PrintJson({{"keys", folder}, {"revoked", CertificatesJson(*revoked)}});
    return 0;
  }
  if (revoked->empty()) {
    fmt::print("{}: nothing to do, all of it was revoked before\n", arguments.subject);
    return 0;
  }
  for (const IssuedCertificate& each : *revoked) {
    fmt::print("revoked: {}, certificate {}\n", each.party, each.serial);
  }
  fmt::print("Copy the file revoked of {} to the machines of the other parties. They need no restart.\n",
             folder);
  return 0;
}

int ShowKeys(const std::string& folder, const Global& global) {
  const absl::StatusOr<std::string> deployment = service::DeploymentOf(folder);
  if (!deployment.ok()) return Fail(deployment.status(), global);
  const absl::StatusOr<std::vector<IssuedCertificate>> issued = service::Show(folder);
  if (!issued.ok()) return Fail(issued.status(), global);
  if (global.json) {
    PrintJson({{"keys", folder}, {"deployment", *deployment}, {"certificates", CertificatesJson(*issued)}});
    return 0;
  }
  fmt::print("{}: keys of the deployment {}\n\n", folder, *deployment);
  std::vector<std::vector<std::string>> rows = {{"party", "state", "until (UTC)", "serial"}};
  for (const IssuedCertificate& each : *issued) {
    rows.push_back({each.party, StateOf(each, absl::Now()), Day(each.not_after), each.serial});
  }
  fmt::print("{}", Table(rows));
  return 0;
}

absl::Status CheckKeysFlags(const KeysArguments& arguments) {
  const std::string& action = arguments.action;
  const bool makes = action == "issue" || action == "rotate";
  const auto only = [&](bool given, bool fits, const std::string& flag, const std::string& where) {
    if (!given || fits) return absl::OkStatus();
    return InvalidInput({.message = fmt::format("cannot be used with keys {}", action),
                         .key = flag,
                         .accepted = "only with " + where});
  };
  BANDANA_RETURN_IF_ERROR(only(arguments.days.has_value(), makes, "--days", "keys issue and keys rotate"));
  BANDANA_RETURN_IF_ERROR(only(!arguments.out.empty(), makes, "--out", "keys issue and keys rotate"));
  BANDANA_RETURN_IF_ERROR(only(!arguments.deployment.empty(), action == "init", "--deployment", "keys init"));
  BANDANA_RETURN_IF_ERROR(
      only(!arguments.subject.empty(), action != "show", "PARTY", "init, issue, rotate and revoke"));
  if (action == "init" && !arguments.subject.empty() && !arguments.keys.empty()) {
    return InvalidInput({.message = "names the folder a second time",
                         .key = "--keys",
                         .value = arguments.keys,
                         .accepted = "one folder: bandana keys init DIR"});
  }
  if (arguments.subject.empty() && (makes || action == "revoke")) {
    return InvalidInput(
        {.message = "missing", .key = "PARTY", .accepted = std::string(service::kPartyNames)});
  }
  return absl::OkStatus();
}

}  // namespace

int KeysCommand(const KeysArguments& arguments, const Global& global) {
  const std::string& action = arguments.action;
  const bool known =
      action == "init" || action == "issue" || action == "rotate" || action == "revoke" || action == "show";
  if (!known) return Fail(InvalidOption("keys", action, "init, issue, rotate, revoke, show"), global);
  if (const absl::Status status = CheckKeysFlags(arguments); !status.ok()) return Fail(status, global);
  const std::string folder = arguments.keys.empty() ? "keys" : arguments.keys;
  if (action == "init") {
    return InitKeys(arguments, arguments.subject.empty() ? folder : arguments.subject, global);
  }
  if (action == "revoke") return RevokeKeys(arguments, folder, global);
  if (action == "show") return ShowKeys(folder, global);
  return IssueOrRotate(arguments, folder, global);
}

}  // namespace bandana::cli
