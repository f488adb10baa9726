#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bandana/audit/target.h"

namespace bandana::audit {

/// Views of one neighbour, one after the other.
class Sample {
 public:
  explicit Sample(std::size_t dimension = 1, std::size_t size = 0)
      : dimension_(dimension), values_(dimension * size) {}

  std::size_t size() const { return values_.size() / dimension_; }
  std::size_t dimension() const { return dimension_; }
  std::span<const double> operator[](std::size_t i) const {
    return std::span(values_).subspan(i * dimension_, dimension_);
  }
  std::span<double> operator[](std::size_t i) {
    return std::span(values_).subspan(i * dimension_, dimension_);
  }

 private:
  std::size_t dimension_;
  std::vector<double> values_;
};

/// Views of both neighbours, for learning.
struct Training {
  Sample first;
  Sample second;
};

/// A way to score a view: a larger score is more evidence for the second neighbour. Events are scores above
/// or below a threshold.
struct Distinguisher {
  std::string name;
  std::function<double(std::span<const double> view)> score;
};

/// Returns all distinguishers that we know for the target:
///   likelihood ratio  if the distribution is known;
///   projection        on the direction between the neighbours, known or learned. It is optimal for spherical
///                     noise.
///   histogram         of the projection, of every coordinate, of the position of a coordinate's lowest bit,
///                     and of all coordinates as if independent. It scores a cell by the ratio of its
///                     training counts, so that thresholds select the best sets of cells. It serves for
///                     distributions without a known formula. The lowest bit reveals floating-point noise (I.
///                     Mironov, "On significance of the least significant bits for differential privacy", CCS
///                     2012).
///
/// If a view has more than 16 coordinates, the histograms of coordinates use only the first 16.
std::vector<Distinguisher> LearnDistinguishers(const Target& target, const Training& training);

/// Returns the exponent of the lowest bit of x: x = odd * 2^LowestBit(x). For 0 and for values that are not
/// finite, returns values that no other x has.
double LowestBit(double x);

/// Returns the log-likelihood ratio: ln of the density of b + noise over that of a + noise at a view, for
/// independent Laplace noise of this scale on every coordinate.
std::function<double(std::span<const double>)> LaplaceLogRatio(std::vector<double> a, std::vector<double> b,
                                                               double scale);

}  // namespace bandana::audit
