#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/algorithms/fed_ucb/fed_ucb.h"

/// FedUCB without a controller: P3's Algorithm 3. Peers on a graph pass messages on to their neighbours, one
/// hop per round and gamma hops at most. Each peer keeps gamma estimators that take turns, and adds up the
/// sums of its clique. The cliques cover the graph in which peers at a distance of at most gamma are joined.
///
///   paper                          here
///   g = t mod gamma                GroupOf(t) = (t - 1) mod gamma
///   C, the clique of i             FedUcbPeerParams::clique
///   SYNCHRONIZE(i, g, t)           SyncRequest
///   U^_i, u^_i                     Bulletin::sums
///   t' >= t - gamma                a message is passed on gamma times and then dropped
///
/// The departures of fed_ucb.h hold here too, and |C| takes the place of M in V and beta. A peer's own
/// release reaches it in the next round, when its neighbours get it, so that a clique of neighbours decides
/// by the same sums. A record is in one group's stream alone, so each stream has the whole budget. A peer
/// pays with the first release of any of its groups: with a trigger, no group is the first for sure.
namespace bandana {

struct FedUcbPeerParams {
  Count horizon = 0;
  std::vector<NodeId> clique;  ///< the peer itself is one of them
  int gamma = 1;
  LocalData local = LocalData::kReleased;
  Count pace = 1;
  bool triggers = false;
  double threshold = 0;    ///< D / (1 + L^2)
  double first_noise = 0;  ///< noise in the clique's Gram matrix that is released first
};

template <class P, class Scalar>
class FedUcbPeer final : public RoundPlayer<Scalar> {
 public:
  /// `schedule` counts the rounds in which one group was used. All references must outlive the peer.
  FedUcbPeer(FedUcbPeerParams params, const SyncSchedule& schedule, const FedUcbWidth& width,
             const P& privatizer, std::optional<Declassify> leak = std::nullopt)
      : params_(std::move(params)),
        schedule_(&schedule),
        privatizer_(&privatizer),
        leak_(leak),
        played_(static_cast<std::size_t>(width.params().dimension)) {
    BANDANA_CHECK(leak_.has_value() || (params_.local == LocalData::kReleased && !params_.triggers));
    for (int g = 0; g < params_.gamma; ++g) {
      RegressionStream* first = g == 0 ? nullptr : &groups_.front()->stream;
      groups_.push_back(std::make_unique<Group>(width, params_.first_noise, privatizer, first));
      groups_.back()->next = schedule.Next(1, 0, nullptr, 0);
    }
  }

  absl::Status OnMessage(Context& context, const Message& message) override {
    if (const auto* bulletin = std::get_if<Bulletin>(&message.body))
      return TakeBulletin(context, message, *bulletin);
    if (const auto* request = std::get_if<SyncRequest>(&message.body))
      return TakeRequest(context, message, *request);
    return absl::InvalidArgumentError("a peer accepts only bulletins and sync requests");
  }

  Count rounds_ready() const override { return round_ < params_.horizon ? 1 : 0; }
  bool Plays(Count round) const override { return round % params_.pace == 0; }

  const ChosenArm& Act(Context&, Count round, const Raw<DecisionSet<Scalar>>& set) override {
    Turn::Choose(GroupOf(round).policy, set, played_);
    return played_;
  }

  absl::Status Observe(Context&, Count round, const Raw<double>& reward) override {
    Group& group = GroupOf(round);
    privatizer_->Record(played_, reward, group.stream);
    if (!leak_.has_value()) return absl::OkStatus();
    const OwnRecord own = RegressionPrefixSum::RevealRecord(played_, reward, *leak_);
    if (params_.local == LocalData::kRaw) group.policy.LearnOwn(own.x.data(), own.y);
    if (params_.triggers) group.watched.Add(own.x.data(), 0);
    return absl::OkStatus();
  }

  absl::Status EndRound(Context& context, Count round) override {
    round_ = round;
    const int turn = static_cast<int>((round - 1) % params_.gamma);
    Group& group = *groups_[static_cast<std::size_t>(turn)];
    for (auto& each : groups_) BANDANA_RETURN_IF_ERROR(TakeOwn(context, *each));
    ++group.uses;
    if (round < params_.horizon) {
      const bool due = !params_.triggers && group.uses == group.next;
      if (params_.triggers && HasGrown(group)) Ask(context, turn);
      if (due) group.asked = true;
      for (int g = 0; g < params_.gamma; ++g) BANDANA_RETURN_IF_ERROR(ReleaseIfAsked(context, g));
    }
    for (auto& each : groups_) BANDANA_RETURN_IF_ERROR(LearnIfNew(*each));
    return absl::OkStatus();
  }

