#include "bandana/service/agent.h"

#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/federation/topology.h"
#include "bandana/service/address.h"
#include "bandana/service/codec.h"
#include "bandana/service/protocol.h"
#include "bandana/service/role_context.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.grpc.pb.h"

namespace bandana::service {
namespace {

using Stream = grpc::ClientReaderWriter<v1::FromAgent, v1::ToAgent>;
using MakePlayer = std::function<std::unique_ptr<Player>(NodeId)>;

absl::Status Validate(const AgentParams& params) {
  constexpr Count kMostClients = 0xfffffffe;  // NodeId
  const Count last = Count{params.first_client.value} + params.clients - 1;
  if (!(params.first_client.value >= 1 && params.clients >= 1 && last <= kMostClients)) {
    return InvalidOption("service.clients", fmt::format("{}-{}", params.first_client.value, last),
                         fmt::format("first-last, within 1-{}", kMostClients));
  }
  if (!(params.connect_timeout > absl::ZeroDuration())) {
    return InvalidOption("service.connect_timeout", absl::FormatDuration(params.connect_timeout),
                         "a time > 0");
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::Channel> MakeChannel(const Address& server) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // loopback must not leave by a proxy
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection an agent, also in one process
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel(server.ToString(), grpc::InsecureChannelCredentials(), arguments);
}

absl::Status Connect(grpc::Channel& channel, const AgentParams& params) {
  const absl::Time deadline = absl::Now() + params.connect_timeout;
  constexpr absl::Duration kSlice = absl::Milliseconds(100);  // how soon a stop is noticed
  while (!channel.WaitForConnected(absl::ToChronoTime(std::min(deadline, absl::Now() + kSlice)))) {
    if (params.stop.stop_requested()) return absl::CancelledError("the agent was stopped while it connected");
    if (absl::Now() >= deadline) {
      return absl::UnavailableError(fmt::format("no server at {} after {}", params.server,
                                                absl::FormatDuration(params.connect_timeout)));
    }
  }
  return absl::OkStatus();
}

// The agent's side of one stream.
class AgentRun {
 public:
  AgentRun(const AgentParams& params, const MakePlayer& make_player, Environment& environment, Stream& stream)
      : params_(params),
        make_player_(make_player),
        environment_(environment),
        stream_(stream),
        world_{
            .insecure_seed = params.insecure_seed,
            .releases = Releases(params.budget_per_client, params.ledger),
            .send = [this](NodeId from, NodeId to, Payload payload) { Send(from, to, std::move(payload)); },
            .play = nullptr},
        topology_(Topology::Star(Count{params.first_client.value} + params.clients - 1)) {}

  /// OK: the run has finished. Otherwise: the server ended it, or this agent must leave.
  absl::Status Run() {
    v1::FromAgent hello;
    hello.mutable_hello()->set_protocol_version(kProtocolVersion);
    hello.mutable_hello()->set_first_client(params_.first_client.value);
    hello.mutable_hello()->set_client_count(static_cast<std::uint64_t>(params_.clients));
    hello.mutable_hello()->set_spec_digest(params_.spec_digest);
    Write(hello);
    v1::ToAgent message;
    if (!Read(message)) return StreamEnded();
    if (message.welcome().protocol_version() != kProtocolVersion) {
      return absl::InternalError("the server did not say welcome");
    }
    started_ = absl::Now();
    while (Read(message)) {
      if (message.has_stop()) return Stopped(message.stop());
      BANDANA_RETURN_IF_ERROR(HandleDelivery(message.delivery()));
    }
    return StreamEnded();
  }

  bool stream_ended() const { return stream_ended_; }

  AgentReport report() const {
    AgentReport report = report_;
    report.spent = world_.releases.spent();
    report.seconds = absl::ToDoubleSeconds(absl::Now() - started_);
    return report;
  }

 private:
  absl::Status HandleDelivery(const v1::Delivery& delivery) {
    BANDANA_ASSIGN_OR_RETURN(const Message message, Decode(delivery.message()));
    const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&message.body);
    if (plan == nullptr || message.from != kServerNode) {
      return absl::InvalidArgumentError("the server sent something other than a plan of its own");
    }
    for (const std::uint32_t to : delivery.to()) {
      if (params_.stop.stop_requested() || stream_ended_) return absl::OkStatus();  // the next read tells
      if (to < params_.first_client.value || to - params_.first_client.value >= params_.clients) {
        return absl::InvalidArgumentError(fmt::format("the server asked client {}, who is not here", to));
      }
      BANDANA_RETURN_IF_ERROR(HandlePlan(NodeId{to}, (*plan)->epoch, message));
      BANDANA_RETURN_IF_ERROR(sent_);
      if (batch_.shares().messages_size() >= kBatchMessages) BANDANA_RETURN_IF_ERROR(FlushBatch());
    }
    return FlushBatch();
  }

  absl::Status HandlePlan(NodeId client, Epoch epoch, const Message& message) {
    if (const auto it = answers_.find({client, epoch}); it != answers_.end()) {
      ++report_.repeats;
      Encode(it->second, *batch_.mutable_shares()->add_messages());
      return absl::OkStatus();
    }
    std::unique_ptr<Player>& player = players_[client];
    if (player == nullptr) player = make_player_(client);
    RoleContext context(world_, topology_.LinksOf(client));
    return DriveMessage(*player, context, message, environment_, rewards_);
  }

  void Send(NodeId from, NodeId to, Payload payload) {
    const auto* share = std::get_if<Share>(&payload);
    if (to != kServerNode || share == nullptr) {
      sent_ = absl::InternalError("a client can send shares to the server alone");
      return;
    }
    const auto [it, is_new] = answers_.try_emplace({from, share->epoch});
    if (!is_new) {
      sent_ =
          absl::InternalError(fmt::format("client {} answered twice in epoch {}", from.value, share->epoch));
      return;
    }
    ++report_.shares;
    it->second = {from, from, 0, next_seq_++, std::move(payload)};
    Encode(it->second, *batch_.mutable_shares()->add_messages());
  }

  absl::Status FlushBatch() {
    if (batch_.shares().messages().empty()) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(world_.releases.Commit());
    Write(batch_);
    batch_.mutable_shares()->clear_messages();
    return absl::OkStatus();
  }

  bool Read(v1::ToAgent& message) {
    if (!stream_.Read(&message)) return false;
    report_.bytes_in += message.ByteSizeLong();
    return true;
  }

  void Write(const v1::FromAgent& message) {
    report_.bytes_out += message.ByteSizeLong();
    if (!stream_.Write(message)) stream_ended_ = true;
  }

  static absl::Status Stopped(const v1::Stop& stop) {
    if (stop.finished()) return absl::OkStatus();
    return absl::UnavailableError("the server ended the run: " + stop.reason());
  }

  absl::Status StreamEnded() {
    stream_ended_ = true;
    return absl::UnavailableError("the server was lost");
  }

  const AgentParams& params_;
  const MakePlayer& make_player_;
  Environment& environment_;
  Stream& stream_;
  RoleWorld world_;
  Topology topology_;
  absl::flat_hash_map<NodeId, std::unique_ptr<Player>> players_;
  std::map<ReleaseKey, Message> answers_;  // by client and epoch: a plan that comes again gets the same one
  std::vector<RewardSum> rewards_;
  v1::FromAgent batch_;
  absl::Status sent_;
  Seq next_seq_ = 0;
  bool stream_ended_ = false;
  absl::Time started_ = absl::Now();
  AgentReport report_;
};

// What the end of the stream says, where that is more than the agent itself knows.
absl::Status WhyEnded(const grpc::Status& status, const AgentParams& params) {
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
      return absl::Status(code, "the server refused this agent: " + status.error_message());
    default:
      return absl::UnavailableError(
          fmt::format("the server at {} was lost: {}", params.server,
                      status.ok() ? "it closed the stream" : status.error_message()));
  }
}

}  // namespace

