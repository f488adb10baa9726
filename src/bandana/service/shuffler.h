#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/federation/node.h"
#include "bandana/service/deployed.h"
#include "bandana/service/randomness.h"
#include "bandana/service/route.h"

/// The shuffler of a federation over gRPC: one process between the agents and the server. It takes the
/// agents' shares, and sends the server the mix when all shares of a mix request have arrived. It sends
/// nothing before, so that neither the order nor the time in which shares arrive tells the server whose is
/// whose.
namespace bandana::service {

struct ShufflerParams {
  std::string listen;  ///< host:port, where agents join; without keys a loopback address; port 0: any
  std::string server;  ///< host:port of the server, which the shuffler joins
  Count clients = 0;   ///< agents may serve clients 1 .. clients
  std::string spec_digest;
  std::optional<InsecureSeed> insecure_seed;
  absl::Duration connect_timeout;
  std::stop_token stop;  ///< ends the run with kCancelled at once
  std::function<void(const std::string& address)> on_listening;
  Deployed deployed = {};
};

struct ShufflerReport {
  Count shares = 0;  ///< shares that arrived, including repeats
  Count mixes = 0;   ///< mixes sent to the server
  /// From the agents and from the server.
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  double seconds = 0;
};

/// Run until the server says that the run has finished. For numbers, `shuffler` does the work: it is the role
/// that sim::RunSlots drives. Sealed bits cannot be read by a role; the driver pools and permutes them.
///
/// An agent is refused, with the reason, if its version or digest differs or its clients are not free. These
/// errors end the run, and the server and every agent are told why. With a store that outlives the process,
/// kUnavailable and kCancelled end only the process, and the run can go on (service/process.h):
///   - kUnavailable: there is no server within connect_timeout; it was lost, or ended the run for the reason
///     given; an agent is lost, or refused, while its clients' shares are awaited. It is refused if it sends
///     what it must not, such as a share of another agent's client.
///   - kAborted: an agent sends more or fewer bits than the calibration says.
///   - kCancelled: `stop`.
///   - kFailedPrecondition: a client's report may not be mixed with so few reports, or bits are sealed to
///     different keys.
///   - Any other code: the reason why the server refused this shuffler, or the role's own error.
absl::StatusOr<ShufflerReport> RunShuffler(const ShufflerParams& params, Node& shuffler);
absl::StatusOr<ShufflerReport> RunBitShuffler(const ShufflerParams& params, const Route& route);

}  // namespace bandana::service
