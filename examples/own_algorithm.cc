// An algorithm of one's own, as a plugin: elimination whose phases grow by a factor that the user chooses.
// Designs, mechanisms, noise and claims are the library's. After it is built,
//
//   bandana list algorithms own-elimination --plugin libown_algorithm.so
//   bandana run experiment.toml --plugin libown_algorithm.so
//
// know it by its name.

#include <bandana/algorithm.h>

#include <cmath>

namespace {

struct OwnParams {
  double growth = 3;             // phase l aims at growth^l rounds
  double failure = 1e-4;         // the probability that one confidence bound fails
  bandana::Count clients = 200;  // clients in every phase
};

absl::StatusOr<bandana::Federation> CreateOwn(const OwnParams& params, const bandana::Privacy& privacy,
                                              const bandana::Facts& facts) {
  const bandana::EliminationWorld world = bandana::EliminationWorldOf(privacy, facts);
  bandana::EliminationRules rules;
  rules.horizon = world.horizon;
  rules.level = params.failure;
  rules.rounds = [growth = params.growth](bandana::Epoch phase) { return std::pow(growth, phase); };
  rules.clients = [clients = params.clients](bandana::Epoch) { return clients; };
  rules.clip = world.clip;
  rules.population = world.population;
  return bandana::CreateElimination(rules, privacy, facts);
}

bandana::Family OwnFamily() {
  using P = OwnParams;
  using bandana::Claims;  // whether an option changes what is promised; none of these does
  bandana::OptionsFor<P> options("algorithm");
  options
      .Number(
          "growth", Claims::kKept, &P::growth, [](double value) { return value > 1 && value <= 16; },
          "a number in (1, 16]", "The factor by which phases grow.")
      .Number("failure", Claims::kKept, &P::failure, bandana::Probability, "a number in (0, 1)",
              "The probability that one confidence bound fails.")
      .Integer("clients", Claims::kKept, &P::clients, 1, "How many clients take part in each phase.");
  bandana::Family family;
  family.name = "own-elimination";
  family.sentence = "Elimination with phases that grow by a factor of your choice.";
  family.time = bandana::TimeModel::kSlot;
  family.trust = bandana::MeanModels();
  family.worlds = {"linear"};
  family.privacy_keys = {"epsilon", "delta", "noise", "sampler", "shuffle", "transport", "colluding"};
  return bandana::WithParams(family, options, &CreateOwn);
}

}  // namespace

BANDANA_PLUGIN(registry) { return registry.Add(OwnFamily()); }
