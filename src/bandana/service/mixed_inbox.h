#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/federation/messages.h"
#include "bandana/service/route.h"
#include "bandana/service/sealed_counts.h"
#include "bandana/store/seal.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// Assembles at the server what the shuffler sends for a mix request: parts of a mix, or sealed bits, which
/// it opens and counts. The private key of a run is kept here and nowhere else.
class MixedInbox {
 public:
  /// A message of the shuffler that was read: a part of a mix, or the opened bits of a coordinate.
  struct Piece {
    Epoch epoch = 0;
    Mixed part;
    bool more = false;
    std::uint32_t coordinate = 0;
    Count bits = 0;
    Count ones = 0;
  };

  /// `route` must outlive the inbox.
  explicit MixedInbox(const Route& route) : route_(route) {}

  /// Derives the key of a run from its secret.
  void Begin(const store::Key& secret);

  /// Returns the public key; empty if nothing is sealed.
  std::string sealing_key() const;

  /// Reads a message, and opens its bits on all cores. Fails if a bit cannot be opened, or if no honest
  /// shuffler can have sent the message. May be called by any thread.
  absl::StatusOr<Piece> Read(const v1::Message& message) const;

  /// Sets the mix request that is sent now. Fails if its bits cannot be sealed.
  absl::Status Expect(std::shared_ptr<const MixRequest> mix_request);

  /// Returns the mix if this piece completes it, else nothing. Fails if nobody asked for the piece, or if
  /// there are too few or too many bits.
  absl::StatusOr<std::optional<Mixed>> Take(Piece piece);

  template <class Archive>
  void State(Archive& a) {
    a(mix_request_, mixed_.epoch, mixed_.reports, bits_a_coordinate_, ones_, opened_);
  }

 private:
  absl::StatusOr<std::optional<Mixed>> TakePart(Piece piece);
  absl::StatusOr<std::optional<Mixed>> TakeBits(const Piece& piece);

  const Route& route_;
  mutable std::mutex opening_;
  mutable std::optional<CountOpener> opener_;  // used under opening_

  std::shared_ptr<const MixRequest> mix_request_;  // null if nothing is expected
  Mixed mixed_;
  Count bits_a_coordinate_ = 0;  // over all clients
  std::vector<std::int64_t> ones_;
  std::vector<Count> opened_;
};

}  // namespace bandana::service
