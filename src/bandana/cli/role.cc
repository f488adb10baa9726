#include "bandana/cli/role.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "bandana/cli/interrupt.h"
#include "bandana/cli/output.h"
#include "bandana/cli/process.h"
#include "bandana/cli/role_store.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/lab/vocabulary.h"
#include "bandana/service/spec_digest.h"
#include "fmt/format.h"

namespace bandana::cli {
std::string AcceptedFor(const std::string& key) { return lab::OptionsNamed(key, "", "").front().accepted; }

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

absl::Status OpenLog(const RoleConfig& config, const std::string& role, const std::string& events,
                     const Global& global, RoleLog& log) {
  const lab::Settings& service = config.spec.service;
  const auto text = [&](const std::string& key, const std::string& missing) {
    return service.Has("service.log." + key) ? service.Text("service.log." + key) : missing;
  };
  RoleLog::Params params{.role = role, .events = events};
  if (const std::string file = text("file", ""); !file.empty()) {
    params.file = (std::filesystem::path(config.spec.file).parent_path() / file).string();
  }
  const std::string level = text("level", "info");
  while (level != kLevelNames[static_cast<int>(params.level)]) {
    params.level = static_cast<RoleLog::Level>((static_cast<int>(params.level) + 1) % 4);
  }
  if (global.quiet && params.file.empty()) params.level = RoleLog::Level::kError;
  const bool is_terminal = params.file.empty() && isatty(STDERR_FILENO) != 0;
  params.format = text("format", is_terminal ? "text" : "json") == "text" ? RoleLog::Format::kText
                                                                          : RoleLog::Format::kJson;
  return config.WithSource(log.Open(std::move(params)));
}

absl::StatusOr<LedgerHeader> LedgerHeaderOf(const RoleConfig& config, const Federation& federation,
                                            const DpGuarantee& budget) {
  const lab::Settings& service = config.spec.service;
  // Reads a pair of keys that must be given together.
  const auto loss = [&](const std::string& what) -> absl::StatusOr<std::optional<Loss>> {
    const std::string epsilon = "service." + what + "_epsilon", delta = "service." + what + "_delta";
    if (service.Has(epsilon) && service.Has(delta)) {
      return Loss{service.Number(epsilon), service.Number(delta)};
    }
    if (!service.Has(epsilon) && !service.Has(delta)) return std::nullopt;
    const std::string& missing = service.Has(epsilon) ? delta : epsilon;
    return config.WithSource(InvalidInput({.message = fmt::format("missing: {} and {} must be given together",
                                                                  what + "_epsilon", what + "_delta"),
                                           .key = missing,
                                           .accepted = AcceptedFor(missing)}));
  };
  LedgerHeader header{.deployment = config.spec.name,
                      .configuration = Sha256(config.Digest()),
                      .claims = federation.claims,
                      .void_reason = VoidReason(config, federation),
                      .limits = {.per_unit = {budget.epsilon, budget.delta}}};
  BANDANA_ASSIGN_OR_RETURN(header.limits.deployment, loss("deployment"));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<Loss> client, loss("client"));
  if (client) header.limits.per_unit = *client;
  return header;
}

std::string VoidReason(const RoleConfig& config, const Federation& federation) {
  const std::string why = federation.void_reason();
  return why.empty() && config.insecure_seed ? kInsecureSeedVoids : why;
}

std::string Delivered(const RoleConfig& config, const Federation& federation,
                      const std::optional<LedgerHead>& head) {
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
  const lab::Settings& service = config.spec.service;
  if (service.Has("service.insecure") && service.Flag("service.insecure")) {
    text += "; INSECURE: nothing was encrypted on the network";
  }
  if (head) text += fmt::format("; ledger head {} {}", head->seq, head->hash);
  return text;
}

int Finish(const absl::StatusOr<lab::Json>& done, const RoleConfig& config, RoleLog& log,
           const Global& global) {
  if (!done.ok() && Interrupted() && IsDurable(config)) {  // the same command goes on with the run
    log.Write(RoleLog::Level::kInfo, "stopped", {{"code", 0}},
              "stopped; the run is in the store, and goes on when the role is started again");
    return 0;
  }
  if (!done.ok() && Interrupted()) {  // which explains any other error
    log.Write(RoleLog::Level::kInfo, "stopped", {{"code", 130}},
              "stopped; the run is lost, because there is no store");
    return global.json ? Fail(done.status(), global) : 130;
  }
  if (!done.ok()) {
    const absl::Status status = config.WithSource(done.status());
    // A role that has not begun fails as every other command does.
    if (log.is_on_stderr() && !log.has_begun()) return Fail(status, global);
    const int code = ExitCode(status);
    const std::string why = Printable(std::string(status.message()));
    log.Write(RoleLog::Level::kError, "failed", {{"code", code}, {"why", why}}, why);
    return global.json || !log.is_on_stderr() ? Fail(status, global) : code;
  }
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
