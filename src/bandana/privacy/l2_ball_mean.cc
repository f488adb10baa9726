#include "bandana/privacy/l2_ball_mean.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/privacy/samplers/sphere.h"
#include "bandana/privacy/shortened.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kAxisUnits = 0x1p40;  // of a vector as long as the radius

// How far a cap's mass, for directions on the sampler's lattice, may be from the sphere's: the bound of
// docs/proofs/sphere.md, at the best of its t, rounded up.
double CapMassError(std::int64_t dimension) {
  if (dimension == 1) return 0;
  const auto d = static_cast<double>(dimension);
  double least = 1;
  for (double t = 0x1p-20; t <= std::sqrt(d); t *= 2) {
    const double angle = std::asin(std::min(1.0, std::sqrt(d) / (0x1p41 * t)));
    const double short_normal = boost::math::gamma_p(d / 2, t * t / 2);  // P(|N| < t)
    least = std::min(least, 2 * angle * std::sqrt((d - 1) / (2 * std::numbers::pi)) + short_normal);
  }
  return least * (1 + 1e-9);
}

// What the lattice adds to epsilon: both quotients of the proof with the cap's mass at its worst.
double LatticeCost(const L2BallSetting& setting, std::int64_t dimension) {
  const double error = CapMassError(dimension);
  const double mass = setting.cap_mass;
  if (!(error < mass / 2 && error < (1 - mass) / 2)) return std::numeric_limits<double>::infinity();
  return 2 * (-std::log1p(-error / mass) - std::log1p(-error / (1 - mass)));
}

// With probability p, not rounded up.
bool Coin(double p, NoiseGen& noise) { return (noise() >> 2) < static_cast<std::uint64_t>(p * 0x1p62); }

std::vector<std::int64_t> AxisOf(std::span<const double> vector, double radius) {
  std::vector<std::int64_t> axis;
  for (const double x : Shortened(vector, radius)) {
    axis.push_back(static_cast<std::int64_t>(std::nearbyint(x * kAxisUnits)));
  }
  return axis;
}

double LengthOf(std::span<const std::int64_t> axis) {
  double squares = 0;
  for (const std::int64_t x : axis) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares) / kAxisUnits;
}

// The same law in doubles, for the lab.
void FastDirection(std::span<const std::int64_t> axis, double cosine, bool inside, std::span<double> unit,
                   NoiseGen& noise) {
  const double length = LengthOf(axis) * kAxisUnits;
  while (true) {
    double squares = 0;
    double product = 0;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      unit[i] = StandardNormal(noise);
      squares += unit[i] * unit[i];
      product += unit[i] * static_cast<double>(axis[i]);
    }
    const double norm = std::sqrt(squares);
    const bool is_inside = product >= cosine * norm * length;
    if (cosine != 0 && is_inside != inside) continue;
    const double sign = is_inside == inside ? 1 : -1;
    for (double& x : unit) x *= sign / norm;
    return;
  }
}

void ExactDirection(std::span<const std::int64_t> axis, double cosine, bool inside, std::span<double> unit,
                    NoiseGen& noise) {
  std::vector<std::int64_t> direction(axis.size());
  if (cosine == 0) {
    UniformOnHalfSphere(axis, direction, noise);
    if (!inside) {
      for (std::int64_t& x : direction) x = -x;
    }
  } else {
    const Rational height{.num = static_cast<std::uint64_t>(std::nearbyint(cosine * 0x1p52)),
                          .den = std::uint64_t{1} << 52};
    UniformByCap(axis, height, inside ? CapSide::kInside : CapSide::kOutside, direction, noise);
  }
  ToUnitVector(direction, unit);
}

}  // namespace

