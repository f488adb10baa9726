#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "bandana/core/check.h"

/// OpenSSL's objects, which free themselves. For sources that speak X.509, not for headers.
namespace bandana::service::openssl {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, Deleter<BN_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;

inline std::shared_ptr<X509> Share(X509* certificate) { return {certificate, Deleter<X509_free>()}; }
inline std::shared_ptr<EVP_PKEY> Share(EVP_PKEY* key) { return {key, Deleter<EVP_PKEY_free>()}; }

inline Bio ReadFrom(const std::string& text) {
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  BANDANA_CHECK(bio != nullptr);
  return bio;
}

inline std::string WrittenTo(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

/// Empties this thread's list of OpenSSL's errors when it goes. gRPC reads the same list, and would take an
/// old entry for an error of a connection.
struct NoErrorsLeft {
  ~NoErrorsLeft() { ERR_clear_error(); }
};

}  // namespace bandana::service::openssl
