#include "bandana/store/rules.h"

#include <utility>
#include <variant>

#include "bandana/core/status.h"
#include "bandana/store/store.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

constexpr std::size_t kRunBytes = 16;

absl::Status Broken(std::string what) {
  return absl::InvalidArgumentError(
      fmt::format("the store refuses a transaction that breaks its rules: {}", std::move(what)));
}

// Continues the chain by a line, and says which release the line charges. The header has no release.
absl::StatusOr<std::optional<LineBeginning>> Continue(const AddLine& line, Rules::State& state) {
  const std::optional<SplitLine> parts = Split(line.line);
  if (!parts) return absl::DataLossError("it is not a line of a ledger");
  const std::uint64_t next = state.head ? state.head->seq + 1 : 0;
  if (line.seq != next) {
    return absl::DataLossError(fmt::format("line {} stands where line {} belongs", line.seq, next));
  }
  const std::string_view previous = state.head ? std::string_view(state.head->hash) : kNoHash;
  if (ChainHash(previous, parts->content) != parts->hash) {
    return absl::DataLossError(fmt::format("the hash of line {} does not fit the line before it", line.seq));
  }
  state.head = {line.seq, std::string(parts->hash)};
  if (line.seq == 0) {
    BANDANA_ASSIGN_OR_RETURN(const Dated<LedgerHeader> header, ParseHeader(parts->content));
    if (!header.record.of_store) return absl::DataLossError("its header is not that of a store's ledger");
    state.measure = header.record.limits.measure;
    return std::nullopt;
  }
  BANDANA_ASSIGN_OR_RETURN(LineBeginning beginning, ParseBeginning(parts->content, state.measure));
  if (beginning.seq != line.seq) {
    return absl::DataLossError(fmt::format("line {} says that it is line {}", line.seq, beginning.seq));
  }
  return beginning;
}

}  // namespace

std::string RunName(std::string_view run) {
  std::string name;
  for (const char byte : run) name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return name;
}

std::string DrawKey(std::string_view run_name, const ReleaseKey& key) {
  return fmt::format("{}/{}/{}/{}", run_name, key.node.value, key.epoch, key.question);
}

absl::Status Rules::State::TakeLine(const AddLine& line) {
  // A line that was left out before this one cannot be checked; the ledger checks all of them (StoreLedger).
  const std::optional<SplitLine> parts = Split(line.line);
  if (!parts) return absl::DataLossError(fmt::format("line {} of the ledger was altered", line.seq));
  head = {line.seq, std::string(parts->hash)};
  if (line.seq == 0) {
    BANDANA_ASSIGN_OR_RETURN(const Dated<LedgerHeader> header, ParseHeader(parts->content));
    measure = header.record.limits.measure;
    return absl::OkStatus();
  }
  BANDANA_ASSIGN_OR_RETURN(const LineBeginning beginning, ParseBeginning(parts->content, measure));
  if (!beginning.all_spent && beginning.run == open_run) charged.Insert(beginning.run, beginning.key);
  return absl::OkStatus();
}

absl::Status Rules::Check(std::span<const Change> changes, bool charges_wait) {
  charges_wait_ = charges_wait;
  snapshot_ = false;
  sealed_again_.clear();
  undrawn_.clear();
  for (const Change& change : changes) {
    BANDANA_RETURN_IF_ERROR(std::visit([this](const auto& each) { return Take(each); }, change));
  }
  return CheckSealedAgain();
}

absl::Status Rules::NeedsRun(const char* what) const {
  if (!state_.open_run.empty()) return absl::OkStatus();
  return Broken(fmt::format("{} needs an open run", what));
}

absl::Status Rules::Take(const BeginRun& begin) {
  if (begin.run.size() != kRunBytes) {
    return Broken(fmt::format("a run has {} bytes, not {}", kRunBytes, begin.run.size()));
  }
  if (!state_.open_run.empty()) {
    return Broken(fmt::format("a run begins while the run {} is open", state_.open_run));
  }
  if (!state_.runs.insert(begin.run).second) {
    return Broken(fmt::format("the run {} begins a second time", RunName(begin.run)));
  }
  state_.open_run = RunName(begin.run);
  return absl::OkStatus();
}

absl::Status Rules::Take(const EndRun& end) {
  BANDANA_RETURN_IF_ERROR(NeedsRun("an end"));
  if (end.state == RunState::kOpen) return Broken("a run that ends stays open");
  if (charges_wait_) return Broken("a run ends while the ledger has charges that the store does not hold");
  state_.open_run.clear();
  state_.last_input = 0;
  state_.generation.reset();
  state_.links.clear();
  state_.charged.Clear();
  undrawn_.clear();
  snapshot_ = false;  // whatever was sealed before it is erased
  return absl::OkStatus();
}

