#include "bandana/service/peer.h"

#include "bandana/core/status.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/one_round.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

bool IsForPeers(const Payload& body) {
  return std::holds_alternative<Bulletin>(body) || std::holds_alternative<SyncRequest>(body);
}

// The peer's side of a run. Slots are rounds.
class PeerRun : public LockStep {
 public:
  PeerRun(const PeerParams& params, const LinkProtocol& protocol, PeerLinks& links,
          RoundPlayer<double>& player, OneRound& world)
      : LockStep(params, protocol, links), player_(player), world_(world) {}

  absl::Status Run() {
    BANDANA_RETURN_IF_ERROR(Begin());
    while (slot() <= params().rounds) {
      BANDANA_RETURN_IF_ERROR(PlayRound(slot()));
      BANDANA_RETURN_IF_ERROR(EndSlot());
    }
    BANDANA_RETURN_IF_ERROR(ReceiveLast());
    End(params().rounds);
    return absl::OkStatus();
  }

 private:
  absl::Status PlayRound(Count round) {
    BANDANA_RETURN_IF_ERROR(CheckStop());
    BANDANA_RETURN_IF_ERROR(world_.Play(player_, context(), params().self, round));
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Message> messages, Receive());
    for (const Message& message : messages) BANDANA_RETURN_IF_ERROR(player_.OnMessage(context(), message));
    return player_.EndRound(context(), round);
  }

  RoundPlayer<double>& player_;
  OneRound& world_;
};

}  // namespace

absl::StatusOr<PeerReport> RunPeer(const PeerParams& params, RoundPlayer<double>& player, RoundWorld& world) {
  BANDANA_RETURN_IF_ERROR(ValidateLockStep(params, kShufflerNode.value - 1, false));
  if (params.rounds < 1) {
    return InvalidField(Part::kFacts, "horizon", fmt::format("{}", params.rounds), "a whole number >= 1");
  }
  BANDANA_ASSIGN_OR_RETURN(OneRound one_round, OneRound::Create(world));
  const LinkProtocol protocol{
      .first = 1, .last = params.rounds, .carries = IsForPeers, .kinds = "bulletins and requests"};
  return RunInLockStep<PeerRun>(params, protocol, player, one_round);
}

}  // namespace bandana::service
