#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/byte_string.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/client_set.h"

namespace bandana {

/// A public linear map that clients send their clipped averages through: a row for each number of a report, a
/// column for each coordinate. It is taken of the averages' distances from the middles of their intervals.
struct ReportMap {
  std::vector<double> entries = {};  ///< row by row; none: averages are sent as they are
  /// A report is brought inside the ball of this radius, so that what it reveals does not rest on the map.
  double radius = 0;
  bool operator==(const ReportMap&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(entries, radius);
  }
};

/// The question of an elimination phase: the clients' average reward in each coordinate (an arm of the plan).
struct MeanQuery {
  std::vector<Interval> bounds;  ///< public, one a coordinate; a client's average is clipped to it
  Count clients = 0;             ///< how many are asked, and the quorum: all of them must answer
  std::string cohort = {};  ///< a digest of who is asked (CohortOf), if a shuffler mixes them; else empty
  /// Empty: every client answers every coordinate. Else dealt[i] >= 1 of the clients answer coordinate i,
  /// with one reward each, and nothing else; it adds up to `clients`.
  std::vector<Count> dealt = {};
  ReportMap map = {};  ///< of a query that is not dealt
  bool operator==(const MeanQuery&) const = default;
  template <class Archive>
  void State(Archive& a) {
    a(bounds, clients, cohort, dealt, map);
    a.Check(dealt.empty() || dealt.size() == bounds.size(), "a query dealt by other coordinates than it has");
  }

  /// Who answers coordinate i.
  Count clients_of(std::size_t i) const { return dealt.empty() ? clients : dealt[i]; }

  bool mapped() const { return !map.entries.empty(); }

  /// How many numbers a client reports, and the release has.
  std::size_t size() const {
    return mapped() && !bounds.empty() ? map.entries.size() / bounds.size() : bounds.size();
  }

  std::string bytes() const {
    ByteString bytes;
    bytes.Add(clients).Add(cohort).Add(static_cast<std::uint64_t>(dealt.size()));
    for (const Count each : dealt) bytes.Add(each);
    bytes.Add(static_cast<std::uint64_t>(map.entries.size())).Add(map.radius);
    for (const double entry : map.entries) bytes.Add(entry);
    for (const Interval& bound : bounds) bytes.Add(bound.low).Add(bound.high);
    return bytes.Take();
  }
};

/// What R hands on: a vector of whole numbers (a mechanism says of what) and whose it is, sealed. Under the
/// central model it is nearly raw, so a role may move it, send it and count it, but never read it. Integers,
/// so that sums are exact and do not depend on the order of arrival.
class Report {
 public:
  static constexpr int kWhole = -1;  ///< not a part: an answer in every coordinate

  Report() = default;

  std::size_t size() const { return units_.size(); }

  /// What it takes on a wire that knows the mechanism: the metric of the papers, without any framing.
  Count bits() const { return bits_; }

  /// The report's promise holds among so many, and is kept by whoever collects it: a shuffler that mixes
  /// them, or a server that adds noise to their sum. 0: it holds alone. Mechanisms let nothing else out as it
  /// is.
  Count quorum() const { return quorum_; }

  /// The one coordinate of a dealt query that it answers, or kWhole.
  int part() const { return part_; }

  /// Whose it is: one client's. In the lab also the sum of so many clients' reports to one part, a crowd's.
  Count clients() const { return clients_; }

  /// A digest of the query that it answers, where a shuffler must mix answers to one question alone.
  const std::string& question() const { return question_; }

 private:
  friend class Access;
  friend class StateAccess;  // saved with the role that holds it
  explicit Report(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  template <class Archive>
  void State(Archive& a) {
    a(units_, origin_, bits_, quorum_, part_, clients_, question_);
    a.Check(clients_ >= 1, "a report of nobody");
  }
  std::vector<std::int64_t> units_;
  NodeId origin_;
  Count bits_ = 0;
  Count quorum_ = 0;
  int part_ = kWhole;
  Count clients_ = 1;
  std::string question_;
};

/// What A has collected: a running sum of reports to one query, and whose they are. Sealed like them.
template <class Query>
class BasicReportSum {
 public:
  Count reports() const { return reports_; }  ///< of how many clients

 private:
  friend class Access;
  friend class StateAccess;  // saved with the role that collects it
  template <class Archive>
  void State(Archive& a) {
    a(query_, units_, reports_, answered_, quorum_, origins_);
  }
  Query query_;  // of the first report, and so of all
  std::vector<std::int64_t> units_;
  Count reports_ = 0;
  std::vector<Count> answered_;  // of a dealt query: how many clients each coordinate has
  Count quorum_ = 0;             // the largest of its reports'
  ClientSet origins_;            // nobody is in a sum twice; empty if a shuffler has been between
};

using ReportSum = BasicReportSum<MeanQuery>;

/// What A lets out, noise and all, before it is read: a context keeps it and hands it out again.
class Sealed {
 private:
  friend class Access;
  explicit Sealed(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  std::vector<std::int64_t> units_;
};

}  // namespace bandana
