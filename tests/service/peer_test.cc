#include "bandana/service/peer.h"

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/federation/graph_shapes.h"
#include "bandana/service/protocol.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/service/failing.h"
#include "tests/service/flooding.h"
#include "tests/service/raw_peers.h"

namespace bandana::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Count kRounds = 30;

// A peer in a thread of its own.
struct Peer {
  Peer(NodeId self, int gamma) : player(self, gamma) { params.self = self; }

  void Start() {
    std::promise<std::string> listening;
    params.on_listening = [&](const std::string& where) { listening.set_value(where); };
    result = std::async(std::launch::async, [this] { return RunPeer(params, player, world); });
    address = listening.get_future().get();
    params.on_listening = nullptr;
  }

  PeerParams params;
  Flooder player;
  ToyWorld world;
  std::string address;
  std::future<absl::StatusOr<PeerReport>> result;
};

// All peers of a graph. A peer must know the addresses of neighbours with larger numbers, so those start
// first.
class Peers {
 public:
  Peers(const Graph& graph, int gamma) {
    for (NodeId node{1}; graph.Contains(node); ++node.value) {
      auto peer = std::make_unique<Peer>(node, gamma);
      peer->params.listen = "127.0.0.1:0";
      peer->params.rounds = kRounds;
      peer->params.spec_digest = "digest";
      peer->params.budget = kBudget;
      peer->params.connect_timeout = kLong;
      for (const NodeId other : graph.neighbours(node)) peer->params.neighbours[other] = "";
      peers_[node] = std::move(peer);
    }
  }

  Peer& at(std::uint32_t node) { return *peers_.at(NodeId{node}); }
  auto begin() { return peers_.begin(); }
  auto end() { return peers_.end(); }

  void Start(const std::set<std::uint32_t>& absent = {}) {
    for (auto it = peers_.rbegin(); it != peers_.rend(); ++it) {
      Peer& peer = *it->second;
      for (auto& [other, address] : peer.params.neighbours) {
        const auto found = peers_.find(other);
        if (found != peers_.end() && !found->second->address.empty()) address = found->second->address;
        if (absent.contains(other.value)) address = "127.0.0.1:1";
      }
      if (!absent.contains(it->first.value)) peer.Start();
    }
  }

  PeerReport ReportOf(std::uint32_t node) {
    const auto report = at(node).result.get();
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(PeerReport{});
  }

 private:
  std::map<NodeId, std::unique_ptr<Peer>> peers_;
};

std::vector<std::pair<std::string, Graph>> SomeGraphs() {
  const std::vector<Edge> kite = {{{1}, {2}}, {{2}, {3}}, {{1}, {3}}, {{3}, {4}}, {{4}, {5}}};
  return {{"line", *LineGraph(5)},          {"ring", *RingGraph(6)}, {"complete", *CompleteGraph(4)},
          {"star", *StarGraph(4)},          {"pair", *LineGraph(2)}, {"one", *LineGraph(1)},
          {"kite", *Graph::Create(5, kite)}};
}

TEST(PeerTest, SeesWhatItWouldSeeInASimulator) {
  for (const auto& [name, graph] : SomeGraphs()) {
    for (const int gamma : {1, 3}) {
      SCOPED_TRACE(name);
      Peers peers(graph, gamma);
      peers.Start();
      const auto expected = FloodInALoop(graph, gamma, kRounds);
      Count sent = 0, received = 0;
      for (auto& [node, peer] : peers) {
        const PeerReport report = peers.ReportOf(node.value);
        EXPECT_EQ(report.rounds, kRounds);
        EXPECT_THAT(report.lost, IsEmpty());
        EXPECT_EQ(peer->player.seen(), expected.at(node)) << node.value;
        EXPECT_EQ(report.messages_in, static_cast<Count>(peer->player.seen().size()));
        sent += report.messages_out;
        received += report.messages_in;
      }
      EXPECT_GE(received, 10 * graph.edges());
      EXPECT_LE(received, sent);  // the messages of the last round arrive too late
    }
  }
}

