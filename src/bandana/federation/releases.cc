#include "bandana/federation/releases.h"

#include "bandana/core/status.h"

namespace bandana {

absl::StatusOr<Report> Releases::Once(const ReleaseKey& key, const Charge& charge, NoiseGen& noise,
                                      absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) {
  if (const auto it = journal_.find(key); it != journal_.end()) return it->second;
  if (ledger_ != nullptr && !charge.units.empty()) {
    const Loss loss{charge.guarantee.epsilon, charge.guarantee.delta};
    return ledger_->Once(key, {charge.guarantee, loss}, charge.units, [&] { return draw(noise); });
  }
  BANDANA_RETURN_IF_ERROR(odometer_.Add(charge));
  BANDANA_ASSIGN_OR_RETURN(Report report, draw(noise));
  if (keeps_journal_) journal_.emplace(key, report);
  return report;
}

}  // namespace bandana
