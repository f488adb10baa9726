// Runs FedUCB: ten hospitals learn one linear model together, and a controller sees only sums with noise.

#include <bandana/bandana.h>

#include <cstdio>

int main() {
  using namespace bandana;
  RoundContexts world = ValueOrExit(RoundContexts::Create({.contexts = RoundLaw::kGap,
                                                           .dimension = 5,
                                                           .actions = 20,
                                                           .reward = RewardKind::kBernoulli,
                                                           .agents = 10,
                                                           .horizon = 5'000,
                                                           .seed = 7}));
  const Privacy privacy{.model = TrustModel::kSilo, .epsilon = 1, .delta = 1e-5};
  const Federation federation = ValueOrExit(CreateFedUcb({.sync = Sync::kMLogT}, privacy, world.facts()));
  const Outcome outcome = ValueOrExit(Simulate(federation, world, {.seed = 7}));
  const Checkpoint& end = outcome.checkpoints.back();
  std::printf("regret %.0f per agent, %.0f syncs\n", end.series.at("regret_per_agent"),
              end.series.at("syncs"));
  for (const Claim& claim : federation.claims) std::printf("%s\n", ToText(claim).c_str());
}
