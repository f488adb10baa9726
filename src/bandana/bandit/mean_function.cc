#include "bandana/bandit/mean_function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr auto kInverses = [] {
  std::array<double, MeanFunction::kMostBound + 1> inverses = {};
  for (std::size_t i = 1; i < inverses.size(); ++i) inverses[i] = 1 / static_cast<double>(i);
  return inverses;
}();

/// N is Poisson of mean l. If exp(-l) is 0, then P(N <= 99) < 1e-160.
struct PoissonBelow {
  double less;  // P(N <= B - 2)
  double most;  // P(N <= B - 1)
};

PoissonBelow BelowBound(double l, int bound) {
  double mass = std::exp(-l);
  double less = 0;
  double most = mass;
  for (int i = 1; i < bound; ++i) {
    mass *= l * kInverses[static_cast<std::size_t>(i)];
    less = most;
    most += mass;
  }
  return {less, std::min(most, 1.0)};
}

}  // namespace

MeanFunction::MeanFunction(Link link) : link_(link) { BANDANA_CHECK(link != Link::kPoisson); }

absl::StatusOr<MeanFunction> MeanFunction::Create(Link link, Count bound) {
  if (link != Link::kPoisson) {
    if (bound != 0) {
      return InvalidField(Part::kParams, "reward_bound", fmt::format("{}", bound),
                          "no bound with this link: its rewards have their own bounds");
    }
    return MeanFunction(link);
  }
  if (!(bound >= 1 && bound <= kMostBound)) {
    return InvalidField(Part::kParams, "reward_bound", fmt::format("{}", bound),
                        fmt::format("a whole number from 1 to {} with poisson", kMostBound));
  }
  MeanFunction mean;
  mean.link_ = link;
  mean.bound_ = static_cast<int>(bound);
  return mean;
}

double MeanFunction::Probit(double predictor) { return MeanOf(Link::kProbit, predictor); }

double MeanFunction::Poisson(double predictor) const {
  const double l = std::exp(std::min(predictor, 700.0));
  const PoissonBelow below = BelowBound(l, bound_);
  // exp(-l) is 0 for l above 745, and so is its product with l.
  return below.less * l + bound_ * (1 - below.most);
}

double MeanFunction::Slope(double predictor) const {
  switch (link_) {
    case Link::kIdentity:
      return 1;
    case Link::kLogistic: {
      const double tail = std::exp(-std::abs(predictor));
      return tail / ((1 + tail) * (1 + tail));
    }
    case Link::kProbit:
      return std::numbers::inv_sqrtpi * (std::numbers::sqrt2 / 2) * std::exp(-0.5 * predictor * predictor);
    case Link::kPoisson:
      break;
  }
  const double l = std::exp(std::min(predictor, 700.0));
  return BelowBound(l, bound_).most * l;
}

double MeanFunction::SmallestSlope(double radius) const {
  BANDANA_CHECK(radius >= 0);
  return std::min(Slope(-radius), Slope(radius));
}

}  // namespace bandana
