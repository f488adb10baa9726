#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/service/small_run.h"

/// Helpers for tests of failures. No test sleeps: each step waits until the other end has seen the step
/// before it.
namespace bandana::service {

template <class T>
void ExpectError(const absl::StatusOr<T>& result, absl::StatusCode code,
                 const testing::Matcher<const std::string&>& says) {
  EXPECT_EQ(result.status().code(), code) << result.status();
  EXPECT_THAT(std::string(result.status().message()), says);
}

// Parameters under which every phase asks 40 clients, so that every agent has some of them.
inline DpDpeCase ManyClients() {
  DpDpeCase params = SmallParams();
  params.schedule = ClientSchedule::kFixed;
  params.fixed_clients = 40;
  return params;
}

// Waits until the server reports a given progress.
class ProgressWatch {
 public:
  std::function<void(const ServerProgress&)> Callback() {
    return [this](const ServerProgress& progress) {
      const std::lock_guard lock(mutex_);
      seen_.push_back(progress);
      changed_.notify_all();
    };
  }
  void WaitFor(Count agents) {
    WaitUntil([&](const ServerProgress& progress) { return progress.agents == agents; });
  }
  void WaitUntil(const std::function<bool(const ServerProgress&)>& reached) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !seen_.empty() && reached(seen_.back()); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ServerProgress> seen_;
};

// The small population; it calls `event` when a client answers in the given epoch.
class EventfulPopulation final : public SlotWorld {
 public:
  const Facts& facts() const override {
    static const Facts kNothing;
    return kNothing;
  }

  EventfulPopulation(Epoch epoch, std::function<void()> event) : epoch_(epoch), event_(std::move(event)) {}
  absl::Status Answer(NodeId client, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    if (epoch == epoch_) event_();
    return population_.Answer(client, epoch, pulls, rewards);
  }

 private:
  LinearPopulation population_ = SmallPopulation();
  Epoch epoch_;
  std::function<void()> event_;
};

}  // namespace bandana::service
