#include "bandana/service/uplink.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/address.h"
#include "bandana/service/protocol.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.grpc.pb.h"

namespace bandana::service {
namespace {

using Stream = grpc::ClientReaderWriter<v1::FromAgent, v1::ToAgent>;

std::shared_ptr<grpc::Channel> MakeChannel(const Address& host) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // loopback must not leave by a proxy
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection a peer, also in one process
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel(host.ToString(), grpc::InsecureChannelCredentials(), arguments);
}

absl::Status WaitForConnection(grpc::Channel& channel, const UplinkParams& params) {
  const absl::Time deadline = absl::Now() + params.connect_timeout;
  constexpr absl::Duration kSlice = absl::Milliseconds(100);  // how soon a stop is noticed
  while (!channel.WaitForConnected(absl::ToChronoTime(std::min(deadline, absl::Now() + kSlice)))) {
    if (params.stop.stop_requested()) {
      return absl::CancelledError(fmt::format("the {} was stopped while it connected", params.self));
    }
    if (absl::Now() >= deadline) {
      return absl::UnavailableError(fmt::format("no {} at {} after {}", params.host, params.address,
                                                absl::FormatDuration(params.connect_timeout)));
    }
  }
  return absl::OkStatus();
}

// What the end of a stream says.
absl::Status WhyEnded(const grpc::Status& status, const UplinkParams& params) {
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
      return absl::Status(
          code, fmt::format("the {} refused this {}: {}", params.host, params.self, status.error_message()));
    default:
      return absl::UnavailableError(
          fmt::format("the {} at {} was lost: {}", params.host, params.address,
                      status.ok() ? "it closed the stream" : status.error_message()));
  }
}

}  // namespace

struct Uplink::Streaming {
  UplinkParams params;
  grpc::ClientContext context;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Stream> stream;
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

absl::StatusOr<std::unique_ptr<Uplink>> Uplink::Connect(const UplinkParams& params) {
  BANDANA_ASSIGN_OR_RETURN(const Address address, ParseLoopback("service." + params.host, params.address));
  auto streaming = std::make_unique<Streaming>();
  streaming->params = params;
  streaming->channel = MakeChannel(address);
  BANDANA_RETURN_IF_ERROR(WaitForConnection(*streaming->channel, params));
  streaming->stream = v1::Federation::NewStub(streaming->channel)->Join(&streaming->context);
  streaming->cancel_on_stop.emplace(params.stop, [context = &streaming->context] { context->TryCancel(); });
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
    return absl::InternalError(fmt::format("the {} did not say welcome", streaming_->params.host));
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
  streaming_->end = WhyEnded(streaming_->stream->Finish(), streaming_->params);
  return *streaming_->end;
}

void Uplink::Cancel() { streaming_->context.TryCancel(); }
bool Uplink::over() const { return streaming_->over; }
std::uint64_t Uplink::bytes_in() const { return streaming_->bytes_in; }
std::uint64_t Uplink::bytes_out() const { return streaming_->bytes_out; }

}  // namespace bandana::service
