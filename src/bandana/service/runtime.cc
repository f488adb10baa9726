#include "bandana/service/runtime.h"

#include <algorithm>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/service/protocol.h"
#include "bandana/service/spec_digest.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

v1::Frame ByeFrame(const absl::Status& why, std::string reason, bool final) {
  v1::Frame frame;
  frame.mutable_bye()->set_code(static_cast<int>(why.code()));
  frame.mutable_bye()->set_reason(std::move(reason));
  frame.mutable_bye()->set_final(final);
  return frame;
}

// Returns whether an error says that a process is wrong here, and not that something is broken.
bool IsRefusal(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kAborted:  // its store is an old copy
      return true;
    default:
      return false;
  }
}

// The status of a frame from the wire. A code that does not exist counts as unknown.
absl::StatusCode CodeOf(const v1::Bye& bye) {
  return bye.code() >= 0 && bye.code() <= 16 ? static_cast<absl::StatusCode>(bye.code())
                                             : absl::StatusCode::kUnknown;
}

std::string RoleOf(const std::string& link) { return link.substr(0, link.find('/')); }

}  // namespace

Runtime::Runtime(Params params, Journal& journal, Machine& machine, Carrier& carrier)
    : params_(std::move(params)),
      journal_(journal),
      machine_(machine),
      carrier_(carrier),
      process_(NewRun().substr(0, 8)) {}

absl::Status Runtime::Start(absl::Time now) {
  started_ = last_commit_ = last_message_ = now;
  for (const auto& [name, partner] : params_.partners) links_[name].partner = partner;
  for (const std::string& name : journal_.links()) links_[name];
  for (auto& [name, link] : links_) {
    link.away_since = now;
    if (journal_.Taken(name) > 0) link.why = "it did not come back";
  }
  works_ = journal_.recovered();
  if (!journal_.run().empty() || !params_.run_of.empty()) return absl::OkStatus();
  return Begin(NewRun(), now);
}

absl::Status Runtime::Begin(const std::string& run, absl::Time now) {
  BANDANA_RETURN_IF_ERROR(journal_.Begin(run, now));
  last_commit_ = now;
  works_ = true;
  for (auto& [id, connection] : connections_) {
    if (connection.dialed && !connection.has_opened) SendOpening(id);
  }
  return absl::OkStatus();
}

void Runtime::Dialed(ConnectionId id, const std::string& name, absl::Time now) {
  Connection& connection = connections_[id];
  connection.link = name;
  connection.dialed = true;
  Link& link = links_[name];
  if (link.connection != 0) Forget(link.connection, "it was opened again", now);
  // Before it has a run, a process can talk only to the one that gives it one.
  if (!journal_.run().empty() || name == params_.run_of) SendOpening(id);
}

void Runtime::Accepted(ConnectionId id, absl::Time now) { connections_[id].since = now; }

void Runtime::NotReached(const std::string& name, const std::string& why) {
  if (!links_[name].is_told) links_[name].why = why;  // a refused TLS handshake does not say why
}

absl::Status Runtime::TakeLocal(const std::string& link, std::string body, absl::Time now) {
  if (machine_.over() || journal_.run().empty()) return absl::OkStatus();
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<Machine::Input> read, machine_.Read(link, body));
  const absl::Status status = journal_.Take(link, journal_.Taken(link) + 1, std::move(body), *read);
  if (!status.ok()) journal_.Abort(status);
  ++pending_;
  works_ = true;
  last_message_ = now;
  return absl::OkStatus();
}

void Runtime::SendOpening(ConnectionId id) {
  Connection& connection = connections_.at(id);
  const std::string& name = connection.link;
  connection.has_opened = true;
  v1::Frame frame;
  v1::Opening& opening = *frame.mutable_opening();
  opening.set_protocol_version(kProtocolVersion);
  opening.set_self(params_.self);
  opening.set_to(name);
  opening.set_digest(params_.digest);
  opening.set_run(journal_.run());
  opening.set_knows(params_.runs_differ ? journal_.PartnerOf(name) : journal_.run());
  opening.set_process(process_);
  opening.set_taken(journal_.DurablyTaken(name));
  opening.set_sent(journal_.DurablySent(name));
  opening.set_promised(links_[name].promised);
  connection.acknowledged = journal_.DurablyTaken(name);
  carrier_.Send(id, std::move(frame));
}

