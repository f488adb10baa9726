#include "bandana/service/shuffler_machine.h"

#include <algorithm>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/codec.h"
#include "bandana/service/names.h"
#include "bandana/service/parse_proto.h"
#include "fmt/format.h"

namespace bandana::service {

struct ShufflerMachine::Letter : Input {
  v1::ToAgent from_server;
  v1::FromAgent from_agent;
};

ShufflerMachine::ShufflerMachine(Count clients, std::unique_ptr<Mixer> mixer)
    : clients_(clients), mixer_(std::move(mixer)), roster_(clients) {
  mixer_->set_sender([this](v1::Message message) { SendToServer(std::move(message)); });
}

void ShufflerMachine::Attach(store::StoreLedger& ledger, const store::Key& secret) {
  mixer_->Attach(ledger, secret);
}

absl::StatusOr<std::unique_ptr<Machine::Input>> ShufflerMachine::Read(const std::string& link,
                                                                      std::string_view body) const {
  auto letter = std::make_unique<Letter>();
  if (link == kServerName) {
    BANDANA_RETURN_IF_ERROR(ParseProto(body, letter->from_server));
    return letter;
  }
  BANDANA_RETURN_IF_ERROR(ParseProto(body, letter->from_agent));
  for (const v1::Message& share : letter->from_agent.shares().messages()) {
    BANDANA_RETURN_IF_ERROR(mixer_->CheckShare(share));
  }
  return letter;
}

absl::Status ShufflerMachine::Begin() {
  v1::FromAgent join;
  join.mutable_join();
  SendProto(kServerName, join);
  return absl::OkStatus();
}

absl::Status ShufflerMachine::Check(const std::string& link, const Input& input) const {
  if (link == kServerName) return absl::OkStatus();
  const v1::FromAgent& message = static_cast<const Letter&>(input).from_agent;
  if (message.has_join()) {
    return roster_.Propose(link, message.join().first_client(), message.join().client_count()).status();
  }
  const Seated* agent = roster_.Find(link);
  if (agent == nullptr) return absl::InvalidArgumentError("it must join first");
  if (message.has_leave()) return absl::OkStatus();
  if (!message.has_shares()) return absl::InvalidArgumentError("the message has no shares");
  for (const v1::Message& share : message.shares().messages()) {
    if (share.from() == share.origin() && agent->Owns(NodeId{share.origin()})) continue;
    return absl::PermissionDeniedError(
        fmt::format("the message has a share of client {} from node {}, but an agent may send only for "
                    "its own clients",
                    share.origin(), share.from()));
  }
  return absl::OkStatus();
}

absl::Status ShufflerMachine::Take(const std::string& link, Input& input) {
  auto& letter = static_cast<Letter&>(input);
  if (link == kServerName) return TakeFromServer(letter.from_server);
  if (letter.from_agent.has_join()) {
    const v1::Join& join = letter.from_agent.join();
    BANDANA_ASSIGN_OR_RETURN(Seated agent, roster_.Propose(link, join.first_client(), join.client_count()));
    roster_.Add(std::move(agent));
    return absl::OkStatus();
  }
  if (letter.from_agent.has_leave()) {
    return Lose(link, fmt::format("it cannot continue ({}); its own report says why",
                                  letter.from_agent.leave().reason()));
  }
  return TakeShares(*letter.from_agent.mutable_shares());
}

absl::Status ShufflerMachine::TakeFromServer(const v1::ToAgent& message) {
  if (message.has_stop()) {
    const std::string why = "the server ended the run: " + message.stop().reason();
    End(message.stop().finished()      ? absl::OkStatus()
        : message.stop().over_budget() ? absl::ResourceExhaustedError(why)
                                       : absl::UnavailableError(why));
    return absl::OkStatus();
  }
  BANDANA_ASSIGN_OR_RETURN(const Message decoded, Decode(message.delivery().message()));
  const auto* mix_request = std::get_if<std::shared_ptr<const MixRequest>>(&decoded.body);
  if (mix_request == nullptr || decoded.from != kServerNode) {
    return absl::InvalidArgumentError("the server sent a message that is not one of its own mix requests");
  }
  for (const NodeId client : (*mix_request)->clients) {
    if (client.value <= clients_) continue;
    return absl::InvalidArgumentError(
        fmt::format("the server asks for client {}, but there are only {} clients", client.value, clients_));
  }
  started_ = true;
  if ((*mix_request)->epoch > last_mixed_) rolls_.emplace((*mix_request)->epoch, *mix_request);
  BANDANA_RETURN_IF_ERROR(mixer_->TakeMixRequest(decoded));
  for (const auto& [last, agent] : roster_) BANDANA_RETURN_IF_ERROR(CheckLost(agent));
  return absl::OkStatus();
}

absl::Status ShufflerMachine::TakeShares(v1::Shares& shares) {
  for (v1::Message& share : *shares.mutable_messages()) {
    const Epoch epoch = share.has_share() ? share.share().epoch() : share.sealed_share().epoch();
    ++report_.shares;
    if (epoch > last_mixed_) answered_[epoch].insert(NodeId{share.origin()});
    BANDANA_RETURN_IF_ERROR(mixer_->TakeShare(share));
  }
  return absl::OkStatus();
}

Machine::Absence ShufflerMachine::JudgeAbsence(const std::string& link) const {
  if (link == kServerName) return Absence::kStop;
  const Seated* agent = roster_.Find(link);
  return agent != nullptr && AwaitedOf(*agent) > 0 ? Absence::kStop : Absence::kWait;
}

absl::Status ShufflerMachine::Lose(const std::string& link, const std::string& why) {
  if (link == kServerName) return absl::UnavailableError(fmt::format("the server was lost: {}", why));
  Seated* agent = roster_.Find(link);
  if (agent == nullptr || agent->is_lost) return absl::OkStatus();
  if (MayStartAnew(link)) {
    roster_.Remove(link);
    return absl::OkStatus();
  }
  agent->is_lost = true;
  agent->why = why;
  return CheckLost(*agent);
}

// Returns for how many clients of an agent a mix request still waits.
Count ShufflerMachine::AwaitedOf(const Seated& agent) const {
  Count awaited = 0;
  for (const auto& [epoch, mix_request] : rolls_) {
    const auto answered = answered_.find(epoch);
    for (const NodeId client : mix_request->clients) {
      if (!agent.Owns(client)) continue;
      if (answered == answered_.end() || !answered->second.contains(client)) ++awaited;
    }
  }
  return awaited;
}

absl::Status ShufflerMachine::CheckLost(const Seated& agent) const {
  const Count awaited = agent.is_lost ? AwaitedOf(agent) : 0;
  if (awaited == 0) return absl::OkStatus();
  return absl::UnavailableError(fmt::format("{} was lost, and {} of its clients had not answered: {}",
                                            agent.name(), awaited, agent.why));
}

// The pool was permuted with fresh coins, so it is stored before it leaves: the snapshot holds it.
void ShufflerMachine::SendToServer(v1::Message message) {
  const Epoch epoch = message.has_mixed() ? message.mixed().epoch() : message.sealed_bits().epoch();
  if (rolls_.erase(epoch) > 0) ++report_.mixes;
  answered_.erase(epoch);
  last_mixed_ = std::max(last_mixed_, epoch);
  v1::FromAgent out;
  *out.mutable_shares()->add_messages() = std::move(message);
  SendProto(kServerName, out);
  SetClosed();
}

void ShufflerMachine::Abort(const absl::Status& why) {
  if (over_) return;
  v1::FromAgent leave;
  leave.mutable_leave()->set_reason(std::string(why.message()));
  SendProto(kServerName, leave);
  End(why);
}

void ShufflerMachine::End(absl::Status result) {
  if (over_) return;
  over_ = true;
  result_ = std::move(result);
  SetClosed();
  v1::ToAgent stop;
  stop.mutable_stop()->set_finished(result_.ok());
  stop.mutable_stop()->set_reason(std::string(result_.message()));
  stop.mutable_stop()->set_over_budget(absl::IsResourceExhausted(result_));
  for (const auto& [last, agent] : roster_) SendProto(agent.link, stop);
}

}  // namespace bandana::service
