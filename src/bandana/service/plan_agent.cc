#include <map>
#include <optional>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/federation/release.h"
#include "bandana/federation/topology.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/agent_machine.h"
#include "bandana/service/codec.h"
#include "bandana/service/names.h"
#include "bandana/service/part.h"
#include "bandana/service/protocol.h"
#include "bandana/service/sealed_counts.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

using MakePlayer = std::function<std::unique_ptr<Player>(NodeId)>;

class PlanAgent final : public AgentMachine {
 public:
  PlanAgent(const AgentParams& params, MakePlayer make_player, SlotWorld& environment)
      : AgentMachine(params),
        make_player_(std::move(make_player)),
        environment_(environment),
        topology_(params.route.TopologyOf(Count{params.first_client.value} + params.clients - 1)) {}

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }

  template <class Archive>
  void State(Archive& a) {
    AgentMachine::State(a);
    std::string batch;
    if constexpr (!Archive::kReads) batch = batch_.SerializeAsString();
    a(sealing_key_, answers_, batch, batch_bytes_, next_seq_);
    VisitPart(a, environment_);
    std::vector<NodeId> clients;
    for (const auto& [client, seat] : seats_) clients.push_back(client);
    a(clients);
    for (const NodeId client : clients) {
      if (!a.ok()) return;
      Seat& seat = SeatOf(client);
      a(seat.context);
      VisitPart(a, *seat.player);
    }
    if constexpr (Archive::kReads) {
      a.Check(MakeSealer().ok(), "the server's sealing key is invalid");
      a.Check(batch_.ParseFromString(batch), "the answers cannot be read");
    }
  }

 protected:
  absl::Status TakeWelcome(const v1::Welcome& welcome) override {
    sealing_key_ = welcome.sealing_key();
    return MakeSealer();
  }

  absl::Status TakeMessage(const Message& message) override {
    const absl::StatusOr<const Plan*> plan = PlanOf(message);
    if (!plan.ok()) {
      return absl::InvalidArgumentError("the server sent a message that is not one of its own plans");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> WorkFor(NodeId client, const Message& message) override {
    BANDANA_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(message));
    question_ = Release::QuestionOf(plan->query);
    if (const auto* task = std::get_if<Task>(&message.body)) question_ += fmt::format(" part {}", task->part);
    if (const auto known = answers_.find(client);
        known != answers_.end() && known->second.epoch >= plan->epoch) {
      if (known->second.epoch != plan->epoch || known->second.question != question_) {
        return absl::InvalidArgumentError(fmt::format(
            "the server asked client {} two different questions in epoch {}", client.value, plan->epoch));
      }
      ++counts().repeats;
      BANDANA_RETURN_IF_ERROR(Gather(client, known->second, plan->query));
      return false;
    }
    Seat& seat = SeatOf(client);
    BANDANA_RETURN_IF_ERROR(DriveMessage(*seat.player, seat.context, message, environment_, rewards_));
    BANDANA_RETURN_IF_ERROR(sent());
    const auto answer = answers_.find(client);
    if (answer != answers_.end() && answer->second.epoch == plan->epoch) {
      BANDANA_RETURN_IF_ERROR(Gather(client, answer->second, plan->query));
    }
    return false;
  }

  absl::Status SendGathered() override {
    if (batch_.shares().messages().empty()) return absl::OkStatus();
    SendProto(params().route.shuffled ? kShufflerName : kServerName, batch_);
    batch_.mutable_shares()->clear_messages();
    batch_bytes_ = 0;
    return absl::OkStatus();
  }

  absl::Status TakeSent(NodeId from, NodeId to, Payload payload) override {
    const auto* share = std::get_if<Share>(&payload);
    if (to != topology_.LinksOf(from).upstream || share == nullptr) {
      return absl::InternalError("a client can send only shares, and only to the server or its shuffler");
    }
    Answer& answer = answers_[from];
    if (answer.epoch >= share->epoch) {
      return absl::InternalError(
          fmt::format("client {} answered twice in epoch {}", from.value, share->epoch));
    }
    ++counts().shares;
    answer = {share->epoch, question_, next_seq_++, *share};
    return absl::OkStatus();
  }

 private:
  // The last one of a client; sent again if the plan comes again.
  struct Answer {
    Epoch epoch = 0;
    std::string question = {};
    Seq seq = 0;
    Share share = {};

    template <class Archive>
    void State(Archive& a) {
      a(epoch, question, seq, share.epoch, share.hops, share.report);
    }
  };
  struct Seat {
    Seat(std::unique_ptr<Player> role, RoleWorld& world, Links links)
        : player(std::move(role)), context(world, std::move(links)) {}
    std::unique_ptr<Player> player;
    RoleContext context;
  };

  Seat& SeatOf(NodeId client) {
    const auto [it, is_new] = seats_.try_emplace(client, nullptr);
    if (is_new) {
      it->second = std::make_unique<Seat>(make_player_(client), world(), topology_.LinksOf(client));
    }
    return *it->second;
  }

  absl::Status MakeSealer() {
    if (!params().route.sealed() || sealing_key_.empty()) return absl::OkStatus();
    BANDANA_ASSIGN_OR_RETURN(CountSealer sealer, CountSealer::Create(sealing_key_));
    sealer_.emplace(std::move(sealer));
    return absl::OkStatus();
  }

  absl::Status Gather(NodeId client, const Answer& answer, const MeanQuery& query) {
    v1::Message& added = *batch_.mutable_shares()->add_messages();
    Encode({client, client, 0, answer.seq, answer.share}, added);
    if (params().route.sealed()) {
      if (!sealer_) return absl::InvalidArgumentError("the server asked before it sent its sealing key");
      BANDANA_ASSIGN_OR_RETURN(const Count bits, params().route.bits_per_coordinate(query));
      const Report& report = answer.share.report;
      v1::SealedShare& sealed = *added.mutable_sealed_share();  // replaces what was encoded
      sealed.set_epoch(answer.epoch);
      sealed.set_quorum(report.quorum());
      sealed.set_question(report.question());
      batch_bytes_ += static_cast<std::size_t>(bits) * report.size() * kSealedBitBytes;
      BANDANA_RETURN_IF_ERROR(sealer_->Seal(answer.epoch, Wire::Units(report), bits, sealed));
    }
    const bool is_full = batch_.shares().messages_size() >= kBatchMessages || batch_bytes_ >= kSealedBytes;
    return is_full ? SendGathered() : absl::OkStatus();
  }

  MakePlayer make_player_;
  SlotWorld& environment_;
  Topology topology_;
  std::string sealing_key_;
  std::optional<CountSealer> sealer_;
  std::map<NodeId, std::unique_ptr<Seat>> seats_;
  std::string question_;  // the question of the current plan
  std::map<NodeId, Answer> answers_;
  std::vector<RewardSum> rewards_;
  v1::FromAgent batch_;
  std::size_t batch_bytes_ = 0;  // of the sealed bits in it
  Seq next_seq_ = 0;
};

}  // namespace

std::unique_ptr<AgentMachine> MakePlanAgent(const AgentParams& params, MakePlayer make_player,
                                            SlotWorld& world) {
  return std::make_unique<PlanAgent>(params, std::move(make_player), world);
}

}  // namespace bandana::service
