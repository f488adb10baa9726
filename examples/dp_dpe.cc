// Runs DP-DPE, phased elimination with a trusted server, on a simulated population, and prints what it
// learned and what it promises.

#include <bandana/bandana.h>

#include <cstdio>

int main() {
  using namespace bandana;
  const auto world = ValueOrExit(
      MakeLinearWorld({.dimension = 5, .actions = 100, .client_sd = 0.1}, {.horizon = 100'000, .seed = 7}));
  const Privacy privacy{.model = TrustModel::kCentral, .epsilon = 1, .delta = 1e-6};
  const Federation federation = ValueOrExit(CreateDpDpe({.alpha = 0.8}, privacy, world->facts()));
  const Outcome outcome = ValueOrExit(Simulate(federation, *world, {.seed = 7}));
  std::printf("regret %.0f after %zu phases\n", outcome.checkpoints.back().regret, outcome.phases.size());
  for (const Claim& claim : federation.claims) std::printf("%s\n", ToText(claim).c_str());
}
