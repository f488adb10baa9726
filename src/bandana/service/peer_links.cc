#include "bandana/service/peer_links.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/channel.h"
#include "bandana/service/codec.h"
#include "bandana/service/protocol.h"
#include "bandana/service/spec_digest.h"
#include "bandana/service/to_chrono.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.grpc.pb.h"

namespace bandana::service {
namespace {

using ClientStream = grpc::ClientReaderWriter<v1::ToPeer, v1::ToPeer>;
using ServerStream = grpc::ServerReaderWriter<v1::ToPeer, v1::ToPeer>;

constexpr std::size_t kPacketBytes = 1 << 20;  // a slot with more bytes continues in another packet

// A year stands for an infinite duration. It does not overflow when it is added to the current time.
std::string NameOf(NodeId neighbour) {
  return neighbour == kServerNode ? "server" : fmt::format("neighbour {}", neighbour.value);
}

absl::Status CheckHello(const v1::PeerHello& hello, const PeerParams& params) {
  if (hello.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        fmt::format("this peer uses version {} of the protocol, but its neighbour uses version {}",
                    hello.protocol_version(), kProtocolVersion));
  }
  if (hello.spec_digest() != params.spec_digest) {
    return OtherSpec(hello.spec_digest(), params.spec_digest, "peer", "neighbour");
  }
  if (NodeId{hello.to()} != params.self) {
    return absl::FailedPreconditionError(
        fmt::format("this is peer {}, not peer {}", params.self.value, hello.to()));
  }
  return absl::OkStatus();
}

}  // namespace

class PeerLinks::Service final : public v1::Peers::Service {
 public:
  explicit Service(PeerLinks& links) : links_(links) {}

  grpc::Status Talk(grpc::ServerContext* context, ServerStream* stream) override {
    v1::ToPeer first;
    if (!stream->Read(&first)) return {grpc::StatusCode::CANCELLED, "a peer must say hello first"};
    const absl::StatusOr<Link*> link = links_.Admit(first, [context] { context->TryCancel(); });
    if (!link.ok()) return ToGrpc(link.status());
    const absl::Status status = links_.Converse(**link, *stream);
    const std::lock_guard lock(links_.mutex_);
    links_.Close(**link);
    return ToGrpc(status);
  }

 private:
  PeerLinks& links_;
};

PeerLinks::PeerLinks(const PeerParams& params, const LinkProtocol& protocol)
    : params_(params), protocol_(protocol), cut_on_stop_(params.stop, [this] {
        const std::lock_guard lock(mutex_);
        Cut();
      }) {
  for (const auto& [id, address] : params.neighbours) {
    links_[id] = std::make_unique<Link>();
    links_[id]->id = id;
    links_[id]->complete = protocol.first - 1;
  }
}

absl::StatusOr<std::unique_ptr<PeerLinks>> PeerLinks::Open(const PeerParams& params,
                                                           const LinkProtocol& protocol) {
  std::unique_ptr<PeerLinks> links(new PeerLinks(params, protocol));
  if (params.listen.empty()) return links;
  links->service_ = std::make_unique<Service>(*links);
  BANDANA_ASSIGN_OR_RETURN(links->server_, OpenServer(params.listen, *links->service_, links->address_));
  return links;
}

