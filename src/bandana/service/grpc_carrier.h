#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/calm_reporter.h"
#include "bandana/service/credentials.h"
#include "bandana/service/limits.h"
#include "bandana/service/log_event.h"
#include "bandana/service/machine.h"
#include "bandana/service/runtime.h"
#include "bandana/service/token_bucket.h"
#include "proto/link.pb.h"

namespace grpc {
class Channel;
class Server;
}  // namespace grpc

namespace bandana::service {

/// Carries frames over gRPC. It listens, dials, dials again, and reads what arrives, on threads of its own.
/// All that happens is handed over one by one, to the thread that asks.
///
/// With keys, each open connection is checked again every `recheck`: it ends if the certificate at the other
/// end has expired or was revoked since. Both ends are told why, and the one that has dialed tries again.
class GrpcCarrier final : public Carrier {
 public:
  struct Params {
    std::string listen;  ///< host:port; port 0 means any; empty: nobody may dial this process
    std::map<std::string, std::string> dial;  ///< host:port by link
    std::shared_ptr<const KeyRing> keys;      ///< null: plain text, which does not leave this machine
    Limits limits = {};
    /// Whether connections are opened again when the own certificate was replaced. Else each of them ends
    /// when the old certificate does.
    bool renews = false;
    absl::Duration recheck = absl::Seconds(2);  ///< how often connections are checked again
    TakeEvent on_event = nullptr;               ///< is told who is refused or slowed down; from any thread
    std::size_t most_events = 4096;             ///< that wait; then nothing more is read
  };

  struct Event {
    enum class Kind { kDialed, kAccepted, kFrame, kDisconnected, kNotReached };
    Kind kind;
    ConnectionId connection = 0;
    std::string link;   ///< kDialed, kNotReached
    std::string party;  ///< kFrame
    std::string why;    ///< kDisconnected, kNotReached
    v1::Frame frame = {};
    absl::StatusOr<std::unique_ptr<Machine::Input>> input = std::unique_ptr<Machine::Input>();
  };

  /// Opens the port. `machine` must outlive the transport. Fails with kUnavailable if the port is taken.
  static absl::StatusOr<std::unique_ptr<GrpcCarrier>> Open(Params params, const Machine& machine);
  ~GrpcCarrier() override;

  /// Returns where it listens; empty if it does not.
  const std::string& address() const { return address_; }

  void Send(ConnectionId connection, v1::Frame frame) override;
  void Close(ConnectionId connection, v1::Frame frame) override;

  /// Returns what has happened, in its order; at most `most` events. If nothing has, waits until something
  /// does, `deadline` passes, or Wake is called.
  std::vector<Event> Wait(absl::Time deadline, std::size_t most);
  void Wake();

  /// Ends all connections, after what was sent has left.
  void Shutdown();

 private:
  class Service;
  struct Connection;

  GrpcCarrier(Params params, const Machine& machine);
  std::shared_ptr<Connection> Add(std::string link, std::function<void()> cancel,
                                  std::function<absl::Status()> check);
  void Remove(const Connection& connection, std::string why);
  void Push(Event event);
  template <class Stream>
  void Converse(Connection& connection, Stream& stream, const std::string& party);
  void Dial(const std::string& link, const std::string& address);
  absl::Status MayOpen(const std::string& party);
  void Leave(const std::string& party);
  void AwaitRoom();
  void AwaitTurn(Connection& connection, const std::string& link, std::size_t bytes);
  void Watch();
  void CheckConnections(absl::Time now);
  bool Sleep(absl::Duration time);
  bool Pause(absl::Duration pause, grpc::Channel& channel);

  Params params_;
  const Machine& machine_;
  std::string address_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::thread> dialing_;
  std::thread watching_;
  CalmReporter tell_refused_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;
  bool woken_ = false;
  bool closing_ = false;
  ConnectionId next_ = 1;
  std::map<ConnectionId, std::shared_ptr<Connection>> connections_;
  std::map<std::string, std::function<void()>> cancels_;  // of streams that were dialed, by link
  std::size_t accepted_ = 0;
  std::map<std::string, std::size_t> accepted_of_;  // by party
  TokenBucket openings_;
  std::map<std::string, TokenBucket> openings_of_;  // by party
};

}  // namespace bandana::service
