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

constexpr std::size_t kCounterBytes = 8;  // of a nonce; the blocks are counted from zero

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
  BANDANA_CHECK(RAND_priv_bytes(key.data(), key.size()) == 1);
  BANDANA_CHECK(RAND_priv_bytes(nonce_.data(), nonce_.size()) == 1);
  std::fill_n(nonce_.begin(), kCounterBytes, 0);
  cipher_ = MakeCipher(key, nonce_);
  OPENSSL_cleanse(key.data(), key.size());
}

SecureSource::SecureSource(std::span<const std::uint8_t, 32> key) : cipher_(MakeCipher(key, nonce_)) {}

SecureSource::~SecureSource() { EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(cipher_)); }

void SecureSource::Refill(std::span<std::uint64_t> words) {
  std::memset(words.data(), 0, words.size_bytes());
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  int written = 0;
  BANDANA_CHECK(EVP_EncryptUpdate(static_cast<EVP_CIPHER_CTX*>(cipher_), bytes, &written, bytes,
                                  static_cast<int>(words.size_bytes())) == 1);
  BANDANA_CHECK(static_cast<std::size_t>(written) == words.size_bytes());
  drawn_ += words.size();
}

// A block of ChaCha20 is kBlock words. OpenSSL carries its counter of blocks, of 32 bits, into the next 32
// bits.
void SecureSource::Skip(std::uint64_t blocks) {
  drawn_ += blocks * kBlock;
  std::array<std::uint8_t, 16> start = nonce_;
  for (std::size_t i = 0; i < kCounterBytes; ++i) {
    start[i] = static_cast<std::uint8_t>(drawn_ / kBlock >> (8 * i));
  }
  auto* cipher = static_cast<EVP_CIPHER_CTX*>(cipher_);
  BANDANA_CHECK(EVP_EncryptInit_ex(cipher, nullptr, nullptr, nullptr, start.data()) == 1);
  std::array<std::uint64_t, kBlock> dropped;
  const std::uint64_t rest = drawn_ % kBlock;
  drawn_ -= rest;
  if (rest > 0) Refill(std::span(dropped).first(rest));
}

}  // namespace bandana
