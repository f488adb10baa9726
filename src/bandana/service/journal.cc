#include "bandana/service/journal.h"

#include <algorithm>

#include "bandana/core/archive.h"
#include "bandana/core/check.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

// The body of an input that did not come as a message: its first byte says what it is.
constexpr char kPartner = 'P';
constexpr char kLost = 'L';
constexpr char kReadmitted = 'R';

constexpr char kSnapshotPlace[] = "snapshot";
std::string InputPlace(std::uint64_t seq) { return fmt::format("input {}", seq); }
std::string OutputPlace(const std::string& link, std::uint64_t seq) {
  return fmt::format("output {} {}", link, seq);
}

absl::Status InStore(const store::Store& store, const absl::Status& status) {
  return absl::Status(status.code(), fmt::format("{}: {}", store.name(), std::string(status.message())));
}

}  // namespace

std::string NewRun() {
  const store::Key entropy = store::RandomKey();
  return {entropy.begin(), entropy.begin() + 16};
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(Params params, Machine& machine) {
  std::unique_ptr<Journal> journal(new Journal(std::move(params), machine));
  store::Store& store = *journal->params_.storage.store;
  BANDANA_ASSIGN_OR_RETURN(
      journal->ledger_, store::StoreLedger::Open(store, journal->params_.header, journal->params_.entropy));
  machine.Attach(*journal->ledger_, journal->secret_);
  BANDANA_ASSIGN_OR_RETURN(const std::vector<store::Run> runs, store.Runs());
  if (!runs.empty() && runs.back().state == store::RunState::kOpen) {
    BANDANA_RETURN_IF_ERROR(journal->Recover(runs.back()));
  }
  return journal;
}

absl::Status Journal::Recover(const store::Run& run) {
  store::Store& store = *params_.storage.store;
  if (run.spec != Sha256(params_.spec)) {
    return absl::FailedPreconditionError(
        fmt::format("{}: the store has the open run {} of another spec: start it with that spec, or end the "
                    "run with: bandana store end {}",
                    store.name(), store::RunName(run.run), store.name()));
  }
  BANDANA_ASSIGN_OR_RETURN(const std::optional<store::PutSnapshot> snapshot, store.Snapshot());
  if (!snapshot) return absl::DataLossError(fmt::format("{}: the open run has no snapshot", store.name()));
  if (const absl::Status fits = params_.storage.ratchet->AdvanceTo(snapshot->generation); !fits.ok()) {
    return absl::IsFailedPrecondition(fits) ? absl::AbortedError(fits.message()) : fits;
  }
  sealer_.emplace(*params_.storage.ratchet);
  run_ = run.run;
  recovered_ = replaying_ = true;
  last_input_ = snapshot->applied;
  ledger_->EnterRun(run_);
  BANDANA_RETURN_IF_ERROR(ledger_->AddJournal(store, *sealer_));
  const absl::StatusOr<std::string> body = sealer_->Open(kSnapshotPlace, snapshot->body);
  if (!body.ok()) return InStore(store, body.status());
  if (const absl::Status status = Continue(*body); !status.ok()) return InStore(store, status);
  snapshot_bytes_ = body->size();
  BANDANA_RETURN_IF_ERROR(store.ForEachAcknowledgement([&](const store::Acknowledge& each) {
    LinkNamed(each.link).acknowledged = each.seq;
    return absl::OkStatus();
  }));
  // Stored outputs are sent as they were. The rest follows from the inputs.
  BANDANA_RETURN_IF_ERROR(store.ForEachOutput([&](const store::PutOutput& each) -> absl::Status {
    BANDANA_ASSIGN_OR_RETURN(std::string output, sealer_->Open(OutputPlace(each.link, each.seq), each.body));
    Link& link = LinkNamed(each.link);
    AddOutput(link, {each.seq, std::move(output)});
    link.stored = each.seq;
    return absl::OkStatus();
  }));
  BANDANA_RETURN_IF_ERROR(store.ForEachInput([&](const store::AddInput& each) { return Replay(each); }));
  for (bool more = true; more;) {
    BANDANA_ASSIGN_OR_RETURN(more, Work());
  }
  replaying_ = false;
  for (auto& [name, link] : links_) {
    link.durably_taken = link.taken;
    link.durably_sent = link.released = link.sent;
  }
  has_unreleased_ = false;
  return absl::OkStatus();
}

absl::Status Journal::Replay(const store::AddInput& input) {
  BANDANA_ASSIGN_OR_RETURN(const std::string body, sealer_->Open(InputPlace(input.seq), input.body));
  last_input_ = input.seq;
  log_bytes_ += body.size();
  Link& link = LinkNamed(input.link);
  if (input.link_seq > 0) link.taken = input.link_seq;
  if (input.link_seq > 0 && machine_.over()) return absl::OkStatus();  // it was skipped
  if (input.link_seq > 0) {
    BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Machine::Input> read, machine_.Read(input.link, body));
    bytes_in_ += body.size();
    if (const absl::Status status = machine_.Take(input.link, *read); !status.ok()) machine_.Abort(status);
  } else if (!body.empty() && body.front() == kPartner) {
    link.partner = body.substr(1);
  } else if (!body.empty() && body.front() == kReadmitted) {
    link.lost = false;
  } else {
    link.lost = true;
    const absl::Status status = machine_.Lose(input.link, body.substr(std::min<std::size_t>(1, body.size())));
    if (!status.ok()) machine_.Abort(status);
  }
  Collect();
  return absl::OkStatus();
}

