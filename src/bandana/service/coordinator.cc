#include "bandana/service/coordinator.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/federation/topology.h"
#include "bandana/service/codec.h"
#include "bandana/service/protocol.h"
#include "bandana/service/to_chrono.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

// A year stands for an infinite duration. It does not overflow when it is added to the current time.
// Checks that only a client's own agent sends for it.
absl::Status CheckShare(const AgentLink& link, const Message& message) {
  if (!std::holds_alternative<Share>(message.body)) {
    return absl::InvalidArgumentError(link.name() + " sent something other than shares");
  }
  if (message.from != message.origin || !link.Owns(message.origin)) {
    return absl::PermissionDeniedError(
        fmt::format("{} sent a share of client {} from node {}, but it may send only for its own clients",
                    link.name(), message.origin.value, message.from.value));
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
      context_(world_, params.route.TopologyOf(params.clients).LinksOf(kServerNode)),
      roster_(params.clients),
      inbox_(params.route) {}

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

bool Coordinator::everyone_is_here() const {
  return roster_.complete() && (shuffler_ != nullptr || !params_.route.shuffled);
}

void Coordinator::WaitForAgents(std::unique_lock<std::mutex>& lock) {
  const auto deadline = Clock::now() + ToChrono(params_.join_timeout);
  if (changed_.wait_until(lock, params_.stop, deadline, [&] { return everyone_is_here(); })) return;
  if (params_.stop.stop_requested()) return EndRun(Stopped());
  std::string missing = roster_.complete() ? "" : fmt::format("clients {} have no agent", roster_.Gaps());
  if (params_.route.shuffled && shuffler_ == nullptr) {
    missing += missing.empty() ? "there is no shuffler" : " and there is no shuffler";
  }
  EndRun(absl::UnavailableError(
      fmt::format("{} after {}", missing, absl::FormatDuration(params_.join_timeout))));
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
      EndRun(absl::UnavailableError(
          fmt::format("there was no answer for {} in epoch {}: {} clients have not answered",
                      absl::FormatDuration(params_.answer_timeout), epoch_, awaited_)));
    }
  }
}

absl::StatusOr<std::shared_ptr<AgentLink>> Coordinator::Admit(const v1::FromAgent& first,
                                                              const std::string& peer) {
  BANDANA_RETURN_IF_ERROR(CheckHello(first, params_.spec_digest, "server"));
  std::shared_ptr<AgentLink> link;
  if (first.hello().role() == v1::ROLE_SHUFFLER) {
    link = std::make_shared<AgentLink>();
    link->first = link->last = kShufflerNode;
    link->peer = peer;
  } else {
    BANDANA_ASSIGN_OR_RETURN(link, LinkOfAgent(first.hello(), peer));
  }
  const std::lock_guard lock(mutex_);
  report_.bytes_in += first.ByteSizeLong();
  BANDANA_RETURN_IF_ERROR(AdmitLink(link));
  v1::ToAgent welcome;
  welcome.mutable_welcome()->set_protocol_version(kProtocolVersion);
  if (!link->is_shuffler()) welcome.mutable_welcome()->set_sealing_key(inbox_.sealing_key());
  Push(*link, std::move(welcome));
  ShowProgress();
  changed_.notify_all();
  return link;
}

absl::Status Coordinator::AdmitLink(const std::shared_ptr<AgentLink>& link) {
  if (state_ == State::kRunning) return absl::FailedPreconditionError("the run has started already");
  if (state_ == State::kOver) return absl::FailedPreconditionError("the run is over");
  if (!link->is_shuffler()) return roster_.Add(link);
  if (!params_.route.shuffled) {
    return absl::FailedPreconditionError("this run has no shuffler: its trust model is not shuffle");
  }
  if (shuffler_ != nullptr) {
    return absl::AlreadyExistsError(fmt::format("there is a shuffler already ({})", shuffler_->peer));
  }
  shuffler_ = link;
  return absl::OkStatus();
}

absl::Status Coordinator::Take(AgentLink& link, v1::FromAgent& message) {
  if (message.has_leave()) {
    if (message.leave().reason() == absl::StatusCodeToString(absl::StatusCode::kResourceExhausted)) {
      const std::lock_guard lock(mutex_);
      EndRun(absl::ResourceExhaustedError(
          fmt::format("a budget is spent at {}; its own report says which one", link.name())));
    }
    return absl::AbortedError(
        link.is_shuffler()
            ? fmt::format("it cannot continue: {}", message.leave().reason())
            : fmt::format("it cannot continue ({}); its own report says why", message.leave().reason()));
  }
  if (message.has_played()) return TakePlayed(link, message);
  if (!message.has_shares())
    return absl::InvalidArgumentError(link.name() + " sent something other than shares");
  return link.is_shuffler() ? TakeMixed(message) : TakeShares(link, message);
}

absl::Status Coordinator::TakeShares(AgentLink& link, const v1::FromAgent& message) {
  if (params_.route.shuffled) {
    return absl::PermissionDeniedError(link.name() +
                                       " sent shares directly to the server, past the shuffler");
  }
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
  if (params_.stop.stop_requested()) EndRun(Stopped());  // before the role continues
  for (const Message& share : shares) {
    if (state_ == State::kOver) return absl::OkStatus();
    Deliver(link, share);
  }
  ShowProgress();
  return absl::OkStatus();
}

