#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "bandana/core/ids.h"
#include "bandana/core/reward.h"

namespace bandana {

/// The question of an elimination phase: the clients' average reward in each coordinate (an arm of the plan).
struct MeanQuery {
  std::vector<Interval> bounds;  ///< public, one a coordinate; a client's average is clipped to it
  Count clients = 0;             ///< how many are asked, and the quorum: all of them must answer
  bool operator==(const MeanQuery&) const = default;
};

/// What R hands on: a vector of whole grid units (privacy/grid_mean.h) and whose it is, sealed. Under the
/// central model it is nearly raw, so a role may move it, send it and count it, but never read it. Integers,
/// so that sums are exact and do not depend on the order of arrival.
class Report {
 public:
  Report() = default;

  std::size_t size() const { return units_.size(); }

 private:
  friend class Access;
  explicit Report(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  std::vector<std::int64_t> units_;
  NodeId origin_;
};

/// What A has collected: a running sum of reports to one query, and whose they are. Sealed like them.
class ReportSum {
 public:
  ReportSum() = default;

  Count reports() const { return static_cast<Count>(origins_.size()); }

 private:
  friend class Access;
  MeanQuery query_;  // of the first report, and so of all
  std::vector<std::int64_t> units_;
  absl::flat_hash_set<NodeId> origins_;  // nobody is in a sum twice
};

/// What A lets out, noise and all, before it is read: a context keeps it and hands it out again.
class Sealed {
 private:
  friend class Access;
  explicit Sealed(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  std::vector<std::int64_t> units_;
};

}  // namespace bandana
