#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/privacy/access.h"

namespace bandana {

/// The operations that every mechanism needs: opening raw data, adding up reports, making released values.
/// Only its friends, and theirs, can derive from it; each has a note in docs/proofs/.
class Mechanism {
 protected:
  using Units = std::vector<std::int64_t>;

  template <class T>
  static const T& Reveal(const Raw<T>& raw) {
    return Access::Open(raw);
  }
  static std::span<const double> RevealContext(const ChosenArm& chosen) { return Access::Context(chosen); }

  Report MakeReport(Units units, Count bits, Count quorum = 0) const {
    Report report = Access::MakeReport(std::move(units));
    Access::Bits(report) = bits;
    Access::Quorum(report) = quorum;
    return report;
  }

  const Units& UnitsOf(const Report& report) const { return Access::Open(report); }
  const Units& UnitsOf(const Sealed& sealed) const { return Access::Open(sealed); }
  Sealed MakeSealed(Units units) const { return Access::Seal(std::move(units)); }

  /// Makes a report for one part of a dealt query, from one client or from a group of `clients`.
  Report MakePart(int part, Count clients, std::int64_t units, Count bits, Count quorum = 0) const {
    Report report = MakeReport({units}, bits, quorum);
    Access::Part(report) = part;
    Access::Clients(report) = clients;
    return report;
  }

  /// Returns the number that is added to coordinate i of a sum, given entry i of the report.
  using Entry = absl::FunctionRef<std::int64_t(std::size_t i, std::int64_t units)>;

  /// Adds a report of one client or of a group. Fails if the report has the wrong size, has no origin, comes
  /// from a client that is already in the sum, answers another query than the sum's, answers a part that has
  /// all its clients, or would overflow.
  template <class Query>
  absl::Status AddReport(const Query& query, std::size_t size, const Report& report, Entry entry,
                         BasicReportSum<Query>& sum) const {
    const NodeId origin = Access::Origin(report);
    BANDANA_RETURN_IF_ERROR(CheckOrigin(origin, report.clients(), Access::Origins(sum)));
    BANDANA_RETURN_IF_ERROR(AddUnits(query, size, DealtOf(query), report, entry, sum));
    Access::Origins(sum).Add(origin, report.clients());
    Access::Quorum(sum) = std::max(Access::Quorum(sum), report.quorum());
    Access::Reports(sum) += report.clients();
    return absl::OkStatus();
  }

  /// Adds a report that a shuffler has mixed, so that its origin is unknown. Fails for a report that comes
  /// directly from a client.
  template <class Query>
  absl::Status AddAnonymous(const Query& query, std::size_t size, const Report& mixed, Entry entry,
                            BasicReportSum<Query>& sum) const {
    BANDANA_RETURN_IF_ERROR(CheckMixed(Access::Origin(mixed), mixed.quorum()));
    BANDANA_RETURN_IF_ERROR(AddUnits(query, size, DealtOf(query), mixed, entry, sum));
    Access::Reports(sum) += mixed.clients();
    return absl::OkStatus();
  }

  /// Adds the totals, in every coordinate, that a shuffler made from the reports of `clients` clients.
  template <class Query>
  absl::Status AddTotals(const Query& query, std::size_t size, const Report& mixed, Count clients,
                         BasicReportSum<Query>& sum) const {
    BANDANA_RETURN_IF_ERROR(CheckMixed(Access::Origin(mixed), mixed.quorum()));
    const auto entry = [](std::size_t, std::int64_t total) { return total; };
    BANDANA_RETURN_IF_ERROR(AddUnits(query, size, {}, mixed, entry, sum));
    Access::Reports(sum) += clients;
    return absl::OkStatus();
  }

  /// The next step for a sum's totals: they get noise or are mixed (kProtect), or they go out unchanged
  /// (kLetOut).
  enum class Next { kProtect, kLetOut };

