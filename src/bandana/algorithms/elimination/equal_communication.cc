#include "bandana/algorithms/elimination/equal_communication.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "bandana/core/bit_source.h"
#include "bandana/core/distributions.h"

namespace bandana {
namespace {

constexpr std::uint32_t kRuns = 9;         // odd, so that one of them is the median
constexpr std::uint64_t kSeed = 20240206;  // any number

struct Sent {
  double by_clients = 0;  // sum |U_l| N_l
  double numbers = 0;     // sum N_l
};

std::vector<Pull> PullsOf(const Design& design, double rounds) {
  std::vector<Pull> pulls;
  for (std::size_t i = 0; i < design.support.size(); ++i) {
    const double wanted = std::max(1.0, CeilCount(rounds * design.weights[i]));
    pulls.push_back({design.support[i], static_cast<Count>(std::min(wanted, 0x1p61))});
  }
  return pulls;
}

// Draws the mean over all clients of each action's average. Clients differ, and share theta's direction.
std::vector<double> DrawAverages(const EliminationRules& rules, const ActionMatrix& actions,
                                 const Vector& theta, const std::vector<Pull>& pulls, Count clients,
                                 CoinGen& coin) {
  const double root = std::sqrt(static_cast<double>(clients));
  Vector mean = theta;
  for (double& entry : mean) entry += rules.clip.client_sd / root * StandardNormal(coin);
  std::vector<double> averages;
  for (const Pull& pull : pulls) {
    const double spread = rules.clip.reward.proxy() / (root * std::sqrt(static_cast<double>(pull.count)));
    averages.push_back(Dot(actions, pull.arm, mean) + spread * StandardNormal(coin));
  }
  return averages;
}

absl::Status Simulate(const EliminationRules& rules, const ActionMatrix& actions, std::uint32_t run,
                      Sent& sent) {
  PhiloxSource bits(
      {.seed = kSeed, .replicate = run, .node = kServerNode, .epoch = 0, .stream = Stream::kExploration});
  CoinGen coin(bits);
  Vector theta(actions.cols());
  for (double& entry : theta) entry = StandardNormal(coin);
  theta.normalize();
  std::vector<ArmId> active(static_cast<std::size_t>(actions.rows()));
  std::iota(active.begin(), active.end(), 0);
  std::optional<Design> design;
  double left = static_cast<double>(rules.horizon);
  for (Epoch epoch = 1; epoch <= rules.phases; ++epoch) {
    if (!design.has_value()) {
      BANDANA_ASSIGN_OR_RETURN(design, NearOptimalDesign(actions, active));
    }
    const std::vector<Pull> pulls = PullsOf(*design, rules.rounds(epoch));
    Count rounds = 0;
    for (const Pull& pull : pulls) rounds += pull.count;
    left -= static_cast<double>(rounds);
    if (left < 0) break;
    const Count clients = rules.clients(epoch);
    const auto numbers =
        rules.report == ClientReport::kAverages ? pulls.size() : static_cast<std::size_t>(design->rank());
    sent.by_clients += static_cast<double>(clients) * static_cast<double>(numbers);
    sent.numbers += static_cast<double>(numbers);
    const PhaseRegression regression(actions, *design, pulls);
    const Vector estimate = regression.Estimate(DrawAverages(rules, actions, theta, pulls, clients, coin));
    // Without privacy noise the intervals are so wide that nothing is clipped.
    const PhaseErrors errors{.clients = std::vector<Count>(pulls.size(), clients),
                             .rule = rules.clip,
                             .misspecification = rules.misspecification,
                             .bounds = std::vector<Interval>(pulls.size(), {-0x1p19, 0x1p19}),
                             .report = rules.report};
    const PhaseFacts facts{.epoch = epoch,
                           .target = rules.rounds(epoch),
                           .rounds = rounds,
                           .clients = clients,
                           .dimension = static_cast<int>(actions.cols()),
                           .actions = static_cast<int>(active.size()),
                           .pulls = pulls};
    auto survivors = rules.width == Width::kExact
                         ? regression.EliminateExactly(estimate, active, errors, rules.level)
                         : regression.EliminateBy(2 * rules.paper_width(facts), estimate, active);
    if (survivors.active.size() != active.size()) design.reset();
    active = std::move(survivors.active);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Count> EqualCommunicationClients(const EliminationRules& growing,
                                                const ActionMatrix& actions) {
  // Wrong rules are refused elsewhere, by name.
  if (!(growing.level > 0 && growing.level < 1)) return 1;
  // In a run that keeps two actions to the end U is larger by half, so the median is nearer to most runs.
  std::vector<double> clients;
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    Sent sent;
    BANDANA_RETURN_IF_ERROR(Simulate(growing, actions, run, sent));
    if (!(sent.numbers > 0)) return 1;  // no phase is whole
    clients.push_back(CeilCount(sent.by_clients / sent.numbers));
  }
  std::nth_element(clients.begin(), clients.begin() + kRuns / 2, clients.end());
  return static_cast<Count>(std::min(0x1p62, clients[kRuns / 2]));
}

}  // namespace bandana
