#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/federation/cohort.h"
#include "bandana/federation/release.h"
#include "bandana/service/names.h"
#include "bandana/service/protocol.h"
#include "bandana/service/roster.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.pb.h"
#include "proto/link.grpc.pb.h"

/// Processes that send exactly what a test tells them to.
namespace bandana::service {

/// The run of a RawServer.
inline const std::string kRawRun(16, 'r');

inline v1::Frame OpeningFrame(const std::string& self, const std::string& to, const std::string& run = "") {
  v1::Frame frame;
  v1::Opening& opening = *frame.mutable_opening();
  opening.set_protocol_version(kProtocolVersion);
  opening.set_self(self);
  opening.set_to(to);
  opening.set_digest("digest");
  opening.set_run(run);
  opening.set_process("12345678");
  return frame;
}

/// One end of a connection. It numbers what it sends, and acknowledges what it reads.
class RawEnd {
 public:
  using Reader = grpc::internal::ReaderInterface<v1::Frame>;
  using Writer = grpc::internal::WriterInterface<v1::Frame>;

  RawEnd(Reader& reader, Writer& writer) : reader_(reader), writer_(writer) {}
  virtual ~RawEnd() = default;

  void Write(const v1::Frame& frame) { writer_.Write(frame); }

  /// Sends a message with the next number.
  template <class Proto>
  void Send(const Proto& message) {
    v1::Frame frame;
    frame.mutable_data()->set_seq(++sent_);
    frame.mutable_data()->set_sent(sent_);
    frame.mutable_data()->set_body(message.SerializeAsString());
    Write(frame);
  }

  /// Returns the next message; an empty one after the last.
  template <class Proto>
  Proto Read() {
    while (inbox_.empty() && ReadFrame()) {
    }
    Proto message;
    if (inbox_.empty()) return message;
    message.ParseFromString(inbox_.front());
    inbox_.pop_front();
    return message;
  }

  /// Waits until the other end has taken all that was sent. Returns false if it never did.
  bool AwaitAcknowledgement() {
    while (acknowledged_ < sent_ && ReadFrame()) {
    }
    return acknowledged_ >= sent_;
  }

  /// Waits for the Opening of the other end. Returns false if it sent none.
  bool AwaitOpening() {
    while (opening_.self().empty() && ReadFrame()) {
    }
    return !opening_.self().empty();
  }
  const v1::Opening& opening() const { return opening_; }

  /// Takes leave for good.
  void Leave(const std::string& reason, absl::StatusCode code = absl::StatusCode::kUnavailable) {
    v1::Frame frame;
    frame.mutable_bye()->set_code(static_cast<int>(code));
    frame.mutable_bye()->set_reason(reason);
    frame.mutable_bye()->set_final(true);
    Write(frame);
  }

  /// Reads and acknowledges all that comes.
  void ReadAll() {
    while (ReadFrame()) {
    }
  }

  /// Reads all that comes, and returns the reason of the Bye; kUnknown if there was none.
  absl::Status ReadToEnd() {
    ReadAll();
    return said_bye_ ? absl::Status(static_cast<absl::StatusCode>(bye_.code()), bye_.reason())
                     : absl::UnknownError("there was no Bye");
  }
  /// The Bye of the other end, if it has come.
  const v1::Bye& bye() const { return bye_; }

 protected:
  /// The other end has said Bye.
  virtual void Close() {}

 private:
  // Returns false at the end of the stream.
  bool ReadFrame() {
    v1::Frame frame;
    if (said_bye_ || !reader_.Read(&frame)) return false;
    if (frame.has_opening()) opening_ = frame.opening();
    if (frame.has_ack()) acknowledged_ = std::max(acknowledged_, frame.ack().seq());
    if (frame.has_bye()) {
      bye_ = frame.bye();
      said_bye_ = true;
      Close();
    }
    if (frame.has_data()) {
      inbox_.push_back(frame.data().body());
      v1::Frame ack;
      ack.mutable_ack()->set_seq(frame.data().seq());
      Write(ack);
    }
    return !said_bye_;
  }

