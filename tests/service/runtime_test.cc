#include "bandana/service/runtime.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "bandana/core/archive.h"
#include "bandana/core/sha256.h"
#include "bandana/service/names.h"
#include "bandana/store/memory_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/service/raw_peers.h"

// Tests of one process with a clock and a network by hand: whom it admits, what it sends, and whom it gives
// up.
namespace bandana::service {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kAgent[] = "agent/1";

// Remembers what it takes. "echo:TEXT" is answered with TEXT, "end" ends the run.
class ToyMachine final : public Machine {
 public:
  struct Letter : Input {
    std::string body;
  };

  void Attach(store::StoreLedger&, const store::Key&) override {}
  absl::Status Admits(const std::string& link) const override {
    return absl::StartsWith(link, "agent/") ? absl::OkStatus() : absl::PermissionDeniedError("a stranger");
  }
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string&, std::string_view body) const override {
    if (body == "unreadable") return absl::InvalidArgumentError("it cannot be read");
    auto letter = std::make_unique<Letter>();
    letter->body = std::string(body);
    return letter;
  }
  absl::Status Begin() override { return absl::OkStatus(); }
  absl::Status Check(const std::string&, const Input& input) const override {
    if (static_cast<const Letter&>(input).body != "forbidden") return absl::OkStatus();
    return absl::PermissionDeniedError("it must not say so");
  }
  absl::Status Take(const std::string& link, Input& input) override {
    const std::string& body = static_cast<Letter&>(input).body;
    taken.push_back(body);
    if (absl::StartsWith(body, "echo:")) Send(link, body.substr(5));
    if (body == "end") Finish(absl::OkStatus(), "finished");
    return absl::OkStatus();
  }
  Absence JudgeAbsence(const std::string&) const override { return absence; }
  absl::Status Lose(const std::string& link, const std::string& why) override {
    lost.push_back(link + ": " + why);
    return absl::OkStatus();
  }
  bool MayStartAnew(const std::string&) const override { return may_start_anew; }
  void Abort(const absl::Status& why) override { Finish(why, std::string(why.message())); }
  absl::Status Missing() const override { return missing; }
  std::string Awaits() const override { return awaits; }
  bool over() const override { return over_; }
  absl::Status result() const override { return result_; }

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(taken, lost, over_, result_);
  }

  std::vector<std::string> taken;
  std::vector<std::string> lost;
  Absence absence = Absence::kWait;
  bool may_start_anew = false;
  absl::Status missing;
  std::string awaits;

 private:
  void Finish(absl::Status result, const std::string& told) {
    if (over_) return;
    over_ = true;
    result_ = std::move(result);
    SetClosed();
    Send(kAgent, told);
  }
  bool over_ = false;
  absl::Status result_;
};

// A store, which outlives processes.
struct Disk {
  store::MemoryDisk disk{"store"};
  store::Ratchet ratchet = store::Ratchet::InMemory();
};

// A process, and all that it has sent.
class Process final : public Carrier {
 public:
  Process(Runtime::Params params, Disk& disk, bool sends_early = false) : store_(disk.disk) {
    journal_ = Journal::Open({.storage = {&store_, &disk.ratchet},
                              .header = {.deployment = "test",
                                         .configuration = Sha256("digest"),
                                         .limits = {.per_unit = {1, 0}}},
                              .spec = params.digest,
                              .program = "test",
                              .sends_early = sends_early},
                             machine)
                   .value();
    runtime_.emplace(std::move(params), *journal_, machine, *this);
    EXPECT_TRUE(runtime_->Start(now).ok());
  }

  void Send(ConnectionId id, v1::Frame frame) override { sent[id].push_back(std::move(frame)); }
  void Close(ConnectionId id, v1::Frame frame) override { closed[id] = frame.bye(); }

