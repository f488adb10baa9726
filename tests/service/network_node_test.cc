#include "bandana/service/network_node.h"

#include <compare>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/federation/graph_shapes.h"
#include "bandana/privacy/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/service/failing.h"

namespace bandana::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Count kTicks = 20;

struct Heard {
  Count tick = 0;
  NodeId from;
  Seq seq = 0;
  NodeId origin;
  std::int64_t number = 0;
  auto operator<=>(const Heard&) const = default;
};

// Floods a number to its neighbours and to its server in every third tick, and pulls an arm in every second.
// The server sends all agents a plan in every fourth tick. A Crier is finished after `ticks` ticks.
class Crier final : public NetworkPlayer {
 public:
  Crier(NodeId self, Count agents, Count ticks) : self_(self), agents_(agents), ticks_(ticks) {}

  absl::Status OnStart(Context& context) override {
    if (ticks_ > 0) Cry(context);
    return absl::OkStatus();
  }

  absl::Status OnMessage(Context& context, const Message& message) override {
    if (finished()) return absl::InternalError("finished, and called");
    if (const auto* plan = std::get_if<std::shared_ptr<const ArmPlan>>(&message.body)) {
      heard.push_back({tick_ + 1, message.from, message.seq, kServerNode, (*plan)->clock});
      return absl::OkStatus();
    }
    const auto& tallies = std::get<Tallies>(message.body);
    for (const Tally& tally : tallies.tallies) {
      const std::int64_t number = tally.sums->value().units[0];
      heard.push_back({tick_ + 1, message.from, message.seq, tally.origin, number});
      if (self_ == kServerNode || !known_.insert({tally.origin, number}).second) continue;
      for (const NodeId peer : context.links().peers) {
        if (peer != message.from) context.Send(peer, tallies);
      }
    }
    return absl::OkStatus();
  }

  std::span<const Pull> Act(Context&) override {
    if (self_ == kServerNode || acted_ || tick_ % 2 == 0) return {};
    acted_ = true;
    pull_ = {static_cast<ArmId>(tick_ % 3), tick_};
    return {&pull_, 1};
  }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override { return absl::OkStatus(); }

  absl::Status EndTick(Context& context) override {
    if (on_tick) on_tick(tick_ + 1);
    acted_ = false;
    if (tick_ + 1 == fails_in) return absl::DataLossError("a secret");
    if (++tick_ < ticks_) Cry(context);
    return absl::OkStatus();
  }

  void OnSilence(Context&) override { silence = tick_; }

  bool finished() const override { return tick_ >= ticks_; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

  std::vector<Heard> heard;
  Count fails_in = 0;
  std::function<void(Count)> on_tick;
  Count silence = 0;

 private:
  void Cry(Context& context) {
    if (self_ == kServerNode) {
      if (tick_ % 4 != 0) return;
      const ArmPlan plan{.epoch = 1,
                         .clock = tick_,
                         .arms = {0, 1},
                         .upstream = std::vector<NodeId>(static_cast<std::size_t>(agents_))};
      for (std::uint32_t i = 1; i <= agents_; ++i) {
        context.Send(NodeId{i}, std::make_shared<const ArmPlan>(plan));
      }
      return;
    }
    if ((tick_ + self_.value) % 3 != 0) return;
    const ArmSums sums{.arms = {0}, .units = {-1000 * std::int64_t{self_.value} - tick_}};
    known_.insert({self_, sums.units[0]});
    const Tallies tallies{
        1, tick_, {{self_, std::make_shared<const Released<ArmSums>>(Wire::MakeArmSums(sums))}}};
    for (const NodeId peer : context.links().peers) context.Send(peer, tallies);
    if (context.links().upstream) context.Send(*context.links().upstream, tallies);
  }

  NodeId self_;
  Count agents_;
  Count ticks_;
  Count tick_ = 0;
  bool acted_ = false;
  Pull pull_;
  std::set<std::pair<NodeId, std::int64_t>> known_;
};

class ToyWorld final : public SlotWorld {
 public:
  const Facts& facts() const override {
    static const Facts kNothing;
    return kNothing;
  }

