#include "bandana/bandit/optimal_design.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "bandana/core/bit_source.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<ArmId> All(const ActionMatrix& actions) {
  std::vector<ArmId> arms(actions.rows());
  std::iota(arms.begin(), arms.end(), 0);
  return arms;
}

Matrix Gaussian(Eigen::Index rows, Eigen::Index cols, CoinGen& coin) {
  return Matrix::NullaryExpr(rows, cols, [&] { return StandardNormal(coin); });
}

ActionMatrix Sphere(Eigen::Index k, Eigen::Index d, CoinGen& coin) {
  ActionMatrix actions = Gaussian(k, d, coin);
  actions.rowwise().normalize();
  return actions;
}

/// Computes max over the active x of |(sqrt(W) X_S P)^+' P'x|^2 by a singular value decomposition, without
/// forming V.
double IndependentG(const ActionMatrix& actions, const std::vector<ArmId>& active, const Design& design) {
  Matrix rooted(design.support.size(), design.rank());
  for (std::size_t i = 0; i < design.support.size(); ++i) {
    rooted.row(i) = std::sqrt(design.weights[i]) * actions.row(design.support[i]) * design.basis;
  }
  const Vector scale = rooted.colwise().norm();
  const Eigen::JacobiSVD<Matrix> svd(rooted * scale.cwiseInverse().asDiagonal(), Eigen::ComputeThinV);
  double g = 0;
  for (ArmId arm : active) {
    const Vector x =
        scale.cwiseInverse().asDiagonal() * (design.basis.transpose() * actions.row(arm).transpose());
    const Vector y = svd.singularValues().cwiseInverse().asDiagonal() * (svd.matrixV().transpose() * x);
    g = std::max(g, y.squaredNorm());
  }
  return g;
}

double FarthestFromSpan(const ActionMatrix& actions, const std::vector<ArmId>& active, const Matrix& basis) {
  double farthest = 0;
  for (ArmId arm : active) {
    const Vector x = actions.row(arm).transpose();
    farthest = std::max(farthest, (x - basis * (basis.transpose() * x)).norm());
  }
  return farthest;
}

double Longest(const ActionMatrix& actions, const std::vector<ArmId>& active) {
  double longest = 0;
  for (ArmId arm : active) longest = std::max(longest, actions.row(arm).norm());
  return longest;
}

/// Returns the first property of designs that this design violates, or an empty string.
std::string Violation(const ActionMatrix& actions, const std::vector<ArmId>& active, const Design& design) {
  const double r = design.rank();
  const double bound = r >= 3 ? 4 * r * std::log(std::log(r)) + 16 : 16;
  if (design.support.size() != design.weights.size()) return "sizes differ";
  if (static_cast<double>(design.support.size()) > bound) return "support too large";
  if (!std::is_sorted(design.support.begin(), design.support.end(), std::less_equal<>()))
    return "support order";
  for (ArmId arm : design.support) {
    if (std::find(active.begin(), active.end(), arm) == active.end()) return "inactive arm in the support";
  }
  for (double w : design.weights) {
    if (!(w > 0)) return "weight not positive";
  }
  const double total = std::accumulate(design.weights.begin(), design.weights.end(), 0.0);
  if (!(std::abs(total - 1) < 1e-12)) return "weights do not sum to 1";
  const Matrix identity = Matrix::Identity(design.rank(), design.rank());
  if (!((design.basis.transpose() * design.basis - identity).norm() < 1e-13 * r))
    return "basis not orthonormal";
  if (!(FarthestFromSpan(actions, active, design.basis) <= 1.001e-8 * Longest(actions, active)))
    return "span";
  const double g = IndependentG(actions, active, design);
  if (!(g <= 2 * r * (1 + 1e-6))) return "g = " + std::to_string(g) + " at rank " + std::to_string(r);
  if (!(std::abs(g - design.g) <= 1e-6 * g)) return "g is not as reported: " + std::to_string(design.g);
  if (!(g >= r * (1 - 1e-6))) return "g below the rank";
  return "";
}