  /// Another process has connected and says who it is. Returns the connection's number.
  ConnectionId Accept(const v1::Frame& opening, const std::string& party = "") {
    runtime_->Accepted(++last_id_, now);
    last = Receive(last_id_, opening, party);
    return last_id_;
  }
  ConnectionId Dial(const std::string& link) {
    runtime_->Dialed(++last_id_, link, now);
    return last_id_;
  }
  absl::Status Receive(ConnectionId id, const v1::Frame& frame, const std::string& party = "") {
    absl::StatusOr<std::unique_ptr<Machine::Input>> read = std::unique_ptr<Machine::Input>();
    if (frame.has_data()) read = machine.Read("", frame.data().body());
    return runtime_->Receive(id, frame, party, std::move(read), now);
  }
  void Disconnect(ConnectionId id) { runtime_->Disconnected(id, "its stream ended", now); }
  absl::Status StepAt(absl::Duration since_start) {
    now = kStart + since_start;
    return runtime_->Step(now);
  }
  /// Does all that can be done now.
  void Settle() {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(runtime_->Step(now).ok());
      if (runtime_->done() || runtime_->NextWake(now) > now + absl::Milliseconds(20)) return;
      now = std::max(now, runtime_->NextWake(now));
    }
  }

  /// Returns the messages that were sent on a connection, as "NUMBER TEXT".
  std::vector<std::string> MessagesOn(ConnectionId id) {
    std::vector<std::string> messages;
    for (const v1::Frame& frame : sent[id]) {
      if (frame.has_data())
        messages.push_back(std::to_string(frame.data().seq()) + " " + frame.data().body());
    }
    return messages;
  }
  std::uint64_t AcknowledgedOn(ConnectionId id) {
    std::uint64_t seq = 0;
    for (const v1::Frame& frame : sent[id]) seq = std::max(seq, frame.ack().seq());
    return seq;
  }
  const v1::Opening& OpeningOn(ConnectionId id) {
    EXPECT_FALSE(sent[id].empty());
    return sent[id].empty() ? v1::Opening::default_instance() : sent[id].front().opening();
  }
  absl::Duration NextWake() { return runtime_->NextWake(now) - kStart; }
  const std::string& run() const { return journal_->run(); }
  Runtime& runtime() { return *runtime_; }
  Journal& journal() { return *journal_; }

  inline static const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1'000'000);
  absl::Time now = kStart;
  ToyMachine machine;
  std::map<ConnectionId, std::vector<v1::Frame>> sent;
  std::map<ConnectionId, v1::Bye> closed;
  absl::Status last;  // of the last Accept

 private:
  store::MemoryStore store_;
  std::unique_ptr<Journal> journal_;
  std::optional<Runtime> runtime_;
  ConnectionId last_id_ = 0;
};

Runtime::Params Server() { return {.self = kServerName, .digest = "digest", .hides_errors = false}; }

v1::Frame AgentOpening(const std::string& run = "", std::uint64_t taken = 0, std::uint64_t sent = 0) {
  v1::Frame frame = OpeningFrame(kAgent, kServerName, run);
  frame.mutable_opening()->set_taken(taken);
  frame.mutable_opening()->set_sent(sent);
  return frame;
}

v1::Frame Data(std::uint64_t seq, const std::string& body, std::uint64_t sent = 0) {
  v1::Frame frame;
  frame.mutable_data()->set_seq(seq);
  frame.mutable_data()->set_sent(sent == 0 ? seq : sent);
  frame.mutable_data()->set_body(body);
  return frame;
}

v1::Frame Ack(std::uint64_t seq) {
  v1::Frame frame;
  frame.mutable_ack()->set_seq(seq);
  return frame;
}

v1::Frame Bye(StatusCode code, const std::string& reason, bool final) {
  v1::Frame frame;
  frame.mutable_bye()->set_code(static_cast<int>(code));
  frame.mutable_bye()->set_reason(reason);
  frame.mutable_bye()->set_final(final);
  return frame;
}

void ExpectBye(const Process& process, ConnectionId id, StatusCode code, bool final,
               const testing::Matcher<const std::string&>& says) {
  const auto it = process.closed.find(id);
  ASSERT_NE(it, process.closed.end()) << "the connection is open";
  EXPECT_EQ(static_cast<StatusCode>(it->second.code()), code);
  EXPECT_EQ(it->second.final(), final);
  EXPECT_THAT(it->second.reason(), says);
}

// --- who is admitted

