#include "bandana/service/signer.h"

#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/service/openssl.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr std::string_view kAuthorityUri = "bandana://";

// Calls from here on cannot fail unless OpenSSL is broken. They are checked, and a failure ends the program.

// 127 random bits: no two certificates have the same serial, and none tells how many there are.
void DrawSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  BANDANA_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // positive, and all of the same length
  const openssl::NumberPtr number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  BANDANA_CHECK(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr);
}

void SetTimes(X509* certificate, const Validity& validity) {
  BANDANA_CHECK(ASN1_TIME_set(X509_getm_notBefore(certificate), absl::ToTimeT(validity.not_before)) !=
                nullptr);
  BANDANA_CHECK(ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(validity.not_after)) != nullptr);
}

void SetName(X509* certificate, const std::string& name) {
  BANDANA_CHECK(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                           reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                                           0) == 1);
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const openssl::ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  BANDANA_CHECK(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

struct Blank {
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
};

// A certificate with a new key, which nobody has signed yet.
Blank MakeBlank(const std::string& name, const std::string& other_names, const Validity& validity) {
  Blank blank{openssl::Share(X509_new()), openssl::Share(EVP_EC_gen("P-256"))};
  X509* certificate = blank.certificate.get();
  BANDANA_CHECK(certificate != nullptr && blank.key != nullptr);
  BANDANA_CHECK(X509_set_version(certificate, X509_VERSION_3) == 1);
  DrawSerial(certificate);
  SetTimes(certificate, validity);
  SetName(certificate, name);
  BANDANA_CHECK(X509_set_pubkey(certificate, blank.key.get()) == 1);
  AddExtension(certificate, nullptr, NID_subject_key_identifier, "hash");
  AddExtension(certificate, nullptr, NID_subject_alt_name, other_names);
  return blank;
}

KeyPair Sign(Blank blank, X509* issuer, EVP_PKEY* issuers_key) {
  X509* certificate = blank.certificate.get();
  BANDANA_CHECK(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1);
  AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
  BANDANA_CHECK(X509_sign(certificate, issuers_key, EVP_sha256()) > 0);
  // Only a certificate that was written and read is known to OpenSSL in all its parts.
  const std::vector<Certificate> read = Certificate::FromPem(Certificate(blank.certificate).pem()).value();
  return {.certificate = read.front(), .key = std::move(blank.key)};
}

}  // namespace

std::string KeyPair::key_pem() const {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  BANDANA_CHECK(PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return openssl::WrittenTo(bio);
}

KeyPair MakeAuthority(const std::string& deployment, const Validity& validity) {
  const openssl::NoErrorsLeft at_end;
  Blank blank =
      MakeBlank("Bandana CA of " + deployment, fmt::format("URI:{}{}", kAuthorityUri, deployment), validity);
  X509* certificate = blank.certificate.get();
  EVP_PKEY* key = blank.key.get();
  AddExtension(certificate, nullptr, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  AddExtension(certificate, nullptr, NID_key_usage, "critical,keyCertSign,cRLSign");
  return Sign(std::move(blank), certificate, key);
}

KeyPair MakePair(const KeyPair& authority, const PartyId& id, const Validity& validity) {
  const openssl::NoErrorsLeft at_end;
  Blank blank = MakeBlank(id.party, fmt::format("URI:{},DNS:{}", ToUri(id), kTlsName), validity);
  X509* certificate = blank.certificate.get();
  AddExtension(certificate, nullptr, NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(certificate, nullptr, NID_key_usage, "critical,digitalSignature");
  AddExtension(certificate, nullptr, NID_ext_key_usage, "serverAuth,clientAuth");
  return Sign(std::move(blank), authority.certificate.get(), authority.key.get());
}

std::optional<std::string> DeploymentOfAuthority(const Certificate& authority) {
  for (const std::string& uri : authority.uris()) {
    if (!uri.starts_with(kAuthorityUri)) continue;
    std::string deployment = uri.substr(kAuthorityUri.size());
    if (IsDeployment(deployment)) return deployment;
  }
  return std::nullopt;
}

}  // namespace bandana::service
