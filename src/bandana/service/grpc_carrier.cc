#include "bandana/service/grpc_carrier.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "bandana/core/status.h"
#include "bandana/service/address.h"
#include "bandana/service/channel.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/link.grpc.pb.h"

namespace bandana::service {
namespace {

using ServerStream = grpc::ServerReaderWriter<v1::Frame, v1::Frame>;

constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
constexpr absl::Duration kLongestPause = absl::Seconds(1);
constexpr std::chrono::seconds kGrace{2};  // for the other end to hear the last frame

// One party alone may not use up all openings.
constexpr double kShareOfOpenings = 0.25;

// The answer of a process that admits a connection.
constexpr char kAdmitted[] = "bandana-admitted";

std::size_t SizeOf(const GrpcCarrier::Event& event) { return 64 + event.frame.data().body().size(); }

}  // namespace

// One of its threads reads, and another one writes.
struct GrpcCarrier::Connection {
  Connection(const Limits& limits, absl::Time now)
      : since(now), calls(limits.calls, limits.calls, now), bytes(limits.bytes, limits.bytes, now) {}

  ConnectionId id = 0;
  std::string link;                     // empty: the other end has opened it
  std::function<void()> cancel;         // ends the stream at once
  std::function<absl::Status()> check;  // checks the other end's certificate again; null: it has none
  absl::Time since;
  TokenBucket calls;  // of the thread that reads
  TokenBucket bytes;
  bool was_slowed = false;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<v1::Frame> outbox;
  bool closing = false;  // nothing more is sent, and what arrives is dropped
  bool ended = false;    // the reader is done
  absl::Time closing_since = absl::InfiniteFuture();
  std::string why;  // this end has ended it

  void Push(v1::Frame frame, bool last) {
    const std::lock_guard lock(mutex);
    if (closing) return;
    outbox.push_back(std::move(frame));
    if (last) BeginToClose();
    changed.notify_all();
  }

  // Ends it without what has not been sent yet. The other end may try again.
  void End(const absl::Status& status) {
    const std::lock_guard lock(mutex);
    if (closing) return;
    why = std::string(status.message());
    outbox.clear();
    v1::Bye& bye = *outbox.emplace_back().mutable_bye();
    bye.set_code(static_cast<int>(status.code()));
    bye.set_reason(why);
    BeginToClose();
    changed.notify_all();
  }

  void BeginToClose() {
    closing = true;
    closing_since = absl::Now();
  }

  bool is_closing() {
    const std::lock_guard lock(mutex);
    return closing;
  }
};

class GrpcCarrier::Service final : public v1::Links::Service {
 public:
  explicit Service(GrpcCarrier& transport) : transport_(transport) {}

  grpc::Status Connect(grpc::ServerContext* context, ServerStream* stream) override {
    std::string party;
    std::function<absl::Status()> check;
    if (const auto& keys = transport_.params_.keys; keys != nullptr) {
      check = [keys, auth = context->auth_context()] { return keys->PartyOf(*auth).status(); };
      absl::StatusOr<std::string> name = keys->PartyOf(*context->auth_context());
      if (!name.ok()) return Refuse(name.status());
      party = *std::move(name);
    }
    if (absl::Status admitted = transport_.MayOpen(party); !admitted.ok()) return Refuse(admitted);
    const std::shared_ptr<Connection> connection =
        transport_.Add("", [context] { context->TryCancel(); }, std::move(check));
    if (connection != nullptr) {
      context->AddInitialMetadata(kAdmitted, "");
      stream->SendInitialMetadata();
      transport_.Converse(*connection, *stream, party);
      transport_.Remove(*connection, "its stream ended");
    }
    transport_.Leave(party);
    return grpc::Status::OK;
  }

 private:
  grpc::Status Refuse(const absl::Status& why) {
    transport_.tell_refused_("a connection was refused: " + std::string(why.message()));
    return ToGrpc(why);
  }

