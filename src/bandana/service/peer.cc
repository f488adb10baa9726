#include "bandana/service/peer.h"

#include <memory>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/address.h"
#include "bandana/service/peer_links.h"
#include "bandana/service/role_context.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

absl::Status Validate(const PeerParams& params) {
  if (params.self == kServerNode || params.self == kShufflerNode) {
    return InvalidOption("service.peer", fmt::format("{}", params.self.value),
                         "a whole number from 1 to 4294967294");
  }
  for (const auto& [node, address] : params.neighbours) {
    if (node == kServerNode || node == kShufflerNode || node == params.self) {
      return InvalidOption("service.peers", fmt::format("{}", node.value),
                           "other peers, each a whole number from 1 to 4294967294");
    }
    if (node > params.self) BANDANA_RETURN_IF_ERROR(ParseLoopback("service.peers", address).status());
  }
  if (params.rounds < 1) {
    return InvalidOption("algorithm.horizon", fmt::format("{}", params.rounds), "a whole number >= 1");
  }
  for (const auto& [key, time] : {std::pair("service.connect_timeout", params.connect_timeout),
                                  {"service.silence_timeout", params.silence_timeout}}) {
    if (!(time > absl::ZeroDuration())) return InvalidOption(key, absl::FormatDuration(time), "a time > 0");
  }
  return absl::OkStatus();
}

Links LinksOf(const PeerParams& params) {
  Links links{.self = params.self};
  for (const auto& [node, address] : params.neighbours) links.peers.push_back(node);
  return links;
}

NodeId OriginOf(NodeId self, const Payload& payload) {
  if (const auto* bulletin = std::get_if<Bulletin>(&payload)) return bulletin->origin;
  if (const auto* request = std::get_if<SyncRequest>(&payload)) return request->origin;
  return self;
}

// The peer's side of a run.
class PeerRun {
 public:
  PeerRun(const PeerParams& params, RoundPlayer<double>& player, RoundWorld& world, PeerLinks& links)
      : params_(params),
        player_(player),
        world_(world),
        links_(links),
        role_world_{.insecure_seed = params.insecure_seed,
                    .releases = Releases(params.budget, params.ledger),
                    .send = [this](NodeId, NodeId to, Payload payload) { Send(to, std::move(payload)); },
                    .play = nullptr},
        context_(role_world_, LinksOf(params)) {}

  absl::Status Run() {
    BANDANA_RETURN_IF_ERROR(links_.Join());
    const absl::Time started = absl::Now();
    while (round_ < params_.rounds) {
      ++round_;
      BANDANA_RETURN_IF_ERROR(PlayRound());
      BANDANA_RETURN_IF_ERROR(role_world_.releases.Commit());
      links_.Send(round_, outgoing_);
      outgoing_.clear();
    }
    BANDANA_RETURN_IF_ERROR(
        links_.Receive(round_).status());  // for the neighbours' sake, and to see who lives
    report_.rounds = round_;
    report_.seconds = absl::ToDoubleSeconds(absl::Now() - started);
    report_.spent = role_world_.releases.spent();
    return absl::OkStatus();
  }

  const PeerReport& report() const { return report_; }

 private:
  absl::Status PlayRound() {
    if (params_.stop.stop_requested()) return absl::CancelledError("the peer was stopped");
    if (player_.Plays(round_)) {
      const ArmId arm = player_.Act(context_, round_, world_.Set(params_.self, round_));
      BANDANA_RETURN_IF_ERROR(
          player_.Observe(context_, round_, Raw<double>(world_.Reward(params_.self, round_, arm))));
    }
    if (round_ > 1) {
      BANDANA_ASSIGN_OR_RETURN(const std::vector<Message> messages, links_.Receive(round_ - 1));
      report_.messages_in += static_cast<Count>(messages.size());
      for (const Message& message : messages) BANDANA_RETURN_IF_ERROR(player_.OnMessage(context_, message));
    }
    BANDANA_RETURN_IF_ERROR(player_.EndRound(context_, round_));
    return sent_;
  }

  void Send(NodeId to, Payload payload) {
    const bool for_peers =
        std::holds_alternative<Bulletin>(payload) || std::holds_alternative<SyncRequest>(payload);
    if (!params_.neighbours.contains(to) || !for_peers) {
      sent_ = absl::InternalError("a peer can send bulletins and requests to its neighbours alone");
      return;
    }
    ++report_.messages_out;
    const NodeId origin = OriginOf(params_.self, payload);
    outgoing_[to].push_back({params_.self, origin, round_, next_seq_++, std::move(payload)});
  }

  const PeerParams& params_;
  RoundPlayer<double>& player_;
  RoundWorld& world_;
  PeerLinks& links_;
  RoleWorld role_world_;
  RoleContext context_;
  Count round_ = 0;
  std::map<NodeId, std::vector<Message>> outgoing_;  // in this round
  Seq next_seq_ = 0;
  absl::Status sent_;
  PeerReport report_;
};

}  // namespace

absl::StatusOr<PeerReport> RunPeer(const PeerParams& params, RoundPlayer<double>& player, RoundWorld& world) {
  BANDANA_RETURN_IF_ERROR(Validate(params));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<PeerLinks> links, PeerLinks::Open(params));
  if (params.on_listening) params.on_listening(links->address());
  PeerRun run(params, player, world, *links);
  if (absl::Status status = run.Run(); !status.ok()) {
    links->Leave(status);
    return status;
  }
  links->Finish();
  PeerReport report = run.report();
  report.lost = links->lost();
  report.bytes_in = links->bytes_in();
  report.bytes_out = links->bytes_out();
  return report;
}

}  // namespace bandana::service
