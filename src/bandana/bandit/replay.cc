#include "bandana/bandit/replay.h"

#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

absl::StatusOr<Replay> Replay::Create(std::shared_ptr<const LoggedData> log,
                                      std::optional<double> multiplier) {
  BANDANA_CHECK(log != nullptr);
  const double smallest = log->smallest_pscore();
  if (multiplier.has_value() && !(*multiplier > 0 && *multiplier <= smallest)) {
    return InvalidField(Part::kParams, "multiplier", *multiplier,
                        fmt::format("a number in (0, {}], the log's smallest pscore", smallest));
  }
  return Replay(std::move(log), multiplier.value_or(smallest));
}

std::optional<double> Replay::Play(ArmId choice, CoinGen& coin) {
  BANDANA_CHECK(!done());
  BANDANA_CHECK(choice >= 0 && choice < log_->num_actions());
  const Count round = offered_++;
  const double u = UniformUnit(coin);
  if (choice != log_->action(round)) return std::nullopt;
  ++matched_;
  if (!(u * log_->pscore(round) < multiplier_)) return std::nullopt;
  ++accepted_;
  return log_->reward(round);
}

void Replay::Pass(CoinGen& coin) {
  BANDANA_CHECK(!done());
  ++offered_;
  UniformUnit(coin);
}

}  // namespace bandana
