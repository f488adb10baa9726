#include "bandana/sim/simulate.h"

#include <utility>

#include "bandana/core/status.h"

namespace bandana {
namespace {

const char* NameOf(TimeModel time) {
  switch (time) {
    case TimeModel::kSlot:
      return "slots";
    case TimeModel::kRound:
      return "rounds";
    case TimeModel::kTick:
      return "ticks";
    case TimeModel::kUser:
      return "users";
  }
  return "";
}

template <class Wanted, class Run>
absl::StatusOr<Outcome> RunIn(World& world, TimeModel time, Run run) {
  auto* wanted = dynamic_cast<Wanted*>(&world);
  if (wanted != nullptr) return run(*wanted);
  return InvalidOption("world", "a world of another time model", std::string("a world for ") + NameOf(time));
}

}  // namespace

absl::StatusOr<Outcome> Simulate(const Federation& federation, World& world, const SimulateOptions& given) {
  SimulateOptions options = given;
  if (options.checkpoints.empty()) options.checkpoints = {world.facts().horizon};
  const auto run = [&](auto simulate) {
    return [&, simulate](auto& own) { return simulate(federation, own, options); };
  };
  switch (federation.time()) {
    case TimeModel::kSlot:
      return RunIn<SlotWorld>(world, federation.time(), run(sim::SimulateSlots));
    case TimeModel::kRound:
      return RunIn<RoundWorld>(world, federation.time(), run(sim::SimulateRounds));
    case TimeModel::kTick:
      return RunIn<SlotWorld>(world, federation.time(), run(sim::SimulateTicks));
    case TimeModel::kUser:
      return RunIn<UserWorld>(world, federation.time(), run(sim::SimulateUsers));
  }
  return absl::InternalError("the federation has an unknown time model");
}

}  // namespace bandana
