#include <future>
#include <stop_token>
#include <string>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/service/protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/service/failing.h"
#include "tests/service/raw_peers.h"
#include "tests/service/small_run.h"

// Tests of failures in a federation, one failure per test. Nothing here sleeps: each step waits until the
// other end has seen the step before it.
namespace bandana::service {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Failures : public testing::Test {
 protected:
  using Thread = ServerThread<NoPrivacyMean>;

  // Runs an honest agent with all 2000 clients: the run must still be able to finish.
  void ExpectRunStillWorks(Thread& service) {
    const auto agent = RunSmallAgent(SmallAgentParams(service.address(), 1, kClients), privatizer_);
    EXPECT_TRUE(agent.ok()) << agent.status();
    const auto report = service.Result();
    EXPECT_TRUE(report.ok()) << report.status();
  }

  std::future<absl::StatusOr<AgentReport>> StartAgent(const AgentParams& params) {
    return std::async(std::launch::async, [this, params] { return RunSmallAgent(params, privatizer_); });
  }

  NoPrivacyMean privatizer_ = SmallNoPrivacy();
  EliminationServer<NoPrivacyMean> server_ = SmallServer(privatizer_, ManyClients());
};

TEST_F(Failures, AnAgentWithAnotherSpecIsRefused) {
  Thread service(SmallServerParams(), server_);
  AgentParams params = SmallAgentParams(service.address(), 1, kClients);
  params.spec_digest = "another";
  ExpectError(RunSmallAgent(params, privatizer_), StatusCode::kFailedPrecondition,
              AllOf(HasSubstr("refused"), HasSubstr("runs another spec than the server")));
  ExpectRunStillWorks(service);
}

TEST_F(Failures, AnAgentOfAnotherVersionIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  v1::FromAgent hello = RawAgent::Hello(1, kClients);
  hello.mutable_hello()->set_protocol_version(kProtocolVersion + 1);
  agent.Write(hello);
  const grpc::Status status = agent.ReadToEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("version"));
  ExpectRunStillWorks(service);
}