absl::StatusOr<AgentReport> RunAgent(const AgentParams& params, const MakePlayer& make_player,
                                     Environment& environment) {
  BANDANA_RETURN_IF_ERROR(Validate(params));
  BANDANA_ASSIGN_OR_RETURN(const Address address, ParseLoopback("service.server", params.server));
  const std::shared_ptr<grpc::Channel> channel = MakeChannel(address);
  BANDANA_RETURN_IF_ERROR(Connect(*channel, params));
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = v1::Federation::NewStub(channel)->Join(&context);
  const std::stop_callback cancel(params.stop, [&] { context.TryCancel(); });

  AgentRun run(params, make_player, environment, *stream);
  absl::Status status = run.Run();
  if (!status.ok() && !run.stream_ended()) {
    v1::FromAgent leave;  // the code alone: what an environment says of its errors may be a client's data
    leave.mutable_leave()->set_reason(absl::StatusCodeToString(status.code()));
    stream->Write(leave);
  }
  stream->WritesDone();
  for (v1::ToAgent rest; stream->Read(&rest);) {
  }
  const grpc::Status end = stream->Finish();
  if (status.ok()) return run.report();
  if (params.stop.stop_requested()) return absl::CancelledError("the agent was stopped");
  return run.stream_ended() ? WhyEnded(end, params) : status;
}

}  // namespace bandana::service