  absl::Status Answer(NodeId, Epoch, std::span<const Pull> pulls, std::span<RewardSum> rewards) override {
    for (std::size_t i = 0; i < pulls.size(); ++i) rewards[i] = {pulls[i].count, 0};
    asked.insert(asked.end(), pulls.begin(), pulls.end());
    return absl::OkStatus();
  }
  std::vector<Pull> asked;
};

struct Node {
  Node(NodeId self, Count agents, Count ticks) : player(self, agents, ticks) {
    params.self = self;
    params.listen = "127.0.0.1:0";
    params.nodes = agents;
    params.spec_digest = "digest";
    params.budget = kBudget;
    params.connect_timeout = kLong;
  }
  void Start() {
    std::promise<std::string> listening;
    params.on_listening = [&](const std::string& where) { listening.set_value(where); };
    result = std::async(std::launch::async, [this] { return RunNetworkNode(params, player, world); });
    address = listening.get_future().get();
    params.on_listening = nullptr;
  }
  PeerReport Report() {
    const auto report = result.get();
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(PeerReport{});
  }

  PeerParams params;
  Crier player;
  ToyWorld world;
  std::string address;
  std::future<absl::StatusOr<PeerReport>> result;
};

// Nodes with their neighbours and their numbers of ticks. A node that others dial starts first.
class Network {
 public:
  Network(const Graph& graph, bool has_server, const std::map<std::uint32_t, Count>& ticks = {}) {
    const auto add = [&](NodeId node) {
      const auto found = ticks.find(node.value);
      nodes_[node] =
          std::make_unique<Node>(node, graph.nodes(), found == ticks.end() ? kTicks : found->second);
    };
    if (has_server) add(kServerNode);
    for (NodeId node{1}; graph.Contains(node); ++node.value) {
      add(node);
      for (const NodeId other : graph.neighbours(node)) at(node.value).params.neighbours[other] = "";
      if (!has_server) continue;
      at(node.value).params.neighbours[kServerNode] = "";
      at(0).params.neighbours[node] = "";
    }
  }

  Node& at(std::uint32_t node) { return *nodes_.at(NodeId{node}); }
  auto begin() { return nodes_.begin(); }
  auto end() { return nodes_.end(); }

  void Start() {
    if (nodes_.contains(kServerNode)) at(0).Start();
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      auto& [id, node] = *it;
      if (id == kServerNode) continue;
      for (auto& [other, address] : node->params.neighbours) address = nodes_.at(other)->address;
      node->Start();
    }
  }

 private:
  std::map<NodeId, std::unique_ptr<Node>> nodes_;
};

// Runs the Criers in one loop, as network_player.h describes. A node that dies takes part in no later tick.
std::map<NodeId, std::vector<Heard>> CryInALoop(Network& network, NodeId dead = kShufflerNode,
                                                Count dies_in = 0) {
  class LoopContext final : public Context {
   public:
    explicit LoopContext(const PeerParams& params) {
      links_.self = params.self;
      for (const auto& [node, address] : params.neighbours) {
        if (node == kServerNode) {
          links_.upstream = node;
        } else if (params.self != kServerNode) {
          links_.peers.push_back(node);
        }
      }
    }
    const Links& links() const override { return links_; }
    void Send(NodeId to, Payload payload) override {
      sent.push_back({to, {links_.self, links_.self, 0, next_seq_++, std::move(payload)}});
    }
    void Play(std::span<const Pull>) override {}
    CoinGen& coin(Epoch) override { std::abort(); }

    std::vector<std::pair<NodeId, Message>> sent;

   private:
    absl::StatusOr<bandana::Report> ReleaseOnce(
        const ReleaseKey&, const Charge&,
        absl::FunctionRef<absl::StatusOr<bandana::Report>(NoiseGen&)>) override {
      std::abort();
    }
    Links links_;
    Seq next_seq_ = 0;
  };

  struct Seat {
    Crier player;
    LoopContext context;
    std::vector<Message> inbox;
  };
  std::map<NodeId, Seat> seats;
  for (auto& [id, node] : network) {
    seats.emplace(id, Seat{node->player, LoopContext(node->params), {}});
    seats.at(id).player.on_tick = nullptr;
    seats.at(id).player.fails_in = 0;
  }
  const auto carry = [&] {
    for (auto& [id, seat] : seats) {
      for (auto& [to, message] : std::exchange(seat.context.sent, {})) {
        seats.at(to).inbox.push_back(std::move(message));
      }
    }
  };
  for (auto& [id, seat] : seats) (void)seat.player.OnStart(seat.context);
  carry();
  for (Count tick = 1; tick <= 10 * kTicks; ++tick) {
    for (auto& [id, seat] : seats) {
      const std::vector<Message> inbox = std::exchange(seat.inbox, {});
      if (seat.player.finished() || (id == dead && tick >= dies_in)) continue;
      for (const Message& message : inbox) (void)seat.player.OnMessage(seat.context, message);
      while (!seat.player.Act(seat.context).empty()) {
      }
      (void)seat.player.EndTick(seat.context);
    }
    carry();
  }
  std::map<NodeId, std::vector<Heard>> heard;
  for (const auto& [id, seat] : seats) heard[id] = seat.player.heard;
  return heard;
}

