#include "bandana/service/certificate.h"

#include <openssl/pem.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/service/openssl.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

absl::Time ToTime(const ASN1_TIME* time) {
  std::tm fields{};
  if (ASN1_TIME_to_tm(time, &fields) != 1) return absl::InfinitePast();
  return absl::FromTM(fields, absl::UTCTimeZone());
}

std::vector<std::string> UrisOf(const X509* certificate) {
  std::vector<std::string> uris;
  const openssl::NamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                      static_cast<std::size_t>(ASN1_STRING_length(uri)));
  }
  return uris;
}

std::optional<PartyId> OnlyPartyOf(const std::vector<std::string>& uris) {
  std::optional<PartyId> only;
  for (const std::string& uri : uris) {
    std::optional<PartyId> id = PartyFromUri(uri);
    if (id && only) return std::nullopt;
    if (id) only = std::move(id);
  }
  return only;
}

std::string SerialOf(const X509* certificate) {
  const openssl::NumberPtr number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  char* digits = number == nullptr ? nullptr : BN_bn2hex(number.get());
  const std::string text = digits == nullptr ? "" : digits;
  OPENSSL_free(digits);
  return ParseSerial(text).value_or("0");
}

absl::Status Unauthenticated(const std::string& message) { return absl::UnauthenticatedError(message); }

// Returns a sentence for each way in which a stranger's certificate is usually wrong. `depth` is 0 if the
// certificate itself is wrong, and more if that of a CA is.
absl::Status WhyUntrusted(const Certificate& certificate, int error, int depth,
                          const std::string& authorities) {
  if (depth > 0) {
    return Unauthenticated(fmt::format("the CA in {} that has signed {} is not valid: {}", authorities,
                                       certificate.Description(), X509_verify_cert_error_string(error)));
  }
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return Unauthenticated(
          fmt::format("{} has expired: it was valid until {}. Make a new one with: bandana keys rotate",
                      certificate.Description(), TimeText(certificate.not_after())));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Unauthenticated(
          fmt::format("{} is not valid yet: it begins at {}. Compare the clocks of both ends",
                      certificate.Description(), TimeText(certificate.not_before())));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return Unauthenticated(
          fmt::format("{} was not signed by a CA in {}: it belongs to another deployment, or it is forged",
                      certificate.id() ? "a certificate in the name of " + certificate.id()->party
                                       : certificate.Description(),
                      authorities));
    default:
      return Unauthenticated(fmt::format("{} was refused by OpenSSL: {}", certificate.Description(),
                                         X509_verify_cert_error_string(error)));
  }
}

}  // namespace

Certificate::Certificate(std::shared_ptr<x509_st> certificate)
    : certificate_(std::move(certificate)),
      uris_(UrisOf(certificate_.get())),
      id_(OnlyPartyOf(uris_)),
      serial_(SerialOf(certificate_.get())),
      not_before_(ToTime(X509_get0_notBefore(certificate_.get()))),
      not_after_(ToTime(X509_get0_notAfter(certificate_.get()))) {}

absl::StatusOr<std::vector<Certificate>> Certificate::FromPem(std::string_view pem, const std::string& file) {
  const openssl::NoErrorsLeft at_end;
  const std::string text(pem);
  const openssl::Bio bio = openssl::ReadFrom(text);
  std::vector<Certificate> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(openssl::Share(certificate));
  }
  const bool at_end_of_text = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!certificates.empty() && at_end_of_text) return certificates;
  return InvalidInput({.message = certificates.empty() ? "there is no certificate in it"
                                                       : "one of its certificates is damaged",
                       .file = file,
                       .accepted = "certificates in PEM"});
}

bool Certificate::Matches(evp_pkey_st& private_key) const {
  const openssl::NoErrorsLeft at_end;
  return X509_check_private_key(certificate_.get(), &private_key) == 1;
}

std::string Certificate::pem() const {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  BANDANA_CHECK(PEM_write_bio_X509(bio.get(), certificate_.get()) == 1);
  return openssl::WrittenTo(bio);
}

std::string Certificate::Description() const {
  return id_ ? "the certificate of " + id_->party : "a certificate that names no party of a deployment";
}

Authorities::Authorities(std::string path, std::vector<Certificate> certificates)
    : path_(std::move(path)),
      certificates_(std::move(certificates)),
      store_(X509_STORE_new(), openssl::Deleter<X509_STORE_free>()) {
  BANDANA_CHECK(store_ != nullptr);
  for (const Certificate& each : certificates_) {
    BANDANA_CHECK(X509_STORE_add_cert(store_.get(), each.get()) == 1);
  }
}

absl::StatusOr<Authorities> Authorities::Open(const std::string& path) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  BANDANA_ASSIGN_OR_RETURN(std::vector<Certificate> certificates, Certificate::FromPem(text, path));
  return Authorities(path, std::move(certificates));
}

absl::Status Authorities::Check(const Certificate& certificate, const std::vector<Certificate>& more,
                                Use use) const {
  const openssl::NoErrorsLeft at_end;
  STACK_OF(X509)* between = sk_X509_new_null();
  for (const Certificate& each : more) sk_X509_push(between, each.get());
  const openssl::StoreContext context(X509_STORE_CTX_new());
  BANDANA_CHECK(context != nullptr && between != nullptr);
  bool trusted = X509_STORE_CTX_init(context.get(), store_.get(), certificate.get(), between) == 1;
  if (use != Use::kAny) {
    const int purpose = use == Use::kClient ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER;
    trusted = trusted && X509_STORE_CTX_set_purpose(context.get(), purpose) == 1;
  }
  trusted = trusted && X509_verify_cert(context.get()) == 1;
  const int error = X509_STORE_CTX_get_error(context.get());
  const int depth = X509_STORE_CTX_get_error_depth(context.get());
  sk_X509_free(between);
  return trusted ? absl::OkStatus() : WhyUntrusted(certificate, error, depth, path_);
}

absl::StatusOr<std::shared_ptr<evp_pkey_st>> ReadPrivateKey(const std::string& path) {
  const openssl::NoErrorsLeft at_end;
  struct stat info{};
  if (stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return FileError(absl::StatusCode::kFailedPrecondition, path,
                     "others than its owner may read or write this private key; run: chmod 600 " + path);
  }
  BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  const openssl::Bio bio = openssl::ReadFrom(text);
  char no_password[] = "";  // so that nobody is asked for one
  std::shared_ptr<EVP_PKEY> key =
      openssl::Share(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, no_password));
  if (key != nullptr) return key;
  return InvalidInput(
      {.message = "not a private key", .file = path, .accepted = "a private key in PEM, without a password"});
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  struct stat info{};
  const bool there = stat(path.c_str(), &info) == 0;
  const int why = there ? EISDIR : errno;
  if (!there || S_ISDIR(info.st_mode)) {
    return FileError(why == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable, path,
                     fmt::format("cannot be read: {}", std::strerror(why)));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return FileError(absl::StatusCode::kUnavailable, path, "cannot be read");
  return text;
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

std::optional<std::string> ParseSerial(std::string_view text) {
  std::string digits = absl::AsciiStrToLower(absl::StrReplaceAll(std::string(text), {{":", ""}}));
  const bool hexadecimal = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isxdigit(static_cast<unsigned char>(c));
  });
  if (!hexadecimal) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

}  // namespace bandana::service
