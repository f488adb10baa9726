#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/service/listener.h"
#include "bandana/service/mixer.h"
#include "bandana/service/roster.h"
#include "bandana/service/shuffler.h"
#include "bandana/service/uplink.h"

namespace bandana::service {

/// The shuffler without its transport. It decides who is admitted, checks whose share is whose, sends mixes
/// to the server, and ends the run. Calls of the mixer happen under one lock.
class ShufflerCoordinator final : public Host {
 public:
  using MakeMixer =
      std::function<std::unique_ptr<Mixer>(Mixer::Sender send, std::function<std::string(NodeId)> name_of)>;

  /// `server` must already have sent its Welcome.
  ShufflerCoordinator(const ShufflerParams& params, Uplink& server, const MakeMixer& make_mixer);

  /// Works until the run is over. Every outbox then ends with Stop.
  absl::StatusOr<ShufflerReport> Run();

  absl::StatusOr<std::shared_ptr<AgentLink>> Admit(const v1::FromAgent& first,
                                                   const std::string& peer) override;
  absl::Status Take(AgentLink& link, v1::FromAgent& message) override;
  void Lose(AgentLink& link, const std::string& why) override;

 private:
  using Clock = std::chrono::steady_clock;

  void ReadServer();
  void WriteServer();

  // The functions below require that mutex_ is held.
  absl::Status TakeDelivery(const v1::Delivery& delivery);
  void SendToServer(v1::Message message);
  Count Missing(const AgentLink& link) const;
  void FailIfMissing(const AgentLink& link);
  void Fail(absl::Status status, Clock::duration grace);
  void End(absl::Status result);
  void SendStops();
  void Push(AgentLink& link, v1::ToAgent message);

  const ShufflerParams& params_;
  Uplink& server_;
  std::unique_ptr<Mixer> mixer_;
  BasicOutbox<v1::FromAgent> to_server_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool started_ = false;  // a mix request has arrived
  bool over_ = false;
  absl::Status result_;
  absl::Status failure_;  // why the run will end, unless the server ends it before
  Clock::time_point failure_due_;
  Roster roster_;
  std::map<Epoch, std::shared_ptr<const MixRequest>> rolls_;  // mix requests that are not mixed yet
  std::map<Epoch, absl::flat_hash_set<NodeId>> answered_;
  Epoch last_mixed_ = 0;
  ShufflerReport report_;
};

}  // namespace bandana::service