absl::Status Runtime::Receive(ConnectionId id, v1::Frame frame, const std::string& party,
                              absl::StatusOr<std::unique_ptr<Machine::Input>> read, absl::Time now) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return absl::OkStatus();  // it was closed
  Connection& connection = it->second;
  switch (frame.body_case()) {
    case v1::Frame::kOpening:
      return TakeOpening(id, frame.opening(), party, now);
    case v1::Frame::kBye:
      return TakeBye(id, frame.bye(), now);
    case v1::Frame::kData:
      if (connection.open) return TakeData(id, std::move(*frame.mutable_data()), std::move(read), now);
      break;
    case v1::Frame::kAck:
      // It may be about messages that were sent on an earlier connection, or early by an earlier process.
      if (connection.open &&
          (journal_.sends_early() || frame.ack().seq() <= journal_.DurablySent(connection.link))) {
        journal_.Acknowledge(connection.link, frame.ack().seq());
        return absl::OkStatus();
      }
      break;
    case v1::Frame::BODY_NOT_SET:
      break;
  }
  return Cut(id, absl::InvalidArgumentError("it sent a frame that does not belong there"), now);
}

absl::Status Runtime::TakeOpening(ConnectionId id, const v1::Opening& opening, const std::string& party,
                                  absl::Time now) {
  Connection& connection = connections_.at(id);
  if (connection.open) return Cut(id, absl::InvalidArgumentError("it opened a connection twice"), now);
  if (const std::optional<Refusal> refusal = Judge(connection, opening, party)) {
    const bool dialed = connection.dialed;
    const bool is_lost = journal_.IsLost(opening.self());  // this run goes on without it
    Close(id, refusal->status, refusal->final && !refusal->is_own);
    if (refusal->is_own || (dialed && refusal->final && !is_lost)) return refusal->status;
    return absl::OkStatus();
  }
  connection.link = opening.self();
  if (journal_.run().empty()) {
    // The other end may have talked to an earlier process with this name, which has lost its store.
    journal_.StartAt(connection.link, opening.sent(), opening.taken());
    BANDANA_RETURN_IF_ERROR(Begin(opening.run(), now));
  }
  if (params_.runs_differ && journal_.PartnerOf(connection.link).empty()) {
    journal_.SetPartner(connection.link, opening.run());
  }
  return Open(id, opening, now);
}

std::optional<Runtime::Refusal> Runtime::Judge(const Connection& connection, const v1::Opening& opening,
                                               const std::string& party) const {
  const std::string& name = opening.self();
  const std::string theirs = RoleOf(name), ours = RoleOf(params_.self);
  if (opening.protocol_version() != kProtocolVersion) {
    return Refusal{absl::FailedPreconditionError(
        fmt::format("this {} uses version {} of the protocol, but the {} uses version {}", theirs,
                    opening.protocol_version(), ours, kProtocolVersion))};
  }
  if (opening.digest() != params_.digest) {
    return Refusal{OtherSpec(opening.digest(), params_.digest, theirs, ours)};
  }
  if (opening.to() != params_.self) {
    return Refusal{
        absl::FailedPreconditionError(fmt::format("this is {}, not {}", params_.self, opening.to()))};
  }
  if (!party.empty() && party != name) {
    return Refusal{absl::PermissionDeniedError(
        fmt::format("it says that it is {}, but its certificate is that of {}", name, party))};
  }
  if (connection.dialed && name != connection.link) {
    return Refusal{
        absl::FailedPreconditionError(fmt::format("{} answers where {} should be", name, connection.link))};
  }
  if (!connection.dialed) {
    const auto partner = params_.partners.find(name);
    if (partner != params_.partners.end() && partner->second.dialed) {
      return Refusal{absl::PermissionDeniedError(
          fmt::format("{} itself opens the connections to {}", params_.self, name))};
    }
    if (partner == params_.partners.end()) {
      if (absl::Status admitted = machine_.Admits(name); !admitted.ok()) return Refusal{admitted};
    }
  }
  const bool starts_anew = opening.run().empty() && machine_.MayStartAnew(name);
  if (journal_.IsLost(name) && !starts_anew) {
    return Refusal{
        absl::FailedPreconditionError(fmt::format("{} was given up, and the run went on without it", name))};
  }
  if (std::optional<Refusal> refusal = JudgeRun(name, connection, opening)) return refusal;
  // Its numbers would count as acknowledged and promised, also for the process that comes after it.
  const bool has_numbers = opening.taken() > 0 || opening.sent() > 0 || opening.promised() > 0;
  if (opening.run().empty() && has_numbers) {
    return Refusal{absl::InvalidArgumentError(
        fmt::format("{} says that it is in no run, and yet that it has taken or sent messages", name))};
  }
  const bool is_new = journal_.run().empty() || (opening.run().empty() && !params_.runs_differ);
  return is_new ? std::nullopt : JudgePositions(name, opening);
}