TEST(RuntimeTest, WhoDoesNotSayWhoItIsIsLetGoAfterTenSeconds) {
  Disk disk;
  Process server(Server(), disk);
  server.Accept(AgentOpening());
  server.runtime().Accepted(7, server.now);
  EXPECT_TRUE(server.StepAt(absl::ZeroDuration()).ok());
  EXPECT_EQ(server.NextWake(), absl::Seconds(10));
  EXPECT_TRUE(server.StepAt(absl::Milliseconds(9999)).ok());
  EXPECT_THAT(server.closed, IsEmpty());
  EXPECT_TRUE(server.StepAt(absl::Seconds(10)).ok());
  ExpectBye(server, 7, StatusCode::kDeadlineExceeded, false, HasSubstr("did not say who it is"));
  EXPECT_THAT(server.closed, SizeIs(1));
  EXPECT_TRUE(server.Receive(7, AgentOpening()).ok()) << "nobody listens any more";
  EXPECT_THAT(server.sent[7], IsEmpty());
  EXPECT_TRUE(server.StepAt(absl::Hours(1)).ok());
  EXPECT_THAT(server.closed, SizeIs(1));
}

TEST(RuntimeTest, OpeningsThatDoNotFitAreRefused) {
  Disk disk;
  Process server(Server(), disk);
  const auto opening = [](const std::function<void(v1::Opening&)>& spoil) {
    v1::Frame frame = AgentOpening();
    spoil(*frame.mutable_opening());
    return frame;
  };
  struct Case {
    StatusCode code;
    const char* says;
    v1::Frame opening;
    std::string party = "";
  };
  const Case cases[] = {
      {StatusCode::kFailedPrecondition, "version 7 of the protocol",
       opening([](v1::Opening& o) { o.set_protocol_version(7); })},
      {StatusCode::kFailedPrecondition, "another spec than the server",
       opening([](v1::Opening& o) { o.set_digest("another"); })},
      {StatusCode::kFailedPrecondition, "this is server, not shuffler",
       opening([](v1::Opening& o) { o.set_to(kShufflerName); })},
      {StatusCode::kPermissionDenied, "a stranger", opening([](v1::Opening& o) { o.set_self("peer/1"); })},
      {StatusCode::kPermissionDenied, "its certificate is that of agent/2", AgentOpening(), "agent/2"},
      {StatusCode::kFailedPrecondition, "agent/1 is in another run", AgentOpening(kRawRun)},
      {StatusCode::kInvalidArgument, "is in no run, and yet",
       opening([](v1::Opening& o) { o.set_taken(1); })},
      {StatusCode::kInvalidArgument, "is in no run, and yet",
       opening([](v1::Opening& o) { o.set_sent(~0u); })},
      {StatusCode::kInvalidArgument, "is in no run, and yet",
       opening([](v1::Opening& o) { o.set_promised(1); })},
      {StatusCode::kInvalidArgument, "does not belong there", Data(1, "a")},
      {StatusCode::kInvalidArgument, "does not belong there", Ack(0)},
      {StatusCode::kInvalidArgument, "does not belong there", v1::Frame()},
  };
  static_assert(kProtocolVersion != 7);
  for (const Case& each : cases) {
    SCOPED_TRACE(each.says);
    const ConnectionId id = server.Accept(each.opening, each.party);
    EXPECT_TRUE(server.last.ok()) << "the server goes on";
    ExpectBye(server, id, each.code, true, HasSubstr(each.says));
    EXPECT_THAT(server.sent[id], IsEmpty());
  }
  const ConnectionId id = server.Accept(AgentOpening(), kAgent);
  EXPECT_EQ(server.OpeningOn(id).run(), server.run());
  EXPECT_EQ(server.OpeningOn(id).to(), kAgent);
  EXPECT_THAT(server.machine.lost, IsEmpty());
}

TEST(RuntimeTest, FramesThatBreakARuleCutTheConnectionAndLoseTheProcess) {
  const std::pair<const char*, v1::Frame> cases[] = {
      {"it left out a message", Data(3, "c")},
      {"it sent a frame that does not belong there", Ack(2)},
      {"it sent a frame that does not belong there", v1::Frame()},
      {"it opened a connection twice", AgentOpening()},
      {"it cannot be read", Data(2, "unreadable")},
      {"it must not say so", Data(2, "forbidden")},
  };
  for (const auto& [says, frame] : cases) {
    SCOPED_TRACE(says);
    Disk disk;
    Process server(Server(), disk);
    const ConnectionId id = server.Accept(AgentOpening());
    EXPECT_TRUE(server.Receive(id, Data(1, "echo:hello")).ok());
    server.Settle();
    EXPECT_TRUE(server.Receive(id, Ack(1)).ok());
    EXPECT_THAT(server.closed, IsEmpty());
    EXPECT_TRUE(server.Receive(id, frame).ok());
    EXPECT_THAT(server.closed[id].reason(), says);
    EXPECT_TRUE(server.closed[id].final());
    EXPECT_THAT(server.machine.lost, ElementsAre(std::string(kAgent) + ": " + says));
    EXPECT_THAT(server.machine.taken, ElementsAre("echo:hello"));
    const ConnectionId again = server.Accept(AgentOpening(server.run(), 1, 1));
    ExpectBye(server, again, StatusCode::kFailedPrecondition, true, HasSubstr("agent/1 was given up"));
  }
}

