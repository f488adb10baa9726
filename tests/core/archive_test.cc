#include "bandana/core/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bandana/core/ids.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

enum class Colour : std::uint8_t { kRed, kGreen };

struct Leaf {
  Count count = 0;
  double value = 0;
  bool operator==(const Leaf&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(count, value);
  }
};

class Sealed {
 public:
  explicit Sealed(int secret) : secret_(secret) {}
  bool operator==(const Sealed&) const = default;

 private:
  friend class bandana::StateAccess;
  Sealed() = default;
  template <class Archive>
  void State(Archive& a) {
    a(secret_);
  }
  int secret_ = 0;
};

struct Everything {
  bool flag = false;
  std::int8_t tiny = 0;
  std::uint32_t word = 0;
  std::int64_t large = 0;
  float single = 0;
  double number = 0;
  Colour colour = Colour::kRed;
  std::string text;
  std::vector<double> numbers;
  std::vector<std::vector<Leaf>> leaves;
  std::optional<Leaf> none;
  std::optional<Leaf> some;
  std::pair<int, std::string> pair;
  std::tuple<int, Leaf, bool> tuple;
  std::array<int, 3> array{};
  std::map<int, std::vector<int>> map;
  std::set<std::pair<int, int>> set;
  absl::flat_hash_map<std::string, Leaf> hashed;
  absl::flat_hash_set<int> hashes;
  absl::InlinedVector<std::uint64_t, 2> inlined;
  Matrix matrix;
  ActionMatrix actions;
  Vector vector;
  Eigen::Matrix<float, 2, 2> fixed = Eigen::Matrix<float, 2, 2>::Zero();
  std::shared_ptr<const Leaf> null;
  std::shared_ptr<const std::vector<Sealed>> shared;
  absl::Status status;

  template <class Archive>
  void State(Archive& a) {
    a(flag, tiny, word, large, single, number, colour, text, numbers, leaves, none, some, pair, tuple, array,
      map, set, hashed, hashes, inlined, matrix, actions, vector, fixed, null, shared, status);
  }
};

Everything Full() {
  Everything all;
  all.flag = true;
  all.tiny = -3;
  all.word = 0xfedcba98;
  all.large = std::numeric_limits<std::int64_t>::min();
  all.single = 0.1F;
  all.number = -0.0;
  all.colour = Colour::kGreen;
  all.text = std::string("a\0b", 3);
  all.numbers = {0.1, std::numeric_limits<double>::infinity(), 4.9e-324, std::nan("7")};
  all.leaves = {{}, {{1, 2.5}, {3, 4.5}}};
  all.some = Leaf{7, 8};
  all.pair = {1, "two"};
  all.tuple = {1, {2, 3}, true};
  all.array = {1, 2, 3};
  all.map = {{-1, {1}}, {2, {}}};
  all.set = {{1, 2}, {1, 3}};
  for (int i = 0; i < 100; ++i) {
    all.hashed[std::to_string(i)] = {i, 0.5};
    all.hashes.insert(i * 7919);
  }
  all.inlined = {1, 2, 3};
  all.matrix = Matrix::Random(3, 4);
  all.actions = ActionMatrix::Random(2, 5);
  all.vector = Vector::Random(6);
  all.fixed(0, 1) = 2;
  all.shared = std::make_shared<const std::vector<Sealed>>(std::vector<Sealed>{Sealed(5), Sealed(6)});
  all.status = absl::NotFoundError("gone");
  return all;
}

TEST(ArchiveTest, GivesBackWhatItTook) {
  const Everything all = Full();
  const std::string bytes = SaveState(all);
  Everything back;
  back.none = Leaf{};
  back.null = std::make_shared<const Leaf>();
  back.map = {{5, {}}};
  back.numbers = {1, 2, 3};
  ASSERT_TRUE(RestoreState(bytes, back).ok());
  EXPECT_TRUE(back.flag);
  EXPECT_EQ(back.tiny, -3);
  EXPECT_EQ(back.word, all.word);
  EXPECT_EQ(back.large, all.large);
  EXPECT_EQ(back.single, all.single);
  EXPECT_TRUE(std::signbit(back.number));
  EXPECT_EQ(back.colour, Colour::kGreen);
  EXPECT_EQ(back.text, all.text);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(back.numbers[3]), std::bit_cast<std::uint64_t>(all.numbers[3]));
  EXPECT_EQ(back.leaves, all.leaves);
  EXPECT_EQ(back.none, std::nullopt);
  EXPECT_EQ(back.some, all.some);
  EXPECT_EQ(back.pair, all.pair);
  EXPECT_EQ(back.tuple, all.tuple);
  EXPECT_EQ(back.array, all.array);
  EXPECT_EQ(back.map, all.map);
  EXPECT_EQ(back.set, all.set);
  EXPECT_EQ(back.hashed, all.hashed);
  EXPECT_EQ(back.hashes, all.hashes);
  EXPECT_EQ(back.inlined, all.inlined);
  EXPECT_EQ(back.matrix, all.matrix);
  EXPECT_EQ(back.actions, all.actions);
  EXPECT_EQ(back.vector, all.vector);
  EXPECT_EQ(back.fixed, all.fixed);
  EXPECT_EQ(back.null, nullptr);
  EXPECT_EQ(*back.shared, *all.shared);
  EXPECT_EQ(back.status, all.status);
  EXPECT_EQ(SaveState(back), bytes);
}

