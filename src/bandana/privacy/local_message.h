#pragma once

#include <span>
#include <vector>

namespace bandana {

/// What one user leaves behind in the local model: noise and all, so that everyone may see it. Written by
/// mechanisms alone (privacy/access.h), and used again from user to user: no allocation a message.
class LocalMessage {
 public:
  std::span<const double> entries() const { return entries_; }

 private:
  friend class Access;
  std::vector<double> entries_;
};

}  // namespace bandana