Design CheckedAmong(const ActionMatrix& actions, const std::vector<ArmId>& active,
                    const DesignParams& params) {
  absl::StatusOr<Design> design = NearOptimalDesign(actions, active, params);
  EXPECT_TRUE(design.ok()) << design.status();
  if (!design.ok()) return {};
  EXPECT_EQ(Violation(actions, active, *design), "");
  return *std::move(design);
}

Design Checked(const ActionMatrix& actions, const DesignParams& params = {}) {
  return CheckedAmong(actions, All(actions), params);
}

TEST(OptimalDesign, UnitVectorsAreUniform) {
  const Design design = Checked(ActionMatrix::Identity(5, 5));
  EXPECT_THAT(design.support, ElementsAre(0, 1, 2, 3, 4));
  for (double w : design.weights) EXPECT_DOUBLE_EQ(w, 0.2);
  EXPECT_DOUBLE_EQ(design.g, 5);
  EXPECT_EQ(design.steps, 0);
}

TEST(OptimalDesign, SingleAction) {
  const Design design = Checked(ActionMatrix{{3, 4}});
  EXPECT_THAT(design.support, ElementsAre(0));
  EXPECT_THAT(design.weights, ElementsAre(1.0));
  EXPECT_EQ(design.rank(), 1);
  EXPECT_DOUBLE_EQ(design.g, 1);
}

TEST(OptimalDesign, CollinearActionsNeedTheLongestOnly) {
  const Design design = Checked(ActionMatrix{{1, 2, 3}, {-2, -4, -6}, {0.5, 1, 1.5}, {2, 4, 6}});
  EXPECT_EQ(design.rank(), 1);
  EXPECT_THAT(design.support, ElementsAre(1));
}

TEST(OptimalDesign, TiesGoToTheSmallestIndex) {
  PhiloxSource source({.seed = 3});
  CoinGen coin(source);
  const ActionMatrix once = Sphere(60, 6, coin);
  ActionMatrix twice(120, 6);
  twice << once, once;
  const Design a = Checked(once, {.target = 1.1});
  const Design b = Checked(twice, {.target = 1.1});
  EXPECT_EQ(a.support, b.support);
  EXPECT_EQ(a.weights, b.weights);
}

TEST(OptimalDesign, ZeroRowsAreFine) {
  const Design design = Checked(ActionMatrix{{0, 0}, {1, 0}, {0, 0}, {1, 1}, {0, 0}});
  EXPECT_EQ(design.rank(), 2);
  EXPECT_THAT(design.support, ElementsAre(1, 3));
}

TEST(OptimalDesign, DirectionsBelowTheToleranceAreDropped) {
  PhiloxSource source({.seed = 4});
  CoinGen coin(source);
  for (const auto& [scale, rank] : {std::pair(1e-3, 8), {1e-7, 8}, {1e-10, 6}, {1e-12, 6}, {0.0, 6}}) {
    ActionMatrix actions = Sphere(200, 8, coin);
    actions.rightCols(2) *= scale;
    const Matrix rotation = Gaussian(8, 8, coin).householderQr().householderQ();
    EXPECT_EQ(Checked(actions).rank(), rank) << scale;
    EXPECT_EQ(Checked(actions * rotation).rank(), rank) << scale;
  }
}

TEST(OptimalDesign, ScaleDoesNotMatter) {
  PhiloxSource source({.seed = 5});
  CoinGen coin(source);
  const ActionMatrix actions = Sphere(300, 7, coin);
  const Design design = Checked(actions);
  for (int exponent : {-990, -500, 500, 1023}) {
    const ActionMatrix scaled = actions.unaryExpr([&](double x) { return std::ldexp(x, exponent); });
    const absl::StatusOr<Design> same = NearOptimalDesign(scaled, All(scaled));
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_EQ(same->support, design.support) << exponent;
    EXPECT_NEAR(same->g, design.g, 1e-12);
  }
}

TEST(OptimalDesign, ReachesItsTarget) {
  PhiloxSource source({.seed = 6});
  CoinGen coin(source);
  const ActionMatrix actions = Sphere(1000, 20, coin);
  for (double target : {2.0, 1.5, 1.3, 1.2}) {
    EXPECT_LE(Checked(actions, {.target = target}).g, target * 20) << target;
  }
  EXPECT_LE(Checked(actions).support.size(), 60u);
}

