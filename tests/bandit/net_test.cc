#include "bandana/bandit/net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bandana/bandit/net_lattice.h"
#include "bandana/bandit/net_problem.h"
#include "bandana/bandit/net_sphere.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ActionSet kSets[] = {ActionSet::kBall, ActionSet::kSphere, ActionSet::kBox};

/// The rows, sorted by their first coordinate: all rows within a radius of a point are in one window of this
/// order.
class Neighbours {
 public:
  explicit Neighbours(const ActionMatrix& rows) : rows_(rows), order_(rows.rows()) {
    for (Eigen::Index i = 0; i < rows.rows(); ++i) order_[i] = {rows(i, 0), i};
    std::sort(order_.begin(), order_.end());
  }

  bool Within(const Vector& x, double radius) const {
    auto it = std::lower_bound(order_.begin(), order_.end(), std::pair(x[0] - radius, Eigen::Index{-1}));
    for (; it != order_.end() && it->first <= x[0] + radius; ++it) {
      if ((rows_.row(it->second).transpose() - x).squaredNorm() <= radius * radius) return true;
    }
    return false;
  }

 private:
  const ActionMatrix& rows_;
  std::vector<std::pair<double, Eigen::Index>> order_;
};

bool Inside(ActionSet set, const Vector& x) {
  switch (set) {
    case ActionSet::kBall:
      return x.norm() <= 1 + 1e-14;
    case ActionSet::kSphere:
      return std::abs(x.norm() - 1) <= 1e-14;
    case ActionSet::kBox:
      return x.cwiseAbs().maxCoeff() <= 1 / std::sqrt(static_cast<double>(x.size())) * (1 + 1e-15);
  }
  return false;
}

bool Spans(const ActionMatrix& rows) {
  const Matrix gram = rows.transpose() * rows;
  return Eigen::ColPivHouseholderQR<Matrix>(gram).rank() == rows.cols();
}

Eigen::Index Distinct(const ActionMatrix& rows) {
  std::set<std::vector<double>> seen;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    std::vector<double> key(rows.cols());
    for (Eigen::Index c = 0; c < rows.cols(); ++c) key[c] = std::round(rows(i, c) * 1e10);
    seen.insert(key);
  }
  return std::ssize(seen);
}

/// Returns the first property of nets that this net violates, or an empty string.
std::string Violation(const NetParams& params, int draws) {
  const auto net = MakeNet(params);
  const auto size = NetSize(params);
  if (!net.ok()) return std::string(net.status().message());
  if (!size.ok() || net->rows() > *size) return "larger than NetSize";
  if (!Spans(*net)) return "no span";
  if (Distinct(*net) != net->rows()) return "an action twice";
  for (Eigen::Index i = 0; i < net->rows(); ++i) {
    if (!Inside(params.set, net->row(i))) return "outside the set";
  }
  PhiloxSource bits({.seed = 1});
  CoinGen coin(bits);
  const Neighbours neighbours(*net);
  const ActionMatrix points = DrawActions(params.set, params.dimension, draws, coin);
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    if (!Inside(params.set, points.row(i))) return "a draw outside the set";
    if (!neighbours.Within(points.row(i), params.radius * (1 + 1e-12))) return "not covered";
  }
  return "";
}

class NetTest : public ::testing::TestWithParam<std::tuple<ActionSet, int>> {};

