#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_policy.h"
#include "bandana/algorithms/fed_ucb/fed_ucb_width.h"
#include "bandana/algorithms/fed_ucb/sync_schedule.h"
#include "bandana/algorithms/local_data.h"
#include "bandana/core/archive.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/federation/hears_silence.h"
#include "bandana/federation/node.h"
#include "bandana/federation/release.h"
#include "bandana/federation/round_player.h"
#include "bandana/federation/turn.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/regression_prefix_sum.h"
#include "fmt/format.h"

/// FedUCB with a controller: P3's Algorithms 1 and 2.
/// A. Dubey, A. Pentland, "Differentially-private federated linear bandits", NeurIPS 2020.
///
///   paper                         here
///   agent i                       FedUcbAgent, node i
///   controller                    FedUcbController, node 0
///   PRIVATIZER                    RegressionPrefixSum, at the agent
///   S_t, s_t                      Model::sums plus the shift of FedUcbWidth
///   U_i,t, u_i,t                  an agent's own records since, under LocalData::kRaw
///   SYNCHRONIZE                   SyncSchedule
///
/// Departures. Agents synchronise when a public schedule says so, and act on released sums alone
/// (LocalData::kReleased). The printed algorithm does neither, and loses its guarantee (docs/papers/p3.md).
/// Under kRaw the claim holds only for logged streams. There is one shift for the sum (Shift::kGroup).
/// Local statistics are reset in the branch that synchronises.
///
/// Losses. A silo protects its records with noise of its own, so the controller may add up the sums of any
/// silos. If a share is lost, the controller goes on with the last sums of that silo that it knows, and the
/// share comes later, as it was recorded; no new noise is drawn. A silo that is lost for good stays in the
/// sums with what it has released. An agent that no longer hears the controller plays on by its last model.
namespace bandana {

/// Fails unless sums that came in a message have this dimension.
inline absl::Status CheckSums(const ReleasedSums& sums, Eigen::Index dimension) {
  const bool fits = sums != nullptr && sums->value().gram.rows() == dimension &&
                    sums->value().gram.cols() == dimension && sums->value().moments.size() == dimension;
  return fits ? absl::OkStatus()
              : absl::InvalidArgumentError(
                    fmt::format("malformed message: the sums do not have dimension {}", dimension));
}

/// The controller adds up what agents release and sends the sums back to them.
template <class P>
class FedUcbController final : public Node, public HearsSilence {
 public:
  /// Agents are nodes first .. first + silos - 1, as many as the width says. `noise` is the standard
  /// deviation of a value released by all of them together; it is needed if they do not all have the
  /// privatizer's, and `each` is that of each silo by itself. The privatizer must outlive the controller.
  FedUcbController(const SyncSchedule& schedule, const FedUcbWidth& width, const P& privatizer,
                   NodeId first = NodeId{1}, std::optional<double> noise = std::nullopt,
                   std::vector<double> each = {})
      : schedule_(schedule),
        width_(width),
        privatizer_(&privatizer),
        estimator_(MakeEstimator(privatizer, noise)),
        first_(first),
        each_(std::move(each)) {}

  /// Keeps the sums of each silo apart. It takes M times the work, and is for privatizers without a shuffler.
  void ExpectLosses() override {
    if constexpr (!ShufflePrivatizer<P>) {
      silos_.clear();
      for (std::size_t i = 0; i < static_cast<std::size_t>(width_.params().silos); ++i) {
        silos_.push_back(
            MakeEstimator(*privatizer_, i < each_.size() ? std::optional(each_[i]) : std::nullopt));
      }
    }
  }

  absl::Status OnSilence(Context& context, Count round) override {
    if (silos_.empty() || round < until_ || until_ >= schedule_.params().horizon) return absl::OkStatus();
    return AddUpSilos(context);
  }

  absl::Status OnStart(Context& context) override {
    Announce(context);
    return absl::OkStatus();
  }