// At this target the optimal support is larger than the bound, so both searches stop without reaching
// it.
TEST(OptimalDesign, KeepsTheSupportBoundWhenTheTargetIsOutOfReach) {
  PhiloxSource source({.seed = 7});
  CoinGen coin(source);
  for (int d : {9, 12, 20, 30}) {
    const Design design = Checked(Sphere(3000, d, coin), {.target = 1.0001});
    EXPECT_LT(design.g, 4.0 / 3 * d) << d;
  }
}

TEST(OptimalDesign, FourTimesTheRankIsWithinTheSupportBound) {
  for (int r = 1; r < 10000; ++r) ASSERT_LE(4 * r, DesignSupportBound(r)) << r;
}

TEST(OptimalDesign, InactiveActionsDoNotMatter) {
  ActionMatrix actions{{1, 0}, {std::nan(""), 9}, {0, 1}, {7, 7}};
  const Design design = CheckedAmong(actions, {0, 2}, {});
  EXPECT_THAT(design.support, ElementsAre(0, 2));
}

TEST(OptimalDesign, BadActionsAreNamed) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto error = [](const ActionMatrix& actions, const std::vector<ArmId>& active) {
    return InputErrorOf(NearOptimalDesign(actions, active).status()).value_or(InputError{});
  };
  const ActionMatrix zero = ActionMatrix::Zero(3, 2);
  EXPECT_EQ(error(zero, {}).key, "actions");
  EXPECT_EQ(error(zero, {0, 1, 2}).key, "actions");
  EXPECT_THAT(error(zero, {0, 1, 2}).message, HasSubstr("zero"));
  EXPECT_THAT(error(ActionMatrix::Constant(3, 2, 1e-310), {0, 1, 2}).message, HasSubstr("zero"));
  for (double bad : {inf, -inf, std::nan("")}) {
    EXPECT_EQ(error(ActionMatrix{{1, 0}, {bad, 1}}, {0, 1}).key, "actions");
    EXPECT_THAT(error(ActionMatrix{{1, 0}, {bad, 1}}, {0, 1}).message, HasSubstr("action 1"));
  }
}

TEST(OptimalDesign, BadTargetsAreRejected) {
  const ActionMatrix actions = ActionMatrix::Identity(2, 2);
  for (double target : {1.0, 0.0, -1.0, 2.1, std::nan("")}) {
    EXPECT_FALSE(NearOptimalDesign(actions, All(actions), {.target = target}).ok()) << target;
  }
}

TEST(OptimalDesignDeathTest, UnknownArmsAreAProgrammersError) {
  const ActionMatrix actions = ActionMatrix::Identity(2, 2);
  EXPECT_DEATH(NearOptimalDesign(actions, std::vector<ArmId>{0, 2}).IgnoreError(), "check failed");
}

// The k x k Gram matrix of this set would take 80 GB.
TEST(OptimalDesign, MemoryIsLinearInTheActions) {
  PhiloxSource source({.seed = 8});
  CoinGen coin(source);
  const ActionMatrix actions = Sphere(100000, 3, coin);
  EXPECT_TRUE(NearOptimalDesign(actions, All(actions)).ok());
}

enum class Kind {
  kSphere,
  kClustered,
  kCollinear,
  kDuplicated,
  kNearlyFlat,
  kFlat,
  kHeavyTailed,
  kGrid,
  kCount
};

double Cauchy(CoinGen& coin) { return StandardNormal(coin) / StandardNormal(coin); }

