#pragma once

#include <span>
#include <vector>

namespace bandana {

/// The message that one user sends in the local model. It contains its noise, so everyone may see it. Only
/// mechanisms write it (privacy/access.h). It is reused from user to user, so that a message needs no
/// allocation.
class LocalMessage {
 public:
  std::span<const double> entries() const { return entries_; }

 private:
  friend class Access;
  std::vector<double> entries_;
};

}  // namespace bandana
