#include "bandana/bandit/net_problem.h"

#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::StatusOr<Vector> DrawTheta(Count dimension, double norm, std::uint64_t seed, std::uint32_t replicate) {
  if (!(dimension >= 1 && dimension <= 1'000'000)) {
    return InvalidField(Part::kParams, "dimension", static_cast<double>(dimension),
                        "a whole number from 1 to 1000000");
  }
  BANDANA_ASSIGN_OR_RETURN(
      const LinearProblem problem,
      LinearProblem::DrawTheta(ActionMatrix::Identity(1, dimension), norm, seed, replicate));
  return problem.theta();
}

ActionMatrix Rows(const ActionMatrix& actions, const std::vector<ArmId>& arms) {
  ActionMatrix rows(std::ssize(arms), actions.cols());
  for (std::size_t i = 0; i < arms.size(); ++i) rows.row(i) = actions.row(arms[i]);
  return rows;
}

}  // namespace

absl::StatusOr<LinearProblem> NetProblem(const NetParams& net, double theta_norm, std::uint64_t seed,
                                         std::uint32_t replicate) {
  BANDANA_ASSIGN_OR_RETURN(Vector theta, DrawTheta(net.dimension, theta_norm, seed, replicate));
  BANDANA_ASSIGN_OR_RETURN(ActionMatrix actions, MakeNet(net));
  const double optimum = SetOptimum(net.set, theta);
  return LinearProblem::Create(std::move(actions), std::move(theta), optimum);
}

absl::StatusOr<LinearProblem> SampledNetProblem(const NetParams& net, Count samples, double theta_norm,
                                                std::uint64_t seed, std::uint32_t replicate) {
  BANDANA_ASSIGN_OR_RETURN(Vector theta, DrawTheta(net.dimension, theta_norm, seed, replicate));
  const Count most = kMostNetEntries / net.dimension;
  if (!(samples >= 1 && samples <= most)) {
    return InvalidField(Part::kParams, "actions", fmt::format("{}", samples),
                        fmt::format("a whole number from 1 to {}", most));
  }
  PhiloxSource bits({.seed = seed,
                     .replicate = replicate,
                     .node = kServerNode,
                     .epoch = 1,  // theta has epoch 0
                     .stream = Stream::kInstance});
  CoinGen coin(bits);
  const ActionMatrix sample = DrawActions(net.set, net.dimension, samples, coin);
  BANDANA_ASSIGN_OR_RETURN(const std::vector<ArmId> kept, SampledNet(sample, net.radius));
  const double optimum = SetOptimum(net.set, theta);
  return LinearProblem::Create(Rows(sample, kept), std::move(theta), optimum);
}

absl::StatusOr<LinearProblem> ThinnedProblem(const LinearProblem& problem, double radius) {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<ArmId> kept, SampledNet(problem.actions(), radius));
  return LinearProblem::Create(Rows(problem.actions(), kept), problem.theta(), problem.optimum());
}

}  // namespace bandana
