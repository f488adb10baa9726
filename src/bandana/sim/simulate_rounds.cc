#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/sim/round_seat.h"
#include "bandana/sim/simulate.h"

/// Agents that meet a decision set of their own in every round.
///
/// With a controller, messages take no time: what agents send at the end of a round is answered before the
/// next one. While they wait for nobody, agents play whole stretches of rounds one after the other, each on
/// some thread. Among peers on a graph messages take one round per hop, and all play round by round.
namespace bandana::sim {
namespace {

std::vector<NodeId> AllAgents(const Topology& topology) {
  std::vector<NodeId> agents;
  for (Count i = 1; i <= topology.clients(); ++i) agents.push_back(NodeId{static_cast<std::uint32_t>(i)});
  return agents;
}

void RecordReals(const Message& message, Count round, RoundRecorder& recorder) {
  if (const auto* share = std::get_if<Share>(&message.body)) {
    recorder.Send(round, static_cast<Count>(share->report.size()), share->report.bits());
  } else if (const auto* bulletin = std::get_if<Bulletin>(&message.body)) {
    const Count d = bulletin->sums->value().moments.size();
    const Count reals = d * (d + 1) / 2 + d;
    recorder.Send(round, reals, 64 * reals);
  }
}

/// The agents of one controller.
template <class Scalar>
class GroupRun {
 public:
  GroupRun(const RoundRun& run, std::span<const NodeId> group)
      : run_(run),
        randomness_(run.options.seed, run.options.replicate, run.federation.budget),
        controller_(run.roles.controller(group.front())),
        controller_context_(randomness_, run.federation.topology.LinksOf(kServerNode)),
        shuffler_(run.roles.shuffler ? run.roles.shuffler() : nullptr),
        shuffler_context_(randomness_, run.federation.topology.LinksOf(kShufflerNode)) {
    for (const NodeId agent : group) {
      seats_.push_back(std::make_unique<RoundSeat<Scalar>>(run, randomness_, agent));
      seat_of_[agent] = seats_.back().get();
    }
  }

  absl::Status Play() {
    BANDANA_RETURN_IF_ERROR(controller_->OnStart(controller_context_));
    while (true) {
      BANDANA_RETURN_IF_ERROR(Settle());
      Count ready = 0;
      for (const auto& seat : seats_) ready = std::max(ready, seat->agent->rounds_ready());
      if (ready == 0) break;
      BANDANA_RETURN_IF_ERROR(PlayAll(run_.roles.lock_step ? 1 : ready));
      if (run_.stopped()) return absl::CancelledError("interrupted");
    }
    // All agents of a group decide by the same released sums, so one of them speaks for all.
    seats_.front()->agent->Describe(run_.observations);
    return controller_->finished()
               ? absl::OkStatus()
               : absl::InternalError("the run ended while the controller still waited for reports");
  }

 private:
  // Delivers in the order of the senders until nobody has anything to say.
  absl::Status Settle() {
    while (true) {
      std::vector<RoundEnvelope> mail;
      const auto collect = [&](RoundContext& context) {
        for (RoundEnvelope& envelope : context.outbox()) mail.push_back(std::move(envelope));
        context.outbox().clear();
      };
      collect(controller_context_);
      collect(shuffler_context_);
      for (const auto& seat : seats_) collect(seat->context);
      if (mail.empty()) return absl::OkStatus();
      for (const auto& [to, message] : mail) BANDANA_RETURN_IF_ERROR(Deliver(to, message));
    }
  }

  absl::Status Deliver(NodeId to, const Message& message) {
    const Count round = seats_.front()->round();
    RecordReals(message, round, run_.recorder);
    if (const auto* model = std::get_if<Model>(&message.body)) {
      if (model->epoch > last_model_ && model->sums != nullptr) run_.recorder.Synchronise(round);
      last_model_ = std::max(last_model_, model->epoch);
    }
    if (to == kServerNode) return controller_->OnMessage(controller_context_, message);
    if (to == kShufflerNode) {
      BANDANA_CHECK(shuffler_ != nullptr);
      return shuffler_->OnMessage(shuffler_context_, message);
    }
    RoundSeat<Scalar>& seat = *seat_of_.at(to);
    return seat.agent->OnMessage(seat.context, message);
  }

