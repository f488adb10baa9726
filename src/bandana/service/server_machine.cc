#include "bandana/service/server_machine.h"

#include <map>
#include <tuple>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/service/codec.h"
#include "bandana/service/names.h"
#include "bandana/service/parse_proto.h"
#include "bandana/service/protocol.h"
#include "fmt/format.h"

namespace bandana::service {

struct ServerMachine::Letter : Input {
  v1::FromAgent message;                  // without shares
  std::vector<Message> shares;            // from an agent
  std::vector<MixedInbox::Piece> pieces;  // from the shuffler
};

ServerMachine::ServerMachine(const ServerParams& params, Node& server,
                             std::function<void(std::span<const Pull>)> on_play)
    : params_(params),
      server_(server),
      on_play_(std::move(on_play)),
      world_(
          params.insecure_seed, [this](NodeId, NodeId to, Payload payload) { Queue(to, std::move(payload)); },
          [this](std::span<const Pull> pulls) { Played(pulls); }),
      context_(world_, params.route.TopologyOf(params.clients).LinksOf(kServerNode)),
      roster_(params.clients),
      inbox_(params.route) {}

void ServerMachine::Attach(store::StoreLedger& ledger, const store::Key& secret) {
  world_.Attach(ledger, secret);
  secret_ = &secret;
}

absl::Status ServerMachine::Restore(std::string_view saved) {
  inbox_.Begin(*secret_);
  BANDANA_RETURN_IF_ERROR(RestoreState(saved, *this));
  for (const std::vector<Pull>& pulls : plays_) {
    if (on_play_) Tell([this, pulls] { on_play_(pulls); });
  }
  TellProgress();
  return absl::OkStatus();
}

absl::Status ServerMachine::Admits(const std::string& link) const {
  if (link != kShufflerName) return roster_.Admits(link);
  if (params_.route.shuffled) return absl::OkStatus();
  return absl::FailedPreconditionError("this run has no shuffler: its trust model is not shuffle");
}

absl::StatusOr<std::unique_ptr<Machine::Input>> ServerMachine::Read(const std::string& link,
                                                                    std::string_view body) const {
  auto letter = std::make_unique<Letter>();
  BANDANA_RETURN_IF_ERROR(ParseProto(body, letter->message));
  for (const v1::Message& encoded : letter->message.shares().messages()) {
    if (link == kShufflerName) {
      BANDANA_ASSIGN_OR_RETURN(MixedInbox::Piece piece, inbox_.Read(encoded));
      letter->pieces.push_back(std::move(piece));
    } else {
      BANDANA_ASSIGN_OR_RETURN(Message share, Decode(encoded));
      if (!std::holds_alternative<Share>(share.body)) {
        return absl::InvalidArgumentError("it sent something other than shares");
      }
      letter->shares.push_back(std::move(share));
    }
  }
  if (letter->message.has_shares()) letter->message.mutable_shares()->clear_messages();
  return letter;
}

absl::Status ServerMachine::Begin() {
  inbox_.Begin(*secret_);
  TellProgress();
  return absl::OkStatus();
}

absl::Status ServerMachine::Check(const std::string& link, const Input& input) const {
  const auto& letter = static_cast<const Letter&>(input);
  if (letter.message.has_join()) {
    if (link == kShufflerName) return absl::OkStatus();
    return roster_.Propose(link, letter.message.join().first_client(), letter.message.join().client_count())
        .status();
  }
  const Seated* agent = roster_.Find(link);
  const bool joined = link == kShufflerName ? shuffler_joined_ : agent != nullptr;
  if (!joined) return absl::InvalidArgumentError("it must join first");
  if (letter.message.has_leave()) return absl::OkStatus();
  if (letter.message.has_played()) {
    if (agent != nullptr && started_ && last_rounds_) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "it says that it has played its last round, but the last rounds have not begun");
  }
  if (!letter.message.has_shares()) return absl::InvalidArgumentError("it sent something other than shares");
  if (link == kShufflerName) return absl::OkStatus();
  if (params_.route.shuffled) {
    return absl::PermissionDeniedError("it sent shares directly to the server, past the shuffler");
  }
  if (!started_) return absl::FailedPreconditionError("it sent shares before the run has started");
  for (const Message& share : letter.shares) {
    if (share.from == share.origin && agent->Owns(share.origin)) continue;
    return absl::PermissionDeniedError(
        fmt::format("it sent a share of client {} from node {}, but it may send only for its own clients",
                    share.origin.value, share.from.value));
  }
  return absl::OkStatus();
}