std::optional<Runtime::Refusal> Runtime::JudgeRun(const std::string& name, const Connection& connection,
                                                  const v1::Opening& opening) const {
  const std::string& own = journal_.run();
  if (own.empty()) {
    const bool gives = connection.dialed && name == params_.run_of && opening.run().size() == 16;
    if (gives) return std::nullopt;
    return Refusal{absl::UnavailableError(fmt::format("{} is in no run yet", params_.self)), false};
  }
  const bool is_first = journal_.Taken(name) == 0 && journal_.Acknowledged(name) == 0;
  const auto other_run = [&](const std::string& here) {
    return Refusal{absl::FailedPreconditionError(
        opening.run().empty()
            ? fmt::format("{} is in the run {}, but its store has no run: the store was lost or replaced",
                          name, store::RunName(here))
            : fmt::format("{} is in another run: here it is {}, and there {}; a run that is over is ended "
                          "with: bandana store end",
                          name, store::RunName(here), store::RunName(opening.run())))};
  };
  const auto link = links_.find(name);
  const bool is_here = link != links_.end() && link->second.connection != 0 &&
                       connections_.at(link->second.connection).process != opening.process();
  if (params_.runs_differ) {
    const std::string partner = journal_.PartnerOf(name);
    if (opening.run().size() != 16 || (!partner.empty() && opening.run() != partner)) {
      return other_run(partner.empty() ? own : partner);
    }
    if (!opening.knows().empty() && opening.knows() != own) return other_run(own);
    return std::nullopt;
  }
  if (opening.run() == own) return std::nullopt;
  if (!opening.run().empty() || !(is_first || machine_.MayStartAnew(name))) return other_run(own);
  if (is_here) {  // it may have died, and nobody has noticed yet
    return Refusal{
        .status = absl::AlreadyExistsError(fmt::format("there is a process with the name {} already", name)),
        .final = !params_.comes_back};
  }
  return std::nullopt;
}

// Each process compares what the other one has with what it had before. Less means an old copy of a store.
std::optional<Runtime::Refusal> Runtime::JudgePositions(const std::string& name,
                                                        const v1::Opening& opening) const {
  const auto link = links_.find(name);
  const std::uint64_t promised = link == links_.end() ? 0 : link->second.promised;
  const auto old_copy = [](const std::string& whose, const char* what, std::uint64_t had, std::uint64_t has) {
    return absl::AbortedError(fmt::format("the store of {} is an old copy: it had {} {}, and now it has {}",
                                          whose, what, had, has));
  };
  if (opening.taken() < journal_.Acknowledged(name)) {
    return Refusal{old_copy(name, "taken message", journal_.Acknowledged(name), opening.taken())};
  }
  const std::uint64_t theirs = std::max(promised, journal_.sends_early() ? 0 : journal_.DurablyTaken(name));
  if (opening.sent() < theirs) return Refusal{old_copy(name, "sent message", theirs, opening.sent())};
  const std::uint64_t ours = std::max(opening.promised(), journal_.sends_early() ? 0 : opening.taken());
  if (journal_.DurablySent(name) < ours) {
    return Refusal{.status = old_copy(params_.self, "sent message", ours, journal_.DurablySent(name)),
                   .is_own = true};
  }
  return std::nullopt;
}

absl::Status Runtime::Open(ConnectionId id, const v1::Opening& opening, absl::Time now) {
  Connection& connection = connections_.at(id);
  Link& link = links_[connection.link];
  if (link.connection != 0 && link.connection != id) {
    Close(link.connection, absl::UnavailableError("the connection was opened again"), false);
  }
  if (journal_.IsLost(connection.link)) {
    BANDANA_RETURN_IF_ERROR(Commit(now));  // so that the new process hears of all numbers that are used up
    journal_.Readmit(connection.link);
  }
  link.connection = id;
  link.was_here = true;
  link.is_told = false;
  link.promised = std::max(link.promised, opening.sent());
  connection.open = true;
  connection.process = opening.process();
  connection.sent = opening.taken();
  if (!connection.dialed) SendOpening(id);
  journal_.Acknowledge(connection.link, opening.taken());
  last_message_ = now;
  works_ = true;
  return absl::OkStatus();
}