  // Each agent plays so many rounds, or as many as it can.
  absl::Status PlayAll(Count rounds) {
    const auto threads = static_cast<std::size_t>(std::max(1, run_.options.threads));
    if (threads == 1 || rounds == 1 || seats_.size() == 1) {
      for (const auto& seat : seats_) BANDANA_RETURN_IF_ERROR(seat->PlayRounds(rounds));
      return absl::OkStatus();
    }
    std::vector<absl::Status> statuses(seats_.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < seats_.size(); i = next++) {
        statuses[i] = seats_[i]->PlayRounds(rounds);
      }
    };
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < std::min(threads, seats_.size()); ++i) helpers.emplace_back(work);
      work();
    }
    for (const absl::Status& status : statuses) BANDANA_RETURN_IF_ERROR(status);
    return absl::OkStatus();
  }

  const RoundRun& run_;
  SimRandomness randomness_;
  std::unique_ptr<Node> controller_;
  RoundContext controller_context_;
  std::unique_ptr<Node> shuffler_;
  RoundContext shuffler_context_;
  std::vector<std::unique_ptr<RoundSeat<Scalar>>> seats_;
  absl::flat_hash_map<NodeId, RoundSeat<Scalar>*> seat_of_;
  Epoch last_model_ = 0;
};

/// Peers on a graph.
template <class Scalar>
class PeerRun {
 public:
  explicit PeerRun(const RoundRun& run)
      : run_(run), randomness_(run.options.seed, run.options.replicate, run.federation.budget) {
    for (const NodeId peer : AllAgents(run.federation.topology)) {
      seats_.push_back(std::make_unique<RoundSeat<Scalar>>(run, randomness_, peer));
    }
    inbox_.resize(seats_.size());
    for (const Failure& failure : run.options.failures) dies_after_[failure.a] = failure.round;
  }

  absl::Status Play() {
    for (Count round = 1; round <= run_.world.facts().horizon; ++round) {
      BANDANA_RETURN_IF_ERROR(PlayRound(round));
      for (const auto& seat : seats_) {
        const auto death = dies_after_.find(seat->self);
        if (death != dies_after_.end() && death->second <= round) seat->alive = false;
      }
      if (round % kRoundsBetweenLooks == 0 && run_.stopped()) return absl::CancelledError("interrupted");
    }
    for (const auto& seat : seats_) seat->agent->Describe(run_.observations);
    return absl::OkStatus();
  }

 private:
  absl::Status PlayRound(Count round) {
    bool sent = false;
    for (std::size_t i = 0; i < seats_.size(); ++i) {
      RoundSeat<Scalar>& seat = *seats_[i];
      if (!seat.alive) continue;
      BANDANA_RETURN_IF_ERROR(seat.PlayRound());
      for (const Message& message : inbox_[i]) {
        BANDANA_RETURN_IF_ERROR(seat.agent->OnMessage(seat.context, message));
      }
      inbox_[i].clear();
      BANDANA_RETURN_IF_ERROR(seat.agent->EndRound(seat.context, round));
      sent = sent || !seat.context.outbox().empty();
    }
    if (sent) Carry();
    return absl::OkStatus();
  }

  // One hop: what was sent in this round arrives in the next, in (from, seq) order.
  void Carry() {
    for (const auto& seat : seats_) {
      for (RoundEnvelope& envelope : seat->context.outbox()) {
        RecordReals(envelope.message, seats_.front()->round(), run_.recorder);
        const auto* bulletin = std::get_if<Bulletin>(&envelope.message.body);
        if (bulletin != nullptr && bulletin->origin == seat->self &&
            bulletin->sums->value().step > last_step_) {
          last_step_ = bulletin->sums->value().step;
          run_.recorder.Synchronise(seat->round());
        }
        const std::size_t to = envelope.to.value - 1;
        if (seats_[to]->alive) inbox_[to].push_back(std::move(envelope.message));
      }
      seat->context.outbox().clear();
    }
  }

