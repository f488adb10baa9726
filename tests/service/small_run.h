#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/worlds/linear_population.h"
#include "bandana/federation/shuffler.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/shuffle_means.h"
#include "bandana/service/agent.h"
#include "bandana/service/server.h"
#include "bandana/service/shuffler.h"
#include "gtest/gtest.h"
#include "tests/algorithms/elimination_cases.h"

/// A DP-DPE run that takes milliseconds: the problem, its clients, and the parameters of a server and its
/// agents.
namespace bandana::service {

inline constexpr std::uint64_t kSeed = 7;
inline constexpr std::uint32_t kReplicate = 3;
inline constexpr Count kClients = 2000;
inline constexpr DpGuarantee kBudget{40, 1e-5};
inline constexpr InsecureSeed kInsecureSeed{kSeed, kReplicate};

/// A timeout that no test should reach: a test that waits for so long has failed.
inline const absl::Duration kLong = absl::Minutes(5);

inline GaussianParams SmallPrivacy() { return {kBudget, Calibration::kTight, Sampler::kExact}; }

inline ShuffleSumMean SmallShuffleSum(Transport transport) {
  return ShuffleSumMean::Create({.nominal = kBudget,
                                 .calibration = Calibration::kTight,
                                 .sampler = Sampler::kExact,
                                 .transport = transport,
                                 .collusion = {},
                                 .most_clients = 1 << 20,
                                 .loss = 10})  // few bits suffice for a test of the transport
      .value();
}

inline ShuffledLaplaceMean SmallShuffledLaplace() {
  return ShuffledLaplaceMean::Create({.nominal = kBudget,
                                      .calibration = Calibration::kTight,
                                      .sampler = Sampler::kExact,
                                      .collusion = {},
                                      .most_clients = kClients})
      .value();
}

inline NoPrivacyMean SmallNoPrivacy() { return NoPrivacyMean(Declassify("a test of the transport")); }

inline const std::shared_ptr<const LinearProblem>& SmallProblem() {
  static const auto& problem =
      *new std::shared_ptr<const LinearProblem>(std::make_shared<const LinearProblem>(
          LinearProblem::Draw({.dimension = 5, .actions = 30}, kSeed, kReplicate).value()));
  return problem;
}

inline DpDpeCase SmallParams() {
  return {.horizon = 3000, .alpha = 0.8, .population = kClients, .clip = {.reward = {}, .client_sd = 0.1}};
}

inline std::shared_ptr<const ActionMatrix> SmallActions() {
  return std::shared_ptr<const ActionMatrix>(SmallProblem(), &SmallProblem()->actions());
}

inline LinearPopulation SmallPopulation() {
  return LinearPopulation::Create({.problem = SmallProblem(),
                                   .reward = {},
                                   .client_sd = 0.1,
                                   .size = kClients,
                                   .seed = kSeed,
                                   .replicate = kReplicate})
      .value();
}

template <class P>
EliminationServer<P> SmallServer(const P& privatizer, const DpDpeCase& params = SmallParams()) {
  return EliminationServer<P>::Create(DpDpeRules(params, *SmallActions()), SmallActions(), privatizer)
      .value();
}

inline ServerParams SmallServerParams() {
  return {.listen = "127.0.0.1:0",
          .clients = kClients,
          .spec_digest = "digest",
          .budget_per_client = kBudget,
          .insecure_seed = kInsecureSeed,
          .join_timeout = kLong,
          .answer_timeout = kLong};
}

/// Parameters of an agent that holds the clients first to last.
inline AgentParams SmallAgentParams(const std::string& server, std::uint32_t first, std::uint32_t last) {
  return {.server = server,
          .first_client = NodeId{first},
          .clients = Count{last} - first + 1,
          .spec_digest = "digest",
          .budget_per_client = kBudget,
          .insecure_seed = kInsecureSeed,
          .connect_timeout = kLong};
}

template <class P>
absl::StatusOr<AgentReport> RunSmallAgent(const AgentParams& params, const P& privatizer,
                                          SlotWorld& environment) {
  return RunAgent(
      params, [&](NodeId) { return std::make_unique<EliminationClient<P>>(privatizer); }, environment);
}

template <class P>
absl::StatusOr<AgentReport> RunSmallAgent(const AgentParams& params, const P& privatizer) {
  LinearPopulation population = SmallPopulation();
  return RunSmallAgent(params, privatizer, population);
}

/// Runs RunServer in a thread of its own.
template <class P>
class ServerThread {
 public:
  ServerThread(ServerParams params, EliminationServer<P>& server,
               std::function<void(std::span<const Pull>)> on_play = nullptr)
      : params_(std::move(params)) {
    params_.on_listening = [this, also = params_.on_listening](const std::string& address) {
      if (also) also(address);
      listening_.set_value(address);
    };
    thread_ = std::thread([this, &server, on_play = std::move(on_play)] {
      result_.set_value(RunServer(params_, server, on_play));
    });
    address_ = listening_.get_future().get();
  }
  ~ServerThread() { thread_.join(); }

  const std::string& address() const { return address_; }

  /// Waits for the result; may be called once.
  absl::StatusOr<ServerReport> Result() { return result_.get_future().get(); }

 private:
  ServerParams params_;
  std::promise<std::string> listening_;
  std::promise<absl::StatusOr<ServerReport>> result_;
  std::string address_;
  std::thread thread_;
};

inline ShufflerParams SmallShufflerParams(const std::string& server) {
  return {.listen = "127.0.0.1:0",
          .server = server,
          .clients = kClients,
          .spec_digest = "digest",
          .insecure_seed = kInsecureSeed,
          .connect_timeout = kLong};
}

/// Runs RunShuffler or RunBitShuffler in a thread of its own.
template <ShufflePrivatizer P>
class ShufflerThread {
 public:
  ShufflerThread(ShufflerParams params, const P& privatizer)
      : params_(std::move(params)), role_(privatizer), route_(RouteOf(privatizer)) {
    params_.on_listening = [this](const std::string& address) { listening_.set_value(address); };
    thread_ = std::thread([this] {
      result_.set_value(route_.sealed() ? RunBitShuffler(params_, route_) : RunShuffler(params_, role_));
    });
    address_ = listening_.get_future().get();
  }
  ~ShufflerThread() { thread_.join(); }

  const std::string& address() const { return address_; }

  /// Waits for the result; may be called once.
  absl::StatusOr<ShufflerReport> Result() { return result_.get_future().get(); }

 private:
  ShufflerParams params_;
  Shuffler<P> role_;
  Route route_;
  std::promise<std::string> listening_;
  std::promise<absl::StatusOr<ShufflerReport>> result_;
  std::string address_;
  std::thread thread_;
};

}  // namespace bandana::service
