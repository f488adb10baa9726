#include "bandana/service/limits.h"

#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "bandana/service/address.h"
#include "bandana/service/channel.h"
#include "bandana/service/key_files.h"
#include "bandana/service/token_bucket.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/folder.h"
#include "tests/service/failing.h"
#include "tests/service/log_of_events.h"
#include "tests/service/raw_peers.h"
#include "tests/service/small_run.h"

// Each limit is exceeded by a process that talks to a real server over gRPC. The server goes on, and an
// honest agent finishes the run.
namespace bandana::service {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

TEST(TokenBucket, AllowsItsRateAndItsBurst) {
  const absl::Time start = absl::UnixEpoch();
  TokenBucket bucket(10, 3, start);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.Take(start)) << i;
  EXPECT_FALSE(bucket.Take(start));
  EXPECT_FALSE(bucket.Take(start + absl::Milliseconds(99)));
  EXPECT_TRUE(bucket.Take(start + absl::Milliseconds(101)));
  EXPECT_FALSE(bucket.Take(start - absl::Hours(1))) << "a clock that goes back allows nothing";
  const absl::Time later = start + absl::Hours(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.Take(later)) << "what was not used is not kept: " << i;
  EXPECT_FALSE(bucket.Take(later));
}

TEST(TokenBucket, WhatIsSpentIsOwed) {
  const absl::Time start = absl::UnixEpoch();
  TokenBucket bucket(100, 100, start);
  EXPECT_EQ(bucket.Spend(100, start), start);
  EXPECT_EQ(bucket.Spend(50, start), start + absl::Milliseconds(500));
  EXPECT_EQ(bucket.Spend(50, start), start + absl::Seconds(1));
  EXPECT_EQ(bucket.Spend(0, start + absl::Seconds(1)), start + absl::Seconds(1));
}

class LimitsOfAServer : public testing::Test {
 protected:
  using Thread = ServerThread<NoPrivacyMean>;

  ServerParams Params(const Limits& limits) {
    ServerParams params = SmallServerParams();
    params.deployed.limits = limits;
    params.deployed.on_event = log_.Taker();
    return params;
  }

  void ExpectRunStillWorks(Thread& service) {
    const auto agent = RunSmallAgent(SmallAgentParams(service.address(), 1, kClients), privatizer_);
    EXPECT_TRUE(agent.ok()) << agent.status();
    const auto report = service.Result();
    EXPECT_TRUE(report.ok()) << report.status();
  }

  LogOfEvents log_;
  NoPrivacyMean privatizer_ = SmallNoPrivacy();
  EliminationServer<NoPrivacyMean> server_ = SmallServer(privatizer_, ManyClients());
};

// A connection that no other channel of this program shares.
std::shared_ptr<grpc::Channel> AnotherChannel(const std::string& address) {
  return MakeChannel(*ParseAddress("server", address), grpc::InsecureChannelCredentials(), {});
}

v1::Frame FrameOf(std::size_t bytes, std::uint64_t seq = 1) {
  v1::Frame frame;
  frame.mutable_data()->set_seq(seq);
  frame.mutable_data()->set_body(std::string(bytes, 'x'));
  return frame;
}

TEST_F(LimitsOfAServer, AMessageThatIsTooLargeEndsItsConnection) {
  Thread service(Params({.message = 1 << 16}), server_);
  {
    RawDialer just_fits(service.address());
    ASSERT_TRUE(just_fits.Open("agent/1", kServerName));
    just_fits.Write(FrameOf((1 << 16) - 100));
    EXPECT_THAT(std::string(just_fits.ReadToEnd().message()), HasSubstr("must join first")) << "it was read";
  }
  RawDialer large(service.address());
  ASSERT_TRUE(large.Open("agent/1", kServerName));
  large.Write(FrameOf(1 << 20));
  large.ReadAll();
  EXPECT_EQ(large.bye().reason(), "") << "it was not read";
  const grpc::Status status = large.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("larger than"));
  ExpectRunStillWorks(service);
}

TEST_F(LimitsOfAServer, ConnectionsBeyondTheLimitAreRefusedAndAdmittedWhenOthersHaveGone) {
  Thread service(Params({.streams = 3}), server_);
  {
    std::vector<std::unique_ptr<RawDialer>> idle;
    for (int i = 0; i < 3; ++i) {
      idle.push_back(std::make_unique<RawDialer>(service.address()));
      ASSERT_TRUE(idle.back()->Open("agent/" + std::to_string(i + 1), kServerName)) << i;
    }
    RawDialer one_more(AnotherChannel(service.address()));
    EXPECT_FALSE(one_more.Open("agent/9", kServerName));
    const grpc::Status status = one_more.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(status.error_message(), HasSubstr("there are 3 connections, which is the limit"));
    EXPECT_TRUE(log_.Await("refused", "", "there are 3 connections"));
  }
  ExpectRunStillWorks(service);
}