absl::Status ServerMachine::Take(const std::string& link, Input& input) {
  auto& letter = static_cast<Letter&>(input);
  const v1::FromAgent& message = letter.message;
  if (message.has_join()) return Join(link, message.join());
  if (message.has_leave()) {
    if (message.leave().reason() == absl::StatusCodeToString(absl::StatusCode::kResourceExhausted)) {
      return absl::ResourceExhaustedError(
          fmt::format("a budget is spent at {}; its own report says which one", link));
    }
    return Lose(link, link == kShufflerName ? fmt::format("it cannot continue: {}", message.leave().reason())
                                            : fmt::format("it cannot continue ({}); its own report says why",
                                                          message.leave().reason()));
  }
  if (link == kShufflerName) return TakeMixed(std::move(letter.pieces));
  Seated& agent = *roster_.Find(link);
  return message.has_played() ? TakePlayed(agent, message.played()) : TakeShares(agent, letter.shares);
}

absl::Status ServerMachine::Join(const std::string& link, const v1::Join& join) {
  if (link == kShufflerName) {
    shuffler_joined_ = true;
  } else {
    BANDANA_ASSIGN_OR_RETURN(Seated agent, roster_.Propose(link, join.first_client(), join.client_count()));
    roster_.Add(std::move(agent));
    v1::ToAgent welcome;
    welcome.mutable_welcome()->set_sealing_key(inbox_.sealing_key());
    SendProto(link, welcome);
  }
  TellProgress();
  if (started_ || !everyone_is_here()) return absl::OkStatus();
  started_ = true;
  return AfterRoleCall(server_.OnStart(context_));
}

absl::Status ServerMachine::TakeShares(Seated& agent, const std::vector<Message>& shares) {
  for (const Message& message : shares) {
    const Share& share = std::get<Share>(message.body);
    Settle(agent, message.origin, share.epoch, share.report.size());
    BANDANA_RETURN_IF_ERROR(AfterRoleCall(server_.OnMessage(context_, message)));
    if (over_) return absl::OkStatus();
  }
  TellProgress();
  return absl::OkStatus();
}

absl::Status ServerMachine::TakePlayed(Seated& agent, const v1::Played& played) {
  for (const std::uint32_t client : played.clients()) {
    const auto it = agent.awaited.find(NodeId{client});
    if (it == agent.awaited.end() || it->second != played.epoch()) continue;  // a repeat
    agent.awaited.erase(it);
    --awaited_;
  }
  TellProgress();
  return AfterRoleCall(absl::OkStatus());
}

absl::Status ServerMachine::TakeMixed(std::vector<MixedInbox::Piece> pieces) {
  for (MixedInbox::Piece& piece : pieces) {
    absl::StatusOr<std::optional<Mixed>> mixed = inbox_.Take(std::move(piece));
    if (!mixed.ok()) {  // nobody can tell whose fault it is, so all are told
      return absl::UnavailableError(fmt::format("the shuffler sent something invalid in epoch {}: {}", epoch_,
                                                std::string(mixed.status().message())));
    }
    if (!mixed->has_value()) continue;
    SettleMixed((*mixed)->epoch);
    BANDANA_RETURN_IF_ERROR(
        AfterRoleCall(server_.OnMessage(context_, {kShufflerNode, kShufflerNode, 0, 0, *std::move(*mixed)})));
    if (over_) return absl::OkStatus();
  }
  TellProgress();
  return absl::OkStatus();
}

Machine::Absence ServerMachine::JudgeAbsence(const std::string& link) const {
  if (!started_) return Absence::kWait;
  if (link == kShufflerName) return awaited_ > 0 ? Absence::kStop : Absence::kWait;
  const Seated* agent = roster_.Find(link);
  return agent != nullptr && !agent->awaited.empty() ? Absence::kStop : Absence::kWait;
}

