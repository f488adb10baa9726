#include "bandana/sim/network_simulator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/sim/sim_context.h"

namespace bandana::sim {
namespace {

class Network {
 public:
  Network(const NetworkSimParams& params, const Graph& graph, NetworkPlayer* server,
          const std::vector<NetworkPlayer*>& agents, SlotWorld& world, RoundRecorder& recorder,
          Traffic& traffic)
      : params_(params),
        graph_(graph),
        world_(world),
        recorder_(recorder),
        traffic_(traffic),
        randomness_(params.seed, params.replicate, params.budget_per_agent),
        missed_(agents.size() + 1) {
    BANDANA_CHECK(static_cast<Count>(agents.size()) == graph.nodes());
    if (server != nullptr) AddSeat(kServerNode, *server, {.self = kServerNode});
    for (std::uint32_t i = 1; i <= agents.size(); ++i) {
      const auto neighbours = graph.neighbours(NodeId{i});
      Links links{.self = NodeId{i}, .peers = {neighbours.begin(), neighbours.end()}};
      if (server != nullptr) links.upstream = kServerNode;
      AddSeat(NodeId{i}, *agents[i - 1], std::move(links));
    }
    offset_ = server != nullptr ? 0 : 1;
  }

  absl::StatusOr<NetworkRun> Run() {
    for (const auto& seat : seats_) BANDANA_RETURN_IF_ERROR(seat->player->OnStart(seat->context));
    const Count patience = QuietTicks(graph_.nodes());
    Count quiet = 0;
    while (true) {
      if (params_.stop != nullptr && *params_.stop) return absl::CancelledError("interrupted");
      happened_ = false;
      // Nothing arrives in the tick in which it is sent, so all may play before anybody ends its tick; then
      // all know in which slot they speak.
      std::vector<Seat*> playing;
      const Count before = played_;
      for (const auto& seat : seats_) {
        if (seat->gone || seat->player->finished()) continue;
        playing.push_back(seat.get());
        BANDANA_RETURN_IF_ERROR(ListenAndPlay(*seat));
      }
      if (playing.empty()) break;
      if (played_ > before) ++slot_;
      for (Seat* seat : playing) BANDANA_RETURN_IF_ERROR(seat->player->EndTick(seat->context));
      for (const auto& seat : seats_) std::swap(seat->inbox, seat->arriving);
      quiet = happened_ ? 0 : quiet + 1;
      if (quiet <= patience) continue;
      for (const auto& seat : seats_) {
        if (seat->gone || seat->player->finished()) continue;
        seat->player->OnSilence(seat->context);
        BANDANA_RETURN_IF_ERROR(Play(*seat));
        if (!seat->player->finished())
          return absl::InternalError("a node waits for a message that never comes");
      }
    }
    return Finish();
  }

 private:
  struct Seat;

  class RoleContext final : public SimContext {
   public:
    RoleContext(Network& network, Seat& seat, Links links)
        : SimContext(network.randomness_, std::move(links)), network_(network), seat_(seat) {}

    void Send(NodeId to, Payload payload) override { network_.Carry(seat_, to, std::move(payload)); }

   private:
    Network& network_;
    Seat& seat_;
  };

  struct Seat {
    Seat(Network& network, NodeId node, NetworkPlayer& role, Links links)
        : self(node), player(&role), context(network, *this, std::move(links)) {}
    NodeId self;
    NetworkPlayer* player;
    RoleContext context;
    std::vector<Message> inbox;
    std::vector<Message> arriving;  // in the next tick
    Seq next_seq = 0;
    Count clock = 0;  // slots played
    double waiting_regret = 0;
    std::vector<Pull> decisions;  // if they are kept
    bool gone = false;
  };

  void AddSeat(NodeId node, NetworkPlayer& player, Links links) {
    seats_.push_back(std::make_unique<Seat>(*this, node, player, std::move(links)));
  }

  absl::Status ListenAndPlay(Seat& seat) {
    for (const Message& message : seat.inbox)
      BANDANA_RETURN_IF_ERROR(seat.player->OnMessage(seat.context, message));
    seat.inbox.clear();
    return Play(seat);
  }

