#include "bandana/service/live_machine.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "bandana/bandit/world.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/service/parse_proto.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr std::size_t kSubjectBytes = 16;
constexpr int kMostSubjects = 1000;
constexpr int kJitterShare = 10;  // an answer is delayed by up to a tenth of the window

// The rewards of one client, who has played already.
class PlayedRewards final : public SlotWorld {
 public:
  explicit PlayedRewards(const std::vector<RewardSum>& sums) : sums_(sums) {}
  const Facts& facts() const override {
    static const Facts& none = *new Facts();
    return none;
  }
  absl::Status Answer(NodeId, Epoch, std::span<const Pull> pulls, std::span<RewardSum> rewards) override {
    if (pulls.size() != sums_.size()) return absl::InternalError("a client plays another plan than its own");
    std::copy(sums_.begin(), sums_.end(), rewards.begin());
    return absl::OkStatus();
  }

 private:
  const std::vector<RewardSum>& sums_;
};

}  // namespace

struct LiveMachine::Event : Input {
  v1::LiveEvent event;
};

LiveMachine::LiveMachine(const LiveParams& params, Node& server, const SlotRoles& roles,
                         const Topology& topology, Replies replies,
                         std::function<void(const LiveStatus&)> on_status)
    : params_(params),
      server_(server),
      roles_(roles),
      topology_(topology),
      replies_(std::move(replies)),
      on_status_(std::move(on_status)),
      world_(params.insecure_seed,
             [this](NodeId from, NodeId to, Payload payload) {
               if (from == kServerNode) return Offer(to, payload);
               shares_.push_back({from, from, 0, next_seq_++, std::move(payload)});
             }),
      context_(world_, topology_.LinksOf(kServerNode)) {
  world_.ChargeInstead([this](const UnitRanges& seats) -> absl::StatusOr<UnitRanges> {
    std::vector<NodeId> units;
    bool known = true;
    seats.ForEach([&](NodeId seat) {
      const auto unit = unit_of_seat_.find(seat);
      known = known && unit != unit_of_seat_.end();
      if (known) units.push_back(unit->second);
    });
    if (!known) return absl::InternalError("a release has an answer that no person gave");
    return UnitRanges::Of(std::move(units));
  });
}

NodeId LiveMachine::UnitOf(std::string_view subject) {
  const std::string hash = absl::HexStringToBytes(Sha256(fmt::format("bandana unit {}", subject)));
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<std::uint8_t>(hash[i]);
  return NodeId{std::max<std::uint32_t>(1, number & 0x7fffffff)};
}

void LiveMachine::Attach(store::StoreLedger& ledger, const store::Key& secret) {
  world_.Attach(ledger, secret);
  ledger_ = &ledger;
  secret_ = &secret;
}

absl::Status LiveMachine::Restore(std::string_view saved) {
  BANDANA_RETURN_IF_ERROR(RestoreState(saved, *this));
  Learn();
  TellStatus();
  return absl::OkStatus();
}

absl::Status LiveMachine::Admits(const std::string& link) const {
  return absl::PermissionDeniedError(
      fmt::format("{} has no part in this run: its people come to the server themselves", link));
}

absl::StatusOr<std::unique_ptr<Machine::Input>> LiveMachine::Read(const std::string&,
                                                                  std::string_view body) const {
  auto read = std::make_unique<Event>();
  v1::LiveEvent& event = read->event;
  BANDANA_RETURN_IF_ERROR(ParseProto(body, event));
  for (const std::string& subject : event.decide().subject()) {
    if (subject.size() != kSubjectBytes) return absl::InvalidArgumentError("a subject has 16 bytes");
  }
  if (event.decide().subject_size() > kMostSubjects) {
    return absl::InvalidArgumentError(fmt::format("at most {} subjects at once", kMostSubjects));
  }
  for (const v1::Post& post : event.rewards().posts()) {
    const bool fits = post.reward() >= params_.low && post.reward() <= params_.high;
    if (post.void_() || fits) continue;
    return absl::InvalidArgumentError(
        fmt::format("a reward is a number from {} to {}", params_.low, params_.high));
  }
  return read;
}

