#include <functional>
#include <future>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/service/protocol.h"
#include "bandana/service/sealed_counts.h"
#include "bandana/store/seal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/service/failing.h"
#include "tests/service/raw_peers.h"
#include "tests/service/small_run.h"

// Tests of failures in a federation with a shuffler, one failure per test, and of what the shuffler can see.
namespace bandana::service {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class ShuffleFailures : public testing::TestWithParam<Transport> {
 protected:
  using Server = ServerThread<ShuffleSumMean>;
  using Middle = ShufflerThread<ShuffleSumMean>;

  ServerParams Serving() const {
    ServerParams params = SmallServerParams();
    params.route = route_;
    return params;
  }
  AgentParams Joining(const std::string& server, const std::string& shuffler, std::uint32_t first,
                      std::uint32_t last) const {
    AgentParams params = SmallAgentParams(server, first, last);
    params.route = route_;
    params.shuffler = shuffler;
    return params;
  }
  std::future<absl::StatusOr<AgentReport>> StartAgent(const AgentParams& params) {
    return std::async(std::launch::async, [this, params] { return RunSmallAgent(params, privatizer_); });
  }
  void ExpectRunStillWorks(Server& service, Middle& shuffler) {
    const auto agent =
        RunSmallAgent(Joining(service.address(), shuffler.address(), 1, kClients), privatizer_);
    EXPECT_TRUE(agent.ok()) << agent.status();
    for (const absl::Status& status : {service.Result().status(), shuffler.Result().status()}) {
      EXPECT_TRUE(status.ok()) << status;
    }
  }

  static DpDpeCase TwoPhases() {
    DpDpeCase params = ManyClients();
    params.horizon = 100;
    return params;
  }