ActionMatrix ActionsOf(Kind kind, Eigen::Index k, Eigen::Index d, CoinGen& coin) {
  ActionMatrix actions = Sphere(k, d, coin);
  const Vector center = Gaussian(d, 1, coin);
  const Vector scales = Vector::NullaryExpr(d, [&] { return std::pow(10, -14 * UniformUnit(coin)); });
  const Matrix rotation = Gaussian(d, d, coin).householderQr().householderQ();
  const double spread = std::pow(10, -9 * UniformUnit(coin));
  for (Eigen::Index i = 0; i < k; ++i) {
    auto x = actions.row(i);
    switch (kind) {
      case Kind::kClustered:
        x = center.transpose() + spread * x;
        break;
      case Kind::kCollinear:
        x = center.transpose() * StandardNormal(coin);
        break;
      case Kind::kDuplicated:
        x = actions.row(UniformBelow(i / 3 + 1, coin)).eval();
        break;
      case Kind::kNearlyFlat:
        x = (x * scales.asDiagonal() * rotation).eval();
        break;
      case Kind::kFlat:
        x.tail(d / 2).setZero();
        x = (x * rotation).eval();
        break;
      case Kind::kHeavyTailed:
        x *= std::pow(Cauchy(coin), 3);
        break;
      case Kind::kGrid:
        x = x.unaryExpr([](double v) { return std::round(2 * v); }).eval();
        x[0] = 1;
        break;
      default:
        break;
    }
  }
  return actions;
}

/// Generates uniform values; RapidCheck's own inRange prefers small ones.
rc::Gen<int> Uniform(int least, int most) { return rc::gen::resize(100, rc::gen::inRange(least, most + 1)); }

rc::Gen<Kind> AnyKind() { return rc::gen::cast<Kind>(Uniform(0, static_cast<int>(Kind::kCount) - 1)); }