absl::Status Rules::Take(const AddInput& input) {
  BANDANA_RETURN_IF_ERROR(NeedsRun("an input"));
  if (input.seq != state_.last_input + 1) {
    return Broken(fmt::format("input {} follows input {}", input.seq, state_.last_input));
  }
  state_.last_input = input.seq;
  return absl::OkStatus();
}

absl::Status Rules::Take(const PutSnapshot& snapshot) {
  BANDANA_RETURN_IF_ERROR(NeedsRun("a snapshot"));
  if (snapshot.applied < state_.last_input) {
    return Broken(
        fmt::format("the snapshot contains inputs up to {}, but the store has input {}, which nobody "
                    "could open under the next key",
                    snapshot.applied, state_.last_input));
  }
  if (state_.generation && snapshot.generation <= *state_.generation) {
    return Broken(fmt::format("a snapshot of generation {} follows one of generation {}", snapshot.generation,
                              *state_.generation));
  }
  if (charges_wait_) {
    return Broken("a snapshot comes while the ledger has charges that the store does not hold");
  }
  state_.last_input = snapshot.applied;
  state_.generation = snapshot.generation;
  snapshot_ = true;
  sealed_again_.clear();
  undrawn_.clear();
  return absl::OkStatus();
}

absl::Status Rules::Take(const PutOutput& output) {
  BANDANA_RETURN_IF_ERROR(NeedsRun("an output"));
  if (charges_wait_) {
    return Broken(
        fmt::format("output {} to {} comes while the ledger has charges that the store does not hold: "
                    "a message must not leave before the charges that it follows from",
                    output.seq, output.link));
  }
  State::Link& link = state_.links[output.link];
  if (output.seq <= link.acknowledged) {
    return Broken(fmt::format("output {} to {} was acknowledged before (up to {})", output.seq, output.link,
                              link.acknowledged));
  }
  const bool is_new = !link.waiting.contains(output.seq);
  if (is_new && !link.waiting.empty() && output.seq < *link.waiting.rbegin()) {
    return Broken(
        fmt::format("output {} to {} follows output {}", output.seq, output.link, *link.waiting.rbegin()));
  }
  link.waiting.insert(link.waiting.end(), output.seq);
  if (snapshot_) sealed_again_.emplace(output.link, output.seq);
  return absl::OkStatus();
}

absl::Status Rules::Take(const Acknowledge& acknowledge) {
  BANDANA_RETURN_IF_ERROR(NeedsRun("an acknowledgement"));
  State::Link& link = state_.links[acknowledge.link];
  link.acknowledged = std::max(link.acknowledged, acknowledge.seq);
  link.waiting.erase(link.waiting.begin(), link.waiting.upper_bound(link.acknowledged));
  return absl::OkStatus();
}

absl::Status Rules::CheckSealedAgain() const {
  if (!snapshot_) return absl::OkStatus();
  for (const auto& [name, link] : state_.links) {
    for (const std::uint64_t seq : link.waiting) {
      if (!sealed_again_.contains({name, seq})) {
        return Broken(
            fmt::format("output {} to {} was not sealed again after the snapshot: nobody could open "
                        "it under the next key",
                        seq, name));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Rules::Take(const AddLine& line) {
  if (snapshot_) return Broken("a line of the ledger comes after the snapshot of its transaction");
  absl::StatusOr<std::optional<LineBeginning>> charge = Continue(line, state_);
  if (!charge.ok()) return Broken("a line of the ledger: " + std::string(charge.status().message()));
  if (!charge->has_value() || (*charge)->all_spent) return absl::OkStatus();
  const LineBeginning& release = **charge;
  if (state_.open_run.empty() || release.run != state_.open_run) {
    return Broken(fmt::format("line {} of the ledger charges for the run {}, which is not open", line.seq,
                              release.run));
  }
  if (!state_.charged.Insert(release.run, release.key)) {
    return Broken(
        fmt::format("line {} of the ledger charges node {} for a question of epoch {} a second time",
                    line.seq, release.key.node.value, release.key.epoch));
  }
  undrawn_.insert(DrawKey(release.run, release.key));
  return absl::OkStatus();
}

absl::Status Rules::Take(const AddDraw& draw) {
  BANDANA_RETURN_IF_ERROR(NeedsRun("a draw"));
  if (snapshot_) return Broken("a draw comes after the snapshot of its transaction, which erases all draws");
  if (undrawn_.erase(draw.key) == 1) return absl::OkStatus();
  return Broken(
      fmt::format("the draw {} has no charge of its own in the same transaction: each release is "
                  "charged once and drawn once",
                  draw.key));
}

absl::Status Rules::Take(const PutMeta& meta) {
  if (meta.name == "store") return Broken("the identity of a store never changes");
  if (meta.name == kCopyMeta) return Broken("only a back-up has the mark of a back-up");
  return absl::OkStatus();
}

}  // namespace bandana::store
