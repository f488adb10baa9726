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

/// A role's only door to the world: sending, playing, coins and privacy noise. The simulator and the service
/// are two implementations; a role cannot tell which one it has.
class Context {
 public:
  virtual ~Context() = default;

  virtual const Links& links() const = 0;

  /// At least once, to be delivered later, never during this call.
  virtual void Send(NodeId to, Payload payload) = 0;

  /// Hands a plan's parts out to clients first, first + 1, ...: client first + order()[j] has place j, where
  /// places are the parts' in their order, as many of each as its query says. Without an order client first +
  /// j has place j. A simulator may ask the clients of a part at once, and then needs none.
  using Order = std::function<std::vector<std::uint32_t>()>;
  virtual void DealOut(const std::shared_ptr<const Plan>& plan, NodeId first, const Order& order = nullptr);

  /// These rounds are now played for everyone.
  virtual void Play(std::span<const Pull> pulls) = 0;

  /// The same in an order that only the shuffler knows.
  virtual void PlayMixed(std::span<const Pull> pulls) { Play(pulls); }

  /// Replayable coins: this node's stream for the epoch. The first call of an epoch starts it.
  virtual CoinGen& coin(Epoch epoch) = 0;

 private:
  friend class Release;

  /// Whether a draw may be asked for again, so that its key must tell questions apart.
  virtual bool remembers() const { return true; }

  /// The only way to privacy noise, and only for federation/release.h. Charges first, and if the charge is
  /// refused nothing is drawn (a draw that fails has been paid for); a second call with the same key returns
  /// the first draw and charges nothing. `charge.units` empty: a release that protects nobody and costs
  /// nothing (model none, or the half of a mechanism that adds no noise).
  virtual absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                             absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) = 0;
};

}  // namespace bandana
