#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "bandana/store/guarded_store.h"
#include "gtest/gtest.h"
#include "tests/folder.h"
#include "tests/service/world/planted_stores.h"
#include "tests/service/world/schedules.h"
#include "tests/service/world/star.h"

// Somebody puts a disk back to an earlier moment. Whoever goes on from there must not release again.
namespace bandana::service {
namespace {

// The anchors of all processes lie in the folder, which is never put back.
SimulatedWorld::Wrap AnchoredIn(const test::Folder& folder) {
  return [&folder](const SimulatedWorld::Place& place) -> absl::StatusOr<std::unique_ptr<store::Store>> {
    std::string name = place.process;
    std::replace(name.begin(), name.end(), '/', '-');
    store::GuardedStore::Params params;
    params.anchor = folder / name;
    BANDANA_ASSIGN_OR_RETURN(
        std::unique_ptr<store::GuardedStore> guarded,
        store::GuardedStore::Open(std::make_unique<ForwardingStore>(place.store), std::move(params)));
    return std::unique_ptr<store::Store>(std::move(guarded));
  };
}

// A copy is made in the midst of other faults, and put back a while later: at any moment, or right after the
// process has sent a message that nobody gets.
std::vector<Fault> WithAnOldCopy(std::vector<Fault> faults, std::uint64_t seed, bool with_ratchet) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  if (faults.size() > 2) faults.resize(2);
  const Fault::Kind now = with_ratchet ? Fault::Kind::kRestoreAll : Fault::Kind::kRestore;
  const Fault::Kind later = with_ratchet ? Fault::Kind::kRestoreAllSent : Fault::Kind::kRestoreSent;
  faults.push_back({below(100), Fault::Kind::kCopy, below(4), 0});
  faults.push_back({below(60), below(2) == 0 ? now : later, 0, 0});
  return faults;
}

struct Found {
  int refused = 0;
  int finished = 0;
};

template <class P>
std::string RunWithAnOldCopy(const P& privatizer, std::uint64_t seed, const std::vector<Fault>& faults,
                             bool with_ratchet, bool anchored, Found& found) {
  const test::Folder folder;
  Star<P> star(privatizer, seed, {.wrap = anchored ? AnchoredIn(folder) : nullptr});
  std::string wrong = star.world.Run(WithAnOldCopy(faults, seed, with_ratchet));
  if (wrong.empty()) ++(star.world.refused().ok() ? found.finished : found.refused);
  return wrong;
}

template <class P>
void ExpectNoSecondRelease(const P& privatizer) {
  for (const bool with_ratchet : {false, true}) {
    Found found;
    ExpectAllSchedules([&](std::uint64_t seed, const std::vector<Fault>& faults) {
      return RunWithAnOldCopy(privatizer, seed, faults, with_ratchet, true, found);
    });
    std::cout << fmt::format("{} runs were refused, {} finished\n", found.refused, found.finished);
    EXPECT_GT(found.refused, 5);
    EXPECT_GT(found.finished, 5);
  }
}

TEST(World, ReleasesNothingAgainFromAnOldCopyUnderCentralTrust) {
  ExpectNoSecondRelease(CentralGaussianMean::Create(SmallPrivacy()).value());
}
TEST(World, ReleasesNothingAgainFromAnOldCopyUnderLocalTrust) {
  ExpectNoSecondRelease(LocalGaussianMean::Create(SmallPrivacy()).value());
}

// This shows that the tests above can fail: nothing outside of the machine knows better.
TEST(PlantedWorld, OldCopiesWithoutAnAnchor) {
  const auto privatizer = LocalGaussianMean::Create(SmallPrivacy()).value();
  Found found;
  const Schedules schedules = RunSchedules([&](std::uint64_t seed, const std::vector<Fault>& faults) {
    return RunWithAnOldCopy(privatizer, seed, faults, true, false, found);
  });
  std::cout << fmt::format("old copy without an anchor: found by schedule {}: {}\n    {}\n", schedules.run,
                           schedules.failure, schedules.shortest);
  EXPECT_NE(schedules.failure, "");
}

}  // namespace
}  // namespace bandana::service
