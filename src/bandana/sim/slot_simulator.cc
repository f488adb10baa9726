#include "bandana/sim/slot_simulator.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/sim/sim_context.h"
#include "bandana/sim/simulate.h"
#include "fmt/format.h"

namespace bandana::sim {
namespace {

constexpr int kMostAttempts = 10'000;

struct Envelope {
  NodeId to;
  Message message;
};

class SlotRun {
 public:
  SlotRun(const SimParams& params, Node& server, Node* shuffler, const Make<Player, NodeId>& client,
          const GroupAnswer& group, SlotWorld& world, Recorder& recorder)
      : params_(params),
        server_(server),
        shuffler_(shuffler),
        make_client_(client),
        group_(group),
        world_(world),
        recorder_(recorder),
        randomness_(params.seed, params.replicate, params.budget_per_client) {}

  absl::Status Run() {
    RoleContext context(*this, kServerNode);
    RoleContext shuffler_context(*this, kShufflerNode);
    BANDANA_RETURN_IF_ERROR(server_.OnStart(context));
    while (!outbox_.empty() || (!missing_.empty() && !server_.finished())) {
      if (outbox_.empty()) BANDANA_RETURN_IF_ERROR(EndAttempt(context));
      if (params_.stop != nullptr && *params_.stop) return absl::CancelledError("interrupted");
      NextSlot();
      for (const Arrival& arrival : order_) {
        const auto& [to, message] = inbox_[arrival.index];
        if (to == kServerNode) {
          BANDANA_RETURN_IF_ERROR(server_.OnMessage(context, message));
        } else if (to == kShufflerNode) {
          if (shuffler_ == nullptr) {
            return absl::InternalError("a message is for a shuffler, but the federation has none");
          }
          BANDANA_RETURN_IF_ERROR(shuffler_->OnMessage(shuffler_context, message));
        } else {
          BANDANA_RETURN_IF_ERROR(ToClient(to, message));
        }
      }
    }
    recorder_.Finish();
    return server_.finished()
               ? absl::OkStatus()
               : absl::InternalError("the run ended while the server still waited for reports");
  }

 private:
  // The place of a message in the order of delivery.
  struct Arrival {
    NodeId origin;
    Seq seq;
    std::size_t index;
    auto operator<=>(const Arrival&) const = default;
  };

  class RoleContext final : public SimContext {
   public:
    RoleContext(SlotRun& run, NodeId self)
        : SimContext(run.randomness_, run.params_.topology.LinksOf(self)), run_(run) {}

    void Send(NodeId to, Payload payload) override {
      if (const auto* share = std::get_if<Share>(&payload)) {
        run_.recorder_.Report(share->epoch, share->report);
      }
      run_.outbox_.push_back(
          {to, {links().self, links().self, run_.slot_, run_.next_seq_++, std::move(payload)}});
    }

    void DealOut(const std::shared_ptr<const Plan>& plan, NodeId first, const Order& order) override {
      if (!run_.groups()) return Context::DealOut(plan, first, order);
      for (std::size_t part = 0; part < plan->query.dealt.size(); ++part) {
        Send(first, Task{plan, static_cast<int>(part), plan->query.dealt[part]});
        first.value += static_cast<std::uint32_t>(plan->query.dealt[part]);
      }
    }

    void Play(std::span<const Pull> pulls) override { run_.recorder_.Play(pulls); }
    void PlayMixed(std::span<const Pull> pulls) override { run_.recorder_.PlayMixed(pulls); }

   private:
    SlotRun& run_;
  };

  bool groups() const { return params_.groups && params_.dropout == 0 && world_.AnswersGroups(); }

  // The time for answers is over. If too few have come, others are asked in the place of those who have not
  // answered. A simulated client has one place, so it is asked again, and chance decides again.
  absl::Status EndAttempt(Context& server) {
    const auto missing = std::exchange(missing_, {});
    BANDANA_ASSIGN_OR_RETURN(const bool closed, server_.OnDeadline(server, epoch_));
    if (closed) return absl::OkStatus();
    if (++attempt_ == kMostAttempts) {
      return absl::UnavailableError(
          fmt::format("too few clients answer in phase {}, after {} attempts", epoch_, attempt_));
    }
    outbox_ = missing;
    return absl::OkStatus();
  }

  // Returns whether a client that is asked drops out. The coins are keyed by client and epoch.
  bool DropsOut(NodeId client, Epoch epoch) {
    if (epoch != epoch_) {
      attempt_ = 0;
      missing_.clear();  // nobody waits for them any more
    }
    epoch_ = epoch;
    PhiloxSource bits(randomness_.Key(client, epoch, Stream::kDropout));
    CoinGen coin(bits);
    coin.Skip(static_cast<std::uint64_t>(attempt_));
    return UniformUnit(coin) < params_.dropout;
  }

