#include "bandana/store/seal.h"

#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
static_assert(kNonceBytes + kTagBytes == Sealer::kOverhead);

// The file has one line: the word, the generation and the secret in hexadecimal.
constexpr std::string_view kRatchetWord = "bandana-ratchet-1 ";

// Calls of OpenSSL below cannot fail unless it is broken. They are checked, and a failure ends the program.

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

CipherContext StartSealing(int encrypt, const Key& key, const std::uint8_t* nonce, std::string_view place) {
  // Fetched once, since the look-up takes longer than sealing a short text.
  static const EVP_CIPHER* const algorithm = EVP_CIPHER_fetch(nullptr, "ChaCha20-Poly1305", nullptr);
  CipherContext context(EVP_CIPHER_CTX_new());
  BANDANA_CHECK(context != nullptr);
  int written = 0;
  BANDANA_CHECK(EVP_CipherInit_ex2(context.get(), algorithm, key.data(), nonce, encrypt, nullptr) == 1);
  BANDANA_CHECK(EVP_CipherUpdate(context.get(), nullptr, &written,
                                 reinterpret_cast<const std::uint8_t*>(place.data()),
                                 static_cast<int>(place.size())) == 1);
  return context;
}

// OpenSSL takes lengths as int.
void Cipher(EVP_CIPHER_CTX* context, const std::uint8_t* in, std::uint8_t* out, std::size_t size) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (size > 0) {
    const std::size_t part = std::min(size, kMost);
    int written = 0;
    BANDANA_CHECK(EVP_CipherUpdate(context, out, &written, in, static_cast<int>(part)) == 1);
    BANDANA_CHECK(static_cast<std::size_t>(written) == part);  // it is a stream cipher
    in += part;
    out += part;
    size -= part;
  }
}

std::string Hexadecimal(const Key& key) {
  std::string text;
  for (const std::uint8_t byte : key) text += fmt::format("{:02x}", byte);
  return text;
}

std::string RatchetLine(std::uint64_t generation, const Key& secret) {
  return fmt::format("{}{} {}\n", kRatchetWord, generation, Hexadecimal(secret));
}

bool ParseRatchet(std::string_view text, std::uint64_t& generation, Key& secret) {
  if (!text.starts_with(kRatchetWord)) return false;
  text.remove_prefix(kRatchetWord.size());
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, generation);
  if (error != std::errc() || after == end || *after != ' ') return false;
  const std::string_view digits(after + 1, static_cast<std::size_t>(end - after - 1));
  if (digits.size() != 2 * secret.size() + 1) return false;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char* const byte = digits.data() + 2 * i;
    if (std::from_chars(byte, byte + 2, secret[i], 16).ptr != byte + 2) return false;
  }
  return RatchetLine(generation, secret).ends_with(digits);  // in one spelling only
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

absl::StatusOr<std::string> ReadShortFile(int descriptor, const std::string& path) {
  constexpr std::size_t kLongerThanAnyRatchet = 4096;
  std::string text(kLongerThanAnyRatchet, '\0');
  const ssize_t got = pread(descriptor, text.data(), text.size(), 0);
  if (got < 0) return SystemError(path, "cannot be read");
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace

Key DeriveKey(const Key& secret, std::string_view purpose) {
  static EVP_KDF* const hkdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  EVP_KDF_CTX* const context = EVP_KDF_CTX_new(hkdf);
  BANDANA_CHECK(context != nullptr);
  char digest[] = "SHA256";
  Key input = secret;
  std::string info(purpose);
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, input.data(), input.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end()};
  Key key;
  BANDANA_CHECK(EVP_KDF_derive(context, key.data(), key.size(), params) == 1);
  EVP_KDF_CTX_free(context);
  OPENSSL_cleanse(input.data(), input.size());
  return key;
}

Key RandomKey() {
  Key key;
  BANDANA_CHECK(RAND_priv_bytes(key.data(), static_cast<int>(key.size())) == 1);
  return key;
}

absl::StatusOr<Ratchet> Ratchet::Open(const std::string& path) {
  Ratchet ratchet;
  ratchet.path_ = path;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 && errno == ENOENT) {
    ratchet.secret_ = RandomKey();
    BANDANA_RETURN_IF_ERROR(ReplaceFile(path, RatchetLine(0, ratchet.secret_)));
    BANDANA_RETURN_IF_ERROR(SyncFolderOf(path));
    return ratchet;
  }
  if (file.number() < 0) return SystemError(path, "cannot be opened");
  struct stat info{};
  if (fstat(file.number(), &info) != 0) return SystemError(path, "cannot be examined");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return FileError(absl::StatusCode::kFailedPrecondition, path,
                     "others than its owner may read or write this secret; run: chmod 600 " + path);
  }
  BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadShortFile(file.number(), path));
  if (!ParseRatchet(text, ratchet.generation_, ratchet.secret_)) {
    return FileError(
        absl::StatusCode::kDataLoss, path,
        "this is not a ratchet, or it was altered. What the store holds of an open run cannot be "
        "opened without it. End the run (bandana store end), move the file away, and begin a new "
        "run");
  }
  return ratchet;
}