absl::Status Coordinator::TakePlayed(AgentLink& link, const v1::FromAgent& message) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kOver) return absl::OkStatus();
  if (state_ == State::kJoining || !last_rounds_) {
    return absl::FailedPreconditionError(
        link.name() + " says that it has played its last round, but the last rounds have not begun");
  }
  report_.bytes_in += message.ByteSizeLong();
  for (const std::uint32_t client : message.played().clients()) {
    const auto it = link.awaited.find(NodeId{client});
    if (it == link.awaited.end() || it->second != message.played().epoch()) continue;  // a repeat
    link.awaited.erase(it);
    --awaited_;
  }
  last_answer_ = Clock::now();
  AfterRoleCall(absl::OkStatus());
  ShowProgress();
  return absl::OkStatus();
}

absl::Status Coordinator::TakeMixed(const v1::FromAgent& message) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::kOver) return absl::OkStatus();
    report_.bytes_in += message.ByteSizeLong();
  }
  for (const v1::Message& encoded : message.shares().messages()) {
    absl::StatusOr<std::optional<Mixed>> mixed = inbox_.Take(encoded);
    const std::lock_guard lock(mutex_);
    if (!mixed.ok() && state_ == State::kJoining) return mixed.status();
    if (!mixed.ok()) {  // nobody can tell whose fault it is, so all are told
      EndRun(
          absl::UnavailableError(fmt::format("{} sent something invalid in epoch {}: {}", shuffler_->name(),
                                             epoch_, std::string(mixed.status().message()))));
    }
    last_answer_ = Clock::now();
    if (params_.stop.stop_requested()) EndRun(Stopped());
    if (state_ == State::kOver) return absl::OkStatus();
    if (!mixed->has_value()) continue;
    SettleMixed((*mixed)->epoch);
    AfterRoleCall(server_.OnMessage(
        context_, {kShufflerNode, kShufflerNode, encoded.slot(), encoded.seq(), *std::move(*mixed)}));
    ShowProgress();
  }
  return absl::OkStatus();
}

void Coordinator::Lose(AgentLink& link, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kOver) return;
  link.outbox.Discard();
  if (state_ == State::kJoining) {
    if (link.is_shuffler()) {
      shuffler_ = nullptr;
    } else {
      roster_.Remove(link);
    }
    ShowProgress();
    return;
  }
  link.lost = why;
  if (link.is_shuffler()) {
    return EndRun(
        absl::UnavailableError(fmt::format("{} was lost in epoch {}: {}", link.name(), epoch_, why)));
  }
  if (link.awaited.empty()) return;  // the run continues until somebody asks for its clients
  EndRun(absl::UnavailableError(
      fmt::format("{} was lost in epoch {}, and {} of its clients had not answered: {}", link.name(), epoch_,
                  link.awaited.size(), why)));
}

void Coordinator::Deliver(AgentLink& link, const Message& message) {
  const Share& share = std::get<Share>(message.body);
  Settle(link, message.origin, share.epoch, share.report.size());
  AfterRoleCall(server_.OnMessage(context_, message));
}

void Coordinator::Settle(AgentLink& link, NodeId client, Epoch epoch, std::size_t reals) {
  const auto it = link.awaited.find(client);
  if (it == link.awaited.end() || it->second != epoch) return;
  link.awaited.erase(it);
  --awaited_;
  ++report_.shares;
  report_.reals += static_cast<Count>(reals);
  last_answer_ = Clock::now();
  if (params_.on_share) params_.on_share(epoch, query_);
}

// A mix contains the answers of all clients that were asked.
void Coordinator::SettleMixed(Epoch epoch) {
  for (const auto& [last, link] : roster_) {
    std::vector<NodeId> clients;
    for (const auto& [client, asked] : link->awaited) clients.push_back(client);
    for (const NodeId client : clients) Settle(*link, client, epoch, query_.size());
  }
}

void Coordinator::AfterRoleCall(const absl::Status& status) {
  if (!status.ok()) return EndRun(status);
  if (absl::Status sent = Flush(); !sent.ok()) return EndRun(std::move(sent));
  if (last_rounds_ && awaited_ > 0) return;
  if (server_.finished()) return EndRun(absl::OkStatus());
  if (awaited_ == 0) EndRun(absl::InternalError("the server has not finished, but it waits for no client"));
}

