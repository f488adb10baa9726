#include "bandana/bandit/net.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "bandana/bandit/net_lattice.h"
#include "bandana/bandit/net_span.h"
#include "bandana/bandit/net_sphere.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using internal::ActionSink;
using internal::CoveringLattice;
using internal::Span;
using internal::SphereNetPlan;

constexpr Count kMostDimension = 1'000'000;

/// How to make a net, and an upper bound on its number of actions.
struct Plan {
  ActionSet set;
  int dimension;
  double radius;
  std::optional<SphereNetPlan> sphere;
  double inside = 0;  // ball: the number of actions that are not on the sphere
  double steps = 0;   // box: the number of steps along an axis
  double most = 0;
};

/// The sphere's net covers all of the ball beyond this radius.
double InnerRadius(double radius) { return std::max(0.0, 1 - radius * radius); }

/// Returns a bound on the norm of the lattice point nearest to a point of the inner ball; 0 is a lattice
/// point, too.
double InnerReach(double radius) {
  const double inner = InnerRadius(radius);
  return std::min(inner + radius, 2 * inner * (1 + 1e-9));
}

/// Returns the cheapest plan with at most `most` actions. If there is none, returns a plan with more.
Plan MakePlan(ActionSet set, int dimension, double radius, double most) {
  Plan plan{.set = set, .dimension = dimension, .radius = radius};
  if (set == ActionSet::kBox || (set == ActionSet::kBall && dimension == 1)) {
    plan.set = ActionSet::kBox;  // the unit ball of R
    plan.steps = std::max(1.0, std::ceil(1 / radius * (1 - 1e-12)));
    plan.most = std::pow(plan.steps + 1, dimension);
    return plan;
  }
  if (dimension == 1) {
    plan.most = 2;
    return plan;
  }
  if (set == ActionSet::kBall) {
    plan.inside = radius < 1 ? CoveringLattice(dimension, radius).MostWithin(InnerReach(radius)) : 1;
    most -= plan.inside;
  }
  plan.sphere = internal::PlanSphereNet(dimension, radius, most);
  plan.most = plan.sphere->most + plan.inside + dimension;  // up to d vectors complete the span
  return plan;
}

void MakeGrid(double steps, std::vector<double>& x, std::size_t axis, ActionSink sink) {
  if (axis == x.size()) return sink(x.data());
  const double half_side = 1 / std::sqrt(static_cast<double>(x.size()));
  for (double i = 0; i <= steps; ++i) {
    x[axis] = half_side * (2 * i - steps) / steps;
    MakeGrid(steps, x, axis + 1, sink);
  }
}

void MakeInside(int dimension, double radius, ActionSink sink) {
  std::vector<double> row(dimension, 0.0);
  if (radius >= 1) return sink(row.data());
  const double inner = InnerRadius(radius);
  CoveringLattice(dimension, radius)
      .ForEach(0, InnerReach(radius), [&](const std::vector<double>& x, long multiple) {
        const double norm = std::sqrt(Dot(x.data(), x.data(), dimension));
        if (norm <= inner) return sink(x.data());
        // If the next shorter multiple of the same vector is also projected to the inner sphere, it gives the
        // same action.
        if (multiple > 1 && norm * (1 - 1.0 / static_cast<double>(multiple)) > inner) return;
        std::transform(x.begin(), x.end(), row.begin(), [&](double entry) { return entry * inner / norm; });
        sink(row.data());
      });
}

void MakeActions(const Plan& plan, ActionSink sink) {
  std::vector<double> row(plan.dimension);
  if (plan.set == ActionSet::kBox) return MakeGrid(plan.steps, row, 0, sink);
  if (plan.dimension == 1) {
    for (const double end : {-1.0, 1.0}) sink(&end);
    return;
  }
  internal::MakeSphereNet(plan.sphere->kind, plan.dimension, plan.radius, sink);
  if (plan.set == ActionSet::kBall) MakeInside(plan.dimension, plan.radius, sink);
}

/// Returns unit vectors, in the set, that complete the span of a net.
ActionMatrix Missing(const Plan& plan) {
  constexpr double kIndependent = 0.01;
  Span span(plan.dimension);
  MakeActions(plan, [&](const double* x) {
    if (!span.full()) span.Add(x, kIndependent);
  });
  ActionMatrix missing(0, plan.dimension);
  for (int axis = 0; axis < plan.dimension && !span.full(); ++axis) {
    const Vector unit = Vector::Unit(plan.dimension, axis);
    if (!span.Add(unit.data(), kIndependent)) continue;
    missing.conservativeResize(missing.rows() + 1, Eigen::NoChange);
    missing.row(missing.rows() - 1) = unit;
  }
  return missing;
}

double MostActions(Count dimension, Count most_entries) {
  const Count entries = std::min(most_entries, kMostNetEntries);
  return static_cast<double>(std::min<Count>(entries / dimension, std::numeric_limits<ArmId>::max()));
}

absl::Status CheckDimension(Count dimension) {
  if (dimension >= 1 && dimension <= kMostDimension) return absl::OkStatus();
  return InvalidField(Part::kParams, "dimension", static_cast<double>(dimension),
                      fmt::format("a whole number from 1 to {}", kMostDimension));
}

