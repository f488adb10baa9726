#include "bandana/store/memory_store.h"

#include <algorithm>
#include <variant>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/store/seal.h"
#include "fmt/format.h"

namespace bandana::store {

MemoryDisk::MemoryDisk(std::string name) : name_(std::move(name)) {
  const Key entropy = RandomKey();
  meta_["store"] = RunName(std::string(entropy.begin(), entropy.begin() + entropy.size() / 2));
}

MemoryStore::MemoryStore(MemoryDisk& disk) : disk_(disk), opening_(++disk.openings_) {
  Rules::State state;
  for (const Run& run : disk.runs_) {
    state.runs.insert(run.run);
    if (run.state == RunState::kOpen) state.open_run = RunName(run.run);
  }
  state.last_input = disk.inputs_.empty() ? disk.applied_ : disk.inputs_.rbegin()->first;
  if (disk.snapshot_) state.generation = disk.snapshot_->generation;
  for (const auto& [link, seq] : disk.acknowledged_) state.links[link].acknowledged = seq;
  for (const auto& [place, _] : disk.outputs_) state.links[place.first].waiting.insert(place.second);
  for (std::uint64_t seq = 0; seq < disk.lines_.size(); ++seq) {
    const absl::Status taken = state.TakeLine({seq, disk.lines_[seq]});
    BANDANA_CHECK(taken.ok());  // the rules let nothing else in
  }
  rules_.Load(std::move(state));
}

absl::Status MemoryStore::CheckUsable() const {
  if (opening_ == disk_.openings_) return failed_;
  return absl::UnavailableError(fmt::format("another process uses the store {}", disk_.name_));
}

absl::Status MemoryStore::Commit(std::span<const Change> changes) {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  failed_ = rules_.Check(changes, charges_wait());
  BANDANA_RETURN_IF_ERROR(failed_);
  const std::uint64_t commit = ++disk_.commits_;
  const bool crashes = disk_.crash_ && disk_.crash_->first == commit;
  if (crashes) failed_ = absl::UnavailableError(fmt::format("the process ends in commit {}", commit));
  if (crashes && disk_.crash_->second == MemoryDisk::Crash::kBefore) return failed_;
  for (const Change& change : changes) {
    std::visit([this](const auto& each) { Apply(each); }, change);
  }
  return failed_;
}

void MemoryStore::Apply(const BeginRun& begin) {
  disk_.runs_.push_back(
      {.run = begin.run, .spec = begin.spec, .began = begin.time, .ended = absl::InfiniteFuture()});
}

void MemoryStore::Apply(const EndRun& end) {
  Run& run = disk_.runs_.back();
  run.state = end.state;
  run.why = end.why;
  run.ended = end.time;
  disk_.snapshot_.reset();
  disk_.applied_ = 0;
  disk_.inputs_.clear();
  disk_.outputs_.clear();
  disk_.acknowledged_.clear();
  disk_.draws_.clear();
}

void MemoryStore::Apply(const AddInput& input) { disk_.inputs_.emplace(input.seq, input); }

void MemoryStore::Apply(const PutSnapshot& snapshot) {
  disk_.snapshot_ = snapshot;
  disk_.applied_ = snapshot.applied;
  disk_.inputs_.clear();
  disk_.draws_.clear();
}

void MemoryStore::Apply(const PutOutput& output) {
  disk_.outputs_.insert_or_assign({output.link, output.seq}, output);
}

void MemoryStore::Apply(const Acknowledge& acknowledge) {
  std::uint64_t& acknowledged = disk_.acknowledged_[acknowledge.link];
  acknowledged = std::max(acknowledged, acknowledge.seq);
  disk_.outputs_.erase(disk_.outputs_.lower_bound({acknowledge.link, 0}),
                       disk_.outputs_.upper_bound({acknowledge.link, acknowledged}));
}

void MemoryStore::Apply(const AddLine& line) { disk_.lines_.push_back(line.line); }
void MemoryStore::Apply(const AddDraw& draw) { disk_.draws_.push_back(draw); }
void MemoryStore::Apply(const PutMeta& meta) { disk_.meta_[meta.name] = meta.value; }

absl::StatusOr<std::vector<Run>> MemoryStore::Runs() {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  return disk_.runs_;
}

absl::StatusOr<std::optional<std::string>> MemoryStore::Meta(const std::string& name) {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  const auto found = disk_.meta_.find(name);
  return found == disk_.meta_.end() ? std::nullopt : std::optional(found->second);
}

absl::StatusOr<std::optional<PutSnapshot>> MemoryStore::Snapshot() {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  return disk_.snapshot_;
}

absl::Status MemoryStore::ForEachInput(absl::FunctionRef<absl::Status(const AddInput&)> visit) {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  for (const auto& [_, input] : disk_.inputs_) BANDANA_RETURN_IF_ERROR(visit(input));
  return absl::OkStatus();
}

absl::Status MemoryStore::ForEachOutput(absl::FunctionRef<absl::Status(const PutOutput&)> visit) {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  for (const auto& [_, output] : disk_.outputs_) BANDANA_RETURN_IF_ERROR(visit(output));
  return absl::OkStatus();
}

absl::Status MemoryStore::ForEachAcknowledgement(absl::FunctionRef<absl::Status(const Acknowledge&)> visit) {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  for (const auto& [link, seq] : disk_.acknowledged_) BANDANA_RETURN_IF_ERROR(visit({link, seq}));
  return absl::OkStatus();
}

absl::Status MemoryStore::ForEachDraw(absl::FunctionRef<absl::Status(const AddDraw&)> visit) {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  for (const AddDraw& draw : disk_.draws_) BANDANA_RETURN_IF_ERROR(visit(draw));
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> MemoryStore::Lines() {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  return disk_.lines_.size();
}

absl::Status MemoryStore::ForEachLine(std::uint64_t from,
                                      absl::FunctionRef<absl::Status(const AddLine&)> visit) {
  BANDANA_RETURN_IF_ERROR(CheckUsable());
  for (std::uint64_t seq = from; seq < disk_.lines_.size(); ++seq) {
    BANDANA_RETURN_IF_ERROR(visit({seq, disk_.lines_[seq]}));
  }
  return absl::OkStatus();
}

}  // namespace bandana::store
