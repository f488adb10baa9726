#include "bandana/algorithms/elimination/phase_widths.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "bandana/algorithms/chernoff.h"
#include "bandana/core/check.h"
#include "bandana/core/golden_section.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

// A room of this many spreads counts as unlimited: a normal variable exceeds it with probability 1e-332.
constexpr double kNever = 39;

// The standard deviation of one client's reported average in each coordinate has two parts. The shared part
// comes from the client's own parameter, which all of its coordinates have in common.
struct Spreads {
  Vector own;     // the rest
  Vector shared;  // zero under kDeal, where a client has one coordinate
};

Spreads SpreadsOf(const PhaseGeometry& geometry, const PhaseErrors& errors) {
  const auto size = static_cast<Eigen::Index>(geometry.pulls.size());
  Spreads spreads{Vector(size), errors.rule.client_sd * geometry.support.rowwise().norm()};
  for (Eigen::Index i = 0; i < size; ++i) {
    spreads.own[i] = errors.sampling == Sampling::kDeal
                         ? std::hypot(errors.rule.RewardSpread(1), spreads.shared[i])
                         : errors.rule.RewardSpread(geometry.pulls[i].count);
  }
  if (errors.sampling == Sampling::kDeal) spreads.shared.setZero();
  return spreads;
}

Interval MeansOf(const PhaseErrors& errors, Eigen::Index i) {
  return errors.means.empty() ? Interval{-kMeanBound, kMeanBound} : errors.means[i];
}

Interval RuleBounds(const PhaseGeometry& geometry, const PhaseErrors& errors, Eigen::Index i) {
  return errors.rule.BoundsFor(errors.sampling == Sampling::kDeal ? 1 : geometry.pulls[i].count);
}

Vector RoomsOf(const PhaseGeometry& geometry, const PhaseErrors& errors) {
  Vector rooms(static_cast<Eigen::Index>(geometry.pulls.size()));
  for (Eigen::Index i = 0; i < rooms.size(); ++i) {
    const Interval bounds = errors.bounds.empty() ? RuleBounds(geometry, errors, i) : errors.bounds[i];
    const Interval means = MeansOf(errors, i);
    rooms[i] = std::min(bounds.high - means.high, means.low - bounds.low);
  }
  return rooms;
}

bool AllRoom(const Spreads& spreads, const Vector& rooms) {
  return (rooms - kNever * (spreads.own + spreads.shared)).minCoeff() >= -1e-9;
}

// Returns a bound on the bias of clipping in each coordinate. A share of the rooms, `client_room` shared
// spreads, is set aside for the shared part (Claim 3 of docs/proofs/clipping-width.md).
Vector BiasOf(const Spreads& spreads, const Vector& rooms, double client_room) {
  Vector bias(rooms.size());
  for (Eigen::Index i = 0; i < bias.size(); ++i) {
    const double room = spreads.shared[i] > 0 ? rooms[i] - client_room * spreads.shared[i] : rooms[i];
    bias[i] = spreads.own[i] > 0 ? spreads.own[i] * MeanExcess(room / spreads.own[i]) : std::max(0.0, -room);
  }
  return bias;
}

// The squared scale of the normal part and the squared proxy of the other part, as quadratic forms of the
// direction, and whether there are Laplace terms.
struct Forms {
  Matrix normal;
  Matrix sub_gaussian;
  bool laplace = false;
};

