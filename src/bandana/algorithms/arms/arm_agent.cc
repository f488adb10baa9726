#include "bandana/algorithms/arms/arm_agent.h"

#include <algorithm>
#include <memory>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/federation/release.h"

namespace bandana {

ArmAgent::ArmAgent(Count horizon, const SiloArmSums& privatizer, std::optional<Declassify> leak)
    : horizon_(horizon), privatizer_(&privatizer), leak_(leak) {
  stream_ = leak.has_value() ? std::make_unique<ArmStream>(privatizer, *leak)
                             : std::make_unique<ArmStream>(privatizer);
}

Count ArmAgent::pending() const {
  Count slots = 0;
  for (const auto* list : {&waits_, &pulls_}) {
    for (const Pull& pull : *list) slots += pull.count;
  }
  return slots;
}

bool ArmAgent::Fits() const {
  if (!(clock_ >= 0 && clock_ <= horizon_)) return false;
  Count free = left();
  for (const auto* list : {&waits_, &pulls_}) {
    for (const Pull& pull : *list) {
      if (!(pull.count >= 0 && pull.count <= free)) return false;
      free -= pull.count;
    }
  }
  return true;
}

void ArmAgent::Explore(std::span<const ArmId> arms, Count pulls) {
  BANDANA_CHECK(pulls_.empty() && pulls * static_cast<Count>(arms.size()) <= left() - pending());
  for (const ArmId arm : arms) pulls_.push_back({arm, pulls});
  recorded_ = true;
}

void ArmAgent::Wait(std::span<const ArmId> arms, Count slots) {
  BANDANA_CHECK(waits_.empty() && pulls_.empty());
  const Count count = std::min(slots, left());
  if (count <= 0) return;
  waits_.push_back({BestOwn(arms), count});
  waited_ += count;
}

void ArmAgent::PlayOut(std::span<const ArmId> arms) {
  BANDANA_CHECK(pulls_.empty() && !arms.empty());
  const Count slots = left() - pending();
  const auto turns = static_cast<Count>(arms.size());
  for (Count i = 0; i < turns; ++i) {
    const Count count = slots / turns + (i < slots % turns ? 1 : 0);
    if (count > 0) pulls_.push_back({arms[static_cast<std::size_t>(i)], count});
  }
  recorded_ = false;
}

void ArmAgent::PlayOutOwn(std::span<const ArmId> arms) {
  const ArmId best = BestOwn(arms);
  PlayOut({&best, 1});
}

absl::Status ArmAgent::Observe(const Raw<RewardSums>& rewards) {
  std::vector<Pull>& pulled = waits_.empty() ? pulls_ : waits_;
  for (const Pull& pull : pulled) clock_ += pull.count;
  if (waits_.empty() && recorded_) BANDANA_RETURN_IF_ERROR(privatizer_->Record(pulled, rewards, *stream_));
  pulled.clear();
  return absl::OkStatus();
}

absl::StatusOr<ReleasedArms> ArmAgent::Release(Context& context, Epoch epoch, std::span<const ArmId> arms) {
  const ArmQuery query{.release = stream_->releases() + 1, .arms = {arms.begin(), arms.end()}};
  BANDANA_ASSIGN_OR_RETURN(
      const auto released,
      bandana::Release::FromSilo(context, *privatizer_, epoch, query, Raw<ArmStream*>(stream_.get())));
  BANDANA_RETURN_IF_ERROR(history_.Add(released));
  released_ = std::make_shared<const Released<ArmSums>>(history_.Sums());
  return released_;
}

// Returns the arm with the largest released sum; the first arm if none of them was released. With a leak it
// returns the arm with the largest raw mean.
ArmId ArmAgent::BestOwn(std::span<const ArmId> arms) const {
  if (leak_.has_value()) {
    const auto means = privatizer_->RevealMeans(*stream_, arms, *leak_);
    if (means.ok())
      return arms[static_cast<std::size_t>(std::max_element(means->begin(), means->end()) - means->begin())];
  }
  if (released_ == nullptr) return arms.front();
  const ArmSums& own = released_->value();
  ArmId best = arms.front();
  std::int64_t most = 0;
  bool any = false;
  for (std::size_t i = 0; i < own.arms.size(); ++i) {
    if (!std::binary_search(arms.begin(), arms.end(), own.arms[i]) || (any && own.units[i] <= most)) continue;
    best = own.arms[i];
    most = own.units[i];
    any = true;
  }
  return best;
}

}  // namespace bandana
