#include "bandana/sim/network_simulator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/noise_door.h"
#include "bandana/core/status.h"
#include "bandana/federation/epoch_coin.h"
#include "bandana/federation/releases.h"

namespace bandana::sim {
namespace {

class Network {
 public:
  Network(const NetworkSimParams& params, const Graph& graph, NetworkPlayer* server,
          const std::vector<NetworkPlayer*>& agents, Environment& environment, const ArmProblem& problem,
          RoundRecorder& recorder, Traffic& traffic)
      : params_(params),
        graph_(graph),
        environment_(environment),
        problem_(problem),
        recorder_(recorder),
        traffic_(traffic),
        releases_(params.budget_per_agent, Releases::Journal::kNotNeeded),
        missed_(agents.size() + 1) {
    BANDANA_CHECK(static_cast<Count>(agents.size()) == graph.nodes());
    if (server != nullptr) Seat(kServerNode, *server, {.self = kServerNode});
    for (std::uint32_t i = 1; i <= agents.size(); ++i) {
      const auto neighbours = graph.neighbours(NodeId{i});
      Links links{.self = NodeId{i}, .peers = {neighbours.begin(), neighbours.end()}};
      if (server != nullptr) links.upstream = kServerNode;
      Seat(NodeId{i}, *agents[i - 1], std::move(links));
    }
    offset_ = server != nullptr ? 0 : 1;
  }

  absl::StatusOr<NetworkLosses> Run() {
    for (const auto& place : places_) BANDANA_RETURN_IF_ERROR(place->player->OnStart(place->context));
    const Count patience = QuietTicks(graph_.nodes());
    Count quiet = 0;
    while (true) {
      if (params_.stop != nullptr && *params_.stop) return absl::CancelledError("interrupted");
      happened_ = false;
      // Nothing arrives in the tick in which it is sent, so all may play before anybody ends its tick; then
      // all know in which slot they speak.
      std::vector<Place*> playing;
      const Count before = played_;
      for (const auto& place : places_) {
        if (place->gone || place->player->finished()) continue;
        playing.push_back(place.get());
        BANDANA_RETURN_IF_ERROR(ListenAndPlay(*place));
      }
      if (playing.empty()) break;
      if (played_ > before) ++slot_;
      for (Place* place : playing) BANDANA_RETURN_IF_ERROR(place->player->EndTick(place->context));
      for (const auto& place : places_) std::swap(place->inbox, place->arriving);
      quiet = happened_ ? 0 : quiet + 1;
      if (quiet <= patience) continue;
      for (const auto& place : places_) {
        if (place->gone || place->player->finished()) continue;
        place->player->OnSilence(place->context);
        BANDANA_RETURN_IF_ERROR(Play(*place));
        if (!place->player->finished())
          return absl::InternalError("a node waits for something that never comes");
      }
    }
    losses_.links.assign(lost_links_.begin(), lost_links_.end());
    return losses_;
  }

 private:
  struct Place;

  class RoleContext final : public Context {
   public:
    RoleContext(Network& network, Place& place, Links links)
        : network_(network), place_(place), links_(std::move(links)) {}

    const Links& links() const override { return links_; }
    void Send(NodeId to, Payload payload) override { network_.Carry(place_, to, std::move(payload)); }
    void Play(std::span<const Pull>) override {}
    CoinGen& coin(Epoch epoch) override {
      return coin_.For(epoch, [&] {
        return std::make_unique<PhiloxSource>(network_.Key(links_.self, epoch, Stream::kExploration));
      });
    }
    bool remembers() const override { return false; }
    absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                       absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
      PhiloxSource bits(network_.Key(key.node, key.epoch, Stream::kPrivacy));
      NoiseGen noise = NoiseDoor::Open(bits);
      return network_.releases_.Once(key, charge, noise, draw);
    }

   private:
    Network& network_;
    Place& place_;
    Links links_;
    EpochCoin coin_;
  };

  struct Place {
    Place(Network& network, NodeId node, NetworkPlayer& role, Links links)
        : self(node), player(&role), context(network, *this, std::move(links)) {}
    NodeId self;
    NetworkPlayer* player;
    RoleContext context;
    std::vector<Message> inbox;
    std::vector<Message> arriving;  // in the next tick
    Seq next_seq = 0;
    Count clock = 0;  // slots played
    bool gone = false;
  };