TEST(RuntimeTest, AProcessWithoutItsStoreIsRefusedOnceItWasHeard) {
  Disk disk;
  Process server(Server(), disk);
  const ConnectionId first = server.Accept(AgentOpening());
  EXPECT_TRUE(server.Receive(first, Data(1, "a")).ok());
  server.Settle();
  server.Disconnect(first);
  ConnectionId id = server.Accept(AgentOpening());
  ExpectBye(server, id, StatusCode::kFailedPrecondition, true, HasSubstr("the store was lost or replaced"));
  // Nothing counts yet: another one may come instead, but not as long as somebody is there.
  server.machine.may_start_anew = true;
  id = server.Accept(AgentOpening());
  EXPECT_EQ(server.OpeningOn(id).taken(), 1u) << "it continues the numbers";
  v1::Frame other = AgentOpening();
  other.mutable_opening()->set_process("another");
  const ConnectionId second = server.Accept(other);
  ExpectBye(server, second, StatusCode::kAlreadyExists, false, HasSubstr("agent/1 already"));
  EXPECT_TRUE(server.Receive(id, Data(2, "b")).ok());
  EXPECT_THAT(server.machine.taken, ElementsAre("a", "b"));
}

TEST(RuntimeTest, WhoWasGivenUpBeforeItCountedMayBeReplacedAlsoAfterACrash) {
  Disk disk;
  std::string run;
  {
    Process server(Server(), disk);
    server.machine.may_start_anew = true;
    const ConnectionId id = server.Accept(AgentOpening());
    EXPECT_TRUE(server.Receive(id, Data(1, "echo:a")).ok());
    EXPECT_TRUE(server.Receive(id, Bye(StatusCode::kUnavailable, "stopped", true)).ok());
    EXPECT_THAT(server.machine.lost, ElementsAre("agent/1: stopped"));
    server.Settle();
    run = server.run();
  }
  {
    Process server(Server(), disk);
    server.machine.may_start_anew = true;
    const ConnectionId old = server.Accept(AgentOpening(run, 1, 1));  // only a new process may come
    ExpectBye(server, old, StatusCode::kFailedPrecondition, true, HasSubstr("was given up"));
    const ConnectionId id = server.Accept(AgentOpening());
    EXPECT_EQ(server.OpeningOn(id).taken(), 1u);
    EXPECT_EQ(server.OpeningOn(id).sent(), 1u);
    EXPECT_TRUE(server.Receive(id, Data(2, "echo:b")).ok());
    server.Settle();
    EXPECT_THAT(server.MessagesOn(id), ElementsAre("2 b"));
  }
  Process server(Server(), disk);
  EXPECT_FALSE(server.journal().IsLost(kAgent));
  const ConnectionId id = server.Accept(AgentOpening(run, 1, 2));
  server.Settle();
  EXPECT_THAT(server.MessagesOn(id), ElementsAre("2 b"));
  EXPECT_THAT(server.machine.taken, ElementsAre("echo:a", "echo:b"));
}

// --- stores that were put back from an old copy