Ratchet Ratchet::InMemory() {
  Ratchet ratchet;
  ratchet.secret_ = RandomKey();
  return ratchet;
}

Key Ratchet::KeyFor(std::string_view purpose) const {
  return DeriveKey(secret_, fmt::format("bandana key 1 {}", purpose));
}

Ratchet Ratchet::Next() const {
  Ratchet next = *this;
  next.generation_ = generation_ + 1;
  next.secret_ = DeriveKey(secret_, "bandana next ratchet 1");
  return next;
}

absl::Status Ratchet::Advance() {
  Ratchet next = Next();
  if (!path_.empty()) {
    // The old file stays open, so that its blocks can be overwritten once it has no name.
    const Descriptor old(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (old.number() < 0) return SystemError(path_, "cannot be opened");
    BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadShortFile(old.number(), path_));
    if (text != RatchetLine(generation_, secret_)) {
      return FileError(absl::StatusCode::kAborted, path_,
                       "another process has changed it; each role needs a ratchet of its own");
    }
    BANDANA_RETURN_IF_ERROR(ReplaceFile(path_, RatchetLine(next.generation_, next.secret_)));
    BANDANA_RETURN_IF_ERROR(SyncFolderOf(path_));
    const std::string zeros(text.size(), '0');
    if (pwrite(old.number(), zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size()) ||
        fdatasync(old.number()) != 0) {
      return SystemError(path_, "its old content cannot be erased");
    }
  }
  OPENSSL_cleanse(secret_.data(), secret_.size());
  *this = std::move(next);
  return absl::OkStatus();
}

absl::Status Ratchet::AdvanceTo(std::uint64_t generation) {
  if (generation == generation_) return absl::OkStatus();
  if (generation == generation_ + 1) return Advance();
  return FileError(
      absl::StatusCode::kFailedPrecondition, path_,
      fmt::format("this ratchet has generation {}, but the store has generation {}: {} is an old copy. "
                  "{}",
                  generation_, generation, generation < generation_ ? "the store" : "the ratchet",
                  generation < generation_
                      ? "Put the newest store back, or restore it (bandana store restore)"
                      : "Put the newest ratchet back, or end the run (bandana store end)"));
}

Sealer::Sealer(const Ratchet& ratchet) : key_(ratchet.KeyFor("seal bodies")) { NewPrefix(); }

Sealer::Sealer(Sealer&& other) noexcept
    : key_(std::exchange(other.key_, {})), prefix_(other.prefix_), counter_(other.counter_) {}

Sealer& Sealer::operator=(Sealer&& other) noexcept {
  key_ = std::exchange(other.key_, {});
  prefix_ = other.prefix_;
  counter_ = other.counter_;
  return *this;
}

Sealer::~Sealer() { OPENSSL_cleanse(key_.data(), key_.size()); }

void Sealer::NewPrefix() {
  BANDANA_CHECK(RAND_bytes(prefix_.data(), static_cast<int>(prefix_.size())) == 1);
  counter_ = 0;
}

std::string Sealer::Seal(std::string_view place, std::string_view body) {
  std::string sealed(body.size() + kOverhead, '\0');
  auto* const nonce = reinterpret_cast<std::uint8_t*>(sealed.data());
  std::copy(prefix_.begin(), prefix_.end(), nonce);
  std::memcpy(nonce + prefix_.size(), &counter_, sizeof counter_);
  if (++counter_ == 0) NewPrefix();
  const CipherContext context = StartSealing(1, key_, nonce, place);
  std::uint8_t* const out = nonce + kNonceBytes;
  Cipher(context.get(), reinterpret_cast<const std::uint8_t*>(body.data()), out, body.size());
  int written = 0;
  BANDANA_CHECK(EVP_CipherFinal_ex(context.get(), out + body.size(), &written) == 1);
  BANDANA_CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, out + body.size()) == 1);
  return sealed;
}

absl::StatusOr<std::string> Sealer::Open(std::string_view place, std::string_view sealed) const {
  const absl::Status lost = absl::DataLossError(fmt::format(
      "the body of '{}' does not open: it was altered or moved, or the ratchet is not the one that sealed it",
      place));
  if (sealed.size() < kOverhead) return lost;
  const auto* const nonce = reinterpret_cast<const std::uint8_t*>(sealed.data());
  const CipherContext context = StartSealing(0, key_, nonce, place);
  std::string body(sealed.size() - kOverhead, '\0');
  auto* const out = reinterpret_cast<std::uint8_t*>(body.data());
  std::array<std::uint8_t, kTagBytes> tag;
  std::copy_n(nonce + kNonceBytes + body.size(), tag.size(), tag.begin());
  Cipher(context.get(), nonce + kNonceBytes, out, body.size());
  BANDANA_CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1);
  int written = 0;
  if (EVP_CipherFinal_ex(context.get(), out + body.size(), &written) != 1) return lost;
  return body;
}

}  // namespace bandana::store
