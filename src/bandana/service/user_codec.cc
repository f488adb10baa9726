#include "bandana/service/user_codec.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/core/byte_string.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/malformed.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr std::size_t kWord = 8;

std::uint64_t WordAt(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kWord; ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(bytes[kWord * at + i])} << (8 * i);
  }
  return word;
}

}  // namespace

std::string EncodeUserMessage(const LocalMessage& message) {
  ByteString bytes;
  bytes.Add(std::uint64_t{message.entries().size()});
  for (const double entry : message.entries()) bytes.Add(entry);
  return bytes.Take();
}

absl::StatusOr<LocalMessage> DecodeUserMessage(std::string_view bytes, Count entries) {
  if (bytes.size() < kWord || bytes.size() % kWord != 0) {
    return Malformed(fmt::format("it has {} bytes, which is not a whole number of entries", bytes.size()));
  }
  const std::size_t size = bytes.size() / kWord - 1;
  if (WordAt(bytes, 0) != size) {
    return Malformed(fmt::format("it has {} entries, but it announces {}", size, WordAt(bytes, 0)));
  }
  if (std::cmp_not_equal(size, entries)) {
    return Malformed(fmt::format("it has {} entries, but the model takes {}", size, entries));
  }
  std::vector<double> numbers(size);
  for (std::size_t i = 0; i < size; ++i) {
    numbers[i] = std::bit_cast<double>(WordAt(bytes, i + 1));
    if (!std::isfinite(numbers[i])) return Malformed(fmt::format("entry {} is {}", i, numbers[i]));
  }
  return Wire::MakeMessage(std::move(numbers));
}

}  // namespace bandana::service
