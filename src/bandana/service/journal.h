#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/service/deployed.h"
#include "bandana/service/machine.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"
#include "bandana/store/store_ledger.h"

namespace bandana::service {

/// Runs a machine so that it survives its process: whatever it takes, charges and sends is in a store. Step
/// by step, it gives the machine messages (Take, Work), makes the step durable in one transaction (Commit),
/// and only then hands out what the machine sends.
///
/// A transaction holds the messages that were taken, the charges and the seeds of their noise. When a machine
/// has closed something, it holds a snapshot instead, sealed under a new key, and the old key is destroyed:
/// then nobody can open the messages before it. After a crash, a new journal restores the snapshot and gives
/// the machine the messages after it again.
///
/// It has no clock, no network and no thread, so that a test can drive it.
class Journal {
 public:
  struct Params {
    Storage storage;
    LedgerHeader header;
    std::string spec;     ///< all processes of a run must have the same one
    std::string program;  ///< a run goes on only in the version of the program that made its snapshot
    /// Whether what a machine sends may leave before it is durable, unless it follows from a charge that is
    /// not. Only for a machine whose messages do not depend on the order of messages from several links.
    bool sends_early = false;
    store::Entropy entropy = store::RandomKey;  ///< makes the secret of a run and the seeds of its noise
    std::size_t most_log_bytes = std::size_t{4} << 20;  ///< the messages after a snapshot, at least
  };

  struct Output {
    std::uint64_t seq = 0;
    std::string body;
  };

  /// Opens the store's ledger. If the store has an open run, the machine continues it; `machine` must be new.
  /// Fails with kFailedPrecondition if the store belongs to another configuration, run, or version of the
  /// program, and with kAborted if store and ratchet do not fit, because one of them is an old copy.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(Params params, Machine& machine);

  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Begins a run. There must be no open one.
  absl::Status Begin(const std::string& run, absl::Time now);

  /// Returns the open run, 16 bytes; empty if there is none.
  const std::string& run() const { return run_; }
  /// Returns whether the run began in an earlier process.
  bool recovered() const { return recovered_; }
  const store::StoreLedger& ledger() const { return *ledger_; }

  /// Returns the run of the process at the other end, as far as it was ever heard of; empty if not.
  std::string PartnerOf(const std::string& link) const;
  void SetPartner(const std::string& link, const std::string& run);

  /// Returns the number of the last message taken from a link. It is durable up to DurablyTaken.
  std::uint64_t Taken(const std::string& link) const { return LinkOf(link).taken; }
  std::uint64_t DurablyTaken(const std::string& link) const { return LinkOf(link).durably_taken; }
  /// Returns the number of the last message that was sent to a link and that this process will send again,
  /// whatever happens.
  std::uint64_t DurablySent(const std::string& link) const { return LinkOf(link).durably_sent; }
  std::uint64_t Acknowledged(const std::string& link) const { return LinkOf(link).acknowledged; }
  std::uint64_t Released(const std::string& link) const { return LinkOf(link).released; }
  bool IsLost(const std::string& link) const { return LinkOf(link).lost; }
  std::vector<std::string> links() const;

  /// Begins a link after these numbers. Call it before Begin.
  void StartAt(const std::string& link, std::uint64_t taken, std::uint64_t sent);

  /// Takes the next message of a link.
  absl::Status Take(const std::string& link, std::uint64_t seq, std::string body, Machine::Input& input);
  /// Takes the next message of a link and drops it, because the machine is over.
  void Skip(const std::string& link, std::uint64_t seq, std::size_t bytes);
  /// Lets the machine give up a link, durably.
  absl::Status Lose(const std::string& link, const std::string& why);
  /// Admits a new process, without a run, in place of the one that was given up.
  void Readmit(const std::string& link);
  absl::StatusOr<bool> Work();
  /// Ends the run with an error of the machine.
  void Abort(const absl::Status& why);

  /// Returns whether there is something to commit, and whether something waits for it.
  bool has_changes() const {
    return !inputs_.empty() || ledger_->has_changes() || !acknowledgements_.empty() || has_unreleased_;
  }
  bool sends_early() const { return params_.sends_early; }
  bool urgent() const { return ledger_->has_changes() || (!params_.sends_early && has_unreleased_); }

  /// Makes everything up to now durable. After an error the process must end.
  absl::Status Commit();
  /// Ends the run. The machine must be over.
  absl::Status End(absl::Time now);

  /// Returns the message to a link that follows number `seq`, if it may leave; else null.
  const Output* OutputAfter(const std::string& link, std::uint64_t seq) const;

  /// The process at the other end has durably taken everything up to `seq`.
  void Acknowledge(const std::string& link, std::uint64_t seq);
  /// The process at the other end will take nothing more. The machine is over.
  void GiveUp(const std::string& link) { Acknowledge(link, LinkOf(link).sent); }
  bool everything_acknowledged() const;
  /// Returns how many bytes wait to be acknowledged.
  std::size_t bytes_waiting() const { return bytes_waiting_; }

  std::uint64_t bytes_in() const { return bytes_in_; }
  std::uint64_t bytes_out() const { return bytes_out_; }

 private:
  struct Link {
    std::string partner;
    std::uint64_t taken = 0;
    std::uint64_t sent = 0;
    bool lost = false;
    template <class Archive>
    void State(Archive& a) {
      a(partner, taken, sent, lost);
    }

    // The members below are not part of a snapshot.
    std::uint64_t durably_taken = 0;
    std::uint64_t durably_sent = 0;
    std::uint64_t released = 0;      // these may leave
    std::uint64_t acknowledged = 0;  // by the process at the other end
    std::uint64_t stored = 0;        // outputs up to this one are in the store
    std::deque<Output> waiting;      // after `acknowledged`
  };
  struct Input {
    std::uint64_t seq;
    std::string link;
    std::uint64_t link_seq;
    std::string body;
  };

  Journal(Params params, Machine& machine) : params_(std::move(params)), machine_(machine) {}
  absl::Status Recover(const store::Run& run);
  absl::Status Replay(const store::AddInput& input);
  absl::Status Continue(std::string_view snapshot);
  std::string Snapshot() const;
  Link& LinkNamed(const std::string& link) { return links_[link]; }
  const Link& LinkOf(const std::string& link) const;
  void AddInput(const std::string& link, std::uint64_t link_seq, std::string body);
  void AddOutput(Link& link, Output output);
  void DropOutputs(Link& link);
  void Collect();
  void ReleaseOutputs();
  absl::Status Store(store::Transaction transaction, bool snapshot);

  Params params_;
  Machine& machine_;
  std::unique_ptr<store::StoreLedger> ledger_;
  std::optional<store::Sealer> sealer_;
  store::Key secret_{};
  std::string run_;
  bool recovered_ = false;
  bool replaying_ = false;
  std::map<std::string, Link> links_;
  std::uint64_t last_input_ = 0;
  std::vector<Input> inputs_;  // not durable yet
  std::map<std::string, std::uint64_t> acknowledgements_;
  std::vector<std::function<void()>> news_;
  std::size_t log_bytes_ = 0;       // of inputs since the snapshot
  std::size_t snapshot_bytes_ = 0;  // of the last one
  bool has_unreleased_ = false;
  std::size_t bytes_waiting_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
};

/// Returns 16 bytes from the operating system's entropy, which name a run.
std::string NewRun();

}  // namespace bandana::service
