#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/certificate.h"
#include "bandana/service/party.h"

struct evp_pkey_st;

namespace bandana::service {

/// A certificate with the private key that belongs to it.
struct KeyPair {
  Certificate certificate;
  std::shared_ptr<evp_pkey_st> key;

  std::string key_pem() const;
};

struct Validity {
  absl::Time not_before;
  absl::Time not_after;
};

/// Makes a CA that signs itself, with a key on the curve P-256. Its URI is "bandana://DEPLOYMENT".
KeyPair MakeAuthority(const std::string& deployment, const Validity& validity);

/// Makes a certificate with a new key on P-256, with which a party can be both client and server of a
/// connection.
KeyPair MakePair(const KeyPair& authority, const PartyId& id, const Validity& validity);

/// Returns the deployment that a CA of MakeAuthority serves, and nothing for any other CA.
std::optional<std::string> DeploymentOfAuthority(const Certificate& authority);

}  // namespace bandana::service