// P2, Lemma 1, except for d = 1, 2, 3, 4: 10^5 random points are covered, and the size is within the bound.
TEST_P(NetTest, CoversWithinTheLemmasSize) {
  const auto& [set, d] = GetParam();
  for (const double radius : {1.0, 0.9, 0.6, 0.5, 0.31, 0.2, 0.1}) {
    if (d == 4 && radius < 0.2) continue;
    const NetParams params{.set = set, .dimension = d, .radius = radius};
    EXPECT_EQ(Violation(params, 100'000), "") << radius;
    EXPECT_LE(static_cast<double>(MakeNet(params)->rows()), std::pow(3 / radius, d) + d) << radius;
  }
}

INSTANTIATE_TEST_SUITE_P(SetsAndDimensions, NetTest,
                         ::testing::Combine(::testing::ValuesIn(kSets), ::testing::Values(1, 2, 3, 4)));

TEST(Net, CoversInHigherDimensions) {
  for (const auto& [set, d, radius] : {std::tuple(ActionSet::kSphere, 5, 0.5),
                                       {ActionSet::kSphere, 6, 0.6},
                                       {ActionSet::kSphere, 7, 0.8},
                                       {ActionSet::kSphere, 8, 1.1},
                                       {ActionSet::kSphere, 12, 1.05},
                                       {ActionSet::kSphere, 20, 1.2},
                                       {ActionSet::kSphere, 200, 1.39},
                                       {ActionSet::kBall, 5, 0.7},
                                       {ActionSet::kBall, 6, 1.0},
                                       {ActionSet::kBall, 20, 1.3},
                                       {ActionSet::kBox, 6, 0.4},
                                       {ActionSet::kBox, 10, 1.0}}) {
    const NetParams params{.set = set, .dimension = d, .radius = radius};
    EXPECT_EQ(Violation(params, 300), "") << NameOf(set) << " " << d << " " << radius;
  }
}

RC_GTEST_PROP(NetProperty, EveryRadiusIsCovered, ()) {
  const ActionSet set = *rc::gen::element(ActionSet::kBall, ActionSet::kSphere, ActionSet::kBox);
  const int d = *rc::gen::resize(100, rc::gen::inRange(1, 6));
  const double least = d <= 2 ? 0.02 : d == 3 ? 0.1 : 0.35;
  const double u = *rc::gen::resize(100, rc::gen::inRange(0, 1000)) / 1000.0;
  const double radius = least * std::pow(kMostNetRadius / least, u);
  RC_ASSERT(Violation({.set = set, .dimension = d, .radius = radius}, 300) == "");
}

// Each kind of net covers the sphere, also where another kind has fewer actions.
TEST(Net, EveryKindOfSphereNetCovers) {
  using internal::SphereNetKind;
  PhiloxSource bits({.seed = 2});
  CoinGen coin(bits);
  for (const auto& [kind, d, radius] : {std::tuple(SphereNetKind::kBands, 3, 0.2),
                                        {SphereNetKind::kBands, 5, 0.6},
                                        {SphereNetKind::kBands, 6, 1.0},
                                        {SphereNetKind::kSigns, 3, 1.0},
                                        {SphereNetKind::kSigns, 4, 0.8},
                                        {SphereNetKind::kSigns, 8, 0.9},
                                        {SphereNetKind::kLattice, 3, 0.2},
                                        {SphereNetKind::kLattice, 3, 1.4},
                                        {SphereNetKind::kLattice, 4, 0.5},
                                        {SphereNetKind::kLattice, 6, 0.9}}) {
    std::vector<double> entries;
    internal::MakeSphereNet(kind, d, radius,
                            [&](const double* x) { entries.insert(entries.end(), x, x + d); });
    ASSERT_FALSE(entries.empty());
    const ActionMatrix net = Eigen::Map<const ActionMatrix>(entries.data(), std::ssize(entries) / d, d);
    const Neighbours neighbours(net);
    const ActionMatrix points = DrawActions(ActionSet::kSphere, d, 3000, coin);
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      ASSERT_TRUE(neighbours.Within(points.row(i), radius * (1 + 1e-12)))
          << static_cast<int>(kind) << " " << d << " " << radius;
    }
  }
}

// The sign vectors' covering radius is attained, so the claimed radius cannot be smaller.
TEST(Net, SignVectorsAreAsFarAsClaimedFromTheFlatVector) {
  const int d = 4;  // the flat vector and +-e_i have a cosine of 1/2, so a distance of 1
  int rows = 0;
  internal::MakeSphereNet(internal::SphereNetKind::kSigns, d, 1.0, [&](const double*) { ++rows; });
  EXPECT_EQ(rows, 8);
  rows = 0;
  internal::MakeSphereNet(internal::SphereNetKind::kSigns, d, 0.999, [&](const double*) { ++rows; });
  EXPECT_EQ(rows, 8 + 24);
}

TEST(Net, EqualAnglesInThePlaneAreTheFewest) {
  for (const int n : {3, 4, 5, 100, 1001}) {
    const double radius = 2 * std::sin(M_PI / n / 2);
    const auto rows = [](double r) {
      return MakeNet({.set = ActionSet::kSphere, .dimension = 2, .radius = r})->rows();
    };
    EXPECT_EQ(rows(radius * (1 + 1e-9)), n);
    EXPECT_EQ(rows(radius * (1 - 1e-9)), n + 1);
  }
}

TEST(Net, LatticeHasItsCoveringRadiusAndDensity) {
  PhiloxSource bits({.seed = 3});
  CoinGen coin(bits);
  for (const int n : {1, 2, 3, 4, 5}) {
    const double radius = 0.4;
    const internal::CoveringLattice lattice(n, radius);
    double count = 0;
    std::vector<double> entries;
    lattice.ForEach(0, 1 + radius, [&](const std::vector<double>& x, long) {
      count += 1;
      entries.insert(entries.end(), x.begin(), x.end());
    });
    EXPECT_LE(count, lattice.MostWithin(1 + radius));
    EXPECT_NEAR(count / lattice.ExpectedWithin(1 + radius), 1, 0.35) << n;
    const ActionMatrix points = Eigen::Map<const ActionMatrix>(entries.data(), std::ssize(entries) / n, n);
    double farthest = 0;
    for (int i = 0; i < 3000; ++i) {
      const Vector x = DrawActions(ActionSet::kBall, n, 1, coin).row(0);
      farthest = std::max(farthest, (points.rowwise() - x.transpose()).rowwise().norm().minCoeff());
    }
    EXPECT_LE(farthest, radius);
    EXPECT_GE(farthest, 0.75 * radius) << "it would be too fine";
  }
}

TEST(Net, LatticeShellsAreTheBallsDifference) {
  const internal::CoveringLattice lattice(3, 0.2);
  const auto count = [&](double inner, double outer) {
    int points = 0;
    lattice.ForEach(inner, outer, [&](const std::vector<double>& x, long) {
      const double norm = Eigen::Map<const Vector>(x.data(), 3).norm();
      EXPECT_GE(norm, inner - 1e-9);
      EXPECT_LE(norm, outer + 1e-9);
      ++points;
    });
    return points;
  };
  EXPECT_EQ(count(0.811, 1.217), count(0, 1.217) - count(0, 0.811));
}

TEST(Net, MultiplesAreKnown) {
  const internal::CoveringLattice lattice(2, 0.3);
  lattice.ForEach(0, 2, [&](const std::vector<double>& x, long multiple) {
    const double norm = Eigen::Map<const Vector>(x.data(), 2).norm();
    EXPECT_EQ(multiple == 0, norm < 1e-12);
  });
}

// For thousands of thetas, the net loses at most NetLoss against the set, and nearly that much.
TEST(Net, LossIsQuadraticOnTheSphereAndNothingOnTheBox) {
  PhiloxSource bits({.seed = 4});
  CoinGen coin(bits);
  for (const ActionSet set : kSets) {
    for (const int d : {2, 3, 4}) {
      const double radius = 0.3;
      const ActionMatrix net = *MakeNet({.set = set, .dimension = d, .radius = radius});
      double most = 0;
      for (int i = 0; i < 1000; ++i) {
        const Vector theta = DrawActions(ActionSet::kSphere, d, 1, coin).row(0);
        most = std::max(most, SetOptimum(set, theta) - (net * theta).maxCoeff());
      }
      EXPECT_LE(most, NetLoss(set, radius) + 1e-14);
      if (set != ActionSet::kBox) {
        EXPECT_GE(most, 0.3 * radius * radius / 2);
      }
    }
  }
}

TEST(Net, RadiusForARegretCostsThat) {
  for (const ActionSet set : kSets) {
    EXPECT_LE(1e6 * NetLoss(set, NetRadiusFor(set, 1e6, 1)), 1 + 1e-9);
  }
  EXPECT_NEAR(NetRadiusFor(ActionSet::kSphere, 2e6, 1), 1e-3, 1e-12);
  EXPECT_EQ(NetRadiusFor(ActionSet::kBox, 1e6, 1), kMostNetRadius);
}

TEST(Net, BadParametersAreRefusedByName) {
  const auto key = [](NetParams params) {
    return InputErrorOf(MakeNet(params).status()).value_or(InputError{}).key;
  };
  for (const double radius : {0.0, -1.0, 1.5, kNan, kInfinity}) {
    EXPECT_EQ(key({.set = ActionSet::kBall, .dimension = 2, .radius = radius}), "net_radius");
  }
  for (const Count d : {0, -1, 2'000'000}) {
    EXPECT_EQ(key({.set = ActionSet::kBall, .dimension = d, .radius = 0.5}), "dimension");
  }
}

// A refusal names the size, and a radius that would be accepted.
TEST(Net, NetsTooLargeAreRefusedWithARadiusThatIsNot) {
  for (const ActionSet set : kSets) {
    for (const Count d : {1, 2, 3, 8, 20}) {
      for (const Count most : {kMostNetEntries, Count{4'000'000}}) {
        NetParams params{.set = set, .dimension = d, .radius = 1e-10, .most_entries = most};
        if (set == ActionSet::kSphere && d == 1) continue;
        const auto error = InputErrorOf(NetSize(params).status());
        ASSERT_TRUE(error.has_value());
        if (error->key == "dimension") continue;
        EXPECT_EQ(error->key, "net_radius");
        EXPECT_EQ(error->value, "1e-10");
        EXPECT_THAT(error->message, HasSubstr("actions"));
        ASSERT_THAT(error->accepted, HasSubstr("for instance "));
        params.radius = std::stod(error->accepted.substr(std::string("for instance ").size()));
        EXPECT_TRUE(NetSize(params).ok()) << NameOf(set) << d << " " << NetSize(params).status();
        params.radius = *SmallestNetRadius(set, d, most);
        EXPECT_TRUE(NetSize(params).ok());
        EXPECT_LE(*NetSize(params) * d, most);
      }
    }
  }
  const auto error = InputErrorOf(NetSize({.set = ActionSet::kBox, .dimension = 50, .radius = 1}).status());
  EXPECT_EQ(error.value_or(InputError{}).key, "dimension");
  EXPECT_FALSE(SmallestNetRadius(ActionSet::kBox, 50, kMostNetEntries).ok());
}

TEST(SampledNetTest, CoversItsSample) {
  PhiloxSource bits({.seed = 5});
  CoinGen coin(bits);
  for (const int d : {1, 2, 3, 4, 10}) {
    const ActionMatrix sample = DrawActions(ActionSet::kBall, d, 2000, coin);
    for (const double radius : {0.05, 0.3, 0.8, 5.0}) {
      const std::vector<ArmId> kept = *SampledNet(sample, radius);
      EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end(), std::less_equal<>()));
      EXPECT_LE(static_cast<double>(kept.size()), std::pow(1 + 2 / radius, d) + d);
      ActionMatrix net(std::ssize(kept), d);
      for (std::size_t i = 0; i < kept.size(); ++i) net.row(i) = sample.row(kept[i]);
      EXPECT_TRUE(Spans(net)) << d << " " << radius;
      const Neighbours neighbours(net);
      for (Eigen::Index i = 0; i < sample.rows(); ++i) {
        ASSERT_TRUE(neighbours.Within(sample.row(i), radius)) << d << " " << radius;
      }
    }
    EXPECT_EQ(std::ssize(*SampledNet(sample, 5.0)), d) << "one covers all, the others span";
  }
}

