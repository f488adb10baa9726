#include "bandana/federation/policy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bandana/core/archive.h"
#include "bandana/core/ids.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

class Counter final : public Savable {
 public:
  explicit Counter(Count most) : most_(most) {}
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(most_, "most");
    a(count);
  }
  Count count = 0;

 private:
  Count most_;
};

class PolicyFileTest : public ::testing::Test {
 protected:
  void TearDown() override {
    std::remove(path_.c_str());
    std::remove((path_ + ".new").c_str());
  }
  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void Put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string path_ = ::testing::TempDir() + "bandana_policy_" + std::to_string(getpid());
  PolicyIdentity identity_{"dp-dpe", "server", {{"algorithm.alpha", "0.8"}, {"horizon", "1000"}}};
};

TEST_F(PolicyFileTest, GivesBackWhatWasWritten) {
  const std::string state("a\0b\xff", 4);
  ASSERT_TRUE(WritePolicy(path_, identity_, state).ok());
  EXPECT_EQ(ReadPolicy(path_, identity_).value(), state);
  ASSERT_TRUE(WritePolicy(path_, identity_, "").ok());
  EXPECT_EQ(ReadPolicy(path_, identity_).value(), "");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
  struct stat info{};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u) << "a silo's data are in it";
}

TEST_F(PolicyFileTest, ARoleGoesOnFromIt) {
  Counter counter(10);
  counter.count = 7;
  ASSERT_TRUE(SavePolicy(path_, identity_, counter).ok());
  Counter next(10);
  ASSERT_TRUE(LoadPolicy(path_, identity_, next).ok());
  EXPECT_EQ(next.count, 7);
  Counter other(11);
  const absl::Status status = LoadPolicy(path_, identity_, other);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("another most: 10, not 11"));
  EXPECT_EQ(InputErrorOf(status)->file, path_);
}

TEST_F(PolicyFileTest, ASaveThatFailsLeavesTheOldOne) {
  ASSERT_TRUE(WritePolicy(path_, identity_, "old").ok());
  std::filesystem::create_directory(path_ + ".new");  // now the temporary file cannot be made
  EXPECT_FALSE(WritePolicy(path_, identity_, "new").ok());
  std::filesystem::remove(path_ + ".new");
  EXPECT_EQ(ReadPolicy(path_, identity_).value(), "old");
}

TEST_F(PolicyFileTest, RefusesWhatIsCutShort) {
  ASSERT_TRUE(WritePolicy(path_, identity_, "state").ok());
  const std::string bytes = Bytes();
  for (std::size_t size = bytes.size() % 3; size < bytes.size(); size += 3) {  // not every size, because
                                                                               // files take time
    Put(bytes.substr(0, size));
    const absl::Status status = ReadPolicy(path_, identity_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << size << ": " << status;
    EXPECT_EQ(InputErrorOf(status)->file, path_);
  }
}

TEST_F(PolicyFileTest, RefusesFlippedBits) {
  ASSERT_TRUE(WritePolicy(path_, identity_, "state").ok());
  const std::string bytes = Bytes();
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ (1 << (i % 8)));
    Put(other);
    EXPECT_FALSE(ReadPolicy(path_, identity_).ok()) << i;
  }
  Put(bytes + "x");
  EXPECT_EQ(ReadPolicy(path_, identity_).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(PolicyFileTest, RefusesOtherFiles) {
  Put("{\"name\": \"something else, longer than a digest: 0123456789012345678901234567890123456789\"}");
  const absl::Status status = ReadPolicy(path_, identity_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("not a saved policy"));
  EXPECT_EQ(ReadPolicy(path_ + ".none", identity_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadPolicy(::testing::TempDir(), identity_).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(PolicyFileTest, RefusesAnotherVersion) {
  ASSERT_TRUE(WritePolicy(path_, identity_, "state").ok());
  std::string bytes = Bytes();
  bytes.resize(bytes.size() - 64);
  bytes[std::string("bandana saved policy\n").size()] = 2;
  Put(bytes + Sha256(bytes));
  const absl::Status status = ReadPolicy(path_, identity_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("format version: 2, not 1"));
}

TEST_F(PolicyFileTest, RefusesAnotherPolicyAndSaysInWhat) {
  ASSERT_TRUE(WritePolicy(path_, identity_, "state").ok());
  const auto refusal = [&](const PolicyIdentity& identity) {
    const absl::Status status = ReadPolicy(path_, identity).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return std::string(status.message());
  };
  PolicyIdentity other = identity_;
  other.algorithm = "pe";
  EXPECT_THAT(refusal(other), HasSubstr("algorithm = \"dp-dpe\", not \"pe\""));
  other = identity_;
  other.role = "agent 3";
  EXPECT_THAT(refusal(other), HasSubstr("role = \"server\", not \"agent 3\""));
  other = identity_;
  other.parameters["horizon"] = "2000";
  EXPECT_THAT(refusal(other), HasSubstr("horizon = \"1000\", not \"2000\""));
  other = identity_;
  other.parameters.erase("algorithm.alpha");
  EXPECT_THAT(refusal(other), HasSubstr("algorithm.alpha = \"0.8\", not \"(none)\""));
  other = identity_;
  other.parameters["privacy.epsilon"] = "1";
  EXPECT_THAT(refusal(other), HasSubstr("privacy.epsilon = \"(none)\", not \"1\""));
}

}  // namespace
}  // namespace bandana