// The snapshot names the program that made it, because another version could draw other values from the same
// seeds.
absl::Status Journal::Continue(std::string_view snapshot) {
  StateReader reader(snapshot);
  std::string machine;
  reader.Same(params_.program, "version of the program");
  reader(secret_, links_, bytes_in_, bytes_out_, machine);
  BANDANA_RETURN_IF_ERROR(reader.Finish());
  return machine_.Restore(machine);
}

std::string Journal::Snapshot() const {
  StateWriter writer;
  std::string machine = machine_.Save();
  writer.Same(params_.program, "version of the program");
  writer(const_cast<Journal&>(*this).secret_, const_cast<Journal&>(*this).links_,
         const_cast<Journal&>(*this).bytes_in_, const_cast<Journal&>(*this).bytes_out_, machine);
  return writer.Take();
}

absl::Status Journal::Begin(const std::string& run, absl::Time now) {
  BANDANA_CHECK(run_.empty());
  run_ = run;
  secret_ = params_.entropy();
  ledger_->EnterRun(run_);
  const absl::Status status = machine_.Begin();
  if (!status.ok()) machine_.Abort(status);
  Collect();
  return Store({store::BeginRun{run_, Sha256(params_.spec), now}}, true);
}

std::string Journal::PartnerOf(const std::string& link) const { return LinkOf(link).partner; }

void Journal::SetPartner(const std::string& link, const std::string& run) {
  LinkNamed(link).partner = run;
  AddInput(link, 0, kPartner + run);
}

const Journal::Link& Journal::LinkOf(const std::string& link) const {
  static const Link& none = *new Link();
  const auto it = links_.find(link);
  return it == links_.end() ? none : it->second;
}

std::vector<std::string> Journal::links() const {
  std::vector<std::string> names;
  for (const auto& [name, link] : links_) names.push_back(name);
  return names;
}

void Journal::AddInput(const std::string& link, std::uint64_t link_seq, std::string body) {
  log_bytes_ += body.size();
  inputs_.push_back({++last_input_, link, link_seq, std::move(body)});
}

void Journal::StartAt(const std::string& name, std::uint64_t taken, std::uint64_t sent) {
  Link& link = LinkNamed(name);
  link.taken = link.durably_taken = taken;
  link.sent = link.durably_sent = link.released = link.acknowledged = link.stored = sent;
}

absl::Status Journal::Take(const std::string& link, std::uint64_t seq, std::string body,
                           Machine::Input& input) {
  BANDANA_CHECK(seq == LinkOf(link).taken + 1);
  bytes_in_ += body.size();
  LinkNamed(link).taken = seq;
  AddInput(link, seq, std::move(body));
  const absl::Status status = machine_.Take(link, input);
  Collect();
  return status;
}

void Journal::Skip(const std::string& link, std::uint64_t seq, std::size_t bytes) {
  BANDANA_CHECK(seq == LinkOf(link).taken + 1 && machine_.over());
  LinkNamed(link).taken = seq;
  bytes_in_ += bytes;
  AddInput(link, seq, "");
}

absl::Status Journal::Lose(const std::string& link, const std::string& why) {
  Link& at = LinkNamed(link);
  at.lost = true;
  DropOutputs(at);
  acknowledgements_[link] = at.acknowledged = at.sent;  // it will never take them
  AddInput(link, 0, kLost + why);
  const absl::Status status = machine_.Lose(link, why);
  Collect();
  return status;
}

void Journal::Readmit(const std::string& link) {
  LinkNamed(link).lost = false;
  AddInput(link, 0, std::string(1, kReadmitted));
}

absl::StatusOr<bool> Journal::Work() {
  absl::StatusOr<bool> more = machine_.Work();
  if (!more.ok() && replaying_) {
    machine_.Abort(more.status());
    Collect();
    return false;
  }
  Collect();
  return more;
}

void Journal::Abort(const absl::Status& why) {
  machine_.Abort(why);
  Collect();
}

// Numbers what the machine sends. While inputs are replayed, what was acknowledged is dropped, and what is
// stored stays as it was.
void Journal::Collect() {
  for (Machine::Outgoing& outgoing : machine_.TakeOutgoing()) {
    Link& link = LinkNamed(outgoing.link);
    const std::uint64_t seq = ++link.sent;
    bytes_out_ += outgoing.body.size();
    if (link.lost || seq <= link.acknowledged || (replaying_ && seq <= link.stored)) continue;
    AddOutput(link, {seq, std::move(outgoing.body)});
    has_unreleased_ = true;
  }
  for (std::function<void()>& news : machine_.TakeNews()) news_.push_back(std::move(news));
  if (params_.sends_early && !replaying_ && !ledger_->has_changes()) ReleaseOutputs();
}