  const RoundRun& run_;
  SimRandomness randomness_;
  std::vector<std::unique_ptr<RoundSeat<Scalar>>> seats_;
  std::vector<std::vector<Message>> inbox_;
  std::map<NodeId, Count> dies_after_;
  std::int64_t last_step_ = 0;
};

template <class Scalar>
absl::Status Play(const RoundRun& run) {
  if (!run.roles.controller) return PeerRun<Scalar>(run).Play();
  if (run.roles.groups.empty()) return GroupRun<Scalar>(run, AllAgents(run.federation.topology)).Play();
  for (const auto& group : run.roles.groups) {
    BANDANA_RETURN_IF_ERROR(GroupRun<Scalar>(run, group).Play());
  }
  return absl::OkStatus();
}

absl::Status Check(const Federation& federation, const RoundRoles& roles, const RoundWorld& world,
                   const SimulateOptions& options) {
  const Facts& facts = world.facts();
  const auto refuse = [](const char* field, Count value, const std::string& accepted) {
    return InvalidField(Part::kFacts, field, static_cast<double>(value), accepted);
  };
  if (facts.horizon < 1) return refuse("horizon", facts.horizon, "a whole number >= 1");
  if (facts.arms < 1) return refuse("actions", facts.arms, "a whole number >= 1");
  if (facts.dimension < 1) return refuse("dimension", facts.dimension, "a whole number >= 1");
  if (facts.people != federation.topology.clients()) {
    return refuse("agents", facts.people,
                  "the number of agents in the federation: " + std::to_string(federation.topology.clients()));
  }
  if (world.single_precision() && !roles.agent_float) {
    return InvalidField(Part::kFacts, "precision", "float",
                        "double: the algorithm has no agents that use float");
  }
  for (const Failure& failure : options.failures) {
    if (failure.kind == Failure::Kind::kAgent && !roles.controller) continue;
    return absl::UnimplementedError("only peers can be lost in an algorithm that plays in rounds");
  }
  return absl::OkStatus();
}

std::vector<Checkpoint> CheckpointsOf(const RoundRecorder& recorder, Observations& observations) {
  std::vector<Checkpoint> checkpoints = recorder.Checkpoints();
  observations.numbers.try_emplace("repairs", 0);
  for (Checkpoint& checkpoint : checkpoints) {
    if (std::isnan(checkpoint.regret)) checkpoint.best_action_rate = checkpoint.regret;
    // The roles tell about the whole run, so only the last checkpoint has their numbers.
    for (const auto& [name, value] : observations.numbers) {
      checkpoint.series[name] = &checkpoint == &checkpoints.back() ? value : 0;
    }
  }
  return checkpoints;
}

}  // namespace

absl::StatusOr<Outcome> SimulateRounds(const Federation& federation, RoundWorld& world,
                                       const SimulateOptions& options) {
  const auto& roles = std::get<RoundRoles>(federation.roles);
  BANDANA_RETURN_IF_ERROR(Check(federation, roles, world, options));
  RoundRecorder recorder(world.facts().people, options.checkpoints, options.decisions);
  Observations observations;
  const RoundRun run{federation, roles, world, options, recorder, observations};
  BANDANA_RETURN_IF_ERROR(world.single_precision() ? Play<float>(run) : Play<double>(run));
  Outcome outcome{.checkpoints = CheckpointsOf(recorder, observations)};
  for (const std::vector<ArmId>& arms : recorder.decisions()) {
    std::vector<Pull>& pulls = outcome.decisions.emplace_back();
    for (const ArmId arm : arms) pulls.push_back({arm, 1});
  }
  return outcome;
}

}  // namespace bandana::sim