  GrpcCarrier& transport_;
};

GrpcCarrier::GrpcCarrier(Params params, const Machine& machine)
    : params_(std::move(params)),
      machine_(machine),
      tell_refused_([this](const std::string& why) {
        if (params_.on_event) params_.on_event({LogEvent::Level::kWarn, "refused", "", why});
      }),
      openings_(params_.limits.openings, 2 * params_.limits.openings, absl::Now()) {}

absl::StatusOr<std::unique_ptr<GrpcCarrier>> GrpcCarrier::Open(Params params, const Machine& machine) {
  std::unique_ptr<GrpcCarrier> transport(new GrpcCarrier(std::move(params), machine));
  for (const auto& [link, address] : transport->params_.dial) {
    BANDANA_RETURN_IF_ERROR(ParseAddressFor(transport->params_.keys.get(), link, address).status());
  }
  if (!transport->params_.listen.empty()) {
    transport->service_ = std::make_unique<Service>(*transport);
    BANDANA_ASSIGN_OR_RETURN(
        transport->server_, OpenServer(transport->params_.listen, transport->params_.keys.get(),
                                       transport->params_.limits, *transport->service_, transport->address_));
  }
  transport->watching_ = std::thread([self = transport.get()] { self->Watch(); });
  for (const auto& [link, address] : transport->params_.dial) {
    transport->dialing_.emplace_back([self = transport.get(), link, address] { self->Dial(link, address); });
  }
  return transport;
}

GrpcCarrier::~GrpcCarrier() { Shutdown(); }

void GrpcCarrier::Shutdown() {
  std::vector<std::shared_ptr<Connection>> open;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const auto& [id, connection] : connections_) open.push_back(connection);
    for (const auto& [link, cancel] : cancels_) {
      const bool is_open =
          std::any_of(open.begin(), open.end(), [&](const auto& each) { return each->link == link; });
      if (!is_open) cancel();
    }
    changed_.notify_all();
  }
  for (const std::shared_ptr<Connection>& connection : open) {
    const std::lock_guard lock(connection->mutex);
    connection->BeginToClose();
    connection->changed.notify_all();
  }
  {
    // Where the network is cut, a write may take longer than the process has.
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 2 * kGrace, [&] { return connections_.empty(); });
    for (const auto& [id, connection] : connections_) connection->cancel();
  }
  for (std::thread& thread : dialing_) thread.join();
  dialing_.clear();
  if (watching_.joinable()) watching_.join();
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + kGrace);
  server_.reset();
}

// Counts one more connection that another process has opened, or says why there may not be one now. Without
// certificates `party` is empty, and nobody knows who it is.
absl::Status GrpcCarrier::MayOpen(const std::string& party) {
  const auto refuse = [](const std::string& why) {
    return absl::ResourceExhaustedError(why + ": try again later");
  };
  const Limits& limits = params_.limits;
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  if (closing_) return absl::UnavailableError("this process ends");
  if (accepted_ >= limits.streams) {
    return refuse(fmt::format("there are {} connections, which is the limit", accepted_));
  }
  if (!party.empty()) {
    if (accepted_of_[party] >= limits.streams_per_party) {
      return refuse(fmt::format("{} has {} connections, which is its limit", party, accepted_of_[party]));
    }
    const double own = std::max(1.0, kShareOfOpenings * limits.openings);
    const auto bucket = openings_of_.try_emplace(party, own, 2 * own, now).first;
    if (!bucket->second.Take(now)) return refuse(fmt::format("{} opens connections too fast", party));
  }
  if (!openings_.Take(now)) return refuse("too many connections were opened in the last second");
  ++accepted_;
  ++accepted_of_[party];
  return absl::OkStatus();
}

void GrpcCarrier::Leave(const std::string& party) {
  const std::lock_guard lock(mutex_);
  --accepted_;
  if (--accepted_of_[party] == 0) accepted_of_.erase(party);
}

std::shared_ptr<GrpcCarrier::Connection> GrpcCarrier::Add(std::string link, std::function<void()> cancel,
                                                          std::function<absl::Status()> check) {
  auto connection = std::make_shared<Connection>(params_.limits, absl::Now());
  connection->link = std::move(link);
  connection->cancel = std::move(cancel);
  connection->check = std::move(check);
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return nullptr;
    connection->id = next_++;
    connections_[connection->id] = connection;
  }
  const bool dialed = !connection->link.empty();
  Push({.kind = dialed ? Event::Kind::kDialed : Event::Kind::kAccepted,
        .connection = connection->id,
        .link = connection->link});
  return connection;
}

