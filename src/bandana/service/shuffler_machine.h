#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/federation/messages.h"
#include "bandana/service/machine.h"
#include "bandana/service/mixer.h"
#include "bandana/service/part.h"
#include "bandana/service/roster.h"
#include "bandana/service/shuffler.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// The shuffler of a federation. It knows which agent speaks for which clients, so that nobody sends for
/// others. Its mixer does the rest.
class ShufflerMachine final : public Machine {
 public:
  ShufflerMachine(Count clients, std::unique_ptr<Mixer> mixer);

  void Attach(store::StoreLedger& ledger, const store::Key& secret) override;
  absl::Status Admits(const std::string& link) const override { return roster_.Admits(link); }
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string& link, std::string_view body) const override;
  absl::Status Begin() override;
  absl::Status Check(const std::string& link, const Input& input) const override;
  absl::Status Take(const std::string& link, Input& input) override;
  Absence JudgeAbsence(const std::string& link) const override;
  absl::Status Lose(const std::string& link, const std::string& why) override;
  bool MayStartAnew(const std::string&) const override { return !started_ && answered_.empty(); }
  void Abort(const absl::Status& why) override;
  bool over() const override { return over_; }
  absl::Status result() const override { return result_; }

  /// Without what only the process knows, such as its bytes.
  ShufflerReport report() const { return report_; }

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(clients_, "number of clients");
    a(started_, over_, result_, roster_, rolls_, answered_, last_mixed_, report_.shares, report_.mixes);
    VisitPart(a, *mixer_);
  }

 private:
  struct Letter;
  absl::Status TakeFromServer(const v1::ToAgent& message);
  absl::Status TakeShares(v1::Shares& shares);
  void SendToServer(v1::Message message);
  Count AwaitedOf(const Seated& agent) const;
  absl::Status CheckLost(const Seated& agent) const;
  void End(absl::Status result);

  Count clients_;
  std::unique_ptr<Mixer> mixer_;
  bool started_ = false;  // a mix request has arrived
  bool over_ = false;
  absl::Status result_;
  Roster roster_;
  std::map<Epoch, std::shared_ptr<const MixRequest>> rolls_;  // mix requests that are not mixed yet
  std::map<Epoch, absl::flat_hash_set<NodeId>> answered_;
  Epoch last_mixed_ = 0;
  ShufflerReport report_;
};

}  // namespace bandana::service
