#include "benchmarks/service/ingest_server.h"

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "bandana/core/check.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/federation/collector.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/service/channel.h"
#include "bandana/service/credentials.h"
#include "bandana/service/server.h"
#include "bandana/store/guarded_store.h"
#include "bandana/store/identity.h"
#include "bandana/store/sqlite_store.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/link.grpc.pb.h"

namespace bandana::service {
namespace {

constexpr DpGuarantee kBudget{1, 1e-6};

// Asks all clients one question, and is done with the answer.
class OnePhase final : public Node {
 public:
  OnePhase(const IngestParams& params, const CentralMean<GaussianNoise>& privatizer)
      : params_(params), collector_(privatizer) {}

  absl::Status OnStart(Context& context) override {
    Plan plan{.epoch = 1};
    for (int i = 0; i < params_.coordinates; ++i) plan.pulls.push_back({i, 1});
    plan.query.bounds.assign(static_cast<std::size_t>(params_.coordinates), {0, 1});
    plan.query.clients = params_.clients;
    std::vector<NodeId> clients;
    for (Count client = 1; client <= params_.clients; ++client) {
      clients.push_back(NodeId{static_cast<std::uint32_t>(client)});
    }
    return collector_.Ask(context, std::make_shared<const Plan>(std::move(plan)), std::move(clients));
  }

  absl::Status OnMessage(Context& context, const Message& message) override {
    BANDANA_ASSIGN_OR_RETURN(const auto mean, collector_.Take(context, message));
    finished_ = finished_ || mean.has_value();
    return absl::OkStatus();
  }

  bool finished() const override { return finished_; }

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(collector_, finished_);
  }

 private:
  const IngestParams& params_;
  Collector<CentralMean<GaussianNoise>> collector_;
  bool finished_ = false;
};

void PrintAddress(const std::string& address) {
  std::puts(address.c_str());
  std::fflush(stdout);
}

std::shared_ptr<KeyRing> OpenKeys(const std::string& folder) {
  auto keys = KeyRing::Open({.folder = folder + "/keys", .self = "server"});
  BANDANA_CHECK(keys.ok());
  return *std::move(keys);
}

class RawLinks final : public v1::Links::Service {
 public:
  explicit RawLinks(RawAnswer answer) : answer_(answer) {}

  grpc::Status Connect(grpc::ServerContext*,
                       grpc::ServerReaderWriter<v1::Frame, v1::Frame>* stream) override {
    v1::Frame answer;
    for (v1::Frame frame; stream->Read(&frame);) {
      answer.mutable_ack()->set_seq(frame.data().seq());
      stream->Write(answer_ == RawAnswer::kEcho ? frame : answer);
    }
    return grpc::Status::OK;
  }

 private:
  RawAnswer answer_;
};

absl::StatusOr<ServerReport> Serve(const IngestParams& params) {
  BANDANA_ASSIGN_OR_RETURN(auto file, store::SqliteStore::Open(params.folder + "/server.db"));
  BANDANA_ASSIGN_OR_RETURN(auto ratchet, store::Ratchet::Open(params.folder + "/server.db.ratchet"));
  BANDANA_ASSIGN_OR_RETURN(auto identity, store::IdentityKey::Open(params.folder + "/keys/server.identity"));
  BANDANA_ASSIGN_OR_RETURN(
      const auto store, store::GuardedStore::Open(
                            std::move(file), {.mirror = "", .anchor = "", .identity = std::move(identity)}));
  BANDANA_ASSIGN_OR_RETURN(const auto privatizer, CentralMean<GaussianNoise>::Create(
                                                      {kBudget, Calibration::kTight, Sampler::kExact}));
  OnePhase role(params, privatizer);
  return RunServer({.listen = "127.0.0.1:0",
                    .clients = params.clients,
                    .route = {},
                    .spec_digest = kIngestDigest,
                    .budget_per_client = kBudget,
                    .insecure_seed = {},
                    .join_timeout = absl::Minutes(5),
                    .answer_timeout = absl::Minutes(5),
                    .stop = {},
                    .on_listening = PrintAddress,
                    .on_progress = {},
                    .on_share = {},
                    .deployed = {.storage = {store.get(), &ratchet},
                                 .header = {.deployment = "bench",
                                            .configuration = Sha256(kIngestDigest),
                                            .claims = {},
                                            .void_reason = {},
                                            .limits = {.per_unit = {kBudget.epsilon, kBudget.delta}}},
                                 .comes_back = true,
                                 .keys = OpenKeys(params.folder)}},
                   role, nullptr);
}

}  // namespace

int ServeIngest(const IngestParams& params) {
  const absl::StatusOr<ServerReport> report = Serve(params);
  if (!report.ok()) fmt::print(stderr, "{}\n", std::string(report.status().message()));
  return report.ok() ? 0 : 1;
}

int ServeRaw(const std::string& folder, RawAnswer answer) {
  RawLinks links(answer);
  const std::shared_ptr<KeyRing> keys = OpenKeys(folder);
  std::string address;
  const auto server = OpenServer("127.0.0.1:0", keys.get(), Limits(), links, address);
  BANDANA_CHECK(server.ok());
  PrintAddress(address);
  std::getchar();  // the parent never writes
  return 0;
}

}  // namespace bandana::service
