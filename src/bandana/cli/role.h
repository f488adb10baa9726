#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/cli/commands.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/ledger.h"
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

/// JSON lines as the run goes.
class Events {
 public:
  /// To a file, to stdout ("-"), or nowhere (empty).
  absl::Status Open(const std::string& path);
  void Write(const std::string& event, const lab::Json& fields);
  bool wanted() const { return out_ != nullptr; }

 private:
  std::ofstream file_;
  std::ostream* out_ = nullptr;
};

lab::Json ToJson(const DpGuarantee& guarantee);

/// The ledger of service.ledger; nothing if the configuration names none.
absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const RoleConfig& config, const std::vector<Claim>& claims,
                                                   const DpGuarantee& budget, Ledger::Durability durability);

/// A role's last word, in one line.
std::string Delivered(const RoleConfig& config, const std::vector<Claim>& claims, const Ledger* ledger);

/// Prints what is to be printed at a role's end; its exit code.
int Finish(const absl::StatusOr<lab::Json>& done, const RoleConfig& config, const Global& global);

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
