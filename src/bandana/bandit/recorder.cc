#include "bandana/bandit/recorder.h"

#include <algorithm>
#include <utility>

namespace bandana {

Recorder::Recorder(const LinearProblem& problem, std::vector<Count> checkpoints)
    : problem_(problem), times_(std::move(checkpoints)) {}

void Recorder::Play(std::span<const Pull> pulls) {
  for (const Pull& pull : pulls) {
    const double gap = problem_.Gap(pull.arm);
    for (Count left = pull.count; left > 0;) {
      const bool more = passed_.size() < times_.size();
      const Count step = more ? std::min(left, times_[passed_.size()] - now_.t) : left;
      now_.t += step;
      now_.regret += gap * static_cast<double>(step);
      if (pull.arm == problem_.best()) best_plays_ += step;
      now_.best_action_rate = static_cast<double>(best_plays_) / static_cast<double>(now_.t);
      left -= step;
      if (more && now_.t == times_[passed_.size()]) passed_.push_back(now_);
    }
  }
}

void Recorder::Report(Epoch epoch, Count reals, Count bits) {
  ++now_.clients;
  now_.reals += reals;
  now_.bits += bits;
  if (epoch != last_epoch_) ++now_.rounds;
  last_epoch_ = epoch;
}

void Recorder::Finish() {
  if (!passed_.empty() && passed_.back().t == now_.t) passed_.back() = now_;
}

}  // namespace bandana
