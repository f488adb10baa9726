#include "bandana/store/identity.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/store/store.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

constexpr std::size_t kSignatureBytes = 64;
constexpr std::size_t kPublicKeyBytes = 32;

using SharedKey = std::shared_ptr<evp_pkey_st>;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

const std::uint8_t* BytesOf(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

SharedKey Share(EVP_PKEY* key) {
  return {key, [](EVP_PKEY* each) { EVP_PKEY_free(each); }};
}

absl::StatusOr<std::string> ReadKeyFile(const std::string& path, bool secret) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return FileError(errno == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable, path,
                     fmt::format("the key cannot be read: {}", std::strerror(errno)));
  }
  if (secret && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return FileError(absl::StatusCode::kFailedPrecondition, path,
                     "others than its owner may read or write this private key; run: chmod 600 " + path);
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return FileError(absl::StatusCode::kUnavailable, path, "the key cannot be read");
  return text;
}

absl::StatusOr<SharedKey> Ed25519Of(EVP_PKEY* parsed, const std::string& path, std::string_view accepted) {
  SharedKey key = Share(parsed);
  ERR_clear_error();
  if (key != nullptr && EVP_PKEY_is_a(key.get(), "ED25519") == 1) return key;
  return InvalidInput({.message = "not such a key", .file = path, .accepted = std::string(accepted)});
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

absl::StatusOr<PublicKey> PublicKey::Open(const std::string& path) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadKeyFile(path, false));
  const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  BANDANA_ASSIGN_OR_RETURN(SharedKey key, Ed25519Of(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr),
                                                    path, "an Ed25519 public key in PEM"));
  return PublicKey(std::move(key));
}

bool PublicKey::HasSigned(std::string_view bytes, std::string_view signature) const {
  const DigestContext context(EVP_MD_CTX_new());
  BANDANA_CHECK(context != nullptr &&
                EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  const bool is_signed = EVP_DigestVerify(context.get(), BytesOf(signature), signature.size(), BytesOf(bytes),
                                          bytes.size()) == 1;
  ERR_clear_error();
  return is_signed;
}

std::string PublicKey::name() const {
  std::string bytes(kPublicKeyBytes, '\0');
  std::size_t size = bytes.size();
  BANDANA_CHECK(
      EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<std::uint8_t*>(bytes.data()), &size) == 1);
  return RunName(bytes);
}

std::string PublicKey::pem() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  BANDANA_CHECK(PEM_write_bio_PUBKEY(bio.get(), key_.get()) == 1);
  return Contents(bio.get());
}

absl::StatusOr<IdentityKey> IdentityKey::Create(const std::string& path) {
  SharedKey key = Share(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  BANDANA_CHECK(key != nullptr);
  const Bio bio(BIO_new(BIO_s_mem()));
  BANDANA_CHECK(PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  const std::string text = Contents(bio.get());
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    return FileError(absl::StatusCode::kUnavailable, path,
                     fmt::format("a new key cannot be written: {}", std::strerror(errno)));
  }
  const bool written =
      write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  close(file);
  if (written) return IdentityKey(std::move(key));
  return FileError(absl::StatusCode::kUnavailable, path, "a new key cannot be written");
}

absl::StatusOr<IdentityKey> IdentityKey::Open(const std::string& path) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadKeyFile(path, true));
  const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  // An empty password, so that nobody is asked for one.
  char no_password[] = "";
  BANDANA_ASSIGN_OR_RETURN(SharedKey key,
                           Ed25519Of(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, no_password), path,
                                     "an Ed25519 private key in PEM, without a password"));
  return IdentityKey(std::move(key));
}

std::string IdentityKey::Sign(std::string_view bytes) const {
  const DigestContext context(EVP_MD_CTX_new());
  BANDANA_CHECK(context != nullptr &&
                EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  BANDANA_CHECK(EVP_DigestSign(context.get(), reinterpret_cast<std::uint8_t*>(signature.data()), &size,
                               BytesOf(bytes), bytes.size()) == 1);
  return signature;
}

}  // namespace bandana::store
