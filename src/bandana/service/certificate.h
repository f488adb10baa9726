#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/party.h"

struct evp_pkey_st;
struct x509_st;
struct x509_store_st;

namespace bandana::service {

/// An X.509 certificate, and the parts of it that a deployment looks at.
class Certificate {
 public:
  /// Takes a share in the ownership of a certificate that is not null.
  explicit Certificate(std::shared_ptr<x509_st> certificate);

  /// Reads the certificates of a text in PEM, in their order. Anything else in the text is skipped. Fails
  /// with kInvalidArgument if there is none, or if one of them cannot be read. `file` is for the error.
  static absl::StatusOr<std::vector<Certificate>> FromPem(std::string_view pem, const std::string& file = "");

  /// Returns the party that it names. It names none unless exactly one of its URIs is that of a party.
  const std::optional<PartyId>& id() const { return id_; }

  /// Returns its number, which a CA gives only once, in hexadecimal digits and in lower case.
  const std::string& serial() const { return serial_; }
  absl::Time not_before() const { return not_before_; }
  absl::Time not_after() const { return not_after_; }

  /// Returns all URIs that it names.
  const std::vector<std::string>& uris() const { return uris_; }

  bool Matches(evp_pkey_st& private_key) const;
  std::string pem() const;

  /// Returns how an error calls it: "the certificate of agent/3".
  std::string Description() const;
  x509_st* get() const { return certificate_.get(); }

 private:
  std::shared_ptr<x509_st> certificate_;
  std::vector<std::string> uris_;
  std::optional<PartyId> id_;
  std::string serial_;
  absl::Time not_before_;
  absl::Time not_after_;
};

/// The certificates of the CAs that a party trusts.
class Authorities {
 public:
  /// How the owner of a certificate uses it.
  enum class Use { kAny, kClient, kServer };

  /// Reads a file in PEM, which may hold several CAs.
  static absl::StatusOr<Authorities> Open(const std::string& path);

  /// Returns OK if one of the CAs has signed the certificate, and if it is valid now and for this use. `more`
  /// are certificates between it and a CA; there are usually none. Else fails with kUnauthenticated and a
  /// sentence for people.
  absl::Status Check(const Certificate& certificate, const std::vector<Certificate>& more, Use use) const;

  const std::vector<Certificate>& certificates() const { return certificates_; }

 private:
  Authorities(std::string path, std::vector<Certificate> certificates);

  std::string path_;
  std::vector<Certificate> certificates_;
  std::shared_ptr<x509_store_st> store_;
};

/// Reads a private key in PEM. Fails with kNotFound; with kFailedPrecondition if anybody but the owner may
/// read or write the file; with kInvalidArgument if it is no key.
absl::StatusOr<std::shared_ptr<evp_pkey_st>> ReadPrivateKey(const std::string& path);

/// Reads a whole file. Fails with kNotFound or kUnavailable.
absl::StatusOr<std::string> ReadWhole(const std::string& path);

/// Returns a time as errors and reports write it: "2026-11-19 18:00 UTC".
std::string TimeText(absl::Time time);

/// Returns a serial as Certificate::serial() writes it: in lower case, without zeros before it. Accepts the
/// output of other programs, too, which may have capitals and colons. Returns nothing for other texts.
std::optional<std::string> ParseSerial(std::string_view text);

}  // namespace bandana::service
