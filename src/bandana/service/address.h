#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace bandana::service {

struct Address {
  std::string host;  ///< an IPv6 address has no brackets here
  int port = 0;

  std::string ToString() const;
};

/// Parses "host:port". The host is the name of a machine, an IPv4 address, or an IPv6 address in brackets.
/// `field` names the parameter in the error.
absl::StatusOr<Address> ParseAddress(const std::string& field, const std::string& text);

/// Parses the address of a connection without TLS. The host must not leave this machine: 127.0.0.0/8,
/// localhost or [::1]. Nothing on the wire is encrypted, and under the central model a share is nearly raw
/// data. `field` names the parameter in the error.
absl::StatusOr<Address> ParseLoopback(const std::string& field, const std::string& text);

}  // namespace bandana::service
