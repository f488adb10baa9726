#pragma once

#include <atomic>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "bandana/bandit/world.h"
#include "bandana/core/archive.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/round_player.h"
#include "bandana/privacy/wire.h"

/// Peers that flood numbers to all others, and a record of what each of them receives.
namespace bandana::service {

/// One received message.
struct Seen {
  Count round = 0;  ///< in which it arrived
  NodeId from;
  NodeId origin;
  Slot slot = 0;
  Seq seq = 0;
  Count born = 0;    ///< the round in which its origin sent it
  double value = 0;  ///< the value of a bulletin, or 0 for a request
  bool is_new = true;
  auto operator<=>(const Seen&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(round, from, origin, slot, seq, born, value, is_new);
  }
};

/// Floods a bulletin in every third round and a request in every fifth.
class Flooder final : public RoundPlayer<double> {
 public:
  Flooder(NodeId self, int gamma) : self_(self), gamma_(gamma) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    if (const auto* bulletin = std::get_if<Bulletin>(&message.body)) {
      const RegressionSums& sums = bulletin->sums->value();
      return Take(context, message, *bulletin, sums.step, sums.moments[0]);
    }
    const auto& request = std::get<SyncRequest>(message.body);
    return Take(context, message, request, request.round, 0);
  }

  Count rounds_ready() const override { return 1; }
  bool Plays(Count round) const override { return round % (1 + self_.value % 2) == 0; }
  const ChosenArm& Act(Context&, Count round, const Raw<DecisionSet<double>>&) override {
    chosen_ = ChosenArm(static_cast<ArmId>((round + self_.value) % 3), {});
    return chosen_;
  }
  absl::Status Observe(Context&, Count, const Raw<double>&) override { return absl::OkStatus(); }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(ended_, known_, seen_);
  }

  absl::Status EndRound(Context& context, Count round) override {
    ended_ = round;
    if (round == fails_in) return absl::DataLossError("a secret");
    if ((round + self_.value) % 3 == 0) {
      RegressionSums sums{.step = round,
                          .gram = Matrix::Identity(2, 2),
                          .moments = Vector::Constant(2, ValueOf(self_, round))};
      Broadcast(context,
                Bulletin{.origin = self_,
                         .sums = std::make_shared<const Released<RegressionSums>>(Wire::MakeSums(sums))});
    }
    if ((round + self_.value) % 5 == 0) Broadcast(context, SyncRequest{.origin = self_, .round = round});
    return absl::OkStatus();
  }

  static double ValueOf(NodeId node, Count round) {
    return 1. / static_cast<double>(1000 * node.value + round);
  }

  const std::vector<Seen>& seen() const { return seen_; }
  Count ended() const { return ended_; }
  Count fails_in = 0;

 private:
  template <class Body>
  void Broadcast(Context& context, Body body) {
    body.hops_left = gamma_ - 1;
    known_.insert({self_, std::is_same_v<Body, Bulletin>, ended_});
    for (const NodeId peer : context.links().peers) context.Send(peer, body);
  }

  template <class Body>
  absl::Status Take(Context& context, const Message& message, Body body, Count born, double value) {
    const bool is_new = known_.insert({body.origin, std::is_same_v<Body, Bulletin>, born}).second;
    seen_.push_back(
        {ended_ + 1, message.from, message.origin, message.slot, message.seq, born, value, is_new});
    if (!is_new || body.hops_left-- == 0) return absl::OkStatus();
    for (const NodeId peer : context.links().peers) {
      if (peer != message.from) context.Send(peer, body);
    }
    return absl::OkStatus();
  }

  NodeId self_;
  int gamma_;
  Count ended_ = 0;
  ChosenArm chosen_{0};
  std::set<std::tuple<NodeId, bool, Count>> known_;
  std::vector<Seen> seen_;
};

/// Three arms; remembers what was asked of it.
class ToyWorld final : public RoundWorld {
 public:
  struct Asked {
    Count round = 0;
    ArmId arm = -1;
    auto operator<=>(const Asked&) const = default;
  };

  const Facts& facts() const override { return facts_; }
  void Fill(NodeId, Count first_round, DecisionBlock<double>& block) override {
    round_ = first_round;
    if (on_round) on_round(first_round);
    for (ArmId arm = 0; arm < 3; ++arm) block.entries(0)[arm] = 1 + arm;
  }
  double Reward(const DecisionBlock<double>&, NodeId, Count at, ArmId arm) override {
    asked.push_back({round_ + at, arm});
    return 0.5;
  }

  std::vector<Asked> asked;
  std::function<void(Count)> on_round;

 private:
  Facts facts_{.arms = 3, .dimension = 1};
  Count round_ = 0;
};

/// Runs the Flooders in one loop, as a simulator does. Node `dead` takes no part from round `dies_in` on.
inline std::map<NodeId, std::vector<Seen>> FloodInALoop(const Graph& graph, int gamma, Count rounds,
                                                        NodeId dead = {}, Count dies_in = 0) {
  class LoopContext final : public Context {
   public:
    LoopContext(const Graph& graph, NodeId self) : links_{.self = self} {
      links_.peers.assign(graph.neighbours(self).begin(), graph.neighbours(self).end());
    }
    const Links& links() const override { return links_; }
    void Send(NodeId to, Payload payload) override {
      NodeId origin = links_.self;
      if (const auto* bulletin = std::get_if<Bulletin>(&payload)) origin = bulletin->origin;
      if (const auto* request = std::get_if<SyncRequest>(&payload)) origin = request->origin;
      sent[to].push_back({links_.self, origin, round, next_seq++, std::move(payload)});
    }
    void Play(std::span<const Pull>) override {}
    CoinGen& coin(Epoch) override { std::abort(); }

    std::map<NodeId, std::vector<Message>> sent;
    Count round = 0;
    Seq next_seq = 0;

   private:
    absl::StatusOr<Report> ReleaseOnce(const ReleaseKey&, const Charge&,
                                       absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)>) override {
      std::abort();
    }
    Links links_;
  };

  std::map<NodeId, Flooder> players;
  std::map<NodeId, LoopContext> contexts;
  for (NodeId node{1}; graph.Contains(node); ++node.value) {
    players.emplace(node, Flooder(node, gamma));
    contexts.emplace(node, LoopContext(graph, node));
  }
  std::map<NodeId, std::vector<Message>> arriving;
  for (Count round = 1; round <= rounds; ++round) {
    for (auto& [node, player] : players) {
      if (node == dead && round >= dies_in) continue;
      contexts.at(node).round = round;
      for (const Message& message : arriving[node]) (void)player.OnMessage(contexts.at(node), message);
      (void)player.EndRound(contexts.at(node), round);
    }
    arriving.clear();
    for (auto& [node, context] : contexts) {  // messages arrive in the order of their senders
      for (auto& [to, messages] : std::exchange(context.sent, {})) {
        arriving[to].insert(arriving[to].end(), messages.begin(), messages.end());
      }
    }
  }
  std::map<NodeId, std::vector<Seen>> seen;
  for (const auto& [node, player] : players) seen[node] = player.seen();
  return seen;
}

}  // namespace bandana::service