TEST(PeerTest, MessagesArriveAfterTheirDistanceAndNothingComesTwice) {
  const Graph graph = *RingGraph(6);
  constexpr int kGamma = 2;
  Peers peers(graph, kGamma);
  peers.Start();
  for (auto& [node, peer] : peers) {
    peers.ReportOf(node.value);
    std::set<std::pair<NodeId, Seq>> messages;
    std::map<NodeId, std::set<Count>> bulletins;
    for (const Seen& seen : peer->player.seen()) {
      EXPECT_TRUE(messages.insert({seen.from, seen.seq}).second);
      EXPECT_EQ(seen.slot + 1, seen.round);
      if (!seen.is_new) continue;
      EXPECT_EQ(seen.round - seen.born, graph.distance(seen.origin, node));
      if (seen.value == 0) continue;
      EXPECT_EQ(seen.value, Flooder::ValueOf(seen.origin, seen.born));
      EXPECT_TRUE(bulletins[seen.origin].insert(seen.born).second);
    }
    for (NodeId other{1}; graph.Contains(other); ++other.value) {
      const int distance = graph.distance(node, other);
      std::set<Count> expected;
      for (Count round = 1; round + distance <= kRounds; ++round) {
        if (other != node && distance <= kGamma && (round + other.value) % 3 == 0) expected.insert(round);
      }
      EXPECT_EQ(bulletins[other], expected);
    }
  }
}

TEST(PeerTest, PlaysWhenItsRoleDoes) {
  Peers peers(*LineGraph(2), 1);
  peers.Start();
  for (auto& [node, peer] : peers) {
    peers.ReportOf(node.value);
    std::vector<ToyWorld::Asked> expected;
    for (Count round = 1; round <= kRounds; ++round) {
      if (peer->player.Plays(round))
        expected.push_back({round, static_cast<ArmId>((round + node.value) % 3)});
    }
    EXPECT_EQ(peer->world.asked, expected);
  }
}

TEST(PeerTest, BytesAddUp) {
  Peers peers(*RingGraph(4), 2);
  peers.Start();
  std::uint64_t in = 0, out = 0;
  for (auto& [node, peer] : peers) {
    const PeerReport report = peers.ReportOf(node.value);
    in += report.bytes_in;
    out += report.bytes_out;
  }
  EXPECT_EQ(in, out);
  EXPECT_GT(in, 0u);
}

// --- peers that die

TEST(PeerFailures, APeerThatCannotGoOnLeavesTheOthersWorking) {
  const Graph graph = *RingGraph(5);
  constexpr int kGamma = 3;
  constexpr Count kDies = 12;
  Peers peers(graph, kGamma);
  peers.at(3).player.fails_in = kDies;
  peers.Start();
  ExpectError(peers.at(3).result.get(), absl::StatusCode::kDataLoss, HasSubstr("secret"));
  const auto expected = FloodInALoop(graph, kGamma, kRounds, NodeId{3}, kDies);
  for (const std::uint32_t node : {1, 2, 4, 5}) {
    const PeerReport report = peers.ReportOf(node);
    EXPECT_EQ(report.rounds, kRounds);
    EXPECT_EQ(peers.at(node).player.seen(), expected.at(NodeId{node})) << node;
    if (node == 1 || node == 5) {
      EXPECT_THAT(report.lost, IsEmpty());
      continue;
    }
    ASSERT_EQ(report.lost.size(), 1u);
    EXPECT_EQ(report.lost[0].node, NodeId{3});
    EXPECT_EQ(report.lost[0].round, kDies);
    EXPECT_THAT(report.lost[0].why, AllOf(HasSubstr("DATA_LOSS"), Not(HasSubstr("secret"))));
  }
}

