#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "bandana/privacy/noise_law.h"

namespace bandana {

/// A value that its adversary may see, and the only thing that a policy may learn from. Only mechanisms make
/// one (privacy/access.h).
template <class T>
class Released {
 public:
  const T& value() const { return value_; }

  /// Returns the privacy noise in each entry of the value. It is public and part of every confidence width.
  const std::vector<NoiseLaw>& noise() const { return noise_; }

  /// Returns the largest standard deviation of the noise in any entry, or an upper bound on it.
  double noise_stddev() const {
    double largest = 0;
    for (const NoiseLaw& law : noise_) largest = std::max(largest, law.stddev());
    return largest;
  }

 private:
  friend class Access;
  friend class StateAccess;  // saved with the role that owns it
  Released() = default;
  template <class Archive>
  void State(Archive& a) {
    a(value_, noise_);
  }
  Released(T value, std::vector<NoiseLaw> noise) : value_(std::move(value)), noise_(std::move(noise)) {}
  T value_;
  std::vector<NoiseLaw> noise_;
};

/// The average over the clients of one epoch, for each coordinate.
struct Mean {
  std::vector<double> entries;
  template <class Archive>
  void State(Archive& a) {
    a(entries);
  }
};

}  // namespace bandana
