#include "bandana/federation/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bandana/core/status.h"

namespace bandana {
namespace {

using testing::HasSubstr;

TEST(FailureTest, AreReadAsTheyAreWritten) {
  using enum Failure::Kind;
  EXPECT_EQ(ParseFailure("agent 3 @ 2").value(), (Failure{kAgent, {3}, {}, 2}));
  EXPECT_EQ(ParseFailure("link 5-4 @ 1").value(), (Failure{kLink, {4}, {5}, 1}));
  EXPECT_EQ(ParseFailure("link 0-7 @ 0").value(), (Failure{kLink, {0}, {7}, 0}));
  EXPECT_EQ(ParseFailure(" miss  7 @ 3 ").value(), (Failure{kMiss, {7}, {}, 3}));
}

TEST(FailureTest, WhatIsNotOneIsNamed) {
  for (const char* text : {"", "agent", "agent 3", "agent 3 @", "agent 0 @ 2", "agent x @ 2", "agent 3 @ -1",
                           "agent 3 @ 2 2", "link 3 @ 2", "link 3-3 @ 2", "link 3-x @ 2", "link 3-4-5 @ 2",
                           "miss 0 @ 1", "fire 3 @ 2", "agent 3 at 2", "agent 99999999999 @ 1"}) {
    const auto failure = ParseFailure(text);
    ASSERT_FALSE(failure.ok()) << text;
    const InputError error = InputErrorOf(failure.status()).value();
    EXPECT_EQ(error.key, "federation.failures");
    EXPECT_EQ(error.value, text);
    EXPECT_THAT(error.accepted, HasSubstr("agent A @ R"));
  }
}

}  // namespace
}  // namespace bandana
