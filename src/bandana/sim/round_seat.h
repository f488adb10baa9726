#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bandana/bandit/decision_block.h"
#include "bandana/bandit/round_recorder.h"
#include "bandana/core/status.h"
#include "bandana/federation/played_arm.h"
#include "bandana/sim/sim_context.h"
#include "bandana/sim/simulate.h"

/// The places that roles of rounds have in the simulator.
namespace bandana::sim {

inline constexpr Count kBlock = 16;  // rounds; a block of K = 100, d = 10 stays in the second-level cache
inline constexpr Count kRoundsBetweenLooks = 1024;  // at `stop`

/// The state that all agents of a run share.
struct RoundRun {
  const Federation& federation;
  const RoundRoles& roles;
  RoundWorld& world;
  const SimulateOptions& options;
  RoundRecorder& recorder;
  Observations& observations;

  bool stopped() const { return options.stop != nullptr && *options.stop; }
};

struct RoundEnvelope {
  NodeId to;
  Message message;
};

/// The context of an agent, a controller or a shuffler.
class RoundContext final : public SimContext {
 public:
  using SimContext::SimContext;

  void Send(NodeId to, Payload payload) override {
    outbox_.push_back({to, {links().self, links().self, 0, next_seq_++, std::move(payload)}});
  }

  std::vector<RoundEnvelope>& outbox() { return outbox_; }

 private:
  Seq next_seq_ = 0;
  std::vector<RoundEnvelope> outbox_;
};

/// One agent with its block of decision sets and what it has sent.
template <class Scalar>
class RoundSeat {
 public:
  RoundSeat(const RoundRun& run, SimRandomness& randomness, NodeId node)
      : self(node),
        agent(MakeAgent(run.roles, node)),
        context(randomness, run.federation.topology.LinksOf(node)),
        run_(run),
        horizon_(run.world.facts().horizon) {}

  const NodeId self;
  const std::unique_ptr<RoundPlayer<Scalar>> agent;
  RoundContext context;
  bool alive = true;

  Count round() const { return round_; }  ///< the last round that it has played

  absl::Status PlayRound() {
    const Count round = ++round_;
    if (!agent->Plays(round)) return absl::OkStatus();
    const Count first = (round - 1) / kBlock * kBlock + 1;
    if (block_first_ != first) Fill(first);
    const Count at = round - first;
    const ArmId arm = PlayedArm::Of(agent->Act(context, round, Raw(block_->set(at))));
    run_.recorder.Play(self, round, arm, block_->Gap(at, arm));
    return agent->Observe(context, round, Raw<double>(run_.world.Reward(*block_, self, at, arm)));
  }

  /// Plays so many rounds, or as many as the agent can.
  absl::Status PlayRounds(Count rounds) {
    const Count ready = std::min(rounds, agent->rounds_ready());
    for (Count i = 0; i < ready; ++i) {
      BANDANA_RETURN_IF_ERROR(PlayRound());
      BANDANA_RETURN_IF_ERROR(agent->EndRound(context, round_));
      if (i % kRoundsBetweenLooks == 0 && run_.stopped()) return absl::CancelledError("interrupted");
    }
    return absl::OkStatus();
  }

 private:
  static std::unique_ptr<RoundPlayer<Scalar>> MakeAgent(const RoundRoles& roles, NodeId node) {
    if constexpr (std::is_same_v<Scalar, float>) {
      return roles.agent_float(node);
    } else {
      return roles.agent(node);
    }
  }

  void Fill(Count first) {
    if (block_ == nullptr) {
      const Facts& facts = run_.world.facts();
      block_ = std::make_unique<DecisionBlock<Scalar>>(kBlock, facts.arms, facts.dimension);
    }
    block_->SetRounds(std::min(kBlock, horizon_ - first + 1));
    run_.world.Fill(self, first, *block_);
    block_first_ = first;
  }

  const RoundRun& run_;
  Count horizon_;
  std::unique_ptr<DecisionBlock<Scalar>> block_;
  Count block_first_ = 0;  // 0: none yet
  Count round_ = 0;
};

}  // namespace bandana::sim