  Reader& reader_;
  Writer& writer_;
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::deque<std::string> inbox_;
  v1::Opening opening_;
  v1::Bye bye_;
  bool said_bye_ = false;
};

/// The stream of a RawDialer, which it has before its RawEnd.
struct RawStream {
  explicit RawStream(const std::shared_ptr<grpc::Channel>& channel)
      : stub(v1::Links::NewStub(channel)),
        stream((context.set_wait_for_ready(true), stub->Connect(&context))) {}
  ~RawStream() {
    if (is_over) return;
    context.TryCancel();
    Drain();
    stream->Finish();
  }

  void Drain() const {
    for (v1::Frame frame; stream->Read(&frame);) {
    }
  }

  bool is_over = false;

  grpc::ClientContext context;
  std::unique_ptr<v1::Links::Stub> stub;
  std::unique_ptr<grpc::ClientReaderWriter<v1::Frame, v1::Frame>> stream;
};

/// A process that connects to another one. Its destructor breaks the connection without a Bye.
class RawDialer : private RawStream, public RawEnd {
 public:
  explicit RawDialer(const std::string& address)
      : RawDialer(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())) {}
  explicit RawDialer(const std::shared_ptr<grpc::Channel>& channel)
      : RawStream(channel), RawEnd(*stream, *stream) {}

  /// Waits until the other end has admitted the connection, or not.
  bool AwaitAdmission() {
    stream->WaitForInitialMetadata();
    return context.GetServerInitialMetadata().contains("bandana-admitted");
  }

  /// Waits for the end of the stream, and returns how the other end has ended it.
  grpc::Status End() {
    Drain();
    is_over = true;
    return stream->Finish();
  }

  /// Sends an Opening and waits for the answer. Returns false if the answer is something else.
  bool Open(const std::string& self, const std::string& to, const std::string& run = "") {
    Write(OpeningFrame(self, to, run));
    return AwaitOpening();
  }

 protected:
  void Close() override { stream->WritesDone(); }
};

/// An agent, or with JoinAsShuffler a shuffler.
class RawAgent : public RawDialer {
 public:
  using RawDialer::RawDialer;

  static v1::FromAgent JoinOf(std::uint32_t first, std::uint64_t count) {
    v1::FromAgent message;
    message.mutable_join()->set_first_client(first);
    message.mutable_join()->set_client_count(count);
    return message;
  }

  /// Joins the server or the shuffler. Returns false if that end does not take it.
  bool Join(std::uint32_t first, std::uint64_t count, const std::string& to = kServerName) {
    if (!Open(Roster::LinkOf(NodeId{first}), to)) return false;
    Send(JoinOf(first, count));
    return AwaitAcknowledgement();
  }

  bool JoinAsShuffler() {
    if (!Open(kShufflerName, kServerName)) return false;
    Send(JoinOf(0, 0));
    return AwaitAcknowledgement();
  }

  v1::ToAgent Read() { return RawEnd::Read<v1::ToAgent>(); }

  /// Returns the reason for which the run ended; empty if the connection ended before.
  std::string AwaitStop() {
    for (v1::ToAgent message = Read(); message.body_case() != v1::ToAgent::BODY_NOT_SET; message = Read()) {
      if (message.has_stop()) return message.stop().reason();
    }
    return "";
  }

  /// Returns the question that a share must name in its answer to a plan.
  static std::string QuestionOf(const v1::MeanQuery& in) {
    MeanQuery query{.clients = in.clients(), .cohort = in.cohort()};
    for (const v1::Interval& bound : in.bounds()) query.bounds.push_back({bound.low(), bound.high()});
    return Release::QuestionOf(query);
  }

  /// Returns an answer in which every client's bits are `bytes` zero bytes.
  static v1::FromAgent SealedAnswer(const v1::Delivery& delivery, std::size_t bytes) {
    return AnswerOf(delivery, [&](v1::Message& message, const v1::Plan& plan) {
      v1::SealedShare& share = *message.mutable_sealed_share();
      share.set_epoch(plan.epoch());
      share.set_key_fingerprint(std::string(32, 'k'));
      share.set_question(QuestionOf(plan.query()));
      for (int i = 0; i < plan.pulls_size(); ++i) share.add_coordinates(std::string(bytes, '\0'));
    });
  }

  /// Returns an answer in which every client's averages are `units`.
  static v1::FromAgent Answer(const v1::Delivery& delivery, std::int64_t units) {
    return AnswerOf(delivery, [&](v1::Message& message, const v1::Plan& plan) {
      v1::Share& share = *message.mutable_share();
      share.set_epoch(plan.epoch());
      share.set_question(QuestionOf(plan.query()));
      for (int i = 0; i < plan.pulls_size(); ++i) share.add_report(units);
    });
  }

