#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/journal.h"
#include "bandana/service/machine.h"
#include "proto/link.pb.h"

namespace bandana::service {

/// A connection between two processes, as the transport numbers it. A link outlives its connections.
using ConnectionId = std::uint64_t;

/// The transport, as a process uses it. Frames of one connection arrive in their order, or the connection
/// ends.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual void Send(ConnectionId connection, v1::Frame frame) = 0;
  /// Sends the last frame, and ends the connection. The runtime then never hears of it again.
  virtual void Close(ConnectionId connection, v1::Frame frame) = 0;
};

/// One process of a deployment, without its transport and its clock: a machine, its journal, and its links.
/// On each link, messages are numbered, acknowledged once they are durable at the receiver, and sent again
/// after a connection was lost. So each is taken once and in order, whatever dies in between.
///
/// All calls come from one thread. An error means that the process must end; its run stays open, unless the
/// machine is over.
class Runtime {
 public:
  struct Partner {
    bool dialed = false;  ///< whether this process opens the connections
    std::string name;     ///< for errors, such as "neighbour 3"; empty: the link's own name
  };

  struct Params {
    std::string self;                         ///< the name of this process, such as "agent/3"
    std::string digest;                       ///< what both ends must agree on; see service/spec_digest.h
    std::map<std::string, Partner> partners;  ///< those that are known from the beginning; all are needed
    /// This process takes part in the run of the process on this link. Empty: it draws its own run.
    std::string run_of;
    bool runs_differ = false;  ///< whether all processes draw their own run, so that no two are the same
    /// Whether the run can go on after the process ends, because its store is durable. Otherwise whatever
    /// would end the process ends the run.
    bool comes_back = true;
    bool hides_errors = true;  ///< whether others are told only the code of an error
    absl::Duration join_timeout = absl::InfiniteDuration();    ///< for partners that were never here
    absl::Duration answer_timeout = absl::InfiniteDuration();  ///< for the next message, if the machine waits
    absl::Duration silence = absl::InfiniteDuration();    ///< a partner that was away for longer is given up
    absl::Duration first_message = absl::Seconds(10);     ///< for a process to say who it is
    absl::Duration linger = absl::Seconds(5);             ///< at the end, for the last acknowledgements
    absl::Duration commit_delay = absl::Milliseconds(5);  ///< for what nobody waits for
    std::size_t most_pending = 1024;                      ///< messages in one transaction
    std::size_t window = 16;              ///< messages that are sent on a connection and not acknowledged
    std::size_t most_waiting = 16 << 20;  ///< bytes that wait to be acknowledged; then no work is done
  };

  /// The arguments must outlive the runtime.
  Runtime(Params params, Journal& journal, Machine& machine, Carrier& carrier);

  /// Begins or goes on.
  absl::Status Start(absl::Time now);

  /// A connection that this process has opened is there.
  void Dialed(ConnectionId connection, const std::string& link, absl::Time now);
  /// A connection that another process has opened is there.
  void Accepted(ConnectionId connection, absl::Time now);
  /// A process that this one dials does not answer.
  void NotReached(const std::string& link, const std::string& why);

  /// A frame has arrived. `party` is the name in the certificate of the process at the other end; empty if
  /// the connection is not authenticated. `read` is what Machine::Read returned for the body of a message.
  absl::Status Receive(ConnectionId connection, v1::Frame frame, const std::string& party,
                       absl::StatusOr<std::unique_ptr<Machine::Input>> read, absl::Time now);

  /// Hands the machine an input that does not come from another process.
  absl::Status TakeLocal(const std::string& link, std::string body, absl::Time now);

  void Disconnected(ConnectionId connection, const std::string& why, absl::Time now);

  /// Does what is due: works, commits, sends, gives up partners. Call it after events, and at NextWake.
  absl::Status Step(absl::Time now);

  /// Returns when Step should be called next if nothing happens.
  absl::Time NextWake(absl::Time now) const;

  /// Takes leave of all partners because the process ends with `why` before the run is over.
  void Leave(const absl::Status& why);

  /// Returns whether the run is over and ended in the store.
  bool done() const { return done_; }

  /// Returns the links of which the process at the other end is connected.
  std::set<std::string> connected() const;

  /// Returns why the process on a link is away.
  std::string WhyAway(const std::string& link) const;

 private:
  struct Connection {
    std::string link;  // empty: it has not said who it is
    bool dialed = false;
    absl::Time since;
    bool open = false;               // both have sent their Opening, or this process has answered one
    bool has_opened = false;         // this process has sent its Opening
    std::string process;             // of the process at the other end
    std::uint64_t sent = 0;          // the last message that was sent on it
    std::uint64_t acknowledged = 0;  // the last message of the other end that was acknowledged on it
  };
  struct Link {
    Partner partner;
    ConnectionId connection = 0;  // 0: none
    absl::Time away_since;
    bool was_here = false;       // in this process's life
    std::uint64_t promised = 0;  // the partner will send its messages up to this one again
    std::string why;             // it is away
    bool is_told = false;        // it has said why itself
  };
  // Why a process is not admitted.
  struct Refusal {
    absl::Status status;
    bool final = true;    // it need not try again
    bool is_own = false;  // the fault is on this side
  };

  absl::Status TakeOpening(ConnectionId id, const v1::Opening& opening, const std::string& party,
                           absl::Time now);
  std::optional<Refusal> Judge(const Connection& connection, const v1::Opening& opening,
                               const std::string& party) const;
  std::optional<Refusal> JudgeRun(const std::string& name, const Connection& connection,
                                  const v1::Opening& opening) const;
  std::optional<Refusal> JudgePositions(const std::string& name, const v1::Opening& opening) const;
  absl::Status TakeData(ConnectionId id, v1::Data data, absl::StatusOr<std::unique_ptr<Machine::Input>> read,
                        absl::Time now);
  absl::Status TakeBye(ConnectionId id, const v1::Bye& bye, absl::Time now);
  void SendOpening(ConnectionId id);
  absl::Status Open(ConnectionId id, const v1::Opening& opening, absl::Time now);
  void Close(ConnectionId id, const absl::Status& why, bool final);
  std::string ReasonFor(const absl::Status& why) const;
  void SayByeToAll(const absl::Status& why, const std::string& reason, bool final);
  void Forget(ConnectionId id, const std::string& why, absl::Time now);
  void Lose(const std::string& name, const std::string& why);
  absl::Status EndOrStop(const absl::Status& why);
  bool IsAway(const std::string& name, const Link& link) const;
  absl::Status Cut(ConnectionId id, const absl::Status& why, absl::Time now);
  absl::Status Begin(const std::string& run, absl::Time now);
  absl::Status Work();
  absl::Status Commit(absl::Time now);
  void Flush();
  absl::Status GiveUp(absl::Time now);
  absl::Status CheckMissing(absl::Time now);
  absl::Status CheckAway(absl::Time now);
  absl::Status Finish(absl::Time now);
  bool CommitIsDue(absl::Time now) const;
  bool CanWork() const;
  std::string NameOf(const std::string& link) const;

  Params params_;
  Journal& journal_;
  Machine& machine_;
  Carrier& carrier_;
  std::string process_;  // names this process: random
  std::map<std::string, Link> links_;
  std::map<ConnectionId, Connection> connections_;
  absl::Time started_;
  absl::Time last_commit_;
  absl::Time last_message_;
  std::size_t pending_ = 0;  // messages taken since the last commit
  bool works_ = false;       // there may be more to do
  std::optional<absl::Time> over_since_;
  bool done_ = false;
};

}  // namespace bandana::service
