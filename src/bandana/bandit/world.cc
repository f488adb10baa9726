#include "bandana/bandit/world.h"

#include "bandana/core/check.h"

namespace bandana {

absl::Status SlotWorld::AnswerGroup(NodeId, Count, Epoch, ArmId, std::vector<RewardSum>&) {
  return absl::UnimplementedError("this world can answer clients only one by one");
}

void RoundWorld::Fill(NodeId, Count, DecisionBlock<float>&) { BANDANA_CHECK(single_precision()); }

double RoundWorld::Reward(const DecisionBlock<float>&, NodeId, Count, ArmId) {
  BANDANA_CHECK(single_precision());
  return 0;
}

void UserView::Scores(std::span<const double> thetas, std::span<double> scores) {
  const ActionMatrix& contexts = Contexts();
  const Eigen::Index d = contexts.cols();
  const bool multi = contexts.rows() == 1 && static_cast<Eigen::Index>(thetas.size()) > d;
  for (std::size_t arm = 0; arm < scores.size(); ++arm) {
    const auto a = static_cast<Eigen::Index>(arm);
    scores[arm] = Dot(contexts.data() + (multi ? 0 : a * d), thetas.data() + (multi ? a * d : 0), d);
  }
}

std::span<const double> UserWorld::Context(ArmId arm) {
  const ActionMatrix& contexts = Contexts();
  const Eigen::Index row = facts().multi ? 0 : arm;
  return {contexts.data() + row * contexts.cols(), static_cast<std::size_t>(contexts.cols())};
}

}  // namespace bandana
