#include "bandana/service/sealed_bit.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "bandana/core/check.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr std::size_t kTagBytes = 16;
constexpr std::string_view kLabel = "bandana sealed bit 1";
constexpr int kBoth = 2;  // the number of public keys in HKDF's context

using Byte = unsigned char;
using Secret = std::array<Byte, 32>;

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freer<EVP_PKEY_CTX_free>>;
using KdfContext = std::unique_ptr<EVP_KDF_CTX, Freer<EVP_KDF_CTX_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, Freer<EVP_CIPHER_CTX_free>>;

Byte* Bytes(char* text) { return reinterpret_cast<Byte*>(text); }
const Byte* Bytes(const char* text) { return reinterpret_cast<const Byte*>(text); }

// Calls from here on cannot fail unless OpenSSL is broken. They are checked, and a failure ends the program.

KdfContext MakeKdf() {
  EVP_KDF* hkdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  KdfContext context(EVP_KDF_CTX_new(hkdf));
  EVP_KDF_free(hkdf);
  BANDANA_CHECK(context != nullptr);
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                               OSSL_PARAM_construct_end()};
  BANDANA_CHECK(EVP_KDF_CTX_set_params(context.get(), params) == 1);
  return context;
}

CipherContext MakeCipher(int encrypt) {
  CipherContext context(EVP_CIPHER_CTX_new());
  BANDANA_CHECK(context != nullptr);
  BANDANA_CHECK(
      EVP_CipherInit_ex(context.get(), EVP_chacha20_poly1305(), nullptr, nullptr, nullptr, encrypt) == 1);
  return context;
}

std::array<Byte, 8> AssociatedData(Epoch epoch, std::uint32_t coordinate) {
  std::array<Byte, 8> data;
  for (int i = 0; i < 4; ++i) {
    data[static_cast<std::size_t>(i)] = static_cast<Byte>(static_cast<std::uint32_t>(epoch) >> (8 * i));
    data[std::size_t{4} + static_cast<std::size_t>(i)] = static_cast<Byte>(coordinate >> (8 * i));
  }
  return data;
}

// Derives the key that seals one bit.
void DeriveKey(EVP_KDF_CTX* kdf, Secret& shared, const Byte* ephemeral, std::string_view server,
               Secret& key) {
  std::array<Byte, kLabel.size() + kBoth * kSealingKeyBytes> info;
  Byte* end = std::copy(kLabel.begin(), kLabel.end(), info.begin());
  end = std::copy_n(ephemeral, kSealingKeyBytes, end);
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): sizes are checked, none is a C string
  std::copy_n(Bytes(server.data()), kSealingKeyBytes, end);
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, shared.data(), shared.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end()};
  BANDANA_CHECK(EVP_KDF_derive(kdf, key.data(), key.size(), params) == 1);
  OPENSSL_cleanse(shared.data(), shared.size());
}

void StartCipher(EVP_CIPHER_CTX* cipher, Secret& key, int encrypt, Epoch epoch, std::uint32_t coordinate) {
  static constexpr std::array<Byte, 12> kNonce = {};
  const std::array<Byte, 8> data = AssociatedData(epoch, coordinate);
  int written = 0;
  BANDANA_CHECK(EVP_CipherInit_ex(cipher, nullptr, nullptr, key.data(), kNonce.data(), encrypt) == 1);
  BANDANA_CHECK(EVP_CipherUpdate(cipher, nullptr, &written, data.data(), data.size()) == 1);
  OPENSSL_cleanse(key.data(), key.size());
}

Key PublicKey(std::string_view bytes) {
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): sizes are checked, none is a C string
  return Key(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, Bytes(bytes.data()), bytes.size()));
}

// Returns false if `theirs` is a point of small order, because then everyone would know the secret.
bool Agree(EVP_PKEY_CTX* mine, EVP_PKEY* theirs, Secret& shared) {
  std::size_t size = shared.size();
  const bool agreed = EVP_PKEY_derive_set_peer_ex(mine, theirs, 0) == 1 &&
                      EVP_PKEY_derive(mine, shared.data(), &size) == 1 && size == shared.size();
  if (!agreed) ERR_clear_error();
  return agreed;
}

KeyContext DeriveContext(EVP_PKEY* key) {
  KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  BANDANA_CHECK(context != nullptr && EVP_PKEY_derive_init(context.get()) == 1);
  return context;
}

KeyContext MakeKeygen() {
  KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "X25519", nullptr));
  BANDANA_CHECK(context != nullptr && EVP_PKEY_keygen_init(context.get()) == 1);
  return context;
}

Key MakeKey(EVP_PKEY_CTX* keygen) {
  EVP_PKEY* key = nullptr;
  BANDANA_CHECK(EVP_PKEY_keygen(keygen, &key) == 1);
  return Key(key);
}

void PublicHalf(EVP_PKEY* key, Byte* out) {
  std::size_t size = kSealingKeyBytes;
  BANDANA_CHECK(EVP_PKEY_get_raw_public_key(key, out, &size) == 1 && size == kSealingKeyBytes);
}

}  // namespace

std::string KeyFingerprint(std::string_view public_key) {
  std::string input = "bandana sealing key 1";
  input += public_key;
  std::string fingerprint(kKeyFingerprintBytes, '\0');
  BANDANA_CHECK(
      EVP_Digest(input.data(), input.size(), Bytes(fingerprint.data()), nullptr, EVP_sha256(), nullptr) == 1);
  return fingerprint;
}

