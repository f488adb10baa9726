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

/// Which slots a run has, and which messages travel between neighbours.
struct LinkProtocol {
  Slot first = 1;
  /// The largest possible slot: a node goes on until it says that it is finished.
  Slot last = 0;
  bool (*carries)(const Payload& body) = nullptr;
  const char* kinds = "";  ///< names of the messages that it carries, for errors
};

/// Returns the name, for errors, of the parameter that holds a neighbour's address.
inline const char* AddressField(NodeId neighbour) {
  return neighbour == kServerNode ? "server" : "neighbours";
}

/// A peer's streams to its neighbours: who has joined, what they have sent, who is lost. Calls come from one
/// thread; every stream has two threads of its own.
class PeerLinks {
 public:
  /// Listens, unless params.listen is empty; then nobody may dial this peer. `params` must outlive the links.
  static absl::StatusOr<std::unique_ptr<PeerLinks>> Open(const PeerParams& params,
                                                         const LinkProtocol& protocol);

  /// Cuts off the streams that are still open.
  ~PeerLinks();

  const std::string& address() const { return address_; }

  /// Connects to neighbours, and waits until all of them have joined.
  absl::Status Join();

  /// Sends one packet to each neighbour that is neither lost nor finished. `last`: this peer is finished.
  void Send(Slot slot, const std::map<NodeId, std::vector<Message>>& messages, bool last = false);

  /// Waits for the slot's packets of all neighbours that are neither lost nor finished. Returns their
  /// messages, in (from, seq) order. Slots must come one after the other.
  absl::StatusOr<std::vector<Message>> Receive(Slot slot);

  /// Ends the streams, after all is sent and received.
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
    bool closed = false;    // its stream has ended
    bool finished = false;  // its last packet has arrived
    std::optional<LostNeighbour> lost;
    std::map<Slot, std::vector<Message>> packets;  // packets not yet taken
    std::vector<Message> partial;                  // messages of the slot after `complete`
    // The last slot whose packet has arrived. Before LinkProtocol::first: none.
    Slot complete = 0;
    std::optional<Seq> last_seq;
    Clock::time_point heard;
    BasicOutbox<v1::ToPeer> outbox;
    std::function<void()> cancel;  // empty if there is no stream
  };

  PeerLinks(const PeerParams& params, const LinkProtocol& protocol);

  void Dial(Link& link);
  absl::StatusOr<Link*> Admit(const v1::ToPeer& first, std::function<void()> cancel);
  template <class Stream>
  absl::Status Converse(Link& link, Stream& stream);
  absl::Status Take(Link& link, const v1::ToPeer& message);
  absl::Status TakePacket(Link& link, const v1::Packet& packet);

  // The functions below require that mutex_ is held.
  void Welcome(Link& link, std::function<void()> cancel);
  void Lose(Link& link, const std::string& why);
  void Fail(absl::Status why);
  void Cut();
  void Close(Link& link);
  absl::Status Wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done, Slot awaited,
                    Clock::time_point deadline);
  void AwaitClosing(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds grace);

  const PeerParams& params_;
  const LinkProtocol protocol_;
  std::string address_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<NodeId, std::unique_ptr<Link>> links_;
  bool begun_ = false;
  bool finishing_ = false;    // a neighbour that ends now is not missed
  bool never_began_ = false;  // a node that is not a neighbour is missing
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