TEST(ArchiveTest, IsTheSameInEveryProcess) {
  const std::pair<std::int16_t, double> pair{-2, 1.0};
  EXPECT_EQ(SaveState(pair), std::string("\xfe\xff\0\0\0\0\0\0\xf0\x3f", 10));
  const std::vector<std::uint8_t> list{5};
  EXPECT_EQ(SaveState(list), std::string("\x01\0\0\0\0\0\0\0\x05", 9));
}

TEST(ArchiveTest, RefusesEveryTruncation) {
  const std::string bytes = SaveState(Full());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Everything back;
    EXPECT_EQ(RestoreState(std::string_view(bytes).substr(0, size), back).code(), absl::StatusCode::kDataLoss)
        << size;
  }
}

TEST(ArchiveTest, RefusesWhatIsLeftOver) {
  Everything back;
  const absl::Status status = RestoreState(SaveState(Full()) + "x", back);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("more bytes than expected"));
}

// Any flipped byte is read or refused, with memory in proportion to the input.
TEST(ArchiveTest, TakesEveryFlippedByteWithoutHarm) {
  const std::string bytes = SaveState(Full());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      Everything back;
      if (!RestoreState(other, back).ok()) continue;
      EXPECT_TRUE(SaveState(back) == other) << i;
    }
  }
}

template <class T>
absl::Status Read(std::initializer_list<std::uint64_t> words) {
  std::vector<std::uint64_t> list(words);
  std::string bytes = SaveState(list).substr(8);
  T value{};
  return RestoreState(bytes, value);
}

TEST(ArchiveTest, BelievesNoSize) {
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(Read<std::vector<double>>({huge, 0}).message(), HasSubstr("a list of 18446744073709551615"));
  EXPECT_EQ(Read<std::vector<double>>({3, 1, 2}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Read<std::vector<std::vector<double>>>({std::uint64_t{1} << 40}).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(Read<std::vector<std::monostate>>({std::uint64_t{1} << 40}).code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Read<std::string>({huge}).message(), HasSubstr("a text of"));
  EXPECT_THAT(Read<Matrix>({std::uint64_t{1} << 30, std::uint64_t{1} << 30, 0}).message(),
              HasSubstr("a matrix of 1073741824 x 1073741824"));
  EXPECT_EQ(Read<Matrix>({huge, 2, 0}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Read<Eigen::Matrix2d>({1, 4, 0, 0, 0, 0}).code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(Read<Eigen::Matrix2d>({2, 2, 0, 0, 0, 0}).ok());
}

TEST(ArchiveTest, TakesOneOrderOfKeysAlone) {
  using Set = std::set<std::uint64_t>;
  using Hashes = absl::flat_hash_map<std::uint64_t, std::uint64_t>;
  EXPECT_TRUE(Read<Set>({2, 1, 5}).ok());
  EXPECT_THAT(Read<Set>({2, 5, 1}).message(), HasSubstr("not in order"));
  EXPECT_THAT(Read<Set>({2, 5, 5}).message(), HasSubstr("not in order"));
  EXPECT_TRUE(Read<Hashes>({2, 1, 5, 2, 5}).ok());
  EXPECT_FALSE(Read<Hashes>({2, 2, 5, 1, 5}).ok());
}

TEST(ArchiveTest, TakesNothingForTrueThatIsNot) {
  bool flag = false;
  EXPECT_TRUE(RestoreState(std::string_view("\x01", 1), flag).ok());
  EXPECT_TRUE(flag);
  EXPECT_THAT(RestoreState(std::string_view("\x02", 1), flag).message(), HasSubstr("neither true nor false"));
}

struct Policy {
  Count horizon = 0;
  std::vector<Leaf> parts;
  Count rounds = 0;
  template <class Archive>
  void State(Archive& a) {
    a.Same(horizon, "horizon");
    a.Each(parts);
    a(rounds);
    a.Check(rounds <= horizon, "it has more rounds than the horizon");
  }
};

TEST(ArchiveTest, RefusesOtherParameters) {
  const std::string bytes = SaveState(Policy{.horizon = 10, .parts = {{1, 2}}, .rounds = 5});
  Policy same{.horizon = 10, .parts = {{}}};
  EXPECT_TRUE(RestoreState(bytes, same).ok());
  EXPECT_EQ(same.parts[0], (Leaf{1, 2}));
  Policy longer{.horizon = 20, .parts = {{}}};
  const absl::Status status = RestoreState(bytes, longer);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("another horizon: 10, not 20"));
  Policy wider{.horizon = 10, .parts = {{}, {}}};
  EXPECT_EQ(RestoreState(bytes, wider).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ArchiveTest, ChecksWhatItReads) {
  const std::string bytes = SaveState(Policy{.horizon = 10, .rounds = 11});
  Policy policy{.horizon = 10};
  EXPECT_THAT(RestoreState(bytes, policy).message(), HasSubstr("it has more rounds than the horizon"));
}

}  // namespace
}  // namespace bandana
