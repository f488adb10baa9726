#include "bandana/service/only_tls13.h"

#include <openssl/ssl.h>

#include <memory>

namespace bandana::service {
namespace {

// OpenSSL calls this for each new SSL_CTX, before anybody has it. gRPC sets the lowest version afterwards; it
// does not touch options.
void ForbidOlderVersions(void* context, void*, CRYPTO_EX_DATA*, int, long, void*) {
  SSL_CTX_set_options(static_cast<SSL_CTX*>(context),
                      SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2);
}

}  // namespace

absl::Status RequireTls13() {
  static const bool registered =
      SSL_CTX_get_ex_new_index(0, nullptr, ForbidOlderVersions, nullptr, nullptr) >= 0;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> probe(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  const bool works =
      registered && probe != nullptr && (SSL_CTX_get_options(probe.get()) & SSL_OP_NO_TLSv1_2) != 0;
  if (works) return absl::OkStatus();
  return absl::InternalError("this version of OpenSSL cannot be kept from speaking TLS 1.2");
}

}  // namespace bandana::service
