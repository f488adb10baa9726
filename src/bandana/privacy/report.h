#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/byte_string.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"
#include "bandana/core/status.h"
#include "bandana/privacy/client_set.h"

namespace bandana {

/// A public linear map that clients apply to their clipped averages before they report. It has one row per
/// number of a report and one column per coordinate. It acts on the distances of the averages from the
/// middles of their intervals.
struct ReportMap {
  std::vector<double> entries = {};  ///< row by row; empty: no map
  /// A report is clipped to the ball of this radius, so that its sensitivity does not depend on the map.
  double radius = 0;
  bool operator==(const ReportMap&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(entries, radius);
  }
};

/// The query of an elimination phase: the clients' average reward in each coordinate. A coordinate is an arm
/// of the phase's plan.
struct MeanQuery {
  std::vector<Interval> bounds;  ///< public, one per coordinate; a client's average is clipped to it
  Count clients = 0;             ///< how many clients are asked
  std::string cohort = {};  ///< a digest of the clients that are asked (CohortOf), if a shuffler mixes their
                            ///< reports; else empty
  /// If empty, every client answers every coordinate. Otherwise the query is dealt: dealt[i] >= 1 of the
  /// clients answer coordinate i, with one reward each, and no other coordinate. The entries add up to
  /// `clients`.
  std::vector<Count> dealt = {};
  ReportMap map = {};  ///< only for a query that is not dealt
  /// If a server adds the noise, it waits for no more answers than these; 0: it waits for all.
  Count goal = 0;
  /// At a deadline, this share of the answers that the server waits for is enough, in every coordinate.
  double quorum = 1;
  bool operator==(const MeanQuery&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(bounds, clients, cohort, dealt, map, goal, quorum);
    a.Check(dealt.empty() || dealt.size() == bounds.size(),
            "the coordinates that a query deals out are not those that it has");
  }

  /// Returns how many clients answer coordinate i.
  Count clients_of(std::size_t i) const { return dealt.empty() ? clients : dealt[i]; }

  Count wanted() const { return goal == 0 ? clients : goal; }

  /// Returns how many of `answers` answers are enough at a deadline.
  Count LeastOf(Count answers) const {
    return std::max<Count>(1, static_cast<Count>(std::ceil(quorum * static_cast<double>(answers) - 1e-9)));
  }

  /// Returns how many answers there must be, whatever happens.
  Count least() const {
    Count least = dealt.empty() ? LeastOf(wanted()) : 0;
    for (const Count each : dealt) least += LeastOf(each);
    return least;
  }

  bool mapped() const { return !map.entries.empty(); }

  /// Returns how many numbers a client reports; the release has as many.
  std::size_t size() const {
    return mapped() && !bounds.empty() ? map.entries.size() / bounds.size() : bounds.size();
  }

  std::string bytes() const {
    ByteString bytes;
    bytes.Add(clients).Add(goal).Add(quorum).Add(cohort).Add(static_cast<std::uint64_t>(dealt.size()));
    for (const Count each : dealt) bytes.Add(each);
    bytes.Add(static_cast<std::uint64_t>(map.entries.size())).Add(map.radius);
    for (const double entry : map.entries) bytes.Add(entry);
    for (const Interval& bound : bounds) bytes.Add(bound.low).Add(bound.high);
    return bytes.Take();
  }
};

/// The output of R: a vector of integers, whose meaning depends on the mechanism, and its origin. It is
/// sealed: under the central model it is nearly raw, so a role may move, send and count reports, but never
/// read them. Integers make sums exact, whatever the order of arrival.
class Report {
 public:
  static constexpr int kWhole = -1;  ///< the part of a report that answers every coordinate

  Report() = default;

  std::size_t size() const { return units_.size(); }

  /// Returns the size on a wire that knows the mechanism, without framing. The papers measure this.
  Count bits() const { return bits_; }

  /// Returns how many reports are needed for the report's claim to hold. Whoever collects them must protect
  /// them: a shuffler mixes them, or a server adds noise to their sum. 0 means that the claim holds for the
  /// report alone. Mechanisms let only such reports out unchanged.
  Count quorum() const { return quorum_; }

  /// Returns the one coordinate of a dealt query that the report answers, or kWhole.
  int part() const { return part_; }

  /// Returns the number of clients in the report. It is 1, except in the lab: there it may be a group's, the
  /// sum of many clients' reports to one part.
  Count clients() const { return clients_; }

  /// Returns a digest of the query that the report answers. It is set if a shuffler must check that all
  /// reports answer the same query.
  const std::string& question() const { return question_; }

 private:
  friend class Access;
  friend class StateAccess;  // saved with the role that holds it
  explicit Report(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  template <class Archive>
  void State(Archive& a) {
    a(units_, origin_, bits_, quorum_, part_, clients_, question_);
    a.Check(clients_ >= 1, "a report must be of at least one client");
  }
  std::vector<std::int64_t> units_;
  NodeId origin_;
  Count bits_ = 0;
  Count quorum_ = 0;
  int part_ = kWhole;
  Count clients_ = 1;
  std::string question_;
};

/// The running sum that A collects: reports to one query, and their origins. It is sealed like the reports.
template <class Query>
class BasicReportSum {
 public:
  Count reports() const { return reports_; }  ///< the number of clients that have reported
  const Query& query() const { return query_; }

  /// Takes no more reports: from here on the query is one to the clients that have answered. Fails if they
  /// are too few.
  absl::Status Close() {
    if (reports_ == query_.clients && reports_ > 0) return absl::OkStatus();
    bool enough = reports_ >= query_.least() && (query_.dealt.empty() || !answered_.empty());
    for (std::size_t i = 0; i < answered_.size(); ++i) {
      enough = enough && answered_[i] >= query_.LeastOf(query_.dealt[i]);
    }
    if (!enough || reports_ == 0) return absl::UnavailableError("too few clients have answered");
    query_.clients = reports_;
    query_.dealt = answered_;
    return absl::OkStatus();
  }

 private:
  friend class Access;
  friend class StateAccess;  // saved with the role that collects it
  template <class Archive>
  void State(Archive& a) {
    a(query_, units_, reports_, answered_, quorum_, origins_);
  }
  Query query_;  // the query that all reports answer
  std::vector<std::int64_t> units_;
  Count reports_ = 0;
  std::vector<Count> answered_;  // how many clients have answered each coordinate of a dealt query
  Count quorum_ = 0;             // the largest of its reports' quorums
  ClientSet origins_;            // no client is in a sum twice; empty behind a shuffler
};

using ReportSum = BasicReportSum<MeanQuery>;

/// The output of A, with its noise, before it is read. A context keeps it and returns it again for the same
/// release.
class Sealed {
 private:
  friend class Access;
  explicit Sealed(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  std::vector<std::int64_t> units_;
};

}  // namespace bandana
