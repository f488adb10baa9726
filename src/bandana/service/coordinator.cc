#include "bandana/service/coordinator.h"

#include <algorithm>
#include <map>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/federation/topology.h"
#include "bandana/service/codec.h"
#include "bandana/service/protocol.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

// A year stands for ever, and does not overflow when it is added to now.
std::chrono::nanoseconds ToChrono(absl::Duration duration) {
  return absl::ToChronoNanoseconds(std::min(duration, absl::Hours(24 * 365)));
}

// Only a client's own agent speaks for it.
absl::Status CheckShare(const AgentLink& link, const Message& message) {
  if (!std::holds_alternative<Share>(message.body)) {
    return absl::InvalidArgumentError(link.name() + " sent something other than shares");
  }
  if (message.from != message.origin || !link.Owns(message.origin)) {
    return absl::PermissionDeniedError(
        fmt::format("{} sent a share of client {} from {}, which are not its own", link.name(),
                    message.origin.value, message.from.value));
  }
  return absl::OkStatus();
}

}  // namespace

Coordinator::Coordinator(const ServerParams& params, Node& server,
                         std::function<void(std::span<const Pull>)> on_play)
    : params_(params),
      server_(server),
      world_{.insecure_seed = params.insecure_seed,
             .releases = Releases(params.budget_per_client, params.ledger),
             .send = [this](NodeId, NodeId to,
                            Payload payload) { outgoing_.push_back({to, std::move(payload)}); },
             .play = std::move(on_play)},
      context_(world_, Topology::Star(params.clients).LinksOf(kServerNode)),
      roster_(params.clients) {}

absl::StatusOr<ServerReport> Coordinator::Run() {
  std::unique_lock lock(mutex_);
  WaitForAgents(lock);
  if (state_ == State::kJoining) {
    Start();
    WaitForEnd(lock);
  }
  SendStops();
  if (!result_.ok()) return result_;
  report_.spent = world_.releases.spent();
  report_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return report_;
}

void Coordinator::WaitForAgents(std::unique_lock<std::mutex>& lock) {
  const auto deadline = Clock::now() + ToChrono(params_.join_timeout);
  if (changed_.wait_until(lock, params_.stop, deadline, [&] { return roster_.complete(); })) return;
  EndRun(params_.stop.stop_requested()
             ? Stopped()
             : absl::UnavailableError(fmt::format("clients {} have no agent after {}", roster_.Gaps(),
                                                  absl::FormatDuration(params_.join_timeout))));
}

void Coordinator::Start() {
  state_ = State::kRunning;
  started_ = last_answer_ = Clock::now();
  AfterRoleCall(server_.OnStart(context_));
  ShowProgress();
}

void Coordinator::WaitForEnd(std::unique_lock<std::mutex>& lock) {
  const auto over = [&] { return state_ == State::kOver; };
  while (!over()) {
    const auto deadline = last_answer_ + ToChrono(params_.answer_timeout);
    if (changed_.wait_until(lock, params_.stop, deadline, over)) return;
    if (params_.stop.stop_requested()) {
      EndRun(Stopped());
    } else if (Clock::now() >= last_answer_ + ToChrono(params_.answer_timeout)) {
      EndRun(absl::UnavailableError(fmt::format("no answer for {} in epoch {}: {} clients are awaited",
                                                absl::FormatDuration(params_.answer_timeout), epoch_,
                                                awaited_)));
    }
  }
}

absl::StatusOr<std::shared_ptr<AgentLink>> Coordinator::Admit(const v1::FromAgent& first,
                                                              const std::string& peer) {
  if (!first.has_hello()) return absl::InvalidArgumentError("an agent must say hello first");
  const v1::Hello& hello = first.hello();
  if (hello.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        fmt::format("this agent speaks version {} of the protocol, the server {}", hello.protocol_version(),
                    kProtocolVersion));
  }
  if (hello.spec_digest() != params_.spec_digest) {
    return absl::FailedPreconditionError(
        fmt::format("this agent's spec has the digest '{}', the server's '{}': both must run the same spec",
                    hello.spec_digest(), params_.spec_digest));
  }
  const std::uint64_t most = 0xffffffff - std::uint64_t{hello.first_client()};
  if (hello.client_count() < 1 || hello.client_count() > most) {
    return absl::InvalidArgumentError(
        fmt::format("an agent of {} clients from client {}", hello.client_count(), hello.first_client()));
  }
  const auto last = static_cast<std::uint32_t>(hello.first_client() + hello.client_count() - 1);
  auto link = std::make_shared<AgentLink>();
  link->first = NodeId{hello.first_client()};
  link->last = NodeId{last};
  link->peer = peer;

  const std::lock_guard lock(mutex_);
  report_.bytes_in += first.ByteSizeLong();
  if (state_ == State::kRunning) return absl::FailedPreconditionError("the run has started already");
  if (state_ == State::kOver) return absl::FailedPreconditionError("the run is over");
  BANDANA_RETURN_IF_ERROR(roster_.Add(link));
  v1::ToAgent welcome;
  welcome.mutable_welcome()->set_protocol_version(kProtocolVersion);
  Push(*link, std::move(welcome));
  ShowProgress();
  changed_.notify_all();
  return link;
}

