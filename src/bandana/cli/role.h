#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/cli/commands.h"
#include "bandana/cli/role_log.h"
#include "bandana/federation/federation.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/service/randomness.h"

namespace bandana::cli {

/// The configuration file of a role: an experiment with one point, and a [service] table.
struct RoleConfig {
  lab::Spec spec;
  lab::Settings settings;  ///< the settings of the one point, with the exact sampler
  std::optional<service::InsecureSeed> insecure_seed;

  /// Returns the digest on which server and agents must agree. It covers every setting except the name, and
  /// whether --insecure-seed is set, because a server's claim must not rest on an agent whose noise comes
  /// from a known seed.
  std::string Digest() const;

  /// Adds to an error where the value that it names was written.
  absl::Status WithSource(const absl::Status& status) const;

  /// Returns the value of a key of [service]. Fails if it is missing.
  absl::StatusOr<std::string> Service(const std::string& key) const;
};

absl::StatusOr<RoleConfig> LoadRole(const RoleArguments& arguments);

/// The reason why the claim of a run with a known seed is void.
inline constexpr char kInsecureSeedVoids[] =
    "the noise was drawn from a known seed (--insecure-seed): whoever knows the seed can subtract it";

/// Returns what is accepted for a key.
std::string AcceptedFor(const std::string& key);

/// Returns the first line of a role's ledger. `budget` is what one unit spends in one run.
absl::StatusOr<LedgerHeader> LedgerHeaderOf(const RoleConfig& config, const Federation& federation,
                                            const DpGuarantee& budget);

/// Returns why the claims of a run do not hold: because of the federation's own choices, or because its noise
/// came from a known seed. Empty: they hold.
std::string VoidReason(const RoleConfig& config, const Federation& federation);

/// Returns the line that a role prints at its end: the claims that the run has delivered, why they are void,
/// whether the network was encrypted, and the ledger's head.
std::string Delivered(const RoleConfig& config, const Federation& federation,
                      const std::optional<LedgerHead>& head);

/// Opens the log that [service] and --events ask for.
absl::Status OpenLog(const RoleConfig& config, const std::string& role, const std::string& events,
                     const Global& global, RoleLog& log);

/// Prints the result of a role as JSON, if that is wanted, and writes to the log how it has ended. Returns
/// the exit code.
int Finish(const absl::StatusOr<lab::Json>& done, const RoleConfig& config, RoleLog& log,
           const Global& global);

/// Has a stop_token that Ctrl-C or SIGTERM triggers.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread watcher_;
};

}  // namespace bandana::cli
