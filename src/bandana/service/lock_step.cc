#include "bandana/service/lock_step.h"

#include "bandana/service/address.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

Links LinksOf(const PeerParams& params) {
  Links links{.self = params.self};
  if (params.self == kServerNode) return links;
  for (const auto& [node, address] : params.neighbours) {
    if (node == kServerNode) {
      links.upstream = node;
    } else {
      links.peers.push_back(node);
    }
  }
  return links;
}

NodeId OriginOf(NodeId self, const Payload& payload) {
  if (const auto* bulletin = std::get_if<Bulletin>(&payload)) return bulletin->origin;
  if (const auto* request = std::get_if<SyncRequest>(&payload)) return request->origin;
  return self;
}

}  // namespace

absl::Status ValidateLockStep(const PeerParams& params, std::uint32_t most, bool has_server) {
  const auto fits = [&](NodeId node) { return node == kServerNode ? has_server : node.value <= most; };
  if (!fits(params.self)) {
    return InvalidField(Part::kService, "self", fmt::format("{}", params.self.value),
                        fmt::format("a whole number from {} to {}", has_server ? 0 : 1, most));
  }
  for (const auto& [node, address] : params.neighbours) {
    if (!fits(node) || node == params.self) {
      return InvalidField(
          Part::kService, "neighbours", fmt::format("{}", node.value),
          fmt::format("other peers, each a whole number from {} to {}", has_server ? 0 : 1, most));
    }
    if (Dials(params.self, node)) {
      BANDANA_RETURN_IF_ERROR(ParseLoopback(AddressField(node), address).status());
    } else if (params.listen.empty()) {
      return InvalidField(Part::kService, "listen", "",
                          "host:port, for neighbours that connect to this node");
    }
  }
  for (const auto& [key, time] :
       {std::pair("connect_timeout", params.connect_timeout), {"silence_timeout", params.silence_timeout}}) {
    if (time > absl::ZeroDuration()) continue;
    return InvalidField(Part::kService, key, absl::FormatDuration(time), "a time > 0");
  }
  return absl::OkStatus();
}

LockStep::LockStep(const PeerParams& params, const LinkProtocol& protocol, PeerLinks& links)
    : params_(params),
      protocol_(protocol),
      links_(links),
      role_world_{.insecure_seed = params.insecure_seed,
                  .releases = Releases(params.budget, params.ledger),
                  .send = [this](NodeId, NodeId to, Payload payload) { Send(to, std::move(payload)); },
                  .play = nullptr},
      context_(role_world_, LinksOf(params)),
      slot_(protocol.first) {}

absl::Status LockStep::Begin() {
  BANDANA_RETURN_IF_ERROR(links_.Join());
  started_ = absl::Now();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Message>> LockStep::Receive() {
  if (slot_ == protocol_.first) return std::vector<Message>{};
  BANDANA_ASSIGN_OR_RETURN(std::vector<Message> messages, links_.Receive(slot_ - 1));
  report_.messages_in += static_cast<Count>(messages.size());
  return messages;
}

absl::Status LockStep::EndSlot(bool last) {
  BANDANA_RETURN_IF_ERROR(sent_);
  BANDANA_RETURN_IF_ERROR(role_world_.releases.Commit());
  links_.Send(slot_, outgoing_, last);
  outgoing_.clear();
  ++slot_;
  return absl::OkStatus();
}

absl::Status LockStep::CheckStop() const {
  return params_.stop.stop_requested() ? absl::CancelledError("the peer was stopped") : absl::OkStatus();
}

void LockStep::End(Count rounds) {
  report_.rounds = rounds;
  report_.seconds = absl::ToDoubleSeconds(absl::Now() - started_);
  report_.spent = role_world_.releases.spent();
}

void LockStep::Send(NodeId to, Payload payload) {
  if (!params_.neighbours.contains(to) || !protocol_.carries(payload)) {
    sent_ = absl::InternalError(
        fmt::format("a node can send only {}, and only to its neighbours", protocol_.kinds));
    return;
  }
  ++report_.messages_out;
  const NodeId origin = OriginOf(params_.self, payload);
  outgoing_[to].push_back({params_.self, origin, slot_, next_seq_++, std::move(payload)});
}

}  // namespace bandana::service
