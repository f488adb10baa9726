#include "bandana/algorithms/user_regression.h"

#include <algorithm>
#include <cmath>

#include "Eigen/Cholesky"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kPaperLevel = 0.1;  // a

double ShiftOf(const UserRegressionParams& params, double noise) {
  const double d = std::sqrt(static_cast<double>(params.frame.dimension));
  const double k =
      params.shift.paper
          ? 2 * (4 * d + 2 * std::log(2 * static_cast<double>(params.frame.horizon) / kPaperLevel))
          : 2 * d;
  return params.shift.scale * noise * k;
}

}  // namespace

absl::Status UserRegression::Check(const UserRegressionParams& params) {
  BANDANA_RETURN_IF_ERROR(params.frame.Check());
  if (!(params.shift.scale >= 0 && std::isfinite(params.shift.scale))) {
    return InvalidOption("algorithm.gram_shift", fmt::format("{}", params.shift.scale),
                         "a finite number >= 0");
  }
  if (!(params.lazy >= 0 && params.lazy <= 1)) {
    return InvalidOption("algorithm.lazy", fmt::format("{}", params.lazy), "a number in [0, 1]");
  }
  return absl::OkStatus();
}

UserRegression::UserRegression(const UserRegressionParams& params, Count moments, double noise)
    : params_(params),
      dimension_(static_cast<std::size_t>(params.frame.dimension)),
      triangle_(dimension_ * (dimension_ + 1) / 2),
      slot_entries_(triangle_ + static_cast<std::size_t>(moments) * dimension_),
      shift_(ShiftOf(params, noise)),
      policy_(params.frame),
      sums_(static_cast<std::size_t>(params.frame.slots()) * slot_entries_, 0.0),
      messages_(static_cast<std::size_t>(params.frame.slots()), 0.0),
      next_(std::max<Count>(1, params.frame.warm_up_rounds())),
      factors_(messages_.size(), Matrix::Identity(params.frame.dimension, params.frame.dimension)),
      gram_(params.frame.dimension, params.frame.dimension) {}

bool UserRegression::Add(std::span<const double> entries, Count users) {
  if (policy_.warming_up()) {
    AddSlot(policy_.warm_up_arm(), entries, users);
  } else {
    for (Count slot = 0; slot < params_.frame.slots(); ++slot) {
      AddSlot(slot, entries.subspan(static_cast<std::size_t>(slot) * slot_entries_, slot_entries_), users);
    }
  }
  const Count now = policy_.users() + users;
  const bool due = now >= next_;
  if (due) {
    for (Count slot = 0; slot < params_.frame.slots(); ++slot) Solve(slot);
    next_ = now + std::max<Count>(1, static_cast<Count>(params_.lazy * static_cast<double>(now)));
  }
  policy_.Advance(users);
  return due;
}

void UserRegression::AddSlot(Count slot, std::span<const double> entries, Count users) {
  double* sums = sums_.data() + static_cast<std::size_t>(slot) * slot_entries_;
  for (std::size_t i = 0; i < slot_entries_; ++i) sums[i] += entries[i];
  messages_[static_cast<std::size_t>(slot)] += static_cast<double>(users);
}

// A Gram matrix that is not positive definite says nothing that can be used: the estimate before stays.
void UserRegression::Solve(Count slot) {
  const auto index = static_cast<std::size_t>(slot);
  const double* entry = sums_.data() + index * slot_entries_;
  const Eigen::Index d = params_.frame.dimension;
  const double shift = 1 + shift_ * std::sqrt(messages_[index]);
  for (Eigen::Index row = 0; row < d; ++row) {
    for (Eigen::Index column = 0; column <= row; ++column) gram_(row, column) = *entry++;
    gram_(row, row) += shift;
  }
  const Eigen::LLT<Eigen::Ref<Matrix>> factor(gram_);  // in place, of the lower triangle
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
