#include "bandana/algorithms/arms/hdp_mab.h"

#include <algorithm>
#include <numeric>

#include "bandana/core/archive.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/core/without_replacement.h"
#include "fmt/format.h"

namespace bandana {

HdpMabServer::HdpMabServer(const HdpMabServerParams& params, const ArmSchedule& schedule, const Graph& graph)
    : params_(params),
      schedule_(&schedule),
      graph_(&graph),
      components_(Components(graph)),
      active_(static_cast<std::size_t>(schedule.params().arms)),
      sinks_(graph),
      heard_(graph.nodes()) {
  std::iota(active_.begin(), active_.end(), 0);
  BANDANA_CHECK(params.participants >= 1 && params.participants <= static_cast<Count>(components_.size()));
}

std::string HdpMabServer::Save() const { return SaveState(*this); }
absl::Status HdpMabServer::Restore(std::string_view saved) { return RestoreState(saved, *this); }

bool HdpMabServer::Fits() const {
  const Count arms = schedule_->params().arms;
  if (plan_ != nullptr && !(static_cast<Count>(plan_->upstream.size()) == agents() && plan_->epoch == round_))
    return false;
  const bool sums = std::all_of(collected_.begin(), collected_.end(), [&](const Collected& each) {
    return each.agents.nodes() == agents() && each.sums->value().arms == active_;
  });
  return sums && heard_.nodes() == agents() && AreArms(active_, arms) && best_ >= 0 && best_ < arms &&
         clock_ >= 0 && pulled_ >= 0 && round_ >= 0;
}

void HdpMabServer::Describe(Observations& observations) const {
  observations.arm_rounds.insert(observations.arm_rounds.end(), history_.begin(), history_.end());
  observations.numbers["new_sinks"] += static_cast<double>(new_sinks());
  if (graph_->edges() == 0) return;  // every agent is the sink of its own component
  observations.sinks.insert(observations.sinks.end(), routes().sinks.begin(), routes().sinks.end());
}

absl::Status HdpMabServer::OnMessage(Context&, const Message& message) {
  const auto* collected = std::get_if<Collected>(&message.body);
  if (collected == nullptr)
    return absl::InvalidArgumentError("this server accepts only sums that sinks have collected");
  if (collected->sums == nullptr || collected->agents.nodes() != agents() ||
      collected->agents.size() != collected->sums->value().agents) {
    return absl::InvalidArgumentError("malformed message: the sum does not match the list of its agents");
  }
  if (plan_ == nullptr || collected->epoch != plan_->epoch) return absl::OkStatus();
  NodeSet again = collected->agents;
  again.Keep(heard_);
  if (!again.empty()) return absl::OkStatus();  // a repeat
  if (collected->sums->value().arms != active_) {
    return absl::InvalidArgumentError(
        fmt::format("malformed message: it has sums of {} arms, but they are not the {} active arms",
                    collected->sums->value().arms.size(), active_.size()));
  }
  heard_.Add(collected->agents);
  collected_.push_back(*collected);
  return absl::OkStatus();
}

absl::Status HdpMabServer::EndTick(Context& context) {
  if (over_ || --ticks_left_ > 0) return absl::OkStatus();
  if (plan_ != nullptr) BANDANA_RETURN_IF_ERROR(Decide());
  Announce(context);
  return absl::OkStatus();
}

absl::Status HdpMabServer::Decide() {
  std::vector<Released<ArmSums>> pooled;
  std::vector<ArmSchedule::WeightedSums> parts;
  if (params_.aggregation == Aggregation::kWeighted && !collected_.empty()) {
    ArmTotal total(active_);
    for (const Collected& each : collected_) BANDANA_RETURN_IF_ERROR(total.Add(*each.sums));
    pooled.push_back(total.Sums());
    parts.push_back({.sums = &pooled.front().value()});
  } else {
    const double weight = 1 / static_cast<double>(collected_.size());
    for (const Collected& each : collected_) parts.push_back({weight, &each.sums->value()});
  }
  ArmDecision decision{.arms = active_, .best = best_};  // unchanged if nobody was heard
  if (!parts.empty()) decision = EliminateArms(*schedule_, round_, parts);
  active_ = std::move(decision.arms);
  best_ = decision.best;
  history_.push_back({round_, clock_, heard_.size(), active_, best_, decision.half_width});
  sinks_.Note(plan_->upstream, heard_);
  return absl::OkStatus();
}

void HdpMabServer::Announce(Context& context) {
  ++round_;
  auto plan = std::make_shared<ArmPlan>();
  plan->epoch = round_;
  plan->clock = clock_;
  plan->hops = sinks_.routes().hops;
  plan->upstream = sinks_.routes().upstream;
  const Count waiting = std::max(0, sinks_.routes().hops - 1);
  const auto active = static_cast<Count>(active_.size());
  plan->pulls = schedule_->Next(round_, active, pulled_, schedule_->params().horizon - clock_, waiting);
  if (plan->pulls > 0) {
    plan->arms = active_;
    if (const auto all = static_cast<Count>(components_.size()); params_.participants < all) {
      WithoutReplacement draw(static_cast<std::uint64_t>(all));
      for (Count i = 0; i < all; ++i) {
        const auto& component = components_[static_cast<std::size_t>(draw.Draw(context.coin(round_)))];
        if (i < params_.participants) continue;
        for (const NodeId node : component) plan->upstream[node.value - 1] = node;  // it is not asked
      }
    }
    pulled_ += plan->pulls;
    clock_ += active * plan->pulls + waiting;
    ticks_left_ = plan->hops + 2;
  } else {
    plan->arms = schedule_->ExploresToTheEnd(round_, active) ? active_ : std::vector<ArmId>{best_};
    over_ = true;
  }
  plan_ = std::move(plan);
  collected_.clear();
  heard_.Clear();
  for (std::uint32_t i = 1; i <= agents(); ++i) context.Send(NodeId{i}, plan_);
}

HdpMabAgent::HdpMabAgent(NodeId self, Count agents, Count arms, Count horizon, const SiloArmSums& privatizer,
                         std::optional<Declassify> leak)
    : self_(self), agents_(agents), arms_(arms), agent_(horizon, privatizer, leak), upstream_(self) {}

std::string HdpMabAgent::Save() const { return SaveState(*this); }
absl::Status HdpMabAgent::Restore(std::string_view saved) { return RestoreState(saved, *this); }

bool HdpMabAgent::Fits() const {
  const bool pulls = std::all_of(agent_.pulls().begin(), agent_.pulls().end(),
                                 [&](const Pull& pull) { return pull.arm >= 0 && pull.arm < arms_; });
  if (!pulls || upstream_.value > agents_) return false;
  if (plan_ == nullptr) return hop_ < 0 && held_.empty();
  return AreArms(plan_->arms, arms_) && std::all_of(held_.begin(), held_.end(), [&](const Tally& tally) {
           return tally.origin.value >= 1 && tally.origin.value <= agents_ && Fits(tally.sums->value());
         });
}

absl::Status HdpMabAgent::OnMessage(Context&, const Message& message) {
  if (const auto* plan = std::get_if<std::shared_ptr<const ArmPlan>>(&message.body)) {
    if (message.from != kServerNode) return absl::PermissionDeniedError("the plan is not from the server");
    return TakePlan(*plan);
  }
  const auto* data = std::get_if<Tallies>(&message.body);
  if (data == nullptr) return absl::InvalidArgumentError("an agent accepts only plans and tallies");
  if (plan_ == nullptr || data->epoch != plan_->epoch || hop_ < 0) return absl::OkStatus();
  for (const Tally& tally : data->tallies) {
    if (tally.origin.value < 1 || tally.origin.value > agents_ || tally.sums == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: it has an invalid tally of node {}", tally.origin.value));
    }
    if (Fits(tally.sums->value())) held_.push_back(tally);
  }
  return absl::OkStatus();
}

// Returns whether a sink can add up these sums. Any others are dropped, without harm to the rest.
bool HdpMabAgent::Fits(const ArmSums& sums) const {
  return sums.agents == 1 && sums.noise_scale == agent_.noise_scale() &&
         std::includes(sums.arms.begin(), sums.arms.end(), plan_->arms.begin(), plan_->arms.end());
}

absl::Status HdpMabAgent::TakePlan(const std::shared_ptr<const ArmPlan>& plan) {
  if (plan_ != nullptr && plan->epoch <= plan_->epoch) return absl::OkStatus();  // a repeat
  const auto malformed = [](const std::string& what) {
    return absl::InvalidArgumentError("malformed message: " + what);
  };
  if (plan->arms.empty() || plan->arms.front() < 0 || plan->arms.back() >= arms_ ||
      std::adjacent_find(plan->arms.begin(), plan->arms.end(), std::greater_equal<>()) != plan->arms.end()) {
    return malformed("the plan must name arms of this run, in increasing order");
  }
  if (static_cast<Count>(plan->upstream.size()) != agents_)
    return malformed("the plan must name one next hop for each agent of this run");
  const Count begins = std::max(plan->clock, agent_.clock());
  const auto active = static_cast<Count>(plan->arms.size());
  if (plan->pulls < 0 || plan->hops < 0 || plan->pulls > (agent_.left() + agent_.clock() - begins) / active) {
    return malformed(
        fmt::format("the plan asks for {} pulls of each of {} arms at slot {}, which is not possible",
                    plan->pulls, active, begins));
  }
  if (agent_.pending() > 0) return malformed("the plan arrived while another one is still carried out");
  plan_ = plan;
  upstream_ = plan->upstream[self_.value - 1];
  held_.clear();
  agent_.Wait(plan->arms, plan->clock - agent_.clock());  // it missed what went before
  if (plan->pulls > 0) {
    agent_.Explore(plan->arms, plan->pulls);
    hop_ = 0;
  } else {
    agent_.PlayOut(plan->arms);
    hop_ = -1;
  }
  return absl::OkStatus();
}

std::span<const Pull> HdpMabAgent::Act(Context&) {
  if (!std::exchange(prepared_, true) && hop_ > 0 && hop_ < plan_->hops) agent_.Wait(plan_->arms, 1);
  return agent_.pulls();
}

absl::Status HdpMabAgent::Observe(Context&, const Raw<RewardSums>& rewards) {
  return agent_.Observe(rewards);
}

absl::Status HdpMabAgent::EndTick(Context& context) {
  prepared_ = false;
  if (hop_ < 0) return absl::OkStatus();
  if (hop_ == 0 && upstream_ != self_) {
    BANDANA_ASSIGN_OR_RETURN(ReleasedArms own, agent_.Release(context, plan_->epoch, plan_->arms));
    held_.insert(held_.begin(), {self_, std::move(own)});
  }
  if (!is_sink() && upstream_ != self_ && !held_.empty()) {
    context.Send(upstream_, Tallies{plan_->epoch, agent_.clock(), std::move(held_)});
    held_.clear();
  }
  if (hop_ < plan_->hops) {
    ++hop_;
    return absl::OkStatus();
  }
  hop_ = -1;
  return is_sink() ? SendCollected(context) : absl::OkStatus();
}

absl::Status HdpMabAgent::SendCollected(Context& context) {
  Collected collected{.epoch = plan_->epoch, .agents = NodeSet(agents_)};
  ArmTotal total(plan_->arms);
  for (const Tally& tally : held_) {
    if (collected.agents.Contains(tally.origin)) continue;
    BANDANA_RETURN_IF_ERROR(total.Add(*tally.sums));
    collected.agents.Insert(tally.origin);
  }
  collected.sums = std::make_shared<const Released<ArmSums>>(total.Sums());
  held_.clear();
  context.Send(kServerNode, std::move(collected));
  return absl::OkStatus();
}

void HdpMabAgent::OnSilence(Context&) {
  if (agent_.pending() == 0) agent_.PlayOutOwn(plan_ == nullptr ? std::vector<ArmId>{0} : plan_->arms);
}

}  // namespace bandana
