#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/federation/hears_silence.h"
#include "bandana/sim/message_losses.h"
#include "bandana/sim/round_seat.h"
#include "bandana/sim/simulate.h"

/// Agents that meet a decision set of their own in every round.
///
/// With a controller, messages take no time: what agents send at the end of a round is answered before the
/// next one. While they wait for nobody, agents play whole stretches of rounds one after the other, each on
/// some thread. Messages may be lost. A lost share is sent again with the agent's next one, as it was
/// recorded. Among peers on a graph messages take one round per hop, and all play round by round.
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
    if (run.options.dropout > 0 || !run.options.failures.empty()) {
      losses_.emplace(run.options, randomness_);
      dynamic_cast<HearsSilence&>(*controller_).ExpectLosses();  // CheckLosses knows that it is one
    }
  }

  absl::Status Play() {
    BANDANA_RETURN_IF_ERROR(controller_->OnStart(controller_context_));
    while (true) {
      BANDANA_RETURN_IF_ERROR(Settle());
      if (losses_.has_value()) BANDANA_RETURN_IF_ERROR(BreakSilence());
      Count ready = 0;
      for (const auto& seat : seats_) {
        if (seat->alive) ready = std::max(ready, seat->agent->rounds_ready());
      }
      if (losses_.has_value()) ready = NextStop(ready);
      if (ready == 0) break;
      BANDANA_RETURN_IF_ERROR(PlayAll(run_.roles.lock_step ? 1 : ready));
      if (run_.stopped()) return absl::CancelledError("interrupted");
    }
    // All agents of a group decide by the same released sums, so one of them speaks for all.
    seats_.front()->agent->Describe(run_.observations);
    if (losses_.has_value())
      run_.observations.numbers["lost_messages"] = static_cast<double>(losses_->count());
    return controller_->finished() || losses_.has_value()
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

  // Without losses all agents are in the same round. An agent that is lost stays in its last one.
  Count Now() const {
    Count now = 0;
    for (const auto& seat : seats_) now = std::max(now, seat->round());
    return now;
  }

  // Agents that no longer hear the controller could play to the end at once. They go at the others' pace, so
  // that all are in the same round.
  Count NextStop(Count most) const {
    for (const auto& seat : seats_) {
      const Count ready = seat->alive ? seat->agent->rounds_ready() : 0;
      if (ready > 0) most = std::min(most, ready);
    }
    return most;
  }

  // Whoever waits for a message that was lost does without it.
  absl::Status BreakSilence() {
    const Count now = Now();
    if (now == 0) return absl::OkStatus();
    auto& controller = dynamic_cast<HearsSilence&>(*controller_);
    BANDANA_RETURN_IF_ERROR(controller.OnSilence(controller_context_, now));
    BANDANA_RETURN_IF_ERROR(Settle());
    for (const auto& seat : seats_) {
      if (!seat->alive || seat->agent->rounds_ready() > 0 || now >= run_.world.facts().horizon) continue;
      auto& agent = dynamic_cast<HearsSilence&>(*seat->agent);
      BANDANA_RETURN_IF_ERROR(agent.OnSilence(seat->context, now));
    }
    return absl::OkStatus();
  }

  // Returns false if the message is lost. The shares that an agent lost before come first.
  absl::StatusOr<bool> Arrives(NodeId to, const Message& message) {
    const NodeId agent = to == kServerNode ? message.from : to;
    RoundSeat<Scalar>& seat = *seat_of_.at(agent);
    if (!seat.alive) return false;
    const auto* share = std::get_if<Share>(&message.body);
    const auto* model = std::get_if<Model>(&message.body);
    const Epoch sync = share != nullptr ? share->epoch : model != nullptr ? model->epoch - 1 : last_model_;
    switch (losses_->Judge(agent, to == kServerNode, sync)) {
      case MessageLosses::Fate::kArrives:
        break;
      case MessageLosses::Fate::kAgentIsLost:
        seat.alive = false;
        return false;
      case MessageLosses::Fate::kLost:
        if (share != nullptr) held_[agent].push_back(message);
        return false;
    }
    if (share != nullptr) {
      for (const Message& held : std::exchange(held_[agent], {})) {
        BANDANA_RETURN_IF_ERROR(Receive(to, held));
      }
    }
    return true;
  }

  absl::Status Deliver(NodeId to, const Message& message) {
    if (losses_.has_value()) {
      BANDANA_ASSIGN_OR_RETURN(const bool arrives, Arrives(to, message));
      if (!arrives) return absl::OkStatus();
    }
    return Receive(to, message);
  }

  absl::Status Receive(NodeId to, const Message& message) {
    const Count round = Now();
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
      for (const auto& seat : seats_) {
        if (seat->alive) BANDANA_RETURN_IF_ERROR(seat->PlayRounds(rounds));
      }
      return absl::OkStatus();
    }
    std::vector<absl::Status> statuses(seats_.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < seats_.size(); i = next++) {
        if (seats_[i]->alive) statuses[i] = seats_[i]->PlayRounds(rounds);
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
  std::optional<MessageLosses> losses_;
  absl::flat_hash_map<NodeId, std::vector<Message>> held_;  // shares that were lost, to be sent again
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

absl::Status CheckLosses(const RoundRoles& roles, const SimulateOptions& options) {
  if (options.dropout == 0 && options.failures.empty()) return absl::OkStatus();
  if (!roles.controller) {
    const bool agents_alone =
        std::all_of(options.failures.begin(), options.failures.end(),
                    [](const Failure& failure) { return failure.kind == Failure::Kind::kAgent; });
    if (options.dropout == 0 && agents_alone) return absl::OkStatus();
    return absl::UnimplementedError("among peers that play rounds, only whole agents can be lost");
  }
  if (roles.shuffler) {
    const char* field = options.dropout > 0 ? "dropout" : "failures";
    return InvalidField(Part::kParams, field, options.dropout > 0 ? "> 0" : "some",
                        "none with model = \"shuffle\": the noise is that of all agents together");
  }
  const auto controller = roles.controller(NodeId{1});
  if (roles.groups.size() <= 1 && dynamic_cast<HearsSilence*>(controller.get()) != nullptr) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError("this algorithm cannot do without messages: nothing may be lost");
}

absl::Status Check(const Federation& federation, const RoundRoles& roles, const RoundWorld& world,
                   const SimulateOptions& options) {
  const Facts& facts = world.facts();
  const auto refuse = [](const char* field, Count value, const std::string& accepted) {
    return InvalidField(Part::kFacts, field, static_cast<double>(value), accepted);
  };
  if (facts.horizon < 1) return refuse("horizon", facts.horizon, "a whole number >= 1");
  if (facts.arms < 1) return refuse("arms", facts.arms, "a whole number >= 1");
  if (facts.dimension < 1) return refuse("dimension", facts.dimension, "a whole number >= 1");
  if (facts.people != federation.topology.clients()) {
    return refuse("people", facts.people,
                  "the number of agents in the federation: " + std::to_string(federation.topology.clients()));
  }
  if (world.single_precision() && !roles.agent_float) {
    return absl::InvalidArgumentError(
        "the world draws in single precision, but the algorithm has no agents that use float");
  }
  return CheckLosses(roles, options);
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