TEST(RuntimeTest, AnOldCopyOfTheOtherStoreIsRefused) {
  Disk disk;
  Process server(Server(), disk);
  const ConnectionId id = server.Accept(AgentOpening());
  EXPECT_TRUE(server.Receive(id, Data(1, "echo:a")).ok());
  EXPECT_TRUE(server.Receive(id, Data(2, "echo:b", 5)).ok());  // it will send up to 5 again, whatever happens
  server.Settle();
  EXPECT_TRUE(server.Receive(id, Ack(2)).ok());
  server.Disconnect(id);
  // It forgot what it had taken.
  ConnectionId again = server.Accept(AgentOpening(server.run(), 1, 5));
  ExpectBye(server, again, StatusCode::kAborted, true,
            "the store of agent/1 is an old copy: it had taken message 2, and now it has 1");
  // It forgot what it had promised to send.
  again = server.Accept(AgentOpening(server.run(), 2, 4));
  ExpectBye(server, again, StatusCode::kAborted, true,
            "the store of agent/1 is an old copy: it had sent message 5, and now it has 4");
  again = server.Accept(AgentOpening(server.run(), 2, 5));
  EXPECT_EQ(server.OpeningOn(again).promised(), 5u);
  server.Settle();
  // After a crash the server remembers only what it has taken itself.
  Process later(Server(), disk);
  again = later.Accept(AgentOpening(later.run(), 2, 1));
  ExpectBye(later, again, StatusCode::kAborted, true,
            "the store of agent/1 is an old copy: it had sent message 2, and now it has 1");
  again = later.Accept(AgentOpening(later.run(), 2, 2));
  EXPECT_EQ(later.OpeningOn(again).taken(), 2u);
  EXPECT_THAT(later.machine.lost, IsEmpty());
}

TEST(RuntimeTest, AProcessWhoseOwnStoreIsAnOldCopyEnds) {
  for (const bool by_promise : {false, true}) {
    SCOPED_TRACE(by_promise);
    Disk disk;
    Process server(Server(), disk);
    v1::Frame opening = AgentOpening(server.run(), by_promise ? 0 : 3);
    if (by_promise) opening.mutable_opening()->set_promised(3);
    const ConnectionId id = server.Accept(opening);
    EXPECT_EQ(server.last, absl::AbortedError("the store of server is an old copy: it had sent message "
                                              "3, and now it has 0"));
    ExpectBye(server, id, StatusCode::kAborted, false, HasSubstr("old copy"));
  }
}

// Whoever sends before it is durable computes the same messages again after a crash.
TEST(RuntimeTest, WhoSendsEarlyIsHeldOnlyToItsPromises) {
  Disk disk;
  Process server(Server(), disk, /*sends_early=*/true);
  const ConnectionId id = server.Accept(AgentOpening());
  EXPECT_TRUE(server.Receive(id, Data(1, "a", 1)).ok());
  EXPECT_TRUE(server.Receive(id, Data(2, "b", 1)).ok());
  EXPECT_TRUE(server.Receive(id, Ack(9)).ok());  // of a message of its process before the last crash
  server.Settle();
  server.Disconnect(id);
  ConnectionId again = server.Accept(AgentOpening(server.run(), 9, 0));
  ExpectBye(server, again, StatusCode::kAborted, true, HasSubstr("it had sent message 1, and now"));
  again = server.Accept(AgentOpening(server.run(), 9, 1));
  EXPECT_EQ(server.OpeningOn(again).taken(), 2u);
}

// --- what is sent

TEST(RuntimeTest, MessagesAreTakenOnceAndAcknowledgedOnceTheyAreDurable) {
  Disk disk;
  Process server(Server(), disk);
  const ConnectionId id = server.Accept(AgentOpening());
  EXPECT_TRUE(server.StepAt(absl::Seconds(1)).ok());
  EXPECT_TRUE(server.Receive(id, Data(1, "a")).ok());
  EXPECT_TRUE(server.Receive(id, Data(1, "a")).ok());
  EXPECT_THAT(server.machine.taken, ElementsAre("a"));
  EXPECT_EQ(server.AcknowledgedOn(id), 0u);
  server.Settle();
  EXPECT_EQ(server.AcknowledgedOn(id), 1u);
  EXPECT_TRUE(server.Receive(id, Data(1, "a")).ok());
  EXPECT_THAT(server.machine.taken, ElementsAre("a"));
  // Somebody waits for an answer, so it is durable at once.
  EXPECT_TRUE(server.Receive(id, Data(2, "echo:b")).ok());
  EXPECT_THAT(server.MessagesOn(id), IsEmpty());
  EXPECT_TRUE(server.runtime().Step(server.now).ok());
  EXPECT_THAT(server.MessagesOn(id), ElementsAre("1 b"));
  EXPECT_EQ(server.AcknowledgedOn(id), 2u);
}

