#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/privacy/access.h"
#include "bandana/privacy/arm_sums.h"
#include "bandana/privacy/local_message.h"
#include "bandana/privacy/regression_sums.h"

namespace bandana {

/// Converts sealed reports to integers and back, and makes released sums and users' messages from plain
/// numbers, for drivers that send them or write them into a journal. script/lint lets only privacy/, sim/,
/// service/ and audit/ include this file.
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

  /// Makes the message of a user from the numbers that the user's device has sent.
  static LocalMessage MakeMessage(std::vector<double> entries) {
    LocalMessage message;
    Access::Entries(message) = std::move(entries);
    return message;
  }

  /// Make released sums from numbers that another process has released: its Released::value().
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