absl::Status ServerMachine::Lose(const std::string& link, const std::string& why) {
  if (!started_) {
    if (link == kShufflerName) shuffler_joined_ = false;
    roster_.Remove(link);
    TellProgress();
    return absl::OkStatus();
  }
  if (link == kShufflerName) {
    return absl::UnavailableError(fmt::format("the shuffler was lost in epoch {}: {}", epoch_, why));
  }
  Seated* agent = roster_.Find(link);
  if (agent == nullptr || agent->is_lost) return absl::OkStatus();
  agent->is_lost = true;
  agent->why = why;
  if (agent->awaited.empty()) return absl::OkStatus();  // the run continues until somebody asks its clients
  return absl::UnavailableError(
      fmt::format("{} was lost in epoch {}, and {} of its clients had not answered: {}", agent->name(),
                  epoch_, agent->awaited.size(), why));
}

void ServerMachine::Settle(Seated& agent, NodeId client, Epoch epoch, std::size_t reals) {
  const auto it = agent.awaited.find(client);
  if (it == agent.awaited.end() || it->second != epoch) return;
  agent.awaited.erase(it);
  --awaited_;
  ++shares_;
  reals_ += static_cast<Count>(reals);
  if (params_.on_share) Tell([this, epoch, query = query_] { params_.on_share(epoch, query); });
}

// A mix contains the answers of all clients that were asked.
void ServerMachine::SettleMixed(Epoch epoch) {
  for (auto& [last, agent] : roster_) {
    std::vector<NodeId> clients;
    for (const auto& [client, asked] : agent.awaited) clients.push_back(client);
    for (const NodeId client : clients) Settle(agent, client, epoch, query_.size());
  }
}

absl::Status ServerMachine::AfterRoleCall(const absl::Status& status) {
  BANDANA_RETURN_IF_ERROR(status);
  BANDANA_RETURN_IF_ERROR(Flush());
  if (last_rounds_ && awaited_ > 0) return absl::OkStatus();
  if (server_.finished()) {
    End(absl::OkStatus());
    return absl::OkStatus();
  }
  if (awaited_ > 0) return absl::OkStatus();
  return absl::InternalError("the server has not finished, but it waits for no client");
}

// A plan goes to a million clients, so it is kept once.
void ServerMachine::Queue(NodeId to, Payload payload) {
  const auto plan_of = [](const Payload& of) {
    const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&of);
    return plan == nullptr ? nullptr : plan->get();
  };
  if (outgoing_.empty() || plan_of(payload) == nullptr ||
      plan_of(payload) != plan_of(outgoing_.back().payload)) {
    outgoing_.push_back({{}, std::move(payload)});
  }
  outgoing_.back().to.push_back(to);
}

// Sends one message per agent if many of its clients get the same payload. A phase has closed then.
absl::Status ServerMachine::Flush() {
  if (outgoing_.empty()) return absl::OkStatus();
  SetClosed();
  BANDANA_RETURN_IF_ERROR(FlushModels());
  std::map<std::tuple<std::string, const Plan*, int>, std::size_t> open;
  std::vector<std::pair<std::string, v1::ToAgent>> messages;
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
    for (const NodeId client : outgoing.to) {
      BANDANA_ASSIGN_OR_RETURN(Seated * agent, Ask(client));
      const auto [place, is_new] = open.try_emplace({agent->link, plan.get(), part}, messages.size());
      if (is_new) {
        v1::ToAgent& message = messages.emplace_back(agent->link, v1::ToAgent()).second;
        Encode({kServerNode, kServerNode, 0, next_seq_++, outgoing.payload},
               *message.mutable_delivery()->mutable_message());
      }
      v1::Delivery& delivery = *messages[place->second].second.mutable_delivery();
      delivery.add_to(client.value);
      if (delivery.to_size() == kDeliveryClients) open.erase(place);
    }
  }
  for (const auto& [link, message] : messages) SendProto(link, message);
  outgoing_.clear();
  return absl::OkStatus();
}

// Returns the agent of a client of whom something is asked in this epoch. Fails if it is lost.
absl::StatusOr<Seated*> ServerMachine::Ask(NodeId client) {
  Seated* agent = roster_.Find(client);
  if (agent == nullptr) return absl::InternalError(fmt::format("client {} does not exist", client.value));
  if (agent->is_lost) {
    return absl::UnavailableError(
        fmt::format("{} is needed in epoch {}, but it was lost: {}", agent->name(), epoch_, agent->why));
  }
  if (agent->awaited.insert_or_assign(client, epoch_).second) ++awaited_;
  return agent;
}

