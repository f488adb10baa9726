#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/federation/node.h"
#include "bandana/service/randomness.h"
#include "bandana/service/route.h"

/// The shuffler of a federation over gRPC: one process between the agents, whose shares it takes, and the
/// server, which it hands what is left of them once all of a roll are in: nothing before, so that neither
/// order nor timing tells whose is whose.
namespace bandana::service {

struct ShufflerParams {
  std::string listen;  ///< host:port on this machine's loopback, where agents join; port 0: any
  std::string server;  ///< host:port, which the shuffler joins
  Count clients = 0;   ///< agents may speak for 1 .. clients
  std::string spec_digest;
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration connect_timeout;
  std::stop_token stop;                                          ///< ends the run with kCancelled at once
  std::function<void(const std::string& address)> on_listening;  ///< once the server has let it in
};

struct ShufflerReport {
  Count shares = 0;            ///< that came, repeats among them
  Count mixes = 0;             ///< handed to the server
  std::uint64_t bytes_in = 0;  ///< from the agents; what goes to and from the server is in its own report
  std::uint64_t bytes_out = 0;
  double seconds = 0;
};

/// Runs until the server says that the run has finished. With numbers, `shuffler` does the work: it is the
/// role that sim::Simulator drives. Sealed bits, which no role can read, are pooled and permuted by the
/// driver.
///
/// An agent is refused, with the reason, if its version or digest differs or its clients are not free. In
/// these cases the run ends, and the server and every agent are told why:
/// - kUnavailable: no server within connect_timeout; it was lost, or ended the run for the reason given; an
///   agent is lost while its clients' shares are awaited.
/// - kAborted: an agent sends what it must not, such as a share of somebody else's client, or more bits than
/// the
///   calibration says.
/// - kCancelled: `stop`.
/// - kFailedPrecondition: a client's report may not be mixed with so few, or bits are sealed to different
/// keys.
/// - Any other code: the server's reason to refuse this shuffler, or the role's own error.
absl::StatusOr<ShufflerReport> RunShuffler(const ShufflerParams& params, Node& shuffler);
absl::StatusOr<ShufflerReport> RunBitShuffler(const ShufflerParams& params, const Route& route);

}  // namespace bandana::service