  /// Returns the totals of a sum. Fails unless all `wanted` clients are in it. With kLetOut it also fails
  /// unless each of its reports is protected on its own.
  template <class Query>
  absl::StatusOr<Units> Complete(const BasicReportSum<Query>& sum, Count wanted, Next next) const {
    BANDANA_RETURN_IF_ERROR(CheckQuorum(sum.reports(), wanted));
    if (next == Next::kLetOut && Access::Quorum(sum) > 0) return Unprotected();
    return Access::Totals(sum);
  }

  /// Returns the query that a sum answers. Only this query may determine the noise.
  template <class Query>
  const Query& QueryOf(const BasicReportSum<Query>& sum) const {
    return Access::QueryOf(sum);
  }

  template <class T>
  Released<T> Mint(T value, std::vector<NoiseLaw> noise) const {
    return Access::Mint(std::move(value), std::move(noise));
  }

  /// Resizes a user's message to `size` entries and returns them. The caller must write all of them.
  static std::span<double> Write(LocalMessage& message, std::size_t size) {
    std::vector<double>& entries = Access::Entries(message);
    entries.resize(size);
    return entries;
  }

  static absl::Status CheckSize(std::size_t size, const Units& units);

 private:
  Mechanism() = default;
  friend class GridMean;               // averages on a grid: no privacy, central, local, shuffled Laplace
  friend class ShuffleSumMean;         // docs/proofs/shuffle-sum.md
  friend class SiloPrefixSum;          // docs/proofs/silo-prefix-sum.md
  friend class L2BallMean;             // docs/proofs/l2-ball-mean.md
  friend class RegressionPrefixSum;    // docs/proofs/regression-prefix-sum.md
  friend class ShuffledRegressionSum;  // docs/proofs/shuffled-regression.md
  friend class SiloArmSums;            // docs/proofs/silo-arm-sums.md
  friend class LocalGradient;          // docs/proofs/local-gradient.md
  friend class LocalRegression;        // docs/proofs/local-regression.md

  template <class Query>
  static std::span<const Count> DealtOf(const Query& query) {
    if constexpr (requires { query.dealt; }) {
      return query.dealt;
    } else {
      return {};
    }
  }

  template <class Query>
  absl::Status AddUnits(const Query& query, std::size_t size, std::span<const Count> dealt,
                        const Report& report, Entry entry, BasicReportSum<Query>& sum) const {
    BANDANA_RETURN_IF_ERROR(CheckShape(size, dealt, report));
    if (sum.reports() == 0) {
      Access::QueryOf(sum) = query;
      Access::Totals(sum).assign(size, 0);
      Access::Answered(sum).assign(dealt.size(), 0);
    } else if (Access::QueryOf(sum) != query || Access::Totals(sum).size() != size ||
               Access::Answered(sum).size() != dealt.size()) {  // can differ only in a sum that was read back
      return absl::InvalidArgumentError("the report answers another query than the reports in the sum");
    }
    if (dealt.empty()) return AddAll(Access::Open(report), 0, entry, Access::Totals(sum));
    const auto part = static_cast<std::size_t>(report.part());
    BANDANA_RETURN_IF_ERROR(CheckRoom(report, dealt[part] - Access::Answered(sum)[part]));
    BANDANA_RETURN_IF_ERROR(AddAll(Access::Open(report), part, entry, Access::Totals(sum)));
    Access::Answered(sum)[part] += report.clients();
    return absl::OkStatus();
  }

  static absl::Status CheckShape(std::size_t size, std::span<const Count> dealt, const Report& report);
  static absl::Status CheckRoom(const Report& report, Count left);
  static absl::Status CheckOrigin(NodeId first, Count clients, const ClientSet& origins);
  static absl::Status CheckQuorum(Count reports, Count wanted);
  static absl::Status CheckMixed(NodeId origin, Count quorum);
  static absl::Status Unprotected();
  static absl::Status AddAll(const Units& units, std::size_t first, Entry entry, Units& totals);
};

}  // namespace bandana