  /// Returns the answer of one of the clients.
  static v1::FromAgent OnlyOf(const v1::FromAgent& answer, int index) {
    v1::FromAgent one;
    *one.mutable_shares()->add_messages() = answer.shares().messages(index);
    return one;
  }

 private:
  static v1::FromAgent AnswerOf(const v1::Delivery& delivery,
                                const std::function<void(v1::Message&, const v1::Plan&)>& fill) {
    v1::FromAgent answer;
    for (const std::uint32_t client : delivery.to()) {
      v1::Message& message = *answer.mutable_shares()->add_messages();
      message.set_from(client);
      message.set_origin(client);
      fill(message, delivery.message().plan());
    }
    return answer;
  }
};

/// A server or a shuffler to which one process connects, once.
class RawServer final : public v1::Links::Service {
 public:
  /// Runs `script` once the process has connected and both have sent their Opening. The connection breaks
  /// when it returns.
  explicit RawServer(std::function<void(RawEnd&)> script) : script_(std::move(script)) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~RawServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  const std::string& address() const { return address_; }

  static v1::ToAgent Welcome() {
    v1::ToAgent message;
    message.mutable_welcome();
    return message;
  }

  static v1::ToAgent PlanTo(std::initializer_list<std::uint32_t> clients) {
    v1::ToAgent message;
    for (const std::uint32_t client : clients) message.mutable_delivery()->add_to(client);
    v1::Plan& plan = *message.mutable_delivery()->mutable_message()->mutable_plan();
    plan.set_epoch(1);
    plan.mutable_query()->set_clients(3);
    for (std::uint32_t arm = 0; arm < 4; ++arm) {
      v1::Pull& pull = *plan.add_pulls();
      pull.set_arm(arm);
      pull.set_count(10);
      v1::Interval& bound = *plan.mutable_query()->add_bounds();
      bound.set_low(-2);
      bound.set_high(2);
    }
    return message;
  }

  static v1::ToAgent MixRequestOf(std::initializer_list<std::uint32_t> clients) {
    v1::ToAgent message;
    message.mutable_delivery()->add_to(0xffffffff);
    v1::MixRequest& mix_request = *message.mutable_delivery()->mutable_message()->mutable_mix_request();
    mix_request.set_epoch(1);
    std::vector<NodeId> cohort;
    for (const std::uint32_t client : clients) {
      mix_request.add_clients(client);
      cohort.push_back(NodeId{client});
    }
    mix_request.mutable_query()->set_clients(mix_request.clients_size());
    mix_request.mutable_query()->set_cohort(CohortOf(cohort));
    for (int i = 0; i < 4; ++i) {
      v1::Interval& bound = *mix_request.mutable_query()->add_bounds();
      bound.set_low(-2);
      bound.set_high(2);
    }
    return message;
  }

  /// Returns a plan to some of the clients of a mix request.
  static v1::Delivery PlanOf(const v1::ToAgent& mix_request, std::initializer_list<std::uint32_t> clients) {
    v1::Delivery plan = PlanTo(clients).delivery();
    *plan.mutable_message()->mutable_plan()->mutable_query() =
        mix_request.delivery().message().mix_request().query();
    return plan;
  }

  static v1::ToAgent Stop(bool finished, const std::string& reason) {
    v1::ToAgent message;
    message.mutable_stop()->set_finished(finished);
    message.mutable_stop()->set_reason(reason);
    return message;
  }

 private:
  grpc::Status Connect(grpc::ServerContext* context,
                       grpc::ServerReaderWriter<v1::Frame, v1::Frame>* stream) override {
    if (has_run_.exchange(true)) return {grpc::StatusCode::UNAVAILABLE, "it connects only once"};
    context->AddInitialMetadata("bandana-admitted", "");  // as GrpcCarrier does
    stream->SendInitialMetadata();
    RawEnd end(*stream, *stream);
    if (!end.AwaitOpening()) return grpc::Status::OK;
    end.Write(OpeningFrame(end.opening().to(), end.opening().self(), kRawRun));
    script_(end);
    return grpc::Status::OK;
  }

  std::function<void(RawEnd&)> script_;
  std::atomic<bool> has_run_ = false;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace bandana::service
