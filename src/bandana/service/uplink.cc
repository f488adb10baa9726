#include "bandana/service/uplink.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/address.h"
#include "bandana/service/channel.h"
#include "bandana/service/protocol.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.grpc.pb.h"

namespace bandana::service {
namespace {

using UplinkStream = grpc::ClientReaderWriter<v1::FromAgent, v1::ToAgent>;

}  // namespace

struct Uplink::Streaming {
  Destination to;
  grpc::ClientContext context;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<UplinkStream> stream;
  std::mutex writing;
  bool half_closed = false;
  std::optional<absl::Status> end;
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> bytes_in = 0;
  std::atomic<std::uint64_t> bytes_out = 0;
  std::optional<std::stop_callback<std::function<void()>>> cancel_on_stop;
};

Uplink::Uplink(std::unique_ptr<Streaming> streaming) : streaming_(std::move(streaming)) {}

Uplink::~Uplink() {
  if (streaming_->end.has_value()) return;
  Cancel();
  (void)Close();
}

absl::StatusOr<std::unique_ptr<Uplink>> Uplink::Connect(const Destination& to) {
  BANDANA_ASSIGN_OR_RETURN(const Address address, ParseLoopback(to.host, to.address));
  auto streaming = std::make_unique<Streaming>();
  streaming->to = to;
  streaming->channel = MakeChannel(address);
  BANDANA_RETURN_IF_ERROR(WaitForConnection(*streaming->channel, to));
  streaming->stream = v1::Federation::NewStub(streaming->channel)->Join(&streaming->context);
  streaming->cancel_on_stop.emplace(to.stop, [context = &streaming->context] { context->TryCancel(); });
  return std::unique_ptr<Uplink>(new Uplink(std::move(streaming)));
}

absl::StatusOr<v1::Welcome> Uplink::Greet(v1::Hello hello) {
  v1::FromAgent first;
  hello.set_protocol_version(kProtocolVersion);
  *first.mutable_hello() = std::move(hello);
  Write(first);
  v1::ToAgent answer;
  if (!Read(answer)) return Close();
  if (answer.welcome().protocol_version() != kProtocolVersion) {
    return absl::InternalError(fmt::format("the {} did not say welcome", streaming_->to.host));
  }
  return answer.welcome();
}

bool Uplink::Read(v1::ToAgent& message) {
  if (!streaming_->stream->Read(&message)) {
    streaming_->over = true;
    return false;
  }
  streaming_->bytes_in += message.ByteSizeLong();
  return true;
}

bool Uplink::Write(const v1::FromAgent& message) {
  const std::lock_guard lock(streaming_->writing);
  streaming_->bytes_out += message.ByteSizeLong();
  if (!streaming_->half_closed && streaming_->stream->Write(message)) return true;
  streaming_->over = true;
  return false;
}

void Uplink::Leave(const std::string& reason) {
  v1::FromAgent leave;
  leave.mutable_leave()->set_reason(reason);
  Write(leave);
}

void Uplink::HalfClose() {
  const std::lock_guard lock(streaming_->writing);
  if (!std::exchange(streaming_->half_closed, true)) streaming_->stream->WritesDone();
}

absl::Status Uplink::Close() {
  if (streaming_->end.has_value()) return *streaming_->end;
  HalfClose();
  for (v1::ToAgent rest; streaming_->stream->Read(&rest);) {
  }
  streaming_->over = true;
  streaming_->end = WhyEnded(streaming_->stream->Finish(), streaming_->to);
  return *streaming_->end;
}

void Uplink::Cancel() { streaming_->context.TryCancel(); }
bool Uplink::over() const { return streaming_->over; }
std::uint64_t Uplink::bytes_in() const { return streaming_->bytes_in; }
std::uint64_t Uplink::bytes_out() const { return streaming_->bytes_out; }

}  // namespace bandana::service
