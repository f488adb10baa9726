#include "bandana/service/shuffler_coordinator.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/codec.h"
#include "bandana/service/protocol.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

// If an agent is lost, the server has usually lost it, too, and can say more about the reason. It gets this
// time to do so.
constexpr std::chrono::seconds kServersTurn{2};

}  // namespace

ShufflerCoordinator::ShufflerCoordinator(const ShufflerParams& params, Uplink& server,
                                         const MakeMixer& make_mixer)
    : params_(params), server_(server), roster_(params.clients) {
  mixer_ = make_mixer([this](v1::Message message) { SendToServer(std::move(message)); },
                      [this](NodeId client) {
                        const AgentLink* link = roster_.Find(client);
                        return link == nullptr ? "an agent" : link->name();
                      });
}

absl::StatusOr<ShufflerReport> ShufflerCoordinator::Run() {
  const Clock::time_point begin = Clock::now();
  std::thread writer([&] { WriteServer(); });
  std::thread reader([&] { ReadServer(); });
  std::unique_lock lock(mutex_);
  while (!over_) {
    const auto changed = [&] { return over_ || !failure_.ok(); };
    if (failure_.ok()) {
      changed_.wait(lock, params_.stop, changed);
    } else if (!changed_.wait_until(lock, params_.stop, failure_due_, [&] { return over_; })) {
      End(failure_);
    }
    if (params_.stop.stop_requested()) End(absl::CancelledError("the shuffler was stopped"));
  }
  SendStops();
  const bool own_failure = !failure_.ok() && result_ == failure_;
  lock.unlock();
  to_server_.Discard();
  writer.join();
  if (own_failure) server_.Leave(std::string(failure_.message()));
  server_.HalfClose();
  reader.join();
  if (params_.stop.stop_requested()) return absl::CancelledError("the shuffler was stopped");
  if (!result_.ok()) return result_;
  report_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return report_;
}

void ShufflerCoordinator::WriteServer() {
  while (const std::optional<v1::FromAgent> message = to_server_.Pop()) {
    if (!server_.Write(*message)) return;  // the reader is told why
  }
}

void ShufflerCoordinator::ReadServer() {
  v1::ToAgent message;
  while (server_.Read(message)) {
    const std::lock_guard lock(mutex_);
    if (message.has_stop()) {
      const std::string why = "the server ended the run: " + message.stop().reason();
      End(message.stop().finished()      ? absl::OkStatus()
          : message.stop().over_budget() ? absl::ResourceExhaustedError(why)
                                         : absl::UnavailableError(why));
    } else if (absl::Status status = TakeDelivery(message.delivery()); !status.ok()) {
      Fail(std::move(status), {});
    }
  }
  absl::Status end = server_.Close();
  const std::lock_guard lock(mutex_);
  End(std::move(end));
}

absl::Status ShufflerCoordinator::TakeDelivery(const v1::Delivery& delivery) {
  if (over_) return absl::OkStatus();
  BANDANA_ASSIGN_OR_RETURN(const Message message, Decode(delivery.message()));
  const auto* mix_request = std::get_if<std::shared_ptr<const MixRequest>>(&message.body);
  if (mix_request == nullptr || message.from != kServerNode) {
    return absl::InvalidArgumentError("the server sent a message that is not one of its own mix requests");
  }
  for (const NodeId client : (*mix_request)->clients) {
    if (client.value > params_.clients) {
      return absl::InvalidArgumentError(fmt::format(
          "the server asks for client {}, but there are only {} clients", client.value, params_.clients));
    }
    if (roster_.Find(client) != nullptr) continue;
    Fail(absl::UnavailableError(fmt::format("client {} has no agent at the shuffler", client.value)),
         kServersTurn);
    break;
  }
  started_ = true;
  if ((*mix_request)->epoch > last_mixed_) rolls_.emplace((*mix_request)->epoch, *mix_request);
  BANDANA_RETURN_IF_ERROR(mixer_->TakeMixRequest(message));
  for (const auto& [last, link] : roster_) FailIfMissing(*link);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<AgentLink>> ShufflerCoordinator::Admit(const v1::FromAgent& first,
                                                                      const std::string& peer) {
  BANDANA_RETURN_IF_ERROR(CheckHello(first, params_.spec_digest, "shuffler"));
  if (first.hello().role() != v1::ROLE_AGENT) {
    return absl::InvalidArgumentError("a shuffler accepts only agents");
  }
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<AgentLink> link, LinkOfAgent(first.hello(), peer));
  const std::lock_guard lock(mutex_);
  if (over_) return absl::FailedPreconditionError("the run is over");
  report_.bytes_in += first.ByteSizeLong();
  if (started_) return absl::FailedPreconditionError("the run has started already");
  BANDANA_RETURN_IF_ERROR(roster_.Add(link));
  v1::ToAgent welcome;
  welcome.mutable_welcome()->set_protocol_version(kProtocolVersion);
  Push(*link, std::move(welcome));
  return link;
}

