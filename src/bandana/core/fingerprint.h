#pragma once

#include <bit>
#include <cstdint>

namespace bandana {

/// A 64-bit digest of plain values, the same in every process (FNV-1a). Tells questions apart; an adversary
/// who makes two alike gains nothing but the answer to the first.
class Fingerprint {
 public:
  Fingerprint& Add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      value_ = (value_ ^ (word >> (8 * byte) & 0xff)) * 0x100000001b3;
    }
    return *this;
  }
  Fingerprint& Add(std::int64_t word) { return Add(static_cast<std::uint64_t>(word)); }
  Fingerprint& Add(double number) { return Add(std::bit_cast<std::uint64_t>(number)); }

  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace bandana