  Count repairs() const {
    Count repairs = 0;
    for (const auto& group : groups_) repairs += group->policy.repairs();
    return repairs;
  }
  void Describe(Observations& observations) const override {
    observations.numbers["repairs"] += static_cast<double>(repairs());
  }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.horizon, "horizon");
    a.Same(params_.gamma, "gamma");
    a.Same(params_.local == LocalData::kRaw, "choice of local data");
    a.Same(params_.pace, "pace");
    a.Same(params_.threshold, "threshold");
    a.Same(privatizer_->noise(), "noise");
    a.Same(params_.first_noise, "noise of the first release");
    a.Same(sizeof(Scalar), "precision");
    for (const NodeId node : params_.clique) a.Same(node.value, "clique");
    for (auto& group : groups_) a(*group);
    a(played_, seen_, requests_, round_, payer_);
    a.Check(!payer_.has_value() || CheckGroup(*payer_).ok(), "the group that paid does not exist");
    a.Check(round_ >= 0 && round_ <= params_.horizon, "it has more rounds than the horizon");
  }
  const FedUcbPolicy<Scalar>& policy(int group) const {
    return groups_[static_cast<std::size_t>(group)]->policy;
  }

 private:
  struct Group {
    Group(const FedUcbWidth& width, double first_noise, const P& privatizer, RegressionStream* first)
        : policy(width, first_noise),
          watched(width.params().dimension),
          stream(privatizer, first),
          estimator(privatizer) {}
    template <class Archive>
    void State(Archive& a) {
      a(policy, watched, stream, estimator, latest, own, uses, next, last_use, step, asked, is_new);
      a.Check(estimator.step() == step && stream.released() == step,
              "its sums do not match the number of its releases");
      for (const auto& [origin, sums] : latest) {
        a.Check(CheckSums(sums, policy.regression().dimension()).ok(), "its sums have the wrong dimension");
      }
    }

    FedUcbPolicy<Scalar> policy;
    OptimisticRegression watched;
    RegressionStream stream;
    RegressionEstimator estimator;          // takes its own releases
    std::map<NodeId, ReleasedSums> latest;  // from the clique
    ReleasedSums own;                       // released last round
    Count uses = 0;
    Count next = 0;      // the use after which the schedule has a release
    Count last_use = 0;  // the use before the last release
    std::int64_t step = 0;
    bool asked = false;
    bool is_new = true;  // there is something to learn
  };

  Group& GroupOf(Count round) { return *groups_[static_cast<std::size_t>((round - 1) % params_.gamma)]; }

  bool InClique(NodeId node) const {
    return std::find(params_.clique.begin(), params_.clique.end(), node) != params_.clique.end();
  }

  absl::Status CheckGroup(int group) const {
    if (group >= 0 && group < params_.gamma) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("malformed message: group {} does not exist; there are {} groups", group, params_.gamma));
  }

  template <class Body>
  void PassOn(Context& context, NodeId from, Body body) const {
    if (body.hops_left <= 0) return;
    --body.hops_left;
    for (const NodeId peer : context.links().peers) {
      if (peer != from && peer != body.origin) context.Send(peer, body);
    }
  }

  template <class Body>
  void Broadcast(Context& context, Body body) const {
    body.hops_left = params_.gamma - 1;
    for (const NodeId peer : context.links().peers) context.Send(peer, body);
  }

  absl::Status TakeBulletin(Context& context, const Message& message, const Bulletin& bulletin) {
    BANDANA_RETURN_IF_ERROR(CheckGroup(bulletin.group));
    BANDANA_RETURN_IF_ERROR(CheckSums(bulletin.sums, static_cast<Eigen::Index>(played_.dimension())));
    const std::int64_t step = bulletin.sums->value().step;
    if (!seen_.insert({bulletin.origin, bulletin.group, step}).second) return absl::OkStatus();
    PassOn(context, message.from, bulletin);
    if (!InClique(bulletin.origin) || bulletin.origin == context.links().self) return absl::OkStatus();
    Group& group = *groups_[static_cast<std::size_t>(bulletin.group)];
    ReleasedSums& latest = group.latest[bulletin.origin];
    if (latest == nullptr || latest->value().step < step) {
      latest = bulletin.sums;
      group.is_new = true;
    }
    return absl::OkStatus();
  }

  absl::Status TakeRequest(Context& context, const Message& message, const SyncRequest& request) {
    BANDANA_RETURN_IF_ERROR(CheckGroup(request.group));
    if (!requests_.insert({request.origin, request.group, request.round}).second) return absl::OkStatus();
    PassOn(context, message.from, request);
    if (params_.triggers && InClique(request.origin))
      groups_[static_cast<std::size_t>(request.group)]->asked = true;
    return absl::OkStatus();
  }

  void Ask(Context& context, int turn) {
    const SyncRequest request{.origin = context.links().self, .group = turn, .round = round_};
    requests_.insert({request.origin, request.group, request.round});
    Broadcast(context, request);
    groups_[static_cast<std::size_t>(turn)]->asked = true;
  }

  absl::Status ReleaseIfAsked(Context& context, int g) {
    Group& group = *groups_[static_cast<std::size_t>(g)];
    if (!std::exchange(group.asked, false) || group.step >= schedule_->releases()) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(privatizer_->EndStep(group.stream));
    ++group.step;
    if (!payer_.has_value()) payer_ = g;
    const StepQuery query{.step = group.step, .silos = 1, .group = g, .payer = *payer_};
    const auto epoch = static_cast<Epoch>((group.step - 1) * params_.gamma + g + 1);
    BANDANA_ASSIGN_OR_RETURN(const auto released, Release::FromSilo(context, *privatizer_, epoch, query,
                                                                    Raw<RegressionStream*>(&group.stream)));
    BANDANA_RETURN_IF_ERROR(group.estimator.Add(released));
    group.own = std::make_shared<const Released<RegressionSums>>(group.estimator.Sums());
    group.last_use = group.uses;
    group.next = schedule_->Next(group.step + 1, group.uses, nullptr, 0);
    seen_.insert({context.links().self, g, group.step});
    Broadcast(context, Bulletin{.origin = context.links().self, .group = g, .sums = group.own});
    return absl::OkStatus();
  }

  // Takes its own release of the round before.
  absl::Status TakeOwn(Context& context, Group& group) {
    if (group.own == nullptr) return absl::OkStatus();
    group.latest[context.links().self] = std::exchange(group.own, nullptr);
    group.is_new = true;
    return absl::OkStatus();
  }

  absl::Status LearnIfNew(Group& group) {
    if (!std::exchange(group.is_new, false)) return absl::OkStatus();
    if (!group.latest.empty()) BANDANA_RETURN_IF_ERROR(group.policy.Learn(TotalOf(group)));
    if (!params_.triggers) return absl::OkStatus();
    const Matrix& gram = group.policy.regression().gram();
    const double more = group.policy.regularizer().rho_max - group.policy.regularizer().rho_min;
    return group.watched.Reset(gram + more * Matrix::Identity(gram.rows(), gram.cols()),
                               Vector::Zero(gram.rows()));
  }

  // Adds up in the order of the nodes, so that all members of a clique get the same bits.
  static RegressionSums TotalOf(const Group& group) {
    RegressionSums total;
    for (const auto& [origin, released] : group.latest) {
      const RegressionSums& sums = released->value();
      total.step = std::max(total.step, sums.step);
      if (total.gram.size() == 0) {
        total.gram = sums.gram;
        total.moments = sums.moments;
      } else {
        total.gram += sums.gram;
        total.moments += sums.moments;
      }
      total.gram_noise = std::hypot(total.gram_noise, sums.gram_noise);
      total.moment_noise = std::hypot(total.moment_noise, sums.moment_noise);
    }
    return total;
  }

  bool HasGrown(const Group& group) const {
    const auto uses = static_cast<double>(group.uses - group.last_use);
    return group.watched.log_det() - group.policy.released_log_det() >= params_.threshold / (uses + 1);
  }

  FedUcbPeerParams params_;
  const SyncSchedule* schedule_;
  const P* privatizer_;
  std::optional<Declassify> leak_;
  ChosenArm played_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::set<std::tuple<NodeId, int, std::int64_t>> seen_;  // bulletins
  std::set<std::tuple<NodeId, int, Count>> requests_;
  Count round_ = 0;
  std::optional<int> payer_;  // the group that released first
};

}  // namespace bandana