absl::Status ShufflerCoordinator::Take(AgentLink& link, v1::FromAgent& message) {
  const auto check = [&]() -> absl::Status {
    if (!message.has_shares()) return absl::InvalidArgumentError("the message has no shares");
    for (const v1::Message& share : message.shares().messages()) {
      if (share.from() != share.origin() || !link.Owns(NodeId{share.origin()})) {
        return absl::PermissionDeniedError(
            fmt::format("the message has a share of client {} from node {}, but an agent may send only for "
                        "its own clients",
                        share.origin(), share.from()));
      }
      BANDANA_RETURN_IF_ERROR(mixer_->CheckShare(share));
    }
    return absl::OkStatus();
  };
  const absl::Status checked = check();
  const std::lock_guard lock(mutex_);
  if (over_) return absl::OkStatus();
  report_.bytes_in += message.ByteSizeLong();
  if (!checked.ok()) {
    const std::string what =
        fmt::format("{} sent something invalid: {}", link.name(), std::string(checked.message()));
    Fail(absl::AbortedError(what), {});
    return absl::Status(checked.code(), what);
  }
  for (v1::Message& share : *message.mutable_shares()->mutable_messages()) {
    const Epoch epoch = share.has_share() ? share.share().epoch() : share.sealed_share().epoch();
    ++report_.shares;
    if (epoch > last_mixed_) answered_[epoch].insert(NodeId{share.origin()});
    if (absl::Status status = mixer_->TakeShare(share); !status.ok()) Fail(std::move(status), {});
  }
  return absl::OkStatus();
}

void ShufflerCoordinator::Lose(AgentLink& link, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  link.outbox.Discard();
  link.lost = why;
  if (started_) return FailIfMissing(link);
  for (const auto& [epoch, clients] : answered_) {
    const bool spoke = std::any_of(clients.begin(), clients.end(), [&](NodeId c) { return link.Owns(c); });
    if (!spoke) continue;  // otherwise its shares would count for an agent that replaces it
    return Fail(
        absl::UnavailableError(fmt::format(
            "{} was lost before the first mix request, after it had sent shares: {}", link.name(), why)),
        kServersTurn);
  }
  roster_.Remove(link);
}

// Returns how many clients of an agent a mix request still waits for.
Count ShufflerCoordinator::Missing(const AgentLink& link) const {
  Count missing = 0;
  for (const auto& [epoch, mix_request] : rolls_) {
    const auto answered = answered_.find(epoch);
    for (const NodeId client : mix_request->clients) {
      if (!link.Owns(client)) continue;
      if (answered == answered_.end() || !answered->second.contains(client)) ++missing;
    }
  }
  return missing;
}

void ShufflerCoordinator::FailIfMissing(const AgentLink& link) {
  if (!link.lost.has_value()) return;
  const Count missing = Missing(link);
  if (missing == 0) return;
  Fail(absl::UnavailableError(fmt::format("{} was lost, and {} of its clients had not answered: {}",
                                          link.name(), missing, *link.lost)),
       kServersTurn);
}

void ShufflerCoordinator::SendToServer(v1::Message message) {
  const Epoch epoch = message.has_mixed() ? message.mixed().epoch() : message.sealed_bits().epoch();
  if (rolls_.erase(epoch) > 0) ++report_.mixes;
  answered_.erase(epoch);
  last_mixed_ = std::max(last_mixed_, epoch);
  v1::FromAgent out;
  *out.mutable_shares()->add_messages() = std::move(message);
  to_server_.Push(std::move(out));
}

// Keeps the first failure that is due at once; if there is none, the first failure.
void ShufflerCoordinator::Fail(absl::Status status, Clock::duration grace) {
  if (over_ || (!failure_.ok() && (grace > Clock::duration::zero() || failure_due_ <= Clock::now()))) return;
  failure_ = std::move(status);
  failure_due_ = Clock::now() + grace;
  if (grace == Clock::duration::zero()) End(failure_);
  changed_.notify_all();
}

void ShufflerCoordinator::End(absl::Status result) {
  if (over_) return;
  over_ = true;
  result_ = std::move(result);
  changed_.notify_all();
}

void ShufflerCoordinator::SendStops() {
  for (const auto& [last, link] : roster_) {
    v1::ToAgent stop;
    stop.mutable_stop()->set_finished(result_.ok());
    stop.mutable_stop()->set_reason(std::string(result_.message()));
    stop.mutable_stop()->set_over_budget(absl::IsResourceExhausted(result_));
    Push(*link, std::move(stop));
    link->outbox.Close();
  }
}

void ShufflerCoordinator::Push(AgentLink& link, v1::ToAgent message) {
  report_.bytes_out += message.ByteSizeLong();
  link.outbox.Push(std::move(message));
}

}  // namespace bandana::service
