#include "bandana/service/lock_step.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "bandana/core/status.h"
#include "bandana/service/codec.h"
#include "bandana/service/names.h"
#include "bandana/service/parse_proto.h"
#include "bandana/service/process.h"
#include "fmt/format.h"
#include "proto/federation.pb.h"

namespace bandana::service {
namespace {

constexpr std::size_t kPacketBytes = 1 << 20;  // a slot with more bytes continues in another packet
constexpr char kPeer[] = "peer/";

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

NodeId NodeOfLink(const std::string& link) {
  std::uint32_t node = 0;
  if (absl::StartsWith(link, kPeer) && absl::SimpleAtoi(link.substr(sizeof(kPeer) - 1), &node))
    return NodeId{node};
  return kServerNode;
}

std::string NameOf(NodeId neighbour) {
  return neighbour == kServerNode ? "server" : fmt::format("neighbour {}", neighbour.value);
}

}  // namespace

std::string NodeLink(NodeId node) {
  return node == kServerNode ? kServerName : fmt::format("{}{}", kPeer, node.value);
}

struct LockStep::Letter : Input {
  v1::ToPeer message;             // without the packet's messages
  std::vector<Message> messages;  // of the packet
};

LockStep::LockStep(const PeerParams& params, const LinkProtocol& protocol)
    : params_(params),
      protocol_(protocol),
      role_world_(params.insecure_seed,
                  [this](NodeId, NodeId to, Payload payload) { SendFromRole(to, std::move(payload)); }),
      context_(role_world_, LinksOf(params)),
      slot_(protocol.first) {
  for (const auto& [node, address] : params.neighbours) neighbours_[node].complete = protocol.first - 1;
}

absl::Status LockStep::Admits(const std::string& link) const {
  return absl::PermissionDeniedError(fmt::format("{} has no edge from {}", NodeLink(params_.self), link));
}

absl::StatusOr<std::unique_ptr<Machine::Input>> LockStep::Read(const std::string& link,
                                                               std::string_view body) const {
  auto letter = std::make_unique<Letter>();
  BANDANA_RETURN_IF_ERROR(ParseProto(body, letter->message));
  const v1::Packet& packet = letter->message.packet();
  for (const v1::Message& encoded : packet.messages()) {
    BANDANA_ASSIGN_OR_RETURN(Message message, Decode(encoded, params_.nodes));
    if (message.from != NodeOfLink(link) || message.slot != packet.slot() ||
        !protocol_.carries(message.body)) {
      return absl::InvalidArgumentError(
          fmt::format("it sent something other than its own {}", protocol_.kinds));
    }
    letter->messages.push_back(std::move(message));
  }
  if (letter->message.has_packet()) letter->message.mutable_packet()->clear_messages();
  return letter;
}

absl::Status LockStep::Begin() {
  v1::ToPeer ready;
  ready.mutable_ready();
  for (const auto& [node, neighbour] : neighbours_) SendProto(NodeLink(node), ready);
  return absl::OkStatus();
}

absl::Status LockStep::Check(const std::string& link, const Input& input) const {
  const auto& letter = static_cast<const Letter&>(input);
  const auto found = neighbours_.find(NodeOfLink(link));
  if (found == neighbours_.end()) return Admits(link);
  if (letter.message.has_ready() || letter.message.has_leave()) return absl::OkStatus();
  if (!letter.message.has_packet()) {
    return absl::InvalidArgumentError("it sent something other than packets");
  }
  return CheckPacket(found->second, letter);
}

absl::Status LockStep::CheckPacket(const Neighbour& neighbour, const Letter& letter) const {
  const Slot slot = letter.message.packet().slot();
  if (!neighbour.is_ready || slot != neighbour.complete + 1 || slot > protocol_.last || neighbour.finished) {
    return absl::InvalidArgumentError(
        fmt::format("it sent the packet of slot {} after that of slot {}", slot, neighbour.complete));
  }
  bool has_seq = neighbour.has_seq;
  Seq last = neighbour.last_seq;
  for (const Message& message : letter.messages) {
    if (has_seq && message.seq <= last) {
      return absl::InvalidArgumentError("it sent messages out of order");
    }
    has_seq = true;
    last = message.seq;
  }
  return absl::OkStatus();
}

absl::Status LockStep::Take(const std::string& link, Input& input) {
  auto& letter = static_cast<Letter&>(input);
  const NodeId node = NodeOfLink(link);
  Neighbour& neighbour = neighbours_.at(node);
  if (letter.message.has_ready()) {
    neighbour.is_ready = true;
    return absl::OkStatus();
  }
  if (letter.message.has_leave()) {
    const v1::PeerLeave& leave = letter.message.leave();
    if (leave.never_began()) {
      never_began_ = true;
      return absl::UnavailableError(fmt::format(
          "{} says that the run has not begun ({}); its own report says why", NameOf(node), leave.reason()));
    }
    return Lose(link, fmt::format("it cannot continue ({}); its own report says why", leave.reason()));
  }
  for (Message& message : letter.messages) {
    neighbour.has_seq = true;
    neighbour.last_seq = message.seq;
    neighbour.partial.push_back(std::move(message));
  }
  if (letter.message.packet().more()) return absl::OkStatus();
  neighbour.packets[++neighbour.complete] = std::exchange(neighbour.partial, {});
  neighbour.finished = letter.message.packet().last();
  return absl::OkStatus();
}

bool LockStep::has_begun() const {
  return std::all_of(neighbours_.begin(), neighbours_.end(),
                     [](const auto& each) { return each.second.is_ready; });
}

bool LockStep::HasAllPackets(Slot slot) const {
  return std::all_of(neighbours_.begin(), neighbours_.end(), [&](const auto& each) {
    return each.second.lost_at || each.second.finished || each.second.complete >= slot;
  });
}

// Returns what the neighbours sent in the slot, in (from, seq) order.
std::vector<Message> LockStep::Collect(Slot slot) {
  std::vector<Message> messages;
  for (auto& [node, neighbour] : neighbours_) {
    auto packet = neighbour.packets.extract(slot);
    if (packet.empty()) continue;
    std::move(packet.mapped().begin(), packet.mapped().end(), std::back_inserter(messages));
  }
  messages_in_ += static_cast<Count>(messages.size());
  return messages;
}

absl::StatusOr<bool> LockStep::Work() {
  if (over_ || !has_begun()) return false;
  if (slot_ > protocol_.first && !HasAllPackets(slot_ - 1)) return false;
  if (has_played_all_) {  // the last packets were awaited only for the neighbours' sake
    over_ = true;
    SetClosed();
    return false;
  }
  const std::vector<Message> messages = slot_ > protocol_.first ? Collect(slot_ - 1) : std::vector<Message>{};
  BANDANA_RETURN_IF_ERROR(Play(messages));
  BANDANA_RETURN_IF_ERROR(sent_);
  has_played_all_ = is_last();
  SendPackets(has_played_all_ && tells_last());
  ++slot_;
  if (has_played_all_ && tells_last()) {  // a neighbour that goes on does not matter any more
    over_ = true;
    SetClosed();
    return false;
  }
  return true;
}

void LockStep::SendPackets(bool last) {
  for (const auto& [node, neighbour] : neighbours_) {
    v1::ToPeer packet;
    packet.mutable_packet()->set_slot(slot_);
    std::size_t bytes = 0;
    const auto found = outgoing_.find(node);
    for (std::size_t i = 0; found != outgoing_.end() && i < found->second.size(); ++i) {
      if (bytes >= kPacketBytes) {
        packet.mutable_packet()->set_more(true);
        SendProto(NodeLink(node), packet);
        packet.mutable_packet()->set_more(false);
        packet.mutable_packet()->clear_messages();
        bytes = 0;
      }
      v1::Message& added = *packet.mutable_packet()->add_messages();
      Encode(found->second[i], added);
      bytes += added.ByteSizeLong();
    }
    packet.mutable_packet()->set_last(last);
    SendProto(NodeLink(node), packet);  // dropped if the neighbour is lost
  }
  outgoing_.clear();
}

void LockStep::SendFromRole(NodeId to, Payload payload) {
  if (!params_.neighbours.contains(to) || !protocol_.carries(payload)) {
    sent_ = absl::InternalError(
        fmt::format("a node can send only {}, and only to its neighbours", protocol_.kinds));
    return;
  }
  ++messages_out_;
  const NodeId origin = OriginOf(params_.self, payload);
  outgoing_[to].push_back({params_.self, origin, slot_, next_seq_++, std::move(payload)});
}

// Before the run has begun, neighbours are waited for as long as it takes.
Machine::Absence LockStep::JudgeAbsence(const std::string&) const {
  return has_begun() ? Absence::kGiveUp : Absence::kStop;
}

absl::Status LockStep::Lose(const std::string& link, const std::string& why) {
  const NodeId node = NodeOfLink(link);
  const auto found = neighbours_.find(node);
  if (found == neighbours_.end() || found->second.lost_at) return absl::OkStatus();
  Neighbour& neighbour = found->second;
  if (neighbour.finished || neighbour.complete >= protocol_.last) return absl::OkStatus();
  if (!has_begun()) {
    never_began_ = true;
    return absl::UnavailableError(fmt::format("{} was lost before the run began: {}", NameOf(node), why));
  }
  neighbour.lost_at = neighbour.complete + 1;
  neighbour.why = why;
  return absl::OkStatus();
}

void LockStep::Abort(const absl::Status& why) {
  if (over_) return;
  over_ = true;
  result_ = why;
  SetClosed();
  v1::ToPeer leave;
  leave.mutable_leave()->set_reason(std::string(absl::StatusCodeToString(why.code())));
  leave.mutable_leave()->set_never_began(never_began_ || !has_begun());
  for (const auto& [node, neighbour] : neighbours_) SendProto(NodeLink(node), leave);
}

PeerReport LockStep::report() const {
  PeerReport report{.rounds = slot_ - 1, .messages_in = messages_in_, .messages_out = messages_out_};
  for (const auto& [node, neighbour] : neighbours_) {
    if (neighbour.lost_at) report.lost.push_back({node, *neighbour.lost_at, neighbour.why});
  }
  std::sort(report.lost.begin(), report.lost.end(), [](const LostNeighbour& a, const LostNeighbour& b) {
    return std::tie(a.round, a.node) < std::tie(b.round, b.node);
  });
  return report;
}

std::vector<std::string> LockStep::EncodeAll(const std::vector<Message>& messages) {
  std::vector<std::string> encoded;
  for (const Message& message : messages) {
    v1::Message proto;
    Encode(message, proto);
    encoded.push_back(proto.SerializeAsString());
  }
  return encoded;
}

bool LockStep::DecodeAll(const std::vector<std::string>& encoded, std::vector<Message>& out) const {
  for (const std::string& bytes : encoded) {
    v1::Message proto;
    if (!proto.ParseFromString(bytes)) return false;
    absl::StatusOr<Message> message = Decode(proto, params_.nodes);
    if (!message.ok()) return false;
    out.push_back(*std::move(message));
  }
  return true;
}

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
    if (params.listen.empty() && !Dials(params.self, node)) {
      return InvalidField(Part::kService, "listen", "",
                          "host:port, for neighbours that connect to this node");
    }
  }
  return absl::OkStatus();
}

}  // namespace bandana::service
