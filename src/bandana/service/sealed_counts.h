#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/service/sealed_bit.h"

namespace bandana::v1 {
class SealedShare;
}  // namespace bandana::v1

namespace bandana::service {

/// Converts a report's counts to sealed bits (CountSealer) and back (CountOpener), on all cores of the
/// machine.
class CountSealer {
 public:
  static absl::StatusOr<CountSealer> Create(std::string_view public_key);

  /// Sets in `out` the key's fingerprint and, for each coordinate, `bits` sealed bits of which `counts` are
  /// ones, in an order drawn from the operating system's entropy. Fails if a count is not from 0 to `bits`.
  absl::Status Seal(Epoch epoch, std::span<const std::int64_t> counts, Count bits, v1::SealedShare& out);

 private:
  CountSealer(std::vector<BitSealer> sealers, std::string fingerprint)
      : sealers_(std::move(sealers)), fingerprint_(std::move(fingerprint)) {}
  std::vector<BitSealer> sealers_;  // one per thread
  std::string fingerprint_;
};

class CountOpener {
 public:
  /// The private key is the secret.
  explicit CountOpener(std::span<const std::uint8_t, 32> secret);

  const std::string& public_key() const { return openers_.front().public_key(); }

  /// Returns the number of ones among sealed bits of one coordinate. Fails if any bit cannot be opened.
  absl::StatusOr<Count> Ones(Epoch epoch, std::uint32_t coordinate, std::string_view bits);

 private:
  std::vector<BitOpener> openers_;  // one per thread
};

/// Permutes whole sealed bits uniformly, by Fisher and Yates; `coin` must be secret.
void PermuteSealedBits(std::string& bits, CoinGen& coin);

}  // namespace bandana::service
