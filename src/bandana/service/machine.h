#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/savable.h"
#include "bandana/store/seal.h"
#include "bandana/store/store_ledger.h"

namespace bandana::service {

/// One process of a deployment, as a state machine: a server, a shuffler, an agent or a peer with its role.
/// It takes messages one by one and says what to send. It has no clock, network or disk. All that it does
/// follows from its secret, from the seeds of its ledger, and from what it has taken, in this order. So a
/// process that was killed goes on: its journal (service/journal.h) gives a new machine the same messages
/// again.
///
/// A link is named after the process at its other end: "server", "shuffler", "agent/3", "peer/3".
class Machine : public Savable {
 public:
  /// A message that was read. Each machine has its own kind.
  class Input {
   public:
    virtual ~Input() = default;
  };

  struct Outgoing {
    std::string link;
    std::string body;
  };

  /// The journal calls it first. `secret` is the run's own: coins follow from it. Both outlive the machine.
  virtual void Attach(store::StoreLedger& ledger, const store::Key& secret) = 0;

  /// Returns whether a process with this name may connect, or why not.
  virtual absl::Status Admits(const std::string& link) const = 0;

  /// Reads a message. Fails if no honest process can have sent it. May be called by any thread.
  virtual absl::StatusOr<std::unique_ptr<Input>> Read(const std::string& link,
                                                      std::string_view body) const = 0;

  /// Begins the run.
  virtual absl::Status Begin() = 0;

  /// Fails if the process at the other end must not send this now. Nothing has changed then.
  virtual absl::Status Check(const std::string& /*link*/, const Input& /*input*/) const {
    return absl::OkStatus();
  }

  /// Takes a message. An error ends the run.
  virtual absl::Status Take(const std::string& link, Input& input) = 0;

  /// Does a part of what there is to do, and returns whether there is more. When it is called, between two
  /// messages, must not matter.
  virtual absl::StatusOr<bool> Work() { return false; }

  /// The answer to a process that has been away for too long.
  enum class Absence {
    kWait,
    kGiveUp,  ///< Lose follows
    kStop,    ///< this process ends, too; the run can go on later
  };
  virtual Absence JudgeAbsence(const std::string& link) const = 0;

  /// The process at the other end will not come back, and nothing more is taken from it. An error ends the
  /// run.
  virtual absl::Status Lose(const std::string& link, const std::string& why) = 0;

  /// Returns whether a process that has joined, even if it was given up since, may be replaced by another one
  /// with the same name and without its store, because it has sent nothing yet that counts.
  virtual bool MayStartAnew(const std::string& /*link*/) const { return false; }

  /// Ends the run with an error: tells the others, and is over.
  virtual void Abort(const absl::Status& why) = 0;

  /// Returns who has not come yet, as an error; OK if nobody is missed.
  virtual absl::Status Missing() const { return absl::OkStatus(); }
  /// Returns whose messages the machine waits for, such as "3 clients have not answered in epoch 2"; empty if
  /// others may be silent for as long as they like.
  virtual std::string Awaits() const { return ""; }

  virtual bool over() const = 0;
  /// Returns how the run has ended.
  virtual absl::Status result() const = 0;

  /// Returns whether something has ended since the last call, such as a phase, so that its messages should be
  /// forgotten.
  bool TakeClosed() { return std::exchange(closed_, false); }

  /// Returns what is to be sent, in its order.
  std::vector<Outgoing> TakeOutgoing() { return std::exchange(outgoing_, {}); }

  /// Returns calls that tell the program what has happened. They are made once it is durable. After a crash
  /// the latest ones are made again.
  std::vector<std::function<void()>> TakeNews() { return std::exchange(news_, {}); }

 protected:
  void Send(std::string link, std::string body) { outgoing_.push_back({std::move(link), std::move(body)}); }
  template <class Proto>
  void SendProto(std::string link, const Proto& message) {
    Send(std::move(link), message.SerializeAsString());
  }
  void Tell(std::function<void()> news) { news_.push_back(std::move(news)); }
  void SetClosed() { closed_ = true; }

 private:
  std::vector<Outgoing> outgoing_;
  std::vector<std::function<void()>> news_;
  bool closed_ = false;
};

}  // namespace bandana::service