TEST_F(LimitsOfAServer, ConnectionsThatComeTooFastAreRefused) {
  Thread service(Params({.openings = 2}), server_);
  int refused = 0;
  for (int i = 0; i < 8; ++i) {
    RawDialer dialer(service.address());
    dialer.Write(OpeningFrame("agent/" + std::to_string(i + 1), kServerName));
    if (!dialer.AwaitOpening()) ++refused;
  }
  EXPECT_GE(refused, 3) << "a burst of four";
  EXPECT_TRUE(log_.Await("refused", "", "too many connections were opened"));
  ExpectRunStillWorks(service);  // it tries until it may
}

TEST_F(LimitsOfAServer, WhoeverDoesNotSayWhoItIsIsSentAway) {
  Thread service(Params({.first_message = absl::Milliseconds(300)}), server_);
  const absl::Time start = absl::Now();
  RawDialer silent(service.address());
  const absl::Status bye = silent.ReadToEnd();
  EXPECT_EQ(bye, absl::DeadlineExceededError("it did not say who it is"));
  EXPECT_FALSE(silent.bye().final());
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  ExpectRunStillWorks(service);
}

// Its repeats cost nothing but the reading of them, so that their number is what counts.
TEST_F(LimitsOfAServer, WhoeverSendsTooFastIsReadSlowlyAndNotCutOff) {
  Thread service(Params({.calls = 500}), server_);
  RawAgent fast(service.address());
  ASSERT_TRUE(fast.Join(1, kClients));
  ASSERT_TRUE(fast.Read().has_welcome());
  const v1::ToAgent plan = fast.Read();
  const absl::Time start = absl::Now();
  for (int i = 0; i < 1000; ++i) fast.Write(FrameOf(10, 1));
  fast.Send(RawAgent::Answer(plan.delivery(), 0));  // is acknowledged when the repeats were read
  EXPECT_TRUE(fast.AwaitAcknowledgement());
  const absl::Duration took = absl::Now() - start;
  EXPECT_GT(took, absl::Seconds(0.9)) << "1000 messages at 500 per second, after a burst of 500";
  EXPECT_LT(took, absl::Seconds(20));
  EXPECT_TRUE(log_.Await("slowed", "agent/1", "than the limits allow"));
  EXPECT_FALSE(log_.Has("disconnected"));
  fast.Leave("that was all");
  EXPECT_EQ(service.Result().status().code(), StatusCode::kUnavailable);
}

// gRPC's own buffers are small against what is sent, so the sender itself has to wait.
TEST_F(LimitsOfAServer, WhoeverSendsTooMuchHasToWaitItself) {
  Thread service(Params({.bytes = 16 << 20}), server_);
  RawAgent fast(service.address());
  ASSERT_TRUE(fast.Join(1, kClients));
  const absl::Time start = absl::Now();
  for (int i = 0; i < 64; ++i) fast.Write(FrameOf(1 << 20, 1));
  EXPECT_GT(absl::Now() - start, absl::Seconds(1)) << "writing 64 MiB at 16 MiB per second, after a burst";
  EXPECT_TRUE(log_.Has("slowed"));
  EXPECT_FALSE(log_.Has("disconnected"));
}

TEST_F(LimitsOfAServer, OnePartyCannotUseUpTheConnections) {
  test::Folder folder;
  const std::string keys = folder / "keys";
  ASSERT_TRUE(MakeDeployment(keys).ok());
  for (const char* party : {"server", "agent/1", "agent/5"}) ASSERT_TRUE(Issue(keys, party).ok());
  const auto ring = [&](const char* self) { return KeyRing::Open({.folder = keys, .self = self}).value(); };
  ServerParams params = Params({.streams_per_party = 2});
  params.deployed.keys = ring("server");
  Thread service(params, server_);
  const auto agent = ring("agent/5");
  const auto dial = [&] {
    return std::make_unique<RawDialer>(
        MakeChannel(*ParseAddress("server", service.address()), agent->ForChannel(kServerName), {}));
  };
  std::vector<std::unique_ptr<RawDialer>> idle;
  for (int i = 0; i < 2; ++i) {
    idle.push_back(dial());
    ASSERT_TRUE(idle.back()->AwaitAdmission()) << i;
  }
  const auto one_more = dial();
  EXPECT_FALSE(one_more->AwaitAdmission());
  EXPECT_THAT(one_more->End().error_message(), HasSubstr("agent/5 has 2 connections, which is its limit"));
  EXPECT_TRUE(log_.Await("refused", "", "agent/5 has 2 connections"));

  AgentParams honest = SmallAgentParams(service.address(), 1, kClients);
  honest.deployed.keys = ring("agent/1");
  const auto done = RunSmallAgent(honest, privatizer_);
  EXPECT_TRUE(done.ok()) << done.status();
  EXPECT_TRUE(service.Result().ok());
}

}  // namespace
}  // namespace bandana::service
