#include "bandana/core/sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>

#include "bandana/core/check.h"

namespace bandana {

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  // Fetched once, since the look-up takes longer than the digest of a short text.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  BANDANA_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) == 1);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace bandana
