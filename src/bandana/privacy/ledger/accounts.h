#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/ledger/unit_ranges.h"

namespace bandana {

/// The measure in which losses are added up. In each of them the plain sum is a valid filter for charges
/// chosen adaptively: (epsilon, delta) by basic composition (Rogers, Roth, Ullman, Vadhan 2016), rho of
/// (approximate) zCDP (Whitehouse, Ramdas, Rogers, Wu 2023), squared mu of Gaussian differential privacy
/// (Smith, Thakurta 2022).
enum class Measure { kApproximateDp, kZcdp, kGdp };

/// Names are "approximate-dp", "zcdp" and "gdp".
std::string_view NameOf(Measure measure);
std::optional<Measure> MeasureOf(std::string_view name);
/// Returns the name of Loss::amount: "epsilon", "rho", "mu_squared".
std::string_view AmountOf(Measure measure);

struct Loss {
  double amount = 0;  ///< epsilon, rho or mu squared
  double delta = 0;
  bool operator==(const Loss&) const = default;
};

/// Fails with kInvalidArgument and names `key`, unless both parts are finite and >= 0, and delta <= 1.
absl::Status CheckLoss(Measure measure, const Loss& loss, std::string_view key);

struct Limits {
  Measure measure = Measure::kApproximateDp;
  Loss per_unit;
  /// Bounds the sum over all releases, whoever is in them. It is the loss of a unit that was in every
  /// release.
  std::optional<Loss> deployment;
  bool operator==(const Limits&) const = default;
};

/// Adds up what each unit has spent (an odometer), and what all releases have spent together (a filter). Sums
/// are rounded up, so a budget of 1 pays nine charges of 0.1 and not ten: the double 0.1 is a little more
/// than a tenth.
class Accounts {
 public:
  struct Account {
    Loss spent;
    std::int64_t releases = 0;
  };

  explicit Accounts(const Limits& limits) : limits_(limits) {}

  /// Fails with kResourceExhausted if the budget of any of the units, or of the deployment, is too small.
  absl::Status Check(const Loss& cost, const UnitRanges& units) const;

  /// Checks, and charges all units if the check succeeds; otherwise it charges none.
  absl::Status Add(const Loss& cost, const UnitRanges& units);

  /// Declares every budget spent, also that of units that were never charged: nobody knows any more what they
  /// have spent.
  void SpendAll();
  bool all_spent() const { return all_spent_; }

  const Limits& limits() const { return limits_; }
  std::int64_t releases() const { return releases_; }
  std::size_t units() const { return accounts_.size(); }
  Account Of(NodeId unit) const;

  /// Returns the largest spending of any unit, amount and delta separately. By parallel composition it is the
  /// guarantee of everything released.
  const Loss& largest() const { return largest_; }
  /// Returns the unit that has spent the most; of several, the one with the smallest id.
  std::optional<NodeId> LargestSpender() const;
  const Loss& total() const { return total_; }

  /// Returns all accounts, ascending by unit.
  std::vector<std::pair<NodeId, Account>> All() const;

 private:
  Limits limits_;
  Loss largest_;
  Loss total_;
  std::int64_t releases_ = 0;
  bool all_spent_ = false;
  absl::flat_hash_map<NodeId, Account> accounts_;
};

}  // namespace bandana
