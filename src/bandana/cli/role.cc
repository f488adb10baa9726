#include "bandana/cli/role.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "bandana/cli/interrupt.h"
#include "bandana/cli/process.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/lab/vocabulary.h"
#include "bandana/service/spec_digest.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

std::string AcceptedFor(const std::string& key) { return lab::OptionsNamed(key, "", "").front().accepted; }

}  // namespace

absl::StatusOr<std::string> RoleConfig::Service(const std::string& key) const {
  const std::string full = "service." + key;
  if (spec.service.Has(full)) return spec.service.Text(full);
  return InvalidInput({.message = "missing", .file = spec.file, .key = full, .accepted = AcceptedFor(full)});
}

absl::Status RoleConfig::WithSource(const absl::Status& status) const {
  return lab::WithSource(status, spec.points.front().sources, spec.file);
}

std::string RoleConfig::Digest() const {
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : settings.values()) values[key] = ToToml(value);
  values.erase("name");
  values["--insecure-seed"] = insecure_seed.has_value() ? "true" : "false";
  return service::SpecDigest(values);
}

absl::StatusOr<RoleConfig> LoadRole(const RoleArguments& arguments) {
  BANDANA_ASSIGN_OR_RETURN(lab::Spec spec, lab::LoadSpec(arguments.config, arguments.set));
  if (spec.points.size() != 1) {
    return InvalidInput(
        {.message = fmt::format("the spec has {} points, but a deployment runs only one", spec.points.size()),
         .file = spec.file,
         .key = "sweep",
         .accepted = "a spec without sweep and variants"});
  }
  RoleConfig config{.settings = spec.points.front().settings};
  if (config.settings.Has("privacy.sampler")) {
    if (spec.given.contains("privacy.sampler") && config.settings.Text("privacy.sampler") != "exact") {
      return lab::WithSource(
          InvalidInput({.message = "the service does not release noise from floating-point samplers",
                        .key = "privacy.sampler",
                        .value = config.settings.Text("privacy.sampler"),
                        .accepted = "exact"}),
          spec.points.front().sources, spec.file);
    }
    config.settings.Set("privacy.sampler", Value(std::string("exact")));
  }
  if (arguments.insecure_seed) {
    config.insecure_seed = {static_cast<std::uint64_t>(config.settings.Integer("seed")), 0};
  }
  config.spec = std::move(spec);
  return config;
}

absl::Status Events::Open(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  if (path == "-") {
    out_ = &std::cout;
    return absl::OkStatus();
  }
  file_.open(path, std::ios::trunc);
  out_ = &file_;
  if (file_) return absl::OkStatus();
  return InvalidInput({.message = "cannot be written",
                       .file = path,
                       .key = "--events",
                       .accepted = "a file that can be written, or - for stdout"});
}

void Events::Write(const std::string& event, const lab::Json& fields) {
  if (out_ == nullptr) return;
  lab::Json line = {{"event", event}};
  line.update(fields);
  *out_ << line.dump() << "\n" << std::flush;
}

LedgerHeader LedgerHeaderOf(const RoleConfig& config, const Federation& federation,
                            const DpGuarantee& budget) {
  LedgerHeader header{.deployment = config.spec.name,
                      .configuration = Sha256(config.Digest()),
                      .claims = federation.claims,
                      .void_reason = VoidReason(config, federation),
                      .limits = {.per_unit = {budget.epsilon, budget.delta}}};
  const lab::Settings& service = config.spec.service;
  if (service.Has("service.deployment_epsilon")) {
    header.limits.deployment =
        Loss{service.Number("service.deployment_epsilon"), service.Number("service.deployment_delta")};
  }
  return header;
}

absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const RoleConfig& config, const Federation& federation,
                                                   const DpGuarantee& budget, Ledger::Durability durability) {
  const lab::Settings& service = config.spec.service;
  const bool has_epsilon = service.Has("service.deployment_epsilon");
  const bool has_delta = service.Has("service.deployment_delta");
  const auto missing = [&](const std::string& key, std::string why) {
    return config.WithSource(
        InvalidInput({.message = std::move(why), .key = key, .accepted = AcceptedFor(key)}));
  };
  if (has_epsilon != has_delta) {
    return missing(has_epsilon ? "service.deployment_delta" : "service.deployment_epsilon",
                   "missing: deployment_epsilon and deployment_delta must be given together");
  }
  if (!service.Has("service.ledger")) {
    if (has_epsilon) return missing("service.ledger", "missing: a deployment's budget needs a ledger");
    return nullptr;
  }
  const std::string path = service.Text("service.ledger");
  if (path.empty()) return missing("service.ledger", "empty");
  absl::StatusOr<std::unique_ptr<Ledger>> opened =
      Ledger::Open(path, LedgerHeaderOf(config, federation, budget), durability);
  if (const auto error = InputErrorOf(opened.status());
      absl::IsInvalidArgument(opened.status()) && error && error->file == path) {
    return config.WithSource(
        InvalidInput({.message = error->message,
                      .key = "service.ledger",
                      .value = path,
                      .accepted = "a file that can be written, in a folder that exists"}));
  }
  BANDANA_ASSIGN_OR_RETURN(std::unique_ptr<Ledger> ledger, std::move(opened));
  if (ledger->head().seq > 0) {
    return config.WithSource(InvalidInput(
        {.message = fmt::format("the ledger has {} charges of an earlier run. A second run would get "
                                "their old draws again and learn from data of that run",
                                ledger->head().seq),
         .key = "service.ledger",
         .value = path,
         .accepted = "a new file; what the earlier run spent stays in the old one, and the same "
                     "people spend it again in a second run"}));
  }
  if (ledger->torn_bytes() > 0) {
    fmt::print(stderr,
               "bandana: {}: the last {} bytes were removed, because they are an incomplete charge. Its "
               "writer stopped too early, and its release was not sent\n",
               path, ledger->torn_bytes());
  }
  return ledger;
}

std::string VoidReason(const RoleConfig& config, const Federation& federation) {
  const std::string why = federation.void_reason();
  return why.empty() && config.insecure_seed ? kInsecureSeedVoids : why;
}

std::string Delivered(const RoleConfig& config, const Federation& federation, const Ledger* ledger) {
  const std::vector<Claim>& claims = federation.claims;
  std::vector<std::string> parts;
  for (const Claim& claim : claims) {
    parts.push_back(ToText(claim));
  }
  std::string text = claims.empty() ? "done: no privacy is claimed"
                                    : fmt::format("delivered: {}", absl::StrJoin(parts, "; "));
  const std::string why = VoidReason(config, federation);
  if (!why.empty() && (!claims.empty() || !federation.void_reason().empty()))
    text += fmt::format("; VOID: {}", why);
  if (ledger != nullptr) text += fmt::format("; ledger head {} {}", ledger->head().seq, ledger->head().hash);
  return text;
}

int Finish(const absl::StatusOr<lab::Json>& done, const RoleConfig& config, const Global& global) {
  if (!done.ok() && Interrupted() && global.quiet) return 130;  // the interrupt explains any other error
  if (!done.ok()) return Fail(config.WithSource(done.status()), global);
  if (global.json) fmt::print("{}\n", done->dump(1));
  return 0;
}

StopOnInterrupt::StopOnInterrupt() {
  InstallInterrupt();
  DieWithParent();
  watcher_ = std::jthread([this](const std::stop_token& done) {
    while (!done.stop_requested() && !Interrupted())
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (Interrupted()) source_.request_stop();
  });
}

}  // namespace bandana::cli