TEST(SampledNetTest, DuplicatesGoAndDependentSamplesKeepTheirRank) {
  ActionMatrix sample(6, 3);
  sample << 1, 0, 0, 1, 0, 0, 0, 0, 0, 0.5, 0.5, 0, 1, 0, 0, 0.5, 0.5, 0;
  EXPECT_EQ(*SampledNet(sample, 1e-9), (std::vector<ArmId>{0, 2, 3}));
  EXPECT_EQ(*SampledNet(sample, 3), (std::vector<ArmId>{0, 3})) << "rank 2 of 3";
}

TEST(SampledNetTest, BadSamplesAreRefusedByName) {
  const auto key = [](const ActionMatrix& sample, double radius) {
    return InputErrorOf(SampledNet(sample, radius).status()).value_or(InputError{}).key;
  };
  const ActionMatrix one = ActionMatrix::Ones(1, 2);
  EXPECT_EQ(key(ActionMatrix(0, 2), 1), "actions");
  EXPECT_EQ(key(one * kNan, 1), "actions");
  for (const double radius : {0.0, -1.0, kNan, kInfinity}) EXPECT_EQ(key(one, radius), "net_radius");
}

TEST(NetProblemTest, RegretIsAgainstTheWholeSet) {
  for (const ActionSet set : kSets) {
    const auto coarse = NetProblem({.set = set, .dimension = 3, .radius = 0.8}, 0.5, 7, 2);
    const auto fine = NetProblem({.set = set, .dimension = 3, .radius = 0.1}, 0.5, 7, 2);
    const auto sampled = SampledNetProblem({.set = set, .dimension = 3, .radius = 0.3}, 500, 0.5, 7, 2);
    ASSERT_TRUE(coarse.ok() && fine.ok() && sampled.ok());
    EXPECT_EQ(coarse->theta(), fine->theta()) << "paired";
    EXPECT_EQ(coarse->theta(), sampled->theta());
    EXPECT_NEAR(coarse->optimum(), fine->optimum(), 1e-15);
    EXPECT_NEAR(coarse->optimum(), sampled->optimum(), 1e-15);
    EXPECT_NEAR(coarse->optimum(), SetOptimum(set, coarse->theta()), 1e-15);
    EXPECT_LE(fine->Gap(fine->best()), 0.5 * NetLoss(set, 0.1) + 1e-15);
    EXPECT_LT(sampled->actions().rows(), 500);
    EXPECT_EQ(coarse->theta(),
              LinearProblem::Draw({.dimension = 3, .actions = 4, .theta_norm = 0.5}, 7, 2)->theta())
        << "the law, and the draw, of finite problems";
  }
  const Vector theta = Vector::Constant(4, 0.5);
  EXPECT_EQ(SetOptimum(ActionSet::kBall, theta), 1);
  EXPECT_EQ(SetOptimum(ActionSet::kBox, theta), 1);
  EXPECT_EQ(SetOptimum(ActionSet::kBox, Vector::Unit(4, 1)), 0.5);
}