/// Returns the smallest radius, to 1 %, that the limit allows.
std::optional<double> LeastRadius(ActionSet set, int dimension, double most) {
  const auto fits = [&](double radius) { return MakePlan(set, dimension, radius, most).most <= most; };
  double high = kMostNetRadius;
  if (!fits(high)) return std::nullopt;
  double low = high / 2;
  while (low > 1e-12 && fits(low)) {
    high = low;
    low /= 2;
  }
  while (high > 1.01 * low) {
    const double middle = std::sqrt(low * high);
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

absl::Status NoNet(ActionSet set, Count dimension) {
  return InvalidField(Part::kParams, {.message = fmt::format(
                                          "every net of the {} in this dimension is too large", NameOf(set)),
                                      .key = "dimension",
                                      .value = fmt::format("{}", dimension),
                                      .accepted = "a dimension in which a net has at most 2^29 numbers"});
}

/// Returns a radius with three digits that the limit allows, slightly above the smallest.
double Readable(ActionSet set, int dimension, double most, double least) {
  for (double radius = least; radius < kMostNetRadius; radius *= 1.01) {
    const double unit = std::pow(10, std::floor(std::log10(radius)) - 2);
    const double rounded = std::ceil(radius / unit) * unit;
    if (MakePlan(set, dimension, rounded, most).most <= most) return rounded;
  }
  return kMostNetRadius;
}

absl::StatusOr<Plan> CheckedPlan(const NetParams& params) {
  BANDANA_RETURN_IF_ERROR(CheckDimension(params.dimension));
  if (!(params.radius > 0 && params.radius <= kMostNetRadius)) {
    return InvalidField(Part::kParams, "net_radius", params.radius, "a number in (0, sqrt(2)]");
  }
  const int dimension = static_cast<int>(params.dimension);
  const double most = MostActions(params.dimension, params.most_entries);
  const Plan plan = MakePlan(params.set, dimension, params.radius, most);
  if (plan.most <= most) return plan;
  const std::optional<double> least = LeastRadius(params.set, dimension, most);
  if (!least.has_value()) return NoNet(params.set, params.dimension);
  return InvalidField(
      Part::kParams,
      {.message = fmt::format(
           "a net of the {} of dimension {} would have about {:.2g} actions, but at most {:.0f} are possible",
           NameOf(params.set), dimension, plan.most, most),
       .key = "net_radius",
       .value = fmt::format("{:g}", params.radius),
       .accepted = fmt::format("for instance {:.4g}", Readable(params.set, dimension, most, *least))});
}

}  // namespace

std::string_view NameOf(ActionSet set) {
  switch (set) {
    case ActionSet::kBall:
      return "ball";
    case ActionSet::kSphere:
      return "sphere";
    case ActionSet::kBox:
      return "box";
  }
  return "";
}

absl::StatusOr<Count> NetSize(const NetParams& params) {
  BANDANA_ASSIGN_OR_RETURN(const Plan plan, CheckedPlan(params));
  return static_cast<Count>(std::ceil(plan.most));
}

absl::StatusOr<ActionMatrix> MakeNet(const NetParams& params) {
  BANDANA_ASSIGN_OR_RETURN(const Plan plan, CheckedPlan(params));
  Eigen::Index rows = 0;
  MakeActions(plan, [&](const double*) { ++rows; });
  const ActionMatrix missing = Missing(plan);
  ActionMatrix net(rows + missing.rows(), plan.dimension);
  double* next = net.data();
  MakeActions(plan, [&](const double* x) { next = std::copy(x, x + plan.dimension, next); });
  net.bottomRows(missing.rows()) = missing;
  return net;
}

absl::StatusOr<double> SmallestNetRadius(ActionSet set, Count dimension, Count most_entries) {
  BANDANA_RETURN_IF_ERROR(CheckDimension(dimension));
  const std::optional<double> least =
      LeastRadius(set, static_cast<int>(dimension), MostActions(dimension, most_entries));
  if (!least.has_value()) return NoNet(set, dimension);
  return *least;
}

double NetLoss(ActionSet set, double radius) {
  return set == ActionSet::kBox ? 0 : std::min(radius, radius * radius / 2);
}

double NetRadiusFor(ActionSet set, double horizon, double regret) {
  BANDANA_CHECK(horizon > 0 && regret > 0);
  if (set == ActionSet::kBox) return kMostNetRadius;
  return std::min(kMostNetRadius, std::sqrt(2 * regret / horizon));
}

double SetOptimum(ActionSet set, const Vector& theta) {
  if (set == ActionSet::kBox) {
    return theta.lpNorm<1>() / std::sqrt(static_cast<double>(theta.size()));
  }
  return theta.norm();
}

ActionMatrix DrawActions(ActionSet set, Count dimension, Count count, CoinGen& coin) {
  ActionMatrix actions(count, dimension);
  const double d = static_cast<double>(dimension);
  for (Count i = 0; i < count; ++i) {
    auto row = actions.row(i);
    if (set == ActionSet::kBox) {
      for (double& entry : row) entry = (2 * UniformUnit(coin) - 1) / std::sqrt(d);
      continue;
    }
    do {
      for (double& entry : row) entry = StandardNormal(coin);
    } while (!(row.norm() > 0));
    row /= row.norm();
    if (set == ActionSet::kBall) row *= std::pow(UniformUnit(coin), 1 / d);
  }
  return actions;
}

}  // namespace bandana