void Journal::ReleaseOutputs() {
  for (auto& [name, link] : links_) link.released = link.sent;
  has_unreleased_ = false;
}

absl::Status Journal::Commit() {
  const bool closed = machine_.TakeClosed();
  const bool snapshot = closed || log_bytes_ > std::max(params_.most_log_bytes, 4 * snapshot_bytes_);
  if (!snapshot && !has_changes() && !has_unreleased_ && news_.empty()) return absl::OkStatus();
  return Store({}, snapshot);
}

absl::Status Journal::Store(store::Transaction transaction, bool snapshot) {
  store::Ratchet& ratchet = *params_.storage.ratchet;
  const auto put_outputs = [&](bool all) {
    for (auto& [name, link] : links_) {
      for (const Output& output : link.waiting) {
        if (!all && output.seq <= link.stored) continue;
        transaction.push_back(
            store::PutOutput{name, output.seq, sealer_->Seal(OutputPlace(name, output.seq), output.body)});
      }
      if (!link.waiting.empty()) link.stored = std::max(link.stored, link.waiting.back().seq);
    }
  };
  for (const auto& [name, seq] : acknowledgements_) transaction.push_back(store::Acknowledge{name, seq});
  acknowledgements_.clear();
  if (snapshot) {
    if (!sealer_) sealer_.emplace(ratchet);
    ledger_->MoveChangesTo(transaction, *sealer_);
    const store::Ratchet next = ratchet.Next();
    sealer_.emplace(next);
    const std::string body = Snapshot();
    transaction.push_back(
        store::PutSnapshot{next.generation(), last_input_, sealer_->Seal(kSnapshotPlace, body)});
    put_outputs(true);
    snapshot_bytes_ = body.size();
    log_bytes_ = 0;
  } else {
    for (Input& input : inputs_) {
      transaction.push_back(store::AddInput{input.seq, input.link, input.link_seq,
                                            sealer_->Seal(InputPlace(input.seq), input.body)});
    }
    const bool charged = ledger_->has_changes();
    ledger_->MoveChangesTo(transaction, *sealer_);
    // These follow from the charges, so they are sent again as they were. Messages of later steps are
    // computed again from the seeds.
    if (charged) put_outputs(false);
  }
  inputs_.clear();
  if (!transaction.empty()) BANDANA_RETURN_IF_ERROR(params_.storage.store->Commit(transaction));
  if (snapshot) {
    BANDANA_RETURN_IF_ERROR(ratchet.Advance());
    ledger_->EraseDraws();
  }
  for (auto& [name, link] : links_) {
    link.durably_taken = link.taken;
    link.durably_sent = link.sent;
  }
  ReleaseOutputs();
  for (const std::function<void()>& news : std::exchange(news_, {})) news();
  return absl::OkStatus();
}

absl::Status Journal::End(absl::Time now) {
  BANDANA_RETURN_IF_ERROR(Commit());
  const absl::Status result = machine_.result();
  // Only the code is kept: the text of a role's error may hold data.
  const store::EndRun end{result.ok() ? store::RunState::kFinished : store::RunState::kEnded,
                          result.ok() ? "" : std::string(absl::StatusCodeToString(result.code())), now};
  BANDANA_RETURN_IF_ERROR(params_.storage.store->Commit(std::array<store::Change, 1>{end}));
  // Nobody can open what the run has left on the disk.
  BANDANA_RETURN_IF_ERROR(params_.storage.ratchet->Advance());
  sealer_.reset();
  return absl::OkStatus();
}

// The messages that wait have numbers without a gap.
const Journal::Output* Journal::OutputAfter(const std::string& link, std::uint64_t seq) const {
  const Link& from = LinkOf(link);
  if (from.waiting.empty() || seq >= from.released) return nullptr;
  const std::uint64_t first = from.waiting.front().seq;
  const std::uint64_t index = seq < first ? 0 : seq + 1 - first;
  return index < from.waiting.size() ? &from.waiting[index] : nullptr;
}

void Journal::Acknowledge(const std::string& link, std::uint64_t seq) {
  Link& at = LinkNamed(link);
  if (seq <= at.acknowledged) return;
  at.acknowledged = seq;  // after a crash, what was sent early is yet to be computed again
  DropOutputs(at);
  acknowledgements_[link] = at.acknowledged;
}

void Journal::AddOutput(Link& link, Output output) {
  bytes_waiting_ += output.body.size();
  link.waiting.push_back(std::move(output));
}

void Journal::DropOutputs(Link& link) {
  while (!link.waiting.empty() && (link.lost || link.waiting.front().seq <= link.acknowledged)) {
    bytes_waiting_ -= link.waiting.front().body.size();
    link.waiting.pop_front();
  }
}

bool Journal::everything_acknowledged() const {
  return std::all_of(links_.begin(), links_.end(),
                     [](const auto& each) { return each.second.waiting.empty(); });
}

}  // namespace bandana::service