absl::StatusOr<L2BallMean> L2BallMean::Create(const L2BallParams& params) {
  constexpr double kLongest = 0x1p20;  // on the grid, with room for sums
  constexpr double kLeastCap = 1e-6;   // it is hit by chance
  BANDANA_ASSIGN_OR_RETURN(L2BallSetting setting,
                           SetUpL2Ball(params.randomizer, params.dimension, params.epsilon, params.radius));
  double epsilon = setting.delivered_epsilon;
  if (params.randomizer == L2BallRandomizer::kPrivUnit && params.dimension > 1) {
    const double cost = LatticeCost(setting, params.dimension);
    if (!(cost < params.epsilon / 4)) {
      return InvalidOption(
          "privacy.epsilon", params.epsilon,
          fmt::format("one of which drawing on a lattice takes less than a quarter, and not {:.2g}: neither "
                      "tiny nor so large that the caps are; or the randomizer duchi",
                      cost));
    }
    BANDANA_ASSIGN_OR_RETURN(
        setting, SetUpL2Ball(params.randomizer, params.dimension, params.epsilon - 2 * cost, params.radius));
    epsilon = setting.delivered_epsilon + LatticeCost(setting, params.dimension);
  }
  BANDANA_CHECK(epsilon <= params.epsilon);
  if (!(setting.cap_mass >= kLeastCap)) {
    return InvalidOption(
        "privacy.epsilon", params.epsilon,
        fmt::format(
            "a smaller one, or the randomizer duchi: a report would take {:.2g} directions on average",
            1 / setting.cap_mass));
  }
  if (!(setting.scale * params.radius <= kLongest)) {
    return InvalidOption("radius", params.radius,
                         fmt::format("one whose noise is no longer than {}: here it is {:.4g}", kLongest,
                                     setting.scale * params.radius));
  }
  return L2BallMean(params, setting, epsilon);
}

std::vector<Claim> L2BallMean::claims() const {
  return {{.adversary = "the server, and anyone who reads a client's report",
           .guarantee = guarantee(),
           .unit = "one client's vector",
           .neighbours = "replace-one",
           .proof = "docs/proofs/l2-ball-mean.md"}};
}

absl::StatusOr<Report> L2BallMean::Randomize(const BallQuery&, const Raw<std::span<const double>>& vector,
                                             NoiseGen& noise) const {
  const std::span<const double> x = Reveal(vector);
  BANDANA_CHECK(static_cast<std::int64_t>(x.size()) == params_.dimension);
  std::vector<std::int64_t> axis = AxisOf(x, params_.radius);
  // Duchi's coin: to the surface, at x/|x| or opposite. The promise does not rest on it.
  const double length = std::min(LengthOf(axis), 1.0);
  if (std::all_of(axis.begin(), axis.end(), [](std::int64_t unit) { return unit == 0; })) axis[0] = 1;
  if (!Coin((1 + length) / 2, noise)) {
    for (std::int64_t& unit : axis) unit = -unit;
  }
  const bool inside = Coin(setting_.p, noise);
  std::vector<double> unit(x.size());
  if (params_.sampler == Sampler::kExact) {
    ExactDirection(axis, setting_.gamma, inside, unit, noise);
  } else {
    FastDirection(axis, setting_.gamma, inside, unit, noise);
  }
  Units units(x.size());
  const double scale = setting_.scale * params_.radius / kUnit;
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i] = static_cast<std::int64_t>(std::nearbyint(unit[i] * scale));
  }
  return MakeReport(std::move(units), 64 * params_.dimension);
}

absl::Status L2BallMean::Add(const BallQuery& query, const Report& report,
                             BasicReportSum<BallQuery>& sum) const {
  const auto most = static_cast<std::int64_t>(std::ceil(setting_.scale * params_.radius / kUnit));
  if (!(static_cast<double>(query.clients) * static_cast<double>(most) < 0x1p61)) {
    return absl::InvalidArgumentError(
        fmt::format("a query to {} clients with reports of length {:.4g}: the grid does not hold their sum",
                    query.clients, setting_.scale * params_.radius));
  }
  const auto entry = [&](std::size_t, std::int64_t units) {
    return std::clamp(units, -most, most);  // what no client of ours sends moves the sum no further
  };
  return AddReport(query, static_cast<std::size_t>(params_.dimension), report, entry, sum);
}

absl::StatusOr<Sealed> L2BallMean::Seal(const BasicReportSum<BallQuery>& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<Mean>> L2BallMean::Open(const BallQuery& query, const Sealed& sealed) const {
  const Units& totals = UnitsOf(sealed);
  BANDANA_RETURN_IF_ERROR(CheckSize(static_cast<std::size_t>(params_.dimension), totals));
  const auto clients = static_cast<double>(query.clients);
  Mean mean{std::vector<double>(totals.size())};
  for (std::size_t i = 0; i < totals.size(); ++i) {
    mean.entries[i] = static_cast<double>(totals[i]) * kUnit / clients;
  }
  // Every coordinate of a report is within its length of 0 (Hoeffding's lemma).
  const NoiseLaw law{.proxy = setting_.scale * params_.radius / std::sqrt(clients)};
  return Mint(std::move(mean), std::vector<NoiseLaw>(totals.size(), law));
}

}  // namespace bandana
