#include "bandana/service/round_agent.h"

#include <map>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/federation/topology.h"
#include "bandana/service/agent_machine.h"
#include "bandana/service/agent_process.h"
#include "bandana/service/codec.h"
#include "bandana/service/names.h"
#include "bandana/service/one_round.h"
#include "bandana/service/part.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

using MakeRoundPlayer = std::function<std::unique_ptr<RoundPlayer<double>>(NodeId)>;

constexpr Count kRoundsAStep = 64;  // so that a step takes milliseconds

class RoundAgent final : public AgentMachine {
 public:
  RoundAgent(const AgentParams& params, MakeRoundPlayer make_player, RoundWorld& world, OneRound one_round)
      : AgentMachine(params),
        make_player_(std::move(make_player)),
        round_world_(world),
        one_round_(std::move(one_round)),
        topology_(Topology::Star(Count{params.first_client.value} + params.clients - 1)) {}

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

  template <class Archive>
  void State(Archive& a) {
    AgentMachine::State(a);
    a(shares_, next_seq_);
    VisitPart(a, round_world_);
    std::vector<NodeId> clients;
    for (const auto& [client, seat] : seats_) clients.push_back(client);
    a(clients);
    for (const NodeId client : clients) {
      if (!a.ok()) return;
      Seat& seat = SeatOf(client);
      a(seat.round, seat.epoch, seat.context);
      VisitPart(a, *seat.player);
    }
  }

 protected:
  absl::Status TakeMessage(const Message& message) override {
    if (std::holds_alternative<Model>(message.body)) return absl::OkStatus();
    return absl::InvalidArgumentError("the server sent a message that is not one of its own models");
  }

  absl::StatusOr<bool> WorkFor(NodeId client, const Message& message) override {
    const Model& model = std::get<Model>(message.body);
    Seat& seat = SeatOf(client);
    if (model.epoch < seat.epoch || (model.epoch == seat.epoch && seat.player->rounds_ready() == 0)) {
      ++counts().repeats;
      BANDANA_RETURN_IF_ERROR(Answer(client, model));
      return false;
    }
    if (model.epoch > seat.epoch) {
      BANDANA_RETURN_IF_ERROR(seat.player->OnMessage(seat.context, message));
      seat.epoch = model.epoch;
    }
    for (Count done = 0; seat.player->rounds_ready() > 0; ++done) {
      if (done == kRoundsAStep) return true;
      BANDANA_RETURN_IF_ERROR(PlayRound(client, seat));
    }
    if (seat.round != model.until) {
      return absl::InternalError(fmt::format("client {} plays until round {}, but the server said round {}",
                                             client.value, seat.round, model.until));
    }
    BANDANA_RETURN_IF_ERROR(Answer(client, model));
    return false;
  }

  absl::Status TakeSent(NodeId from, NodeId to, Payload payload) override {
    if (std::holds_alternative<SyncRequest>(payload)) {
      return absl::UnimplementedError(
          "the service cannot run agents that ask for a sync themselves; only the simulator can");
    }
    const auto* share = std::get_if<Share>(&payload);
    if (to != kServerNode || share == nullptr) {
      return absl::InternalError("a client can send only shares, and only to the server");
    }
    Sent& sent = shares_[from];
    if (sent.share.epoch >= share->epoch) {
      return absl::InternalError(
          fmt::format("client {} answered twice in epoch {}", from.value, share->epoch));
    }
    ++counts().shares;
    sent = {next_seq_++, *share};
    return absl::OkStatus();
  }

 private:
  struct Seat {
    Seat(std::unique_ptr<RoundPlayer<double>> role, RoleWorld& world, Links links)
        : player(std::move(role)), context(world, std::move(links)) {}
    std::unique_ptr<RoundPlayer<double>> player;
    RoleContext context;
    Count round = 0;  // the last round that has ended
    Epoch epoch = 0;  // of the last model
  };
  // The last share of a client; sent again if a model comes again.
  struct Sent {
    Seq seq = 0;
    Share share = {};

    template <class Archive>
    void State(Archive& a) {
      a(seq, share.epoch, share.hops, share.report);
    }
  };

  Seat& SeatOf(NodeId client) {
    const auto [it, is_new] = seats_.try_emplace(client, nullptr);
    if (is_new) {
      it->second = std::make_unique<Seat>(make_player_(client), world(), topology_.LinksOf(client));
    }
    return *it->second;
  }

  absl::Status PlayRound(NodeId client, Seat& seat) {
    const Count round = ++seat.round;
    ++counts().rounds;
    BANDANA_RETURN_IF_ERROR(one_round_.Play(*seat.player, seat.context, client, round));
    BANDANA_RETURN_IF_ERROR(seat.player->EndRound(seat.context, round));
    return sent();
  }

  absl::Status Answer(NodeId client, const Model& model) {
    v1::FromAgent answer;
    if (model.answers) {
      const auto found = shares_.find(client);
      if (found == shares_.end() || found->second.share.epoch != model.epoch) {
        return absl::InternalError(
            fmt::format("client {} has no answer to model {}", client.value, model.epoch));
      }
      Encode({client, client, 0, found->second.seq, found->second.share},
             *answer.mutable_shares()->add_messages());
    } else {
      answer.mutable_played()->set_epoch(model.epoch);
      answer.mutable_played()->add_clients(client.value);
    }
    SendProto(kServerName, answer);
    return absl::OkStatus();
  }

  MakeRoundPlayer make_player_;
  RoundWorld& round_world_;
  OneRound one_round_;
  Topology topology_;
  std::map<NodeId, std::unique_ptr<Seat>> seats_;
  std::map<NodeId, Sent> shares_;
  Seq next_seq_ = 0;
};

}  // namespace

std::unique_ptr<AgentMachine> MakeRoundAgent(const AgentParams& params, MakeRoundPlayer make_player,
                                             RoundWorld& world, OneRound one_round) {
  return std::make_unique<RoundAgent>(params, std::move(make_player), world, std::move(one_round));
}

absl::StatusOr<AgentReport> RunRoundAgent(const AgentParams& params, const MakeRoundPlayer& make_player,
                                          RoundWorld& world) {
  if (params.route.shuffled) {
    return absl::UnimplementedError(
        "the service cannot run agents that play round by round with a shuffler; only the simulator can");
  }
  BANDANA_ASSIGN_OR_RETURN(OneRound one_round, OneRound::Create(world));
  return RunAgentProcess(params, *MakeRoundAgent(params, make_player, world, std::move(one_round)));
}

}  // namespace bandana::service
