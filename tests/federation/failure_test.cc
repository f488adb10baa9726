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
    EXPECT_EQ(error.key, "failures");
    EXPECT_EQ(error.value, text);
    EXPECT_THAT(error.accepted, HasSubstr("agent A @ R"));
  }
}

TEST(FailureTest, SeveralStandWithCommasBetween) {
  using enum Failure::Kind;
  const std::vector<Failure> both = {{kAgent, {3}, {}, 2}, {kLink, {4}, {5}, 1}};
  EXPECT_EQ(ParseFailures("agent 3 @ 2, link 5-4 @ 1").value(), both);
  EXPECT_THAT(ParseFailures("none").value(), testing::IsEmpty());
  EXPECT_FALSE(ParseFailures("agent 3 @ 2,").ok());
  for (const Failure& each : both) EXPECT_EQ(ParseFailure(ToText(each)).value(), each);
}

TEST(LossParamsTest, OptionsReadAndWriteFailures) {
  const std::vector<Option> options = LossOptions().options();
  const std::string text = "miss 7 @ 3, agent 3 @ 2";
  const auto resolved = Resolve(options, LossParams{}, {{"failures", text}, {"dropout", 0.5}});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const auto& losses = std::any_cast<const LossParams&>(resolved->params);
  EXPECT_EQ(losses.failures.size(), 2);
  EXPECT_EQ(losses.dropout, 0.5);
  EXPECT_EQ(options[1].get(resolved->params), Value(text));
  EXPECT_EQ(options[1].get(LossParams{}), Value(std::string("none")));
  EXPECT_FALSE(Resolve(options, LossParams{}, {{"failures", std::int64_t{3}}}).ok());
  EXPECT_FALSE(Resolve(options, LossParams{}, {{"dropout", 1.0}}).ok());
}

TEST(LossParamsTest, NotesSayWhatALossDoesToResults) {
  const LossParams lost{.failures = {{Failure::Kind::kAgent, {3}, {}, 2}}};
  EXPECT_THAT(NotesOn({}, Facts{.agents_differ = true}), testing::IsEmpty());
  EXPECT_THAT(NotesOn(lost, {}), testing::SizeIs(1));
  EXPECT_THAT(NotesOn(lost, Facts{.agents_differ = true}), testing::SizeIs(2));
  EXPECT_THAT(NotesOn({.dropout = 0.1}, Facts{.agents_differ = true}), testing::SizeIs(1));
}

}  // namespace
}  // namespace bandana