absl::Status Coordinator::Take(AgentLink& link, const v1::FromAgent& message) {
  if (message.has_leave())
    return absl::AbortedError(
        fmt::format("it cannot go on ({}); its own report says why", message.leave().reason()));
  if (!message.has_shares())
    return absl::InvalidArgumentError(link.name() + " sent something other than shares");
  std::vector<Message> shares;
  shares.reserve(static_cast<std::size_t>(message.shares().messages_size()));
  for (const v1::Message& encoded : message.shares().messages()) {
    BANDANA_ASSIGN_OR_RETURN(Message share, Decode(encoded));
    BANDANA_RETURN_IF_ERROR(CheckShare(link, share));
    shares.push_back(std::move(share));
  }
  const std::lock_guard lock(mutex_);
  if (state_ == State::kJoining) {
    return absl::FailedPreconditionError(link.name() + " sent shares before the run has started");
  }
  report_.bytes_in += message.ByteSizeLong();
  if (params_.stop.stop_requested()) EndRun(Stopped());  // before the role gets any further
  for (const Message& share : shares) {
    if (state_ == State::kOver) return absl::OkStatus();
    Deliver(link, share);
  }
  ShowProgress();
  return absl::OkStatus();
}

void Coordinator::Lose(AgentLink& link, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kOver) return;
  link.outbox.Discard();
  if (state_ == State::kJoining) {
    roster_.Remove(link);
    ShowProgress();
    return;
  }
  link.lost = why;
  if (link.awaited.empty()) return;  // the run goes on for as long as nobody asks for its clients
  EndRun(absl::UnavailableError(fmt::format("{} was lost in epoch {} with {} clients awaited: {}",
                                            link.name(), epoch_, link.awaited.size(), why)));
}

void Coordinator::Deliver(AgentLink& link, const Message& message) {
  Settle(link, message);
  AfterRoleCall(server_.OnMessage(context_, message));
}

void Coordinator::Settle(AgentLink& link, const Message& message) {
  const Share& share = std::get<Share>(message.body);
  const auto it = link.awaited.find(message.origin);
  if (it == link.awaited.end() || it->second != share.epoch) return;
  link.awaited.erase(it);
  --awaited_;
  ++report_.shares;
  report_.reals += static_cast<Count>(share.report.size());
  last_answer_ = Clock::now();
  if (params_.on_share) params_.on_share(share.epoch, share.report.size());
}

void Coordinator::AfterRoleCall(const absl::Status& status) {
  if (!status.ok()) return EndRun(status);
  if (absl::Status sent = Flush(); !sent.ok()) return EndRun(std::move(sent));
  if (server_.finished()) return EndRun(absl::OkStatus());
  if (awaited_ == 0) EndRun(absl::InternalError("the server has not finished and waits for nobody"));
}

// One payload for many clients of an agent is one message on the wire.
absl::Status Coordinator::Flush() {
  std::map<std::pair<AgentLink*, const Plan*>, v1::ToAgent> open;
  for (const Outgoing& outgoing : outgoing_) {
    const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&outgoing.payload);
    if (plan == nullptr) return absl::InternalError("a server can send plans alone");
    AgentLink* link = roster_.Find(outgoing.to);
    if (link == nullptr) return absl::InternalError(fmt::format("there is no client {}", outgoing.to.value));
    epoch_ = (*plan)->epoch;
    if (link->lost.has_value()) {
      return absl::UnavailableError(
          fmt::format("{} is wanted in epoch {} but was lost: {}", link->name(), epoch_, *link->lost));
    }
    if (link->awaited.insert_or_assign(outgoing.to, epoch_).second) ++awaited_;
    v1::ToAgent& message = open[{link, plan->get()}];
    v1::Delivery& delivery = *message.mutable_delivery();
    if (!delivery.has_message()) {
      Encode({kServerNode, kServerNode, 0, next_seq_++, *plan}, *delivery.mutable_message());
    }
    delivery.add_to(outgoing.to.value);
    if (delivery.to_size() == kDeliveryClients) {
      Push(*link, std::move(message));
      open.erase({link, plan->get()});
    }
  }
  for (auto& [key, message] : open) Push(*key.first, std::move(message));
  outgoing_.clear();
  return absl::OkStatus();
}

void Coordinator::Push(AgentLink& link, v1::ToAgent message) {
  report_.bytes_out += message.ByteSizeLong();
  link.outbox.Push(std::move(message));
}

void Coordinator::EndRun(absl::Status result) {
  if (state_ == State::kOver) return;
  state_ = State::kOver;
  result_ = std::move(result);
  changed_.notify_all();
}

absl::Status Coordinator::Stopped() const {
  if (state_ == State::kJoining) {
    return absl::CancelledError("the server was stopped while it waited for agents");
  }
  return absl::CancelledError(fmt::format("the server was stopped in epoch {}", epoch_));
}

void Coordinator::SendStops() {
  for (const auto& [last, link] : roster_) {
    v1::ToAgent stop;
    stop.mutable_stop()->set_finished(result_.ok());
    stop.mutable_stop()->set_reason(std::string(result_.message()));
    Push(*link, std::move(stop));
    link->outbox.Close();
  }
}

void Coordinator::ShowProgress() const {
  if (!params_.on_progress) return;
  params_.on_progress({.agents = roster_.agents(),
                       .clients_joined = roster_.covered(),
                       .epoch = epoch_,
                       .awaited = awaited_,
                       .shares = report_.shares});
}

}  // namespace bandana::service
