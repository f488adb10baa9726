#include "bandana/bandit/net_sphere.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "bandana/bandit/net_lattice.h"
#include "bandana/core/check.h"
#include "bandana/core/infinity.h"

namespace bandana::internal {
namespace {

constexpr double kPi = std::numbers::pi;
/// In higher dimensions the lattice always has far fewer actions, and counting bands takes long.
constexpr int kMostBandDimensions = 5;
constexpr double kNever = kInfinity;

/// Returns the angle between unit vectors at this chord.
double AngleOf(double chord) { return 2 * std::asin(std::min(1.0, chord / 2)); }

/// Returns into how many parts `length` must be divided so that each is at most `part`.
double CellsAlong(double length, double part) {
  return std::max(1.0, std::ceil(length / part * (1 - 1e-12)));
}

/// A sphere of R^d is covered at this chord by its two poles and by bands of latitude, each with a net of the
/// sphere of R^(d-1).
struct Bands {
  Bands(int dimension, double chord)
      : height(std::max(0.0, kPi - 2 * AngleOf(chord))),
        count(CellsAlong(height, 2 * AngleOf(chord / std::sqrt(dimension - 1.0)))),
        half(height / (2 * count)),
        left(chord * chord - std::pow(2 * std::sin(half / 2), 2)) {}

  double Latitude(double band) const { return -height / 2 + (2 * band + 1) * half; }

  /// Returns the chord on the equator at which a net covers the band.
  double Chord(double latitude) const {
    return std::sqrt(left / (std::cos(latitude) * std::cos(std::max(0.0, std::abs(latitude) - half))));
  }