TEST(RuntimeTest, WhatWasNotTakenIsSentAgainAndNoMoreThanAWindow) {
  Disk disk;
  Runtime::Params params = Server();
  params.window = 3;
  Process server(params, disk);
  const ConnectionId id = server.Accept(AgentOpening());
  for (std::uint64_t seq = 1; seq <= 5; ++seq) {
    EXPECT_TRUE(server.Receive(id, Data(seq, "echo:" + std::to_string(seq))).ok());
  }
  server.Settle();
  EXPECT_THAT(server.MessagesOn(id), ElementsAre("1 1", "2 2", "3 3"));
  EXPECT_TRUE(server.Receive(id, Ack(1)).ok());
  server.Settle();
  EXPECT_THAT(server.MessagesOn(id), ElementsAre("1 1", "2 2", "3 3", "4 4"));
  server.Disconnect(id);
  const ConnectionId again = server.Accept(AgentOpening(server.run(), 2, 5));
  server.Settle();
  EXPECT_THAT(server.MessagesOn(again), ElementsAre("3 3", "4 4", "5 5"));
}

TEST(RuntimeTest, ANewConnectionReplacesTheOldOne) {
  Disk disk;
  Process server(Server(), disk);
  const ConnectionId id = server.Accept(AgentOpening());
  EXPECT_TRUE(server.Receive(id, Data(1, "a")).ok());
  server.Settle();
  const ConnectionId again = server.Accept(AgentOpening(server.run(), 0, 1));
  ExpectBye(server, id, StatusCode::kUnavailable, false, HasSubstr("opened again"));
  EXPECT_TRUE(server.Receive(id, Data(2, "from the old connection")).ok());
  EXPECT_TRUE(server.Receive(again, Data(2, "b")).ok());
  EXPECT_THAT(server.machine.taken, ElementsAre("a", "b"));
}

// --- a process that dials

Runtime::Params Agent() {
  Runtime::Params params{.self = kAgent, .digest = "digest", .run_of = kServerName};
  params.partners = {{kServerName, {.dialed = true, .name = "server at home"}},
                     {kShufflerName, {.dialed = true}}};
  return params;
}

TEST(RuntimeTest, AnAgentTakesPartInTheRunOfItsServer) {
  Disk disk;
  Process agent(Agent(), disk);
  const ConnectionId shuffler = agent.Dial(kShufflerName);
  const ConnectionId server = agent.Dial(kServerName);
  EXPECT_THAT(agent.sent[shuffler], IsEmpty()) << "it has no run to speak of";
  EXPECT_EQ(agent.OpeningOn(server).run(), "");
  v1::Frame answer = OpeningFrame(kServerName, kAgent, kRawRun);
  answer.mutable_opening()->set_taken(4);  // of an earlier agent with this name
  answer.mutable_opening()->set_sent(6);
  EXPECT_TRUE(agent.Receive(server, answer).ok());
  EXPECT_EQ(agent.run(), kRawRun);
  EXPECT_EQ(agent.OpeningOn(shuffler).run(), kRawRun);
  EXPECT_EQ(agent.journal().Taken(kServerName), 6u);
  EXPECT_TRUE(agent.Receive(server, Data(7, "echo:a")).ok());
  agent.Settle();
  EXPECT_THAT(agent.MessagesOn(server), ElementsAre("5 a"));
}

TEST(RuntimeTest, ARefusalEndsTheProcessThatDialed) {
  struct Case {
    StatusCode code;
    const char* says;
    v1::Frame answer;
  };
  const Case cases[] = {
      {StatusCode::kPermissionDenied, "the server at home refused this agent: no",
       Bye(StatusCode::kPermissionDenied, "no", true)},
      {StatusCode::kUnavailable, "the server at home was lost: no", Bye(StatusCode::kOk, "no", true)},
      {StatusCode::kFailedPrecondition, "shuffler answers where server should be",
       OpeningFrame(kShufflerName, kAgent, kRawRun)},
      {StatusCode::kInvalidArgument, "does not belong there", Data(1, "a")},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.says);
    Disk disk;
    Process agent(Agent(), disk);
    const absl::Status status = agent.Receive(agent.Dial(kServerName), each.answer);
    EXPECT_EQ(status.code(), each.code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.says));
  }
  Disk disk;
  Process agent(Agent(), disk);
  EXPECT_TRUE(agent.Receive(agent.Dial(kServerName), Bye(StatusCode::kUnavailable, "later", false)).ok());
  EXPECT_TRUE(agent.Receive(agent.Dial(kServerName), OpeningFrame(kServerName, kAgent, "")).ok())
      << "a server without a run is asked again";
  EXPECT_EQ(agent.run(), "");
}

