#include <cmath>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bandana/federation/clique_cover.h"
#include "bandana/federation/graph_shapes.h"
#include "bandana/service/peer.h"
#include "bandana/service/round_agent.h"
#include "bandana/service/server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/algorithms/fed_ucb_support.h"
#include "tests/service/failing.h"

// FedUCB between processes (threads here) makes the decisions of the simulator.
namespace bandana::service {
namespace {

using ::testing::HasSubstr;
using Agent = Spy<FedUcbAgent<RegressionPrefixSum, double>>;
using FedPeer = Spy<FedUcbPeer<RegressionPrefixSum, double>>;

// A controller and processes of agents first .. last each.
struct Star {
  explicit Star(const FedSetting& setting)
      : contexts(ContextsOf(setting)),
        privatizer(PrivatizerOf(setting)),
        width(WidthOf(setting, setting.agents)),
        controller(ScheduleOf(setting), width, privatizer) {
    const double first = privatizer.noise() * std::sqrt(static_cast<double>(setting.agents));
    for (Count i = 0; i < setting.agents; ++i) {
      agents.push_back(std::make_unique<Agent>(FedUcbAgentParams{.horizon = setting.horizon,
                                                                 .silos = setting.agents,
                                                                 .local = setting.local,
                                                                 .first_noise = first},
                                               width, privatizer, Declassify("a test")));
    }
    server_params.listen = "127.0.0.1:0";
    server_params.clients = setting.agents;
    server_params.spec_digest = "digest";
    server_params.budget_per_client = BudgetOf(setting);
    server_params.insecure_seed = InsecureSeed{11, 0};
    server_params.join_timeout = kLong;
    server_params.answer_timeout = kLong;
    std::promise<std::string> listening;
    server_params.on_listening = [&](const std::string& where) { listening.set_value(where); };
    server = std::async(std::launch::async, [this] {
      return RunServer(server_params, controller, [](std::span<const Pull>) {});
    });
    address = listening.get_future().get();
  }

  AgentParams ParamsFor(std::uint32_t first, std::uint32_t last) const {
    return {.server = address,
            .first_client = NodeId{first},
            .clients = static_cast<Count>(last - first) + 1,
            .spec_digest = "digest",
            .budget_per_client = server_params.budget_per_client,
            .insecure_seed = InsecureSeed{11, 0},
            .connect_timeout = kLong};
  }

  std::future<absl::StatusOr<AgentReport>> Join(const AgentParams& params) {
    return std::async(std::launch::async, [this, params] {
      RoundContexts world = contexts;
      return RunRoundAgent(params, Lend(agents), world);
    });
  }