// Sends one message per agent if many of its clients get the same payload.
absl::Status Coordinator::Flush() {
  BANDANA_RETURN_IF_ERROR(FlushModels());
  std::map<std::tuple<AgentLink*, const Plan*, int>, v1::ToAgent> open;
  for (const Outgoing& outgoing : outgoing_) {
    if (const auto* mix_request = std::get_if<std::shared_ptr<const MixRequest>>(&outgoing.payload)) {
      BANDANA_RETURN_IF_ERROR(FlushMixRequest(*mix_request));
      continue;
    }
    if (std::holds_alternative<Deal>(outgoing.payload)) {
      return absl::UnimplementedError(
          "the service cannot run rounds that a shuffler deals out; only the simulator can. Use "
          "a central or local trust model, or an algorithm that asks each client for a whole phase");
    }
    const auto* task = std::get_if<Task>(&outgoing.payload);
    const auto* whole = std::get_if<std::shared_ptr<const Plan>>(&outgoing.payload);
    if (task == nullptr && whole == nullptr) {
      return absl::InternalError("a server can send only plans, tasks, models and mix requests");
    }
    const std::shared_ptr<const Plan>& plan = task == nullptr ? *whole : task->plan;
    const int part = task == nullptr ? Report::kWhole : task->part;
    if (epoch_ != plan->epoch) {
      epoch_ = plan->epoch;
      query_ = plan->query;
    }
    BANDANA_ASSIGN_OR_RETURN(AgentLink * link, LinkTo(outgoing.to));
    if (link->awaited.insert_or_assign(outgoing.to, epoch_).second) ++awaited_;
    v1::ToAgent& message = open[{link, plan.get(), part}];
    v1::Delivery& delivery = *message.mutable_delivery();
    if (!delivery.has_message()) {
      Encode({kServerNode, kServerNode, 0, next_seq_++, outgoing.payload}, *delivery.mutable_message());
    }
    delivery.add_to(outgoing.to.value);
    if (delivery.to_size() == kDeliveryClients) {
      Push(*link, std::move(message));
      open.erase({link, plan.get(), part});
    }
  }
  for (auto& [key, message] : open) Push(*std::get<AgentLink*>(key), std::move(message));
  outgoing_.clear();
  return absl::OkStatus();
}

// Returns the agent that serves the client. Fails if it is lost.
absl::StatusOr<AgentLink*> Coordinator::LinkTo(NodeId client) {
  AgentLink* link = roster_.Find(client);
  if (link == nullptr) return absl::InternalError(fmt::format("client {} does not exist", client.value));
  if (link->lost.has_value()) {
    return absl::UnavailableError(
        fmt::format("{} is needed in epoch {}, but it was lost: {}", link->name(), epoch_, *link->lost));
  }
  return link;
}

absl::Status Coordinator::FlushModels() {
  std::map<std::tuple<AgentLink*, Epoch, Count, bool, const void*>, v1::ToAgent> open;
  for (const Outgoing& outgoing : outgoing_) {
    const auto* model = std::get_if<Model>(&outgoing.payload);
    if (model == nullptr) continue;
    if (params_.route.shuffled) {
      return absl::UnimplementedError(
          "the service cannot run agents that play round by round with a shuffler; only the simulator can");
    }
    epoch_ = model->epoch;
    last_rounds_ = !model->answers;
    BANDANA_ASSIGN_OR_RETURN(AgentLink * link, LinkTo(outgoing.to));
    if (link->awaited.insert_or_assign(outgoing.to, epoch_).second) ++awaited_;
    v1::Delivery& delivery =
        *open[{link, model->epoch, model->until, model->answers, model->sums.get()}].mutable_delivery();
    if (!delivery.has_message()) {
      Encode({kServerNode, kServerNode, 0, next_seq_++, outgoing.payload}, *delivery.mutable_message());
    }
    delivery.add_to(outgoing.to.value);
  }
  for (auto& [key, message] : open) Push(*std::get<AgentLink*>(key), std::move(message));
  std::erase_if(outgoing_,
                [](const Outgoing& outgoing) { return std::holds_alternative<Model>(outgoing.payload); });
  return absl::OkStatus();
}

absl::Status Coordinator::FlushMixRequest(const std::shared_ptr<const MixRequest>& mix_request) {
  if (shuffler_ == nullptr)
    return absl::InternalError("the server sent a mix request, but there is no shuffler");
  BANDANA_RETURN_IF_ERROR(inbox_.Expect(mix_request));
  v1::ToAgent message;
  message.mutable_delivery()->add_to(kShufflerNode.value);
  Encode({kServerNode, kServerNode, 0, next_seq_++, mix_request},
         *message.mutable_delivery()->mutable_message());
  Push(*shuffler_, std::move(message));
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
  const auto stop = [&](AgentLink& link) {
    v1::ToAgent message;
    message.mutable_stop()->set_finished(result_.ok());
    message.mutable_stop()->set_reason(std::string(result_.message()));
    message.mutable_stop()->set_over_budget(absl::IsResourceExhausted(result_));
    Push(link, std::move(message));
    link.outbox.Close();
  };
  for (const auto& [last, link] : roster_) stop(*link);
  if (shuffler_ != nullptr) stop(*shuffler_);
}

void Coordinator::ShowProgress() const {
  if (!params_.on_progress) return;
  params_.on_progress({.agents = roster_.agents(),
                       .clients_joined = roster_.covered(),
                       .shuffler_joined = shuffler_ != nullptr,
                       .epoch = epoch_,
                       .awaited = awaited_,
                       .shares = report_.shares});
}

}  // namespace bandana::service
