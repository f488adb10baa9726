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

// The answer of a process that admits a connection.
constexpr char kAdmitted[] = "bandana-admitted";

std::size_t SizeOf(const GrpcCarrier::Event& event) { return 64 + event.frame.data().body().size(); }

}  // namespace

// One of its threads reads, and another one writes.
struct GrpcCarrier::Connection {
  ConnectionId id = 0;
  std::string link;              // empty: the other end has opened it
  std::function<void()> cancel;  // ends the stream at once

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<v1::Frame> outbox;
  bool closing = false;  // nothing more is sent
  bool ended = false;    // the reader is done

  void Push(v1::Frame frame, bool last) {
    const std::lock_guard lock(mutex);
    if (closing) return;
    outbox.push_back(std::move(frame));
    closing = last;
    changed.notify_all();
  }
};

class GrpcCarrier::Service final : public v1::Links::Service {
 public:
  explicit Service(GrpcCarrier& transport) : transport_(transport) {}

  grpc::Status Connect(grpc::ServerContext* context, ServerStream* stream) override {
    std::string party;
    if (transport_.params_.keys != nullptr) {
      absl::StatusOr<std::string> name = transport_.params_.keys->PartyOf(*context->auth_context());
      if (!name.ok()) return ToGrpc(name.status());
      party = *std::move(name);
    }
    if (!transport_.MayOpen()) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many connections: try again later"};
    }
    const std::shared_ptr<Connection> connection = transport_.Add("", [context] { context->TryCancel(); });
    if (connection != nullptr) {
      context->AddInitialMetadata(kAdmitted, "");
      stream->SendInitialMetadata();
      transport_.Converse(*connection, *stream, party);
      transport_.Remove(*connection, "its stream ended");
    }
    const std::lock_guard lock(transport_.mutex_);
    --transport_.accepted_;
    return grpc::Status::OK;
  }

 private:
  GrpcCarrier& transport_;
};

GrpcCarrier::GrpcCarrier(Params params, const Machine& machine)
    : params_(std::move(params)), machine_(machine) {}

absl::StatusOr<std::unique_ptr<GrpcCarrier>> GrpcCarrier::Open(Params params, const Machine& machine) {
  std::unique_ptr<GrpcCarrier> transport(new GrpcCarrier(std::move(params), machine));
  transport->openings_ = 2 * transport->params_.most_openings;
  transport->openings_at_ = absl::Now();
  for (const auto& [link, address] : transport->params_.dial) {
    BANDANA_RETURN_IF_ERROR(ParseAddressFor(transport->params_.keys.get(), link, address).status());
  }
  if (!transport->params_.listen.empty()) {
    transport->service_ = std::make_unique<Service>(*transport);
    BANDANA_ASSIGN_OR_RETURN(transport->server_,
                             OpenServer(transport->params_.listen, transport->params_.keys.get(),
                                        *transport->service_, transport->address_));
  }
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
    connection->closing = true;
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
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + kGrace);
  server_.reset();
}

// Returns whether another process may open a connection now.
bool GrpcCarrier::MayOpen() {
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  openings_ = std::min(2 * params_.most_openings,
                       openings_ + params_.most_openings * absl::ToDoubleSeconds(now - openings_at_));
  openings_at_ = now;
  if (closing_ || accepted_ >= params_.most_connections || openings_ < 1) return false;
  ++accepted_;
  --openings_;
  return true;
}

std::shared_ptr<GrpcCarrier::Connection> GrpcCarrier::Add(std::string link, std::function<void()> cancel) {
  auto connection = std::make_shared<Connection>();
  connection->link = std::move(link);
  connection->cancel = std::move(cancel);
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
    changed_.notify_all();
  }
  Push({.kind = Event::Kind::kDisconnected, .connection = connection.id, .why = std::move(why)});
}

// Waits while too much is waiting, so that a process which sends too fast fills its own buffers. Only frames
// with messages wait: the others are few.
void GrpcCarrier::Push(Event event) {
  std::unique_lock lock(mutex_);
  const std::size_t size = SizeOf(event);
  if (event.frame.has_data()) {
    changed_.wait(lock, [&] {
      return closing_ || (events_.size() < params_.most_events && bytes_ < params_.most_bytes);
    });
  }
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
  for (v1::Frame frame; stream.Read(&frame);) {
    if (frame.has_opening() && link.empty()) link = frame.opening().self();
    event.input = std::unique_ptr<Machine::Input>();
    if (frame.has_data()) event.input = machine_.Read(link, frame.data().body());
    const bool last = frame.has_bye();
    event.frame = std::move(frame);
    Push(std::move(event));
    if (last) break;
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
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(
      where, params_.keys == nullptr ? grpc::InsecureChannelCredentials() : params_.keys->ForChannel(link));
  const std::unique_ptr<v1::Links::Stub> stub = v1::Links::NewStub(channel);
  absl::Duration pause = kFirstPause;
  do {
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
    if (reached) connection = Add(link, cancel);
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
    } else {
      Push({.kind = Event::Kind::kNotReached, .link = link, .why = why});
      pause = std::min(2 * pause, kLongestPause);
    }
  } while (Pause(pause, *channel));
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
