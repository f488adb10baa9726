#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/bandit/round_contexts.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/check.h"
#include "bandana/core/noise_door.h"
#include "bandana/core/status.h"
#include "bandana/federation/epoch_coin.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/node.h"
#include "bandana/federation/releases.h"
#include "bandana/federation/round_player.h"

namespace bandana::sim {

struct RoundSimParams {
  std::uint64_t seed = 0;
  std::uint32_t replicate = 0;
  Count horizon = 0;
  DpGuarantee budget_per_silo;
  int threads = 1;  ///< results do not depend on it
  const std::atomic<bool>* stop = nullptr;
};

/// An agent that is gone after a round: it neither plays nor sends, and what was on its way to it is lost.
struct Death {
  NodeId agent;
  Count after = 0;
};

/// Runs agents that meet a decision set of their own every round, in this process.
///
/// - With a controller, messages take no time: what agents send at the end of a round is answered before the
/// next one.
///   While they wait for nobody, agents play whole stretches of rounds one after the other, each on some
///   thread.
/// - Among peers on a graph messages take one round a hop, and all play round by round.
///
/// `Agent` is a RoundPlayer<Scalar>: a template, so that a round is a call the compiler sees through.
template <class Agent, class Scalar>
class RoundSimulator {
 public:
  using Agents = std::vector<std::unique_ptr<Agent>>;

  /// Agents are nodes first, first + 1, ...; `shuffler` stands between them and the controller if it is not
  /// null. `lock_step`: agents may ask for a synchronisation in any round. All references must outlive the
  /// call.
  static absl::Status RunStar(const RoundSimParams& params, Node& controller, Node* shuffler, Agents& agents,
                              NodeId first, bool lock_step, const RoundContexts& contexts,
                              RoundRecorder& recorder) {
    RoundSimulator simulator(params, agents, first, contexts, recorder);
    simulator.controller_ = &controller;
    simulator.shuffler_ = shuffler;
    return simulator.RunStar(lock_step);
  }

  /// Agents are the graph's nodes.
  static absl::Status RunPeers(const RoundSimParams& params, const Graph& graph, Agents& agents,
                               std::span<const Death> deaths, const RoundContexts& contexts,
                               RoundRecorder& recorder) {
    RoundSimulator simulator(params, agents, NodeId{1}, contexts, recorder);
    return simulator.RunPeers(graph, deaths);
  }

 private:
  static constexpr Count kBlock = 16;  // rounds; a block of K = 100, d = 10 stays in the second-level cache

  struct Envelope {
    NodeId to;
    Message message;
  };

  class RoleContext final : public Context {
   public:
    RoleContext(RoundSimulator& simulator, Links links) : simulator_(&simulator), links_(std::move(links)) {}

    const Links& links() const override { return links_; }
    void Send(NodeId to, Payload payload) override {
      outbox_.push_back({to, {links_.self, links_.self, 0, next_seq_++, std::move(payload)}});
    }
    void Play(std::span<const Pull>) override {}
    CoinGen& coin(Epoch epoch) override {
      return coin_.For(epoch, [&] {
        return std::make_unique<PhiloxSource>(simulator_->Key(links_.self, epoch, Stream::kExploration));
      });
    }
    bool remembers() const override { return false; }
    absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                       absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
      PhiloxSource bits(simulator_->Key(key.node, key.epoch, Stream::kPrivacy));
      NoiseGen noise = NoiseDoor::Open(bits);
      const std::lock_guard lock(simulator_->releases_mutex_);
      return simulator_->releases_.Once(key, charge, noise, draw);
    }

    std::vector<Envelope>& outbox() { return outbox_; }

   private:
    RoundSimulator* simulator_;
    Links links_;
    EpochCoin coin_;
    Seq next_seq_ = 0;
    std::vector<Envelope> outbox_;
  };

  // One agent's place in the world: its blocks of decision sets and what it has sent.
  struct Seat {
    Seat(RoundSimulator& simulator, NodeId node, Links links, Agent& role)
        : self(node), agent(&role), context(simulator, std::move(links)) {}
    NodeId self;
    Agent* agent;
    RoleContext context;
    std::unique_ptr<DecisionBlock<Scalar>> block;
    Count block_first = 0;  // round; 0: none yet
    Count round = 0;        // played
    bool alive = true;
  };

