#include "bandana/cli/role.h"

#include <chrono>

#include "bandana/cli/interrupt.h"
#include "bandana/cli/process.h"
#include "bandana/core/status.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"

namespace bandana::cli {

absl::StatusOr<std::string> RoleConfig::Service(const std::string& key) const {
  const std::string full = "service." + key;
  if (spec.service.Has(full)) return spec.service.Text(full);
  return InvalidInput(
      {.message = "missing", .file = spec.file, .key = full, .accepted = lab::FindOption(full)->accepted});
}

std::string RoleConfig::Digest() const { return spec.sha256 + (insecure_seed ? ":insecure-seed" : ""); }

absl::StatusOr<RoleConfig> LoadRole(const RoleArguments& arguments) {
  BANDANA_ASSIGN_OR_RETURN(lab::Spec spec, lab::LoadSpec(arguments.config, arguments.set));
  if (spec.points.size() != 1) {
    return InvalidInput({.message = fmt::format("{} points: a deployment runs one", spec.points.size()),
                         .file = spec.file,
                         .key = "sweep",
                         .accepted = "a spec without sweep and variants"});
  }
  RoleConfig config{.settings = spec.points.front().settings};
  if (config.settings.Has("privacy.sampler")) {
    if (spec.given.contains("privacy.sampler") && config.settings.Text("privacy.sampler") != "exact") {
      return InvalidInput({.message = "floating-point noise must not leave a machine",
                           .file = spec.file,
                           .key = "privacy.sampler",
                           .value = config.settings.Text("privacy.sampler"),
                           .accepted = "exact"});
    }
    config.settings.Set("privacy.sampler", lab::Value(std::string("exact")));
  }
  if (arguments.insecure_seed) {
    config.insecure_seed = {static_cast<std::uint64_t>(config.settings.Integer("seed")), 0};
  }
  config.spec = std::move(spec);
  return config;
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
