#include "bandana/cli/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

namespace bandana::cli {
namespace {

using Output = ChildProcess::Output;

ChildProcess Shell(const std::string& script, Output output = Output::kPipe) {
  return ChildProcess::Start({"/bin/sh", "-c", script}, output).value();
}

// Returns whether a process exists. A zombie that nobody has waited for exists too.
bool Alive(pid_t pid) { return kill(pid, 0) == 0; }

TEST(ChildProcessTest, ItsOutputIsReadLineByLine) {
  ChildProcess child = Shell("echo one; echo; printf 'a b'; echo ' c'; printf last");
  std::string line;
  for (const char* expected : {"one", "", "a b c"}) {
    ASSERT_TRUE(child.ReadLine(line, [] { return true; }));
    EXPECT_EQ(line, expected);
  }
  EXPECT_FALSE(child.ReadLine(line, [] { return true; })) << "what has no end is no line";
  EXPECT_EQ(child.Wait(), 0);
}

TEST(ChildProcessTest, ALineMayBeLongerThanABuffer) {
  ChildProcess child = Shell("head -c 300000 /dev/zero | tr '\\0' x; echo; echo after");
  std::string line;
  ASSERT_TRUE(child.ReadLine(line, [] { return true; }));
  EXPECT_EQ(line.size(), 300'000u);
  ASSERT_TRUE(child.ReadLine(line, [] { return true; }));
  EXPECT_EQ(line, "after");
}

TEST(ChildProcessTest, ArgumentsAreNotTouchedByAShell) {
  auto child = ChildProcess::Start({"/bin/echo", "a b", "$HOME", "\"q\"", "*"}, Output::kPipe).value();
  std::string line;
  ASSERT_TRUE(child.ReadLine(line, [] { return true; }));
  EXPECT_EQ(line, "a b $HOME \"q\" *");
}

TEST(ChildProcessTest, ExitCodesAndSignals) {
  EXPECT_EQ(Shell("exit 0").Wait(), 0);
  EXPECT_EQ(Shell("exit 2").Wait(), 2);
  EXPECT_EQ(Shell("exit 130").Wait(), 130);
  EXPECT_EQ(Shell("kill -9 $$").Wait(), 128 + SIGKILL);
}

TEST(ChildProcessTest, OutputCanBeThrownAway) {
  EXPECT_EQ(Shell("echo not to be seen", Output::kDiscard).Wait(), 0);
}

TEST(ChildProcessTest, WhatDoesNotStartIsAnError) {
  for (const char* program : {"/no/such/program", "/"}) {
    const auto child = ChildProcess::Start({program}, Output::kPipe);
    ASSERT_FALSE(child.ok());
    EXPECT_NE(child.status().message().find(program), std::string::npos);
  }
}

TEST(ChildProcessTest, StopEndsIt) {
  ChildProcess child = Shell("exec sleep 1000");
  child.Stop();
  EXPECT_EQ(child.Wait(), 128 + SIGTERM);
}

TEST(ChildProcessTest, GoesWithItsOwner) {
  pid_t pid = 0;
  const auto begin = std::chrono::steady_clock::now();
  {
    ChildProcess child = Shell("echo $$; exec sleep 1000");
    std::string line;
    ASSERT_TRUE(child.ReadLine(line, [] { return true; }));
    pid = std::stoi(line);
    ASSERT_TRUE(Alive(pid));
    const ChildProcess moved = std::move(child);
  }
  EXPECT_FALSE(Alive(pid));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(ChildProcessTest, InheritsNoPipeOfAnother) {
  // A reader sees the end of its child's output although another child is still running.
  ChildProcess first = Shell("echo one");
  const ChildProcess second = Shell("exec sleep 1000");
  std::string line;
  EXPECT_TRUE(first.ReadLine(line, [] { return true; }));
  EXPECT_FALSE(first.ReadLine(line, [] { return true; }));
}

}  // namespace
}  // namespace bandana::cli
