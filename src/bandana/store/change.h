#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"

/// The changes of a store. A process hands over a list of them, its transaction, and the store makes all of
/// them durable or none (store/store.h). A body is sealed before it comes here (store/seal.h): a store cannot
/// read it.
namespace bandana::store {

enum class RunState { kOpen, kFinished, kEnded };

/// Begins a run. The store must have no open run.
struct BeginRun {
  std::string run;   ///< 16 random bytes
  std::string spec;  ///< the digest on which all processes of the run agree
  absl::Time time;
  bool operator==(const BeginRun&) const = default;
};

/// Ends the open run. Its inputs, outputs, draws, acknowledgements and its snapshot are erased. Its row in
/// the table of runs and its ledger lines stay.
struct EndRun {
  RunState state = RunState::kFinished;
  std::string why;  ///< empty if the run has finished
  absl::Time time;
  bool operator==(const EndRun&) const = default;
};

/// A message that a process has taken, as it came.
struct AddInput {
  std::uint64_t seq = 0;  ///< 1, 2, ... over all links of a run: the order in which the process took them.
                          ///< After a snapshot, numbers continue from the last input that it contains.
  std::string link;       ///< the process that sent it, such as "agent/1"
  std::uint64_t link_seq = 0;  ///< 1, 2, ... on that link; 0 for something that did not come on a link
  std::string body;            ///< sealed
  bool operator==(const AddInput&) const = default;
};

/// Replaces the snapshot of the open run, and erases all inputs and all draws. Lines and draws of the same
/// transaction come before it, and outputs that are not acknowledged come after it, sealed again. Rows may be
/// deleted later, a few with each transaction, because nobody can open them under the next key; no function
/// of the store shows them again.
struct PutSnapshot {
  std::uint64_t generation = 0;  ///< of the ratchet whose key seals the body; larger than the last one
  std::uint64_t applied = 0;     ///< the last input that the snapshot contains; none is newer
  std::string body;              ///< sealed
  bool operator==(const PutSnapshot&) const = default;
};

/// A message that a process will send until it is acknowledged. Replaces an output with the same number,
/// because a snapshot seals the outputs again.
struct PutOutput {
  std::string link;
  std::uint64_t seq = 0;  ///< 1, 2, ... on that link
  std::string body;       ///< sealed
  bool operator==(const PutOutput&) const = default;
};

/// The process at the other end has everything up to `seq`, or will never take it. These outputs are erased.
struct Acknowledge {
  std::string link;
  std::uint64_t seq = 0;
  bool operator==(const Acknowledge&) const = default;
};

/// A line of the ledger (privacy/ledger/record.h), without its line end.
struct AddLine {
  std::uint64_t seq = 0;  ///< 0, 1, 2, ... over the life of the store
  std::string line;
  bool operator==(const AddLine&) const = default;
};

/// The seed from which the noise of a release of the open run is drawn.
struct AddDraw {
  std::string key;   ///< of the release; each key has one seed
  std::string body;  ///< the 32 bytes of the seed, sealed
  bool operator==(const AddDraw&) const = default;
};

/// Sets a value that outlives runs, such as the signed head of the ledger. Two names are taken: the value of
/// "store" is the identity of the store, 32 hexadecimal digits, and "copy" marks a back-up.
struct PutMeta {
  std::string name;
  std::string value;
  bool operator==(const PutMeta&) const = default;
};

using Change =
    std::variant<BeginRun, EndRun, AddInput, PutSnapshot, PutOutput, Acknowledge, AddLine, AddDraw, PutMeta>;
using Transaction = std::vector<Change>;

}  // namespace bandana::store
