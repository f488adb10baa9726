#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/observations.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/service/machine.h"
#include "bandana/service/part.h"
#include "bandana/service/randomness.h"
#include "bandana/service/role_world.h"
#include "proto/live.pb.h"

namespace bandana::service {

/// The link from which a live machine hears of an application's people. No process has this name.
inline constexpr char kPeopleLink[] = "people";

/// How a server deals with people. Rewards are in the application's own units, from `low` to `high`.
struct LiveParams {
  std::shared_ptr<const ActionMatrix> actions;
  double low = 0;
  double high = 1;
  double missing = 0;      ///< what counts for a reward that has not come
  Interval learned{0, 1};  ///< to which low and high are mapped
  absl::Duration window;   ///< in which the reward of a decision may come
  absl::Duration fill;     ///< how long a phase waits for people before its first deadline
  absl::Duration grace;    ///< the time between the end of the last window and the deadline
  int attempts = 5;        ///< after so many deadlines with too few answers a run is stalled
  DpGuarantee cost{0, 0};  ///< what a release costs a person; 0: nothing
  std::optional<InsecureSeed> insecure_seed;
};

/// The action that one person should be shown.
struct LiveDecision {
  std::uint64_t id = 0;  ///< names it in the reward that is posted; 0: the decision does not count
  ArmId arm = 0;
  absl::Time window_ends = absl::InfinitePast();  ///< of a decision that counts
};

enum class LiveOutcome {
  kTaken,
  kRepeat,    ///< it was taken before
  kConflict,  ///< another one was taken before, and stays
  kLate,      ///< the window is over, or the answer is not needed any more
};

/// The answer to one event, in the order of what was asked.
struct LiveReply {
  std::vector<LiveDecision> decisions;
  std::vector<LiveOutcome> outcomes;
};

/// Tells how far a run is. All of it is public: it follows from released values, and from who came when.
struct LiveStatus {
  std::string run;  ///< a few digits that name the run in the names of its decisions; empty before it begins
  Epoch epoch = 0;
  Count asked = 0;     ///< seats of the phase
  Count seated = 0;    ///< people who have taken one and have not answered yet
  Count answered = 0;  ///< people whose answer is in
  int attempt = 1;
  bool stalled = false;  ///< too few people have answered, several times; the run waits
  absl::Time deadline = absl::InfiniteFuture();
  ArmId best = 0;
  bool is_known = false;  ///< whether `best` follows from a release
  std::shared_ptr<const Observations> learned = {};
};

/// The server of a federation of an application's own people, whom it may see raw (central trust). People
/// come when they like and are never asked. Whoever comes while the role waits for clients takes a seat and
/// plays what the role has planned for it. Everybody else gets the best known action.
///
/// Who answers, and when, must not depend on rewards, because no noise covers it. So the answer of a person
/// is made when the window of the last decision ends, plus a random time, whatever the reward was and
/// whenever it came. A reward that has not come counts as LiveParams::missing
/// (docs/proofs/answers-in-time.md).
///
/// A person is a subject of 16 bytes. The ledger charges units, whose numbers are 31 bits of the subject's
/// hash, so that a person is the same unit in every run. Two people who share a number share a budget.
///
/// A client is simulated by the server: a Player makes the answer of each seat.
class LiveMachine final : public Machine {
 public:
  using Replies = std::function<void(std::uint64_t request, LiveReply reply)>;

  /// `params`, `server` and `roles` must outlive the machine.
  LiveMachine(const LiveParams& params, Node& server, const SlotRoles& roles, const Topology& topology,
              Replies replies, std::function<void(const LiveStatus&)> on_status);

  /// Returns the number of the unit that is charged for a subject.
  static NodeId UnitOf(std::string_view subject);

  void Attach(store::StoreLedger& ledger, const store::Key& secret) override;
  absl::Status Admits(const std::string& link) const override;
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string& link, std::string_view body) const override;
  absl::Status Begin() override;
  absl::Status Take(const std::string& link, Input& input) override;
  Absence JudgeAbsence(const std::string&) const override { return Absence::kWait; }
  absl::Status Lose(const std::string&, const std::string&) override { return absl::OkStatus(); }
  void Abort(const absl::Status& why) override { End(why); }
  bool over() const override { return over_; }
  absl::Status result() const override { return result_; }

