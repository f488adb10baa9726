#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/privacy/access.h"
#include "bandana/privacy/arm_sums.h"
#include "bandana/privacy/regression_sums.h"

namespace bandana {

/// Sealed reports as plain integers, and released sums made of numbers, for drivers that put them on a wire
/// or into a journal. script/lint lets only privacy/, sim/, service/ and audit/ include this file.
class Wire {
 public:
  static const std::vector<std::int64_t>& Units(const Report& report) { return Access::Open(report); }

  static Report FromUnits(NodeId origin, std::vector<std::int64_t> units, Count bits = 0, Count quorum = 0,
                          std::string question = {}, int part = Report::kWhole, Count clients = 1) {
    Report report = Access::MakeReport(std::move(units));
    Access::Origin(report) = origin;
    Access::Bits(report) = bits;
    Access::Quorum(report) = quorum;
    Access::Question(report) = std::move(question);
    Access::Part(report) = part;
    Access::Clients(report) = clients;
    return report;
  }

  /// Sums that another process has released, from the numbers that Released::value() has there.
  static Released<RegressionSums> MakeSums(RegressionSums sums) {
    std::vector<NoiseLaw> laws = NoiseOf(sums);
    return Access::Mint(std::move(sums), std::move(laws));
  }
  static Released<ArmSums> MakeArmSums(ArmSums sums) {
    std::vector<NoiseLaw> laws = NoiseOf(sums);
    return Access::Mint(std::move(sums), std::move(laws));
  }
};

}  // namespace bandana