  void Seat(NodeId node, NetworkPlayer& player, Links links) {
    places_.push_back(std::make_unique<Place>(*this, node, player, std::move(links)));
  }

  StreamKey Key(NodeId node, Epoch epoch, Stream stream) const {
    return {params_.seed, params_.replicate, node, epoch, stream};
  }

  absl::Status ListenAndPlay(Place& place) {
    for (const Message& message : place.inbox)
      BANDANA_RETURN_IF_ERROR(place.player->OnMessage(place.context, message));
    place.inbox.clear();
    return Play(place);
  }

  absl::Status Play(Place& place) {
    for (auto pulls = place.player->Act(place.context); !pulls.empty();
         pulls = place.player->Act(place.context)) {
      happened_ = true;
      rewards_.resize(pulls.size());
      BANDANA_RETURN_IF_ERROR(environment_.Answer(place.self, 0, pulls, rewards_));
      for (const Pull& pull : pulls) {
        recorder_.PlayMany(place.self, place.clock + 1, pull.arm, pull.count, problem_.Gap(pull.arm));
        place.clock += pull.count;
        played_ += pull.count;
      }
      latest_ = std::max(latest_, place.clock);
      BANDANA_RETURN_IF_ERROR(place.player->Observe(place.context, Raw<RewardSums>(rewards_)));
    }
    return absl::OkStatus();
  }

  void Carry(Place& from, NodeId to, Payload payload) {
    if (from.gone) return;
    happened_ = true;
    if (Lost(from, to, EpochOf(payload))) return;
    traffic_.Send(from.self, to, slot_, latest_, payload);
    Place& place = *places_[to.value - offset_];
    if (!place.gone) place.arriving.push_back({from.self, from.self, 0, from.next_seq++, std::move(payload)});
  }

  // What failures do to a message.
  bool Lost(Place& from, NodeId to, Epoch epoch) {
    bool lost = false;
    for (const Failure& failure : params_.failures) {
      switch (failure.kind) {
        case Failure::Kind::kAgent:
          if (failure.a != from.self || epoch <= failure.round) break;
          from.gone = true;
          losses_.agents.push_back(from.self);
          return true;
        case Failure::Kind::kLink:
          if (failure.a != std::min(from.self, to) || failure.b != std::max(from.self, to) ||
              epoch <= failure.round)
            break;
          lost_links_.insert({failure.a, failure.b});
          lost = true;
          break;
        case Failure::Kind::kMiss:
          lost = lost || (failure.a == from.self && failure.round == epoch);
          break;
      }
    }
    lost = lost || (params_.dropout > 0 && from.self != kServerNode && Misses(from.self, epoch));
    if (lost) ++losses_.messages;
    return lost;
  }

  bool Misses(NodeId agent, Epoch epoch) {
    Missed& missed = missed_[agent.value];
    if (missed.epoch != epoch) {
      PhiloxSource bits(Key(agent, epoch, Stream::kDropout));
      CoinGen coin(bits);
      missed = {epoch, UniformUnit(coin) < params_.dropout};
    }
    return missed.misses;
  }

  struct Missed {
    Epoch epoch = 0;
    bool misses = false;
  };

  const NetworkSimParams& params_;
  const Graph& graph_;
  Environment& environment_;
  const ArmProblem& problem_;
  RoundRecorder& recorder_;
  Traffic& traffic_;
  Releases releases_;
  std::vector<Missed> missed_;
  std::vector<std::unique_ptr<Place>> places_;
  std::uint32_t offset_ = 0;  // of the first node
  std::vector<RewardSum> rewards_;
  Count latest_ = 0;  // clock of any agent
  Count played_ = 0;  // pulls of all
  Slot slot_ = 0;     // ticks in which somebody pulled: what is sent between two of them is sent at once
  bool happened_ = false;
  NetworkLosses losses_;
  std::set<Edge> lost_links_;
};

}  // namespace

absl::StatusOr<NetworkLosses> RunNetwork(const NetworkSimParams& params, const Graph& graph,
                                         NetworkPlayer* server, const std::vector<NetworkPlayer*>& agents,
                                         Environment& environment, const ArmProblem& problem,
                                         RoundRecorder& recorder, Traffic& traffic) {
  return Network(params, graph, server, agents, environment, problem, recorder, traffic).Run();
}

}  // namespace bandana::sim
