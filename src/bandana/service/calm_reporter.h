#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace bandana::service {

/// Passes sentences on, but not the same one twice within a few seconds, and not too many of them: whoever is
/// refused tries again, and a stranger must not fill the disk of a log. It may be used from any thread.
class CalmReporter {
 public:
  explicit CalmReporter(std::function<void(const std::string&)> report) : report_(std::move(report)) {}

  void operator()(const std::string& sentence) {
    if (MayBeSaid(sentence)) report_(sentence);
  }

 private:
  bool MayBeSaid(const std::string& sentence) {
    constexpr std::chrono::seconds kWindow{10};
    constexpr std::size_t kMostInWindow = 20;
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (said_.empty() || now - began_ >= kWindow) {
      began_ = now;
      said_.clear();
    }
    return said_.size() < kMostInWindow && said_.insert(sentence).second;
  }

  const std::function<void(const std::string&)> report_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point began_;
  std::set<std::string> said_;  // in this window
};

}  // namespace bandana::service