TEST(PeerFailures, APeerThatIsStoppedIsNoticed) {
  Peers peers(*LineGraph(4), 2);
  std::stop_source stop;
  peers.at(2).params.stop = stop.get_token();
  peers.at(2).world.on_round = [&](Count round) {
    if (round >= 12) stop.request_stop();
  };
  peers.Start();
  ExpectError(peers.at(2).result.get(), absl::StatusCode::kCancelled, HasSubstr("stopped"));
  for (const std::uint32_t node : {1, 3}) {
    const PeerReport report = peers.ReportOf(node);
    EXPECT_EQ(report.rounds, kRounds);
    ASSERT_EQ(report.lost.size(), 1u);
    EXPECT_EQ(report.lost[0].node, NodeId{2});
    EXPECT_EQ(report.lost[0].round, 13);  // it plays a round to its end
    EXPECT_EQ(report.lost[0].why, "the peer was stopped");
  }
  EXPECT_THAT(peers.ReportOf(4).lost, IsEmpty());
}

// A peer with number 1.
class RawPeer : public RawDialer {
 public:
  using RawDialer::RawDialer;

  static v1::ToPeer Packet(Slot slot) {
    v1::ToPeer message;
    message.mutable_packet()->set_slot(slot);
    return message;
  }

  static v1::ToPeer Request(Slot slot, std::uint32_t from, Seq seq = 0) {
    v1::ToPeer packet = Packet(slot);
    v1::Message& message = *packet.mutable_packet()->add_messages();
    message.set_from(from);
    message.set_origin(from);
    message.set_slot(slot);
    message.set_seq(seq);
    message.mutable_sync_request()->set_origin(from);
    message.mutable_sync_request()->set_round(slot);
    return packet;
  }

  /// Connects to peer 2 and is ready. Returns once peer 2 has begun to play.
  bool Begin() {
    if (!Open("peer/1", "peer/2", kRawRun)) return false;
    v1::ToPeer ready;
    ready.mutable_ready();
    Send(ready);
    return Read().has_ready() && Read().has_packet();
  }

  v1::ToPeer Read() { return RawEnd::Read<v1::ToPeer>(); }
};

// Peer 2 waits for 1, 3 for 2, and 4 for 3. Only peer 1 must be given up.
TEST(PeerFailures, APeerWhoseConnectionBreaksIsGivenUpAndThoseWhoWaitAreNot) {
  Peers peers(*LineGraph(4), 2);
  peers.Start({1});
  {
    RawPeer raw(peers.at(2).address);
    ASSERT_TRUE(raw.Begin());
    for (Slot slot = 1; slot <= 3; ++slot) raw.Send(RawPeer::Packet(slot));
    ASSERT_TRUE(raw.AwaitAcknowledgement());
  }
  const PeerReport report = peers.ReportOf(2);
  EXPECT_EQ(report.rounds, kRounds);
  ASSERT_EQ(report.lost.size(), 1u);
  EXPECT_EQ(report.lost[0].node, NodeId{1});
  EXPECT_EQ(report.lost[0].round, 4);
  EXPECT_EQ(report.lost[0].why, "its stream ended");
  for (const std::uint32_t node : {3, 4}) EXPECT_THAT(peers.ReportOf(node).lost, IsEmpty());
}

