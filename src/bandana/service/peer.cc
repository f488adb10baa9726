#include "bandana/service/peer.h"

#include <memory>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/service/lock_step.h"
#include "bandana/service/names.h"
#include "bandana/service/one_round.h"
#include "bandana/service/process.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

bool IsForPeers(const Payload& body) {
  return std::holds_alternative<Bulletin>(body) || std::holds_alternative<SyncRequest>(body);
}

LinkProtocol Rounds(const PeerParams& params) {
  return {.first = 1, .last = params.rounds, .carries = IsForPeers, .kinds = "bulletins and requests"};
}

// A peer's side of a run. Slots are rounds.
class PeerMachine final : public LockStep {
 public:
  PeerMachine(const PeerParams& params, RoundPlayer<double>& player, RoundWorld& world, OneRound one_round)
      : LockStep(params, Rounds(params)), player_(player), world_(world), one_round_(std::move(one_round)) {}

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    LockStep::State(a);
    VisitPart(a, player_);
    VisitPart(a, world_);
  }

 protected:
  absl::Status Play(const std::vector<Message>& messages) override {
    BANDANA_RETURN_IF_ERROR(one_round_.Play(player_, context(), params().self, slot()));
    for (const Message& message : messages) BANDANA_RETURN_IF_ERROR(player_.OnMessage(context(), message));
    return player_.EndRound(context(), slot());
  }
  bool is_last() const override { return slot() == params().rounds; }

 private:
  RoundPlayer<double>& player_;
  RoundWorld& world_;
  OneRound one_round_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LockStep>> MakePeer(const PeerParams& params, RoundPlayer<double>& player,
                                                   RoundWorld& world) {
  BANDANA_RETURN_IF_ERROR(ValidateLockStep(params, kShufflerNode.value - 1, false));
  if (params.rounds < 1) {
    return InvalidField(Part::kFacts, "horizon", fmt::format("{}", params.rounds), "a whole number >= 1");
  }
  BANDANA_ASSIGN_OR_RETURN(OneRound one_round, OneRound::Create(world));
  return std::make_unique<PeerMachine>(params, player, world, std::move(one_round));
}

absl::StatusOr<PeerReport> RunPeer(const PeerParams& params, RoundPlayer<double>& player, RoundWorld& world) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<LockStep> machine, MakePeer(params, player, world));
  return RunInLockStep(params, *machine);
}

absl::StatusOr<PeerReport> RunInLockStep(const PeerParams& params, LockStep& machine) {
  if (!(params.connect_timeout > absl::ZeroDuration())) {
    return InvalidField(Part::kService, "connect_timeout", absl::FormatDuration(params.connect_timeout),
                        "a time > 0");
  }
  ProcessParams process{.listen = params.listen,
                        .deployed = params.deployed,
                        .budget = params.budget,
                        .sends_early = true,
                        .stop = params.stop,
                        .on_listening = params.on_listening};
  Runtime::Params& runtime = process.runtime;
  runtime.self = NodeLink(params.self);
  runtime.digest = params.spec_digest;
  runtime.runs_differ = true;
  runtime.join_timeout = params.connect_timeout;
  runtime.commit_delay = absl::Milliseconds(20);
  for (const auto& [node, address] : params.neighbours) {
    const bool dials = Dials(params.self, node);
    runtime.partners[NodeLink(node)] = {
        .dialed = dials, .name = node == kServerNode ? kServerName : fmt::format("neighbour {}", node.value)};
    if (dials) process.dial[NodeLink(node)] = address;
  }
  BANDANA_ASSIGN_OR_RETURN(const ProcessReport done, RunProcess(std::move(process), machine));
  PeerReport report = machine.report();
  report.bytes_in = done.bytes_in;
  report.bytes_out = done.bytes_out;
  report.seconds = done.seconds;
  report.spent = done.spent;
  return report;
}

}  // namespace bandana::service
