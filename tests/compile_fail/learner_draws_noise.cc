// error: is private within this context
#include "bandana/federation/user_learner.h"

// A learner that draws by itself.
absl::StatusOr<bandana::Count> Report(bandana::UserContext& user, bandana::LocalMessage& message) {
  std::uint64_t known = 0;
  const absl::Status drawn =
      user.ReleaseOnce({0, 0}, 1, message, [&](bandana::NoiseGen& noise) { known = noise(); });
  return static_cast<bandana::Count>(known);
}