void GrpcCarrier::Remove(const Connection& connection, std::string why) {
  {
    const std::lock_guard lock(mutex_);
    connections_.erase(connection.id);
    if (!connection.why.empty()) why = connection.why;
    changed_.notify_all();
  }
  Push({.kind = Event::Kind::kDisconnected, .connection = connection.id, .why = std::move(why)});
}

// Waits while too much is waiting, so that a process which sends too fast fills its own buffers. Nothing is
// read in the meantime.
void GrpcCarrier::AwaitRoom() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return closing_ || (events_.size() < params_.most_events && bytes_ < params_.limits.waiting);
  });
}

// Waits until a connection that has sent so many bytes may be read again. gRPC then holds back what the other
// end sends.
void GrpcCarrier::AwaitTurn(Connection& connection, const std::string& link, std::size_t bytes) {
  const absl::Time now = absl::Now();
  const absl::Time turn =
      std::max(connection.calls.Spend(1, now), connection.bytes.Spend(static_cast<double>(bytes), now));
  if (turn <= now) return;
  if (!std::exchange(connection.was_slowed, true) && params_.on_event) {
    params_.on_event(
        {LogEvent::Level::kWarn, "slowed", link, "it sends more per second than the limits allow"});
  }
  std::unique_lock lock(connection.mutex);
  connection.changed.wait_for(lock, absl::ToChronoNanoseconds(turn - now),
                              [&] { return connection.closing; });
}

void GrpcCarrier::Push(Event event) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = SizeOf(event);
  if (closing_) return;
  bytes_ += size;
  events_.push_back(std::move(event));
  changed_.notify_all();
}

std::vector<GrpcCarrier::Event> GrpcCarrier::Wait(absl::Time deadline, std::size_t most) {
  const absl::Duration time = std::min(deadline - absl::Now(), absl::Hours(1));
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(time), [&] { return woken_ || !events_.empty(); });
  woken_ = false;
  std::vector<Event> events;
  while (!events_.empty() && events.size() < most) {
    bytes_ -= SizeOf(events_.front());
    events.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  changed_.notify_all();
  return events;
}

void GrpcCarrier::Wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

void GrpcCarrier::Send(ConnectionId id, v1::Frame frame) {
  const std::lock_guard lock(mutex_);
  const auto it = connections_.find(id);
  if (it != connections_.end()) it->second->Push(std::move(frame), false);
}

void GrpcCarrier::Close(ConnectionId id, v1::Frame frame) {
  const std::lock_guard lock(mutex_);
  const auto it = connections_.find(id);
  if (it != connections_.end()) it->second->Push(std::move(frame), true);
}

template <class Stream>
void GrpcCarrier::Converse(Connection& connection, Stream& stream, const std::string& party) {
  std::thread writer([&] {
    std::unique_lock lock(connection.mutex);
    while (true) {
      connection.changed.wait(
          lock, [&] { return connection.closing || connection.ended || !connection.outbox.empty(); });
      if (connection.ended || connection.outbox.empty()) break;
      const v1::Frame frame = std::move(connection.outbox.front());
      connection.outbox.pop_front();
      lock.unlock();
      const bool written = stream.Write(frame);
      lock.lock();
      if (!written) break;
    }
    connection.changed.wait_for(lock, kGrace, [&] { return connection.ended; });
    connection.cancel();
  });
  std::string link = connection.link;  // of an accepted connection: from its first frame on
  Event event{.kind = Event::Kind::kFrame, .connection = connection.id, .party = party};
  for (v1::Frame frame; AwaitRoom(), stream.Read(&frame);) {
    if (connection.is_closing() && !frame.has_bye()) continue;
    const std::size_t size = frame.ByteSizeLong();
    if (frame.has_opening() && link.empty()) link = frame.opening().self();
    event.input = std::unique_ptr<Machine::Input>();
    if (frame.has_data()) event.input = machine_.Read(link, frame.data().body());
    const bool last = frame.has_bye();
    event.frame = std::move(frame);
    Push(std::move(event));
    if (last) break;
    AwaitTurn(connection, link, size);
    event = {.kind = Event::Kind::kFrame, .connection = connection.id, .party = party};
    frame.Clear();
  }
  {
    const std::lock_guard lock(connection.mutex);
    connection.ended = true;
    connection.changed.notify_all();
  }
  writer.join();
}

