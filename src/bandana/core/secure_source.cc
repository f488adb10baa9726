#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"

namespace bandana {

namespace {

// A generator that fails must not continue with predictable bits: every OpenSSL error ends the program.
EVP_CIPHER_CTX* MakeCipher(std::span<const std::uint8_t, 32> key, std::span<const std::uint8_t, 16> nonce) {
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  BANDANA_CHECK(cipher != nullptr);
  BANDANA_CHECK(EVP_EncryptInit_ex(cipher, EVP_chacha20(), nullptr, key.data(), nonce.data()) == 1);
  return cipher;
}

}  // namespace

SecureSource::SecureSource() {
  std::array<std::uint8_t, 32> key;
  std::array<std::uint8_t, 16> nonce;
  BANDANA_CHECK(RAND_priv_bytes(key.data(), key.size()) == 1);
  BANDANA_CHECK(RAND_priv_bytes(nonce.data(), nonce.size()) == 1);
  std::fill_n(nonce.begin(), 4, 0);  // the block counter starts at zero and wraps after 256 GiB
  cipher_ = MakeCipher(key, nonce);
  OPENSSL_cleanse(key.data(), key.size());
}

SecureSource::SecureSource(std::span<const std::uint8_t, 32> key)
    : cipher_(MakeCipher(key, std::array<std::uint8_t, 16>{})) {}

SecureSource::~SecureSource() { EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(cipher_)); }

void SecureSource::Refill(std::span<std::uint64_t> words) {
  std::memset(words.data(), 0, words.size_bytes());
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  int written = 0;
  BANDANA_CHECK(EVP_EncryptUpdate(static_cast<EVP_CIPHER_CTX*>(cipher_), bytes, &written, bytes,
                                  static_cast<int>(words.size_bytes())) == 1);
  BANDANA_CHECK(static_cast<std::size_t>(written) == words.size_bytes());
}

}  // namespace bandana
