#include "bandana/privacy/accounting/filter.h"

#include <cmath>
#include <limits>

#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "bandana/privacy/sum_up.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::Status CheckBudget(const char* key, double value) {
  if (value > 0 && std::isfinite(value)) return absl::OkStatus();
  return InvalidOption(key, value, "a finite number > 0");
}

absl::Status CheckCharge(const char* key, double value) {
  if (value >= 0 && std::isfinite(value)) return absl::OkStatus();
  return InvalidOption(key, value, "a finite number >= 0");
}

constexpr double kOneUlpUp = 1 + std::numeric_limits<double>::epsilon();
constexpr double kDown = 1 - std::numeric_limits<double>::epsilon();

absl::Status Exhausted(const char* what, double spent, double charge, double budget) {
  return absl::ResourceExhaustedError(
      fmt::format("over the privacy budget: {} {} is spent, {} more is asked for, {} is the budget", what,
                  spent, charge, budget));
}

}  // namespace

absl::StatusOr<ZcdpFilter> ZcdpFilter::Create(double rho) {
  BANDANA_RETURN_IF_ERROR(CheckBudget("budget.rho", rho));
  return ZcdpFilter(rho);
}

absl::Status ZcdpFilter::Charge(double rho) {
  BANDANA_RETURN_IF_ERROR(CheckCharge("charge.rho", rho));
  const double sum = SumUp(spent_, rho);
  if (!(sum <= budget_)) return Exhausted("rho", spent_, rho, budget_);
  spent_ = sum;
  return absl::OkStatus();
}

absl::StatusOr<GdpFilter> GdpFilter::Create(double mu) {
  BANDANA_RETURN_IF_ERROR(CheckBudget("budget.mu", mu));
  return GdpFilter(mu);
}

double GdpFilter::spent() const { return std::sqrt(spent_square_) * kOneUlpUp; }

absl::Status GdpFilter::Charge(double mu) {
  BANDANA_RETURN_IF_ERROR(CheckCharge("charge.mu", mu));
  const double square = SumUp(spent_square_, mu * mu * kOneUlpUp);
  const bool first = spent_square_ == 0 && mu <= budget_;  // compares mu itself, since squares are rounded
  if (!first && !(square <= budget_ * budget_ * kDown)) return Exhausted("mu", spent(), mu, budget_);
  spent_square_ = square;
  return absl::OkStatus();
}

absl::StatusOr<RenyiFilter> RenyiFilter::Create(const RenyiCurve& budget) {
  bool bounded = false;
  for (std::size_t i = 0; i < RenyiCurve::kOrders; ++i) {
    const double value = budget.at(i);
    if (!(value >= 0)) return InvalidOption("budget.renyi", value, "a number >= 0 at every order");
    bounded |= std::isfinite(value);
  }
  if (!bounded) return InvalidOption("budget.renyi", kInfinity, "a finite number at one order at least");
  return RenyiFilter(budget);
}

absl::StatusOr<RenyiFilter> RenyiFilter::ForGuarantee(DpGuarantee guarantee, std::size_t order) {
  BANDANA_RETURN_IF_ERROR(CheckBudget("budget.epsilon", guarantee.epsilon));
  if (!(guarantee.delta > 0 && guarantee.delta < 1)) {
    return InvalidOption("budget.delta", guarantee.delta, "a number in (0, 1)");
  }
  if (order >= RenyiCurve::kOrders) {
    return InvalidOption("budget.order", static_cast<double>(order),
                         fmt::format("an index below {}", RenyiCurve::kOrders));
  }
  const double alpha = RenyiCurve::Orders()[order];
  const double slack = RenyiToEpsilon(guarantee.delta, alpha, 0);
  const double value = (guarantee.epsilon - slack) * (1 - 1e-11) - 1e-13 * slack;
  if (!(value > 0)) {
    return InvalidOption(
        "budget.order", alpha,
        fmt::format("an order whose conversion costs less than epsilon: this one costs {}", slack));
  }
  RenyiCurve budget = RenyiCurve::Unbounded();
  budget.set(order, value);
  return RenyiFilter(budget);
}

absl::Status RenyiFilter::Charge(const RenyiCurve& curve) {
  RenyiCurve sum;
  for (std::size_t i = 0; i < RenyiCurve::kOrders; ++i) {
    if (!(curve.at(i) >= 0))
      return InvalidOption("charge.renyi", curve.at(i), "a number >= 0 at every order");
    sum.set(i, SumUp(spent_.at(i), curve.at(i)));
    if (!(sum.at(i) <= budget_.at(i))) {
      return Exhausted(fmt::format("epsilon at order {:.6g}", RenyiCurve::Orders()[i]).c_str(), spent_.at(i),
                       curve.at(i), budget_.at(i));
    }
  }
  spent_ = sum;
  return absl::OkStatus();
}

}  // namespace bandana
