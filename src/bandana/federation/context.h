#pragma once

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

  /// These rounds are now played for everyone.
  virtual void Play(std::span<const Pull> pulls) = 0;

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
