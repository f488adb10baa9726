#include "bandana/privacy/ledger/accounts.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bandana/core/status.h"
#include "bandana/privacy/sum_up.h"
#include "fmt/format.h"

namespace bandana {
namespace {

Loss Sum(const Loss& a, const Loss& b) { return {SumUp(a.amount, b.amount), SumUp(a.delta, b.delta)}; }

Loss Larger(const Loss& a, const Loss& b) {
  return {std::max(a.amount, b.amount), std::max(a.delta, b.delta)};
}

bool Within(const Loss& spent, const Loss& budget) {
  return spent.amount <= budget.amount && spent.delta <= budget.delta;
}

std::string Describe(const Loss& after, const Loss& budget, Measure measure) {
  return fmt::format("would have spent {} {} and delta {} of a budget of {} and {}", AmountOf(measure),
                     after.amount, after.delta, budget.amount, budget.delta);
}

}  // namespace

std::string_view NameOf(Measure measure) {
  switch (measure) {
    case Measure::kApproximateDp:
      return "approximate-dp";
    case Measure::kZcdp:
      return "zcdp";
    case Measure::kGdp:
      return "gdp";
  }
  return "";
}

std::optional<Measure> MeasureOf(std::string_view name) {
  for (const Measure measure : {Measure::kApproximateDp, Measure::kZcdp, Measure::kGdp}) {
    if (NameOf(measure) == name) return measure;
  }
  return std::nullopt;
}

std::string_view AmountOf(Measure measure) {
  switch (measure) {
    case Measure::kApproximateDp:
      return "epsilon";
    case Measure::kZcdp:
      return "rho";
    case Measure::kGdp:
      return "mu_squared";
  }
  return "";
}

absl::Status CheckLoss(Measure measure, const Loss& loss, std::string_view key) {
  if (!(loss.amount >= 0 && std::isfinite(loss.amount))) {
    return InvalidOption(fmt::format("{}.{}", key, AmountOf(measure)), loss.amount, "a finite number >= 0");
  }
  if (!(loss.delta >= 0 && loss.delta <= 1)) {
    return InvalidOption(fmt::format("{}.delta", key), loss.delta, "a number in [0, 1]");
  }
  return absl::OkStatus();
}

absl::Status Accounts::Check(const Loss& cost, const UnitRanges& units) const {
  BANDANA_RETURN_IF_ERROR(CheckLoss(limits_.measure, cost, "charge"));
  if (all_spent_) {
    return absl::ResourceExhaustedError(
        "all budgets were declared spent, because a back-up was restored without the lines of the ledger "
        "that were written after it");
  }
  if (const Loss after = Sum(total_, cost); limits_.deployment && !Within(after, *limits_.deployment)) {
    return absl::ResourceExhaustedError("all releases of the deployment together " +
                                        Describe(after, *limits_.deployment, limits_.measure));
  }
  std::optional<NodeId> poor;
  units.ForEach([&](NodeId unit) {
    if (!poor && !Within(Sum(Of(unit).spent, cost), limits_.per_unit)) poor = unit;
  });
  if (!poor) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "client {} {}", poor->value, Describe(Sum(Of(*poor).spent, cost), limits_.per_unit, limits_.measure)));
}

absl::Status Accounts::Add(const Loss& cost, const UnitRanges& units) {
  BANDANA_RETURN_IF_ERROR(Check(cost, units));
  ++releases_;
  total_ = Sum(total_, cost);
  units.ForEach([&](NodeId unit) {
    Account& account = accounts_[unit];
    account.spent = Sum(account.spent, cost);
    ++account.releases;
    largest_ = Larger(largest_, account.spent);
  });
  return absl::OkStatus();
}

void Accounts::SpendAll() {
  all_spent_ = true;
  largest_ = Larger(largest_, limits_.per_unit);
}

Accounts::Account Accounts::Of(NodeId unit) const {
  const auto it = accounts_.find(unit);
  Account account = it == accounts_.end() ? Account{} : it->second;
  if (all_spent_) account.spent = Larger(account.spent, limits_.per_unit);
  return account;
}

std::optional<NodeId> Accounts::LargestSpender() const {
  const auto key = [](const auto& entry) {
    return std::tuple(-entry.second.spent.amount, -entry.second.spent.delta, entry.first);
  };
  const auto it = std::min_element(accounts_.begin(), accounts_.end(),
                                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return it == accounts_.end() ? std::nullopt : std::optional(it->first);
}

std::vector<std::pair<NodeId, Accounts::Account>> Accounts::All() const {
  std::vector<std::pair<NodeId, Account>> all;
  all.reserve(accounts_.size());
  for (const auto& [unit, _] : accounts_) all.emplace_back(unit, Of(unit));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

}  // namespace bandana