  double height;  // the range of latitudes that the poles do not cover
  double count;
  double half;  // half a band's height
  double left;  // the rest of the squared chord
};

/// Counts the actions. The count is exact up to `most`; a larger result only says that there are more than
/// `most`.
double CountBands(int dimension, double chord, double most) {
  if (chord >= 2) return 1;
  if (dimension == 1) return 2;
  if (dimension == 2) return CellsAlong(kPi, AngleOf(chord));
  const Bands bands(dimension, chord);
  double count = 2;
  if (bands.height == 0) return count;
  if (bands.count > most) return kNever;
  for (double band = 0; band < bands.count && count <= most; ++band) {
    count += CountBands(dimension - 1, bands.Chord(bands.Latitude(band)), most - count);
  }
  return count;
}

/// Writes a net of the sphere of R^dimension, times `scale`, to the first entries of x.
void FillBands(int dimension, double chord, double scale, std::vector<double>& x, ActionSink sink) {
  const auto put = [&](double last) {
    std::fill(x.begin(), x.begin() + dimension - 1, 0.0);
    x[dimension - 1] = scale * last;
    sink(x.data());
  };
  if (dimension == 1 || chord >= 2) {
    put(1);
    if (chord < 2) put(-1);
    return;
  }
  if (dimension == 2) {
    const double n = CellsAlong(kPi, AngleOf(chord));
    for (double i = 0; i < n; ++i) {
      x[0] = scale * std::cos(2 * kPi * i / n);
      x[1] = scale * std::sin(2 * kPi * i / n);
      sink(x.data());
    }
    return;
  }
  const Bands bands(dimension, chord);
  put(-1);
  put(1);
  if (bands.height == 0) return;
  for (double band = 0; band < bands.count; ++band) {
    const double latitude = bands.Latitude(band);
    x[dimension - 1] = scale * std::sin(latitude);
    FillBands(dimension - 1, bands.Chord(latitude), scale * std::cos(latitude), x, sink);
  }
}

/// Returns the smallest cosine between any unit vector and the nearest sign vector with up to `nonzeros`
/// entries.
double SignCosine(int dimension, int nonzeros) {
  const double root = std::sqrt(nonzeros);
  double most = 0;
  double head = 0;
  for (int j = 0; j < nonzeros; ++j) {
    const double both = root + std::sqrt(j);
    most = std::max(most, head + (dimension - j) / (both * both));
    const double entry = std::sqrt(j + 1.0) - std::sqrt(j);
    head += entry * entry;
  }
  return 1 / std::sqrt(most);
}

/// Returns how many entries sign vectors need at this chord; 0 if no number is enough.
int SignEntries(int dimension, double chord) {
  const double cosine = 1 - chord * chord / 2;
  for (int m = 1; m <= dimension; ++m) {
    if (SignCosine(dimension, m) >= cosine) return m;
  }
  return 0;
}

double CountSigns(int dimension, double chord) {
  const int entries = SignEntries(dimension, chord);
  if (entries == 0) return kNever;
  double count = 0;
  double level = 1;
  for (int m = 1; m <= entries; ++m) {
    level *= 2.0 * (dimension - m + 1) / m;
    count += level;
  }
  return count;
}

void FillSigns(int from, int left, std::vector<double>& x, double value, ActionSink sink) {
  if (left == 0) return sink(x.data());
  for (int i = from; i + left <= std::ssize(x); ++i) {
    for (const double sign : {1.0, -1.0}) {
      x[i] = sign * value;
      FillSigns(i + 1, left - 1, x, value, sink);
    }
    x[i] = 0;
  }
}

/// Returns a distance: points within sin(angle) of a point of the sphere are within that angle of it.
double LatticeRadius(double chord) { return std::sin(std::min(AngleOf(chord), kPi / 2)); }

/// Returns the smallest norm of the points that are needed (0, for the whole ball, if the radius is 1).
double LatticeInner(double radius) { return std::max(0.0, 1 - radius * (1 + 1e-9)); }

SphereNetPlan PlanLattice(int dimension, double chord) {
  const double radius = LatticeRadius(chord);
  const CoveringLattice lattice(dimension, radius);
  const auto shell = [&](double half) {
    return lattice.ExpectedWithin(1 + half) - (half < 1 ? lattice.ExpectedWithin(1 - half) : 0);
  };
  return {SphereNetKind::kLattice, shell(radius), shell(2 * radius)};
}

void FillLattice(int dimension, double chord, ActionSink sink) {
  const double radius = LatticeRadius(chord);
  const double inner = LatticeInner(radius);
  std::vector<double> unit(dimension);
  CoveringLattice(dimension, radius).ForEach(inner, 1 + radius, [&](const std::vector<double>& x, long m) {
    const double norm = std::sqrt(Dot(x.data(), x.data(), dimension));
    // If the next shorter multiple of the same vector is present, it gives the same action.
    if (m == 0 || (m > 1 && norm * (1 - 1.0 / static_cast<double>(m)) >= inner)) return;
    std::transform(x.begin(), x.end(), unit.begin(), [&](double entry) { return entry / norm; });
    sink(unit.data());
  });
}

}  // namespace

SphereNetPlan PlanSphereNet(int dimension, double radius, double most) {
  BANDANA_CHECK(dimension >= 2 && radius > 0);
  std::vector<SphereNetPlan> plans;
  const double signs = CountSigns(dimension, radius);
  plans.push_back({SphereNetKind::kSigns, signs, signs});
  if (dimension > 2) plans.push_back(PlanLattice(dimension, radius));
  if (dimension <= kMostBandDimensions) {
    const double bands = CountBands(dimension, radius, most);
    plans.push_back({SphereNetKind::kBands, bands, bands});
  }
  const auto fewer = [&](const SphereNetPlan& a, const SphereNetPlan& b) {
    const bool a_fits = a.most <= most;
    const bool b_fits = b.most <= most;
    if (a_fits != b_fits) return a_fits;
    return a_fits ? a.expected < b.expected : a.most < b.most;
  };
  return *std::min_element(plans.begin(), plans.end(), fewer);
}

void MakeSphereNet(SphereNetKind kind, int dimension, double radius, ActionSink sink) {
  std::vector<double> x(dimension);
  switch (kind) {
    case SphereNetKind::kBands:
      FillBands(dimension, radius, 1, x, sink);
      return;
    case SphereNetKind::kSigns:
      for (int m = 1; m <= SignEntries(dimension, radius); ++m) FillSigns(0, m, x, 1 / std::sqrt(m), sink);
      return;
    case SphereNetKind::kLattice:
      FillLattice(dimension, radius, sink);
      return;
  }
}

}  // namespace bandana::internal
