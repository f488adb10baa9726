#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "bandana/service/log_event.h"

namespace bandana::service {

/// Keeps the events of a process for a test, which may wait for them.
class LogOfEvents {
 public:
  TakeEvent Taker() {
    return [this](const LogEvent& event) {
      const std::lock_guard lock(mutex_);
      all_.push_back(event);
      changed_.notify_all();
    };
  }

  /// Waits until there were `count` such events; returns false if they do not come. An empty link stands for
  /// any.
  bool Await(const std::string& event, const std::string& link = "", const std::string& why = "",
             int count = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return Count(event, link, why) >= count; });
  }

  bool Has(const std::string& event, const std::string& link = "", const std::string& why = "") {
    const std::lock_guard lock(mutex_);
    return Count(event, link, why) > 0;
  }

 private:
  int Count(const std::string& event, const std::string& link, const std::string& why) const {
    int count = 0;
    for (const LogEvent& each : all_) {
      const bool fits = each.event == event && (link.empty() || each.link == link);
      if (fits && absl::StrContains(each.why, why)) ++count;
    }
    return count;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LogEvent> all_;
};

}  // namespace bandana::service