absl::Status LiveMachine::Begin() {
  TellStatus();
  return absl::OkStatus();
}

absl::Status LiveMachine::Take(const std::string&, Input& input) {
  const v1::LiveEvent& event = static_cast<Event&>(input).event;
  BANDANA_RETURN_IF_ERROR(Advance(std::max(now_, event.time())));
  if (!started_) {
    started_ = true;
    BANDANA_RETURN_IF_ERROR(server_.OnStart(context_));
    BANDANA_RETURN_IF_ERROR(AfterRole(0));
  }
  LiveReply reply;
  for (const std::string& subject : event.decide().subject()) reply.decisions.push_back(Decide(subject));
  for (const v1::Post& post : event.rewards().posts()) reply.outcomes.push_back(Post(post));
  if (replies_ && event.request() != 0) {
    Tell([this, request = event.request(), reply = std::move(reply)] { replies_(request, reply); });
  }
  TellStatus();
  return absl::OkStatus();
}

absl::Time LiveMachine::due() const {
  if (over_) return absl::InfiniteFuture();
  if (!started_) return absl::InfinitePast();
  const std::int64_t next = due_.empty() ? deadline_ : std::min(deadline_, due_.begin()->first);
  return absl::FromUnixMicros(next);
}

// Deals with everything that is due up to this time, in its order.
absl::Status LiveMachine::Advance(std::int64_t time) {
  while (started_ && !over_) {
    const bool settles = !due_.empty() && due_.begin()->first <= std::min(time, deadline_);
    if (!settles && deadline_ > time) break;
    if (settles) {
      const auto [at, id] = *due_.begin();
      now_ = std::max(now_, at);
      due_.erase(due_.begin());
      BANDANA_RETURN_IF_ERROR(Settle(id));
    } else {
      now_ = std::max(now_, deadline_);
      BANDANA_RETURN_IF_ERROR(AtDeadline());
    }
  }
  now_ = time;
  return absl::OkStatus();
}

// The role has a message for a client: it becomes a seat.
void LiveMachine::Offer(NodeId seat, const Payload& payload) {
  const auto* task = std::get_if<Task>(&payload);
  const auto* whole = std::get_if<std::shared_ptr<const Plan>>(&payload);
  BANDANA_CHECK(task != nullptr || whole != nullptr);
  const std::shared_ptr<const Plan>& plan = task == nullptr ? *whole : task->plan;
  if (plan_ == nullptr || plan_->epoch != plan->epoch) BeginPhase(plan);
  open_.push_back({seat, task == nullptr ? Report::kWhole : task->part});
}

// The data of people who have not answered in the last phase are erased here.
void LiveMachine::BeginPhase(const std::shared_ptr<const Plan>& plan) {
  plan_ = plan;
  open_.clear();
  seated_.clear();
  decisions_.clear();
  due_.clear();
  unit_of_seat_.clear();
  attempt_ = 1;
  stalled_ = false;
  SetDeadline();
}

void LiveMachine::SetDeadline() {
  const absl::Duration time = params_.fill + params_.window + params_.window / kJitterShare + params_.grace;
  deadline_ = now_ + absl::ToInt64Microseconds(time);
}

std::string LiveMachine::RunName() const {
  const store::Key key = store::DeriveKey(*secret_, "live name");
  return fmt::format("{:02x}{:02x}{:02x}{:02x}", key[0], key[1], key[2], key[3]);
}

// Returns a number below `below` that follows from the run's secret.
std::uint64_t LiveMachine::Draw(const std::string& what, std::uint64_t below) const {
  SecureSource bits(store::DeriveKey(*secret_, "live " + what));
  CoinGen coin(bits);
  return UniformBelow(below, coin);
}

std::vector<Pull> LiveMachine::PullsOf(const Seat& seat) const {
  if (seat.part == Report::kWhole) return plan_->pulls;
  return {{plan_->pulls[static_cast<std::size_t>(seat.part)].arm, 1}};
}

