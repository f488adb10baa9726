#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct evp_pkey_st;

namespace bandana::store {

/// The public half of an Ed25519 key: whoever has it can tell what the owner has signed.
class PublicKey {
 public:
  /// Reads a file in PEM. Fails with kNotFound, or kInvalidArgument if the file is no such key.
  static absl::StatusOr<PublicKey> Open(const std::string& path);

  bool HasSigned(std::string_view bytes, std::string_view signature) const;

  /// Returns the key as 64 hexadecimal digits.
  std::string name() const;
  std::string pem() const;

 private:
  friend class IdentityKey;
  explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

/// An Ed25519 key with which a process signs.
class IdentityKey {
 public:
  /// Makes a new key and writes it to a file that does not exist yet, in PEM, with mode 0600.
  static absl::StatusOr<IdentityKey> Create(const std::string& path);

  /// Fails with kNotFound; with kFailedPrecondition if anybody but the owner may read the file; with
  /// kInvalidArgument if it is no such key.
  static absl::StatusOr<IdentityKey> Open(const std::string& path);

  /// Returns a signature of 64 bytes.
  std::string Sign(std::string_view bytes) const;
  PublicKey public_key() const { return PublicKey(key_); }

 private:
  explicit IdentityKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace bandana::store
