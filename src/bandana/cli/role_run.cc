#include "bandana/cli/role_run.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "bandana/cli/output.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

absl::Status BadValue(const RoleConfig& config, const std::string& key, const std::string& value,
                      std::string accepted) {
  return config.WithSource(InvalidOption(key, value, std::move(accepted)));
}

}  // namespace

std::string NameOf(RoleKind kind) {
  switch (kind) {
    case RoleKind::kServer:
      return "server";
    case RoleKind::kShuffler:
      return "shuffler";
    case RoleKind::kAgent:
      return "agent";
    case RoleKind::kPeer:
      break;
  }
  return "peer";
}

absl::Status RoleRun::Refuse(const std::string& key, const std::string& value, std::string accepted) const {
  return BadValue(config, key, value, std::move(accepted));
}

absl::Status RoleRun::NeedsNoShuffler() const {
  return config.WithSource(
      InvalidInput({.message = "this algorithm has no shuffler; start a server and agents",
                    .key = "algorithm.name",
                    .value = algorithm(),
                    .accepted = "an elimination algorithm under privacy.model = \"shuffle\""}));
}

absl::Status RoleRun::RefuseLosses() const {
  const auto* losses = std::any_cast<LossParams>(&instance.experiment.simulation);
  if (losses == nullptr) return absl::OkStatus();
  if (!losses->failures.empty()) {
    return Refuse("federation.failures", config.settings.Text("federation.failures"),
                  "none: only a simulation can plan failures");
  }
  if (losses->dropout > 0) {
    return Refuse("federation.dropout", fmt::format("{}", losses->dropout),
                  "0: only a simulation can draw losses");
  }
  return absl::OkStatus();
}

void RoleRun::TellListening(const std::string& address) const {
  if (address.empty()) return;
  log.Write(RoleLog::Level::kInfo, "listening", {{"address", address}}, "listening on " + address);
}

absl::StatusOr<service::ServerParams> RoleRun::Server() const {
  BANDANA_ASSIGN_OR_RETURN(const std::string listen, config.Service("listen"));
  return service::ServerParams{.listen = listen,
                               .clients = federation().topology.clients(),
                               .route = {},
                               .spec_digest = config.Digest(),
                               .budget_per_client = federation().budget,
                               .insecure_seed = config.insecure_seed,
                               .join_timeout = kJoinTimeout,
                               .answer_timeout = kLongAnswerTimeout,
                               .stop = stop,
                               .on_listening = [this](const std::string& at) { TellListening(at); }};
}

absl::StatusOr<service::AgentParams> RoleRun::Agent() const {
  BANDANA_ASSIGN_OR_RETURN(const std::string server, config.Service("server"));
  BANDANA_ASSIGN_OR_RETURN(const ClientRange range, ClientsOf(config, federation().topology.clients()));
  return service::AgentParams{.server = server,
                              .route = {},
                              .first_client = range.first,
                              .clients = range.count,
                              .spec_digest = config.Digest(),
                              .budget_per_client = federation().budget,
                              .insecure_seed = config.insecure_seed,
                              .connect_timeout = kConnectTimeout,
                              .stop = stop};
}

lab::Json RoleRun::Summary(const service::AgentReport& report) const {
  return {{"role", NameOf(kind)},
          {"shares", report.shares},
          {"bytes_in", report.bytes_in},
          {"bytes_out", report.bytes_out},
          {"spent", federation().charges_clients ? GuaranteeJson(report.spent) : lab::Json(nullptr)},
          {"seconds", report.seconds}};
}

lab::Json RoleRun::Done(const lab::Json& done, const std::optional<LedgerHead>& head) const {
  lab::Json all = {{"role", NameOf(kind)}};
  all.update(done);
  all["claims"] = lab::Json::array();
  for (const Claim& claim : federation().claims) all["claims"].push_back(lab::ToJson(claim));
  const std::string why = VoidReason(config, federation());
  all["void"] = why.empty() ? lab::Json(nullptr) : lab::Json(why);
  TellDone(all, Delivered(config, federation(), head));
  return all;
}

void RoleRun::TellDone(const lab::Json& done, const std::string& sentence) const {
  lab::Json fields = done;
  fields.erase("role");  // each line has the name of the process
  fields["says"] = sentence;
  log.Write(RoleLog::Level::kInfo, "done", fields, sentence);
}

absl::StatusOr<ClientRange> ClientsOf(const RoleConfig& config, Count population) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, config.Service("clients"));
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  Count first = 0;
  Count last = 0;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) ||
      !(1 <= first && first <= last && last <= population)) {
    return config.WithSource(
        InvalidInput({.message = "not a range of clients",
                      .key = "service.clients",
                      .value = text,
                      .accepted = fmt::format("FIRST-LAST with 1 <= FIRST <= LAST <= {}", population)}));
  }
  return ClientRange{NodeId{static_cast<std::uint32_t>(first)}, last - first + 1};
}

absl::StatusOr<NodeId> NodeOf(const RoleConfig& config, Count agents) {
  const lab::Settings& service = config.spec.service;
  const Count node = service.Has("service.node") ? service.Integer("service.node") : 0;
  if (node >= 1 && node <= agents) return NodeId{static_cast<std::uint32_t>(node)};
  return BadValue(config, "service.node", node == 0 ? "" : fmt::format("{}", node),
                  fmt::format("a whole number from 1 to {}", agents));
}

absl::StatusOr<std::vector<std::string>> AddressesOf(const RoleConfig& config, Count agents) {
  BANDANA_ASSIGN_OR_RETURN(const std::string peers, config.Service("peers"));
  std::vector<std::string> addresses;
  for (const auto& address : absl::StrSplit(peers, ',')) {
    addresses.emplace_back(absl::StripAsciiWhitespace(address));
  }
  if (static_cast<Count>(addresses.size()) == agents) return addresses;
  return BadValue(config, "service.peers", peers, fmt::format("{} addresses, one for each node", agents));
}

}  // namespace bandana::cli
