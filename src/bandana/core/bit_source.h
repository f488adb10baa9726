#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bandana/core/ids.h"

namespace bandana {

/// A source of random bits. Generators buffer, so a virtual call is paid once per buffer.
class BitSource {
 public:
  virtual ~BitSource() = default;
  /// Writes the next words of the stream. Their number must be a multiple of four.
  virtual void Refill(std::span<std::uint64_t> words) = 0;
  /// Drops the next blocks of the stream, of kBlock words each.
  virtual void Skip(std::uint64_t blocks);
  static constexpr std::size_t kBlock = 8;
  /// True if an adversary who knows everything but the bits themselves cannot predict them.
  virtual bool secure() const = 0;
};

/// The purpose of a draw. Two draws with different purposes never share bits. The values are part of the
/// reproducibility contract: never renumber them.
enum class Stream : std::uint64_t {
  kInstance = 1,         ///< the actions and the parameter theta
  kClientParameter = 2,  ///< theta_u, the parameter of client u
  kReward = 3,
  kExploration = 4,  ///< the random choices of a role
  kClientSampling = 5,
  kPrivacy = 6,
  kTest = 7,
  kContext = 8,  ///< the decision sets of rounds, and their rewards
  kDropout = 9,  ///< which participants miss a round
};

/// Every draw is addressed by this key and its position, never by the order in which things happen, so that
/// results do not depend on threads, on processes or on where a run was resumed.
struct StreamKey {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
  NodeId node;
  Epoch epoch = 0;
  Stream stream = Stream::kTest;
};

/// Counter-based bits: Philox4x64-10 (Salmon et al., SC 2011) with key (seed, replicate) and counter (block,
/// node, epoch, stream). The bits are reproducible and therefore not secure: an adversary who knows the seed
/// knows the noise.
class PhiloxSource final : public BitSource {
 public:
  explicit PhiloxSource(const StreamKey& key) : key_(key) {}
  void Refill(std::span<std::uint64_t> words) override;
  void Skip(std::uint64_t blocks) override;  ///< in constant time
  bool secure() const override { return false; }

 private:
  StreamKey key_;
  std::uint64_t block_ = 0;
};

/// Cryptographic bits: ChaCha20 (OpenSSL).
class SecureSource final : public BitSource {
 public:
  /// The key and the nonce come from the operating system's entropy.
  SecureSource();

  /// The bits follow from a secret key, which is used for one stream only: a process that was killed draws
  /// them again.
  explicit SecureSource(std::span<const std::uint8_t, 32> key);
  ~SecureSource() override;
  SecureSource(const SecureSource&) = delete;
  SecureSource& operator=(const SecureSource&) = delete;
  void Refill(std::span<std::uint64_t> words) override;
  void Skip(std::uint64_t blocks) override;  ///< in constant time
  bool secure() const override { return true; }

 private:
  std::array<std::uint8_t, 16> nonce_ = {};
  void* cipher_;             // EVP_CIPHER_CTX
  std::uint64_t drawn_ = 0;  // words
};

}  // namespace bandana