// If clients' own means may exceed their intervals (`clients_exceed`), the shared part counts as sub-Gaussian
// and not as normal.
Forms FormsOf(const PhaseGeometry& geometry, const PhaseErrors& errors, bool clients_exceed) {
  const Eigen::Index size = geometry.support.rows();
  const Eigen::Index rank = geometry.support.cols();
  const Matrix& factors = geometry.factors(errors.report);
  Vector normal_noise = Vector::Zero(factors.rows());
  Vector other_noise = Vector::Zero(factors.rows());
  Forms forms;
  for (std::size_t i = 0; i < errors.privacy.size(); ++i) {
    const NoiseLaw& law = errors.privacy[i];
    (law.normal ? normal_noise : other_noise)[static_cast<Eigen::Index>(i)] = law.proxy * law.proxy;
    forms.laplace = forms.laplace || law.laplace_terms > 0;
  }
  const bool gaussian = errors.rule.reward.kind == RewardKind::kGaussian && !errors.rule.reward.mean_varies;
  // Privacy noise that is neither normal nor Laplace may depend on the data. Then the data's part counts as
  // sub-Gaussian only.
  const bool normal_rewards = gaussian && other_noise.isZero(0);
  const bool normal_clients = normal_rewards && !clients_exceed;
  const auto form = [](const Matrix& of, const Vector& noise) -> Matrix {
    return of.transpose() * noise.asDiagonal() * of;
  };
  const double proxy = errors.rule.reward.proxy();
  const double clients = static_cast<double>(errors.clients.front());
  Matrix rewards, shared;
  if (errors.sampling == Sampling::kWatch) {
    rewards = geometry.gram_inverse * (proxy * proxy / clients);
    shared = Matrix::Identity(rank, rank) * (errors.rule.client_sd * errors.rule.client_sd / clients);
  } else {
    Vector variance(size);
    for (Eigen::Index i = 0; i < size; ++i) {
      const double client = errors.rule.client_sd * geometry.support.row(i).norm();
      variance[i] = (proxy * proxy + client * client) / static_cast<double>(errors.clients[i]);
    }
    rewards = form(geometry.weights, variance);
    shared = Matrix::Zero(rank, rank);
  }
  forms.normal = form(factors, normal_noise);
  forms.sub_gaussian = form(factors, other_noise);
  (normal_rewards ? forms.normal : forms.sub_gaussian) += rewards;
  (normal_clients ? forms.normal : forms.sub_gaussian) += shared;
  return forms;
}

// The law of the error in a average direction: averages over the actions of the support as directions. The
// direction of a pair of actions counts as sqrt(2) times as long.
struct AverageDirection {
  Vector size;    // |a_x|
  Vector square;  // squared factors of the release's numbers
  double normal = 0;
  double sub_gaussian = 0;
  double length = 0;

  AverageDirection(const PhaseGeometry& geometry, const Forms& forms, ClientReport report) {
    constexpr Eigen::Index kMost = 64;
    const Eigen::Index support = geometry.support.rows();
    const Eigen::Index sample = std::min(support, kMost);
    size = Vector::Zero(support);
    const Matrix& factors = geometry.factors(report);
    square = Vector::Zero(factors.rows());
    for (Eigen::Index i = 0; i < sample; ++i) {
      const Vector v = geometry.support.row(i * support / sample).transpose();
      size += (geometry.weights * v).cwiseAbs();
      square += (factors * v).cwiseAbs2();
      normal += v.dot(forms.normal * v);
      sub_gaussian += v.dot(forms.sub_gaussian * v);
      length += v.norm();
    }
    const double pairs = 2 / static_cast<double>(sample);
    square *= pairs;
    normal *= pairs;
    sub_gaussian *= pairs;
    size *= pairs / std::numbers::sqrt2;
    length *= pairs / std::numbers::sqrt2;
  }

  double NoiseOf(std::span<const NoiseLaw> laws) const {
    double sum = 0;
    for (std::size_t i = 0; i < laws.size(); ++i) {
      sum += square[static_cast<Eigen::Index>(i)] * laws[i].stddev() * laws[i].stddev();
    }
    return sum;
  }
};

double WidthInDirection(const AverageDirection& average, const PhaseErrors& errors, const Spreads& spreads,
                        const Vector& rooms, double client_room, double level) {
  ErrorLaw law{.normal = average.normal, .sub_gaussian = average.sub_gaussian};
  if (spreads.shared.maxCoeff() > 0 && client_room < kNever) {
    law.excess = {.clients = errors.clients.front(),
                  .weight = average.size.dot(spreads.shared),
                  .room = client_room,
                  .pull = errors.rule.client_sd * average.length};
  }
  return average.size.dot(BiasOf(spreads, rooms, client_room)) + TailBound(law, level);
}

// Returns how much of the rooms is best set aside for the shared part, in shared spreads. Any value is valid.
double ClientRoom(const AverageDirection& average, const PhaseErrors& errors, const Spreads& spreads,
                  const Vector& rooms, double level) {
  double most = kNever;
  for (Eigen::Index i = 0; i < rooms.size(); ++i) {
    if (spreads.shared[i] > 0) most = std::min(most, rooms[i] / spreads.shared[i]);
  }
  if (most <= 0) return 0;
  const auto width = [&](double room) {
    return WidthInDirection(average, errors, spreads, rooms, room, level);
  };
  return GoldenSection(width, 0, most, 0.02 * most);
}

