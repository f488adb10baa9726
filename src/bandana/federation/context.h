#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/topology.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The only way by which a role reaches the outside: messages, plays, coins and privacy noise. The simulator
/// and the service each implement it, and a role cannot tell which of the two it has.
class Context {
 public:
  virtual ~Context() = default;

  virtual const Links& links() const = 0;

  /// Sends a message. It is delivered at least once, and never during this call.
  virtual void Send(NodeId to, Payload payload) = 0;

  /// Assigns the parts of a plan to clients first, first + 1, .... The places 0, 1, ... list the parts in
  /// order: the first query.dealt[0] places belong to part 0, the next query.dealt[1] to part 1, and so on.
  /// Client first + order()[j] gets place j; without an order, client first + j gets place j. A simulator may
  /// ask all clients of a part at once, and then it does not call `order`.
  using Order = std::function<std::vector<std::uint32_t>()>;
  virtual void DealOut(const std::shared_ptr<const Plan>& plan, NodeId first, const Order& order = nullptr);

  /// Records that these rounds are now played for every client.
  virtual void Play(std::span<const Pull> pulls) = 0;

  /// Like Play, but in an order that only the shuffler knows.
  virtual void PlayMixed(std::span<const Pull> pulls) { Play(pulls); }

  /// Returns this node's replayable coins for the epoch. The first call for an epoch starts a new stream.
  virtual CoinGen& coin(Epoch epoch) = 0;

 private:
  friend class Release;

  /// Returns whether a draw may be requested again. If so, its key must name the question.
  virtual bool remembers() const { return true; }

  /// Draws privacy noise. This is the only way to it, and only federation/release.h may call it. It charges
  /// first and draws nothing if the charge is refused. A draw that fails has still been charged. A second
  /// call with the same key returns the first draw and charges nothing. If `charge.units` is empty, the
  /// release protects nobody and costs nothing (model none, or the half of a mechanism that adds no noise).
  virtual absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                             absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) = 0;
};

}  // namespace bandana
