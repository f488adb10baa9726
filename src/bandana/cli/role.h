#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "bandana/cli/commands.h"
#include "bandana/lab/spec.h"
#include "bandana/service/randomness.h"

namespace bandana::cli {

/// A role's CONFIG.toml: an experiment of one point, and a [service] table.
struct RoleConfig {
  lab::Spec spec;
  lab::Settings settings;  ///< of the one point, with the exact sampler
  std::optional<service::InsecureSeed> insecure_seed;

  /// What server and agents must agree on: the spec, and whether the noise is known. A claim that stands at
  /// the server must not rest on an agent whose noise does not.
  std::string Digest() const;

  /// A key of [service], or the error that it is missing.
  absl::StatusOr<std::string> Service(const std::string& key) const;
};

absl::StatusOr<RoleConfig> LoadRole(const RoleArguments& arguments);

/// Why a run with a seed promises nothing.
inline constexpr char kInsecureSeedVoids[] =
    "the noise was drawn from a known seed (--insecure-seed): who knows the seed can take it off";

/// A stop_token that Ctrl-C and SIGTERM set off.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread watcher_;
};

}  // namespace bandana::cli
