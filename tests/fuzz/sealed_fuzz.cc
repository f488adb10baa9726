#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bandana/service/codec.h"
#include "bandana/service/sealed_bit.h"
#include "bandana/service/sealed_counts.h"
#include "bandana/service/user_codec.h"
#include "bandana/store/seal.h"
#include "proto/federation.pb.h"
#include "tests/fuzz/fuzz.h"

// Everything that is sealed, and the messages of users. The first byte of an input says which it is.
//   - A sealed bit or body opens only if it was sealed, unchanged, for this place.
//   - A user's message is the same bytes after it was decoded and encoded again.
namespace bandana::fuzz {
namespace {

constexpr std::array<std::uint8_t, 32> kSecret = {7, 1, 4};
constexpr std::size_t kBit = service::kSealedBitBytes;

// A body and a bit that were sealed once, so that mutations of them are tried.
struct Sealed {
  Sealed()
      : ratchet(store::Ratchet::InMemory()),
        sealer(ratchet),
        opener(service::BitOpener::FromSecret(kSecret)) {
    body = sealer.Seal("input 1", "a body");
    service::BitSealer bits = service::BitSealer::Create(opener.public_key()).value();
    bit.resize(kBit);
    bits.Seal(1, 2, true, std::span<char, kBit>(bit.data(), kBit));
  }
  store::Ratchet ratchet;
  store::Sealer sealer;
  service::BitOpener opener;
  std::string body;
  std::string bit;
};

Sealed& Once() {
  static auto& sealed = *new Sealed();
  return sealed;
}

// Returns `text` with some bytes changed: pairs of a place and a difference.
std::string Changed(std::string text, Input& input) {
  while (!input.empty()) {
    char& byte = text[input.Byte() % text.size()];
    byte = static_cast<char>(byte ^ input.Byte());
  }
  return text;
}

void Run(std::string_view bytes) {
  Input input(bytes);
  Sealed& sealed = Once();
  switch (input.Byte() % 6) {
    case 0: {
      const std::string body = Changed(sealed.body, input);
      const auto opened = sealed.sealer.Open("input 1", body);
      BANDANA_CHECK(opened.ok() == (body == sealed.body));
      BANDANA_CHECK(!sealed.sealer.Open("input 2", body).ok());
      break;
    }
    case 1:
      BANDANA_CHECK(!sealed.sealer.Open("input 1", input.Rest()).ok());
      break;
    case 2: {
      // X25519 ignores the highest bit of a key, but the key that seals the bit depends on all of its bytes.
      const std::string bit = Changed(sealed.bit, input);
      const absl::StatusOr<bool> opened = sealed.opener.Open(1, 2, bit);
      BANDANA_CHECK(opened.ok() == (bit == sealed.bit));
      BANDANA_CHECK(!sealed.opener.Open(2, 2, bit).ok() && !sealed.opener.Open(1, 1, bit).ok());
      break;
    }
    case 3: {
      service::CountOpener opener(kSecret);
      const std::string_view bits = input.Rest();
      const absl::StatusOr<Count> ones = opener.Ones(1, 2, bits);
      if (ones.ok()) BANDANA_CHECK(*ones >= 0 && *ones <= static_cast<Count>(bits.size() / kBit));
      break;
    }
    case 4: {
      absl::StatusOr<service::BitSealer> sealer = service::BitSealer::Create(input.Rest());
      if (!sealer.ok()) break;
      std::array<char, kBit> out{};
      sealer->Seal(1, 2, true, std::span<char, kBit>(out));
      BANDANA_CHECK(!sealed.opener.Open(1, 2, {out.data(), kBit}).ok() ||
                    bytes.substr(1) == sealed.opener.public_key());
      break;
    }
    default: {
      const Count entries = input.Byte() % 8;
      const std::string_view message = input.Rest();
      const absl::StatusOr<LocalMessage> decoded = service::DecodeUserMessage(message, entries);
      if (!decoded.ok()) break;
      BANDANA_CHECK(static_cast<Count>(decoded->entries().size()) == entries);
      for (const double entry : decoded->entries()) BANDANA_CHECK(std::isfinite(entry));
      BANDANA_CHECK(service::EncodeUserMessage(*decoded) == message);
    }
  }
}

}  // namespace

Target MakeTarget() {
  std::string message("\5\2\2\0\0\0\0\0\0\0", 10);
  message += std::string("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\xbf", 16);
  const std::string public_key = service::BitOpener::FromSecret(kSecret).public_key();
  return {.seeds = {{"body", std::string(1, '\0')},
                    {"changed-body", std::string("\0\3\1", 3)},
                    {"forged-body", "\1" + std::string(40, 'x')},
                    {"bit", "\2"},
                    {"changed-bit", "\2\x1f\x80"},
                    {"bits", "\3" + std::string(2 * kBit, 'x')},
                    {"key", "\4" + public_key},
                    {"small-order-key", "\4" + std::string(32, '\0')},
                    {"user-message", message}},
          .run = Run,
          .mutations = 6000};
}

}  // namespace bandana::fuzz