  RoundSimulator(const RoundSimParams& params, Agents& agents, NodeId first, const RoundContexts& contexts,
                 RoundRecorder& recorder)
      : params_(params),
        agents_(agents),
        first_(first),
        contexts_(contexts),
        recorder_(recorder),
        releases_(params.budget_per_silo, Releases::Journal::kNotNeeded) {}

  StreamKey Key(NodeId node, Epoch epoch, Stream stream) const {
    return {params_.seed, params_.replicate, node, epoch, stream};
  }
  bool stopped() const { return params_.stop != nullptr && *params_.stop; }

  absl::Status RunStar(bool lock_step) {
    Links controller{.self = kServerNode};
    if (shuffler_ != nullptr) controller.shuffler = kShufflerNode;
    RoleContext controller_context(*this, controller);
    RoleContext shuffler_context(*this, {.self = kShufflerNode, .upstream = kServerNode});
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      const NodeId self{first_.value + static_cast<std::uint32_t>(i)};
      const NodeId upstream = shuffler_ == nullptr ? kServerNode : kShufflerNode;
      seats_.push_back(
          std::make_unique<Seat>(*this, self, Links{.self = self, .upstream = upstream}, *agents_[i]));
    }
    BANDANA_RETURN_IF_ERROR(controller_->OnStart(controller_context));
    while (true) {
      BANDANA_RETURN_IF_ERROR(Settle(controller_context, shuffler_context));
      Count ready = 0;
      for (const auto& seat : seats_) ready = std::max(ready, seat->agent->rounds_ready());
      if (ready == 0) break;
      BANDANA_RETURN_IF_ERROR(PlayAll(lock_step ? 1 : ready));
      if (stopped()) return absl::CancelledError("interrupted");
    }
    return controller_->finished()
               ? absl::OkStatus()
               : absl::InternalError("the run ended with the controller waiting for reports");
  }

  // Delivers until nobody has anything to say: in the order of the senders.
  absl::Status Settle(RoleContext& controller, RoleContext& shuffler) {
    while (true) {
      std::vector<Envelope> mail;
      const auto collect = [&](RoleContext& context) {
        for (Envelope& envelope : context.outbox()) mail.push_back(std::move(envelope));
        context.outbox().clear();
      };
      collect(controller);
      collect(shuffler);
      for (const auto& seat : seats_) collect(seat->context);
      if (mail.empty()) return absl::OkStatus();
      for (const auto& [to, message] : mail) {
        Record(message);
        if (to == kServerNode) {
          BANDANA_RETURN_IF_ERROR(controller_->OnMessage(controller, message));
        } else if (to == kShufflerNode) {
          BANDANA_CHECK(shuffler_ != nullptr);
          BANDANA_RETURN_IF_ERROR(shuffler_->OnMessage(shuffler, message));
        } else {
          Seat& seat = *seats_[to.value - first_.value];
          BANDANA_RETURN_IF_ERROR(seat.agent->OnMessage(seat.context, message));
        }
      }
    }
  }

  void Record(const Message& message) {
    const Count round = seats_.front()->round;
    if (const auto* share = std::get_if<Share>(&message.body)) {
      recorder_.Send(round, static_cast<Count>(share->report.size()), share->report.bits());
    } else if (const auto* bulletin = std::get_if<Bulletin>(&message.body)) {
      const Count d = bulletin->sums->value().moments.size();
      const Count reals = d * (d + 1) / 2 + d;
      recorder_.Send(round, reals, 64 * reals);
    } else if (const auto* model = std::get_if<Model>(&message.body)) {
      if (model->epoch > last_model_ && model->sums != nullptr) recorder_.Synchronise(round);
      last_model_ = std::max(last_model_, model->epoch);
    }
  }

  // Each agent plays `rounds` rounds, or as many as it can.
  absl::Status PlayAll(Count rounds) {
    const auto threads = static_cast<std::size_t>(std::max(1, params_.threads));
    if (threads == 1 || rounds == 1 || seats_.size() == 1) {
      for (const auto& seat : seats_) BANDANA_RETURN_IF_ERROR(PlayRounds(*seat, rounds));
      return absl::OkStatus();
    }
    std::vector<absl::Status> statuses(seats_.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < seats_.size(); i = next++)
        statuses[i] = PlayRounds(*seats_[i], rounds);
    };
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < std::min(threads, seats_.size()); ++i) helpers.emplace_back(work);
      work();
    }
    for (const absl::Status& status : statuses) BANDANA_RETURN_IF_ERROR(status);
    return absl::OkStatus();
  }

  absl::Status PlayRounds(Seat& seat, Count rounds) {
    const Count ready = std::min(rounds, seat.agent->rounds_ready());
    for (Count i = 0; i < ready; ++i) {
      BANDANA_RETURN_IF_ERROR(PlayRound(seat));
      BANDANA_RETURN_IF_ERROR(seat.agent->EndRound(seat.context, seat.round));
      if (i % 1024 == 0 && stopped()) return absl::CancelledError("interrupted");
    }
    return absl::OkStatus();
  }

  absl::Status PlayRound(Seat& seat) {
    const Count round = ++seat.round;
    if (!seat.agent->Plays(round)) return absl::OkStatus();
    const Count first = (round - 1) / kBlock * kBlock + 1;
    if (seat.block == nullptr) {
      const RoundContextsParams& sets = contexts_.params();
      seat.block = std::make_unique<DecisionBlock<Scalar>>(kBlock, sets.arms, sets.dimension);
    }
    if (seat.block_first != first) {
      seat.block->SetRounds(std::min(kBlock, params_.horizon - first + 1));
      contexts_.Draw(seat.self, first, *seat.block);
      seat.block_first = first;
    }
    const Count at = round - first;
    const ArmId arm = seat.agent->Act(seat.context, round, seat.block->set(at));
    recorder_.Play(seat.self, round, arm, seat.block->Gap(at, arm));
    return seat.agent->Observe(seat.context, round, Raw<double>(contexts_.Reward(*seat.block, at, arm)));
  }

  absl::Status RunPeers(const Graph& graph, std::span<const Death> deaths) {
    std::map<NodeId, Count> dies;
    for (const Death& death : deaths) dies[death.agent] = death.after;
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      const NodeId self{1 + static_cast<std::uint32_t>(i)};
      const auto neighbours = graph.neighbours(self);
      const Links links{.self = self, .peers = {neighbours.begin(), neighbours.end()}};
      seats_.push_back(std::make_unique<Seat>(*this, self, links, *agents_[i]));
    }
    std::vector<std::vector<Message>> inbox(seats_.size());
    for (Count round = 1; round <= params_.horizon; ++round) {
      bool sent = false;
      for (std::size_t i = 0; i < seats_.size(); ++i) {
        Seat& seat = *seats_[i];
        if (!seat.alive) continue;
        BANDANA_RETURN_IF_ERROR(PlayRound(seat));
        for (const Message& message : inbox[i]) {
          BANDANA_RETURN_IF_ERROR(seat.agent->OnMessage(seat.context, message));
        }
        inbox[i].clear();
        BANDANA_RETURN_IF_ERROR(seat.agent->EndRound(seat.context, round));
        sent = sent || !seat.context.outbox().empty();
      }
      if (sent) Carry(inbox);
      for (const auto& seat : seats_) {
        const auto death = dies.find(seat->self);
        if (death != dies.end() && death->second <= round) seat->alive = false;
      }
      if (round % 1024 == 0 && stopped()) return absl::CancelledError("interrupted");
    }
    return absl::OkStatus();
  }

  // One hop: what was sent in this round is there in the next, in (from, seq) order.
  void Carry(std::vector<std::vector<Message>>& inbox) {
    for (const auto& seat : seats_) {
      for (Envelope& envelope : seat->context.outbox()) {
        Record(envelope.message);
        const auto* bulletin = std::get_if<Bulletin>(&envelope.message.body);
        if (bulletin != nullptr && bulletin->origin == seat->self &&
            bulletin->sums->value().step > last_step_) {
          last_step_ = bulletin->sums->value().step;
          recorder_.Synchronise(seat->round);
        }
        const std::size_t to = envelope.to.value - 1;
        if (seats_[to]->alive) inbox[to].push_back(std::move(envelope.message));
      }
      seat->context.outbox().clear();
    }
  }

  RoundSimParams params_;
  Agents& agents_;
  NodeId first_;
  const RoundContexts& contexts_;
  RoundRecorder& recorder_;
  Node* controller_ = nullptr;
  Node* shuffler_ = nullptr;
  std::mutex releases_mutex_;
  Releases releases_;
  std::vector<std::unique_ptr<Seat>> seats_;
  Epoch last_model_ = 0;
  std::int64_t last_step_ = 0;
};

}  // namespace bandana::sim
