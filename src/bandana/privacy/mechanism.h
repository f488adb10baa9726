#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/privacy/access.h"

namespace bandana {

/// What every mechanism is made of: opening raw data, adding reports up, minting what is released. Its
/// friends, and theirs, are all that can have one: each has a note in docs/proofs/.
class Mechanism {
 protected:
  using Units = std::vector<std::int64_t>;

  template <class T>
  const T& Reveal(const Raw<T>& raw) const {
    return Access::Open(raw);
  }

  Report MakeReport(Units units, Count bits, Count quorum = 0) const {
    Report report = Access::MakeReport(std::move(units));
    Access::Bits(report) = bits;
    Access::Quorum(report) = quorum;
    return report;
  }

  const Units& UnitsOf(const Report& report) const { return Access::Open(report); }
  const Units& UnitsOf(const Sealed& sealed) const { return Access::Open(sealed); }
  Sealed MakeSealed(Units units) const { return Access::Seal(std::move(units)); }

  /// What of entry i of a report goes into a sum.
  using Entry = absl::FunctionRef<std::int64_t(std::size_t i, std::int64_t units)>;

  /// Adds a report of one client. Refuses one of the wrong size, of nobody, of somebody who is in the sum, to
  /// another query than the sum's, or that would overflow.
  template <class Query>
  absl::Status AddReport(const Query& query, std::size_t size, const Report& report, Entry entry,
                         BasicReportSum<Query>& sum) const {
    BANDANA_RETURN_IF_ERROR(CheckOrigin(Access::Origin(report), Access::Origins(sum)));
    BANDANA_RETURN_IF_ERROR(AddUnits(query, size, Access::Open(report), entry, sum));
    Access::Origins(sum).insert(Access::Origin(report));
    Access::Quorum(sum) = std::max(Access::Quorum(sum), report.quorum());
    ++Access::Reports(sum);
    return absl::OkStatus();
  }

  /// Adds what a shuffler made of `reports` clients' reports, of which nobody knows whose they are. Refuses a
  /// report as a client made it.
  template <class Query>
  absl::Status AddAnonymous(const Query& query, std::size_t size, const Report& mixed, Count reports,
                            Entry entry, BasicReportSum<Query>& sum) const {
    BANDANA_RETURN_IF_ERROR(CheckMixed(Access::Origin(mixed), mixed.quorum()));
    BANDANA_RETURN_IF_ERROR(AddUnits(query, size, Access::Open(mixed), entry, sum));
    Access::Reports(sum) += reports;
    return absl::OkStatus();
  }

  /// What becomes of a sum's totals: noise, or mixing, or they go out as they are.
  enum class Next { kProtect, kLetOut };

  /// The totals of a sum in which all `wanted` clients are. To be let out, each of its reports must hold its
  /// promise alone.
  template <class Query>
  absl::StatusOr<Units> Complete(const BasicReportSum<Query>& sum, Count wanted, Next next) const {
    BANDANA_RETURN_IF_ERROR(CheckQuorum(sum.reports(), wanted));
    if (next == Next::kLetOut && Access::Quorum(sum) > 0) return Unprotected();
    return Access::Totals(sum);
  }

  /// The query that a sum answers: the noise must be set by it and by no other.
  template <class Query>
  const Query& QueryOf(const BasicReportSum<Query>& sum) const {
    return Access::QueryOf(sum);
  }

  template <class T>
  Released<T> Mint(T value, std::vector<NoiseLaw> noise) const {
    return Access::Mint(std::move(value), std::move(noise));
  }

  static absl::Status CheckSize(std::size_t size, const Units& units);

 private:
  Mechanism() = default;
  friend class GridMean;        // averages on a grid: none, central, local
  friend class ShuffleSumMean;  // docs/proofs/shuffle-sum.md
  friend class SiloPrefixSum;   // docs/proofs/silo-prefix-sum.md
  friend class L2BallMean;      // docs/proofs/l2-ball-mean.md

  template <class Query>
  absl::Status AddUnits(const Query& query, std::size_t size, const Units& units, Entry entry,
                        BasicReportSum<Query>& sum) const {
    BANDANA_RETURN_IF_ERROR(CheckSize(size, units));
    if (sum.reports() == 0) {
      Access::QueryOf(sum) = query;
      Access::Totals(sum).assign(size, 0);
    } else if (Access::QueryOf(sum) != query) {
      return absl::InvalidArgumentError("a report to another query than the sum's");
    }
    return AddAll(units, entry, Access::Totals(sum));
  }

  static absl::Status CheckOrigin(NodeId origin, const absl::flat_hash_set<NodeId>& origins);
  static absl::Status CheckQuorum(Count reports, Count wanted);
  static absl::Status CheckMixed(NodeId origin, Count quorum);
  static absl::Status Unprotected();
  static absl::Status AddAll(const Units& units, Entry entry, Units& totals);
};

}  // namespace bandana