struct BitSealer::Engine {
  std::string server_bytes;
  Key server;
  KeyContext keygen = MakeKeygen();
  KdfContext kdf = MakeKdf();
  CipherContext cipher = MakeCipher(1);
};

BitSealer::BitSealer(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
BitSealer::BitSealer(BitSealer&&) noexcept = default;
BitSealer::~BitSealer() = default;

absl::StatusOr<BitSealer> BitSealer::Create(std::string_view public_key) {
  if (public_key.size() != kSealingKeyBytes) {
    return absl::InvalidArgumentError(fmt::format("the sealing key has {} bytes, but it must have {}",
                                                  public_key.size(), kSealingKeyBytes));
  }
  auto engine = std::make_unique<Engine>();
  engine->server_bytes = public_key;
  engine->server = PublicKey(public_key);
  BANDANA_CHECK(engine->server != nullptr);
  Secret shared;
  const Key trial = MakeKey(engine->keygen.get());
  if (!Agree(DeriveContext(trial.get()).get(), engine->server.get(), shared)) {
    return absl::InvalidArgumentError("the sealing key is invalid: nothing can be sealed with it");
  }
  return BitSealer(std::move(engine));
}

void BitSealer::Seal(Epoch epoch, std::uint32_t coordinate, bool bit, std::span<char, kSealedBitBytes> out) {
  Byte* ephemeral_bytes = Bytes(out.data());
  const Key ephemeral = MakeKey(engine_->keygen.get());
  PublicHalf(ephemeral.get(), ephemeral_bytes);
  Secret shared;
  Secret key;
  BANDANA_CHECK(Agree(DeriveContext(ephemeral.get()).get(), engine_->server.get(), shared));
  DeriveKey(engine_->kdf.get(), shared, ephemeral_bytes, engine_->server_bytes, key);
  EVP_CIPHER_CTX* cipher = engine_->cipher.get();
  StartCipher(cipher, key, 1, epoch, coordinate);
  const Byte plain = bit ? 1 : 0;
  int written = 0;
  BANDANA_CHECK(EVP_CipherUpdate(cipher, ephemeral_bytes + kSealingKeyBytes, &written, &plain, 1) == 1);
  BANDANA_CHECK(written == 1);
  BANDANA_CHECK(EVP_CipherFinal_ex(cipher, ephemeral_bytes + kSealingKeyBytes + 1, &written) == 1);
  BANDANA_CHECK(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, kTagBytes,
                                    ephemeral_bytes + kSealingKeyBytes + 1) == 1);
}

struct BitOpener::Engine {
  explicit Engine(Key pair) : key(std::move(pair)), agree(DeriveContext(key.get())) {
    PublicHalf(key.get(), Bytes(bytes.data()));
  }
  Key key;
  KeyContext agree;
  std::string bytes = std::string(kSealingKeyBytes, '\0');
  KdfContext kdf = MakeKdf();
  CipherContext cipher = MakeCipher(0);
};

BitOpener::BitOpener(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
BitOpener::BitOpener(BitOpener&&) noexcept = default;
BitOpener::~BitOpener() = default;

BitOpener BitOpener::FromSecret(std::span<const std::uint8_t, 32> secret) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, secret.data(), secret.size()));
  BANDANA_CHECK(key != nullptr);
  return BitOpener(std::make_unique<Engine>(std::move(key)));
}

BitOpener BitOpener::Clone() const {
  BANDANA_CHECK(EVP_PKEY_up_ref(engine_->key.get()) == 1);
  return BitOpener(std::make_unique<Engine>(Key(engine_->key.get())));
}

const std::string& BitOpener::public_key() const { return engine_->bytes; }

absl::StatusOr<bool> BitOpener::Open(Epoch epoch, std::uint32_t coordinate, std::string_view sealed) {
  const auto refuse = [&] {
    return absl::InvalidArgumentError(fmt::format(
        "a sealed bit of coordinate {} in epoch {} cannot be opened: it was altered, or sealed to "
        "another key, coordinate or epoch",
        coordinate, epoch));
  };
  if (sealed.size() != kSealedBitBytes) return refuse();
  const Key ephemeral = PublicKey(sealed.substr(0, kSealingKeyBytes));
  Secret shared;
  Secret key;
  if (ephemeral == nullptr || !Agree(engine_->agree.get(), ephemeral.get(), shared)) return refuse();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): sizes are checked, none is a C string
  DeriveKey(engine_->kdf.get(), shared, Bytes(sealed.data()), engine_->bytes, key);
  EVP_CIPHER_CTX* cipher = engine_->cipher.get();
  StartCipher(cipher, key, 0, epoch, coordinate);
  std::array<Byte, kTagBytes> tag;
  std::memcpy(tag.data(), sealed.data() + kSealingKeyBytes + 1, kTagBytes);
  BANDANA_CHECK(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1);
  Byte plain = 0;
  Byte none = 0;
  int written = 0;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): sizes are checked, none is a C string
  BANDANA_CHECK(EVP_CipherUpdate(cipher, &plain, &written, Bytes(sealed.data()) + kSealingKeyBytes, 1) == 1);
  if (EVP_CipherFinal_ex(cipher, &none, &written) != 1) {
    ERR_clear_error();
    return refuse();
  }
  if (plain > 1) return refuse();  // the sealer violated the protocol
  return plain == 1;
}

}  // namespace bandana::service