TEST(RuntimeTest, WhoIsDialedCannotConnect) {
  Disk disk;
  Process agent(Agent(), disk);
  EXPECT_TRUE(agent.Receive(agent.Dial(kServerName), OpeningFrame(kServerName, kAgent, kRawRun)).ok());
  const ConnectionId id = agent.Accept(OpeningFrame(kServerName, kAgent, kRawRun));
  ExpectBye(agent, id, StatusCode::kPermissionDenied, true, "agent/1 itself opens the connections to server");
}

// --- who is given up

TEST(RuntimeTest, WhoIsAwayForTooLongIsJudgedByTheMachine) {
  using Absence = Machine::Absence;
  for (const Absence absence : {Absence::kWait, Absence::kGiveUp, Absence::kStop}) {
    SCOPED_TRACE(static_cast<int>(absence));
    Disk disk;
    Runtime::Params params = Server();
    params.silence = absl::Minutes(10);
    Process server(params, disk);
    server.machine.absence = absence;
    const ConnectionId id = server.Accept(AgentOpening());
    EXPECT_TRUE(server.Receive(id, Data(1, "a")).ok());
    EXPECT_TRUE(server.StepAt(absl::Minutes(1)).ok());
    server.Disconnect(id);
    EXPECT_TRUE(server.StepAt(absl::Minutes(11) - absl::Seconds(1)).ok());
    EXPECT_THAT(server.machine.lost, IsEmpty());
    const absl::Status status = server.StepAt(absl::Minutes(11));
    if (absence == Absence::kStop) {
      EXPECT_EQ(status, absl::UnavailableError("the agent/1 was lost: its stream ended, and it did not come "
                                               "back within 10m"));
    } else {
      EXPECT_TRUE(status.ok()) << status;
    }
    EXPECT_THAT(server.machine.lost, SizeIs(absence == Absence::kGiveUp ? 1 : 0));
    EXPECT_FALSE(server.machine.over()) << "the run stays open";
  }
}

// Whoever was given up ends when it hears of it, unless it has given up the other one, too.
TEST(RuntimeTest, BothSidesOfANetworkThatWasCutGoOn) {
  for (const bool both : {false, true}) {
    Disk disk;
    Runtime::Params params{.self = "peer/1", .digest = "digest", .runs_differ = true};
    params.partners["peer/2"] = {.dialed = true};
    params.silence = absl::Minutes(10);
    Process peer(params, disk);
    peer.machine.absence = Machine::Absence::kGiveUp;
    const ConnectionId id = peer.Dial("peer/2");
    EXPECT_TRUE(peer.Receive(id, OpeningFrame("peer/2", "peer/1", kRawRun)).ok());
    EXPECT_TRUE(peer.Receive(id, Data(1, "a")).ok());
    peer.Settle();
    peer.Disconnect(id);
    EXPECT_TRUE(peer.StepAt(absl::Minutes(both ? 11 : 9)).ok());
    EXPECT_THAT(peer.machine.lost, SizeIs(both ? 1 : 0));
    const absl::Status status =
        peer.Receive(peer.Dial("peer/2"), Bye(StatusCode::kFailedPrecondition, "you were given up", true));
    EXPECT_EQ(status.code(), both ? StatusCode::kOk : StatusCode::kFailedPrecondition) << status;
    EXPECT_FALSE(peer.machine.over());
  }
}

TEST(RuntimeTest, WithoutAStoreALostConnectionIsALostProcess) {
  Disk disk;
  Runtime::Params params = Server();
  params.comes_back = false;
  params.silence = absl::ZeroDuration();
  Process server(params, disk);
  ConnectionId id = server.Accept(AgentOpening());
  EXPECT_TRUE(server.Receive(id, Data(1, "a")).ok());
  server.Disconnect(id);
  server.Settle();
  EXPECT_THAT(server.machine.lost, IsEmpty()) << "nobody waits for it";
  server.machine.may_start_anew = true;  // but its place must be free
  server.Settle();
  EXPECT_THAT(server.machine.lost, ElementsAre("agent/1: its stream ended"));
  id = server.Accept(AgentOpening());
  EXPECT_EQ(server.OpeningOn(id).taken(), 1u);
  server.machine.may_start_anew = false;
  server.machine.absence = Machine::Absence::kStop;
  server.Disconnect(id);
  server.Settle();
  EXPECT_THAT(server.machine.lost, SizeIs(2));
}

