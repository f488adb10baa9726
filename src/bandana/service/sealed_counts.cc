#include "bandana/service/sealed_counts.h"

#include <algorithm>
#include <array>
#include <thread>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "proto/federation.pb.h"

namespace bandana::service {
namespace {

// For fewer bits (a few milliseconds of work), starting a thread is not worth it.
constexpr std::size_t kBitsAThread = 64;

std::size_t Cores() { return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 64); }

/// Calls work(thread, begin, end) on disjoint pieces of 0 .. items; this thread takes one of them.
template <class Work>
void InParallel(std::size_t items, std::size_t most_threads, Work work) {
  const std::size_t threads = std::clamp<std::size_t>(items / kBitsAThread, 1, most_threads);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.emplace_back([&, i] { work(i, items * i / threads, items * (i + 1) / threads); });
  }
  work(0, 0, items / threads);
}

}  // namespace

absl::StatusOr<CountSealer> CountSealer::Create(std::string_view public_key) {
  std::vector<BitSealer> sealers;
  for (std::size_t i = 0; i < Cores(); ++i) {
    BANDANA_ASSIGN_OR_RETURN(BitSealer sealer, BitSealer::Create(public_key));
    sealers.push_back(std::move(sealer));
  }
  return CountSealer(std::move(sealers), KeyFingerprint(public_key));
}

absl::Status CountSealer::Seal(Epoch epoch, std::span<const std::int64_t> counts, Count bits,
                               v1::SealedShare& out) {
  const auto width = static_cast<std::size_t>(bits);
  std::vector<char> plain(counts.size() * width, 0);
  std::vector<char*> sealed;
  out.clear_coordinates();
  out.set_key_fingerprint(fingerprint_);
  SecureSource entropy;
  CoinGen coin(entropy);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!(counts[i] >= 0 && counts[i] <= bits)) {
      return absl::InternalError(fmt::format("a count is not from 0 to {}", bits));
    }
    char* coordinate = plain.data() + i * width;
    std::fill_n(coordinate, static_cast<std::size_t>(counts[i]), 1);
    for (std::size_t left = width; left > 1; --left) {
      std::swap(coordinate[left - 1], coordinate[UniformBelow(left, coin)]);
    }
    out.add_coordinates()->resize(width * kSealedBitBytes);
  }
  for (std::string& coordinate : *out.mutable_coordinates()) sealed.push_back(coordinate.data());
  InParallel(plain.size(), sealers_.size(), [&](std::size_t thread, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      char* place = sealed[i / width] + (i % width) * kSealedBitBytes;
      sealers_[thread].Seal(epoch, static_cast<std::uint32_t>(i / width), plain[i] == 1,
                            std::span<char, kSealedBitBytes>(place, kSealedBitBytes));
    }
  });
  return absl::OkStatus();
}

CountOpener::CountOpener(std::span<const std::uint8_t, 32> secret) {
  openers_.push_back(BitOpener::FromSecret(secret));
  for (std::size_t i = 1; i < Cores(); ++i) openers_.push_back(openers_.front().Clone());
}

absl::StatusOr<Count> CountOpener::Ones(Epoch epoch, std::uint32_t coordinate, std::string_view bits) {
  if (bits.size() % kSealedBitBytes != 0) {
    return absl::InvalidArgumentError(
        fmt::format("malformed message: the sealed bits have {} bytes, but each bit takes {}", bits.size(),
                    kSealedBitBytes));
  }
  std::vector<absl::StatusOr<Count>> ones(openers_.size(), Count{0});
  InParallel(bits.size() / kSealedBitBytes, openers_.size(),
             [&](std::size_t thread, std::size_t begin, std::size_t end) {
               for (std::size_t i = begin; i < end && ones[thread].ok(); ++i) {
                 const absl::StatusOr<bool> bit = openers_[thread].Open(
                     epoch, coordinate, bits.substr(i * kSealedBitBytes, kSealedBitBytes));
                 if (!bit.ok()) {
                   ones[thread] = bit.status();
                 } else if (*bit) {
                   ++*ones[thread];
                 }
               }
             });
  Count total = 0;
  for (const absl::StatusOr<Count>& part : ones) {
    if (!part.ok()) return part.status();
    total += *part;
  }
  return total;
}

void PermuteSealedBits(std::string& bits, CoinGen& coin) {
  for (std::size_t left = bits.size() / kSealedBitBytes; left > 1; --left) {
    char* last = bits.data() + (left - 1) * kSealedBitBytes;
    char* other = bits.data() + UniformBelow(left, coin) * kSealedBitBytes;
    if (last != other) std::swap_ranges(last, last + kSealedBitBytes, other);
  }
}

}  // namespace bandana::service