bool LiveMachine::MayTakeSeat(NodeId unit) const {
  if (over_ || open_.empty() || used_.contains(unit)) return false;
  const Loss cost{params_.cost.epsilon, params_.cost.delta};
  const bool is_free = params_.cost.epsilon == 0 && params_.cost.delta == 0;
  return is_free || ledger_->accounts().Check(cost, unit).ok();
}

LiveDecision LiveMachine::Decide(const std::string& subject) {
  const NodeId unit = UnitOf(subject);
  auto guest = seated_.find(unit);
  if (guest == seated_.end()) {
    if (!MayTakeSeat(unit)) return Free(subject);
    // Any seat is as likely as any other, so that who comes first does not choose what is played.
    const std::uint64_t at = Draw(fmt::format("seat {}", last_decision_ + 1), open_.size());
    std::swap(open_[at], open_.back());
    guest = seated_.emplace(unit, Guest{.seat = open_.back()}).first;
    guest->second.earned.resize(PullsOf(guest->second.seat).size());
    open_.pop_back();
  }
  Guest& player = guest->second;
  const std::vector<Pull> pulls = PullsOf(player.seat);
  Count before = player.pulled;
  std::uint32_t pull = 0;
  while (pull < pulls.size() && before >= pulls[pull].count) before -= pulls[pull++].count;
  if (pull == pulls.size()) return Free(subject);  // it has played its part
  ++player.pulled;
  const std::uint64_t id = ++last_decision_;
  const std::int64_t window = absl::ToInt64Microseconds(params_.window);
  const std::int64_t ends = now_ + window;
  const auto jitter = static_cast<std::int64_t>(
      Draw(fmt::format("jitter {}", id), static_cast<std::uint64_t>(window / kJitterShare + 1)));
  decisions_[id] = {unit, pull, ends, std::nullopt};
  due_.insert({ends + jitter, id});
  return {id, pulls[pull].arm, absl::FromUnixMicros(ends)};
}

std::optional<LiveDecision> LiveMachine::FreeDecision(const std::string& subject) const {
  const NodeId unit = UnitOf(subject);
  if (!started_ || seated_.contains(unit) || MayTakeSeat(unit)) return std::nullopt;
  return Free(subject);
}

// Before the first release nothing is known, and every action is as good as any other.
LiveDecision LiveMachine::Free(const std::string& subject) const {
  if (is_known_) return {0, best_};
  const auto arms = static_cast<std::uint32_t>(params_.actions->rows());
  return {0, static_cast<ArmId>(UnitOf("free " + subject).value % arms)};
}

LiveOutcome LiveMachine::Post(const v1::Post& post) {
  const auto at = decisions_.find(post.decision());
  if (at == decisions_.end() || now_ >= at->second.window_ends) return LiveOutcome::kLate;
  Decision& decision = at->second;
  if (post.void_()) {
    if (decision.reward) return LiveOutcome::kConflict;
    Vacate(decision.unit);
    return LiveOutcome::kTaken;
  }
  if (decision.reward) {
    return *decision.reward == post.reward() ? LiveOutcome::kRepeat : LiveOutcome::kConflict;
  }
  decision.reward = post.reward();
  return LiveOutcome::kTaken;
}

// Frees a seat. What the person on it has played is erased, and was never released.
void LiveMachine::Vacate(NodeId unit) {
  const auto guest = seated_.find(unit);
  open_.push_back(guest->second.seat);
  seated_.erase(guest);
  for (auto it = decisions_.begin(); it != decisions_.end();) {
    it = it->second.unit == unit ? decisions_.erase(it) : std::next(it);
  }
}

// The window of a decision is over.
absl::Status LiveMachine::Settle(std::uint64_t id) {
  const auto at = decisions_.find(id);
  if (at == decisions_.end()) return absl::OkStatus();  // its seat was vacated
  const Decision decision = at->second;
  decisions_.erase(at);
  Guest& guest = seated_.at(decision.unit);
  const double share =
      (decision.reward.value_or(params_.missing) - params_.low) / (params_.high - params_.low);
  Earned& sum = guest.earned[decision.pull];
  sum.sum += params_.learned.low + share * (params_.learned.high - params_.learned.low);
  ++sum.count;
  ++guest.settled;
  Count all = 0;
  for (const Pull& pull : PullsOf(guest.seat)) all += pull.count;
  return guest.settled == all ? Answer(decision.unit) : absl::OkStatus();
}