absl::Status Runtime::TakeData(ConnectionId id, v1::Data data,
                               absl::StatusOr<std::unique_ptr<Machine::Input>> read, absl::Time now) {
  Connection& connection = connections_.at(id);
  const std::string name = connection.link;
  Link& link = links_[name];
  link.promised = std::max(link.promised, data.sent());
  const std::uint64_t next = journal_.Taken(name) + 1;
  if (data.seq() < next) return absl::OkStatus();  // a repeat
  if (data.seq() > next) return Cut(id, absl::InvalidArgumentError("it left out a message"), now);
  if (machine_.over()) {
    journal_.Skip(name, data.seq(), data.body().size());  // nobody reads it, but its sender may forget it
    return absl::OkStatus();
  }
  absl::Status fault = read.ok() ? machine_.Check(name, **read) : read.status();
  if (!fault.ok()) return Cut(id, fault, now);
  const absl::Status taken = journal_.Take(name, data.seq(), std::move(*data.mutable_body()), **read);
  if (!taken.ok()) journal_.Abort(taken);
  last_message_ = now;
  ++pending_;
  works_ = true;
  return absl::OkStatus();
}

absl::Status Runtime::TakeBye(ConnectionId id, const v1::Bye& bye, absl::Time now) {
  const Connection connection = connections_.at(id);
  const std::string name = connection.link;
  Forget(id, bye.reason(), now);
  if (const auto link = links_.find(name); link != links_.end()) link->second.is_told = true;
  if (!bye.final()) return absl::OkStatus();
  if (machine_.over()) {
    if (connection.open) journal_.GiveUp(name);
    return absl::OkStatus();
  }
  // Both sides of a network that was cut may have given each other up. Then both go on.
  if (journal_.IsLost(name)) return absl::OkStatus();
  // A neighbour is heard even if it was the one that dialed: whoever was given up must not play on alone.
  const bool is_heard = connection.dialed || (connection.open && params_.runs_differ);
  if (is_heard && IsRefusal(CodeOf(bye))) {
    return absl::Status(CodeOf(bye), fmt::format("the {} refused this {}: {}", NameOf(name),
                                                 RoleOf(params_.self), bye.reason()));
  }
  const bool was_here = connection.open || links_[name].was_here || journal_.Taken(name) > 0;
  if (connection.dialed && !was_here) {
    return absl::UnavailableError(fmt::format("the {} was lost: {}", NameOf(name), bye.reason()));
  }
  if (!connection.open && !connection.dialed) return absl::OkStatus();
  Lose(name, bye.reason());
  return absl::OkStatus();
}

void Runtime::Disconnected(ConnectionId id, const std::string& why, absl::Time now) { Forget(id, why, now); }

void Runtime::Forget(ConnectionId id, const std::string& why, absl::Time now) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  const auto link = links_.find(it->second.link);
  if (link != links_.end()) {
    if (link->second.connection == id) {
      link->second.connection = 0;
      link->second.away_since = now;
    }
    link->second.why = why;
  }
  connections_.erase(it);
}

void Runtime::Close(ConnectionId id, const absl::Status& why, bool final) {
  const std::string name = connections_.at(id).link;
  carrier_.Close(id, ByeFrame(why, std::string(why.message()), final));
  const auto link = links_.find(name);
  if (link != links_.end() && link->second.connection == id) link->second.connection = 0;
  connections_.erase(id);
}

// Ends the connection of a process that broke a rule. The process is not admitted again.
absl::Status Runtime::Cut(ConnectionId id, const absl::Status& why, absl::Time now) {
  const Connection connection = connections_.at(id);
  Forget(id, std::string(why.message()), now);
  carrier_.Close(id, ByeFrame(why, std::string(why.message()), true));
  if (!connection.open) return connection.dialed ? why : absl::OkStatus();
  Lose(connection.link, std::string(why.message()));
  return absl::OkStatus();
}

