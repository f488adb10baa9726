#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/federation/node.h"
#include "bandana/service/machine.h"
#include "bandana/service/mixed_inbox.h"
#include "bandana/service/part.h"
#include "bandana/service/role_world.h"
#include "bandana/service/roster.h"
#include "bandana/service/server.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// The server of a federation: it decides which agents join, what the role receives, what is sent to whom,
/// and when the run ends.
class ServerMachine final : public Machine {
 public:
  /// `params` and `server` must outlive the machine. Only those of the parameters are used that say what is
  /// run, and not how.
  ServerMachine(const ServerParams& params, Node& server, std::function<void(std::span<const Pull>)> on_play);

  void Attach(store::StoreLedger& ledger, const store::Key& secret) override;
  absl::Status Admits(const std::string& link) const override;
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string& link, std::string_view body) const override;
  absl::Status Begin() override;
  absl::Status Check(const std::string& link, const Input& input) const override;
  absl::Status Take(const std::string& link, Input& input) override;
  Absence JudgeAbsence(const std::string& link) const override;
  absl::Status Lose(const std::string& link, const std::string& why) override;
  bool MayStartAnew(const std::string&) const override { return !started_; }
  void Abort(const absl::Status& why) override;
  absl::Status Missing() const override;
  std::string Awaits() const override;
  bool over() const override { return over_; }
  absl::Status result() const override { return result_; }

  /// Without what only the process knows, such as its bytes.
  ServerReport report() const;

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override;
  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.clients, "number of clients");
    a(roster_, shuffler_joined_, inbox_, query_, started_, over_, result_, next_seq_, epoch_, awaited_,
      last_rounds_, shares_, reals_, plays_, context_);
    VisitPart(a, server_);
  }

 private:
  struct Letter;
  struct Outgoing {
    std::vector<NodeId> to;  // several only for a plan
    Payload payload;
  };

  bool everyone_is_here() const {
    return roster_.complete() && (shuffler_joined_ || !params_.route.shuffled);
  }
  absl::Status Join(const std::string& link, const v1::Join& join);
  absl::Status TakeShares(Seated& agent, const std::vector<Message>& shares);
  absl::Status TakeMixed(std::vector<MixedInbox::Piece> pieces);
  absl::Status TakePlayed(Seated& agent, const v1::Played& played);
  void Settle(Seated& agent, NodeId client, Epoch epoch, std::size_t reals);
  void SettleMixed(Epoch epoch);
  absl::Status AfterRoleCall(const absl::Status& status);
  void Queue(NodeId to, Payload payload);
  absl::Status Flush();
  absl::Status FlushModels();
  absl::Status FlushMixRequest(const std::shared_ptr<const MixRequest>& mix_request);
  absl::StatusOr<Seated*> Ask(NodeId client);
  void End(absl::Status result);
  void Played(std::span<const Pull> pulls);
  void TellProgress();

  const ServerParams& params_;
  Node& server_;
  std::function<void(std::span<const Pull>)> on_play_;
  RoleWorld world_;
  RoleContext context_;
  const store::Key* secret_ = nullptr;

  Roster roster_;
  bool shuffler_joined_ = false;
  MixedInbox inbox_;
  MeanQuery query_;  // the query of the last plan sent
  bool started_ = false;
  bool over_ = false;
  absl::Status result_;
  std::vector<Outgoing> outgoing_;  // empty between two calls
  Seq next_seq_ = 0;
  Epoch epoch_ = 0;
  Count awaited_ = 0;
  bool last_rounds_ = false;  // the role has finished, but clients still play
  Count shares_ = 0;
  Count reals_ = 0;
  std::vector<std::vector<Pull>> plays_;
};

}  // namespace bandana::service
