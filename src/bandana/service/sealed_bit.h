#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

/// One bit, encrypted to the server by itself, so that a shuffler can permute bits that it cannot read and
/// the server cannot tell which bits came together: X25519 with a fresh ephemeral key a bit (RFC 7748),
/// HKDF-SHA256 (RFC 5869) over the shared secret with both public keys as its context, and ChaCha20-Poly1305
/// (RFC 8439). The key serves once, so its nonce is zero. Epoch and coordinate are authenticated with the
/// bit.
///
/// Whoever seals is not authenticated: anyone who knows the public key can seal a bit. That a client sends as
/// many as it should, and no more, is the shuffler's to check.
namespace bandana::service {

inline constexpr std::size_t kSealingKeyBytes = 32;
inline constexpr std::size_t kSealedBitBytes = kSealingKeyBytes + 1 + 16;  ///< ephemeral key, bit, tag

/// Which key it is, for those who must not know the key: SHA-256, from which nobody can guess it.
inline constexpr std::size_t kKeyFingerprintBytes = 32;
std::string KeyFingerprint(std::string_view public_key);

/// Both have OpenSSL contexts of their own, which are made once: one object a thread.
class BitSealer {
 public:
  /// An error if the key is none.
  static absl::StatusOr<BitSealer> Create(std::string_view public_key);
  BitSealer(BitSealer&&) noexcept;
  ~BitSealer();

  void Seal(Epoch epoch, std::uint32_t coordinate, bool bit, std::span<char, kSealedBitBytes> out);

 private:
  struct Engine;
  explicit BitSealer(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

class BitOpener {
 public:
  /// A new key pair, from the operating system's entropy. The private half stays in the process.
  static BitOpener Generate();

  /// The same key, for another thread.
  BitOpener Clone() const;
  BitOpener(BitOpener&&) noexcept;
  ~BitOpener();

  const std::string& public_key() const;

  /// kInvalidArgument if the bit was altered, or sealed to another key, epoch or coordinate.
  absl::StatusOr<bool> Open(Epoch epoch, std::uint32_t coordinate, std::string_view sealed);

 private:
  struct Engine;
  explicit BitOpener(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace bandana::service