absl::Status ServerMachine::FlushModels() {
  std::map<std::tuple<std::string, Epoch, Count, bool, const void*>, std::size_t> open;
  std::vector<std::pair<std::string, v1::ToAgent>> messages;
  for (const Outgoing& outgoing : outgoing_) {
    const auto* model = std::get_if<Model>(&outgoing.payload);
    if (model == nullptr) continue;
    if (params_.route.shuffled) {
      return absl::UnimplementedError(
          "the service cannot run agents that play round by round with a shuffler; only the simulator can");
    }
    epoch_ = model->epoch;
    last_rounds_ = !model->answers;
    BANDANA_ASSIGN_OR_RETURN(Seated * agent, Ask(outgoing.to.front()));
    const auto [place, is_new] = open.try_emplace(
        {agent->link, model->epoch, model->until, model->answers, model->sums.get()}, messages.size());
    if (is_new) {
      v1::ToAgent& message = messages.emplace_back(agent->link, v1::ToAgent()).second;
      Encode({kServerNode, kServerNode, 0, next_seq_++, outgoing.payload},
             *message.mutable_delivery()->mutable_message());
    }
    messages[place->second].second.mutable_delivery()->add_to(outgoing.to.front().value);
  }
  for (const auto& [link, message] : messages) SendProto(link, message);
  std::erase_if(outgoing_,
                [](const Outgoing& outgoing) { return std::holds_alternative<Model>(outgoing.payload); });
  return absl::OkStatus();
}

absl::Status ServerMachine::FlushMixRequest(const std::shared_ptr<const MixRequest>& mix_request) {
  if (!shuffler_joined_) {
    return absl::InternalError("the server sent a mix request, but there is no shuffler");
  }
  BANDANA_RETURN_IF_ERROR(inbox_.Expect(mix_request));
  v1::ToAgent message;
  message.mutable_delivery()->add_to(kShufflerNode.value);
  Encode({kServerNode, kServerNode, 0, next_seq_++, mix_request},
         *message.mutable_delivery()->mutable_message());
  SendProto(kShufflerName, message);
  return absl::OkStatus();
}

void ServerMachine::Abort(const absl::Status& why) { End(why); }

void ServerMachine::End(absl::Status result) {
  if (over_) return;
  over_ = true;
  result_ = std::move(result);
  outgoing_.clear();
  SetClosed();
  v1::ToAgent message;
  message.mutable_stop()->set_finished(result_.ok());
  message.mutable_stop()->set_reason(std::string(result_.message()));
  message.mutable_stop()->set_over_budget(absl::IsResourceExhausted(result_));
  for (const auto& [last, agent] : roster_) SendProto(agent.link, message);
  if (shuffler_joined_) SendProto(kShufflerName, message);
  TellProgress();
}

absl::Status ServerMachine::Missing() const {
  if (started_ || over_) return absl::OkStatus();
  std::string missing = roster_.complete() ? "" : fmt::format("clients {} have no agent", roster_.Gaps());
  if (params_.route.shuffled && !shuffler_joined_) {
    missing += missing.empty() ? "there is no shuffler" : " and there is no shuffler";
  }
  return absl::UnavailableError(
      fmt::format("{} after {}", missing, absl::FormatDuration(params_.join_timeout)));
}

std::string ServerMachine::Awaits() const {
  if (!started_ || over_ || awaited_ == 0) return "";
  return fmt::format("{} clients have not answered in epoch {}", awaited_, epoch_);
}

void ServerMachine::Played(std::span<const Pull> pulls) {
  plays_.emplace_back(pulls.begin(), pulls.end());
  if (on_play_) Tell([this, played = plays_.back()] { on_play_(played); });
}

void ServerMachine::TellProgress() {
  if (!params_.on_progress) return;
  Tell([this, progress = ServerProgress{.agents = roster_.agents(),
                                        .clients_joined = roster_.covered(),
                                        .shuffler_joined = shuffler_joined_,
                                        .epoch = epoch_,
                                        .awaited = awaited_,
                                        .shares = shares_}] { params_.on_progress(progress); });
}

ServerReport ServerMachine::report() const { return {.shares = shares_, .reals = reals_}; }

}  // namespace bandana::service