TEST(NetProblemTest, ThinnedProblemsKeepTheirOptimum) {
  const auto problem = LinearProblem::Draw({.dimension = 3, .actions = 1000}, 7, 2);
  const auto thinned = ThinnedProblem(*problem, 0.4);
  ASSERT_TRUE(thinned.ok());
  EXPECT_LT(thinned->actions().rows(), 100);
  EXPECT_EQ(thinned->optimum(), problem->optimum());
  EXPECT_EQ(thinned->theta(), problem->theta());
  EXPECT_LE(thinned->Gap(thinned->best()), 0.4);
}

TEST(NetProblemTest, ErrorsAreNamed) {
  const auto key = [](const absl::StatusOr<LinearProblem>& problem) {
    return InputErrorOf(problem.status()).value_or(InputError{}).key;
  };
  const NetParams ball{.set = ActionSet::kBall, .dimension = 2, .radius = 0.5};
  EXPECT_EQ(key(NetProblem(ball, 2, 1, 1)), "theta_norm");
  EXPECT_EQ(key(NetProblem({.set = ActionSet::kBall, .dimension = 0, .radius = 1}, 1, 1, 1)), "dimension");
  EXPECT_EQ(key(SampledNetProblem(ball, 0, 1, 1, 1)), "actions");
  EXPECT_EQ(key(SampledNetProblem(ball, Count{1} << 30, 1, 1, 1)), "actions");
}

}  // namespace
}  // namespace bandana
