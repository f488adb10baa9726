#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana::store {

using Key = std::array<std::uint8_t, 32>;

/// Derives a key for one purpose from a secret, by HKDF-SHA256. Nobody can compute the secret, or a key of
/// another purpose, from it.
Key DeriveKey(const Key& secret, std::string_view purpose);

/// Returns a new key from the operating system's entropy.
Key RandomKey();

/// Makes new keys. Everything but tests and audits takes them from RandomKey.
using Entropy = std::function<Key()>;

/// A chain of keys, of which only the present one can be known: Advance replaces the file by its hash. What
/// was sealed under an earlier key can then be opened by nobody, wherever a copy of it lies. The file is kept
/// outside of the store and of its back-ups.
class Ratchet {
 public:
  /// Opens the file, or creates it with the operating system's entropy and mode 0600. Fails with
  /// kFailedPrecondition if anybody but the owner may read it, kDataLoss if it is not a ratchet, and
  /// kUnavailable if the disk fails.
  static absl::StatusOr<Ratchet> Open(const std::string& path);
  /// A ratchet that is kept in memory, for tests.
  static Ratchet InMemory();

  std::uint64_t generation() const { return generation_; }

  /// Returns a key of the present generation for one purpose, by HKDF-SHA256.
  Key KeyFor(std::string_view purpose) const;

  /// Returns the ratchet of the next generation, without a change on the disk: what is sealed with it is
  /// stored first, and then Advance moves the file.
  Ratchet Next() const;

  /// Moves on to the next generation, durably. The old key is gone when this returns OK: its blocks are
  /// overwritten, too. A disk that writes elsewhere (an SSD, a file system that copies on write) may keep
  /// them for a while. Fails with kAborted if the file is not the one that was opened.
  absl::Status Advance();

  /// Makes the ratchet fit a snapshot of this generation. After a crash it may be one behind: then it
  /// advances. Fails with kFailedPrecondition if it is ahead, which means that the store is an old copy, or
  /// behind by more, which means that the file is an old copy.
  absl::Status AdvanceTo(std::uint64_t generation);

 private:
  std::string path_;  // empty: in memory
  std::uint64_t generation_ = 0;
  Key secret_{};
};

/// Seals bodies with ChaCha20-Poly1305 under a key of a ratchet's generation. One thread at a time may seal;
/// many may open.
class Sealer {
 public:
  explicit Sealer(const Ratchet& ratchet);
  Sealer(Sealer&& other) noexcept;
  Sealer& operator=(Sealer&& other) noexcept;  // no copies: two with the same nonces would give bodies away
  ~Sealer();

  /// How many bytes a sealed body is longer than the body.
  static constexpr std::size_t kOverhead = 28;

  /// `place` says where the body is stored, such as "input 17"; a body that was moved elsewhere does not
  /// open.
  std::string Seal(std::string_view place, std::string_view body);

  /// Fails with kDataLoss if the body was not sealed under this key for this place.
  absl::StatusOr<std::string> Open(std::string_view place, std::string_view sealed) const;

 private:
  void NewPrefix();

  Key key_;
  std::array<std::uint8_t, 8> prefix_{};  // random: the first bytes of the nonces
  std::uint32_t counter_ = 0;             // the last bytes
};

}  // namespace bandana::store