// Makes the answer of a person who has played everything, and hands it to the role.
absl::Status LiveMachine::Answer(NodeId unit) {
  const Guest guest = std::move(seated_.at(unit));
  seated_.erase(unit);
  unit_of_seat_[guest.seat.id] = unit;
  used_.insert(unit);
  const std::unique_ptr<Player> player = roles_.client(guest.seat.id);
  RoleContext context(world_, topology_.LinksOf(guest.seat.id));
  std::vector<RewardSum> sums;
  for (const Earned& each : guest.earned) sums.push_back({each.count, each.sum});
  PlayedRewards played(sums);
  std::vector<RewardSum> scratch;
  Payload payload = plan_;
  if (guest.seat.part != Report::kWhole) payload = Task{plan_, guest.seat.part};
  const Message message{kServerNode, kServerNode, 0, next_seq_++, std::move(payload)};
  BANDANA_RETURN_IF_ERROR(DriveMessage(*player, context, message, played, scratch));
  const Epoch before = plan_->epoch;
  for (const Message& share : std::exchange(shares_, {})) {
    BANDANA_RETURN_IF_ERROR(server_.OnMessage(context_, share));
  }
  return AfterRole(before);
}

absl::Status LiveMachine::AtDeadline() {
  const Epoch before = plan_->epoch;
  BANDANA_ASSIGN_OR_RETURN(const bool closed, server_.OnDeadline(context_, before));
  if (closed) return AfterRole(before);
  // Whoever has stopped coming loses the seat to somebody else.
  std::set<NodeId> waiting;
  for (const auto& [id, decision] : decisions_) waiting.insert(decision.unit);
  std::vector<NodeId> gone;
  for (const auto& [unit, guest] : seated_) {
    if (!waiting.contains(unit)) gone.push_back(unit);
  }
  for (const NodeId unit : gone) Vacate(unit);
  stalled_ = ++attempt_ > params_.attempts;
  SetDeadline();
  return absl::OkStatus();
}

absl::Status LiveMachine::AfterRole(Epoch before) {
  const bool goes_on = plan_ != nullptr && plan_->epoch != before;
  if (!goes_on && !server_.finished()) return absl::OkStatus();
  SetClosed();
  Learn();
  if (server_.finished()) End(absl::OkStatus());
  return absl::OkStatus();
}

// Takes over what the role has released.
void LiveMachine::Learn() {
  auto learned = std::make_shared<Observations>();
  server_.Describe(*learned);
  is_known_ = !learned->phases.empty();
  if (is_known_) {
    const Vector values = *params_.actions * learned->phases.back().estimate;
    best_ = learned->active.front();
    for (const ArmId arm : learned->active) {
      if (values[arm] > values[best_]) best_ = arm;
    }
  }
  learned_ = std::move(learned);
}

void LiveMachine::End(absl::Status result) {
  if (over_) return;
  over_ = true;
  result_ = std::move(result);
  open_.clear();
  seated_.clear();
  decisions_.clear();
  due_.clear();
  SetClosed();
  TellStatus();
}

void LiveMachine::TellStatus() {
  if (!on_status_) return;
  LiveStatus status{.run = RunName(),
                    .epoch = plan_ == nullptr ? 0 : plan_->epoch,
                    .asked = static_cast<Count>(open_.size() + seated_.size()) + answered(),
                    .seated = static_cast<Count>(seated_.size()),
                    .answered = answered(),
                    .attempt = attempt_,
                    .stalled = stalled_,
                    .deadline = absl::FromUnixMicros(deadline_),
                    .best = best_,
                    .is_known = is_known_,
                    .learned = learned_};
  Tell([this, status = std::move(status)] { on_status_(status); });
}

}  // namespace bandana::service
