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
#include "proto/federation.pb.h"

namespace bandana::service {

/// Assembles at the server what the shuffler sends for a mix request: parts of a mix, or sealed bits, which
/// it opens and counts. The private key of a run is kept here and nowhere else.
class MixedInbox {
 public:
  explicit MixedInbox(const Route& route);

  /// Returns the public key; empty if nothing is sealed.
  std::string sealing_key() const;

  /// Sets the mix request that is sent now. Fails if its bits cannot be sealed.
  absl::Status Expect(std::shared_ptr<const MixRequest> mix_request);

  /// Returns the mix if this message completes it, else nothing. Fails if nobody asked for the message, if a
  /// bit cannot be opened, or if there are too few or too many bits.
  absl::StatusOr<std::optional<Mixed>> Take(const v1::Message& message);

 private:
  absl::StatusOr<std::optional<Mixed>> TakePart(const v1::Message& message);
  absl::StatusOr<std::optional<Mixed>> TakeBits(const v1::SealedBits& sealed);

  const Route& route_;
  std::optional<CountOpener> opener_;

  std::mutex mutex_;
  std::shared_ptr<const MixRequest> mix_request_;  // null if nothing is expected
  Mixed mixed_;
  Count bits_a_coordinate_ = 0;  // over all clients
  std::vector<std::int64_t> ones_;
  std::vector<Count> opened_;
};

}  // namespace bandana::service