  absl::Status ToClient(NodeId to, const Message& message) {
    if (params_.dropout > 0) {
      BANDANA_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(message));
      if (DropsOut(to, plan->epoch)) {
        missing_.push_back({to, message});
        return absl::OkStatus();
      }
    }
    if (const auto* task = std::get_if<Task>(&message.body); task != nullptr && task->clients > 1) {
      return DriveGroup(to, *task);
    }
    std::unique_ptr<Player>& client = clients_[to];
    if (client == nullptr) client = make_client_(to);
    RoleContext context(*this, to);
    return DriveMessage(*client, context, message, world_, rewards_);
  }

  // Sends the sum of what clients first, first + 1, ... would send. A mechanism that cannot add their noise
  // up has them do it one by one, in the next slot.
  absl::Status DriveGroup(NodeId first, const Task& task) {
    RoleContext context(*this, first);
    if (group_ != nullptr) {
      const Plan& plan = *task.plan;
      const ArmId arm = plan.pulls[static_cast<std::size_t>(task.part)].arm;
      BANDANA_RETURN_IF_ERROR(world_.AnswerGroup(first, task.clients, plan.epoch, arm, rewards_));
      absl::StatusOr<Report> report = group_(context, plan, task.part, first, Raw<RewardSums>(rewards_));
      if (report.ok()) {
        context.Send(*context.links().upstream, Share{plan.epoch, 0, *std::move(report)});
        return absl::OkStatus();
      }
      if (!absl::IsUnimplemented(report.status())) return report.status();
    }
    for (Count i = 0; i < task.clients; ++i) {
      context.Send(NodeId{first.value + static_cast<std::uint32_t>(i)}, Task{task.plan, task.part});
    }
    return absl::OkStatus();
  }

  // Puts the messages of the last slot into (origin, seq) order. Envelopes are large, so indices are sorted
  // instead.
  void NextSlot() {
    ++slot_;
    inbox_.clear();
    inbox_.swap(outbox_);
    order_.clear();
    for (std::size_t i = 0; i < inbox_.size(); ++i) {
      order_.push_back({inbox_[i].message.origin, inbox_[i].message.seq, i});
    }
    if (!std::is_sorted(order_.begin(), order_.end())) std::sort(order_.begin(), order_.end());
  }

  const SimParams& params_;
  Node& server_;
  Node* shuffler_;
  const Make<Player, NodeId>& make_client_;
  const GroupAnswer& group_;
  SlotWorld& world_;
  Recorder& recorder_;
  SimRandomness randomness_;
  Slot slot_ = 0;
  Seq next_seq_ = 0;
  std::vector<Envelope> outbox_;
  std::vector<Envelope> inbox_;
  std::vector<Arrival> order_;
  std::vector<RewardSum> rewards_;
  absl::flat_hash_map<NodeId, std::unique_ptr<Player>> clients_;
  std::vector<Envelope> missing_;  // messages to clients that have dropped out of the epoch
  Epoch epoch_ = 0;
  int attempt_ = 0;  // of the epoch
};

}  // namespace

absl::Status RunSlots(const SimParams& params, Node& server, Node* shuffler,
                      const Make<Player, NodeId>& client, const GroupAnswer& group, SlotWorld& world,
                      Recorder& recorder) {
  return SlotRun(params, server, shuffler, client, group, world, recorder).Run();
}

absl::StatusOr<Outcome> SimulateSlots(const Federation& federation, SlotWorld& world,
                                      const SimulateOptions& options) {
  const auto& roles = std::get<SlotRoles>(federation.roles);
  const std::unique_ptr<Node> server = roles.server();
  const std::unique_ptr<Node> shuffler = roles.shuffler == nullptr ? nullptr : roles.shuffler();
  Recorder recorder(world, options.checkpoints);
  const SimParams params{.seed = options.seed,
                         .replicate = options.replicate,
                         .topology = federation.topology,
                         .budget_per_client = federation.budget,
                         .dropout = options.dropout,
                         .stop = options.stop};
  BANDANA_RETURN_IF_ERROR(
      RunSlots(params, *server, shuffler.get(), roles.client, roles.group, world, recorder));
  Observations observations;
  server->Describe(observations);
  Outcome outcome{.checkpoints = recorder.checkpoints(), .phases = std::move(observations.phases)};
  for (Checkpoint& checkpoint : outcome.checkpoints) {  // the numbers are about the whole run
    const bool last = &checkpoint == &outcome.checkpoints.back();
    for (const auto& [name, value] : observations.numbers) checkpoint.series[name] = last ? value : 0;
  }
  return outcome;
}

}  // namespace bandana::sim
