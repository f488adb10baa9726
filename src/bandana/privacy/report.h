#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace bandana {

/// What a mechanism hands on: a vector of whole grid units (privacy/grid.h), sealed. Under the central model
/// it is nearly raw, so a role may move it, send it and count it, but never read it. Integers, so that sums
/// are exact and do not depend on the order of arrival.
class Report {
 public:
  Report() = default;

  std::size_t size() const { return units_.size(); }

 private:
  friend class Access;
  explicit Report(std::vector<std::int64_t> units) : units_(std::move(units)) {}
  std::vector<std::int64_t> units_;
};

/// A running sum of reports, sealed like they are.
class ReportSum {
 public:
  ReportSum() = default;

  std::int64_t reports() const { return reports_; }

 private:
  friend class Access;
  std::vector<std::int64_t> units_;
  std::int64_t reports_ = 0;
};

}  // namespace bandana