void Runtime::Lose(const std::string& name, const std::string& why) {
  if (machine_.over() || journal_.IsLost(name)) return;
  works_ = true;
  const absl::Status status = journal_.Lose(name, why);
  if (!status.ok()) journal_.Abort(status);
}

// Returns whether a process was here and is away now.
bool Runtime::IsAway(const std::string& name, const Link& link) const {
  return link.connection == 0 && (link.was_here || journal_.Taken(name) > 0) && !journal_.IsLost(name);
}

absl::Status Runtime::GiveUp(absl::Time now) {
  std::vector<ConnectionId> silent;
  for (const auto& [id, connection] : connections_) {
    if (!connection.open && !connection.dialed && now >= connection.since + params_.first_message)
      silent.push_back(id);
  }
  for (const ConnectionId id : silent) {
    Close(id, absl::DeadlineExceededError("it did not say who it is"), false);
  }
  if (machine_.over()) return absl::OkStatus();
  BANDANA_RETURN_IF_ERROR(CheckMissing(now));
  BANDANA_RETURN_IF_ERROR(CheckAway(now));
  if (now < last_message_ + params_.answer_timeout || machine_.over()) return absl::OkStatus();
  const std::string awaits = machine_.Awaits();
  if (awaits.empty()) return absl::OkStatus();
  return EndOrStop(absl::UnavailableError(
      fmt::format("there was no answer for {}: {}", absl::FormatDuration(params_.answer_timeout), awaits)));
}

absl::Status Runtime::CheckMissing(absl::Time now) {
  if (now < started_ + params_.join_timeout) return absl::OkStatus();
  if (absl::Status missing = machine_.Missing(); !missing.ok()) return EndOrStop(missing);
  for (const auto& [name, link] : links_) {
    if (!params_.partners.contains(name) || link.connection != 0 || IsAway(name, link)) continue;
    if (journal_.IsLost(name)) continue;
    return EndOrStop(absl::UnavailableError(fmt::format(
        "the {} {} within {}{}{}", NameOf(name), link.partner.dialed ? "did not answer" : "did not come",
        absl::FormatDuration(params_.join_timeout), link.why.empty() ? "" : ": ", link.why)));
  }
  return absl::OkStatus();
}

absl::Status Runtime::CheckAway(absl::Time now) {
  std::vector<std::string> lost;
  for (const auto& [name, link] : links_) {
    if (!IsAway(name, link) || now < link.away_since + params_.silence) continue;
    const Machine::Absence absence = machine_.JudgeAbsence(name);
    // Without a store nobody comes back, but a new process may come instead.
    const bool frees_place = !params_.comes_back && machine_.MayStartAnew(name);
    if (absence == Machine::Absence::kWait && !frees_place) continue;
    if (absence == Machine::Absence::kStop && params_.comes_back) {
      return absl::UnavailableError(fmt::format("the {} was lost: {}, and it did not come back within {}",
                                                NameOf(name), link.why,
                                                absl::FormatDuration(params_.silence)));
    }
    lost.push_back(name);
  }
  for (const std::string& name : lost) Lose(name, links_[name].why);
  return absl::OkStatus();
}

// Ends the process, or the run if it cannot go on later.
absl::Status Runtime::EndOrStop(const absl::Status& why) {
  if (params_.comes_back || journal_.run().empty()) return why;
  journal_.Abort(why);
  return absl::OkStatus();
}

bool Runtime::CanWork() const {
  return works_ && !journal_.run().empty() && !machine_.over() &&
         journal_.bytes_waiting() < params_.most_waiting;
}

absl::Status Runtime::Work() {
  const absl::StatusOr<bool> more = journal_.Work();
  if (!more.ok()) journal_.Abort(more.status());
  works_ = more.ok() && *more;
  return absl::OkStatus();
}

bool Runtime::CommitIsDue(absl::Time now) const {
  if (journal_.run().empty() || !journal_.has_changes()) return false;
  return (journal_.urgent() && !CanWork()) || pending_ >= params_.most_pending || machine_.over() ||
         now >= last_commit_ + params_.commit_delay;
}

absl::Status Runtime::Commit(absl::Time now) {
  BANDANA_RETURN_IF_ERROR(journal_.Commit());
  last_commit_ = now;
  pending_ = 0;
  return absl::OkStatus();
}

