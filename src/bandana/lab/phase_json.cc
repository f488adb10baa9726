#include "bandana/lab/phase_json.h"

#include <utility>
#include <vector>

namespace bandana::lab {

Json ToJson(const PhaseRecord& phase) {
  Json pulls = Json::array();
  for (const Pull& pull : phase.pulls) pulls.push_back({pull.arm, pull.count});
  return {{"epoch", phase.epoch},
          {"rounds", phase.rounds},
          {"clients", phase.clients},
          {"noise_stddev", phase.privacy_stddev},
          {"width", phase.width},
          {"pulls", pulls},
          {"averages", phase.averages},
          {"estimate", std::vector<double>(phase.estimate.begin(), phase.estimate.end())},
          {"active", phase.active}};
}

absl::StatusOr<PhaseRecord> PhaseFromJson(const Json& json) {
  try {
    PhaseRecord phase{.epoch = json.at("epoch").get<Epoch>(),
                      .rounds = json.at("rounds").get<Count>(),
                      .clients = json.at("clients").get<Count>(),
                      .privacy_stddev = json.at("noise_stddev").get<double>(),
                      .width = json.at("width").get<double>(),
                      .averages = json.at("averages").get<std::vector<double>>(),
                      .active = json.at("active").get<std::vector<ArmId>>()};
    for (const Json& pull : json.at("pulls"))
      phase.pulls.push_back({pull.at(0).get<ArmId>(), pull.at(1).get<Count>()});
    const auto estimate = json.at("estimate").get<std::vector<double>>();
    phase.estimate = Eigen::Map<const Vector>(estimate.data(), static_cast<Eigen::Index>(estimate.size()));
    return phase;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

Json PhaseForReport(const PhaseRecord& phase) {
  return {{"epoch", phase.epoch},
          {"rounds", phase.rounds},
          {"clients", phase.clients},
          {"active", phase.active.size()},
          {"support", phase.pulls.size()},
          {"width", phase.width},
          {"noise_stddev", phase.privacy_stddev}};
}

}  // namespace bandana::lab