std::vector<std::pair<std::string, Graph>> SomeGraphs() {
  return {{"line", *LineGraph(4)},
          {"ring", *RingGraph(6)},
          {"complete", *CompleteGraph(4)},
          {"pair", *LineGraph(2)},
          {"none", *Graph::Create(4, {})}};
}

TEST(NetworkNodeTest, HearsWhatItWouldHearInASimulator) {
  for (const auto& [name, graph] : SomeGraphs()) {
    for (const bool has_server : {false, true}) {
      SCOPED_TRACE(name + (has_server ? " with a server" : ""));
      Network network(graph, has_server);
      const auto expected = CryInALoop(network);
      network.Start();
      for (auto& [id, node] : network) {
        const PeerReport report = node->Report();
        EXPECT_EQ(report.rounds, kTicks) << id.value;
        EXPECT_THAT(report.lost, IsEmpty());
        EXPECT_EQ(node->player.heard, expected.at(id)) << id.value;
        EXPECT_EQ(report.messages_in, static_cast<Count>(node->player.heard.size()));
        if (graph.edges() > 0 || has_server) EXPECT_GE(node->player.heard.size(), 5u);
        std::vector<Pull> pulls;
        for (Count tick = 1; id != kServerNode && tick < kTicks; tick += 2) {
          pulls.push_back({static_cast<ArmId>(tick % 3), tick});
        }
        EXPECT_EQ(node->world.asked, pulls);
      }
    }
  }
}

// Nobody waits for nodes that are finished, and their last messages arrive.
TEST(NetworkNodeTest, NobodyWaitsForThoseWhoAreFinished) {
  for (const bool has_server : {false, true}) {
    SCOPED_TRACE(has_server);
    Network network(*RingGraph(5), has_server, {{0, 7}, {1, 0}, {2, 1}, {3, 5}, {4, 12}, {5, 30}});
    const auto expected = CryInALoop(network);
    network.Start();
    for (auto& [id, node] : network) {
      const PeerReport report = node->Report();
      EXPECT_THAT(report.lost, IsEmpty()) << id.value;
      EXPECT_EQ(node->player.heard, expected.at(id)) << id.value;
      EXPECT_EQ(node->player.silence, 0) << id.value;
    }
    EXPECT_EQ(network.at(5).player.silence, 0);
  }
}

TEST(NetworkNodeTest, ALoneNodeGoesOnByItself) {
  Network network(*Graph::Create(1, {}), false);
  network.Start();
  EXPECT_EQ(network.at(1).Report().rounds, kTicks);
  EXPECT_EQ(network.at(1).world.asked.size(), static_cast<std::size_t>(kTicks) / 2);
}

// --- nodes that die

TEST(NetworkNodeFailures, ANodeThatCannotGoOnLeavesTheOthersWorking) {
  constexpr Count kDies = 9;
  for (const bool has_server : {false, true}) {
    for (const std::uint32_t dead : {3, 0}) {
      if (dead == 0 && !has_server) continue;
      SCOPED_TRACE(testing::Message() << dead << " of a network " << (has_server ? "with" : "without"));
      Network network(*RingGraph(5), has_server);
      network.at(dead).player.fails_in = kDies;
      const auto expected = CryInALoop(network, NodeId{dead}, kDies);
      network.Start();
      ExpectError(network.at(dead).result.get(), absl::StatusCode::kDataLoss, HasSubstr("secret"));
      for (auto& [id, node] : network) {
        if (id == NodeId{dead}) continue;
        const PeerReport report = node->Report();
        EXPECT_EQ(report.rounds, kTicks);
        EXPECT_EQ(node->player.heard, expected.at(id)) << id.value;
        if (!node->params.neighbours.contains(NodeId{dead})) {
          EXPECT_THAT(report.lost, IsEmpty());
          continue;
        }
        ASSERT_EQ(report.lost.size(), 1u);
        EXPECT_EQ(report.lost[0].node, NodeId{dead});
        EXPECT_EQ(report.lost[0].round, kDies);
        EXPECT_THAT(report.lost[0].why, AllOf(HasSubstr("DATA_LOSS"), Not(HasSubstr("secret"))));
      }
    }
  }
}

