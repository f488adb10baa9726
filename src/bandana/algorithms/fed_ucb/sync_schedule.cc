#include "bandana/algorithms/fed_ucb/sync_schedule.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "bandana/core/check.h"
#include "bandana/core/status.h"

namespace bandana {
namespace {

// Returns round T (k/(n + 1))^2: early syncs are close together, since what is known grows by factors.
Count Squares(std::int64_t step, std::int64_t releases, Count horizon) {
  const double part = static_cast<double>(step) / static_cast<double>(releases + 1);
  return static_cast<Count>(std::ceil(static_cast<double>(horizon) * part * part - 1e-9));
}

// Returns the eigenvalues of one round's Gram matrix that released sums predict.
Vector RateOf(const RegressionSums& sums, Count last) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(sums.gram, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().cwiseMax(0.0) / static_cast<double>(last);
}

double LogDet(const Vector& rate, double rounds, double shift) {
  double sum = 0;
  for (Eigen::Index i = 0; i < rate.size(); ++i) sum += std::log(shift + rate[i] * rounds);
  return sum;
}

}  // namespace

std::string_view NameOf(Sync sync) {
  switch (sync) {
    case Sync::kEvery:
      return "every";
    case Sync::kBatch:
      return "batch";
    case Sync::kMLogT:
      return "mlogt";
    case Sync::kM15:
      return "m15";
    case Sync::kDoubling:
      return "doubling";
    case Sync::kReleased:
      return "released";
    case Sync::kDeterminant:
      return "determinant";
  }
  return "";
}

absl::StatusOr<SyncSchedule> SyncSchedule::Create(const SyncScheduleParams& params) {
  if (!(params.horizon >= 1)) {
    return InvalidField(Part::kFacts, "horizon", static_cast<double>(params.horizon), "a whole number >= 1");
  }
  if (!(params.agents >= 1)) {
    return InvalidField(Part::kFacts, "people", static_cast<double>(params.agents), "a whole number >= 1");
  }
  const Count rounds = params.horizon - 1;  // after which there may be a sync
  const auto logarithm = static_cast<Count>(std::ceil(std::log2(static_cast<double>(params.horizon)) - 1e-9));
  Count releases = rounds;
  switch (params.sync) {
    case Sync::kEvery:
      break;
    case Sync::kBatch:
      if (!(params.batch >= 1)) {
        return InvalidField(Part::kParams, "batch", static_cast<double>(params.batch), "a whole number >= 1");
      }
      releases = rounds / params.batch;
      break;
    case Sync::kMLogT:
    case Sync::kReleased:
      releases = std::min(rounds, logarithm);
      break;
    case Sync::kM15:
      releases = std::min(
          rounds, static_cast<Count>(std::ceil(std::sqrt(static_cast<double>(params.agents)) - 1e-9)));
      break;
    case Sync::kDoubling:
      releases = std::min(rounds, logarithm);
      break;
    case Sync::kDeterminant:
      if (params.most > 0) releases = std::min(rounds, params.most);
      break;
  }
  return SyncSchedule(params, std::max<Count>(releases, 1));
}

Count SyncSchedule::Next(std::int64_t step, Count last, const RegressionSums* sums, double shift) const {
  const Count horizon = params_.horizon;
  if (step > releases_ || params_.sync == Sync::kDeterminant) return horizon;
  Count next = horizon;
  switch (params_.sync) {
    case Sync::kEvery:
      next = step;
      break;
    case Sync::kBatch:
      next = step * params_.batch;
      break;
    case Sync::kMLogT:
    case Sync::kM15:
      next = Squares(step, releases_, horizon);
      break;
    case Sync::kDoubling:
      next = Count{1} << (step - 1);
      break;
    case Sync::kReleased: {
      if (sums == nullptr) {
        next = Squares(step, releases_, horizon);
        break;
      }
      // The growth of log det V that is left up to the horizon is dealt out in equal parts.
      const Vector rate = RateOf(*sums, last);
      const double now = LogDet(rate, static_cast<double>(last), shift);
      const double end = LogDet(rate, static_cast<double>(horizon), shift);
      const double goal = now + (end - now) / static_cast<double>(releases_ - step + 2);
      Count low = last;
      Count high = horizon;
      while (low + 1 < high) {
        const Count middle = low + (high - low) / 2;
        (LogDet(rate, static_cast<double>(middle), shift) < goal ? low : high) = middle;
      }
      next = high;
      break;
    }
    case Sync::kDeterminant:
      break;
  }
  return std::min(horizon, std::max(next, last + 1));
}

double DeterminantThreshold(Count horizon, Count dimension, double context_norm, double rho_min,
                            double rho_max) {
  const auto t = static_cast<double>(horizon);
  const auto d = static_cast<double>(dimension);
  return 2 * t * d / (std::log(rho_max / rho_min + t * context_norm * context_norm / (d * rho_min)) + 1);
}

}  // namespace bandana
