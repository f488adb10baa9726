#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/federation/node.h"
#include "bandana/service/listener.h"
#include "bandana/service/mixed_inbox.h"
#include "bandana/service/role_context.h"
#include "bandana/service/roster.h"
#include "bandana/service/server.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// The server without its transport. It decides who is admitted, what the role receives, what is sent to
/// whom, and when the run ends. Calls of the role happen under one lock; sealed bits are opened outside of
/// it.
class Coordinator final : public Host {
 public:
  Coordinator(const ServerParams& params, Node& server, std::function<void(std::span<const Pull>)> on_play);

  /// Waits for the agents, starts the role, and waits until it ends. Every outbox then ends with Stop.
  absl::StatusOr<ServerReport> Run();

  absl::StatusOr<std::shared_ptr<AgentLink>> Admit(const v1::FromAgent& first,
                                                   const std::string& peer) override;
  absl::Status Take(AgentLink& link, v1::FromAgent& message) override;
  void Lose(AgentLink& link, const std::string& why) override;

 private:
  enum class State { kJoining, kRunning, kOver };
  using Clock = std::chrono::steady_clock;

  struct Outgoing {
    NodeId to;
    Payload payload;
  };

  absl::Status TakeShares(AgentLink& link, const v1::FromAgent& message);
  absl::Status TakeMixed(const v1::FromAgent& message);
  absl::Status TakePlayed(AgentLink& link, const v1::FromAgent& message);

  // The functions below require that mutex_ is held.
  absl::Status AdmitLink(const std::shared_ptr<AgentLink>& link);
  bool everyone_is_here() const;
  void WaitForAgents(std::unique_lock<std::mutex>& lock);
  void WaitForEnd(std::unique_lock<std::mutex>& lock);
  void Start();
  void Deliver(AgentLink& link, const Message& message);
  void Settle(AgentLink& link, NodeId client, Epoch epoch, std::size_t reals);
  void SettleMixed(Epoch epoch);
  void AfterRoleCall(const absl::Status& status);
  absl::Status Flush();
  absl::Status FlushModels();
  absl::StatusOr<AgentLink*> LinkTo(NodeId client);
  absl::Status FlushMixRequest(const std::shared_ptr<const MixRequest>& mix_request);
  void Push(AgentLink& link, v1::ToAgent message);
  void EndRun(absl::Status result);
  absl::Status Stopped() const;
  void SendStops();
  void ShowProgress() const;

  const ServerParams& params_;
  Node& server_;
  RoleWorld world_;
  RoleContext context_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  State state_ = State::kJoining;
  absl::Status result_;
  Roster roster_;
  std::shared_ptr<AgentLink> shuffler_;  // null: there is none, or it has not joined yet
  MixedInbox inbox_;
  MeanQuery query_;  // the query of the last plan sent
  std::vector<Outgoing> outgoing_;
  Seq next_seq_ = 0;
  Epoch epoch_ = 0;
  Count awaited_ = 0;
  bool last_rounds_ = false;  // the role has finished, but clients still play
  Clock::time_point started_;
  Clock::time_point last_answer_;
  ServerReport report_;
};

}  // namespace bandana::service
