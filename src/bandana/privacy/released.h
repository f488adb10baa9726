#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "bandana/privacy/noise_law.h"

namespace bandana {

/// A value that its adversary may see: the only thing a policy may learn from. Made by mechanisms alone
/// (privacy/access.h). T says what it is.
template <class T>
class Released {
 public:
  const T& value() const { return value_; }

  /// The privacy noise in each entry of the value: public, and part of every width.
  const std::vector<NoiseLaw>& noise() const { return noise_; }

  /// Standard deviation of the noise in the entry that has most of it, from above.
  double noise_stddev() const {
    double largest = 0;
    for (const NoiseLaw& law : noise_) largest = std::max(largest, law.stddev());
    return largest;
  }

 private:
  friend class Access;
  friend class StateAccess;  // saved with the role that has it
  Released() = default;
  template <class Archive>
  void State(Archive& a) {
    a(value_, noise_);
  }
  Released(T value, std::vector<NoiseLaw> noise) : value_(std::move(value)), noise_(std::move(noise)) {}
  T value_;
  std::vector<NoiseLaw> noise_;
};

/// Per-coordinate averages over the clients of one epoch.
struct Mean {
  std::vector<double> entries;
  template <class Archive>
  void State(Archive& a) {
    a(entries);
  }
};

}  // namespace bandana
