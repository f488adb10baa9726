#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bandana/federation/graph_shapes.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/peer.h"
#include "gtest/gtest.h"
#include "tests/service/flooding.h"
#include "tests/service/world/schedules.h"
#include "tests/service/world/star.h"

// Neighbours in lock step, in a simulated world.
namespace bandana::service {
namespace {

constexpr Count kFloodRounds = 12;

class PeerActor final : public Actor {
 public:
  PeerActor(const Graph& graph, NodeId self) : player(self, 3) {
    params_ = {.self = self, .listen = "127.0.0.1:0", .rounds = kFloodRounds, .spec_digest = "digest"};
    for (const NodeId other : graph.neighbours(self)) params_.neighbours[other] = "";
    machine_ = MakePeer(params_, player, world_).value();
  }
  Machine& machine() override { return *machine_; }
  NodeId self() const { return params_.self; }
  Flooder player;

 private:
  PeerParams params_;
  ToyWorld world_;
  std::unique_ptr<LockStep> machine_;
};

TEST(World, PeersSeeWhatTheyWouldSeeInASimulator) {
  Speed speed;
  for (const Graph& graph : {*RingGraph(5), *LineGraph(4), *StarGraph(4)}) {
    const auto expected = FloodInALoop(graph, 3, kFloodRounds);
    ExpectAllSchedules([&](std::uint64_t seed, const std::vector<Fault>& faults) -> std::string {
      SimulatedWorld world(seed);
      for (NodeId node{1}; graph.Contains(node); ++node.value) {
        Runtime::Params runtime{
            .self = NodeLink(node), .digest = "digest", .runs_differ = true, .linger = absl::Hours(10)};
        for (const NodeId other : graph.neighbours(node)) {
          runtime.partners[NodeLink(other)] = {.dialed = Dials(node, other)};
        }
        world.Add({.make = [&graph, node] { return std::make_unique<PeerActor>(graph, node); },
                   .runtime = runtime,
                   .header = HeaderOf(std::nullopt),
                   .sends_early = true});
      }
      std::map<NodeId, std::vector<Seen>> seen;
      world.on_done = [&](const std::string&, Actor& actor) {
        auto& peer = static_cast<PeerActor&>(actor);
        seen[peer.self()] = peer.player.seen();
      };
      std::string wrong = world.Run(faults);
      speed.Add(world);
      for (const auto& [node, what] : seen) {
        if (what != expected.at(node)) wrong = fmt::format("node {} has seen something else", node.value);
      }
      return wrong;
    });
  }
}

}  // namespace
}  // namespace bandana::service
