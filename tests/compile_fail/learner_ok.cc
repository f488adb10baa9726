// A learner may do this: carry a record to its mechanism, ask through Release, read the message.
#include "bandana/federation/release.h"
#include "bandana/federation/user_learner.h"
#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_regression.h"

absl::StatusOr<bandana::Count> ReportGradient(bandana::UserContext& user,
                                              const bandana::LocalGradient& mechanism,
                                              const bandana::Raw<bandana::LocalRecord>& record,
                                              bandana::LocalMessage& message) {
  const auto predict = [](std::span<const double> context) { return context[0]; };
  const absl::Status sent =
      bandana::Release::FromUser(user, mechanism, bandana::GradientQuestion{record, predict}, message);
  if (!sent.ok()) return sent;
  return 1;
}

absl::Status ReportStatistics(bandana::UserContext& user, const bandana::LocalRegression& mechanism,
                              const bandana::Raw<bandana::LocalRecord>& record,
                              bandana::SealedStatistics& statistics, bandana::LocalMessage& message) {
  const auto sides = [](std::span<const double>, double reward, std::span<double> side) { side[0] = reward; };
  bandana::Release::Record(user, mechanism, record, sides, statistics);
  return bandana::Release::FromUser(user, mechanism, bandana::StatisticsQuestion{statistics}, message);
}

double Learn(const bandana::LocalMessage& message) { return message.entries()[0]; }
