#include "bandana/service/agent.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/federation/release.h"
#include "bandana/federation/topology.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/agent_session.h"
#include "bandana/service/codec.h"
#include "bandana/service/protocol.h"
#include "bandana/service/role_context.h"
#include "bandana/service/sealed_counts.h"
#include "bandana/service/uplink.h"
#include "fmt/format.h"
#include "proto/federation.pb.h"

namespace bandana::service {
namespace {

using MakePlayer = std::function<std::unique_ptr<Player>(NodeId)>;

// Reads the shuffler's stream, which carries nothing until the run is over. If the stream ends before, this
// agent leaves the server: at once if the shuffler refused the agent, else after a moment in which the server
// may give the reason itself.
class ShufflerWatch {
 public:
  ShufflerWatch(Uplink& shuffler, Uplink& server)
      : shuffler_(shuffler), server_(server), thread_([this] { Run(); }) {}

  ~ShufflerWatch() { End(absl::OkStatus()); }

  /// Ends the watch when the agent's own part is over. With an error, it also leaves the shuffler.
  void End(const absl::Status& status) {
    if (!thread_.joinable()) return;
    std::unique_lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
    if (!status.ok()) shuffler_.HalfClose();
    constexpr auto kGrace = std::chrono::seconds(5);  // for the shuffler's own Stop
    if (!changed_.wait_for(lock, kGrace, [&] { return done_; })) shuffler_.Cancel();
    lock.unlock();
    thread_.join();
  }

  /// Returns why the shuffler's stream ended, if it ended first.
  absl::Status failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  void Run() {
    v1::ToAgent message;
    absl::Status end;
    bool stopped = false;
    while (!stopped && shuffler_.Read(message)) stopped = message.has_stop();
    if (stopped) end = EndedBy("shuffler", message.stop());
    const absl::Status closed = shuffler_.Close();
    if (!stopped) end = closed;
    std::unique_lock lock(mutex_);
    const auto grace = std::chrono::seconds(absl::IsUnavailable(end) ? 2 : 0);
    if (!end.ok() && !changed_.wait_for(lock, grace, [&] { return over_; })) {
      failure_ = end;
      server_.Leave(std::string(absl::StatusCodeToString(end.code())));
    }
    done_ = true;
    changed_.notify_all();
  }

  Uplink& shuffler_;
  Uplink& server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool done_ = false;
  absl::Status failure_;
  std::thread thread_;
};

// The agent's side of a run.
class AgentRun {
 public:
  /// `shuffler` is null if there is none.
  AgentRun(const AgentParams& params, const MakePlayer& make_player, SlotWorld& environment, Uplink& server,
           Uplink* shuffler)
      : params_(params),
        make_player_(make_player),
        environment_(environment),
        server_(server),
        reports_to_(shuffler != nullptr ? *shuffler : server),
        world_{
            .insecure_seed = params.insecure_seed,
            .releases = Releases(params.budget_per_client, params.ledger),
            .send = [this](NodeId from, NodeId to, Payload payload) { Send(from, to, std::move(payload)); },
            .play = nullptr},
        topology_(params.route.TopologyOf(Count{params.first_client.value} + params.clients - 1)) {}

  /// Returns OK if the run has finished. Otherwise the server ended it, or this agent must leave.
  absl::Status Run() {
    BANDANA_ASSIGN_OR_RETURN(const v1::Welcome welcome, server_.Greet(HelloOf(params_)));
    if (params_.route.sealed()) {
      BANDANA_ASSIGN_OR_RETURN(CountSealer sealer, CountSealer::Create(welcome.sealing_key()));
      sealer_.emplace(std::move(sealer));
    }
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
    report.spent = world_.releases.spent();
    report.seconds = absl::ToDoubleSeconds(absl::Now() - started_);
    return report;
  }

 private:
  struct Answer {
    std::string question;
    Message share;
  };

  absl::Status HandleDelivery(const v1::Delivery& delivery) {
    BANDANA_ASSIGN_OR_RETURN(const Message message, Decode(delivery.message()));
    const absl::StatusOr<const Plan*> plan = PlanOf(message);
    if (!plan.ok() || message.from != kServerNode) {
      return absl::InvalidArgumentError("the server sent a message that is not one of its own plans");
    }
    question_ = Release::QuestionOf((*plan)->query);
    if (const auto* task = std::get_if<Task>(&message.body)) question_ += fmt::format(" part {}", task->part);
    for (const std::uint32_t to : delivery.to()) {
      if (params_.stop.stop_requested() || reports_to_.over())
        return absl::OkStatus();  // the next read gives the reason
      if (to < params_.first_client.value || to - params_.first_client.value >= params_.clients) {
        return absl::InvalidArgumentError(
            fmt::format("the server asked client {}, but this agent does not hold that client", to));
      }
      BANDANA_RETURN_IF_ERROR(HandlePlan(NodeId{to}, **plan, message));
      if (batch_.shares().messages_size() >= kBatchMessages || batch_bytes_ >= kSealedBytes) {
        BANDANA_RETURN_IF_ERROR(FlushBatch());
      }
    }
    return FlushBatch();
  }

