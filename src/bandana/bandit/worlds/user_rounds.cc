#include "bandana/bandit/worlds/user_rounds.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/core/lanes.h"

namespace bandana {
namespace {

using Eigen::Index;
using lanes::Doubles;
using lanes::MulAdd;

constexpr Index kLanes = lanes::kCount<double>;

StreamKey ContextKey(std::uint64_t seed, std::uint32_t replicate) {
  return {.seed = seed, .replicate = replicate, .stream = Stream::kContext};
}

/// Returns a factor that keeps rounding from making a norm exceed 1.
double Shrink(Count dimension) { return 1 - static_cast<double>(dimension + 16) * 0x1p-52; }

double Norm(const double* x, Index size) { return std::sqrt(Dot(x, x, size)); }

/// Computes y += factor x.
void AddTimes(double factor, const double* x, double* y, Index size) {
  Index i = 0;
  const Doubles wide = lanes::Broadcast(factor);
  for (; i + kLanes <= size; i += kLanes) {
    lanes::Store(y + i, MulAdd(wide, lanes::Load(x + i), lanes::Load(y + i)));
  }
  for (; i < size; ++i) y[i] = std::fma(factor, x[i], y[i]);
}

/// Computes to = a x + b y.
void Combine(double a, const double* x, double b, const double* y, double* to, Index size) {
  Index i = 0;
  const Doubles wide_a = lanes::Broadcast(a);
  for (; i + kLanes <= size; i += kLanes) {
    lanes::Store(to + i, MulAdd(wide_a, lanes::Load(x + i), b * lanes::Load(y + i)));
  }
  for (; i < size; ++i) to[i] = std::fma(a, x[i], b * y[i]);
}

/// Returns the maximum of a x + b y.
double LargestCombination(double a, const double* x, double b, const double* y, Index size) {
  double most = -kInfinity;
  Index i = 0;
  if (size >= kLanes) {
    const Doubles wide_a = lanes::Broadcast(a);
    Doubles largest = MulAdd(wide_a, lanes::Load(x), b * lanes::Load(y));
    for (i = kLanes; i + kLanes <= size; i += kLanes) {
      largest = lanes::Max(largest, MulAdd(wide_a, lanes::Load(x + i), b * lanes::Load(y + i)));
    }
    most = std::max(std::max(largest[0], largest[2]), std::max(largest[1], largest[3]));
  }
  for (; i < size; ++i) most = std::max(most, std::fma(a, x[i], b * y[i]));
  return most;
}

}  // namespace

DrawnRounds::DrawnRounds(std::shared_ptr<const GlmProblem> problem, std::uint64_t seed,
                         std::uint32_t replicate, Facts facts)
    : problem_(std::move(problem)),
      seed_(seed),
      replicate_(replicate),
      facts_(std::move(facts)),
      draws_(ContextKey(seed, replicate)),
      rewards_(*problem_, seed, replicate),
      contexts_(problem_->multi() ? 1 : problem_->arms(), problem_->dimension()) {
  if (problem_->params().contexts == UserContexts::kMargin) {
    direction_ = problem_->thetas().row(0).normalized();
  }
}

bool DrawnRounds::Next() {
  rewards_.NewRound();
  const Index d = contexts_.cols();
  const std::span<double> all(contexts_.data(), static_cast<std::size_t>(contexts_.size()));
  switch (problem_->params().contexts) {
    case UserContexts::kMargin:
      DrawMargin();
      return true;
    case UserContexts::kGaussian:
      draws_.Normals(1 / std::sqrt(static_cast<double>(d)), all);
      return true;
    case UserContexts::kSphere:
      break;
  }
  draws_.Normals(1, all);
  for (Index row = 0; row < contexts_.rows(); ++row) {
    double* x = contexts_.data() + row * d;
    double norm = Norm(x, d);
    for (; !(norm > 0); norm = Norm(x, d)) draws_.Normals(1, {x, static_cast<std::size_t>(d)});
    const double scale = Shrink(d) / norm;
    for (Index i = 0; i < d; ++i) x[i] *= scale;
  }
  return true;
}

void DrawnRounds::DrawMargin() {
  const Index d = contexts_.cols();
  double* x = contexts_.data();
  double norm = 0;
  while (!(norm > 0)) {
    draws_.Normals(1, {x, static_cast<std::size_t>(d)});
    if (multi()) x[0] = 0;
    for (int pass = 0; pass < 2; ++pass) {
      AddTimes(-Dot(x, direction_.data(), d), direction_.data(), x, d);
    }
    norm = Norm(x, d);
  }
  const double sign = draws_.Uniform() < 0.5 ? -1 : 1;
  const double share = std::pow(draws_.Uniform(), 1 / problem_->params().margin);
  if (multi()) {
    const double along = Shrink(d) / std::numbers::sqrt2;
    Combine(along * sign * share, direction_.data(), along * std::sqrt(1 - share * share) / norm, x, x, d);
    x[0] = along;
    return;
  }
  const double gap = kMarginGap * share;
  const double half = Shrink(d) / 2;
  Combine(half * sign * gap, direction_.data(), half * kMarginAcross / norm, x, x, d);
  for (Index i = 0; i < d; ++i) x[d + i] = -x[i];
}

void DrawnRounds::Scores(std::span<const double> thetas, std::span<double> scores) {
  const Index d = contexts_.cols();
  BANDANA_CHECK(scores.size() == static_cast<std::size_t>(arms()));
  BANDANA_CHECK(thetas.size() == static_cast<std::size_t>(multi() ? arms() * d : d));
  const Index context_step = multi() ? 0 : d;
  const Index theta_step = d - context_step;
  for (Index a = 0; a < arms(); ++a) {
    scores[static_cast<std::size_t>(a)] =
        Dot(contexts_.data() + a * context_step, thetas.data() + a * theta_step, d);
  }
}

double DrawnRounds::Gap(ArmId arm) const {
  double best = Predictor(0);
  for (ArmId a = 1; a < arms(); ++a) best = std::max(best, Predictor(a));
  return rewards_.Gap(best, Predictor(arm));
}

std::unique_ptr<UserWorld> DrawnRounds::ScoresOnly() const {
  if (!ProjectedRounds::Accepts(*problem_)) return nullptr;
  return std::make_unique<ProjectedRounds>(problem_, seed_, replicate_, facts_);
}

bool ProjectedRounds::Accepts(const GlmProblem& problem) {
  return !problem.multi() && problem.params().contexts != UserContexts::kMargin && problem.dimension() >= 2;
}

ProjectedRounds::ProjectedRounds(std::shared_ptr<const GlmProblem> problem, std::uint64_t seed,
                                 std::uint32_t replicate, Facts facts)
    : problem_(std::move(problem)),
      facts_(std::move(facts)),
      dimension_(problem_->dimension()),
      arms_(problem_->arms()),
      draws_(ContextKey(seed, replicate)),
      rewards_(*problem_, seed, replicate),
      rounds_(std::max<Count>(1, 512 / arms_)),
      round_(rounds_ - 1),
      first_(static_cast<std::size_t>(rounds_ * arms_)),
      second_(first_.size()),
      context_(static_cast<std::size_t>(dimension_)) {
  BANDANA_CHECK(Accepts(*problem_));
  if (dimension_ == 2) {
    truth_[0] = problem_->thetas()(0, 0);
    truth_[1] = problem_->thetas()(0, 1);
    return;
  }
  e1_ = Vector::Zero(dimension_);
  e2_ = Vector::Zero(dimension_);
}

const ActionMatrix& ProjectedRounds::Contexts() {
  BANDANA_CHECK(false && "a learner that looks at contexts needs DrawnRounds");
  static const ActionMatrix none;
  return none;
}

void ProjectedRounds::Refill() {
  round_ = 0;
  if (problem_->params().contexts == UserContexts::kGaussian) {
    draws_.Normals(1 / std::sqrt(static_cast<double>(dimension_)), first_, second_);
  } else if (dimension_ == 2) {
    draws_.Circle(Shrink(2), first_, second_);
  } else {
    draws_.SpherePlane(dimension_, Shrink(dimension_), first_, second_);
  }
}

void ProjectedRounds::Scores(std::span<const double> theta, std::span<double> scores) {
  BANDANA_CHECK(theta.size() == static_cast<std::size_t>(dimension_));
  BANDANA_CHECK(scores.size() == static_cast<std::size_t>(arms_));
  if (dimension_ == 2) {
    Combine(theta[0], first(), theta[1], second(), scores.data(), arms_);
    return;
  }
  SetBasis(theta);
  const double* u = first();
  for (Index a = 0; a < arms_; ++a) scores[static_cast<std::size_t>(a)] = length_ * u[a];
}

void ProjectedRounds::SetBasis(std::span<const double> theta) {
  const Index d = dimension_;
  const double* truth = problem_->thetas().data();
  double* e1 = e1_.data();
  double* e2 = e2_.data();
  const double norm = Norm(theta.data(), d);
  length_ = norm > 0 && std::isfinite(norm) ? norm : 0;
  if (length_ > 0) {
    const double inverse = 1 / norm;
    for (Index i = 0; i < d; ++i) e1[i] = inverse * theta[static_cast<std::size_t>(i)];
  } else {
    e1_.setZero();
    e1[0] = 1;
  }
  truth_[0] = Dot(truth, e1, d);
  std::copy_n(truth, d, e2);
  AddTimes(-truth_[0], e1, e2, d);
  truth_[1] = Norm(e2, d);
  const double size = problem_->params().theta_norm;
  if (truth_[1] < 0.25 * size) {  // against cancellation: removes the rest of e1, too
    const double left = Dot(e2, e1, d);
    truth_[0] += left;
    AddTimes(-left, e1, e2, d);
    truth_[1] = Norm(e2, d);
  }
  if (!(truth_[1] > 1e-10 * size)) [[unlikely]] {  // parallel: any e2 works
    truth_[1] = 0;
    Index axis;
    e1_.cwiseAbs().minCoeff(&axis);
    e2_.setZero();
    e2[axis] = 1;
    for (int pass = 0; pass < 2; ++pass) AddTimes(-Dot(e2, e1, d), e1, e2, d);
  }
  const double inverse = 1 / Norm(e2, d);
  for (Index i = 0; i < d; ++i) e2[i] *= inverse;
}

double ProjectedRounds::Gap(ArmId arm) const {
  const double best = LargestCombination(truth_[0], first(), truth_[1], second(), arms_);
  return rewards_.Gap(best, Predictor(arm));
}

void ProjectedRounds::DrawContext(ArmId arm) {
  drawn_ = arm;
  const double u1 = first()[arm];
  const double u2 = second()[arm];
  double* x = context_.data();
  if (dimension_ == 2) {
    x[0] = u1;
    x[1] = u2;
    return;
  }
  const Index d = dimension_;
  const double* e1 = e1_.data();
  const double* e2 = e2_.data();
  const auto across = [&] {
    const double on1 = Dot(x, e1, d);
    const double on2 = Dot(x, e2, d);
    AddTimes(-on1, e1, x, d);
    AddTimes(-on2, e2, x, d);
  };
  if (problem_->params().contexts == UserContexts::kGaussian) {
    draws_.Normals(1 / std::sqrt(static_cast<double>(d)), context_);
    across();
    AddTimes(u1, e1, x, d);
    AddTimes(u2, e2, x, d);
    return;
  }
  double norm = 0;
  while (!(norm > 0)) {
    draws_.Normals(1, context_);
    across();
    norm = Norm(x, d);
    if (norm < 0.25) {  // against cancellation
      across();
      norm = Norm(x, d);
    }
  }
  const double shrink = Shrink(d);
  const double rest = std::sqrt(std::max(0.0, shrink * shrink - u1 * u1 - u2 * u2));
  Combine(u1, e1, rest / norm, x, x, d);
  AddTimes(u2, e2, x, d);
  if (const double length = Norm(x, d); length > 1) [[unlikely]] {
    for (Index i = 0; i < d; ++i) x[i] *= shrink / length;
  }
}

}  // namespace bandana
