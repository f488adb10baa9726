#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "bandana/bandit/environment.h"
#include "bandana/bandit/recorder.h"
#include "bandana/core/noise_door.h"
#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/federation/epoch_coin.h"
#include "bandana/federation/release.h"
#include "bandana/federation/releases.h"
#include "bandana/federation/shuffler.h"
#include "bandana/federation/topology.h"
#include "bandana/privacy/privatizer.h"

namespace bandana::sim {

struct SimParams {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
  Topology topology;
  DpGuarantee budget_per_client;
  bool crowds = true;  ///< where clients differ by nothing but their coins, draw what they send in sum
  const std::atomic<bool>* stop = nullptr;  ///< looked at once a slot
};

/// Which shuffler a privatizer has. (A template template parameter with a constraint makes GCC 12 forget what
/// others satisfy.)
struct OurShufflers {
  template <class P>
  using Of = Shuffler<P>;
};

/// Runs a server, its clients and their shuffler, if the privatizer has one, in this process: messages take
/// one slot and are delivered in (slot, origin, seq) order. A template over the concrete roles, so that a
/// message is a call the compiler sees through.
template <class Server, class Client, class Shufflers = OurShufflers>
class Simulator {
 public:
  /// `privatizer` is what clients are made from. All references must outlive the simulator.
  template <Privatizer P>
  static absl::Status Run(const SimParams& params, Server& server, const P& privatizer,
                          Environment& environment, Recorder& recorder) {
    Simulator simulator(params, environment, recorder);
    RoleContext context(simulator, kServerNode);
    ShufflerIfAny<P> shuffler(simulator, privatizer);
    BANDANA_RETURN_IF_ERROR(server.OnStart(context));
    absl::flat_hash_map<NodeId, Client> clients;
    while (!simulator.outbox_.empty()) {
      if (params.stop != nullptr && *params.stop) return absl::CancelledError("interrupted");
      simulator.NextSlot();
      for (const Place& place : simulator.order_) {
        const auto& [to, message] = simulator.inbox_[place.index];
        if (to == kServerNode) {
          BANDANA_RETURN_IF_ERROR(server.OnMessage(context, message));
          continue;
        }
        if (to == kShufflerNode) {
          BANDANA_RETURN_IF_ERROR(shuffler.OnMessage(message));
          continue;
        }
        if (const auto* task = std::get_if<Task>(&message.body); task != nullptr && task->clients > 1) {
          BANDANA_RETURN_IF_ERROR(simulator.DriveCrowd(to, *task, privatizer));
          continue;
        }
        Client& client = clients.try_emplace(to, privatizer).first->second;
        RoleContext client_context(simulator, to);
        BANDANA_RETURN_IF_ERROR(
            DriveMessage(client, client_context, message, environment, simulator.rewards_));
      }
    }
    recorder.Finish();
    return server.finished() ? absl::OkStatus()
                             : absl::InternalError("the run ended with the server waiting for reports");
  }

 private:
  struct Envelope {
    NodeId to;
    Message message;
  };

  struct Place {
    NodeId origin;
    Seq seq;
    std::size_t index;
    auto operator<=>(const Place&) const = default;
  };

  class RoleContext final : public Context {
   public:
    RoleContext(Simulator& simulator, NodeId self)
        : simulator_(simulator), links_(simulator.params_.topology.LinksOf(self)) {}

    const Links& links() const override { return links_; }

    void Send(NodeId to, Payload payload) override {
      if (const auto* share = std::get_if<Share>(&payload)) {
        simulator_.recorder_.Report(share->epoch, share->report);
      }
      simulator_.outbox_.push_back(
          {to, {links_.self, links_.self, simulator_.slot_, simulator_.next_seq_++, std::move(payload)}});
    }

    void DealOut(const std::shared_ptr<const Plan>& plan, NodeId first, const Order& order) override {
      if (!simulator_.crowds()) return Context::DealOut(plan, first, order);
      for (std::size_t part = 0; part < plan->query.dealt.size(); ++part) {
        Send(first, Task{plan, static_cast<int>(part), plan->query.dealt[part]});
        first.value += static_cast<std::uint32_t>(plan->query.dealt[part]);
      }
    }

    void Play(std::span<const Pull> pulls) override { simulator_.recorder_.Play(pulls); }
    void PlayMixed(std::span<const Pull> pulls) override { simulator_.recorder_.PlayMixed(pulls); }

    CoinGen& coin(Epoch epoch) override {
      return coin_.For(epoch, [&] {
        return std::make_unique<PhiloxSource>(simulator_.Key(links_.self, epoch, Stream::kExploration));
      });
    }

    bool remembers() const override { return false; }

    absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                       absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
      PhiloxSource bits(simulator_.Key(key.node, key.epoch, Stream::kPrivacy));
      NoiseGen noise = NoiseDoor::Open(bits);
      return simulator_.releases_.Once(key, charge, noise, draw);
    }

   private:
    Simulator& simulator_;
    Links links_;
    EpochCoin coin_;
  };

  template <class P>
  struct ShufflerIfAny {
    ShufflerIfAny(Simulator&, const P&) {}
    absl::Status OnMessage(const Message&) {
      return absl::InternalError("a message for a shuffler, and the privatizer has none");
    }
  };

  template <ShufflePrivatizer P>
  struct ShufflerIfAny<P> {
    ShufflerIfAny(Simulator& simulator, const P& privatizer)
        : context(simulator, kShufflerNode), shuffler(privatizer) {}
    absl::Status OnMessage(const Message& message) { return shuffler.OnMessage(context, message); }
    RoleContext context;
    typename Shufflers::template Of<P> shuffler;
  };

  Simulator(const SimParams& params, Environment& environment, Recorder& recorder)
      : params_(params),
        environment_(environment),
        recorder_(recorder),
        releases_(params.budget_per_client, Releases::Journal::kNotNeeded) {}

  StreamKey Key(NodeId node, Epoch epoch, Stream stream) const {
    return {params_.seed, params_.replicate, node, epoch, stream};
  }

  bool crowds() const { return params_.crowds && environment_.AnswersCrowds(); }

  // What clients first, first + 1, ... would send, in sum. A mechanism that cannot add their noise up has
  // them do it one by one, in the next slot.
  template <Privatizer P>
  absl::Status DriveCrowd(NodeId first, const Task& task, const P& privatizer) {
    RoleContext context(*this, first);
    if constexpr (DealingPrivatizer<P>) {
      const Plan& plan = *task.plan;
      const ArmId arm = plan.pulls[static_cast<std::size_t>(task.part)].arm;
      BANDANA_RETURN_IF_ERROR(environment_.AnswerCrowd(first, task.clients, plan.epoch, arm, rewards_));
      absl::StatusOr<Report> report = Release::FromCrowd(context, privatizer, plan.epoch, plan.query,
                                                         task.part, first, Raw<RewardSums>(rewards_));
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

  // What was sent in the last slot, in (origin, seq) order. Envelopes are large, so places are sorted and not
  // they.
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

  SimParams params_;
  Environment& environment_;
  Recorder& recorder_;
  Releases releases_;
  Slot slot_ = 0;
  Seq next_seq_ = 0;
  std::vector<Envelope> outbox_;
  std::vector<Envelope> inbox_;
  std::vector<Place> order_;
  std::vector<RewardSum> rewards_;
};

}  // namespace bandana::sim
