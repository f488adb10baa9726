#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "tests/service/world/fault.h"

/// Random schedules of faults: rapidcheck makes and shrinks them.
namespace bandana::service {

struct Schedules {
  int run = 0;             ///< all schedules before the failure, and the failing one
  std::string failure;     ///< what is wrong under the shortest schedule that was found; empty if nothing is
  std::string shortest;    ///< that schedule and the seed of its world
  std::size_t faults = 0;  ///< of that schedule
};

/// Runs `property(seed, faults)` on as many schedules as rapidcheck is told to (RC_PARAMS), divided by
/// `share` for worlds that take long. The property returns what is wrong.
///
/// A world without one of the faults does everything else in another order. So a shorter schedule is tried
/// with several seeds, as long as there are runs left for that.
template <class Property>
Schedules RunSchedules(Property property, int share = 1) {
  constexpr std::uint64_t kSeeds = 20;
  int runs_left = 400;
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = std::max(1, params.maxSuccess / share);
  Schedules schedules;
  const rc::detail::TestResult result = rc::detail::checkTestable(
      [&] {
        const std::vector<Fault> faults = *SomeFaults();
        const auto seed = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 32);
        if (schedules.failure.empty()) ++schedules.run;
        const std::uint64_t seeds = schedules.failure.empty() ? 1 : kSeeds;
        for (std::uint64_t i = 0; i < seeds && runs_left > 0; ++i) {
          if (!schedules.failure.empty()) --runs_left;
          const std::string wrong = property(seed + i, faults);
          if (wrong.empty()) continue;
          schedules.failure = wrong;
          schedules.faults = faults.size();
          schedules.shortest = fmt::format("seed {}, faults {}", seed + i, rc::toString(faults));
          RC_FAIL(wrong);
        }
      },
      rc::detail::TestMetadata(), params);
  rc::detail::Error error;
  if (result.template match<rc::detail::Error>(error)) schedules.failure = error.description;
  return schedules;
}

/// Expects that nothing is wrong under all schedules.
template <class Property>
void ExpectAllSchedules(Property property, int share = 1) {
  const Schedules schedules = RunSchedules(std::move(property), share);
  EXPECT_EQ(schedules.failure, "") << "after " << schedules.run << " schedules; the shortest one has the "
                                   << schedules.shortest << "\nTo repeat it: RC_PARAMS=seed="
                                   << rc::detail::configuration().testParams.seed;
}

/// Counts the operations of a test's worlds, and prints how many there were per second of processor time.
class Speed {
 public:
  ~Speed() {
    const double seconds = static_cast<double>(std::clock() - began_) / CLOCKS_PER_SEC;
    std::cout << fmt::format("{} operations, {:.0f} per second, crashes: {}\n", operations_,
                             static_cast<double>(operations_) / seconds, crashes_);
  }
  template <class World>
  void Add(const World& world) {
    operations_ += world.operations();
    crashes_ += world.crashes();
  }

 private:
  std::clock_t began_ = std::clock();
  std::uint64_t operations_ = 0;
  std::uint64_t crashes_ = 0;
};

}  // namespace bandana::service
