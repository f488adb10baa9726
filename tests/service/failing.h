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

/// What tests of things that go wrong share. Nothing sleeps: each step waits for the one before it to be seen
/// at the other end.
namespace bandana::service {

template <class T>
void ExpectError(const absl::StatusOr<T>& result, absl::StatusCode code,
                 const testing::Matcher<const std::string&>& says) {
  EXPECT_EQ(result.status().code(), code) << result.status();
  EXPECT_THAT(std::string(result.status().message()), says);
}

// Every phase asks 40 clients, so that every agent has some of them.
inline DpDpeParams ManyClients() {
  DpDpeParams params = SmallParams();
  params.schedule = ClientSchedule::kFixed;
  params.fixed_clients = 40;
  return params;
}

// Waits until the server has seen what it should.
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

// The small population, and something that happens when an epoch's first client answers.
class EventfulPopulation final : public Environment {
 public:
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