  /// Returns the decision for a subject if it does not count, so that nothing has to be remembered.
  std::optional<LiveDecision> FreeDecision(const std::string& subject) const;

  /// Returns when the machine needs an event, if none comes before.
  absl::Time due() const;

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override;
  template <class Archive>
  void State(Archive& a) {
    a(now_, started_, over_, result_, plan_, open_, seated_, decisions_, due_, used_, unit_of_seat_,
      last_decision_, attempt_, stalled_, deadline_, best_, is_known_, next_seq_, context_);
    VisitPart(a, server_);
  }

 private:
  struct Event;
  struct Seat {
    NodeId id = {};
    int part = 0;
    template <class Archive>
    void State(Archive& a) {
      a(id, part);
    }
  };
  // The rewards of one pull.
  struct Earned {
    double sum = 0;
    Count count = 0;
    template <class Archive>
    void State(Archive& a) {
      a(sum, count);
    }
  };
  // A person on a seat.
  struct Guest {
    Seat seat = {};
    Count pulled = 0;   // of the plan's rounds, in their order
    Count settled = 0;  // rounds whose windows are over
    std::vector<Earned> earned = {};
    template <class Archive>
    void State(Archive& a) {
      a(seat, pulled, settled, earned);
    }
  };
  struct Decision {
    NodeId unit = {};
    std::uint32_t pull = 0;  // of the guest's pulls
    std::int64_t window_ends = 0;
    std::optional<double> reward = {};
    template <class Archive>
    void State(Archive& a) {
      a(unit, pull, window_ends, reward);
    }
  };

  void BeginPhase(const std::shared_ptr<const Plan>& plan);
  void Offer(NodeId seat, const Payload& payload);
  LiveDecision Decide(const std::string& subject);
  LiveDecision Free(const std::string& subject) const;
  bool MayTakeSeat(NodeId unit) const;
  std::vector<Pull> PullsOf(const Seat& seat) const;
  LiveOutcome Post(const v1::Post& post);
  absl::Status Advance(std::int64_t time);
  absl::Status Settle(std::uint64_t id);
  absl::Status Answer(NodeId unit);
  absl::Status AtDeadline();
  absl::Status AfterRole(Epoch before);
  void Vacate(NodeId unit);
  void SetDeadline();
  void End(absl::Status result);
  void Learn();
  Count answered() const { return static_cast<Count>(unit_of_seat_.size()); }
  void TellStatus();
  std::string RunName() const;
  std::uint64_t Draw(const std::string& what, std::uint64_t below) const;

  const LiveParams& params_;
  Node& server_;
  const SlotRoles& roles_;
  Topology topology_;
  Replies replies_;
  std::function<void(const LiveStatus&)> on_status_;
  RoleWorld world_;
  RoleContext context_;
  store::StoreLedger* ledger_ = nullptr;
  const store::Key* secret_ = nullptr;

  std::int64_t now_ = 0;  // microseconds since 1970; it never goes back
  bool started_ = false;
  bool over_ = false;
  absl::Status result_;
  std::shared_ptr<const Plan> plan_;                      // of the open phase
  std::vector<Seat> open_;                                // seats that nobody has taken
  std::map<NodeId, Guest> seated_;                        // by unit
  std::map<std::uint64_t, Decision> decisions_;           // whose windows are open
  std::set<std::pair<std::int64_t, std::uint64_t>> due_;  // when decisions are settled
  absl::flat_hash_set<NodeId> used_;                      // units that have answered in this run
  absl::flat_hash_map<NodeId, NodeId> unit_of_seat_;      // that have answered in this phase
  std::uint64_t last_decision_ = 0;
  int attempt_ = 1;
  bool stalled_ = false;
  std::int64_t deadline_ = 0;
  ArmId best_ = 0;
  bool is_known_ = false;
  Seq next_seq_ = 0;
  std::shared_ptr<const Observations> learned_;  // by the role
  std::vector<Message> shares_;                  // from clients to the server; empty between two calls
};

}  // namespace bandana::service