  absl::Status OnMessage(Context& context, const Message& message) override {
    if (const auto* request = std::get_if<SyncRequest>(&message.body)) return TakeRequest(context, *request);
    const StepQuery query{.step = epoch_, .silos = width_.params().silos};
    if constexpr (ShufflePrivatizer<P>) {
      const auto* mixed = std::get_if<Mixed>(&message.body);
      if (mixed == nullptr || message.from != context.links().shuffler) {
        return absl::InvalidArgumentError("this controller accepts only mixed reports from its shuffler");
      }
      if (mixed->epoch != epoch_) return absl::OkStatus();
      BANDANA_RETURN_IF_ERROR(privatizer_->AddMixed(query, mixed->reports, sum_));
    } else {
      const auto* share = std::get_if<Share>(&message.body);
      if (share == nullptr)
        return absl::InvalidArgumentError("this controller accepts only shares and sync requests");
      if (!silos_.empty()) return TakeLateOrNot(context, message.origin, *share);
      if (share->epoch != epoch_ || !IsAgent(message.origin) || !answered_.insert(message.origin).second) {
        return absl::OkStatus();  // a repeat
      }
      BANDANA_RETURN_IF_ERROR(privatizer_->Add(query, share->report, sum_));
      if (sum_.reports() < query.silos) return absl::OkStatus();
    }
    BANDANA_ASSIGN_OR_RETURN(const auto released, Release::FromAnalyzer(context, *privatizer_, epoch_, sum_));
    BANDANA_RETURN_IF_ERROR(estimator_.Add(released));
    sums_ = std::make_shared<const Released<RegressionSums>>(estimator_.Sums());
    sum_ = {};
    answered_.clear();
    NextSync(context);
    return absl::OkStatus();
  }

  bool finished() const override { return over_; }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(schedule_.params().horizon, "horizon");
    a.Same(schedule_.releases(), "number of releases");
    a.Same(width_.params().silos, "number of silos");
    a.Same(first_.value, "first silo");
    a.Same(privatizer_->noise(), "noise");
    a.Same(static_cast<Count>(silos_.size()), "number of silos whose sums are kept apart");
    a(estimator_, epoch_, last_, until_, until_asked_, over_, sums_, sum_, answered_);
    for (RegressionEstimator& silo : silos_) a(silo);
    a.Check(epoch_ >= 1 && (!silos_.empty() || estimator_.step() == epoch_ - 1),
            "its sums do not match the number of its syncs");
  }
  void Describe(Observations& observations) const override {
    observations.numbers["syncs"] += static_cast<double>(synchronisations());
  }
  std::int64_t synchronisations() const { return epoch_ - 1; }
  const ReleasedSums& sums() const { return sums_; }

 private:
  static RegressionEstimator MakeEstimator(const P& privatizer, std::optional<double> noise) {
    if constexpr (ShufflePrivatizer<P>) {
      return RegressionEstimator(privatizer);
    } else {
      return RegressionEstimator(privatizer, noise);
    }
  }

  // Takes the next share of a silo, of this sync or of one that it missed.
  absl::Status TakeLateOrNot(Context& context, NodeId silo, const bandana::Share& share) {
    if constexpr (!ShufflePrivatizer<P>) {
      if (!IsAgent(silo) || share.epoch > epoch_) return absl::OkStatus();
      RegressionEstimator& sums = silos_[silo.value - first_.value];
      if (share.epoch != sums.step() + 1) return absl::OkStatus();  // a repeat
      BasicReportSum<typename P::Query> alone;
      // The group names the silo, so that no two silos answer the same question.
      const StepQuery query{.step = share.epoch, .silos = 1, .group = static_cast<int>(silo.value)};
      BANDANA_RETURN_IF_ERROR(privatizer_->Add(query, share.report, alone));
      BANDANA_ASSIGN_OR_RETURN(const auto released,
                               Release::FromAnalyzer(context, *privatizer_, share.epoch, alone));
      BANDANA_RETURN_IF_ERROR(sums.Add(released));
      if (share.epoch == epoch_) answered_.insert(silo);
      if (static_cast<Count>(answered_.size()) == width_.params().silos) return AddUpSilos(context);
    }
    return absl::OkStatus();
  }

  absl::Status AddUpSilos(Context& context) {
    std::vector<const RegressionEstimator*> heard;
    for (const RegressionEstimator& silo : silos_) {
      if (silo.step() > 0) heard.push_back(&silo);
    }
    if (!heard.empty()) {
      sums_ = std::make_shared<const Released<RegressionSums>>(RegressionEstimator::Total(heard));
    }
    answered_.clear();
    NextSync(context);
    return absl::OkStatus();
  }

