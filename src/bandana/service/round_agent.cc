#include "bandana/service/round_agent.h"

#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "bandana/core/status.h"
#include "bandana/federation/topology.h"
#include "bandana/service/agent_session.h"
#include "bandana/service/codec.h"
#include "bandana/service/one_round.h"
#include "bandana/service/role_context.h"
#include "bandana/service/uplink.h"
#include "fmt/format.h"
#include "proto/federation.pb.h"

namespace bandana::service {
namespace {

using MakeRoundPlayer = std::function<std::unique_ptr<RoundPlayer<double>>(NodeId)>;

// The agent's side of a run.
class RoundAgentRun {
 public:
  RoundAgentRun(const AgentParams& params, const MakeRoundPlayer& make_player, OneRound world, Uplink& server)
      : params_(params),
        make_player_(make_player),
        world_(std::move(world)),
        server_(server),
        role_world_{
            .insecure_seed = params.insecure_seed,
            .releases = Releases(params.budget_per_client, params.ledger),
            .send = [this](NodeId from, NodeId to, Payload payload) { Send(from, to, std::move(payload)); },
            .play = nullptr},
        topology_(Topology::Star(Count{params.first_client.value} + params.clients - 1)) {}

  /// Returns OK if the run has finished. Otherwise the server ended it, or this agent must leave.
  absl::Status Run() {
    BANDANA_RETURN_IF_ERROR(server_.Greet(HelloOf(params_)).status());
    started_ = absl::Now();
    v1::ToAgent message;
    while (server_.Read(message)) {
      if (message.has_stop()) return EndedBy("server", message.stop());
      BANDANA_RETURN_IF_ERROR(HandleDelivery(message.delivery()));
    }
    server_lost_ = true;
    return absl::UnavailableError("the server was lost");
  }

  bool server_lost() const { return server_lost_; }

  AgentReport report() const {
    AgentReport report = report_;
    report.spent = role_world_.releases.spent();
    report.seconds = absl::ToDoubleSeconds(absl::Now() - started_);
    report.bytes_in = server_.bytes_in();
    report.bytes_out = server_.bytes_out();
    return report;
  }

 private:
  struct Seat {
    Seat(std::unique_ptr<RoundPlayer<double>> role, RoleWorld& world, Links links)
        : player(std::move(role)), context(world, std::move(links)) {}
    std::unique_ptr<RoundPlayer<double>> player;
    RoleContext context;
    Count round = 0;  // the last round that has ended
    Epoch epoch = 0;  // the epoch of the last model
  };

  bool over() const { return params_.stop.stop_requested() || server_.over(); }

  absl::Status HandleDelivery(const v1::Delivery& delivery) {
    BANDANA_ASSIGN_OR_RETURN(const Message message, Decode(delivery.message()));
    const auto* model = std::get_if<Model>(&message.body);
    if (model == nullptr || message.from != kServerNode) {
      return absl::InvalidArgumentError("the server sent a message that is not one of its own models");
    }
    for (const std::uint32_t to : delivery.to()) {
      if (to < params_.first_client.value || to - params_.first_client.value >= params_.clients) {
        return absl::InvalidArgumentError(fmt::format(
            "the server sent a model to client {}, but this agent does not hold that client", to));
      }
      BANDANA_RETURN_IF_ERROR(HandleModel(NodeId{to}, *model, message));
      if (over()) return absl::OkStatus();  // the next read gives the reason
    }
    return absl::OkStatus();
  }

  absl::Status HandleModel(NodeId client, const Model& model, const Message& message) {
    std::unique_ptr<Seat>& seat = seats_[client];
    if (seat == nullptr) {
      seat = std::make_unique<Seat>(make_player_(client), role_world_, topology_.LinksOf(client));
    }
    if (model.epoch <= seat->epoch) {
      ++report_.repeats;
    } else {
      BANDANA_RETURN_IF_ERROR(seat->player->OnMessage(seat->context, message));
      seat->epoch = model.epoch;
      while (seat->player->rounds_ready() > 0) {
        if (over()) return absl::OkStatus();
        BANDANA_RETURN_IF_ERROR(PlayRound(client, *seat));
      }
      if (seat->round != model.until) {
        return absl::InternalError(fmt::format("client {} plays until round {}, but the server said round {}",
                                               client.value, seat->round, model.until));
      }
    }
    return Answer(client, model);
  }