absl::Status Runtime::Step(absl::Time now) {
  if (done_) return absl::OkStatus();
  if (CanWork()) BANDANA_RETURN_IF_ERROR(Work());
  if (CommitIsDue(now)) BANDANA_RETURN_IF_ERROR(Commit(now));
  Flush();
  BANDANA_RETURN_IF_ERROR(GiveUp(now));
  return machine_.over() ? Finish(now) : absl::OkStatus();
}

void Runtime::Flush() {
  for (auto& [id, connection] : connections_) {
    if (!connection.open) continue;
    const std::string& name = connection.link;
    if (const std::uint64_t taken = journal_.DurablyTaken(name); taken > connection.acknowledged) {
      v1::Frame frame;
      frame.mutable_ack()->set_seq(taken);
      connection.acknowledged = taken;
      carrier_.Send(id, std::move(frame));
    }
    while (connection.sent < journal_.Acknowledged(name) + params_.window) {
      const Journal::Output* output = journal_.OutputAfter(name, connection.sent);
      if (output == nullptr) break;
      v1::Frame frame;
      frame.mutable_data()->set_seq(output->seq);
      frame.mutable_data()->set_sent(journal_.DurablySent(name));
      frame.mutable_data()->set_body(output->body);
      connection.sent = output->seq;
      carrier_.Send(id, std::move(frame));
    }
  }
}

absl::Status Runtime::Finish(absl::Time now) {
  if (!over_since_) over_since_ = now;
  for (const std::string& name : journal_.links()) {
    const auto link = links_.find(name);
    const bool is_here = link != links_.end() && link->second.connection != 0;
    if (!params_.comes_back && !is_here) journal_.GiveUp(name);  // it will not come back either
  }
  if (!journal_.everything_acknowledged() && now < *over_since_ + params_.linger) return absl::OkStatus();
  BANDANA_RETURN_IF_ERROR(journal_.End(now));
  done_ = true;
  // A process that has not joined has not been told why by a message.
  const absl::Status result = machine_.result();
  SayByeToAll(absl::OkStatus(), result.ok() ? "the run is over" : "the run is over: " + ReasonFor(result),
              true);
  return absl::OkStatus();
}

// Returns what other processes may hear of an error.
std::string Runtime::ReasonFor(const absl::Status& why) const {
  const bool hides = params_.hides_errors && !absl::IsCancelled(why);
  return hides ? std::string(absl::StatusCodeToString(why.code())) : std::string(why.message());
}

void Runtime::SayByeToAll(const absl::Status& why, const std::string& reason, bool final) {
  while (!connections_.empty()) {
    const ConnectionId id = connections_.begin()->first;
    carrier_.Close(id, ByeFrame(why, reason, final));
    connections_.erase(id);
  }
}

void Runtime::Leave(const absl::Status& why) {
  const std::string reason = ReasonFor(why);
  SayByeToAll(absl::UnavailableError(reason), reason, !params_.comes_back);
}

absl::Time Runtime::NextWake(absl::Time now) const {
  if (done_ || CanWork()) return now;
  absl::Time next = absl::InfiniteFuture();
  const auto at = [&](absl::Time time) { next = std::min(next, time); };
  if (!journal_.run().empty() && journal_.has_changes()) at(last_commit_ + params_.commit_delay);
  for (const auto& [id, connection] : connections_) {
    if (!connection.open && !connection.dialed) at(connection.since + params_.first_message);
  }
  if (machine_.over()) {
    at(over_since_.value_or(now) + params_.linger);
    return next;
  }
  if (now < started_ + params_.join_timeout) at(started_ + params_.join_timeout);
  for (const auto& [name, link] : links_) {
    if (IsAway(name, link)) at(std::max(link.away_since + params_.silence, now + absl::Seconds(1)));
  }
  if (!machine_.Awaits().empty()) at(last_message_ + params_.answer_timeout);
  return next;
}

std::set<std::string> Runtime::connected() const {
  std::set<std::string> connected;
  for (const auto& [name, link] : links_) {
    if (link.connection != 0) connected.insert(name);
  }
  return connected;
}

std::string Runtime::WhyAway(const std::string& name) const {
  const auto link = links_.find(name);
  return link == links_.end() ? "" : link->second.why;
}

std::string Runtime::NameOf(const std::string& name) const {
  const auto link = links_.find(name);
  return link == links_.end() || link->second.partner.name.empty() ? name : link->second.partner.name;
}

}  // namespace bandana::service
