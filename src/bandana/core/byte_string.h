#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bandana {

/// Encodes values as bytes, one after the other, for digests. The encoding is identical in every process.
/// Each value has a fixed length or is preceded by its length, so that different values of the same types
/// never give the same bytes.
class ByteString {
 public:
  ByteString& Add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(word >> (8 * byte));
    return *this;
  }
  ByteString& Add(std::int64_t word) { return Add(static_cast<std::uint64_t>(word)); }
  ByteString& Add(double number) { return Add(std::bit_cast<std::uint64_t>(number)); }
  ByteString& Add(std::string_view text) {
    Add(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
    return *this;
  }

  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace bandana
