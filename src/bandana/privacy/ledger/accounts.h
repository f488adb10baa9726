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

/// In what losses are added up. The plain sum is a valid filter for charges chosen adaptively in each of
/// them: (epsilon, delta) by basic composition (Rogers, Roth, Ullman, Vadhan 2016), rho of (approximate) zCDP
/// (Whitehouse, Ramdas, Rogers, Wu 2023), squared mu of Gaussian differential privacy (Smith, Thakurta 2022).
enum class Measure { kApproximateDp, kZcdp, kGdp };

/// "approximate-dp", "zcdp", "gdp".
std::string_view NameOf(Measure measure);
std::optional<Measure> MeasureOf(std::string_view name);
/// What a Loss::amount is called: "epsilon", "rho", "mu_squared".
std::string_view AmountOf(Measure measure);

struct Loss {
  double amount = 0;  ///< epsilon, rho or mu squared
  double delta = 0;
  bool operator==(const Loss&) const = default;
};

/// kInvalidArgument that names `key` unless both parts are finite and >= 0, and delta <= 1.
absl::Status CheckLoss(Measure measure, const Loss& loss, std::string_view key);

struct Limits {
  Measure measure = Measure::kApproximateDp;
  Loss per_unit;
  /// Bounds the sum over all releases, whoever is in them: what someone could have lost who was in every one.
  std::optional<Loss> deployment;
  bool operator==(const Limits&) const = default;
};

/// What each unit has spent (an odometer), and all releases together (a filter). Sums are rounded up, so a
/// budget of 1 pays nine charges of 0.1 and not ten: the double 0.1 is a little more than a tenth.
class Accounts {
 public:
  struct Account {
    Loss spent;
    std::int64_t releases = 0;
  };

  explicit Accounts(const Limits& limits) : limits_(limits) {}

  /// kResourceExhausted if any of the units, or the deployment, cannot pay.
  absl::Status Check(const Loss& cost, const UnitRanges& units) const;

  /// The same; if OK, all have paid, otherwise nobody.
  absl::Status Add(const Loss& cost, const UnitRanges& units);

  const Limits& limits() const { return limits_; }
  std::int64_t releases() const { return releases_; }
  std::size_t units() const { return accounts_.size(); }
  Account Of(NodeId unit) const;

  /// The most that any one unit has spent, each part for itself: by parallel composition the guarantee of
  /// everything released.
  const Loss& largest() const { return largest_; }
  /// A unit that has spent the most, the first of several.
  std::optional<NodeId> LargestSpender() const;
  const Loss& total() const { return total_; }

  /// By unit, ascending.
  std::vector<std::pair<NodeId, Account>> All() const;

 private:
  Limits limits_;
  Loss largest_;
  Loss total_;
  std::int64_t releases_ = 0;
  absl::flat_hash_map<NodeId, Account> accounts_;
};

}  // namespace bandana