PeerLinks::~PeerLinks() {
  {
    const std::lock_guard lock(mutex_);
    Cut();
  }
  for (std::thread& thread : dialing_) thread.join();
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

absl::Status PeerLinks::Join() {
  for (const auto& [id, link] : links_) {
    if (Dials(params_.self, id)) dialing_.emplace_back([this, to = link.get()] { Dial(*to); });
  }
  std::unique_lock lock(mutex_);
  const auto all_here = [&] {
    return std::all_of(links_.begin(), links_.end(), [](const auto& each) { return each.second->joined; });
  };
  absl::Status status = Wait(lock, all_here, 0, Clock::now() + ToChrono(params_.connect_timeout));
  if (absl::IsDeadlineExceeded(status)) {
    std::string missing;
    for (const auto& [id, link] : links_) {
      if (!link->joined) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", NameOf(id));
    }
    Fail(absl::UnavailableError(
        fmt::format("{} did not connect within {}", missing, absl::FormatDuration(params_.connect_timeout))));
    return failure_;
  }
  begun_ = status.ok();
  return status;
}

void PeerLinks::Dial(Link& link) {
  const Destination to{"peer", NameOf(link.id), params_.neighbours.at(link.id), params_.connect_timeout,
                       ending_.get_token()};
  const auto fail = [&](absl::Status why) {
    const std::lock_guard lock(mutex_);
    Fail(std::move(why));
    Close(link);
  };
  const absl::StatusOr<Address> address = ParseLoopback(AddressField(link.id), to.address);
  if (!address.ok()) return fail(address.status());
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(*address);
  if (const absl::Status status = WaitForConnection(*channel, to); !status.ok()) return fail(status);

  grpc::ClientContext context;
  {
    const std::lock_guard lock(mutex_);
    link.cancel = [&context] { context.TryCancel(); };
    if (ending_.stop_requested()) link.cancel();
  }
  const std::unique_ptr<ClientStream> stream = v1::Peers::NewStub(channel)->Talk(&context);
  v1::ToPeer hello;
  hello.mutable_hello()->set_protocol_version(kProtocolVersion);
  hello.mutable_hello()->set_from(params_.self.value);
  hello.mutable_hello()->set_to(link.id.value);
  hello.mutable_hello()->set_spec_digest(params_.spec_digest);
  stream->Write(hello);
  v1::ToPeer answer;
  if (!stream->Read(&answer)) return fail(WhyEnded(stream->Finish(), to));
  if (answer.welcome().protocol_version() != kProtocolVersion) {
    context.TryCancel();
    stream->Finish();
    return fail(absl::InternalError(fmt::format("the {} did not say welcome", to.host)));
  }
  {
    const std::lock_guard lock(mutex_);
    bytes_out_ += hello.ByteSizeLong();
    bytes_in_ += answer.ByteSizeLong();
    Welcome(link, link.cancel);
  }
  if (!Converse(link, *stream).ok()) context.TryCancel();
  stream->Finish();
  const std::lock_guard lock(mutex_);
  Close(link);
}

absl::StatusOr<PeerLinks::Link*> PeerLinks::Admit(const v1::ToPeer& first, std::function<void()> cancel) {
  if (!first.has_hello()) return absl::InvalidArgumentError("a peer must say hello first");
  BANDANA_RETURN_IF_ERROR(CheckHello(first.hello(), params_));
  const NodeId from{first.hello().from()};
  const std::lock_guard lock(mutex_);
  if (ending_.stop_requested()) return absl::FailedPreconditionError("the run is over");
  const auto found = links_.find(from);
  if (found == links_.end() || Dials(params_.self, from)) {
    return absl::PermissionDeniedError(
        fmt::format("peer {} has no edge from peer {}", params_.self.value, from.value));
  }
  Link& link = *found->second;
  if (link.joined) return absl::AlreadyExistsError(fmt::format("peer {} has joined already", from.value));
  v1::ToPeer welcome;
  welcome.mutable_welcome()->set_protocol_version(kProtocolVersion);
  link.outbox.Push(std::move(welcome));
  bytes_in_ += first.ByteSizeLong();
  Welcome(link, std::move(cancel));
  return &link;
}

void PeerLinks::Welcome(Link& link, std::function<void()> cancel) {
  link.joined = true;
  link.heard = Clock::now();
  link.cancel = std::move(cancel);
  if (ending_.stop_requested()) link.cancel();
  changed_.notify_all();
}

// This thread reads, and another one writes.
template <class Stream>
absl::Status PeerLinks::Converse(Link& link, Stream& stream) {
  std::thread writer([&] {
    while (const std::optional<v1::ToPeer> message = link.outbox.Pop()) {
      if (!stream.Write(*message)) return;
      const std::lock_guard lock(mutex_);
      bytes_out_ += message->ByteSizeLong();
    }
    if constexpr (requires { stream.WritesDone(); }) stream.WritesDone();
  });
  absl::Status status;
  for (v1::ToPeer message; status.ok() && stream.Read(&message);) status = Take(link, message);
  {
    const std::lock_guard lock(mutex_);
    if (!link.finished && !finishing_ && link.complete < protocol_.last) {
      Lose(link, status.ok() ? "its stream ended" : std::string(status.message()));
    }
  }
  writer.join();
  return status;
}

absl::Status PeerLinks::Take(Link& link, const v1::ToPeer& message) {
  {
    const std::lock_guard lock(mutex_);
    bytes_in_ += message.ByteSizeLong();
    link.heard = Clock::now();
  }
  if (message.has_alive()) return absl::OkStatus();
  if (message.has_packet()) return TakePacket(link, message.packet());
  if (!message.has_leave()) return absl::InvalidArgumentError("it sent something other than packets");
  if (message.leave().never_began()) {
    const std::lock_guard lock(mutex_);
    never_began_ = true;
    Fail(
        absl::UnavailableError(fmt::format("{} says that the run has not begun ({}); its own report says why",
                                           NameOf(link.id), message.leave().reason())));
  }
  return absl::AbortedError(
      fmt::format("it cannot continue ({}); its own report says why", message.leave().reason()));
}

absl::Status PeerLinks::TakePacket(Link& link, const v1::Packet& packet) {
  std::vector<Message> messages;
  messages.reserve(static_cast<std::size_t>(packet.messages_size()));
  for (const v1::Message& encoded : packet.messages()) {
    BANDANA_ASSIGN_OR_RETURN(Message message, Decode(encoded, params_.nodes));
    if (message.from != link.id || message.slot != packet.slot() || !protocol_.carries(message.body)) {
      return absl::InvalidArgumentError(
          fmt::format("it sent something other than its own {}", protocol_.kinds));
    }
    messages.push_back(std::move(message));
  }
  const std::lock_guard lock(mutex_);
  if (packet.slot() != link.complete + 1 || packet.slot() > protocol_.last || link.finished) {
    return absl::InvalidArgumentError(
        fmt::format("it sent the packet of slot {} after that of slot {}", packet.slot(), link.complete));
  }
  for (Message& message : messages) {
    if (link.last_seq.has_value() && message.seq <= *link.last_seq) {
      return absl::InvalidArgumentError("it sent messages out of order");
    }
    link.last_seq = message.seq;
    link.partial.push_back(std::move(message));
  }
  if (!packet.more()) {
    link.packets[++link.complete] = std::exchange(link.partial, {});
    link.finished = packet.last();
    if (link.finished) link.outbox.Close();  // this lets the neighbour go
    changed_.notify_all();
  }
  return absl::OkStatus();
}

void PeerLinks::Send(Slot slot, const std::map<NodeId, std::vector<Message>>& messages, bool last) {
  if (last) {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  for (const auto& [id, link] : links_) {
    v1::ToPeer packet;
    packet.mutable_packet()->set_slot(slot);
    std::size_t bytes = 0;
    const auto found = messages.find(id);
    for (std::size_t i = 0; found != messages.end() && i < found->second.size(); ++i) {
      if (bytes >= kPacketBytes) {
        v1::ToPeer part = packet;
        part.mutable_packet()->set_more(true);
        link->outbox.Push(std::move(part));
        packet.mutable_packet()->clear_messages();
        bytes = 0;
      }
      v1::Message& added = *packet.mutable_packet()->add_messages();
      Encode(found->second[i], added);
      bytes += added.ByteSizeLong();
    }
    packet.mutable_packet()->set_last(last);
    link->outbox.Push(std::move(packet));  // dropped if the neighbour is lost or finished
  }
}

absl::StatusOr<std::vector<Message>> PeerLinks::Receive(Slot slot) {
  std::unique_lock lock(mutex_);
  const auto here = [&](const auto& each) {
    return each.second->lost || each.second->finished || each.second->complete >= slot;
  };
  const auto all_here = [&] { return std::all_of(links_.begin(), links_.end(), here); };
  BANDANA_RETURN_IF_ERROR(Wait(lock, all_here, slot, Clock::time_point::max()));
  std::vector<Message> messages;
  for (const auto& [id, link] : links_) {
    auto packet = link->packets.extract(slot);
    if (packet.empty()) continue;
    std::move(packet.mapped().begin(), packet.mapped().end(), std::back_inserter(messages));
  }
  return messages;
}

// Waits until `done`. While it waits, it tells the neighbours that it is alive, and gives up neighbours that
// do not. So a neighbour that only waits for a third one is not given up.
absl::Status PeerLinks::Wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done,
                             Slot awaited, Clock::time_point deadline) {
  const auto silence = ToChrono(params_.silence_timeout);
  const auto over = [&] { return !failure_.ok() || done(); };
  while (
      !changed_.wait_until(lock, ending_.get_token(), std::min(deadline, Clock::now() + silence / 4), over)) {
    if (ending_.stop_requested()) return absl::CancelledError("the peer was stopped");
    if (Clock::now() >= deadline) return absl::DeadlineExceededError("");
    for (const auto& [id, link] : links_) {
      if (!link->joined || link->lost || link->finished) continue;
      if (link->complete < awaited && Clock::now() - link->heard > silence) {
        Lose(*link, fmt::format("it was silent for {}", absl::FormatDuration(params_.silence_timeout)));
        if (link->cancel) link->cancel();
        continue;
      }
      v1::ToPeer alive;
      alive.mutable_alive();
      link->outbox.Push(std::move(alive));
    }
  }
  return params_.stop.stop_requested() ? absl::CancelledError("the peer was stopped") : failure_;
}

void PeerLinks::Lose(Link& link, const std::string& why) {
  if (link.lost) return;
  link.lost = LostNeighbour{link.id, link.complete + 1, why};
  link.outbox.Discard();
  if (!begun_) {
    Fail(absl::UnavailableError(fmt::format("{} was lost before the run began: {}", NameOf(link.id), why)));
  }
  changed_.notify_all();
}

void PeerLinks::Fail(absl::Status why) {
  if (!begun_) never_began_ = true;
  if (failure_.ok()) failure_ = std::move(why);
  changed_.notify_all();
}

void PeerLinks::Close(Link& link) {
  link.cancel = nullptr;
  link.closed = true;
  changed_.notify_all();
}

void PeerLinks::Cut() {
  ending_.request_stop();
  for (const auto& [id, link] : links_) {
    if (link->cancel) link->cancel();
    link->outbox.Discard();
  }
  changed_.notify_all();
}

void PeerLinks::AwaitClosing(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds grace) {
  changed_.wait_for(lock, ending_.get_token(), grace, [&] {
    return std::all_of(links_.begin(), links_.end(),
                       [](const auto& each) { return each.second->closed || !each.second->joined; });
  });
  Cut();
}

void PeerLinks::Finish() {
  std::unique_lock lock(mutex_);
  finishing_ = true;
  for (const auto& [id, link] : links_) link->outbox.Close();
  AwaitClosing(lock, std::chrono::seconds(5));
}

void PeerLinks::Leave(const absl::Status& why) {
  std::unique_lock lock(mutex_);
  for (const auto& [id, link] : links_) {
    if (!link->joined) continue;
    v1::ToPeer leave;
    leave.mutable_leave()->set_reason(std::string(absl::StatusCodeToString(why.code())));
    leave.mutable_leave()->set_never_began(never_began_);
    link->outbox.Push(std::move(leave));
    link->outbox.Close();
  }
  AwaitClosing(lock, std::chrono::milliseconds(500));
}

std::vector<LostNeighbour> PeerLinks::lost() const {
  const std::lock_guard lock(mutex_);
  std::vector<LostNeighbour> lost;
  for (const auto& [id, link] : links_) {
    if (link->lost) lost.push_back(*link->lost);
  }
  std::sort(lost.begin(), lost.end(), [](const LostNeighbour& a, const LostNeighbour& b) {
    return std::tie(a.round, a.node) < std::tie(b.round, b.node);
  });
  return lost;
}

std::uint64_t PeerLinks::bytes_in() const {
  const std::lock_guard lock(mutex_);
  return bytes_in_;
}

std::uint64_t PeerLinks::bytes_out() const {
  const std::lock_guard lock(mutex_);
  return bytes_out_;
}

}  // namespace bandana::service