  absl::Status Play(Seat& seat) {
    for (auto pulls = seat.player->Act(seat.context); !pulls.empty();
         pulls = seat.player->Act(seat.context)) {
      happened_ = true;
      rewards_.resize(pulls.size());
      BANDANA_RETURN_IF_ERROR(world_.Answer(seat.self, 0, pulls, rewards_));
      const bool waiting = seat.player->waiting();
      for (const Pull& pull : pulls) {
        const double gap = world_.Gap(pull.arm);
        if (waiting) seat.waiting_regret += gap * static_cast<double>(pull.count);
        recorder_.PlayMany(seat.self, seat.clock + 1, pull.arm, pull.count, gap);
        seat.clock += pull.count;
        played_ += pull.count;
      }
      if (params_.decisions) seat.decisions.insert(seat.decisions.end(), pulls.begin(), pulls.end());
      latest_ = std::max(latest_, seat.clock);
      BANDANA_RETURN_IF_ERROR(seat.player->Observe(seat.context, Raw<RewardSums>(rewards_)));
    }
    return absl::OkStatus();
  }

  void Carry(Seat& from, NodeId to, Payload payload) {
    if (from.gone) return;
    happened_ = true;
    if (Lost(from, to, EpochOf(payload))) return;
    traffic_.Send(from.self, to, slot_, latest_, payload);
    Seat& seat = *seats_[to.value - offset_];
    if (!seat.gone) seat.arriving.push_back({from.self, from.self, 0, from.next_seq++, std::move(payload)});
  }

  // Returns whether failures or chance take the message away.
  bool Lost(Seat& from, NodeId to, Epoch epoch) {
    bool lost = false;
    for (const Failure& failure : params_.failures) {
      switch (failure.kind) {
        case Failure::Kind::kAgent:
          if (failure.a != from.self || epoch <= failure.round) break;
          from.gone = true;
          run_.lost_agents.push_back(from.self);
          return true;
        case Failure::Kind::kLink:
          if (std::minmax(failure.a, failure.b) != std::minmax(from.self, to) || epoch <= failure.round)
            break;
          lost_links_.insert({std::min(from.self, to), std::max(from.self, to)});
          lost = true;
          break;
        case Failure::Kind::kMiss:
          lost = lost || (failure.a == from.self && failure.round == epoch);
          break;
      }
    }
    lost = lost || (params_.dropout > 0 && from.self != kServerNode && Misses(from.self, epoch));
    if (lost) ++run_.lost_messages;
    return lost;
  }

  bool Misses(NodeId agent, Epoch epoch) {
    Missed& missed = missed_[agent.value];
    if (missed.epoch != epoch) {
      PhiloxSource bits(randomness_.Key(agent, epoch, Stream::kDropout));
      CoinGen coin(bits);
      missed = {epoch, UniformUnit(coin) < params_.dropout};
    }
    return missed.misses;
  }

  NetworkRun Finish() {
    run_.lost_links.assign(lost_links_.begin(), lost_links_.end());
    for (const auto& seat : seats_) {
      run_.waiting_regret += seat->waiting_regret;
      if (params_.decisions && seat->self != kServerNode)
        run_.decisions.push_back(std::move(seat->decisions));
    }
    return std::move(run_);
  }

  struct Missed {
    Epoch epoch = 0;
    bool misses = false;
  };

  const NetworkSimParams& params_;
  const Graph& graph_;
  SlotWorld& world_;
  RoundRecorder& recorder_;
  Traffic& traffic_;
  SimRandomness randomness_;
  std::vector<Missed> missed_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::uint32_t offset_ = 0;  // id of the node in the first seat
  std::vector<RewardSum> rewards_;
  Count latest_ = 0;  // the largest clock of any agent
  Count played_ = 0;  // pulls of all agents
  // Counts the ticks in which somebody pulled. Messages that are sent between two such ticks share a slot.
  Slot slot_ = 0;
  bool happened_ = false;
  NetworkRun run_;
  std::set<Edge> lost_links_;
};

}  // namespace

absl::StatusOr<NetworkRun> RunNetwork(const NetworkSimParams& params, const Graph& graph,
                                      NetworkPlayer* server, const std::vector<NetworkPlayer*>& agents,
                                      SlotWorld& world, RoundRecorder& recorder, Traffic& traffic) {
  return Network(params, graph, server, agents, world, recorder, traffic).Run();
}

}  // namespace bandana::sim
