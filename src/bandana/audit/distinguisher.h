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

/// Views of both, drawn to learn from.
struct Training {
  Sample first;
  Sample second;
};

/// A way to look at a view: the larger the score, the more it speaks for the second neighbour. Events are
/// scores above or below a threshold.
struct Distinguisher {
  std::string name;
  std::function<double(std::span<const double> view)> score;
};

/// Everything we know to try on the target:
///   likelihood ratio  where its law is known;
///   projection        on the direction between the neighbours, known or learned: optimal for spherical
///                     noise;
///   histogram         of the projection, of every coordinate, of the place of a coordinate's lowest bit, and
///                     of all coordinates as if independent. Scores a cell by the ratio of its training
///                     counts, so that thresholds pick the best sets of cells: for laws that nobody wrote
///                     down. The lowest bit is what gives floating-point noise away (I. Mironov, "On
///                     significance of the least significant bits for differential privacy", CCS 2012).
/// Views of more than 16 coordinates are looked at coordinate by coordinate in their first 16 alone.
std::vector<Distinguisher> LearnDistinguishers(const Target& target, const Training& training);

/// The exponent of the lowest bit of x: x = odd * 2^LowestBit(x). For 0 and what is not finite, values that
/// no other x has.
double LowestBit(double x);

/// ln of the ratio of densities of b + noise and a + noise at a view, for independent Laplace noise of this
/// scale on every coordinate.
std::function<double(std::span<const double>)> LaplaceLogRatio(std::vector<double> a, std::vector<double> b,
                                                               double scale);

}  // namespace bandana::audit
