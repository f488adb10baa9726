#include "bandana/core/generators.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <type_traits>
#include <vector>

#include "Random123/philox.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/noise_door.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bandana {
namespace {

using ::testing::ElementsAre;

static_assert(!std::is_convertible_v<CoinGen&, NoiseGen&>);
static_assert(!std::is_convertible_v<NoiseGen&, CoinGen&>);
static_assert(!std::is_constructible_v<NoiseGen, CoinGen&>);
static_assert(!std::is_constructible_v<CoinGen, NoiseGen&>);
static_assert(!std::is_copy_constructible_v<NoiseGen>, "a copy would repeat the noise");
static_assert(std::is_same_v<NoiseGen::result_type, std::uint64_t>);

StreamKey SomeKey() {
  StreamKey key;
  key.seed = 0x0123456789abcdef;
  key.replicate = 7;
  key.node = NodeId{42};
  key.epoch = 3;
  key.stream = Stream::kReward;
  return key;
}

std::vector<std::uint64_t> Words(BitSource& source, std::size_t total, std::size_t chunk) {
  std::vector<std::uint64_t> words(total);
  for (std::size_t i = 0; i < total; i += chunk) source.Refill(std::span(words).subspan(i, chunk));
  return words;
}

// The expected values are the "philox4x64 10" lines of Random123's kat_vectors.
TEST(PhiloxTest, GivesThePublishedKnownAnswers) {
  const r123::Philox4x64 philox;
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_THAT(philox({{0, 0, 0, 0}}, {{0, 0}}),
              ElementsAre(0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b));
  EXPECT_THAT(philox({{kOnes, kOnes, kOnes, kOnes}}, {{kOnes, kOnes}}),
              ElementsAre(0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0));
  EXPECT_THAT(philox({{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89}},
                     {{0x452821e638d01377, 0xbe5466cf34e90c6c}}),
              ElementsAre(0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6));
}

TEST(PhiloxSourceTest, IsPhiloxAtTheAddressOfTheKey) {
  PhiloxSource source(SomeKey());
  std::vector<std::uint64_t> expected;
  for (std::uint64_t block = 0; block < 1024; ++block) {
    const auto words = r123::Philox4x64()({{block, 42, 3, 3}}, {{0x0123456789abcdef, 7}});
    expected.insert(expected.end(), words.begin(), words.end());
  }
  EXPECT_EQ(Words(source, 4096, 64), expected);
}

TEST(PhiloxSourceTest, WordsDoNotDependOnHowManyBlocksAreAskedForAtOnce) {
  PhiloxSource whole(SomeKey());
  const std::vector<std::uint64_t> expected = Words(whole, 96, 96);
  for (const std::size_t chunk : {4, 8, 12, 32, 48}) {
    PhiloxSource source(SomeKey());
    EXPECT_EQ(Words(source, 96, chunk), expected) << chunk;
  }
}

TEST(PhiloxSourceTest, EveryFieldOfTheKeyGivesAnotherStream) {
  std::vector<StreamKey> keys(6, SomeKey());
  keys[1].seed ^= 1;
  keys[2].replicate ^= 1;
  keys[3].node = NodeId{43};
  keys[4].epoch += 1;
  keys[5].stream = Stream::kPrivacy;
  std::set<std::uint64_t> seen;
  for (const StreamKey& key : keys) {
    PhiloxSource source(key);
    for (const std::uint64_t word : Words(source, 64, 64)) EXPECT_TRUE(seen.insert(word).second);
  }
}

TEST(GeneratorTest, GivesTheWordsOfItsSourceInOrder) {
  PhiloxSource direct(SomeKey());
  PhiloxSource buffered(SomeKey());
  CoinGen gen(buffered);
  for (const std::uint64_t word : Words(direct, 160, 160)) EXPECT_EQ(gen(), word);
}

TEST(GeneratorTest, TellsWhetherItsBitsAreSecure) {
  PhiloxSource replayable(SomeKey());
  SecureSource secret;
  EXPECT_FALSE(replayable.secure());
  EXPECT_TRUE(secret.secure());
  EXPECT_FALSE(NoiseDoor::Open(replayable).secure());
  EXPECT_TRUE(NoiseDoor::Open(secret).secure());
}

// 1,024 words of 64 bits repeat with probability 3e-14.
TEST(SecureSourceTest, NeverRepeatsAWordWithinOrBetweenInstances) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 8; ++i) {
    SecureSource source;
    for (const std::uint64_t word : Words(source, 128, 32)) EXPECT_TRUE(seen.insert(word).second);
  }
}

