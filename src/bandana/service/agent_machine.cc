#include "bandana/service/agent_machine.h"

#include <algorithm>

#include "bandana/core/status.h"
#include "bandana/service/codec.h"
#include "bandana/service/names.h"
#include "bandana/service/parse_proto.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr int kClientsAStep = 8;  // so that a step takes milliseconds

// Returns OK if the run has finished.
absl::Status EndedBy(const std::string& host, const v1::Stop& stop) {
  if (stop.finished()) return absl::OkStatus();
  const std::string why = fmt::format("the {} ended the run: {}", host, stop.reason());
  return stop.over_budget() ? absl::ResourceExhaustedError(why) : absl::UnavailableError(why);
}

}  // namespace

struct AgentMachine::Letter : Input {
  v1::ToAgent message;
};

AgentMachine::AgentMachine(const AgentParams& params)
    : params_(params), world_(params.insecure_seed, [this](NodeId from, NodeId to, Payload payload) {
        if (sent_.ok()) sent_ = TakeSent(from, to, std::move(payload));
      }) {}

absl::Status AgentMachine::Admits(const std::string& link) const {
  return absl::PermissionDeniedError(fmt::format("an agent does not talk to {}", link));
}

absl::StatusOr<std::unique_ptr<Machine::Input>> AgentMachine::Read(const std::string&,
                                                                   std::string_view body) const {
  auto letter = std::make_unique<Letter>();
  BANDANA_RETURN_IF_ERROR(ParseProto(body, letter->message));
  return letter;
}

absl::Status AgentMachine::Begin() {
  v1::FromAgent join;
  join.mutable_join()->set_first_client(params_.first_client.value);
  join.mutable_join()->set_client_count(static_cast<std::uint64_t>(params_.clients));
  SendProto(kServerName, join);
  if (params_.route.shuffled) SendProto(kShufflerName, join);
  return absl::OkStatus();
}

absl::Status AgentMachine::Take(const std::string& link, Input& input) {
  v1::ToAgent& message = static_cast<Letter&>(input).message;
  if (message.has_stop()) {
    over_ = true;
    result_ = EndedBy(link, message.stop());
    SetClosed();
    return absl::OkStatus();
  }
  if (link != kServerName) {
    return absl::InvalidArgumentError(fmt::format("the {} sent something that only a server may send", link));
  }
  if (message.has_welcome()) return TakeWelcome(message.welcome());
  if (!message.has_delivery()) return absl::InvalidArgumentError("the server sent an empty message");
  deliveries_.push_back(message.delivery().SerializeAsString());
  return deliveries_.size() == 1 ? Open() : absl::OkStatus();
}

// Begins with the first delivery. What the clients have answered before is over then.
absl::Status AgentMachine::Open() {
  next_ = 0;
  message_.reset();
  if (deliveries_.empty()) return absl::OkStatus();
  SetClosed();
  return ParseProto(deliveries_.front(), current_);
}

absl::StatusOr<bool> AgentMachine::Work() {
  if (over_ || deliveries_.empty()) return false;
  if (!message_) {
    BANDANA_ASSIGN_OR_RETURN(Message message, Decode(current_.message()));
    if (message.from != kServerNode) {
      return absl::InvalidArgumentError("the server sent a message that is not its own");
    }
    BANDANA_RETURN_IF_ERROR(TakeMessage(message));
    message_ = std::move(message);
  }
  const auto clients = static_cast<std::uint64_t>(current_.to_size());
  for (int done = 0; done < kClientsAStep && next_ < clients; ++done) {
    const NodeId client{current_.to(static_cast<int>(next_))};
    if (client < params_.first_client ||
        Count{client.value} - params_.first_client.value >= params_.clients) {
      return absl::InvalidArgumentError(
          fmt::format("the server asked client {}, but this agent does not hold that client", client.value));
    }
    BANDANA_ASSIGN_OR_RETURN(const bool more, WorkFor(client, *message_));
    BANDANA_RETURN_IF_ERROR(sent_);
    if (more) return true;
    ++next_;
  }
  if (next_ < clients) return true;
  BANDANA_RETURN_IF_ERROR(SendGathered());
  deliveries_.erase(deliveries_.begin());
  BANDANA_RETURN_IF_ERROR(Open());
  return !deliveries_.empty();
}

absl::Status AgentMachine::Lose(const std::string& link, const std::string& why) {
  return absl::UnavailableError(fmt::format("the {} was lost: {}", link, why));
}

// The server is told only the code, because an environment's error may hold a client's data.
void AgentMachine::Abort(const absl::Status& why) {
  if (over_) return;
  over_ = true;
  result_ = why;
  SetClosed();
  v1::FromAgent leave;
  leave.mutable_leave()->set_reason(std::string(absl::StatusCodeToString(why.code())));
  SendProto(kServerName, leave);
  if (params_.route.shuffled) SendProto(kShufflerName, leave);
}

}  // namespace bandana::service