Vector SharesOf(const PhaseGeometry& geometry) {
  Vector shares(static_cast<Eigen::Index>(geometry.pulls.size()));
  for (Eigen::Index i = 0; i < shares.size(); ++i) shares[i] = static_cast<double>(geometry.pulls[i].count);
  return shares / shares.sum();
}

}  // namespace

ReportMap EstimateReport(const PhaseGeometry& geometry, std::span<const Interval> bounds) {
  constexpr double kSlack = 1 + 1e-9;  // so that no honest report leaves the ball because of rounding
  const Vector shares = SharesOf(geometry);
  const Matrix map = geometry.root_inverse * geometry.support.transpose() * shares.asDiagonal();
  double squares = 0;
  for (Eigen::Index i = 0; i < shares.size(); ++i) {
    const double half = (bounds[i].high - bounds[i].low) / 2;
    squares += shares[i] * half * half;
  }
  ReportMap report{.entries = {}, .radius = std::sqrt(squares) * kSlack};
  report.entries.reserve(static_cast<std::size_t>(map.size()));
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    for (Eigen::Index j = 0; j < map.cols(); ++j) report.entries.push_back(map(i, j));
  }
  return report;
}

PhaseWidths::PhaseWidths(const PhaseGeometry& geometry, const PhaseErrors& errors, double level)
    : geometry_(geometry),
      errors_(errors),
      level_(level),
      factors_(geometry.factors(errors.report)),
      client_room_(kInfinity) {
  const std::size_t size = geometry.pulls.size();
  BANDANA_CHECK(errors.clients.size() == size);
  BANDANA_CHECK(errors.privacy.empty() ||
                static_cast<Eigen::Index>(errors.privacy.size()) == factors_.rows());
  BANDANA_CHECK(errors.bounds.empty() || errors.bounds.size() == size);
  BANDANA_CHECK(errors.means.empty() || errors.means.size() == size);
  Spreads spreads = SpreadsOf(geometry, errors);
  const Vector rooms = errors.rule.clips() ? RoomsOf(geometry, errors) : Vector();
  const bool clips = errors.rule.clips() && !AllRoom(spreads, rooms);
  const bool clients_exceed = clips && spreads.shared.maxCoeff() > 0;
  Forms forms = FormsOf(geometry, errors, clients_exceed);
  if (clients_exceed) {
    AverageDirection average(geometry, forms, errors.report);
    if (forms.laplace) average.sub_gaussian += average.NoiseOf(errors.privacy);
    client_room_ = ClientRoom(average, errors, spreads, rooms, level);
  }
  if (clips) bias_ = BiasOf(spreads, rooms, client_room_);
  normal_ = std::move(forms.normal);
  sub_gaussian_ = std::move(forms.sub_gaussian);
  laplace_ = forms.laplace;
  client_spread_ = std::move(spreads.shared);
}

Vector PhaseWidths::Of(const Matrix& directions, std::span<const Ends> ends) const {
  const auto form = [&](const Matrix& matrix) -> Vector {
    return (directions * matrix).cwiseProduct(directions).rowwise().sum().cwiseMax(0);
  };
  const Vector normal = form(normal_);
  const Vector sub_gaussian = form(sub_gaussian_);
  const bool excess = client_room_ < kNever;
  const bool misspecified = errors_.misspecification > 0;
  Matrix a;        // the factors of the averages, one column per direction
  Matrix entries;  // the factors of the release's numbers, one column per direction
  if (laplace_) entries = factors_ * directions.transpose();
  if (excess || misspecified || bias_.size() > 0) a = geometry_.weights * directions.transpose();
  Vector widths(directions.rows());
  for (Eigen::Index i = 0; i < widths.size(); ++i) {
    ErrorLaw law{.normal = normal[i], .sub_gaussian = sub_gaussian[i]};
    if (laplace_) {
      law.weights = {entries.col(i).data(), static_cast<std::size_t>(entries.rows())};
      law.laws = errors_.privacy;
    }
    if (excess) {
      law.excess = {.clients = errors_.clients.front(),
                    .weight = a.col(i).cwiseAbs().dot(client_spread_),
                    .room = client_room_,
                    .pull = errors_.rule.client_sd * directions.row(i).norm()};
    }
    widths[i] = TailBound(law, level_);
    if (bias_.size() > 0) widths[i] += a.col(i).cwiseAbs().dot(bias_);
    if (misspecified) {
      // The supremum of sum_x a_x m_x - m_first + m_second over |m| <= 1 (Claim 5).
      double sum = a.col(i).lpNorm<1>();
      const auto add = [&](Eigen::Index end, double sign) {
        if (end == Ends::kElsewhere) sum += 1;
        if (end >= 0) sum += std::abs(a(end, i) - sign) - std::abs(a(end, i));
      };
      add(ends[static_cast<std::size_t>(i)].first, 1);
      add(ends[static_cast<std::size_t>(i)].second, -1);
      widths[i] += errors_.misspecification * sum;
    }
  }
  return widths;
}