  absl::Status HandlePlan(NodeId client, const Plan& plan, const Message& message) {
    const auto known = answers_.find({client, plan.epoch});
    if (known != answers_.end()) {
      if (known->second.question != question_) {
        return absl::InvalidArgumentError(fmt::format(
            "the server asked client {} two different questions in epoch {}", client.value, plan.epoch));
      }
      ++report_.repeats;
      return AddToBatch(known->second.share, plan.query);
    }
    std::unique_ptr<Player>& player = players_[client];
    if (player == nullptr) player = make_player_(client);
    RoleContext context(world_, topology_.LinksOf(client));
    BANDANA_RETURN_IF_ERROR(DriveMessage(*player, context, message, environment_, rewards_));
    BANDANA_RETURN_IF_ERROR(sent_);
    const auto answer = answers_.find({client, plan.epoch});
    return answer == answers_.end() ? absl::OkStatus() : AddToBatch(answer->second.share, plan.query);
  }

  void Send(NodeId from, NodeId to, Payload payload) {
    const auto* share = std::get_if<Share>(&payload);
    if (to != topology_.LinksOf(from).upstream || share == nullptr) {
      sent_ = absl::InternalError("a client can send only shares, and only to the server or its shuffler");
      return;
    }
    const auto [it, is_new] = answers_.try_emplace({from, share->epoch});
    if (!is_new) {
      sent_ =
          absl::InternalError(fmt::format("client {} answered twice in epoch {}", from.value, share->epoch));
      return;
    }
    ++report_.shares;
    it->second = {question_, {from, from, 0, next_seq_++, std::move(payload)}};
  }

  absl::Status AddToBatch(const Message& message, const MeanQuery& query) {
    v1::Message& added = *batch_.mutable_shares()->add_messages();
    Encode(message, added);
    if (!params_.route.sealed()) return absl::OkStatus();
    BANDANA_ASSIGN_OR_RETURN(const Count bits, params_.route.bits_per_coordinate(query));
    const Share& share = std::get<Share>(message.body);
    v1::SealedShare& sealed = *added.mutable_sealed_share();  // replaces what was encoded
    sealed.set_epoch(share.epoch);
    sealed.set_quorum(share.report.quorum());
    sealed.set_question(share.report.question());
    batch_bytes_ += static_cast<std::size_t>(bits) * share.report.size() * kSealedBitBytes;
    return sealer_->Seal(share.epoch, Wire::Units(share.report), bits, sealed);
  }

  absl::Status FlushBatch() {
    if (batch_.shares().messages().empty()) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(world_.releases.Commit());
    reports_to_.Write(batch_);
    batch_.mutable_shares()->clear_messages();
    batch_bytes_ = 0;
    return absl::OkStatus();
  }

  const AgentParams& params_;
  const MakePlayer& make_player_;
  SlotWorld& environment_;
  Uplink& server_;
  Uplink& reports_to_;
  RoleWorld world_;
  Topology topology_;
  std::optional<CountSealer> sealer_;
  absl::flat_hash_map<NodeId, std::unique_ptr<Player>> players_;
  std::string question_;  // the question of the current plan
  // By client and epoch; sent again if a plan comes again.
  std::map<std::pair<NodeId, Epoch>, Answer> answers_;
  std::vector<RewardSum> rewards_;
  v1::FromAgent batch_;
  std::size_t batch_bytes_ = 0;  // the size of the sealed bits
  absl::Status sent_;
  bool server_lost_ = false;
  Seq next_seq_ = 0;
  absl::Time started_ = absl::Now();
  AgentReport report_;
};

}  // namespace

absl::StatusOr<AgentReport> RunAgent(const AgentParams& params, const MakePlayer& make_player,
                                     SlotWorld& environment) {
  BANDANA_RETURN_IF_ERROR(ValidateAgent(params));
  const auto connect = [&](const std::string& host, const std::string& address) {
    return Uplink::Connect({"agent", host, address, params.connect_timeout, params.stop});
  };
  // Connects to the shuffler first: once a server has all agents, every share has somewhere to go.
  std::unique_ptr<Uplink> shuffler;
  if (params.route.shuffled) {
    BANDANA_ASSIGN_OR_RETURN(shuffler, connect("shuffler", params.shuffler));
    const absl::StatusOr<v1::Welcome> welcome = shuffler->Greet(HelloOf(params));
    if (params.stop.stop_requested()) return absl::CancelledError("the agent was stopped");
    BANDANA_RETURN_IF_ERROR(welcome.status());
  }
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Uplink> server, connect("server", params.server));
  std::optional<ShufflerWatch> watch;
  if (shuffler != nullptr) watch.emplace(*shuffler, *server);

  AgentRun run(params, make_player, environment, *server, shuffler.get());
  const absl::Status status = run.Run();
  // Only the code: an environment's error may contain a client's data.
  if (!status.ok() && !run.server_lost()) {
    server->Leave(std::string(absl::StatusCodeToString(status.code())));
  }
  const absl::Status end = server->Close();
  absl::Status failure;
  if (watch.has_value()) {
    failure = watch->failure();
    watch->End(status);
  }
  if (status.ok()) {
    AgentReport report = run.report();
    for (const Uplink* stream : {server.get(), shuffler.get()}) {
      if (stream == nullptr) continue;
      report.bytes_in += stream->bytes_in();
      report.bytes_out += stream->bytes_out();
    }
    return report;
  }
  if (params.stop.stop_requested()) return absl::CancelledError("the agent was stopped");
  if (!failure.ok()) return failure;
  return run.server_lost() ? end : status;
}

}  // namespace bandana::service
