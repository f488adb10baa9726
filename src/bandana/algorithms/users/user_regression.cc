#include "bandana/algorithms/users/user_regression.h"

#include <algorithm>
#include <cmath>

#include "Eigen/Cholesky"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kPaperLevel = 0.1;  // a

double ShiftOf(const UserRegressionRules& rules, double noise) {
  const double d = std::sqrt(static_cast<double>(rules.shape.dimension));
  const double k = rules.shift.paper
                       ? 2 * (4 * d + 2 * std::log(2 * static_cast<double>(rules.shape.horizon) *
                                                   rules.shift.arms / kPaperLevel))
                       : 2 * d;
  return rules.shift.scale * noise * k;
}

}  // namespace

absl::Status UserRegression::Check(const UserRegressionRules& rules) {
  BANDANA_RETURN_IF_ERROR(rules.shape.Check());
  if (!(rules.shift.scale >= 0 && std::isfinite(rules.shift.scale))) {
    return InvalidField(Part::kParams, "gram_shift", fmt::format("{}", rules.shift.scale),
                        "a finite number >= 0");
  }
  if (!(rules.lazy >= 0 && rules.lazy <= 1)) {
    return InvalidField(Part::kParams, "lazy", fmt::format("{}", rules.lazy), "a number in [0, 1]");
  }
  return absl::OkStatus();
}

UserRegression::UserRegression(const UserRegressionRules& rules, Count sides, double noise)
    : rules_(rules),
      dimension_(static_cast<std::size_t>(rules.shape.dimension)),
      triangle_(dimension_ * (dimension_ + 1) / 2),
      slot_entries_(triangle_ + static_cast<std::size_t>(sides) * dimension_),
      shift_(ShiftOf(rules, noise)),
      policy_(rules.shape),
      sums_(static_cast<std::size_t>(rules.shape.slots()) * slot_entries_, 0.0),
      messages_(static_cast<std::size_t>(rules.shape.slots()), 0.0),
      next_(std::max<Count>(1, rules.shape.warm_up_rounds())),
      factors_(messages_.size(), Matrix::Identity(rules.shape.dimension, rules.shape.dimension)),
      gram_(rules.shape.dimension, rules.shape.dimension) {}

bool UserRegression::Add(std::span<const double> entries, Count users) {
  if (policy_.warming_up()) {
    AddSlot(policy_.warm_up_arm(), entries, users);
  } else {
    for (Count slot = 0; slot < rules_.shape.slots(); ++slot) {
      AddSlot(slot, entries.subspan(static_cast<std::size_t>(slot) * slot_entries_, slot_entries_), users);
    }
  }
  const Count now = policy_.users() + users;
  const bool due = now >= next_;
  if (due) {
    for (Count slot = 0; slot < rules_.shape.slots(); ++slot) Solve(slot);
    next_ = now + std::max<Count>(1, static_cast<Count>(rules_.lazy * static_cast<double>(now)));
  }
  policy_.Advance(users);
  return due;
}

void UserRegression::AddSlot(Count slot, std::span<const double> entries, Count users) {
  double* sums = sums_.data() + static_cast<std::size_t>(slot) * slot_entries_;
  for (std::size_t i = 0; i < slot_entries_; ++i) sums[i] += entries[i];
  messages_[static_cast<std::size_t>(slot)] += static_cast<double>(users);
}

// Keeps the estimate before if the Gram matrix is not positive definite: such a matrix tells nothing.
void UserRegression::Solve(Count slot) {
  const auto index = static_cast<std::size_t>(slot);
  const double* entry = sums_.data() + index * slot_entries_;
  const Eigen::Index d = rules_.shape.dimension;
  const double shift = 1 + shift_ * std::sqrt(messages_[index]);
  for (Eigen::Index row = 0; row < d; ++row) {
    for (Eigen::Index column = 0; column <= row; ++column) gram_(row, column) = *entry++;
    gram_(row, row) += shift;
  }
  const Eigen::LLT<Eigen::Ref<Matrix>> factor(gram_);  // in place, from the lower triangle
  if (factor.info() != Eigen::Success) {
    ++repairs_;
    return;
  }
  factors_[index].triangularView<Eigen::Lower>() = gram_;
  Eigen::Map<Vector> theta(policy_.theta(slot).data(), d);
  theta = Eigen::Map<const Vector>(moments(slot, 0).data(), d);
  factors_[index].triangularView<Eigen::Lower>().solveInPlace(theta);
  factors_[index].triangularView<Eigen::Lower>().transpose().solveInPlace(theta);
}

}  // namespace bandana
