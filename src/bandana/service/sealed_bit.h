#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"

/// One bit, encrypted to the server by itself. A shuffler can so permute bits that it cannot read, and the
/// server cannot tell which bits came together. The scheme is X25519 with a fresh ephemeral key per bit (RFC
/// 7748), HKDF-SHA256 (RFC 5869) over the shared secret with both public keys as its context, and
/// ChaCha20-Poly1305 (RFC 8439). A key is used once, so its nonce is zero. Epoch and coordinate are
/// authenticated with the bit.
///
/// The sealer is not authenticated: anyone who knows the public key can seal a bit. The shuffler must check
/// that a client sends the right number of bits.
namespace bandana::service {

inline constexpr std::size_t kSealingKeyBytes = 32;
inline constexpr std::size_t kSealedBitBytes = kSealingKeyBytes + 1 + 16;  ///< ephemeral key, bit, tag

/// Identifies a key to those who must not know it: its SHA-256 digest, from which the key cannot be computed,
/// as far as SHA-256 is one-way.
inline constexpr std::size_t kKeyFingerprintBytes = 32;
std::string KeyFingerprint(std::string_view public_key);

/// BitSealer and BitOpener have their own OpenSSL contexts, which are made once. Use one object per thread.
class BitSealer {
 public:
  /// Fails if the key is invalid.
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
  /// Makes a key pair of which the private half is the secret.
  static BitOpener FromSecret(std::span<const std::uint8_t, 32> secret);

  /// Returns an opener with the same key, for another thread.
  BitOpener Clone() const;
  BitOpener(BitOpener&&) noexcept;
  ~BitOpener();

  const std::string& public_key() const;

  /// Fails with kInvalidArgument if the bit was altered, or sealed to another key, epoch or coordinate.
  absl::StatusOr<bool> Open(Epoch epoch, std::uint32_t coordinate, std::string_view sealed);

 private:
  struct Engine;
  explicit BitOpener(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace bandana::service