TEST(RuntimeTest, WhoNeverCameIsMissed) {
  for (const bool comes_back : {true, false}) {
    Disk disk;
    Runtime::Params params = Server();
    params.partners["agent/2"] = {};
    params.comes_back = comes_back;
    params.join_timeout = absl::Seconds(3);
    Process server(params, disk);
    EXPECT_TRUE(server.StepAt(absl::ZeroDuration()).ok());
    EXPECT_EQ(server.NextWake(), absl::Seconds(3));
    EXPECT_TRUE(server.StepAt(absl::Milliseconds(2999)).ok());
    EXPECT_FALSE(server.machine.over());
    const absl::Status status = server.StepAt(absl::Seconds(3));
    const absl::Status missing = absl::UnavailableError("the agent/2 did not come within 3s");
    EXPECT_EQ(comes_back ? status : server.machine.result(), missing);
    EXPECT_EQ(server.machine.over(), !comes_back);
  }
}

// A timeout comes without a message, and must be told all the same, at once.
TEST(RuntimeTest, WhoDoesNotAnswerEndsTheRunAndIsTold) {
  Disk disk;
  Runtime::Params params = Server();
  params.comes_back = false;
  params.answer_timeout = absl::Seconds(3);
  Process server(params, disk);
  const ConnectionId id = server.Accept(AgentOpening());
  EXPECT_TRUE(server.Receive(id, Data(1, "a")).ok());
  EXPECT_TRUE(server.StepAt(absl::Seconds(1)).ok());
  EXPECT_TRUE(server.StepAt(absl::Seconds(100)).ok());
  EXPECT_FALSE(server.machine.over()) << "it waits for nothing";
  server.machine.awaits = "7 clients have not answered";
  EXPECT_TRUE(server.Receive(id, Data(2, "b")).ok());
  EXPECT_TRUE(server.StepAt(absl::Seconds(102)).ok());
  EXPECT_FALSE(server.machine.over());
  EXPECT_EQ(server.NextWake(), absl::Seconds(103));
  EXPECT_TRUE(server.StepAt(absl::Seconds(103)).ok());
  const std::string why = "there was no answer for 3s: 7 clients have not answered";
  EXPECT_EQ(server.machine.result(), absl::UnavailableError(why));
  server.Settle();
  EXPECT_THAT(server.MessagesOn(id), ElementsAre("1 " + why));
  EXPECT_FALSE(server.runtime().done());
  EXPECT_TRUE(server.Receive(id, Ack(1)).ok());
  server.Settle();
  EXPECT_TRUE(server.runtime().done());
  ExpectBye(server, id, StatusCode::kOk, true, "the run is over: " + why);
}

// --- the end

TEST(RuntimeTest, TheEndWaitsForThoseWhoCanComeBack) {
  for (const bool comes_back : {true, false}) {
    for (const bool is_here : {true, false}) {
      SCOPED_TRACE(testing::Message() << comes_back << is_here);
      Disk disk;
      Runtime::Params params = Server();
      params.comes_back = comes_back;
      params.linger = absl::Seconds(5);
      Process server(params, disk);
      const ConnectionId id = server.Accept(AgentOpening());
      EXPECT_TRUE(server.Receive(id, Data(1, "end")).ok());
      if (!is_here) server.Disconnect(id);
      server.Settle();
      const bool waits = comes_back || is_here;
      EXPECT_EQ(server.runtime().done(), !waits);
      EXPECT_TRUE(server.StepAt(absl::Milliseconds(4900)).ok());
      EXPECT_EQ(server.runtime().done(), !waits);
      EXPECT_TRUE(server.StepAt(absl::Seconds(6)).ok());
      EXPECT_TRUE(server.runtime().done());
    }
  }
}

TEST(RuntimeTest, WhoLeavesSaysNoMoreThanItMay) {
  for (const bool hides : {true, false}) {
    Disk disk;
    Runtime::Params params = Server();
    params.hides_errors = hides;
    params.comes_back = hides;
    Process server(params, disk);
    const ConnectionId id = server.Accept(AgentOpening());
    server.runtime().Leave(absl::DataLossError("a secret"));
    ExpectBye(server, id, StatusCode::kUnavailable, !params.comes_back, hides ? "DATA_LOSS" : "a secret");
  }
}

}  // namespace
}  // namespace bandana::service
