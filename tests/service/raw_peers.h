#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/federation/cohort.h"
#include "bandana/federation/release.h"
#include "bandana/service/protocol.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.grpc.pb.h"

/// An agent (or shuffler) and a server that send exactly what a test tells them to.
namespace bandana::service {

class RawAgent {
 public:
  explicit RawAgent(const std::string& server)
      : stub_(v1::Federation::NewStub(grpc::CreateChannel(server, grpc::InsecureChannelCredentials()))),
        stream_((context_.set_wait_for_ready(true), stub_->Join(&context_))) {}

  ~RawAgent() {
    if (!ended_) Cancel();
  }

  static v1::FromAgent Hello(std::uint32_t first, std::uint64_t count) {
    v1::FromAgent message;
    message.mutable_hello()->set_protocol_version(kProtocolVersion);
    message.mutable_hello()->set_first_client(first);
    message.mutable_hello()->set_client_count(count);
    message.mutable_hello()->set_spec_digest("digest");
    return message;
  }

  static v1::FromAgent ShufflerHello() {
    v1::FromAgent message;
    message.mutable_hello()->set_protocol_version(kProtocolVersion);
    message.mutable_hello()->set_role(v1::ROLE_SHUFFLER);
    message.mutable_hello()->set_spec_digest("digest");
    return message;
  }

  /// Returns the question that a share must name in its answer to a plan.
  static std::string QuestionOf(const v1::MeanQuery& in) {
    MeanQuery query{.clients = in.clients(), .cohort = in.cohort()};
    for (const v1::Interval& bound : in.bounds()) query.bounds.push_back({bound.low(), bound.high()});
    return Release::QuestionOf(query);
  }

  /// Returns an answer in which every client's bits are `bytes` zero bytes.
  static v1::FromAgent SealedAnswer(const v1::Delivery& delivery, std::size_t bytes) {
    v1::FromAgent answer;
    for (const std::uint32_t client : delivery.to()) {
      v1::Message& message = *answer.mutable_shares()->add_messages();
      message.set_from(client);
      message.set_origin(client);
      message.mutable_sealed_share()->set_epoch(delivery.message().plan().epoch());
      message.mutable_sealed_share()->set_key_fingerprint(std::string(32, 'k'));
      message.mutable_sealed_share()->set_question(QuestionOf(delivery.message().plan().query()));
      for (int i = 0; i < delivery.message().plan().pulls_size(); ++i) {
        message.mutable_sealed_share()->add_coordinates(std::string(bytes, '\0'));
      }
    }
    return answer;
  }

  /// Returns an answer in which every client's averages are `units`.
  static v1::FromAgent Answer(const v1::Delivery& delivery, std::int64_t units) {
    v1::FromAgent answer;
    for (const std::uint32_t client : delivery.to()) {
      v1::Message& message = *answer.mutable_shares()->add_messages();
      message.set_from(client);
      message.set_origin(client);
      message.mutable_share()->set_epoch(delivery.message().plan().epoch());
      message.mutable_share()->set_question(QuestionOf(delivery.message().plan().query()));
      for (int i = 0; i < delivery.message().plan().pulls_size(); ++i)
        message.mutable_share()->add_report(units);
    }
    return answer;
  }

  void Write(const v1::FromAgent& message) { stream_->Write(message); }

  /// Returns the next message, or an empty one at the end of the stream.
  v1::ToAgent Read() {
    v1::ToAgent message;
    if (!stream_->Read(&message)) message.Clear();
    return message;
  }

  void HalfClose() { stream_->WritesDone(); }

  grpc::Status ReadToEnd() {
    for (v1::ToAgent message; stream_->Read(&message);) {
    }
    ended_ = true;
    return stream_->Finish();
  }

  void Cancel() {
    context_.TryCancel();
    ReadToEnd();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Federation::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FromAgent, v1::ToAgent>> stream_;
  bool ended_ = false;
};

class RawServer final : public v1::Federation::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::ToAgent, v1::FromAgent>;

  /// Runs `script` once for each agent that joins; the stream ends when it returns.
  explicit RawServer(std::function<void(Stream&)> script) : script_(std::move(script)) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }

  const std::string& address() const { return address_; }

  static v1::ToAgent Welcome() {
    v1::ToAgent message;
    message.mutable_welcome()->set_protocol_version(kProtocolVersion);
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
  grpc::Status Join(grpc::ServerContext*, Stream* stream) override {
    script_(*stream);
    return grpc::Status::OK;
  }

  std::function<void(Stream&)> script_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace bandana::service