RC_GTEST_PROP(OptimalDesignProperty, GuaranteesHoldOnEverySet, ()) {
  const Kind kind = *AnyKind();
  const int k = *Uniform(1, 400);
  const int d = *Uniform(1, 25);
  const double target = *rc::gen::element(2.0, 1.5, 1.3, 1.05, 1.001);
  PhiloxSource source({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  CoinGen coin(source);
  const ActionMatrix actions = ActionsOf(kind, k, d, coin);
  std::vector<ArmId> active;
  const double share = *rc::gen::element(0.1, 0.5, 1.0);
  for (ArmId arm = 0; arm < k; ++arm) {
    if (arm == 0 || UniformUnit(coin) < share) active.push_back(arm);
  }
  const absl::StatusOr<Design> design = NearOptimalDesign(actions, active, {target});
  RC_ASSERT(design.ok());
  RC_ASSERT(Violation(actions, active, *design) == "");
  RC_ASSERT(design->g <= std::max(target, 4.0 / 3) * design->rank() * (1 + 1e-4));
}

RC_GTEST_PROP(OptimalDesignProperty, OrderAndRepetitionsDoNotMatter, ()) {
  const Kind kind = *AnyKind();
  PhiloxSource source({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  CoinGen coin(source);
  const ActionMatrix actions = ActionsOf(kind, 80, 6, coin);
  std::vector<ArmId> active = All(actions);
  const Design design = NearOptimalDesign(actions, active).value();
  active.push_back(active[UniformBelow(active.size(), coin)]);
  for (std::size_t i = active.size(); i > 1; --i) std::swap(active[i - 1], active[UniformBelow(i, coin)]);
  const Design same = NearOptimalDesign(actions, active).value();
  RC_ASSERT(design.support == same.support);
  RC_ASSERT(design.weights == same.weights);
  RC_ASSERT(design.basis == same.basis);
  RC_ASSERT(design.g == same.g);
}

RC_GTEST_PROP(OptimalDesignProperty, ScaleDoesNotMatter, ()) {
  const Kind kind = *AnyKind();
  PhiloxSource source({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  CoinGen coin(source);
  const ActionMatrix actions = ActionsOf(kind, *Uniform(1, 200), *Uniform(1, 12), coin);
  const double scale = std::ldexp(1.0, *Uniform(-400, 400));
  const Design design = NearOptimalDesign(actions, All(actions)).value();
  const Design scaled = NearOptimalDesign(actions * scale, All(actions)).value();
  RC_ASSERT(design.support == scaled.support);
  RC_ASSERT(design.weights == scaled.weights);
  RC_ASSERT(design.basis == scaled.basis);
}

std::vector<ArmId> Thinned(const std::vector<ArmId>& active, double share, CoinGen& coin) {
  std::vector<ArmId> kept;
  for (ArmId arm : active) {
    if (UniformUnit(coin) < share) kept.push_back(arm);
  }
  if (kept.empty()) kept.push_back(active.front());
  return kept;
}

/// Returns whether the set has a design; a set of zero vectors only has none.
bool HasDesign(const ActionMatrix& actions, const std::vector<ArmId>& active) {
  return Longest(actions, active) > 0;
}

// Runs phases of an elimination: each design starts from the one before.
RC_GTEST_PROP(OptimalDesignProperty, GuaranteesHoldFromAWarmStart, ()) {
  const Kind kind = *AnyKind();
  const int k = *Uniform(1, 400);
  const int d = *Uniform(1, 25);
  const double target = *rc::gen::element(2.0, 1.3, 1.05, 1.001);
  const double share = *rc::gen::element(0.1, 0.5, 0.95);
  PhiloxSource source({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  CoinGen coin(source);
  const ActionMatrix actions = ActionsOf(kind, k, d, coin);
  std::vector<ArmId> active = All(actions);
  Design earlier = NearOptimalDesign(actions, active, {target}).value();
  for (int phase = 0; phase < 4; ++phase) {
    active = Thinned(active, share, coin);
    if (!HasDesign(actions, active)) return;
    const DesignParams params{.target = target, .warm_start = &earlier};
    const absl::StatusOr<Design> design = NearOptimalDesign(actions, active, params);
    RC_ASSERT(design.ok());
    RC_ASSERT(Violation(actions, active, *design) == "");
    RC_ASSERT(design->g <= std::max(target, 4.0 / 3) * design->rank() * (1 + 1e-4));
    RC_ASSERT(NearOptimalDesign(actions, active, params)->weights == design->weights);
    earlier = *design;
  }
}

TEST(WarmStart, FromTheSameSetTakesNoStep) {
  PhiloxSource source({.seed = 9});
  CoinGen coin(source);
  const ActionMatrix actions = Sphere(1000, 20, coin);
  const Design cold = Checked(actions);
  const Design warm = Checked(actions, {.warm_start = &cold});
  EXPECT_GT(cold.steps, 0);
  EXPECT_EQ(warm.steps, 0);
  EXPECT_EQ(warm.support, cold.support);
  for (std::size_t i = 0; i < cold.weights.size(); ++i) {
    EXPECT_NEAR(warm.weights[i], cold.weights[i], 1e-15);
  }
}

// A warm start does no harm if nothing of the earlier design is left, or if that design says little.
TEST(WarmStart, FromADesignThatIsNoHelp) {
  PhiloxSource source({.seed = 10});
  CoinGen coin(source);
  const ActionMatrix actions = Sphere(400, 8, coin);
  const Design all = Checked(actions);
  std::vector<ArmId> others;
  for (ArmId arm : All(actions)) {
    if (!std::binary_search(all.support.begin(), all.support.end(), arm)) others.push_back(arm);
  }
  const Design cold = CheckedAmong(actions, others, {});
  const Design warm = CheckedAmong(actions, others, {.warm_start = &all});
  EXPECT_EQ(warm.support, cold.support) << "started from the same pivots";

  Design skewed = all;
  std::fill(skewed.weights.begin(), skewed.weights.end(), 1e-12);
  skewed.weights[0] = 1;
  CheckedAmong(actions, All(actions), {.warm_start = &skewed});

  Design whole = UniformDesign(actions, All(actions)).value();
  CheckedAmong(actions, All(actions), {.warm_start = &whole});
  const Design nothing;
  EXPECT_EQ(CheckedAmong(actions, All(actions), {.warm_start = &nothing}).support, all.support);
}

TEST(UniformDesignTest, PlaysEveryActionAlike) {
  const Design design =
      UniformDesign(ActionMatrix{{1, 0}, {7, 7}, {0, 1}, {0, -1}}, std::vector<ArmId>{3, 0, 2, 3}).value();
  EXPECT_THAT(design.support, ElementsAre(0, 2, 3));
  for (double w : design.weights) EXPECT_EQ(w, 1.0 / 3);
  EXPECT_EQ(design.rank(), 2);
  EXPECT_NEAR(design.g, 3, 1e-12);  // because V = diag(1, 2) / 3
  EXPECT_EQ(design.steps, 0);
  EXPECT_EQ(InputErrorOf(UniformDesign(ActionMatrix::Zero(2, 2), std::vector<ArmId>{0, 1}).status())
                .value_or(InputError{})
                .key,
            "actions");
}

RC_GTEST_PROP(UniformDesignProperty, SpanAndGAreRight, ()) {
  const Kind kind = *AnyKind();
  PhiloxSource source({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  CoinGen coin(source);
  const ActionMatrix actions = ActionsOf(kind, *Uniform(1, 200), *Uniform(1, 12), coin);
  const std::vector<ArmId> active = Thinned(All(actions), 0.7, coin);
  if (!HasDesign(actions, active)) return;
  const Design design = UniformDesign(actions, active).value();
  const double k = static_cast<double>(active.size());
  RC_ASSERT(design.support == active);
  for (double w : design.weights) RC_ASSERT(w == 1 / k);
  RC_ASSERT(design.rank() == NearOptimalDesign(actions, active)->rank());
  RC_ASSERT(FarthestFromSpan(actions, active, design.basis) <= 1.001e-8 * Longest(actions, active));
  const double g = IndependentG(actions, active, design);
  RC_ASSERT(std::abs(g - design.g) <= 1e-6 * g);
  RC_ASSERT(g >= design.rank() * (1 - 1e-6));
  RC_ASSERT(g <= k * (1 + 1e-6));
}

// --- Appendix A of P2: Frank-Wolfe from a uniform start

TEST(FrankWolfeDesignTest, KeepsAUniformStartThatIsGoodEnough) {
  PhiloxSource source({.seed = 5});
  CoinGen coin(source);
  const ActionMatrix actions = Sphere(200, 2, coin);
  const Design design = FrankWolfeDesign(actions, All(actions)).value();
  EXPECT_EQ(design.steps, 0);
  EXPECT_EQ(design.support, All(actions)) << "the paper says 2 to 3 actions";
  EXPECT_LE(NearOptimalDesign(actions, All(actions))->support.size(), 3u);
}

// All actions but one point the same way, so that uniform weights hardly explore the other.
TEST(FrankWolfeDesignTest, StepsTowardsTheActionThatIsExploredLeast) {
  ActionMatrix actions(50, 2);
  for (Eigen::Index i = 0; i < 50; ++i) actions.row(i) << 1, 1e-3 * static_cast<double>(i % 2);
  actions.row(17) << 0, 1;
  const Design design = FrankWolfeDesign(actions, All(actions)).value();
  EXPECT_GT(UniformDesign(actions, All(actions))->g, 40);
  EXPECT_GT(design.steps, 0);
  EXPECT_LE(design.g, 4 * (1 + 1e-9));
  EXPECT_EQ(design.support, All(actions)) << "no step takes an action out";
  EXPECT_GT(design.weights[17], 0.2);
  // The first step's gamma_0 of the appendix, from uniform weights.
  const double tau = IndependentG(actions, All(actions), *UniformDesign(actions, All(actions)));
  const double gamma = (tau / 2 - 1) / (tau - 1);
  if (design.steps == 1) EXPECT_NEAR(design.weights[17], (1 - gamma) / 50 + gamma, 1e-9);
}

TEST(FrankWolfeDesignTest, OneDirectionNeedsOneAction) {
  ActionMatrix actions(4, 1);
  actions << 0.1, 1, 0.1, 0.1;
  const Design design = FrankWolfeDesign(actions, All(actions)).value();
  EXPECT_THAT(design.support, ElementsAre(1));
  EXPECT_EQ(design.g, 1);
}

RC_GTEST_PROP(FrankWolfeDesignProperty, MeetsTheAppendixsCondition, ()) {
  PhiloxSource source({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  CoinGen coin(source);
  const ActionMatrix actions = ActionsOf(*AnyKind(), *Uniform(1, 200), *Uniform(1, 12), coin);
  const std::vector<ArmId> active = Thinned(All(actions), 0.7, coin);
  if (!HasDesign(actions, active)) return;
  const Design design = FrankWolfeDesign(actions, active).value();
  RC_ASSERT(design.rank() == 1 || design.support == active);
  const double g = IndependentG(actions, active, design);
  RC_ASSERT(g <= 2 * design.rank() * (1 + 1e-6));
  RC_ASSERT(std::abs(g - design.g) <= 1e-6 * g);
}

}  // namespace
}  // namespace bandana