absl::StatusOr<std::vector<Interval>> ChooseBounds(const PhaseGeometry& geometry, const PhaseErrors& errors,
                                                   double level, const NoiseForecast& forecast) {
  const auto size = static_cast<Eigen::Index>(geometry.pulls.size());
  MeanQuery query{.bounds = std::vector<Interval>(geometry.pulls.size()), .clients = errors.clients.front()};
  if (errors.sampling == Sampling::kDeal) {
    query.dealt = errors.clients;
    query.clients = std::accumulate(query.dealt.begin(), query.dealt.end(), Count{0});
  }
  if (!errors.rule.clips() || errors.rule.fixed_bound.has_value() || !forecast) {
    for (Eigen::Index i = 0; i < size; ++i) query.bounds[i] = RuleBounds(geometry, errors, i);
    return query.bounds;
  }
  const Spreads spreads = SpreadsOf(geometry, errors);
  struct Rooms {
    double own;
    double shared;
  };
  const auto rooms = [&](const Rooms& room) -> Vector {
    return room.own * spreads.own + room.shared * spreads.shared;
  };
  const auto choose = [&](const Vector& room) {
    for (Eigen::Index i = 0; i < size; ++i) {
      const Interval means = MeansOf(errors, i);
      query.bounds[i] = {means.low - room[i], means.high + room[i]};
    }
    return query.bounds;
  };
  const bool estimates = errors.report == ClientReport::kEstimate;
  const Vector shares = estimates ? SharesOf(geometry) : Vector(Vector::Ones(size));
  const auto squared_ranges = [&](const Vector& room) {
    const std::vector<Interval> bounds = choose(room);
    double sum = 0;
    for (Eigen::Index i = 0; i < size; ++i) {
      const double range = bounds[static_cast<std::size_t>(i)].high - bounds[static_cast<std::size_t>(i)].low;
      sum += shares[i] * range * range;
    }
    return sum;
  };
  const Vector reference = rooms({2, 2});
  const double reference_ranges = squared_ranges(reference);
  if (estimates) query.map = EstimateReport(geometry, query.bounds);
  BANDANA_ASSIGN_OR_RETURN(const std::vector<NoiseLaw> laws, forecast(query));
  PhaseErrors quiet = errors;
  quiet.privacy.clear();
  const bool shared = spreads.shared.maxCoeff() > 0;
  const AverageDirection data(geometry, FormsOf(geometry, quiet, shared), errors.report);
  const double noise = data.NoiseOf(laws);
  // If the noise is negligible even with the widest intervals, they are as wide as without privacy noise.
  constexpr double kNothing = 1e-8;
  const Vector widest = rooms({kNever, kNever});
  const double most_noise = noise == 0 ? 0 : noise * squared_ranges(widest) / reference_ranges;
  if (most_noise <= kNothing * (data.normal + data.sub_gaussian)) return choose(widest);
  const bool normal = std::all_of(laws.begin(), laws.end(), [](const NoiseLaw& law) { return law.normal; });
  const auto width = [&](const Rooms& room) {
    const Vector all = rooms(room);
    AverageDirection average = data;
    // The noise grows in proportion to the norm of the ranges.
    (normal ? average.normal : average.sub_gaussian) += noise * squared_ranges(all) / reference_ranges;
    return WidthInDirection(average, errors, spreads, all, room.shared, level);
  };
  Rooms best{2, 2};
  constexpr double kMost = 12;
  for (int sweep = 0; sweep < 3; ++sweep) {
    best.own = GoldenSection([&](double own) { return width({own, best.shared}); }, 0, kMost, 0.03);
    if (!shared) break;
    best.shared = GoldenSection([&](double room) { return width({best.own, room}); }, 0, kMost, 0.03);
  }
  return choose(rooms(best));
}

}  // namespace bandana
