#include "bandana/bandit/recorder.h"

#include <algorithm>
#include <utility>

namespace bandana {

Recorder::Recorder(std::function<double(ArmId)> gap, std::function<bool(ArmId)> is_best,
                   std::vector<Count> checkpoints)
    : gap_(std::move(gap)), is_best_(std::move(is_best)), times_(std::move(checkpoints)) {}

void Recorder::Play(std::span<const Pull> pulls) {
  for (const Pull& pull : pulls) {
    Advance(gap_(pull.arm), is_best_(pull.arm) ? 1 : 0, pull.count);
  }
}

void Recorder::PlayMixed(std::span<const Pull> pulls) {
  Count rounds = 0;
  double gaps = 0;
  double best = 0;
  for (const Pull& pull : pulls) {
    rounds += pull.count;
    gaps += gap_(pull.arm) * static_cast<double>(pull.count);
    if (is_best_(pull.arm)) best += static_cast<double>(pull.count);
  }
  if (rounds > 0) Advance(gaps / static_cast<double>(rounds), best / static_cast<double>(rounds), rounds);
}

void Recorder::Advance(double gap, double best, Count rounds) {
  while (rounds > 0) {
    const bool more = passed_.size() < times_.size();
    const Count step = more ? std::min(rounds, times_[passed_.size()] - now_.t) : rounds;
    now_.t += step;
    now_.regret += gap * static_cast<double>(step);
    best_plays_ += best * static_cast<double>(step);
    now_.best_action_rate = best_plays_ / static_cast<double>(now_.t);
    rounds -= step;
    if (more && now_.t == times_[passed_.size()]) passed_.push_back(now_);
  }
}

void Recorder::Report(Epoch epoch, Count reals, Count bits, Count clients) {
  now_.clients += clients;
  now_.reals += reals;
  now_.bits += bits;
  if (epoch != last_epoch_) ++now_.rounds;
  last_epoch_ = epoch;
}

void Recorder::Finish() {
  if (!passed_.empty() && passed_.back().t == now_.t) passed_.back() = now_;
}

}  // namespace bandana
