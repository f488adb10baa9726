#include "tests/service/world/world.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/service/world/schedules.h"
#include "tests/service/world/star.h"

// Whole deployments in one thread, with random schedules and faults: docs/operations.md says what must hold.
// The worlds check that in every operation (tests/service/world/invariants.h and star_watch.h).
namespace bandana::service {
namespace {

constexpr int kSealingShare = 10;  // sealed bits take time

// With a known seed, all decisions are those of the simulator.
template <class P>
void ExpectDecisionsDespiteFaults(const P& privatizer, int share = 1) {
  const std::vector<PhaseRecord> expected = Simulate(privatizer);
  ASSERT_GE(expected.size(), 3u);
  Speed speed;
  ExpectAllSchedules(
      [&](std::uint64_t seed, const std::vector<Fault>& faults) -> std::string {
        Star<P> star(privatizer, seed, {.seed = kInsecureSeed});
        std::string wrong = star.world.Run(faults);
        speed.Add(star.world);
        if (!wrong.empty() || star.history.empty()) return wrong;
        if (!SameHistory(star.history, expected)) return "the decisions are not those of the simulator";
        Count rounds = 0;
        for (const Pull& pull : star.plays) rounds += pull.count;
        return rounds == kHorizon ? "" : fmt::format("{} rounds were played", rounds);
      },
      share);
}

TEST(World, GoesOnWithTheSameDecisionsWithoutPrivacy) { ExpectDecisionsDespiteFaults(SmallNoPrivacy()); }
TEST(World, GoesOnWithTheSameDecisionsUnderCentralTrust) {
  ExpectDecisionsDespiteFaults(CentralGaussianMean::Create(SmallPrivacy()).value());
}
TEST(World, GoesOnWithTheSameDecisionsUnderLocalTrust) {
  ExpectDecisionsDespiteFaults(LocalGaussianMean::Create(SmallPrivacy()).value());
}
TEST(World, GoesOnWithTheSameDecisionsThroughAShuffler) {
  ExpectDecisionsDespiteFaults(SmallShuffleSum(Transport::kCounts));
}
TEST(World, GoesOnWithTheSameDecisionsWithSealedBits) {
  ExpectDecisionsDespiteFaults(SmallShuffleSum(Transport::kBits), kSealingShare);
}
TEST(World, GoesOnWithTheSameDecisionsWithAmplifiedReports) {
  ExpectDecisionsDespiteFaults(SmallShuffledLaplace());
}

// With secret noise, each question has one draw, which is charged once.
template <class P>
void ExpectOneDrawDespiteFaults(const P& privatizer, int share = 1) {
  Speed speed;
  ExpectAllSchedules(
      [&](std::uint64_t seed, const std::vector<Fault>& faults) -> std::string {
        Star<P> star(privatizer, seed);
        std::string wrong = star.world.Run(faults);
        speed.Add(star.world);
        if (!wrong.empty() || star.history.empty()) return wrong;
        if (star.releases() == star.expected_releases()) return "";
        return fmt::format("{} releases were charged, not {}", star.releases(), star.expected_releases());
      },
      share);
}

TEST(World, DrawsOnceUnderCentralTrust) {
  ExpectOneDrawDespiteFaults(CentralGaussianMean::Create(SmallPrivacy()).value());
}
TEST(World, DrawsOnceUnderLocalTrust) {
  ExpectOneDrawDespiteFaults(LocalGaussianMean::Create(SmallPrivacy()).value());
}
TEST(World, DrawsOnceThroughAShuffler) { ExpectOneDrawDespiteFaults(SmallShuffleSum(Transport::kCounts)); }
TEST(World, DrawsOnceWithSealedBits) {
  ExpectOneDrawDespiteFaults(SmallShuffleSum(Transport::kBits), kSealingShare);
}
TEST(World, DrawsOnceWithAmplifiedReports) { ExpectOneDrawDespiteFaults(SmallShuffledLaplace()); }

}  // namespace
}  // namespace bandana::service
