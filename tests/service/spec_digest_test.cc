#include "bandana/service/spec_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bandana::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SpecDigestTest, IsEqualExactlyForEqualValues) {
  EXPECT_EQ(SpecDigest({{"horizon", "5"}}), SpecDigest({{"horizon", "5"}}));
  EXPECT_NE(SpecDigest({{"horizon", "5"}}), SpecDigest({{"horizon", "6"}}));
  EXPECT_NE(SpecDigest({{"horizon", "5"}}), SpecDigest({{"seed", "5"}}));
  EXPECT_THAT(SpecDigest({{"environment.file", "/secret"}}), Not(HasSubstr("secret")));
}

TEST(SpecDigestTest, TheErrorNamesTheKeysThatDiffer) {
  const std::string ours = SpecDigest({{"horizon", "5"}, {"privacy.epsilon", "1"}, {"seed", "1"}});
  const std::string theirs = SpecDigest({{"horizon", "5"}, {"privacy.epsilon", "2"}});
  const absl::Status status = OtherSpec(theirs, ours, "agent", "server");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("this agent differs from that of the server in "
                                                "privacy.epsilon, seed:"),
                                      Not(HasSubstr("horizon"))));
}

TEST(SpecDigestTest, ALongListIsCutAndForeignTextIsNotRepeated) {
  std::map<std::string, std::string> many;
  for (char c = 'a'; c <= 'h'; ++c) many[std::string(1, c)] = "1";
  const absl::Status status = OtherSpec("x=1", SpecDigest(many), "peer", "neighbour");
  EXPECT_THAT(status.message(), HasSubstr("a, b, c, d, e and 3 more keys"));
  const absl::Status foreign = OtherSpec("anything at all", SpecDigest(many), "peer", "neighbour");
  EXPECT_THAT(foreign.message(), AllOf(HasSubstr("compare the two files"), Not(HasSubstr("anything"))));
}

}  // namespace
}  // namespace bandana::service