  ShuffleSumMean privatizer_ = SmallShuffleSum(GetParam());
  Route route_ = RouteOf(privatizer_);
  EliminationServer<ShuffleSumMean> server_ = SmallServer(privatizer_, TwoPhases());
};

INSTANTIATE_TEST_SUITE_P(Transports, ShuffleFailures, testing::Values(Transport::kCounts, Transport::kBits),
                         [](const auto& tested) {
                           return tested.param == Transport::kBits ? "Bits" : "Counts";
                         });

TEST_P(ShuffleFailures, WithoutAShufflerTheServerDoesNotStart) {
  ServerParams params = Serving();
  params.join_timeout = absl::Milliseconds(50);
  Server service(params, server_);
  ExpectError(service.Result(), StatusCode::kUnavailable,
              HasSubstr("clients 1-2000 have no agent and there is no shuffler after 50ms"));
}

// It could be the next process of the one that is there, so it is asked to try again, for a while.
TEST_P(ShuffleFailures, ASecondShufflerIsNotAdmitted) {
  ProgressWatch watch;
  ServerParams params = Serving();
  params.on_progress = watch.Callback();
  Server service(params, server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  watch.WaitUntil([](const ServerProgress& progress) { return progress.shuffler_joined; });
  Shuffler<ShuffleSumMean> role(privatizer_);
  ExpectError(RunShuffler(SmallShufflerParams(service.address()), role), StatusCode::kAlreadyExists,
              HasSubstr("there is a process with the name shuffler already"));
  ExpectRunStillWorks(service, shuffler);
}

TEST_P(ShuffleFailures, AfterTheStartAShufflerCannotBeReplaced) {
  Server service(Serving(), server_);
  RawAgent first(service.address());
  ASSERT_TRUE(first.JoinAsShuffler());
  RawAgent agent(service.address());
  ASSERT_TRUE(agent.Join(1, kClients));
  ASSERT_TRUE(first.Read().has_delivery());
  Shuffler<ShuffleSumMean> role(privatizer_);
  ExpectError(RunShuffler(SmallShufflerParams(service.address()), role), StatusCode::kFailedPrecondition,
              AllOf(HasSubstr("refused this shuffler"), HasSubstr("the store was lost or replaced")));
  first.Leave("that was all");
  EXPECT_TRUE(agent.ReadToEnd().ok());
  ExpectError(service.Result(), StatusCode::kUnavailable,
              HasSubstr("the shuffler was lost in epoch 1: that was all"));
}

TEST_P(ShuffleFailures, AShufflerOrAnAgentOfAnotherSpecIsRefused) {
  Server service(Serving(), server_);
  ShufflerParams other = SmallShufflerParams(service.address());
  other.spec_digest = "another";
  Shuffler<ShuffleSumMean> role(privatizer_);
  const auto says = AllOf(HasSubstr("refused"), HasSubstr("runs another spec than the"));
  ExpectError(RunShuffler(other, role), StatusCode::kFailedPrecondition, says);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  RawAgent agent(shuffler.address());
  v1::Frame opening = OpeningFrame("agent/1", kShufflerName);
  opening.mutable_opening()->set_digest("another");
  agent.Write(opening);
  const absl::Status refusal = agent.ReadToEnd();
  EXPECT_EQ(refusal.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("runs another spec than the shuffler"));
  ExpectRunStillWorks(service, shuffler);
}

TEST_P(ShuffleFailures, AShufflerThatGoesBeforeTheRunCanBeReplaced) {
  ProgressWatch watch;
  ServerParams params = Serving();
  params.on_progress = watch.Callback();
  Server service(params, server_);
  {
    RawAgent gone(service.address());
    ASSERT_TRUE(gone.JoinAsShuffler());
    watch.WaitUntil([](const ServerProgress& progress) { return progress.shuffler_joined; });
  }
  watch.WaitUntil([](const ServerProgress& progress) { return !progress.shuffler_joined; });
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  ExpectRunStillWorks(service, shuffler);
}

TEST_P(ShuffleFailures, AShufflerLostInTheRunEndsIt) {
  Server service(Serving(), server_);
  std::stop_source kill;
  ShufflerParams params = SmallShufflerParams(service.address());
  params.stop = kill.get_token();
  Middle shuffler(params, privatizer_);
  EventfulPopulation population(1, [&] { kill.request_stop(); });
  ExpectError(
      RunSmallAgent(Joining(service.address(), shuffler.address(), 1, kClients), privatizer_, population),
      StatusCode::kUnavailable,
      ContainsRegex("the shuffler( at .*)? was lost( in epoch 1)?: the shuffler was stopped"));
  // The server hears of it from the shuffler or from the agent.
  ExpectError(service.Result(), StatusCode::kUnavailable,
              AnyOf(HasSubstr("the shuffler was lost in epoch 1: the shuffler was stopped"),
                    AllOf(HasSubstr("the agent of clients 1-2000 was lost in epoch 1"),
                          HasSubstr("it cannot continue (UNAVAILABLE)"))));
  ExpectError(shuffler.Result(), StatusCode::kCancelled, HasSubstr("stopped"));
  EXPECT_TRUE(server_.policy().history().empty());
}

TEST_P(ShuffleFailures, AnAgentLostInTheRunEndsIt) {
  Server service(Serving(), server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  auto other = StartAgent(Joining(service.address(), shuffler.address(), 1, 1000));
  std::stop_source kill;
  AgentParams params = Joining(service.address(), shuffler.address(), 1001, 2000);
  params.stop = kill.get_token();
  EventfulPopulation population(1, [&] { kill.request_stop(); });
  ExpectError(RunSmallAgent(params, privatizer_, population), StatusCode::kCancelled, HasSubstr("stopped"));
  const auto says = AllOf(HasSubstr("agent of clients 1001-2000"), HasSubstr("was lost"));
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
  ExpectError(shuffler.Result(), StatusCode::kUnavailable, says);
  ExpectError(other.get(), StatusCode::kUnavailable, says);
}

// An agent by hand that has joined both the server and the shuffler, and has been asked.
class RawPair {
 public:
  RawPair(const std::string& server, const std::string& shuffler, const Route& route)
      : down(server), up_(std::make_unique<RawAgent>(shuffler)) {
    EXPECT_TRUE(down.Join(1, kClients));
    EXPECT_TRUE(down.Read().has_welcome());
    plan = down.Read().delivery();  // the shuffler has joined the run by then
    EXPECT_TRUE(up().Join(1, kClients, kShufflerName));
    shares = route.sealed() ? RawAgent::SealedAnswer(plan, kSealedBitBytes) : RawAgent::Answer(plan, 0);
  }
  RawAgent& up() { return *up_; }
  void BreakUp() { up_.reset(); }

  /// Sends the first client's share. From then on the shuffler counts on this agent.
  void SendOne() {
    up().Send(RawAgent::OnlyOf(shares, 0));
    EXPECT_TRUE(up().AwaitAcknowledgement());
  }

  RawAgent down;
  v1::Delivery plan;
  v1::FromAgent shares;  // of all clients of the plan

 private:
  std::unique_ptr<RawAgent> up_;
};

TEST_P(ShuffleFailures, AnAgentThatLeavesTheShufflerAloneEndsTheRun) {
  Server service(Serving(), server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  RawPair agent(service.address(), shuffler.address(), route_);
  agent.SendOne();
  agent.BreakUp();
  EXPECT_TRUE(agent.down.ReadToEnd().ok());
  const auto says = HasSubstr(
      "the agent of clients 1-2000 was lost, and 39 of its clients had not answered: its stream ended");
  ExpectError(shuffler.Result(), StatusCode::kUnavailable, says);
  ExpectError(service.Result(), StatusCode::kUnavailable,
              AllOf(HasSubstr("the shuffler was lost in epoch 1"), says));
}

TEST_P(ShuffleFailures, AShareOfAStrangerEndsTheRun) {
  Server service(Serving(), server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  RawPair agent(service.address(), shuffler.address(), route_);
  agent.SendOne();
  v1::Message& stranger = *agent.shares.mutable_shares()->mutable_messages(0);
  stranger.set_from(2001);
  stranger.set_origin(2001);
  agent.up().Send(agent.shares);
  const absl::Status status = agent.up().ReadToEnd();
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a share of client 2001"));
  EXPECT_TRUE(agent.down.ReadToEnd().ok());
  const auto says = AllOf(HasSubstr("agent of clients 1-2000"), HasSubstr("39 of its clients"),
                          HasSubstr("a share of client 2001"));
  ExpectError(shuffler.Result(), StatusCode::kUnavailable, says);
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
}

TEST_P(ShuffleFailures, AShareOfTheOtherTransportEndsTheRun) {
  Server service(Serving(), server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  RawPair agent(service.address(), shuffler.address(), route_);
  agent.SendOne();
  agent.up().Send(route_.sealed() ? RawAgent::Answer(agent.plan, 0)
                                  : RawAgent::SealedAnswer(agent.plan, kSealedBitBytes));
  EXPECT_EQ(agent.up().ReadToEnd().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(agent.down.ReadToEnd().ok());
  ExpectError(shuffler.Result(), StatusCode::kUnavailable, HasSubstr("sealed"));
  ExpectError(service.Result(), StatusCode::kUnavailable, HasSubstr("sealed"));
}

TEST_P(ShuffleFailures, AShareMustNotGoPastTheShuffler) {
  Server service(Serving(), server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  RawPair agent(service.address(), shuffler.address(), route_);
  agent.down.Send(RawAgent::Answer(agent.plan, 0));
  EXPECT_EQ(agent.down.ReadToEnd().code(), StatusCode::kPermissionDenied);
  EXPECT_TRUE(agent.up().ReadToEnd().ok());
  ExpectError(service.Result(), StatusCode::kUnavailable, HasSubstr("past the shuffler"));
  EXPECT_EQ(shuffler.Result().status().code(), StatusCode::kUnavailable);
}

TEST_P(ShuffleFailures, AMixThatNobodyAskedForEndsTheRun) {
  Server service(Serving(), server_);
  RawAgent shuffler(service.address());
  ASSERT_TRUE(shuffler.JoinAsShuffler());
  RawAgent agent(service.address());
  ASSERT_TRUE(agent.Join(1, kClients));
  EXPECT_EQ(agent.Read().welcome().sealing_key().size(), route_.sealed() ? kSealingKeyBytes : 0);
  const v1::MixRequest mix_request = shuffler.Read().delivery().message().mix_request();
  EXPECT_EQ(mix_request.clients_size(), 40);
  v1::FromAgent mix;
  v1::Message& message = *mix.mutable_shares()->add_messages();
  message.set_from(0xffffffff);
  message.set_origin(0xffffffff);
  if (route_.sealed()) {
    message.mutable_sealed_bits()->set_epoch(mix_request.epoch() + 1);
  } else {
    message.mutable_mixed()->set_epoch(mix_request.epoch() + 1);
    message.mutable_mixed()->add_reports()->add_units(1);
  }
  shuffler.Send(mix);
  const auto says = AllOf(HasSubstr("the shuffler"), HasSubstr("nobody asked"));
  EXPECT_THAT(shuffler.AwaitStop(), says);
  EXPECT_THAT(agent.AwaitStop(), says);
  shuffler.ReadAll();
  agent.ReadAll();
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
}

class SealedFailures : public ShuffleFailures {
 protected:
  std::size_t Bits(const v1::Delivery& plan) const {
    const MeanQuery query{std::vector<Interval>(static_cast<std::size_t>(plan.message().plan().pulls_size())),
                          plan.message().plan().query().clients()};
    return static_cast<std::size_t>(route_.bits_per_coordinate(query).value());
  }
};
INSTANTIATE_TEST_SUITE_P(Bits, SealedFailures, testing::Values(Transport::kBits));

TEST_P(SealedFailures, ABitTooManyEndsTheRunAndNamesTheClient) {
  Server service(Serving(), server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  RawPair agent(service.address(), shuffler.address(), route_);
  v1::FromAgent shares = RawAgent::SealedAnswer(agent.plan, Bits(agent.plan) * kSealedBitBytes);
  shares.mutable_shares()->mutable_messages(3)->mutable_sealed_share()->mutable_coordinates(1)->append(
      kSealedBitBytes, 'x');
  const std::string culprit = "client " + std::to_string(agent.plan.to(3));
  agent.up().Send(shares);
  EXPECT_TRUE(agent.up().ReadToEnd().ok());
  EXPECT_TRUE(agent.down.ReadToEnd().ok());
  const auto says = AllOf(HasSubstr("did not send"), HasSubstr(culprit));
  ExpectError(shuffler.Result(), StatusCode::kAborted, says);
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
  EXPECT_TRUE(server_.policy().history().empty());
}

TEST_P(SealedFailures, BitsThatCannotBeOpenedEndTheRun) {
  Server service(Serving(), server_);
  Middle shuffler(SmallShufflerParams(service.address()), privatizer_);
  RawPair agent(service.address(), shuffler.address(), route_);
  agent.up().Send(RawAgent::SealedAnswer(agent.plan, Bits(agent.plan) * kSealedBitBytes));
  agent.up().ReadAll();
  EXPECT_TRUE(agent.down.ReadToEnd().ok());
  const auto says = HasSubstr("cannot be opened");
  ExpectError(service.Result(), StatusCode::kUnavailable, says);
  ExpectError(shuffler.Result(), StatusCode::kInvalidArgument,
              AllOf(HasSubstr("refused this shuffler"), says));
  EXPECT_TRUE(server_.policy().history().empty()) << "nothing is released";
}

// A server by hand whose shuffler has joined. When it is told to, it says one more thing.
class PlayedServer {
 public:
  explicit PlayedServer(const v1::ToAgent& then)
      : server_([this, then](RawEnd& shuffler) {
          shuffler.Read<v1::FromAgent>();
          joined_.set_value();
          go_.get_future().wait();
          shuffler.Send(then);
          left_.set_value(shuffler.Read<v1::FromAgent>().leave().reason());
          shuffler.ReadAll();
        }) {}
  const std::string& address() const { return server_.address(); }
  void AwaitShuffler() { joined_.get_future().wait(); }
  void Go() { go_.set_value(); }
  std::string Left() { return left_.get_future().get(); }

 private:
  std::promise<void> joined_;
  std::promise<void> go_;
  std::promise<std::string> left_;
  RawServer server_;
};

TEST_P(ShuffleFailures, AReportIsNotMixedAmongFewerThanItAsksFor) {
  const v1::ToAgent mix_request = RawServer::MixRequestOf({11, 12});
  PlayedServer server(mix_request);
  Middle shuffler(SmallShufflerParams(server.address()), privatizer_);
  server.AwaitShuffler();
  RawAgent agent(shuffler.address());
  ASSERT_TRUE(agent.Join(1, kClients, kShufflerName));
  const v1::Delivery plan = RawServer::PlanOf(mix_request, {11, 12});
  v1::FromAgent shares =
      route_.sealed() ? RawAgent::SealedAnswer(plan, kSealedBitBytes) : RawAgent::Answer(plan, 0);
  for (v1::Message& share : *shares.mutable_shares()->mutable_messages()) {
    if (route_.sealed()) {
      share.mutable_sealed_share()->set_quorum(3);
    } else {
      share.mutable_share()->set_quorum(3);
    }
  }
  agent.Send(shares);
  ASSERT_TRUE(agent.AwaitAcknowledgement());  // sending shares before the mix request is not an error
  server.Go();
  EXPECT_TRUE(agent.ReadToEnd().ok());
  const auto says =
      HasSubstr("client 11 requires a mix of at least 3 reports, but the mix request of epoch 1 has 2");
  ExpectError(shuffler.Result(), StatusCode::kFailedPrecondition, says);
  EXPECT_THAT(server.Left(), says);
}

// A draw in two mixes would cancel the noise of the other clients.
TEST_P(ShuffleFailures, AnAnswerToAnotherQuestionIsNotMixed) {
  const v1::ToAgent mix_request = RawServer::MixRequestOf({11, 12});
  PlayedServer server(mix_request);
  Middle shuffler(SmallShufflerParams(server.address()), privatizer_);
  server.AwaitShuffler();
  RawAgent agent(shuffler.address());
  ASSERT_TRUE(agent.Join(1, kClients, kShufflerName));
  const v1::Delivery elsewhere = RawServer::PlanOf(RawServer::MixRequestOf({11, 13}), {11, 12});
  agent.Send(route_.sealed() ? RawAgent::SealedAnswer(elsewhere, kSealedBitBytes)
                             : RawAgent::Answer(elsewhere, 0));
  server.Go();
  EXPECT_TRUE(agent.ReadToEnd().ok());
  const auto says = HasSubstr("client 11 answers another question than the mix request of epoch 1 asks");
  ExpectError(shuffler.Result(), StatusCode::kFailedPrecondition, says);
  EXPECT_THAT(server.Left(), says);
}

// With a different key for each agent, a server could tell whose bits are whose.
TEST_P(SealedFailures, BitsThatAreSealedToDifferentKeysAreNotMixed) {
  const v1::ToAgent mix_request = RawServer::MixRequestOf({11, 12, 1011});
  PlayedServer server(mix_request);
  Middle shuffler(SmallShufflerParams(server.address()), privatizer_);
  const auto bits = route_.bits_per_coordinate({std::vector<Interval>(4), 3}).value();
  const auto answer = [&](std::initializer_list<std::uint32_t> clients, char key) {
    v1::FromAgent shares = RawAgent::SealedAnswer(RawServer::PlanOf(mix_request, clients),
                                                  static_cast<std::size_t>(bits) * kSealedBitBytes);
    for (v1::Message& share : *shares.mutable_shares()->mutable_messages()) {
      share.mutable_sealed_share()->set_key_fingerprint(std::string(kKeyFingerprintBytes, key));
    }
    return shares;
  };
  server.AwaitShuffler();
  RawAgent first(shuffler.address());
  ASSERT_TRUE(first.Join(1, 1000, kShufflerName));
  RawAgent second(shuffler.address());
  ASSERT_TRUE(second.Join(1001, 1000, kShufflerName));
  first.Send(answer({11, 12}, 'a'));
  second.Send(answer({1011}, 'b'));
  server.Go();
  const auto says = AllOf(HasSubstr("different keys"), HasSubstr("of clients 1011 and 11 differ"));
  for (RawAgent* agent : {&first, &second}) EXPECT_THAT(agent->AwaitStop(), says);
  for (RawAgent* agent : {&first, &second}) agent->ReadAll();
  ExpectError(shuffler.Result(), StatusCode::kFailedPrecondition, says);
  EXPECT_THAT(server.Left(), says);
}

TEST_P(ShuffleFailures, ABadRollEndsTheRun) {
  const auto mix_request = [](const std::function<void(v1::Message&)>& spoil) {
    v1::ToAgent message = RawServer::MixRequestOf({11, 12});
    spoil(*message.mutable_delivery()->mutable_message());
    return message;
  };
  const std::pair<const char*, v1::ToAgent> cases[] = {
      {"client 11 is in a mix request twice", RawServer::MixRequestOf({11, 11})},
      {"client 2001", RawServer::MixRequestOf({2001})},
      {"a mix request names 2 clients, but its query asks 1",
       mix_request([](v1::Message& m) { m.mutable_mix_request()->mutable_query()->set_clients(1); })},
      {"not the cohort",
       mix_request([](v1::Message& m) { m.mutable_mix_request()->mutable_query()->set_cohort("x"); })},
      {"not one of its own mix requests", mix_request([](v1::Message& m) { m.set_from(7); })},
      {"not one of its own mix requests", RawServer::PlanTo({11})},
      {"malformed", v1::ToAgent()},
  };
  for (const auto& [says, message] : cases) {
    SCOPED_TRACE(says);
    PlayedServer server(message);
    Middle shuffler(SmallShufflerParams(server.address()), privatizer_);
    server.Go();
    ExpectError(shuffler.Result(), StatusCode::kInvalidArgument, HasSubstr(says));
    EXPECT_THAT(server.Left(), HasSubstr(says));
  }
}

TEST_P(ShuffleFailures, AShufflerCanBeStoppedAndLosesItsServer) {
  std::stop_source stop;
  {
    PlayedServer server(RawServer::Stop(false, "no reason at all"));
    ShufflerParams params = SmallShufflerParams(server.address());
    params.stop = stop.get_token();
    Middle shuffler(params, privatizer_);
    server.AwaitShuffler();
    stop.request_stop();
    server.Go();
    ExpectError(shuffler.Result(), StatusCode::kCancelled, HasSubstr("stopped"));
  }
  {
    PlayedServer server(RawServer::Stop(false, "no reason at all"));
    Middle shuffler(SmallShufflerParams(server.address()), privatizer_);
    server.Go();
    ExpectError(shuffler.Result(), StatusCode::kUnavailable, HasSubstr("no reason at all"));
  }
}

TEST(NoShuffle, AShufflerIsRefused) {
  const NoPrivacyMean privatizer = SmallNoPrivacy();
  auto server = SmallServer(privatizer);
  ServerThread<NoPrivacyMean> service(SmallServerParams(), server);
  const ShuffleSumMean other = SmallShuffleSum(Transport::kCounts);
  Shuffler<ShuffleSumMean> role(other);
  ExpectError(RunShuffler(SmallShufflerParams(service.address()), role), StatusCode::kFailedPrecondition,
              HasSubstr("this run has no shuffler"));
  EXPECT_TRUE(RunSmallAgent(SmallAgentParams(service.address(), 1, kClients), privatizer).ok());
  EXPECT_TRUE(service.Result().ok());
}

// A population in which every client gives the same answer.
class ConstantPopulation final : public SlotWorld {
 public:
  const Facts& facts() const override {
    static const Facts kNothing;
    return kNothing;
  }

  explicit ConstantPopulation(double reward) : reward_(reward) {}
  absl::Status Answer(NodeId, Epoch, std::span<const Pull> pulls, std::span<RewardSum> rewards) override {
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      rewards[i] = {pulls[i].count, reward_ * static_cast<double>(pulls[i].count)};
    }
    return absl::OkStatus();
  }

 private:
  double reward_;
};

// Returns all messages that the shuffler of such a population receives.
std::vector<v1::FromAgent> InboxOf(double reward, const ShuffleSumMean& privatizer, const CountOpener& key) {
  std::vector<v1::FromAgent> inbox;
  std::promise<void> answered;
  RawServer shuffler([&](RawEnd& agent) {
    inbox.push_back(agent.Read<v1::FromAgent>());
    inbox.push_back(agent.Read<v1::FromAgent>());
    answered.set_value();
    agent.ReadAll();
  });
  RawServer server([&](RawEnd& agent) {
    agent.Read<v1::FromAgent>();
    v1::ToAgent welcome = RawServer::Welcome();
    welcome.mutable_welcome()->set_sealing_key(key.public_key());
    agent.Send(welcome);
    agent.Send(RawServer::PlanTo({11, 12, 13}));
    answered.get_future().wait();
    agent.Send(RawServer::Stop(true, ""));
    agent.ReadAll();
  });
  AgentParams params = SmallAgentParams(server.address(), 11, 20);
  params.route = RouteOf(privatizer);
  params.shuffler = shuffler.address();
  ConstantPopulation population(reward);
  const auto report = RunSmallAgent(params, privatizer, population);
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->shares, 3);
  EXPECT_EQ(report->spent, kBudget);
  return inbox;
}

// Returns an inbox with its sealed bits blanked out. Without the key, an adversary sees noise in them.
std::vector<std::string> Blackened(std::vector<v1::FromAgent> inbox) {
  std::vector<std::string> all;
  for (v1::FromAgent& message : inbox) {
    if (message.has_shares()) {
      for (v1::Message& share : *message.mutable_shares()->mutable_messages()) {
        EXPECT_TRUE(share.has_sealed_share());
        for (std::string& bits : *share.mutable_sealed_share()->mutable_coordinates()) {
          bits.assign(bits.size(), '#');
        }
      }
    }
    all.push_back(message.SerializeAsString());
  }
  return all;
}

TEST(ShufflersInbox, HoldsNothingThatDependsOnAReward) {
  const ShuffleSumMean privatizer = SmallShuffleSum(Transport::kBits);
  const CountOpener key(store::RandomKey());
  const std::vector<v1::FromAgent> low = InboxOf(-2, privatizer, key);
  const std::vector<v1::FromAgent> high = InboxOf(2, privatizer, key);
  EXPECT_GE(low.size(), 2u);
  EXPECT_EQ(Blackened(low), Blackened(high));
  // The sealed bits of the same clients differ, although the seed is the same.
  const auto bits = [](const v1::FromAgent& message) {
    return message.shares().messages(0).sealed_share().coordinates(0);
  };
  EXPECT_EQ(bits(low[1]).size(), bits(high[1]).size());
  for (std::size_t i = 0; i < bits(low[1]).size(); i += kSealedBitBytes) {
    EXPECT_NE(bits(low[1]).substr(i, kSealedBitBytes), bits(high[1]).substr(i, kSealedBitBytes));
  }
}

TEST(BitTransport, RefusesMoreBitsThanCanBeSealed) {
  EXPECT_EQ(CheckSealable({{{0, 1}}, 10}, kMostBitsPerCoordinate).value(), kMostBitsPerCoordinate);
  EXPECT_EQ(InputErrorOf(CheckSealable({{{0, 1}}, 10}, kMostBitsPerCoordinate + 1).status())->key,
            "transport");
  EXPECT_FALSE(CheckSealable({std::vector<Interval>(9), 10}, kMostBitsPerCoordinate).ok());
  const ShuffleSumMean paper = ShuffleSumMean::Create({.nominal = {1, 1e-6},
                                                       .calibration = Calibration::kPaper,
                                                       .sampler = Sampler::kExact,
                                                       .transport = Transport::kBits,
                                                       .collusion = {.colluding = 0},
                                                       .most_clients = 1 << 20,
                                                       .loss = 0.1})
                                   .value();
  const absl::Status status = RouteOf(paper).bits_per_coordinate({{{0, 1}}, 1000}).status();
  ASSERT_TRUE(InputErrorOf(status).has_value()) << status;
  EXPECT_EQ(InputErrorOf(status)->key, "transport");
  EXPECT_THAT(InputErrorOf(status)->accepted, AllOf(HasSubstr("counts"), HasSubstr("tight")));
}

}  // namespace
}  // namespace bandana::service
