#pragma once

#include <utility>

namespace bandana {

/// A value that belongs to one person, such as the rewards a client saw. Anyone may wrap a value; only the
/// mechanisms listed in privacy/mechanism.h may open it. A role can carry it to its randomizer and no
/// further.
template <class T>
class Raw {
 public:
  explicit Raw(T value) : value_(std::move(value)) {}

 private:
  friend class Access;
  T value_;
};

}  // namespace bandana
