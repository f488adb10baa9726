#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "tests/store/support.h"

/// Transactions as a process makes them, from a seed, and a comparison of stores.
namespace bandana::store {

class Workload {
 public:
  explicit Workload(std::uint64_t seed) : random_(seed) {}

  Transaction Next() {
    Transaction changes;
    if (!begun_) {
      changes.push_back(lines_.header());
      begun_ = true;
    }
    if (!open_) {
      run_ = std::string(15, 'r') + static_cast<char>('a' + runs_++);
      changes.push_back(BeginRun{run_, "spec", kBegan});
      open_ = true;
      inputs_ = 0;
      waiting_.clear();
      sent_.clear();
    }
    for (std::uint64_t i = Below(6); i > 0; --i) {
      ++inputs_;
      changes.push_back(AddInput{inputs_, Link(), inputs_, Body()});
    }
    for (std::uint64_t i = Below(3); i > 0; --i) {
      const ReleaseKey key{NodeId{7}, static_cast<Epoch>(++epoch_), "q"};
      changes.push_back(lines_.Charge(run_, key, 0));
      changes.push_back(AddDraw{DrawKey(RunName(run_), key), Body()});
    }
    for (std::uint64_t i = Below(4); i > 0; --i) {
      const std::string link = Link();
      waiting_[{link, ++sent_[link]}] = Body();
      changes.push_back(PutOutput{link, sent_[link], waiting_[{link, sent_[link]}]});
    }
    if (Below(3) == 0 && !waiting_.empty()) {
      const std::pair<std::string, std::uint64_t> last = waiting_.begin()->first;
      changes.push_back(Acknowledge{last.first, last.second});
      waiting_.erase(waiting_.begin());
    }
    if (Below(4) == 0) changes.push_back(PutMeta{"head", Body()});
    if (Below(5) == 0) {
      changes.push_back(PutSnapshot{++generation_, inputs_, Body()});
      for (const auto& [place, body] : waiting_) {
        changes.push_back(PutOutput{place.first, place.second, body + " again"});
      }
    }
    if (Below(20) == 0) {
      changes.push_back(EndRun{RunState::kFinished, "", kEnded});
      open_ = false;
    }
    return changes;
  }

  std::uint64_t Below(std::uint64_t end) { return random_() % end; }

 private:
  std::string Link() { return "agent/" + std::to_string(1 + Below(3)); }
  std::string Body() {
    return std::string(Below(20) == 0 ? 20'000 : Below(2000), static_cast<char>(random_()));
  }

  std::mt19937_64 random_;
  LineMaker lines_;
  bool begun_ = false;
  bool open_ = false;
  int runs_ = 0;
  std::string run_;
  std::uint64_t inputs_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t epoch_ = 0;
  std::map<std::pair<std::string, std::uint64_t>, std::string> waiting_;
  std::map<std::string, std::uint64_t> sent_;
};

/// Returns what differs between two stores, empty if nothing does. Their identities may differ.
inline std::string Difference(Store& a, Store& b) {
  const auto runs_a = *a.Runs();
  const auto runs_b = *b.Runs();
  if (runs_a.size() != runs_b.size()) return "number of runs";
  for (std::size_t i = 0; i < runs_a.size(); ++i) {
    if (runs_a[i].run != runs_b[i].run || runs_a[i].state != runs_b[i].state) return "a run";
  }
  if (Inputs(a) != Inputs(b)) return "inputs";
  if (Outputs(a) != Outputs(b)) return "outputs";
  if (Acknowledgements(a) != Acknowledgements(b)) return "acknowledgements";
  if (Draws(a) != Draws(b)) return "draws";
  if (Lines(a) != Lines(b)) return "lines";
  if (*a.Snapshot() != *b.Snapshot()) return "the snapshot";
  if (*a.Meta("head") != *b.Meta("head")) return "the head";
  return "";
}

}  // namespace bandana::store