TEST(PeerFailures, APeerThatSendsWhatItShouldNotIsGivenUp) {
  v1::ToPeer share = RawPeer::Request(1, 1);
  share.mutable_packet()->mutable_messages(0)->mutable_share()->set_epoch(1);
  share.mutable_packet()->mutable_messages(0)->mutable_share()->add_report(3);
  v1::ToPeer malformed = RawPeer::Request(1, 1);
  malformed.mutable_packet()->mutable_messages(0)->mutable_sync_request()->set_group(-4);
  v1::ToPeer out_of_order = RawPeer::Request(1, 1, 7);
  *out_of_order.mutable_packet()->add_messages() = out_of_order.packet().messages(0);
  const std::pair<const char*, v1::ToPeer> cases[] = {
      {"slot 2 after that of slot 0", RawPeer::Packet(2)},
      {"slot 0 after that of slot 0", RawPeer::Packet(0)},
      {"its own bulletins and requests", RawPeer::Request(1, 2)},
      {"its own bulletins and requests", share},
      {"group: -4", malformed},
      {"out of order", out_of_order},
      {"other than packets", v1::ToPeer()},
  };
  for (const auto& [says, message] : cases) {
    SCOPED_TRACE(says);
    Peers peers(*LineGraph(3), 1);
    peers.Start({1});
    RawPeer raw(peers.at(2).address);
    ASSERT_TRUE(raw.Begin());
    raw.Send(message);
    EXPECT_EQ(raw.ReadToEnd().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(raw.bye().final());
    const PeerReport report = peers.ReportOf(2);
    EXPECT_EQ(report.rounds, kRounds);
    ASSERT_EQ(report.lost.size(), 1u);
    EXPECT_EQ(report.lost[0].node, NodeId{1});
    EXPECT_EQ(report.lost[0].round, 1);
    EXPECT_THAT(report.lost[0].why, HasSubstr(says));
    EXPECT_THAT(peers.ReportOf(3).lost, IsEmpty());
  }
}

TEST(PeerFailures, APeerThatIsLostBeforeTheRunBeginsEndsIt) {
  Peers peers(*LineGraph(3), 1);
  peers.Start({1, 3});
  {
    RawPeer raw(peers.at(2).address);
    EXPECT_TRUE(raw.Open("peer/1", "peer/2", kRawRun));
  }
  ExpectError(peers.at(2).result.get(), absl::StatusCode::kUnavailable,
              HasSubstr("neighbour 1 was lost before the run began: its stream ended"));
}

// --- peers that do not fit

TEST(PeerFailures, AnotherExperimentIsRefused) {
  Peers peers(*LineGraph(3), 1);
  peers.at(1).params.spec_digest = "another";
  peers.at(2).params.connect_timeout = absl::Milliseconds(300);
  peers.Start();
  ExpectError(
      peers.at(1).result.get(), absl::StatusCode::kFailedPrecondition,
      AllOf(HasSubstr("neighbour 2 refused this peer"), HasSubstr("runs another spec than the peer")));
  ExpectError(peers.at(2).result.get(), absl::StatusCode::kUnavailable,
              HasSubstr("neighbour 1 did not come within 300ms"));
  // Peer 3 may have started or not; the run has not.
  ExpectError(peers.at(3).result.get(), absl::StatusCode::kUnavailable,
              AllOf(HasSubstr("neighbour 2 says that the run has not begun"), HasSubstr("UNAVAILABLE")));
}

TEST(PeerFailures, OpeningsAreChecked) {
  Peers peers(*LineGraph(3), 1);
  std::stop_source stop;
  for (const std::uint32_t node : {2, 3}) peers.at(node).params.stop = stop.get_token();
  peers.Start({1});
  const auto refusal = [&](const v1::Frame& first) {
    RawPeer raw(peers.at(2).address);
    raw.Write(first);
    return std::string(raw.ReadToEnd().message());
  };
  v1::Frame version = OpeningFrame("peer/1", "peer/2", kRawRun);
  version.mutable_opening()->set_protocol_version(kProtocolVersion + 1);
  EXPECT_THAT(refusal(version), HasSubstr("version"));
  EXPECT_EQ(refusal(OpeningFrame("peer/1", "peer/3", kRawRun)), "this is peer/2, not peer/3");
  EXPECT_EQ(refusal(OpeningFrame("peer/4", "peer/2", kRawRun)), "peer/2 has no edge from peer/4");
  EXPECT_EQ(refusal(OpeningFrame("peer/3", "peer/2", kRawRun)),
            "peer/2 itself opens the connections to peer/3");
  EXPECT_THAT(refusal(OpeningFrame("peer/1", "peer/2")), HasSubstr("its store has no run"));
  EXPECT_THAT(refusal(v1::Frame()), HasSubstr("does not belong there"));
  {
    RawPeer raw(peers.at(2).address);
    ASSERT_TRUE(raw.Open("peer/1", "peer/2", kRawRun));
    EXPECT_THAT(refusal(OpeningFrame("peer/1", "peer/2", std::string(16, 's'))),
                HasSubstr("peer/1 is in another run"));
    v1::Frame other = OpeningFrame("peer/1", "peer/2", kRawRun);
    other.mutable_opening()->set_knows(std::string(16, 's'));
    EXPECT_THAT(refusal(other), HasSubstr("peer/1 is in another run"));
    RawPeer again(peers.at(2).address);  // its own new connection replaces the old one
    ASSERT_TRUE(again.Open("peer/1", "peer/2", kRawRun));
    EXPECT_EQ(raw.ReadToEnd(), absl::UnavailableError("the connection was opened again"));
    EXPECT_FALSE(raw.bye().final());
    stop.request_stop();
    EXPECT_EQ(again.ReadToEnd(), absl::UnavailableError("the peer was stopped"));
    ExpectError(peers.at(2).result.get(), absl::StatusCode::kCancelled, HasSubstr("stopped"));
  }
  ExpectError(peers.at(3).result.get(), absl::StatusCode::kCancelled, HasSubstr("stopped"));
}

TEST(PeerFailures, AMissingPeerIsMissedByAll) {
  Peers peers(*LineGraph(4), 1);
  peers.at(3).params.connect_timeout = absl::Milliseconds(300);
  peers.Start({4});
  ExpectError(peers.at(3).result.get(), absl::StatusCode::kUnavailable, HasSubstr("neighbour 4"));
  for (const std::uint32_t node : {1, 2}) {
    ExpectError(peers.at(node).result.get(), absl::StatusCode::kUnavailable,
                HasSubstr(node == 1 ? "neighbour 2 says" : "neighbour 3 says"));
  }
}

TEST(PeerFailures, OptionsAreChecked) {
  const auto key_of = [](const std::function<void(PeerParams&)>& spoil) {
    Peer peer(NodeId{2}, 1);
    peer.params = {.self = NodeId{2},
                   .listen = "127.0.0.1:0",
                   .neighbours = {{NodeId{1}, ""}, {NodeId{3}, "127.0.0.1:9"}},
                   .rounds = 1,
                   .spec_digest = "digest",
                   .budget = kBudget,
                   .connect_timeout = absl::Milliseconds(50)};
    spoil(peer.params);
    const auto report = RunPeer(peer.params, peer.player, peer.world);
    return InputErrorOf(report.status()).value_or(InputError{.key = report.status().ToString()}).key;
  };
  EXPECT_THAT(key_of([](PeerParams&) {}), HasSubstr("UNAVAILABLE"));
  EXPECT_EQ(key_of([](PeerParams& p) { p.self = kServerNode; }), "self");
  EXPECT_EQ(key_of([](PeerParams& p) { p.self = kShufflerNode; }), "self");
  EXPECT_EQ(key_of([](PeerParams& p) { p.neighbours[NodeId{2}] = ""; }), "neighbours");
  EXPECT_EQ(key_of([](PeerParams& p) { p.neighbours[kServerNode] = ""; }), "neighbours");
  EXPECT_EQ(key_of([](PeerParams& p) { p.neighbours[NodeId{3}] = "10.0.0.1:9"; }), "neighbours");
  EXPECT_EQ(key_of([](PeerParams& p) { p.neighbours[NodeId{3}] = ""; }), "neighbours");
  EXPECT_EQ(key_of([](PeerParams& p) { p.listen = "0.0.0.0:0"; }), "listen");
  EXPECT_EQ(key_of([](PeerParams& p) { p.rounds = 0; }), "horizon");
  EXPECT_EQ(key_of([](PeerParams& p) { p.connect_timeout = absl::ZeroDuration(); }), "connect_timeout");
}

}  // namespace
}  // namespace bandana::service