  absl::Status PlayRound(NodeId client, Seat& seat) {
    const Count round = ++seat.round;
    ++report_.rounds;
    BANDANA_RETURN_IF_ERROR(world_.Play(*seat.player, seat.context, client, round));
    BANDANA_RETURN_IF_ERROR(seat.player->EndRound(seat.context, round));
    return sent_;
  }

  absl::Status Answer(NodeId client, const Model& model) {
    v1::FromAgent answer;
    if (model.answers) {
      const auto share = shares_.find({client, model.epoch});
      if (share == shares_.end()) {
        return absl::InternalError(
            fmt::format("client {} has no answer to model {}", client.value, model.epoch));
      }
      Encode(share->second, *answer.mutable_shares()->add_messages());
    } else {
      answer.mutable_played()->set_epoch(model.epoch);
      answer.mutable_played()->add_clients(client.value);
    }
    BANDANA_RETURN_IF_ERROR(role_world_.releases.Commit());
    server_.Write(answer);
    return absl::OkStatus();
  }

  void Send(NodeId from, NodeId to, Payload payload) {
    if (std::holds_alternative<SyncRequest>(payload)) {
      sent_ = absl::UnimplementedError(
          "the service cannot run agents that ask for a sync themselves; only the simulator can");
      return;
    }
    const auto* share = std::get_if<Share>(&payload);
    if (to != kServerNode || share == nullptr) {
      sent_ = absl::InternalError("a client can send only shares, and only to the server");
      return;
    }
    const Epoch epoch = share->epoch;
    const auto [it, is_new] = shares_.try_emplace({from, epoch});
    if (!is_new) {
      sent_ = absl::InternalError(fmt::format("client {} answered twice in epoch {}", from.value, epoch));
      return;
    }
    ++report_.shares;
    it->second = {from, from, 0, next_seq_++, std::move(payload)};
  }

  const AgentParams& params_;
  const MakeRoundPlayer& make_player_;
  OneRound world_;
  Uplink& server_;
  RoleWorld role_world_;
  Topology topology_;
  absl::flat_hash_map<NodeId, std::unique_ptr<Seat>> seats_;
  // By client and epoch; sent again if a model comes again.
  std::map<std::pair<NodeId, Epoch>, Message> shares_;
  Seq next_seq_ = 0;
  absl::Status sent_;
  bool server_lost_ = false;
  absl::Time started_ = absl::Now();
  AgentReport report_;
};

}  // namespace

absl::StatusOr<AgentReport> RunRoundAgent(const AgentParams& params, const MakeRoundPlayer& make_player,
                                          RoundWorld& world) {
  BANDANA_RETURN_IF_ERROR(ValidateAgent(params));
  if (params.route.shuffled) {
    return absl::UnimplementedError(
        "the service cannot run agents that play round by round with a shuffler; only the simulator can");
  }
  BANDANA_ASSIGN_OR_RETURN(OneRound one_round, OneRound::Create(world));
  BANDANA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Uplink> server,
      Uplink::Connect({"agent", "server", params.server, params.connect_timeout, params.stop}));
  RoundAgentRun run(params, make_player, std::move(one_round), *server);
  absl::Status status = run.Run();
  // Only the code: an environment's error may contain a client's data.
  if (!status.ok() && !run.server_lost()) {
    server->Leave(std::string(absl::StatusCodeToString(status.code())));
  }
  const absl::Status end = server->Close();
  if (status.ok()) return run.report();
  if (params.stop.stop_requested()) return absl::CancelledError("the agent was stopped");
  return run.server_lost() ? end : status;
}

}  // namespace bandana::service