// Returns false if the transport is closing.
bool GrpcCarrier::Sleep(absl::Duration time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, absl::ToChronoNanoseconds(time), [&] { return closing_; });
}

void GrpcCarrier::Dial(const std::string& link, const std::string& address) {
  const Address where = *ParseAddressFor(params_.keys.get(), link, address);
  const auto make_channel = [&] {
    return MakeChannel(
        where, params_.keys == nullptr ? grpc::InsecureChannelCredentials() : params_.keys->ForChannel(link),
        params_.limits);
  };
  std::shared_ptr<grpc::Channel> channel = make_channel();
  absl::Duration pause = kFirstPause;
  do {
    const std::unique_ptr<v1::Links::Stub> stub = v1::Links::NewStub(channel);
    grpc::ClientContext context;
    const auto cancel = [&context] { context.TryCancel(); };
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      cancels_[link] = cancel;
    }
    const std::unique_ptr<grpc::ClientReaderWriter<v1::Frame, v1::Frame>> stream = stub->Connect(&context);
    stream->WaitForInitialMetadata();
    const bool reached = context.GetServerInitialMetadata().contains(kAdmitted);
    std::shared_ptr<Connection> connection;
    if (reached) {
      std::function<absl::Status()> check;
      if (params_.keys != nullptr) {
        check = [keys = params_.keys, auth = context.auth_context(), link] {
          return keys->CheckPartner(*auth, link);
        };
      }
      connection = Add(link, cancel, std::move(check));
    }
    if (connection != nullptr) Converse(*connection, *stream, "");
    if (reached) context.TryCancel();
    const grpc::Status status = stream->Finish();
    {
      const std::lock_guard lock(mutex_);
      cancels_.erase(link);
    }
    const bool is_cancelled = status.ok() || status.error_code() == grpc::StatusCode::CANCELLED;
    const std::string why = is_cancelled ? "its stream ended" : status.error_message();
    if (connection != nullptr) {
      Remove(*connection, why);
      pause = kFirstPause;
      channel = make_channel();  // both ends show their certificates again, which may be new ones
    } else {
      Push({.kind = Event::Kind::kNotReached, .link = link, .why = why});
      pause = std::min(2 * pause, kLongestPause);
      const bool is_distrusted = status.error_code() == grpc::StatusCode::PERMISSION_DENIED ||
                                 status.error_code() == grpc::StatusCode::UNAUTHENTICATED;
      if (is_distrusted) channel = make_channel();
    }
  } while (Pause(pause, *channel));
}

void GrpcCarrier::Watch() {
  while (Sleep(params_.recheck)) CheckConnections(absl::Now());
}

// Ends connections that may not go on: those whose certificate is not accepted any more, those of an old
// certificate of this end, and those that should have ended long ago.
void GrpcCarrier::CheckConnections(absl::Time now) {
  std::vector<std::shared_ptr<Connection>> open;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, connection] : connections_) open.push_back(connection);
  }
  const bool renews = params_.renews && params_.keys != nullptr;
  const absl::Time in_use_since = renews ? params_.keys->in_use_since() : absl::InfinitePast();
  for (const std::shared_ptr<Connection>& connection : open) {
    if (const absl::Status status = connection->check ? connection->check() : absl::OkStatus();
        !status.ok()) {
      connection->End(status);
    } else if (connection->since < in_use_since && in_use_since <= now) {
      connection->End(absl::UnavailableError("the connection is opened again with a new certificate"));
    }
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [id, connection] : connections_) {
    const std::lock_guard inner(connection->mutex);
    if (connection->closing_since + 2 * absl::FromChrono(kGrace) < now) connection->cancel();
  }
}

// A channel makes progress only while a thread waits for it, so this one waits for the channel while it
// pauses. Returns false if the carrier is closing.
bool GrpcCarrier::Pause(absl::Duration pause, grpc::Channel& channel) {
  if (!Sleep(std::min(pause, kFirstPause))) return false;
  const absl::Time end = absl::Now() + pause;
  while (absl::Now() < end) {
    if (channel.WaitForConnected(absl::ToChronoTime(absl::Now() + kFirstPause))) break;
    if (!Sleep(absl::ZeroDuration())) return false;
  }
  return true;
}

}  // namespace bandana::service
