// error: cannot convert
#include "bandana/federation/user_learner.h"
#include "bandana/privacy/local_regression.h"

// A learner that has its question answered with coins, which it can replay.
void Report(bandana::UserContext& user, const bandana::LocalRegression& mechanism,
            bandana::SealedStatistics& statistics, bandana::LocalMessage& message) {
  mechanism.Answer({statistics}, user.coin(), message, nullptr);
}