  void NextSync(Context& context) {
    last_ = until_;
    ++epoch_;
    Announce(context);
  }

  bool IsAgent(NodeId node) const {
    return node >= first_ && node.value - first_.value < width_.params().silos;
  }

  template <class Body>
  void SendAll(Context& context, const Body& body) const {
    for (Count i = 0; i < width_.params().silos; ++i) {
      context.Send(NodeId{first_.value + static_cast<std::uint32_t>(i)}, body);
    }
  }

  void Announce(Context& context) {
    const RegressionSums* known = sums_ == nullptr ? nullptr : &sums_->value();
    const double shift = known == nullptr ? 0 : width_.RegularizerFor(known->gram_noise).shift;
    until_ = schedule_.Next(epoch_, last_, known, shift);
    over_ = until_ >= schedule_.params().horizon;
    SendAll(context, Model{.epoch = epoch_, .until = until_, .answers = !over_, .sums = sums_});
  }

  // The paper's trigger: whoever asks first in a round makes all agents synchronise after it.
  absl::Status TakeRequest(Context& context, const SyncRequest& request) {
    if (!schedule_.triggered()) {
      return absl::InvalidArgumentError(
          "an agent asked for a sync, but the schedule of syncs is fixed and public");
    }
    const bool late = request.round <= until_asked_ || request.round >= schedule_.params().horizon;
    if (late || epoch_ > schedule_.releases()) return absl::OkStatus();
    until_asked_ = until_ = request.round;
    SendAll(context, SyncRequest{.origin = kServerNode, .round = request.round});
    return absl::OkStatus();
  }

  SyncSchedule schedule_;
  FedUcbWidth width_;
  const P* privatizer_;
  RegressionEstimator estimator_;
  NodeId first_;
  std::vector<double> each_;
  std::vector<RegressionEstimator> silos_;  // empty unless messages may be lost
  Epoch epoch_ = 1;                         // the number of the next sync
  Count last_ = 0;                          // the round of the sync before it
  Count until_ = 0;
  Count until_asked_ = 0;
  bool over_ = false;
  ReleasedSums sums_;
  BasicReportSum<typename P::Query> sum_;
  absl::flat_hash_set<NodeId> answered_;
};

struct FedUcbAgentParams {
  Count horizon = 0;
  Count silos = 0;  ///< M
  LocalData local = LocalData::kReleased;
  Count pace = 1;          ///< it plays in every pace-th round
  bool triggers = false;   ///< it watches the determinant: P3's line 12, a leak
  double threshold = 0;    ///< D
  double first_noise = 0;  ///< noise in the Gram matrix that is released first
};

/// An agent plays by the last model, records what comes of it, and releases when it is asked to.
template <class P, class Scalar>
class FedUcbAgent final : public RoundPlayer<Scalar>, public HearsSilence {
 public:
  /// `width` and `privatizer` must outlive the agent. Under LocalData::kRaw, or with a trigger, raw records
  /// decide, and `leak` must say so.
  FedUcbAgent(const FedUcbAgentParams& params, const FedUcbWidth& width, const P& privatizer,
              std::optional<Declassify> leak = std::nullopt)
      : params_(params),
        privatizer_(&privatizer),
        leak_(leak),
        policy_(width, params.first_noise),
        watched_(width.params().dimension),
        stream_(privatizer),
        played_(static_cast<std::size_t>(width.params().dimension)) {
    BANDANA_CHECK(leak_.has_value() || (params_.local == LocalData::kReleased && !params_.triggers));
  }

