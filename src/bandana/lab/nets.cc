#include "bandana/lab/nets.h"

#include <string>

#include "bandana/bandit/net_problem.h"
#include "bandana/core/status.h"

namespace bandana::lab {
namespace {

std::optional<ActionSet> SetOf(const Settings& settings) {
  const std::string& name = settings.Text("environment.action_set");
  for (const ActionSet set : {ActionSet::kBall, ActionSet::kSphere, ActionSet::kBox}) {
    if (name == NameOf(set)) return set;
  }
  return std::nullopt;
}

/// P2 takes 1/T, so that a net costs a regret of at most 1 (Eq. 19). Where the best action's neighbour is
/// closer in reward than in distance, a wider net costs no more, and its fewer actions make narrower widths.
absl::Status ChooseRadius(Count dimension, double horizon, NetChoice& net) {
  net.radius = NetRadiusFor(*net.set, horizon, 1);
  net.most_entries = kAutoNetEntries;
  const NetParams costs_one{
      .set = *net.set, .dimension = dimension, .radius = net.radius, .most_entries = net.most_entries};
  if (NetSize(costs_one).ok()) return absl::OkStatus();
  absl::StatusOr<double> least = SmallestNetRadius(*net.set, dimension, net.most_entries);
  if (!least.ok()) {
    net.most_entries = kMostNetEntries;
    least = SmallestNetRadius(*net.set, dimension, net.most_entries);
  }
  if (!least.ok()) return least.status();
  net.radius = *least;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<NetChoice>> NetOf(const Settings& settings) {
  if (!settings.Has("environment.action_set")) return std::nullopt;  // contexts: policies stand for actions
  NetChoice net{.set = SetOf(settings), .sampled = settings.Text("algorithm.net") == "sampled"};
  if (!net.set.has_value() && !net.sampled) return std::nullopt;
  if (settings.Text("algorithm.net") == "none") {
    return InvalidInput({.message = "an infinite set is played through a net",
                         .key = "algorithm.net",
                         .value = "none",
                         .accepted = "auto, sampled; or environment.action_set = finite"});
  }
  const double horizon = static_cast<double>(settings.Integer("horizon"));
  const double theta_norm = settings.Number("environment.theta_norm");
  if (const std::optional<double> given = settings.NumberOrAuto("algorithm.net_radius")) {
    net.radius = *given;
  } else if (net.sampled) {
    net.radius = 1 / horizon;
  } else {
    const Count dimension = settings.Integer("environment.dimension");
    BANDANA_RETURN_IF_ERROR(ChooseRadius(dimension, theta_norm * horizon, net));
  }
  if (net.sampled && net.set.has_value()) return net;
  net.cost = horizon * theta_norm * (net.sampled ? net.radius : NetLoss(*net.set, net.radius));
  return net;
}

absl::StatusOr<LinearProblem> MakeNetProblem(const Settings& settings, const NetChoice& net,
                                             std::uint32_t replicate) {
  const NetParams params{.set = *net.set,
                         .dimension = settings.Integer("environment.dimension"),
                         .radius = net.radius,
                         .most_entries = net.most_entries};
  const double theta_norm = settings.Number("environment.theta_norm");
  const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
  if (!net.sampled) return NetProblem(params, theta_norm, seed, replicate);
  return SampledNetProblem(params, settings.Integer("algorithm.net_samples"), theta_norm, seed, replicate);
}

}  // namespace bandana::lab
