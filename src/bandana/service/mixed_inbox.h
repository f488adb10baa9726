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

/// What a server's shuffler sends for a roll, put together again: parts of a mix, or sealed bits, which are
/// opened here and counted. The private key of a run is in here and nowhere else.
class MixedInbox {
 public:
  explicit MixedInbox(const Route& route);

  /// Empty if nothing is sealed.
  std::string sealing_key() const;

  /// The roll that goes out now. An error if its bits cannot be sealed.
  absl::Status Expect(std::shared_ptr<const Roll> roll);

  /// The mix, with the message that completes it. An error if nobody asked for this, or if a bit cannot be
  /// opened, is missing or is one too many.
  absl::StatusOr<std::optional<Mixed>> Take(const v1::Message& message);

 private:
  absl::StatusOr<std::optional<Mixed>> TakePart(const v1::Message& message);
  absl::StatusOr<std::optional<Mixed>> TakeBits(const v1::SealedBits& sealed);

  const Route& route_;
  std::optional<CountOpener> opener_;

  std::mutex mutex_;
  std::shared_ptr<const Roll> roll_;  // null: nothing is expected
  Mixed mixed_;
  Count bits_a_coordinate_ = 0;  // of all clients
  std::vector<std::int64_t> ones_;
  std::vector<Count> opened_;
};

}  // namespace bandana::service