  absl::Status OnMessage(Context& context, const Message& message) override {
    if (message.from != kServerNode)
      return absl::PermissionDeniedError("the message is not from the controller");
    if (const auto* request = std::get_if<SyncRequest>(&message.body)) {
      return request->round == round_ ? Share(context) : absl::OkStatus();
    }
    const auto* model = std::get_if<Model>(&message.body);
    if (model == nullptr) return absl::InvalidArgumentError("an agent accepts only models and sync requests");
    if (model->epoch <= epoch_) return absl::OkStatus();  // a repeat
    if (model->epoch != epoch_ + 1 || model->until <= round_ || model->until > params_.horizon) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: model {} until round {} came after model {}, in round {}",
                      model->epoch, model->until, epoch_, round_));
    }
    if (model->sums != nullptr) {
      BANDANA_RETURN_IF_ERROR(CheckSums(model->sums, static_cast<Eigen::Index>(played_.dimension())));
    }
    epoch_ = model->epoch;
    until_ = model->until;
    answers_ = model->answers;
    last_sync_ = round_;
    if (model->sums != nullptr) BANDANA_RETURN_IF_ERROR(policy_.Learn(model->sums->value()));
    return params_.triggers ? Watch() : absl::OkStatus();
  }

  /// No model has come: it plays on by the last one, and releases nothing any more.
  absl::Status OnSilence(Context&, Count) override {
    until_ = params_.horizon;
    answers_ = false;
    return absl::OkStatus();
  }

  Count rounds_ready() const override { return until_ - round_; }
  bool Plays(Count round) const override { return round % params_.pace == 0; }

  const ChosenArm& Act(Context&, Count, const Raw<DecisionSet<Scalar>>& set) override {
    Turn::Choose(policy_, set, played_);
    return played_;
  }

  absl::Status Observe(Context&, Count, const Raw<double>& reward) override {
    privatizer_->Record(played_, reward, stream_);
    if (!leak_.has_value()) return absl::OkStatus();
    const OwnRecord own = RegressionPrefixSum::RevealRecord(played_, reward, *leak_);
    if (params_.local == LocalData::kRaw) policy_.LearnOwn(own.x.data(), own.y);
    if (params_.triggers) watched_.Add(own.x.data(), 0);
    return absl::OkStatus();
  }

  absl::Status EndRound(Context& context, Count round) override {
    round_ = round;
    if (round == until_ && answers_) return Share(context);
    if (params_.triggers && HasGrown()) {
      context.Send(kServerNode, SyncRequest{.origin = context.links().self, .round = round});
    }
    return absl::OkStatus();
  }

  /// Adds the repairs that its released sums needed. All agents of a controller have the same sums.
  void Describe(Observations& observations) const override {
    observations.numbers["repairs"] += static_cast<double>(policy_.repairs());
  }
  const FedUcbPolicy<Scalar>& policy() const { return policy_; }

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(params_.horizon, "horizon");
    a.Same(params_.silos, "number of silos");
    a.Same(params_.local == LocalData::kRaw, "choice of local data");
    a.Same(params_.pace, "pace");
    a.Same(params_.threshold, "threshold");
    a.Same(privatizer_->noise(), "noise");
    a.Same(params_.first_noise, "noise of the first release");
    a.Same(sizeof(Scalar), "precision");
    a(policy_, watched_, stream_, played_, epoch_, round_, until_, last_sync_, answers_);
    a.Check(round_ >= 0 && round_ <= until_ && until_ <= params_.horizon,
            "it has more rounds than the horizon");
  }

 private:
  absl::Status Share(Context& context) {
    BANDANA_RETURN_IF_ERROR(privatizer_->EndStep(stream_));
    const StepQuery query{.step = epoch_, .silos = params_.silos};
    BANDANA_ASSIGN_OR_RETURN(Report report, Release::FromClient(context, *privatizer_, epoch_, query,
                                                                Raw<RegressionStream*>(&stream_)));
    context.Send(*context.links().upstream, bandana::Share{epoch_, 0, std::move(report)});
    return absl::OkStatus();
  }

  // Line 12: log det(V + x x' + M (rho_max - rho_min) I) - log det S >= D / (rounds since).
  absl::Status Watch() {
    const Matrix& gram = policy_.regression().gram();
    const double more = policy_.regularizer().rho_max - policy_.regularizer().rho_min;
    return watched_.Reset(gram + more * Matrix::Identity(gram.rows(), gram.cols()),
                          Vector::Zero(gram.rows()));
  }
  bool HasGrown() const {
    const auto rounds = static_cast<double>(round_ - last_sync_);
    return watched_.log_det() - policy_.released_log_det() >= params_.threshold / rounds;
  }

  FedUcbAgentParams params_;
  const P* privatizer_;
  std::optional<Declassify> leak_;
  FedUcbPolicy<Scalar> policy_;
  OptimisticRegression watched_;  // what the trigger looks at
  RegressionStream stream_;
  ChosenArm played_;
  Epoch epoch_ = 0;
  Count round_ = 0;
  Count until_ = 0;
  Count last_sync_ = 0;
  bool answers_ = false;
};

}  // namespace bandana
