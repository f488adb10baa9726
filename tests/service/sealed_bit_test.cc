#include "bandana/service/sealed_bit.h"

#include <array>
#include <set>
#include <string>
#include <vector>

#include "bandana/core/bit_source.h"
#include "bandana/service/sealed_counts.h"
#include "bandana/store/seal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/federation.pb.h"

namespace bandana::service {
namespace {

using ::testing::HasSubstr;

std::string Seal(BitSealer& sealer, Epoch epoch, std::uint32_t coordinate, bool bit) {
  std::string sealed(kSealedBitBytes, '\0');
  sealer.Seal(epoch, coordinate, bit, std::span<char, kSealedBitBytes>(sealed.data(), kSealedBitBytes));
  return sealed;
}

class SealedBit : public testing::Test {
 protected:
  BitOpener opener_ = BitOpener::FromSecret(store::RandomKey());
  BitSealer sealer_ = BitSealer::Create(opener_.public_key()).value();
};

TEST_F(SealedBit, OpensAsItWasSealed) {
  for (const Epoch epoch : {1, 7, 1 << 30}) {
    for (const std::uint32_t coordinate : {0U, 255U, 0xffffffffU}) {
      for (const bool bit : {false, true}) {
        const auto opened = opener_.Open(epoch, coordinate, Seal(sealer_, epoch, coordinate, bit));
        ASSERT_TRUE(opened.ok()) << opened.status();
        EXPECT_EQ(*opened, bit);
      }
    }
  }
}

TEST_F(SealedBit, AnyByteThatIsAlteredIsFound) {
  const std::string sealed = Seal(sealer_, 3, 2, true);
  for (std::size_t byte = 0; byte < kSealedBitBytes; ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = sealed;
      altered[byte] = static_cast<char>(altered[byte] ^ (1 << bit));
      const auto opened = opener_.Open(3, 2, altered);
      EXPECT_EQ(opened.status().code(), absl::StatusCode::kInvalidArgument) << byte << " " << bit;
    }
  }
  for (const std::string& altered : {sealed.substr(1), sealed + 'x', std::string()}) {
    EXPECT_FALSE(opener_.Open(3, 2, altered).ok()) << altered.size();
  }
}

TEST_F(SealedBit, BelongsToItsEpochCoordinateAndKey) {
  const std::string sealed = Seal(sealer_, 3, 2, true);
  EXPECT_TRUE(opener_.Open(3, 2, sealed).ok());
  EXPECT_FALSE(opener_.Open(4, 2, sealed).ok());
  EXPECT_FALSE(opener_.Open(3, 1, sealed).ok());
  EXPECT_FALSE(opener_.Open(2, 3, sealed).ok());
  EXPECT_FALSE(BitOpener::FromSecret(store::RandomKey()).Open(3, 2, sealed).ok());
  EXPECT_EQ(opener_.Clone().Open(3, 2, sealed).value(), true);
  EXPECT_THAT(std::string(opener_.Open(4, 2, sealed).status().message()),
              HasSubstr("coordinate 2 in epoch 4"));
}

TEST_F(SealedBit, TwoSealsHaveNothingInCommon) {
  std::set<std::string> keys;
  std::set<std::string> bits;
  constexpr int kSeals = 100;
  for (int i = 0; i < kSeals; ++i) {
    const std::string sealed = Seal(sealer_, 1, 1, true);
    keys.insert(sealed.substr(0, kSealingKeyBytes));
    bits.insert(sealed.substr(kSealingKeyBytes));
  }
  EXPECT_EQ(keys.size(), kSeals);
  EXPECT_EQ(bits.size(), kSeals);
}

TEST_F(SealedBit, ARunHasAKeyOfItsOwn) {
  EXPECT_EQ(opener_.public_key().size(), kSealingKeyBytes);
  EXPECT_NE(opener_.public_key(), BitOpener::FromSecret(store::RandomKey()).public_key());
}

TEST_F(SealedBit, AKeyHasAFingerprintThatIsNotTheKey) {
  const std::string fingerprint = KeyFingerprint(opener_.public_key());
  EXPECT_EQ(fingerprint.size(), kKeyFingerprintBytes);
  EXPECT_EQ(fingerprint, KeyFingerprint(opener_.Clone().public_key()));
  EXPECT_NE(fingerprint, opener_.public_key());
  EXPECT_NE(fingerprint, KeyFingerprint(BitOpener::FromSecret(store::RandomKey()).public_key()));
}

TEST(SealingKey, RefusesWhatIsNone) {
  EXPECT_FALSE(BitSealer::Create("").ok());
  EXPECT_FALSE(BitSealer::Create(std::string(31, 'k')).ok());
  EXPECT_FALSE(BitSealer::Create(std::string(33, 'k')).ok());
  EXPECT_FALSE(BitSealer::Create(std::string(32, '\0')).ok())
      << "a point of small order: everyone knows the secret";
  std::string one(32, '\0');
  one[0] = 1;
  EXPECT_FALSE(BitSealer::Create(one).ok());
}

class SealedCounts : public testing::Test {
 protected:
  v1::SealedShare SealAll(const std::vector<std::int64_t>& counts, Count bits) {
    v1::SealedShare share;
    EXPECT_TRUE(CountSealer::Create(opener_.public_key())->Seal(5, counts, bits, share).ok());
    return share;
  }
  CountOpener opener_{store::RandomKey()};
};

TEST_F(SealedCounts, ComeBack) {
  const std::vector<std::int64_t> counts = {0, 1, 77, 149, 150};
  const v1::SealedShare share = SealAll(counts, 150);
  ASSERT_EQ(share.coordinates_size(), 5);
  for (int i = 0; i < 5; ++i) {
    const auto ones = opener_.Ones(5, static_cast<std::uint32_t>(i), share.coordinates(i));
    ASSERT_TRUE(ones.ok()) << ones.status();
    EXPECT_EQ(*ones, counts[static_cast<std::size_t>(i)]);
  }
  EXPECT_FALSE(opener_.Ones(5, 1, share.coordinates(0)).ok());
  EXPECT_FALSE(opener_.Ones(4, 0, share.coordinates(0)).ok());
  EXPECT_FALSE(opener_.Ones(5, 0, share.coordinates(0).substr(1)).ok());
}

TEST_F(SealedCounts, AreOfOneSizeWhateverTheySay) {
  for (const std::int64_t count : {0, 1, 20, 40}) {
    const v1::SealedShare share = SealAll({count, 40 - count}, 40);
    EXPECT_EQ(share.coordinates(0).size(), 40 * kSealedBitBytes);
    EXPECT_EQ(share.coordinates(1).size(), 40 * kSealedBitBytes);
  }
}

TEST_F(SealedCounts, OneAlteredBitAmongManyIsFound) {
  v1::SealedShare share = SealAll({100}, 200);
  for (const std::size_t place : {std::size_t{0}, std::size_t{123}, std::size_t{199}}) {
    std::string altered = share.coordinates(0);
    altered[place * kSealedBitBytes + 40] ^= 1;
    EXPECT_FALSE(opener_.Ones(5, 0, altered).ok()) << place;
  }
}

TEST_F(SealedCounts, RefuseACountThatIsNone) {
  v1::SealedShare share;
  CountSealer sealer = CountSealer::Create(opener_.public_key()).value();
  EXPECT_FALSE(sealer.Seal(1, std::vector<std::int64_t>{-1}, 10, share).ok());
  EXPECT_FALSE(sealer.Seal(1, std::vector<std::int64_t>{11}, 10, share).ok());
}

// The order of a client's bits must not show which are which: each place holds a one equally often. In 400
// seals of 3 ones in 6 bits a place has 200 ones with a standard deviation of 10. The test allows 6 standard
// deviations, a false-alarm rate below 1e-7 for all places together.
TEST_F(SealedCounts, StandInAnyOrder) {
  BitOpener opener = BitOpener::FromSecret(store::RandomKey());
  CountSealer sealer = CountSealer::Create(opener.public_key()).value();
  std::array<int, 6> ones = {};
  v1::SealedShare share;
  constexpr int kSeals = 400;
  ASSERT_TRUE(sealer.Seal(1, std::vector<std::int64_t>(kSeals, 3), 6, share).ok());
  for (int i = 0; i < kSeals; ++i) {
    for (std::size_t place = 0; place < 6; ++place) {
      const std::string bit = share.coordinates(i).substr(place * kSealedBitBytes, kSealedBitBytes);
      if (opener.Open(1, static_cast<std::uint32_t>(i), bit).value()) ++ones[place];
    }
  }
  for (const int count : ones) EXPECT_NEAR(count, kSeals / 2, 60);
}

TEST_F(SealedCounts, ArePermutedWhole) {
  std::string bits;
  for (int i = 0; i < 50; ++i) bits += std::string(kSealedBitBytes, static_cast<char>(i));
  const auto pieces = [](const std::string& all) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < all.size(); i += kSealedBitBytes)
      found.push_back(all.substr(i, kSealedBitBytes));
    return found;
  };
  std::string permuted = bits;
  SecureSource entropy;
  CoinGen coin(entropy);
  PermuteSealedBits(permuted, coin);
  EXPECT_NE(permuted, bits);
  EXPECT_THAT(pieces(permuted), testing::UnorderedElementsAreArray(pieces(bits)));
}

}  // namespace
}  // namespace bandana::service