// Six standard deviations: the false-alarm rate is 2e-9.
TEST(SecureSourceTest, HalfOfTheBitsAreSet) {
  SecureSource source;
  constexpr double kBits = 64 * 4096;
  double set = 0;
  for (const std::uint64_t word : Words(source, 4096, 32)) set += __builtin_popcountll(word);
  EXPECT_NEAR(set, kBits / 2, 6 * std::sqrt(kBits / 4));
}

TEST(GeneratorTest, SkipContinuesWhereAnotherOneStopped) {
  for (const int drawn : {0, 1, 7, 8, 9, 24, 25, 100}) {
    PhiloxSource bits(SomeKey());
    CoinGen first(bits);
    for (int i = 0; i < drawn; ++i) first();
    EXPECT_EQ(first.drawn(), static_cast<std::uint64_t>(drawn));
    PhiloxSource same_bits(SomeKey());
    CoinGen second(same_bits);
    second.Skip(first.drawn());
    for (int i = 0; i < 100; ++i) ASSERT_EQ(first(), second()) << drawn;
  }
}

TEST(GeneratorTest, SkipsAsManyWordsAsThereAre) {
  PhiloxSource bits(SomeKey());
  CoinGen coin(bits);
  coin.Skip(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(coin.drawn(), std::numeric_limits<std::uint64_t>::max());
}

TEST(SecureSourceTest, SkipsBlocks) {
  const std::array<std::uint8_t, 32> key{9};
  SecureSource whole(key);
  const std::vector<std::uint64_t> words = Words(whole, 256, 4);
  for (const int drawn : {0, 4, 8, 12}) {
    for (const std::uint64_t blocks : {0, 1, 7}) {
      SecureSource source(key);
      Words(source, drawn, 4);
      source.Skip(blocks);
      const auto at = words.begin() + drawn + static_cast<std::ptrdiff_t>(8 * blocks);
      EXPECT_EQ(Words(source, 32, 8), std::vector<std::uint64_t>(at, at + 32)) << drawn << ' ' << blocks;
    }
  }
  // The number of a block does not fit into 32 bits.
  SecureSource before(key);
  SecureSource at(key);
  before.Skip((std::uint64_t{1} << 32) - 1);
  at.Skip(std::uint64_t{1} << 32);
  const std::vector<std::uint64_t> both = Words(before, 24, 8);
  EXPECT_EQ(Words(at, 16, 8), std::vector<std::uint64_t>(both.begin() + 8, both.end()));
  EXPECT_NE(std::vector<std::uint64_t>(both.begin() + 8, both.begin() + 16),
            std::vector<std::uint64_t>(words.begin(), words.begin() + 8));
}

TEST(SecureSourceTest, AKeyHasOneStream) {
  std::array<std::uint8_t, 32> key{};
  SecureSource first(key);
  SecureSource again(key);
  key[31] = 1;
  SecureSource other(key);
  EXPECT_TRUE(first.secure());
  const std::vector<std::uint64_t> words = Words(first, 1024, 4);
  EXPECT_EQ(words, Words(again, 1024, 32)) << "whatever the sizes of the requests";
  EXPECT_NE(words, Words(other, 1024, 4));
}

}  // namespace
}  // namespace bandana
