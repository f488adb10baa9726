#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/federation/messages.h"
#include "bandana/service/peer.h"
#include "bandana/service/roster.h"
#include "proto/federation.pb.h"

namespace grpc {
class Server;
}  // namespace grpc

namespace bandana::service {

/// What travels between neighbours, and when.
struct Manner {
  Slot first = 1;
  Slot last = 0;  ///< the largest: a node goes on until it says that it is finished
  bool (*carries)(const Payload& body) = nullptr;
  const char* kinds = "";  ///< of what it carries, for errors
};

/// A peer's streams to its neighbours: who is there, what they have sent, who is lost. Calls come from one
/// thread; every stream has two threads of its own.
class PeerLinks {
 public:
  /// Listens, unless params.listen is empty: then nobody may dial this peer. `params` must outlive the
  /// links.
  static absl::StatusOr<std::unique_ptr<PeerLinks>> Open(const PeerParams& params, const Manner& manner);

  /// Cuts off what is still there.
  ~PeerLinks();

  const std::string& address() const { return address_; }

  /// Connects to neighbours and waits for neighbours until all are here.
  absl::Status Join();

  /// One packet to each neighbour that is neither lost nor finished. `last`: this peer is finished.
  void Send(Slot slot, const std::map<NodeId, std::vector<Message>>& messages, bool last = false);

  /// Waits until no neighbour's packet of the slot is missing but for those that are lost or finished. What
  /// they hold, in (from, seq) order. Slots come one after the other.
  absl::StatusOr<std::vector<Message>> Receive(Slot slot);

  /// All is sent and received: ends the streams.
  void Finish();

  /// Tells the neighbours that this peer cannot go on.
  void Leave(const absl::Status& why);

  std::vector<LostNeighbour> lost() const;
  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  class Service;
  using Clock = std::chrono::steady_clock;

  struct Link {
    NodeId id;
    bool joined = false;
    bool closed = false;    // nothing more happens on its stream
    bool finished = false;  // its last packet is here
    std::optional<LostNeighbour> lost;
    std::map<Slot, std::vector<Message>> packets;  // not yet taken
    std::vector<Message> partial;                  // of the slot after `complete`
    Slot complete = 0;  // the last whose packet is here, before Manner::first: none
    std::optional<Seq> last_seq;
    Clock::time_point heard;
    BasicOutbox<v1::ToPeer> outbox;
    std::function<void()> cancel;  // empty: there is no stream
  };

  PeerLinks(const PeerParams& params, const Manner& manner);

  void Dial(Link& link);
  absl::StatusOr<Link*> Admit(const v1::ToPeer& first, std::function<void()> cancel);
  template <class Stream>
  absl::Status Converse(Link& link, Stream& stream);
  absl::Status Take(Link& link, const v1::ToPeer& message);
  absl::Status TakePacket(Link& link, const v1::Packet& packet);

  // All below: with mutex_ held.
  void Welcome(Link& link, std::function<void()> cancel);
  void Lose(Link& link, const std::string& why);
  void Fail(absl::Status why);
  void Cut();
  void Close(Link& link);
  absl::Status Wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done, Slot awaited,
                    Clock::time_point deadline);
  void AwaitClosing(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds grace);

  const PeerParams& params_;
  const Manner manner_;
  std::string address_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<NodeId, std::unique_ptr<Link>> links_;
  bool begun_ = false;
  bool finishing_ = false;    // whoever ends now is not missed
  bool never_began_ = false;  // somebody far away is missing
  absl::Status failure_;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
  std::stop_source ending_;

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::thread> dialing_;
  std::stop_callback<std::function<void()>> cut_on_stop_;
};

}  // namespace bandana::service
