// A world of one's own: a shop offers coupons and counts how many are redeemed. DP-DPE learns which coupon is
// best, and a shuffler between customers and shop keeps each customer's answer private.

#include <bandana/bandana.h>

#include <cmath>
#include <cstdio>

namespace {

using bandana::Count;

class Shop final : public bandana::SlotWorld {
 public:
  Shop() {
    // A coupon is described by its discount and its minimum purchase.
    auto coupons = std::make_shared<bandana::ActionMatrix>(4, 2);
    *coupons << 0.2, 0.1, 0.4, 0.3, 0.6, 0.8, 0.9, 0.2;
    facts_.horizon = 400'000;
    facts_.people = 50'000;
    facts_.arms = coupons->rows();
    facts_.dimension = coupons->cols();
    facts_.actions = std::move(coupons);
    facts_.reward = {.kind = bandana::RewardKind::kBernoulli};
  }

  const bandana::Facts& facts() const override { return facts_; }

  // A customer was offered pulls[i].count coupons of kind pulls[i].arm. In a real shop the till knows how
  // many were redeemed.
  absl::Status Answer(bandana::NodeId customer, bandana::Epoch, std::span<const bandana::Pull> pulls,
                      std::span<bandana::RewardSum> rewards) override {
    for (std::size_t i = 0; i < pulls.size(); ++i) {
      const double mood = 0.5 * std::sin(customer.value);
      const double redeemed =
          std::round(static_cast<double>(pulls[i].count) * (Rate(pulls[i].arm) + 0.1 * mood));
      rewards[i] = {pulls[i].count, redeemed};
    }
    return absl::OkStatus();
  }

  // Regret is reported because this world knows its rates. A shop of real customers leaves this out.
  double Gap(bandana::ArmId arm) const override { return Rate(3) - Rate(arm); }

 private:
  double Rate(bandana::ArmId coupon) const {
    return 0.7 * (*facts_.actions)(coupon, 0) - 0.2 * (*facts_.actions)(coupon, 1) + 0.1;
  }

  bandana::Facts facts_;
};

}  // namespace

int main() {
  Shop shop;
  const bandana::Privacy privacy{.model = bandana::TrustModel::kShuffle, .epsilon = 1, .delta = 1e-6};
  const bandana::Federation federation =
      bandana::ValueOrExit(bandana::CreateDpDpe({.alpha = 0.8}, privacy, shop.facts()));
  const bandana::Outcome outcome = bandana::ValueOrExit(bandana::Simulate(federation, shop, {.seed = 1}));
  const bandana::Checkpoint& end = outcome.checkpoints.back();
  std::printf("regret %.0f; the best coupon in %.0f %% of %lld offers\n", end.regret,
              100 * end.best_action_rate, static_cast<long long>(end.t));
  for (const bandana::Claim& claim : federation.claims) std::printf("%s\n", bandana::ToText(claim).c_str());
}
