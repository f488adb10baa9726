#pragma once

#include <utility>

#include "absl/status/status.h"
#include "bandana/federation/release.h"
#include "bandana/federation/user_context.h"
#include "tests/support.h"

namespace bandana::test {

/// A user in a few lines. It remembers what it was charged, and counts records outside of their bounds.
class HandUser final : public UserContext {
 public:
  explicit HandUser(std::uint64_t seed, double budget = 1e30) : coins_(seed), noise_(seed), left_(budget) {}

  CoinGen& coin() override { return coins_.gen; }

  double spent = 0;  ///< epsilon, over all users
  int draws = 0;
  RangeCounts counts;

 private:
  friend class bandana::Release;

  absl::Status ReleaseOnce(const DpGuarantee& cost, Count users, LocalMessage&,
                           absl::FunctionRef<void(NoiseGen&)> draw) override {
    const double charge = users == 0 ? 0 : cost.epsilon * static_cast<double>(users);
    if (charge > left_) return absl::ResourceExhaustedError("the budget is spent");
    left_ -= charge;
    spent += charge;
    ++draws;
    draw(noise_.gen);
    return absl::OkStatus();
  }
  RangeCounts* range_counts() override { return &counts; }

  Coins coins_;
  Noise noise_;
  double left_;
};

}  // namespace bandana::test
