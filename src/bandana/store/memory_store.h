#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/store/rules.h"
#include "bandana/store/store.h"

namespace bandana::store {

/// Holds what a MemoryStore leaves when its process ends. A copy of it is a back-up.
class MemoryDisk {
 public:
  explicit MemoryDisk(std::string name = "memory");

  /// When the process of a store ends in a commit: before the transaction is durable, or after.
  enum class Crash { kBefore, kAfter };
  /// Lets the process end in the commit number `commit`, counted as `commits` does.
  void CrashAt(std::uint64_t commit, Crash crash) { crash_ = {commit, crash}; }

  /// Returns how many commits were begun, over the life of the disk.
  std::uint64_t commits() const { return commits_; }

  /// The functions below look at what is durable, without a store.
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  friend class MemoryStore;

  std::string name_;
  std::uint64_t commits_ = 0;
  std::optional<std::pair<std::uint64_t, Crash>> crash_;
  std::uint64_t openings_ = 0;

  std::vector<Run> runs_;
  std::map<std::string, std::string> meta_;
  std::optional<PutSnapshot> snapshot_;
  std::uint64_t applied_ = 0;
  std::map<std::uint64_t, AddInput> inputs_;
  std::map<std::pair<std::string, std::uint64_t>, PutOutput> outputs_;
  std::map<std::string, std::uint64_t> acknowledged_;
  std::vector<AddDraw> draws_;
  std::vector<std::string> lines_;
};

/// A store in memory, for tests. A test lets its process end between any two transactions and opens another
/// store on the same disk, which then holds exactly what was committed. An older store on that disk is that
/// of a process which has ended: it refuses everything.
class MemoryStore final : public Store {
 public:
  /// `disk` must outlive the store.
  explicit MemoryStore(MemoryDisk& disk);

  const std::string& name() const override { return disk_.name_; }
  absl::Status Commit(std::span<const Change> changes) override;
  absl::StatusOr<std::vector<Run>> Runs() override;
  absl::StatusOr<std::optional<std::string>> Meta(const std::string& name) override;
  absl::StatusOr<std::optional<PutSnapshot>> Snapshot() override;
  absl::Status ForEachInput(absl::FunctionRef<absl::Status(const AddInput&)> visit) override;
  absl::Status ForEachOutput(absl::FunctionRef<absl::Status(const PutOutput&)> visit) override;
  absl::Status ForEachAcknowledgement(absl::FunctionRef<absl::Status(const Acknowledge&)> visit) override;
  absl::Status ForEachDraw(absl::FunctionRef<absl::Status(const AddDraw&)> visit) override;
  absl::StatusOr<std::uint64_t> Lines() override;
  absl::Status ForEachLine(std::uint64_t from,
                           absl::FunctionRef<absl::Status(const AddLine&)> visit) override;

 private:
  absl::Status CheckUsable() const;
  void Apply(const BeginRun& begin);
  void Apply(const EndRun& end);
  void Apply(const AddInput& input);
  void Apply(const PutSnapshot& snapshot);
  void Apply(const PutOutput& output);
  void Apply(const Acknowledge& acknowledge);
  void Apply(const AddLine& line);
  void Apply(const AddDraw& draw);
  void Apply(const PutMeta& meta);

  MemoryDisk& disk_;
  std::uint64_t opening_;
  Rules rules_;
  absl::Status failed_;
};

}  // namespace bandana::store
