#pragma once

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "bandana/bandit/recorder.h"
#include "bandana/bandit/world.h"
#include "bandana/federation/release.h"
#include "bandana/federation/shuffler.h"
#include "bandana/privacy/privatizer.h"
#include "bandana/sim/slot_simulator.h"

namespace bandana::sim {

/// Names the shuffler of a privatizer. (Simulator has no template template parameter for this, because with a
/// constrained one GCC 12 forgets which types satisfy other constraints.)
struct OurShufflers {
  template <class P>
  using Of = Shuffler<P>;
};

/// Runs RunSlots with a given server and with clients that are made from a privatizer. It is for programs
/// that have the concrete types of the roles.
template <class Server, class Client, class Shufflers = OurShufflers>
class Simulator {
 public:
  template <Privatizer P>
  static absl::Status Run(const SimParams& params, Server& server, const P& privatizer, SlotWorld& world,
                          Recorder& recorder) {
    std::unique_ptr<Node> shuffler;
    GroupAnswer group;
    if constexpr (ShufflePrivatizer<P>) {
      shuffler = std::make_unique<typename Shufflers::template Of<P>>(privatizer);
    }
    if constexpr (DealingPrivatizer<P>) {
      group = [&](Context& context, const Plan& plan, int part, NodeId first,
                  const Raw<RewardSums>& rewards) {
        return Release::FromGroup(context, privatizer, plan.epoch, plan.query, part, first, rewards);
      };
    }
    const Make<Player, NodeId> client = [&](NodeId) { return std::make_unique<Client>(privatizer); };
    return RunSlots(params, server, shuffler.get(), client, group, world, recorder);
  }
};

}  // namespace bandana::sim