TEST_F(Failures, AnAgentThatDoesNotSayHelloIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  agent.Write(v1::FromAgent());
  EXPECT_EQ(agent.ReadToEnd().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ExpectRunStillWorks(service);
}

TEST_F(Failures, ClientsThatAreTakenOrUnknownAreRefusedAndFreeAgainWhenTheirAgentGoes) {
  ProgressWatch watch;
  ServerParams params = SmallServerParams();
  params.on_progress = watch.Callback();
  Thread service(params, server_);
  RawAgent first(service.address());
  first.Write(RawAgent::Hello(1, 1000));
  ASSERT_TRUE(first.Read().has_welcome());
  ExpectError(RunSmallAgent(SmallAgentParams(service.address(), 1000, 2000), privatizer_),
              StatusCode::kAlreadyExists, AllOf(HasSubstr("1000-2000"), HasSubstr("1-1000")));
  ExpectError(RunSmallAgent(SmallAgentParams(service.address(), 1500, 2001), privatizer_),
              StatusCode::kInvalidArgument, HasSubstr("1-2000"));
  first.Cancel();
  watch.WaitFor(0);
  ExpectRunStillWorks(service);
}

TEST_F(Failures, ClientsWithoutAnAgentAreNamedWhenTimeIsUp) {
  ProgressWatch watch;
  std::future<absl::StatusOr<AgentReport>> agent;
  ServerParams params = SmallServerParams();
  params.join_timeout = absl::Milliseconds(50);
  params.on_progress = watch.Callback();
  params.on_listening = [&](const std::string& address) {  // the timeout starts when this returns
    agent = StartAgent(SmallAgentParams(address, 1, 1200));
    watch.WaitFor(1);
  };
  Thread service(params, server_);
  const auto says = HasSubstr("clients 1201-2000 have no agent after 50ms");
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
  ExpectError(agent.get(), StatusCode::kUnavailable, says);
}

TEST_F(Failures, AnAgentKilledInTheRunEndsIt) {
  Thread service(SmallServerParams(), server_);
  auto other = StartAgent(SmallAgentParams(service.address(), 1, 1000));
  std::stop_source kill;
  AgentParams params = SmallAgentParams(service.address(), 1001, 2000);
  params.stop = kill.get_token();
  EventfulPopulation population(3, [&] { kill.request_stop(); });
  ExpectError(RunSmallAgent(params, privatizer_, population), StatusCode::kCancelled, HasSubstr("stopped"));
  const auto says = AllOf(HasSubstr("agent of clients 1001-2000"), HasSubstr("epoch 3"));
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
  ExpectError(other.get(), StatusCode::kUnavailable, says);
}

TEST_F(Failures, AnAgentWhoseClientsDoNotAnswerEndsTheRun) {
  ServerParams params = SmallServerParams();
  params.answer_timeout = absl::Milliseconds(100);
  Thread service(params, server_);
  RawAgent silent(service.address());
  silent.Write(RawAgent::Hello(1, kClients));
  ExpectError(service.Result(), StatusCode::kUnavailable,
              AllOf(HasSubstr("no answer for 100ms in epoch 1"), HasSubstr("40 clients")));
}

TEST_F(Failures, AShareOfSomeoneElsesClientIsRefused) {
  Thread service(SmallServerParams(), server_);
  auto other = StartAgent(SmallAgentParams(service.address(), 1001, 2000));
  RawAgent liar(service.address());
  liar.Write(RawAgent::Hello(1, 1000));
  ASSERT_TRUE(liar.Read().has_welcome());
  const v1::ToAgent plan = liar.Read();
  ASSERT_TRUE(plan.has_delivery());
  v1::FromAgent shares = RawAgent::Answer(plan.delivery(), 0);
  shares.mutable_shares()->mutable_messages(0)->set_origin(1500);
  shares.mutable_shares()->mutable_messages(0)->set_from(1500);
  liar.Write(shares);
  const grpc::Status status = liar.ReadToEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("client 1500"));
  ExpectError(service.Result(), StatusCode::kUnavailable,
              AllOf(HasSubstr("agent of clients 1-1000"), HasSubstr("client 1500")));
  EXPECT_EQ(other.get().status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(server_.policy().history().empty());
}

TEST_F(Failures, AMalformedShareIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  agent.Write(RawAgent::Hello(1, kClients));
  ASSERT_TRUE(agent.Read().has_welcome());
  v1::FromAgent shares = RawAgent::Answer(agent.Read().delivery(), 0);
  shares.mutable_shares()->mutable_messages(39)->mutable_share()->clear_report();
  agent.Write(shares);
  EXPECT_EQ(agent.ReadToEnd().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ExpectError(service.Result(), StatusCode::kUnavailable, HasSubstr("malformed"));
}

TEST_F(Failures, SharesThatComeAgainOrUnaskedCountForNothing) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  agent.Write(RawAgent::Hello(1, kClients));
  ASSERT_TRUE(agent.Read().has_welcome());
  for (v1::ToAgent message = agent.Read(); message.has_delivery(); message = agent.Read()) {
    const v1::FromAgent honest = RawAgent::Answer(message.delivery(), 0);
    v1::FromAgent unasked = RawAgent::Answer(message.delivery(), 1 << 29);
    for (v1::Message& share : *unasked.mutable_shares()->mutable_messages()) {
      share.mutable_share()->set_epoch(share.share().epoch() + 1);
    }
    v1::FromAgent twice = honest;  // the repeats have other contents
    twice.mutable_shares()->mutable_messages()->RemoveLast();
    const v1::FromAgent altered = RawAgent::Answer(message.delivery(), 1 << 29);
    v1::FromAgent repeats = altered;
    repeats.mutable_shares()->mutable_messages()->RemoveLast();
    agent.Write(unasked);
    agent.Write(twice);
    agent.Write(repeats);
    agent.Write(honest);
    agent.Write(altered);
  }
  agent.HalfClose();
  const auto report = service.Result();
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_FALSE(server_.policy().history().empty());
  for (const PhaseRecord& phase : server_.policy().history()) {
    for (const double average : phase.averages) EXPECT_EQ(average, 0);
  }
  EXPECT_EQ(report->shares, 40 * static_cast<Count>(server_.policy().history().size()));
}

TEST_F(Failures, TheServerListensOnLoopbackOnly) {
  ServerParams params = SmallServerParams();
  params.listen = "0.0.0.0:0";
  const auto report = RunServer(params, server_, nullptr);
  EXPECT_EQ(InputErrorOf(report.status())->key, "listen");
  AgentParams agent = SmallAgentParams("10.1.2.3:50051", 1, 2);
  EXPECT_EQ(InputErrorOf(RunSmallAgent(agent, privatizer_).status())->key, "server");
}

TEST_F(Failures, APortThatIsTakenIsAnError) {
  Thread service(SmallServerParams(), server_);
  ServerParams params = SmallServerParams();
  params.listen = service.address();
  auto second = SmallServer(privatizer_);
  ExpectError(RunServer(params, second, nullptr), StatusCode::kUnavailable, HasSubstr(service.address()));
  ExpectRunStillWorks(service);
}

TEST_F(Failures, ConnectingTimesOut) {
  AgentParams params = SmallAgentParams("127.0.0.1:1", 1, kClients);
  params.connect_timeout = absl::Milliseconds(250);
  ExpectError(RunSmallAgent(params, privatizer_), StatusCode::kUnavailable,
              HasSubstr("the server at 127.0.0.1:1 did not answer within 250ms"));
}

TEST_F(Failures, AServerThatWaitsCanBeStopped) {
  std::stop_source stop;
  ServerParams params = SmallServerParams();
  params.stop = stop.get_token();
  Thread service(params, server_);
  RawAgent agent(service.address());
  agent.Write(RawAgent::Hello(1, 10));
  ASSERT_TRUE(agent.Read().has_welcome());
  const absl::Time before = absl::Now();
  stop.request_stop();
  ExpectError(service.Result(), StatusCode::kCancelled, HasSubstr("stopped"));
  EXPECT_LT(absl::Now() - before, absl::Seconds(5)) << "although this agent never closes its stream";
}

TEST_F(Failures, AServerAtWorkCanBeStopped) {
  std::stop_source stop;
  ServerParams params = SmallServerParams();
  params.stop = stop.get_token();
  Thread service(params, server_);
  EventfulPopulation population(3, [&] { stop.request_stop(); });
  ExpectError(RunSmallAgent(SmallAgentParams(service.address(), 1, kClients), privatizer_, population),
              StatusCode::kUnavailable, HasSubstr("the server was stopped in epoch 3"));
  ExpectError(service.Result(), StatusCode::kCancelled, HasSubstr("epoch 3"));
}

TEST_F(Failures, AnAgentCanBeStoppedWhileItConnects) {
  std::stop_source stop;
  stop.request_stop();
  AgentParams params = SmallAgentParams("127.0.0.1:1", 1, kClients);
  params.stop = stop.get_token();
  ExpectError(RunSmallAgent(params, privatizer_), StatusCode::kCancelled, HasSubstr("stopped"));
}

TEST_F(Failures, AnAgentThatWaitsCanBeStopped) {
  ProgressWatch watch;
  ServerParams server_params = SmallServerParams();
  server_params.on_progress = watch.Callback();
  Thread service(server_params, server_);
  std::stop_source stop;
  AgentParams params = SmallAgentParams(service.address(), 1, 10);
  params.stop = stop.get_token();
  auto agent = StartAgent(params);
  watch.WaitFor(1);
  stop.request_stop();
  ExpectError(agent.get(), StatusCode::kCancelled, HasSubstr("stopped"));
  watch.WaitFor(0);
  ExpectRunStillWorks(service);
}

TEST(OverBudget, EndsTheRunAndTellsNoMoreThanThat) {
  const LocalGaussianMean privatizer = LocalGaussianMean::Create(SmallPrivacy()).value();
  auto server = SmallServer(privatizer);
  ServerThread<LocalGaussianMean> service(SmallServerParams(), server);
  AgentParams params = SmallAgentParams(service.address(), 1, kClients);
  params.budget_per_client = {0.5, 1e-6};
  ExpectError(RunSmallAgent(params, privatizer), StatusCode::kResourceExhausted, HasSubstr("budget of 0.5"));
  ExpectError(service.Result(), StatusCode::kResourceExhausted,
              AllOf(HasSubstr("a budget is spent"), testing::Not(HasSubstr("0.5"))));
}

TEST(RepeatedPlan, GetsTheJournaledShare) {
  const LocalGaussianMean privatizer = LocalGaussianMean::Create(SmallPrivacy()).value();
  std::vector<std::string> answers;
  RawServer server([&](RawServer::Stream& stream) {
    v1::FromAgent message;
    stream.Read(&message);
    stream.Write(RawServer::Welcome());
    v1::ToAgent plan = RawServer::PlanTo({11, 12, 13});
    for (int i = 0; i < 3; ++i) {
      if (i == 2) plan.mutable_delivery()->mutable_message()->mutable_plan()->mutable_pulls(0)->set_count(99);
      stream.Write(plan);
      stream.Read(&message);
      answers.push_back(message.SerializeAsString());
    }
    stream.Write(RawServer::Stop(true, ""));
  });
  AgentParams params = SmallAgentParams(server.address(), 11, 20);
  params.insecure_seed.reset();  // so that fresh noise would differ
  const auto report = RunSmallAgent(params, privatizer);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_FALSE(answers[0].empty());
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_EQ(answers[0], answers[2]);
  EXPECT_EQ(report->shares, 3);
  EXPECT_EQ(report->repeats, 6);
  EXPECT_EQ(report->spent, privatizer.claims().front().guarantee);
}

// Runs an agent against a server that sends a bad message: the agent must leave, and say so.
absl::Status AgentAgainst(const v1::ToAgent& bad, std::string* left) {
  RawServer server([&](RawServer::Stream& stream) {
    v1::FromAgent message;
    stream.Read(&message);
    stream.Write(RawServer::Welcome());
    stream.Write(bad);
    if (stream.Read(&message)) *left = message.leave().reason();
  });
  return RunSmallAgent(SmallAgentParams(server.address(), 11, 20), SmallNoPrivacy()).status();
}

TEST(BadServer, IsLeft) {
  std::vector<v1::ToAgent> messages = {RawServer::PlanTo({10}), RawServer::PlanTo({21}),
                                       RawServer::PlanTo({11}), RawServer::PlanTo({11}), v1::ToAgent()};
  messages[2].mutable_delivery()->mutable_message()->mutable_share()->set_epoch(1);
  messages[2].mutable_delivery()->mutable_message()->mutable_share()->add_report(1);
  messages[3].mutable_delivery()->mutable_message()->set_from(5);
  for (const v1::ToAgent& message : messages) {
    SCOPED_TRACE(message.ShortDebugString());
    std::string left;
    EXPECT_EQ(AgentAgainst(message, &left).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(left, "INVALID_ARGUMENT");
  }
}

TEST(BadServer, ThatIsLostIsReported) {
  RawServer server([&](RawServer::Stream& stream) {
    v1::FromAgent message;
    stream.Read(&message);
    stream.Write(RawServer::Welcome());
  });
  const auto report = RunSmallAgent(SmallAgentParams(server.address(), 11, 20), SmallNoPrivacy());
  ExpectError(report, StatusCode::kUnavailable, AllOf(HasSubstr("lost"), HasSubstr(server.address())));
}

}  // namespace
}  // namespace bandana::service
