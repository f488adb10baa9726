#include <cstdlib>

#include "bandana/cli/role_run.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "grpc/support/log.h"

namespace bandana::cli {
namespace {

absl::StatusOr<lab::Json> Run(const RoleRun& run) {
  BANDANA_RETURN_IF_ERROR(run.RefuseLosses());
  switch (run.federation().time()) {
    case TimeModel::kSlot:
      return RunSlotRole(run);
    case TimeModel::kRound:
      return RunRoundRole(run);
    case TimeModel::kTick:
      return RunTickRole(run);
    case TimeModel::kUser:
      break;
  }
  return run.Refuse("algorithm.name", run.algorithm(), "an algorithm with a server, agents or peers");
}

// gRPC has a log of its own on stderr, in words that say little to a user. Whoever wants it sets
// GRPC_VERBOSITY.
void SilenceGrpc() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}

// Loads a role's configuration, runs it until it is done or interrupted, and returns its exit code.
int RunRole(RoleKind kind, const RoleArguments& arguments, const Global& global) {
  SilenceGrpc();
  const absl::StatusOr<RoleConfig> config = LoadRole(arguments);
  if (!config.ok()) return Fail(config.status(), global);
  NoteKeysWithoutEffect(config->spec, global);
  RoleLog log;
  const absl::Status opened = OpenLog(*config, NameOf(kind), arguments.events, global, log);
  if (!opened.ok()) return Fail(opened, global);
  const StopOnInterrupt stop;
  const absl::StatusOr<lab::Instance> instance = lab::MakeInstance(config->settings, 0);
  if (!instance.ok()) return Finish(instance.status(), *config, log, global);
  const absl::StatusOr<lab::Json> done = Run({kind, *config, *instance, log, global, stop.token()});
  const absl::Status status = lab::WithKey(done.status(), instance->experiment, false);
  return Finish(status.ok() ? done : absl::StatusOr<lab::Json>(status), *config, log, global);
}

}  // namespace

int ServerCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(RoleKind::kServer, arguments, global);
}
int ShufflerCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(RoleKind::kShuffler, arguments, global);
}
int AgentCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(RoleKind::kAgent, arguments, global);
}
int PeerCommand(const RoleArguments& arguments, const Global& global) {
  return RunRole(RoleKind::kPeer, arguments, global);
}

}  // namespace bandana::cli
