// Runs HDP-MAB: twelve shops in three towns look for the best of six offers. In each town one shop reports to
// the server for all.

#include <bandana/bandana.h>

#include <cstdio>

int main() {
  using namespace bandana;
  const auto world = ValueOrExit(
      MakeWorld("mab", TimeModel::kTick, {{"agents", 12}, {"actions", 6}}, {.horizon = 20'000, .seed = 5}));
  const HdpMabParams params{.network = {.components = {4, 4, 4}, .component_topology = GraphShape::kLine}};
  const Privacy privacy{.model = TrustModel::kSilo, .epsilon = 2};
  const Federation federation = ValueOrExit(CreateHdpMab(params, privacy, world->facts()));
  const Outcome outcome = ValueOrExit(Simulate(federation, *world, {.seed = 5}));
  const Checkpoint& end = outcome.checkpoints.back();
  std::printf("regret %.0f per shop, %.0f messages between shops and to the server\n",
              end.series.at("regret_per_agent"), end.series.at("messages"));
  for (const Claim& claim : federation.claims) std::printf("%s\n", ToText(claim).c_str());
}
