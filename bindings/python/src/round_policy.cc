#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bandana/bandit/decision_block.h"
#include "bandana/core/status.h"
#include "bandana/federation/played_arm.h"
#include "policy_kinds.h"
#include "role_door.h"

namespace bandana::python {
namespace {

constexpr NodeId kAgent{1};

/// One agent that meets a decision set in every round, with its controller.
class RoundPolicy final : public Policy {
 public:
  RoundPolicy(const Federation& federation, const RoundRoles& roles, const Facts& facts,
              const PolicyDraws& draws)
      : agent_(roles.agent(kAgent)),
        controller_(roles.controller(kAgent)),
        outside_(draws, roles.budget ? roles.budget(kAgent) : federation.budget),
        agent_door_(outside_, federation.topology.LinksOf(kAgent)),
        controller_door_(outside_, federation.topology.LinksOf(kServerNode)),
        all_(1, facts.arms, facts.dimension),
        one_(1, 1, facts.dimension),
        horizon_(facts.horizon) {}

  absl::Status Start() {
    BANDANA_RETURN_IF_ERROR(controller_->OnStart(controller_door_));
    return Settle();
  }

  absl::StatusOr<ArmId> Select(const double* contexts) override {
    Fill(contexts, all_);
    ++selected_;
    return Best();
  }

  absl::StatusOr<bool> Update(const double* context, ArmId, double reward, std::optional<NodeId>) override {
    const Count round = learned_ + 1;
    if (round > horizon_ || agent_->rounds_ready() < 1) {
      return InvalidField(Part::kFacts, "horizon", static_cast<double>(horizon_),
                          "at least as many rounds as the policy is to learn from");
    }
    // The agent is offered this arm alone, so that it records the arm that was played, whenever the reward
    // comes.
    Fill(context, one_);
    agent_->Act(agent_door_, round, Raw(one_.set(0)));
    BANDANA_RETURN_IF_ERROR(agent_->Observe(agent_door_, round, Raw<double>(reward)));
    BANDANA_RETURN_IF_ERROR(agent_->EndRound(agent_door_, round));
    learned_ = round;
    BANDANA_RETURN_IF_ERROR(Settle());
    return true;
  }

  absl::Status SelectMany(const double* contexts, Count rounds, bool, std::int64_t* out) override {
    for (Count i = 0; i < rounds; ++i) {
      Fill(contexts + i * context_size(), all_);
      out[i] = Best();
    }
    return absl::OkStatus();
  }

  absl::Status UpdateMany(const double* contexts, Count rounds, const std::int64_t* played,
                          const double* rewards) override {
    for (Count i = 0; i < rounds; ++i) {
      const double* context = contexts + i * context_size() + played[i] * dimension;
      BANDANA_RETURN_IF_ERROR(
          Update(context, static_cast<ArmId>(played[i]), rewards[i], std::nullopt).status());
    }
    return absl::OkStatus();
  }

  absl::Status Scores(const double*, Count, double*) override {
    return absl::UnimplementedError(
        "this policy has no scores of its own to show: it chooses by upper confidence bounds; use select() "
        "or predict()");
  }

  std::string Save() override { return SaveWith({agent_->Save(), controller_->Save()}); }
  absl::Status Restore(std::string_view saved) override {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> roles, RestoreWith(saved, 2));
    BANDANA_RETURN_IF_ERROR(agent_->Restore(roles[0]));
    return controller_->Restore(roles[1]);
  }
  std::string secret() const override { return kSilosState; }

 private:
  ArmId Best() { return PlayedArm::Of(agent_->Act(agent_door_, learned_ + 1, Raw(all_.set(0)))); }

  static void Fill(const double* contexts, DecisionBlock<double>& block) {
    double* entries = block.entries(0);
    for (Eigen::Index a = 0; a < block.arms(); ++a) {
      for (Eigen::Index j = 0; j < block.dimension(); ++j) {
        entries[j * block.stride() + a] = contexts[a * block.dimension() + j];
      }
    }
  }

  // Delivers until nobody has anything to say.
  absl::Status Settle() {
    while (!agent_door_.outbox.empty() || !controller_door_.outbox.empty()) {
      for (const auto& [to, message] : std::exchange(controller_door_.outbox, {})) {
        BANDANA_RETURN_IF_ERROR(agent_->OnMessage(agent_door_, message));
      }
      for (const auto& [to, message] : std::exchange(agent_door_.outbox, {})) {
        BANDANA_RETURN_IF_ERROR(controller_->OnMessage(controller_door_, message));
      }
    }
    return absl::OkStatus();
  }

  std::unique_ptr<RoundPlayer<double>> agent_;
  std::unique_ptr<Node> controller_;
  RoleOutside outside_;
  RoleDoor agent_door_;
  RoleDoor controller_door_;
  DecisionBlock<double> all_;
  DecisionBlock<double> one_;
  Count horizon_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Policy>> MakeRoundPolicy(const Federation& federation, const Facts& facts,
                                                        const PolicyDraws& draws) {
  const auto& roles = std::get<RoundRoles>(federation.roles);
  if (!roles.controller || roles.shuffler || federation.topology.clients() != 1) {
    return absl::UnimplementedError(
        "only an agent that plays alone is a policy; use bandana.run for a federation");
  }
  auto policy = std::make_unique<RoundPolicy>(federation, roles, facts, draws);
  BANDANA_RETURN_IF_ERROR(policy->Start());
  return policy;
}

}  // namespace bandana::python
