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
using ::testing::ContainsRegex;
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
  v1::Frame opening = OpeningFrame("agent/1", kServerName);
  opening.mutable_opening()->set_protocol_version(kProtocolVersion + 1);
  agent.Write(opening);
  const absl::Status refusal = agent.ReadToEnd();
  EXPECT_EQ(refusal.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("version"));
  EXPECT_TRUE(agent.bye().final());
  ExpectRunStillWorks(service);
}

TEST_F(Failures, AnAgentThatLooksForSomebodyElseIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  EXPECT_FALSE(agent.Open("agent/1", kShufflerName));
  EXPECT_EQ(agent.ReadToEnd(), absl::FailedPreconditionError("this is server, not shuffler"));
  RawAgent stranger(service.address());
  EXPECT_FALSE(stranger.Open("peer/1", kServerName));
  EXPECT_EQ(stranger.ReadToEnd().code(), StatusCode::kPermissionDenied);
  ExpectRunStillWorks(service);
}

TEST_F(Failures, AnAgentOfAnotherRunIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  EXPECT_FALSE(agent.Open("agent/1", kServerName, kRawRun));
  const absl::Status refusal = agent.ReadToEnd();
  EXPECT_EQ(refusal.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("agent/1 is in another run"));
  ExpectRunStillWorks(service);
}

// Its answers may have been counted, so that a new process must not begin again.
TEST_F(Failures, AnAgentThatHasLostItsStoreIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  ASSERT_TRUE(agent.Join(1, kClients));
  ASSERT_TRUE(agent.Read().has_welcome());
  ASSERT_TRUE(agent.Read().has_delivery());
  RawAgent again(service.address());
  EXPECT_FALSE(again.Open("agent/1", kServerName));
  const absl::Status refusal = again.ReadToEnd();
  EXPECT_EQ(refusal.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("the store was lost or replaced"));
  // Its own process may come back at any time, and its new connection replaces the old one.
  RawAgent back(service.address());
  v1::Frame opening = OpeningFrame("agent/1", kServerName, agent.opening().run());
  opening.mutable_opening()->set_taken(2);
  opening.mutable_opening()->set_sent(1);
  back.Write(opening);
  EXPECT_TRUE(back.AwaitOpening());
  EXPECT_THAT(std::string(agent.ReadToEnd().message()), HasSubstr("opened again"));
  back.Leave("that was all");
  ExpectError(service.Result(), StatusCode::kUnavailable,
              HasSubstr("the agent of clients 1-2000 was lost in epoch 1, and 40 of its clients had not "
                        "answered: that was all"));
}

// An agent that breaks the protocol is cut off; before the run, others can take its place.
TEST_F(Failures, FramesThatDoNotBelongThereAreRefused) {
  Thread service(SmallServerParams(), server_);
  v1::Frame gap, early_ack, nothing;
  gap.mutable_data()->set_seq(2);
  gap.mutable_data()->set_body(RawAgent::JoinOf(1, kClients).SerializeAsString());
  early_ack.mutable_ack()->set_seq(1);
  const std::pair<const char*, v1::Frame> cases[] = {
      {"left out a message", gap},
      {"does not belong there", early_ack},
      {"does not belong there", nothing},
      {"opened a connection twice", OpeningFrame("agent/1", kServerName)},
  };
  for (const auto& [says, frame] : cases) {
    SCOPED_TRACE(says);
    RawAgent agent(service.address());
    ASSERT_TRUE(agent.Open("agent/1", kServerName));
    agent.Write(frame);
    const absl::Status refusal = agent.ReadToEnd();
    EXPECT_EQ(refusal.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refusal.message()), HasSubstr(says));
    EXPECT_TRUE(agent.bye().final());
  }
  ExpectRunStillWorks(service);
}

TEST_F(Failures, AnAgentThatDoesNotSayWhoItIsIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  agent.Send(RawAgent::JoinOf(1, kClients));
  EXPECT_EQ(agent.ReadToEnd().code(), StatusCode::kInvalidArgument);
  RawAgent second(service.address());
  ASSERT_TRUE(second.Open("agent/1", kServerName));
  second.Send(v1::FromAgent());
  EXPECT_EQ(second.ReadToEnd(), absl::InvalidArgumentError("it must join first"));
  ExpectRunStillWorks(service);
}

TEST_F(Failures, ClientsThatAreTakenOrUnknownAreRefusedAndFreeAgainWhenTheirAgentGoes) {
  ProgressWatch watch;
  ServerParams params = SmallServerParams();
  params.on_progress = watch.Callback();
  Thread service(params, server_);
  {
    RawAgent first(service.address());
    ASSERT_TRUE(first.Join(1, 1000));
    ASSERT_TRUE(first.Read().has_welcome());
    ExpectError(RunSmallAgent(SmallAgentParams(service.address(), 1000, 2000), privatizer_),
                StatusCode::kAlreadyExists, AllOf(HasSubstr("1000-2000"), HasSubstr("1-1000")));
    ExpectError(RunSmallAgent(SmallAgentParams(service.address(), 1500, 2001), privatizer_),
                StatusCode::kInvalidArgument, HasSubstr("1-2000"));
  }
  watch.WaitFor(0);
  ExpectRunStillWorks(service);
}

