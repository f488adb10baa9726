#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bandana::store {

using Key = std::array<std::uint8_t, 32>;

/// A chain of keys, of which only the present one can be known: Advance replaces the file by its hash. What
/// was sealed under an earlier key can then be opened by nobody, wherever a copy of it lies. The file is kept
/// outside of the store and of its back-ups.
class Ratchet {
 public:
  /// Opens the file, or creates it with the operating system's entropy and mode 0600.
  static absl::StatusOr<Ratchet> Open(const std::string& path);
  /// A ratchet that is kept in memory, for tests.
  static Ratchet InMemory();

  std::uint64_t generation() const { return generation_; }

  /// Returns a key of the present generation for one purpose, by HKDF-SHA256.
  Key KeyFor(std::string_view purpose) const;

  /// Returns the ratchet of the next generation, without a change on the disk: what is sealed with it is
  /// stored first, and then Advance moves the file.
  Ratchet Next() const;

  /// Moves on to the next generation, durably. The old key is gone when this returns OK.
  absl::Status Advance();

 private:
  std::string path_;  // empty: in memory
  std::uint64_t generation_ = 0;
  Key secret_{};
};

/// Seals bodies with ChaCha20-Poly1305 under a key of a ratchet's generation.
class Sealer {
 public:
  explicit Sealer(const Ratchet& ratchet);

  /// `place` says where the body is stored, such as "input 17"; a body that was moved elsewhere does not
  /// open.
  std::string Seal(std::string_view place, std::string_view body);

  /// Fails with kDataLoss if the body was not sealed under this key for this place.
  absl::StatusOr<std::string> Open(std::string_view place, std::string_view sealed) const;

 private:
  Key key_;
};

}  // namespace bandana::store
