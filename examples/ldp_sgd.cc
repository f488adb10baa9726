// Runs LDP-SGD: every round has a new user, who trusts nobody and sends one private message.

#include <bandana/bandana.h>

#include <cstdio>

int main() {
  using namespace bandana;
  const auto world = ValueOrExit(MakeWorld("glm", TimeModel::kUser,
                                           {{"link", "logistic"}, {"dimension", 2}, {"actions", 10}},
                                           {.horizon = 200'000, .seed = 7}));
  const Privacy privacy{.model = TrustModel::kLocal, .epsilon = 1};
  const Federation federation = ValueOrExit(CreateLdpSgd({}, privacy, world->facts()));
  const Outcome outcome = ValueOrExit(Simulate(federation, *world, {.seed = 7}));
  const Checkpoint& end = outcome.checkpoints.back();
  std::printf("regret %.0f in %lld rounds\n", end.regret, static_cast<long long>(end.t));
  for (const Claim& claim : federation.claims) std::printf("%s\n", ToText(claim).c_str());
}