TEST_F(Failures, ClientsWithoutAnAgentAreNamedWhenTimeIsUp) {
  ProgressWatch watch;
  std::future<absl::StatusOr<AgentReport>> agent;
  ServerParams params = SmallServerParams();
  params.join_timeout = absl::Seconds(1);  // time enough for one agent
  params.on_progress = watch.Callback();
  Thread service(params, server_);
  agent = StartAgent(SmallAgentParams(service.address(), 1, 1200));
  watch.WaitFor(1);
  const auto says = HasSubstr("clients 1201-2000 have no agent after 1s");
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
  // It has answered in epoch 3 before it looks at `stop`.
  const auto says = AllOf(HasSubstr("agent of clients 1001-2000"), HasSubstr("lost"),
                          HasSubstr("the agent was stopped"), ContainsRegex("epoch [34]"));
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
  ExpectError(other.get(), StatusCode::kUnavailable, says);
}

TEST_F(Failures, AnAgentWhoseClientsDoNotAnswerEndsTheRun) {
  ServerParams params = SmallServerParams();
  params.answer_timeout = absl::Milliseconds(100);
  Thread service(params, server_);
  RawAgent silent(service.address());
  ASSERT_TRUE(silent.Join(1, kClients));
  EXPECT_TRUE(silent.ReadToEnd().ok());  // after the Stop, the server is done
  ExpectError(service.Result(), StatusCode::kUnavailable,
              HasSubstr("no answer for 100ms: 40 clients have not answered in epoch 1"));
}

TEST_F(Failures, AShareOfSomeoneElsesClientIsRefused) {
  Thread service(SmallServerParams(), server_);
  auto other = StartAgent(SmallAgentParams(service.address(), 1001, 2000));
  RawAgent liar(service.address());
  ASSERT_TRUE(liar.Join(1, 1000));
  ASSERT_TRUE(liar.Read().has_welcome());
  const v1::ToAgent plan = liar.Read();
  ASSERT_TRUE(plan.has_delivery());
  v1::FromAgent shares = RawAgent::Answer(plan.delivery(), 0);
  shares.mutable_shares()->mutable_messages(0)->set_origin(1500);
  shares.mutable_shares()->mutable_messages(0)->set_from(1500);
  liar.Send(shares);
  const absl::Status status = liar.ReadToEnd();
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("client 1500"));
  EXPECT_TRUE(liar.bye().final());
  ExpectError(service.Result(), StatusCode::kUnavailable,
              AllOf(HasSubstr("agent of clients 1-1000"), HasSubstr("client 1500")));
  EXPECT_EQ(other.get().status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(server_.policy().history().empty());
}

TEST_F(Failures, AMalformedShareIsRefused) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  ASSERT_TRUE(agent.Join(1, kClients));
  ASSERT_TRUE(agent.Read().has_welcome());
  v1::FromAgent shares = RawAgent::Answer(agent.Read().delivery(), 0);
  shares.mutable_shares()->mutable_messages(39)->mutable_share()->clear_report();
  agent.Send(shares);
  EXPECT_EQ(agent.ReadToEnd().code(), StatusCode::kInvalidArgument);
  ExpectError(service.Result(), StatusCode::kUnavailable, HasSubstr("malformed"));
}

TEST_F(Failures, SharesThatComeAgainOrUnaskedCountForNothing) {
  Thread service(SmallServerParams(), server_);
  RawAgent agent(service.address());
  ASSERT_TRUE(agent.Join(1, kClients));
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
    agent.Send(unasked);
    agent.Send(twice);
    agent.Send(repeats);
    agent.Send(honest);
    agent.Send(altered);
  }
  EXPECT_TRUE(agent.ReadToEnd().ok());
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
  ASSERT_TRUE(agent.Join(1, 10));
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
              StatusCode::kUnavailable, HasSubstr("the server was stopped"));
  ExpectError(service.Result(), StatusCode::kCancelled, HasSubstr("stopped"));
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
  RawServer server([&](RawEnd& agent) {
    agent.Read<v1::FromAgent>();
    agent.Send(RawServer::Welcome());
    v1::ToAgent plan = RawServer::PlanTo({11, 12, 13});
    for (int i = 0; i < 3; ++i) {
      if (i == 2) plan.mutable_delivery()->mutable_message()->mutable_plan()->mutable_pulls(0)->set_count(99);
      agent.Send(plan);
      answers.push_back(agent.Read<v1::FromAgent>().SerializeAsString());
    }
    agent.Send(RawServer::Stop(true, ""));
    agent.ReadAll();
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
  RawServer server([&](RawEnd& agent) {
    EXPECT_EQ(agent.Read<v1::FromAgent>().join().client_count(), 10u);
    agent.Send(RawServer::Welcome());
    agent.Send(bad);
    *left = agent.Read<v1::FromAgent>().leave().reason();
    agent.ReadAll();
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
  RawServer server([](RawEnd& agent) {
    agent.Read<v1::FromAgent>();
    agent.Send(RawServer::Welcome());
  });
  const auto report = RunSmallAgent(SmallAgentParams(server.address(), 11, 20), SmallNoPrivacy());
  ExpectError(report, StatusCode::kUnavailable, HasSubstr("the server was lost"));
}

TEST(BadServer, ThatRefusesTheAgentLaterIsReported) {
  RawServer server([](RawEnd& agent) {
    agent.Read<v1::FromAgent>();
    agent.Leave("no reason at all", StatusCode::kPermissionDenied);
    agent.ReadAll();
  });
  const auto report = RunSmallAgent(SmallAgentParams(server.address(), 11, 20), SmallNoPrivacy());
  ExpectError(report, StatusCode::kPermissionDenied,
              HasSubstr("the server at " + server.address() + " refused this agent: no reason at all"));
}

}  // namespace
}  // namespace bandana::service
