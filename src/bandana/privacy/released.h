#pragma once

#include <utility>
#include <vector>

namespace bandana {

/// A value that its adversary may see: the only thing a policy may learn from. Made by mechanisms alone
/// (privacy/access.h). T says what it is.
template <class T>
class Released {
 public:
  const T& value() const { return value_; }
  /// Standard deviation of the privacy noise in each entry of the value: public, and part of every width.
  double noise_stddev() const { return noise_stddev_; }

 private:
  friend class Access;
  Released(T value, double noise_stddev) : value_(std::move(value)), noise_stddev_(noise_stddev) {}
  T value_;
  double noise_stddev_;
};

/// Per-coordinate averages over the clients of one epoch.
struct Mean {
  std::vector<double> entries;
};

}  // namespace bandana