  RoundContexts contexts;
  RegressionPrefixSum privatizer;
  FedUcbWidth width;
  FedUcbController<RegressionPrefixSum> controller;
  std::vector<std::unique_ptr<Agent>> agents;
  ServerParams server_params;
  std::string address;
  std::future<absl::StatusOr<ServerReport>> server;
};

TEST(FedUcbService, AControllerAndItsAgentsDecideAsInTheSimulator) {
  const SyncScheduleParams batches{.sync = Sync::kBatch, .batch = 10};
  for (const FedSetting& setting :
       {FedSetting{.schedule = {.sync = Sync::kEvery}}, FedSetting{.schedule = batches, .epsilon = 3.},
        FedSetting{.schedule = batches, .local = LocalData::kRaw, .epsilon = 3.}}) {
    const FedRun simulated = RunCentral(setting);
    Star star(setting);
    auto some = star.Join(star.ParamsFor(1, 2));
    auto other = star.Join(star.ParamsFor(3, 3));
    Count shares = 0;
    Count rounds = 0;
    for (auto* agent : {&some, &other}) {
      const auto report = agent->get();
      ASSERT_TRUE(report.ok()) << report.status();
      shares += report->shares;
      rounds += report->rounds;
      EXPECT_EQ(report->spent, BudgetOf(setting));
      EXPECT_EQ(report->repeats, 0);
    }
    const auto report = star.server.get();
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->shares, shares);
    EXPECT_EQ(shares, setting.agents * simulated.synchronisations);
    EXPECT_EQ(rounds, setting.agents * setting.horizon);
    EXPECT_GT(report->reals, shares);
    EXPECT_EQ(star.controller.synchronisations(), simulated.synchronisations);
    for (std::size_t i = 0; i < star.agents.size(); ++i) EXPECT_EQ(star.agents[i]->arms, simulated.arms[i]);
  }
}

TEST(FedUcbService, AnAgentThatIsLostEndsTheRun) {
  Star star({.schedule = {.sync = Sync::kBatch, .batch = 10}});
  std::stop_source stop;
  AgentParams params = star.ParamsFor(3, 3);
  params.stop = stop.get_token();
  class StopsInRound final : public RoundWorld {
   public:
    StopsInRound(RoundWorld& world, std::stop_source& stop) : world_(world), stop_(stop) {}
    const Facts& facts() const override { return world_.facts(); }
    void Fill(NodeId agent, Count first_round, DecisionBlock<double>& block) override {
      if (first_round == 15) stop_.request_stop();
      world_.Fill(agent, first_round, block);
    }
    double Reward(const DecisionBlock<double>& block, NodeId agent, Count at, ArmId arm) override {
      return world_.Reward(block, agent, at, arm);
    }

   private:
    RoundWorld& world_;
    std::stop_source& stop_;
  } stops(star.contexts, stop);
  auto others = star.Join(star.ParamsFor(1, 2));
  ExpectError(RunRoundAgent(params, Lend(star.agents), stops), absl::StatusCode::kCancelled,
              HasSubstr("stopped"));
  ExpectError(star.server.get(), absl::StatusCode::kUnavailable, HasSubstr("was lost"));
  ExpectError(others.get(), absl::StatusCode::kUnavailable, HasSubstr("the server ended the run"));
}

TEST(FedUcbService, WhatNeedsMoreThanModelsIsRefused) {
  Star star({.agents = 1});
  AgentParams shuffled = star.ParamsFor(1, 1);
  shuffled.route.shuffled = true;
  RoundContexts& world = star.contexts;
  const auto make = Lend(star.agents);
  ExpectError(RunRoundAgent(shuffled, make, world), absl::StatusCode::kUnimplemented, HasSubstr("shuffler"));
  ASSERT_TRUE(RunRoundAgent(star.ParamsFor(1, 1), make, world).ok());
  EXPECT_TRUE(star.server.get().ok());
}

// --- peers

TEST(FedUcbService, PeersDecideAsInTheSimulator) {
  const Graph graph = *RingGraph(5);
  FedSetting setting{
      .horizon = 60, .agents = 5, .schedule = {.sync = Sync::kBatch, .batch = 5}, .epsilon = 3., .gamma = 2};
  RoundContexts contexts = ContextsOf(setting);
  const SyncSchedule schedule = ScheduleOf(setting);
  const RegressionPrefixSum privatizer = PrivatizerOf(setting);
  const Cliques cliques = CliqueCover(graph.Power(setting.gamma));
  const FedUcbWidth width = WidthOf(setting, static_cast<Count>(cliques.front().size()));
  ASSERT_EQ(cliques.size(), 1u);  // within distance 2 all peers are one clique
  const auto make = [&] {
    return std::make_unique<FedPeer>(FedUcbPeerParams{.horizon = setting.horizon,
                                                      .clique = cliques.front(),
                                                      .gamma = setting.gamma,
                                                      .first_noise = privatizer.noise()},
                                     schedule, width, privatizer);
  };
  std::vector<std::unique_ptr<FedPeer>> simulated, real;
  for (Count i = 0; i < setting.agents; ++i) {
    simulated.push_back(make());
    real.push_back(make());
  }
  const Federation federation{.roles = RoundRoles{.agent = Lend(simulated)},
                              .topology = Topology::Peers(graph),
                              .budget = BudgetOf(setting)};
  ASSERT_TRUE(Simulate(federation, contexts, {.seed = 11}).ok());

  std::map<NodeId, std::string> addresses;
  std::vector<std::future<absl::StatusOr<PeerReport>>> running;
  for (NodeId node{5}; node.value >= 1; --node.value) {
    PeerParams params{.self = node,
                      .listen = "127.0.0.1:0",
                      .rounds = setting.horizon,
                      .spec_digest = "digest",
                      .budget = BudgetOf(setting),
                      .insecure_seed = InsecureSeed{11, 0},
                      .connect_timeout = kLong};
    for (const NodeId other : graph.neighbours(node)) params.neighbours[other] = addresses[other];
    auto listening = std::make_shared<std::promise<std::string>>();
    params.on_listening = [listening](const std::string& where) { listening->set_value(where); };
    running.push_back(std::async(std::launch::async, [&, node, params] {
      RoundContexts world = contexts;
      return RunPeer(params, *real[node.value - 1], world);
    }));
    addresses[node] = listening->get_future().get();
  }
  for (auto& peer : running) {
    const auto report = peer.get();
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->lost.empty());
    EXPECT_LE(report->spent.epsilon, 3.);
    EXPECT_GT(report->spent.epsilon, 0.);
  }
  for (std::size_t i = 0; i < real.size(); ++i) {
    EXPECT_EQ(real[i]->arms, simulated[i]->arms);
    ASSERT_EQ(real[i]->arrivals.size(), simulated[i]->arrivals.size());
    EXPECT_GT(real[i]->arrivals.size(), 10u);
    for (std::size_t k = 0; k < real[i]->arrivals.size(); ++k) {
      EXPECT_EQ(real[i]->arrivals[k].round, simulated[i]->arrivals[k].round);
      EXPECT_EQ(real[i]->arrivals[k].message.from, simulated[i]->arrivals[k].message.from);
      EXPECT_EQ(real[i]->arrivals[k].message.seq, simulated[i]->arrivals[k].message.seq);
    }
  }
}

}  // namespace
}  // namespace bandana::service
