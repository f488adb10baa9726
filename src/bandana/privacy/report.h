#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "bandana/core/fingerprint.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The question of an elimination phase: the clients' average reward in each coordinate (an arm of the plan).
struct MeanQuery {
  std::vector<Interval> bounds;  ///< public, one a coordinate; a client's average is clipped to it
  Count clients = 0;             ///< how many are asked, and the quorum: all of them must answer
  bool operator==(const MeanQuery&) const = default;

  std::uint64_t fingerprint() const {
    Fingerprint fingerprint;
    fingerprint.Add(clients);
    for (const Interval& bound : bounds) fingerprint.Add(bound.low).Add(bound.high);
    return fingerprint.value();
  }
};

/// What R hands on: a vector of whole numbers (a mechanism says of what) and whose it is, sealed. Under the
/// central model it is nearly raw, so a role may move it, send it and count it, but never read it. Integers,
/// so that sums are exact and do not depend on the order of arrival.
class Report {
 public:
  Report() = default;

  std::size_t size() const { return units_.size(); }

  /// What it takes on a wire that knows the mechanism: the metric of the papers, without any framing.
  Count bits() const { return bits_; }

  /// The report's promise holds among so many, and is kept by whoever collects it: a shuffler that mixes
  /// them, or a server that adds noise to their sum. 0: it holds alone. Mechanisms let nothing else out as it
  /// is.
  Count quorum() const { return quorum_; }

 private:
  friend class Access;
  explicit Report(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  std::vector<std::int64_t> units_;
  NodeId origin_;
  Count bits_ = 0;
  Count quorum_ = 0;
};

/// What A has collected: a running sum of reports to one query, and whose they are. Sealed like them.
template <class Query>
class BasicReportSum {
 public:
  Count reports() const { return reports_; }

 private:
  friend class Access;
  Query query_;  // of the first report, and so of all
  std::vector<std::int64_t> units_;
  Count reports_ = 0;
  Count quorum_ = 0;                     // the largest of its reports'
  absl::flat_hash_set<NodeId> origins_;  // nobody is in a sum twice; empty if a shuffler has been between
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