TEST(NetworkNodeFailures, ANodeThatIsStoppedIsNoticed) {
  Network network(*LineGraph(3), true);
  std::stop_source stop;
  network.at(2).params.stop = stop.get_token();
  network.at(2).player.on_tick = [&](Count tick) {
    if (tick == 9) stop.request_stop();
  };
  network.Start();
  ExpectError(network.at(2).result.get(), absl::StatusCode::kCancelled, HasSubstr("stopped"));
  for (const std::uint32_t node : {0, 1, 3}) {
    const PeerReport report = network.at(node).Report();
    EXPECT_EQ(report.rounds, kTicks);
    ASSERT_EQ(report.lost.size(), 1u);
    EXPECT_EQ(report.lost[0].node, NodeId{2});
    EXPECT_LE(report.lost[0].round, 10);
  }
}

// Waits for a plan, and plays one arm to the end if none comes.
class Waiting final : public NetworkPlayer {
 public:
  explicit Waiting(bool gives_up) : gives_up_(gives_up) {}
  absl::Status OnMessage(Context&, const Message&) override {
    finished_ = true;
    return absl::OkStatus();
  }
  std::span<const Pull> Act(Context&) override { return pulls_; }
  absl::Status Observe(Context&, const Raw<RewardSums>&) override {
    pulls_.clear();
    finished_ = true;
    return absl::OkStatus();
  }
  absl::Status EndTick(Context&) override { return absl::OkStatus(); }
  void OnSilence(Context&) override {
    if (gives_up_) pulls_ = {{2, 100}};
  }
  bool finished() const override { return finished_; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }

 private:
  bool gives_up_;
  bool finished_ = false;
  std::vector<Pull> pulls_;
};

TEST(NetworkNodeFailures, WhoWaitsInVainIsTold) {
  Network network(*LineGraph(3), false);
  for (const bool gives_up : {true, false}) {
    std::vector<std::future<absl::StatusOr<PeerReport>>> results;
    std::vector<std::unique_ptr<ToyWorld>> worlds;
    std::vector<std::unique_ptr<Waiting>> players;
    std::map<NodeId, std::string> addresses;
    for (const std::uint32_t self : {3, 2, 1}) {
      PeerParams& params = network.at(self).params;
      for (auto& [other, address] : params.neighbours) address = addresses[other];
      std::promise<std::string> listening;
      params.on_listening = [&](const std::string& where) { listening.set_value(where); };
      worlds.push_back(std::make_unique<ToyWorld>());
      players.push_back(std::make_unique<Waiting>(gives_up));
      results.push_back(std::async(std::launch::async,
                                   [&params, player = players.back().get(), world = worlds.back().get()] {
                                     return RunNetworkNode(params, *player, *world);
                                   }));
      addresses[NodeId{self}] = listening.get_future().get();
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto report = results[i].get();
      if (gives_up) {
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_THAT(report->lost, IsEmpty());
        EXPECT_EQ(worlds[i]->asked, (std::vector<Pull>{{2, 100}}));
      } else {
        ExpectError(report, absl::StatusCode::kInternal, HasSubstr("never comes"));
      }
    }
  }
}

TEST(NetworkNodeFailures, OptionsAreChecked) {
  const auto key_of = [](const std::function<void(PeerParams&)>& spoil) {
    Node node(NodeId{2}, 3, kTicks);
    node.params.neighbours = {{kServerNode, "127.0.0.1:9"}, {NodeId{1}, ""}, {NodeId{3}, "127.0.0.1:9"}};
    node.params.connect_timeout = absl::Milliseconds(50);
    spoil(node.params);
    const auto report = RunNetworkNode(node.params, node.player, node.world);
    return InputErrorOf(report.status()).value_or(InputError{.key = report.status().ToString()}).key;
  };
  EXPECT_THAT(key_of([](PeerParams&) {}), HasSubstr("UNAVAILABLE"));
  EXPECT_EQ(key_of([](PeerParams& p) { p.nodes = 0; }), "people");
  EXPECT_EQ(key_of([](PeerParams& p) { p.self = NodeId{4}; }), "self");
  EXPECT_EQ(key_of([](PeerParams& p) { p.neighbours[NodeId{4}] = ""; }), "neighbours");
  EXPECT_EQ(key_of([](PeerParams& p) { p.neighbours[NodeId{3}] = ""; }), "neighbours");
  EXPECT_EQ(key_of([](PeerParams& p) { p.neighbours[kServerNode] = ""; }), "server");
  EXPECT_EQ(key_of([](PeerParams& p) { p.listen = ""; }), "listen");
}

}  // namespace
}  // namespace bandana::service
