#include "bandana/service/arm_codec.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/malformed.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

std::size_t BytesFor(Count nodes) { return (static_cast<std::size_t>(nodes) + 7) / 8; }

std::string EncodeSet(const NodeSet& set) {
  std::string bytes(BytesFor(set.nodes()), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(set.words()[i / 8] >> (8 * (i % 8)) & 0xff);
  }
  return bytes;
}

absl::StatusOr<NodeSet> DecodeSet(const std::string& bytes, Count nodes) {
  if (bytes.size() != BytesFor(nodes)) {
    return Malformed(fmt::format("a set of nodes has {} bytes, but {} nodes take {}", bytes.size(), nodes,
                                 BytesFor(nodes)));
  }
  NodeSet set(nodes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    set.words()[i / 8] |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * (i % 8));
  }
  if (nodes % 64 != 0 && set.words().back() >> (nodes % 64) != 0) {
    return Malformed(fmt::format("a set has a node above {}", nodes));
  }
  return set;
}

template <class Arms>
absl::StatusOr<std::vector<ArmId>> DecodeArms(const Arms& in) {
  std::vector<ArmId> arms;
  arms.reserve(static_cast<std::size_t>(in.size()));
  for (const std::uint32_t arm : in) {
    if (arm > static_cast<std::uint32_t>(std::numeric_limits<ArmId>::max())) {
      return Malformed(fmt::format("arm {} is too large", arm));
    }
    if (!arms.empty() && static_cast<ArmId>(arm) <= arms.back()) {
      return Malformed(
          fmt::format("the arms are not in increasing order: {} comes after {}", arm, arms.back()));
    }
    arms.push_back(static_cast<ArmId>(arm));
  }
  return arms;
}

void EncodeArmSums(const ArmSums& sums, v1::ArmSums& out) {
  out.set_agents(sums.agents);
  out.set_pulls(sums.pulls);
  out.mutable_arms()->Add(sums.arms.begin(), sums.arms.end());
  out.mutable_units()->Add(sums.units.begin(), sums.units.end());
  out.set_noise_scale(sums.noise_scale);
  out.set_noise_terms(sums.noise_terms);
}

absl::StatusOr<ReleasedArms> DecodeArmSums(const v1::ArmSums& in) {
  if (in.agents() < 0)
    return Malformed(fmt::format("the sums have a negative number of agents: {}", in.agents()));
  if (in.pulls() < 0)
    return Malformed(fmt::format("the sums have a negative number of pulls: {}", in.pulls()));
  if (in.noise_terms() < 0)
    return Malformed(fmt::format("the sums have a negative number of noise terms: {}", in.noise_terms()));
  if (!(in.noise_scale() >= 0 && std::isfinite(in.noise_scale()))) {
    return Malformed(
        fmt::format("the noise scale of the sums must be a finite number >= 0, not {}", in.noise_scale()));
  }
  if (in.arms_size() != in.units_size()) {
    return Malformed(fmt::format("there are {} sums for {} arms", in.units_size(), in.arms_size()));
  }
  ArmSums sums{.agents = in.agents(),
               .pulls = in.pulls(),
               .units = {in.units().begin(), in.units().end()},
               .noise_scale = in.noise_scale(),
               .noise_terms = in.noise_terms()};
  BANDANA_ASSIGN_OR_RETURN(sums.arms, DecodeArms(in.arms()));
  return std::make_shared<const Released<ArmSums>>(Wire::MakeArmSums(std::move(sums)));
}

absl::Status CheckHead(const char* what, Count nodes, Epoch epoch, Count clock = 0) {
  if (nodes < 1) return Malformed(fmt::format("{} came, but this run has no network", what));
  if (epoch < 1) return Malformed(fmt::format("{} came with epoch {}, but epochs start at 1", what, epoch));
  if (clock < 0) return Malformed(fmt::format("{} came with a negative clock: {}", what, clock));
  return absl::OkStatus();
}

}  // namespace

void EncodeBody(const Advert& advert, v1::Advert& out) {
  out.set_epoch(advert.epoch);
  out.set_clock(advert.clock);
  out.set_has(EncodeSet(*advert.has));
}

absl::StatusOr<Advert> DecodeBody(const v1::Advert& in, Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckHead("an advert", nodes, in.epoch(), in.clock()));
  BANDANA_ASSIGN_OR_RETURN(NodeSet has, DecodeSet(in.has(), nodes));
  return Advert{in.epoch(), in.clock(), std::make_shared<const NodeSet>(std::move(has))};
}

void EncodeBody(const Request& request, v1::Request& out) {
  out.set_epoch(request.epoch);
  out.set_wants(EncodeSet(request.wants));
}

absl::StatusOr<Request> DecodeBody(const v1::Request& in, Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckHead("a request", nodes, in.epoch()));
  BANDANA_ASSIGN_OR_RETURN(NodeSet wants, DecodeSet(in.wants(), nodes));
  return Request{in.epoch(), std::move(wants)};
}

void EncodeBody(const Tallies& tallies, v1::Tallies& out) {
  out.set_epoch(tallies.epoch);
  out.set_clock(tallies.clock);
  for (const Tally& tally : tallies.tallies) {
    v1::Tally& added = *out.add_tallies();
    added.set_origin(tally.origin.value);
    EncodeArmSums(tally.sums->value(), *added.mutable_sums());
  }
}

absl::StatusOr<Tallies> DecodeBody(const v1::Tallies& in, Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckHead("tallies", nodes, in.epoch(), in.clock()));
  Tallies tallies{in.epoch(), in.clock(), {}};
  tallies.tallies.reserve(static_cast<std::size_t>(in.tallies_size()));
  for (const v1::Tally& tally : in.tallies()) {
    if (tally.origin() < 1 || tally.origin() > nodes) {
      return Malformed(
          fmt::format("a tally is of node {}, but nodes are from 1 to {}", tally.origin(), nodes));
    }
    BANDANA_ASSIGN_OR_RETURN(ReleasedArms sums, DecodeArmSums(tally.sums()));
    tallies.tallies.push_back({NodeId{tally.origin()}, std::move(sums)});
  }
  return tallies;
}

void EncodeBody(const Collected& collected, v1::Collected& out) {
  out.set_epoch(collected.epoch);
  out.set_agents(EncodeSet(collected.agents));
  EncodeArmSums(collected.sums->value(), *out.mutable_sums());
}

absl::StatusOr<Collected> DecodeBody(const v1::Collected& in, Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckHead("a collection", nodes, in.epoch()));
  BANDANA_ASSIGN_OR_RETURN(NodeSet agents, DecodeSet(in.agents(), nodes));
  BANDANA_ASSIGN_OR_RETURN(ReleasedArms sums, DecodeArmSums(in.sums()));
  return Collected{in.epoch(), std::move(agents), std::move(sums)};
}

void EncodeBody(const ArmPlan& plan, v1::ArmPlan& out) {
  out.set_epoch(plan.epoch);
  out.set_clock(plan.clock);
  out.mutable_arms()->Add(plan.arms.begin(), plan.arms.end());
  out.set_pulls(plan.pulls);
  out.set_hops(plan.hops);
  for (const NodeId node : plan.upstream) out.add_upstream(node.value);
}

absl::StatusOr<std::shared_ptr<const ArmPlan>> DecodeBody(const v1::ArmPlan& in, Count nodes) {
  BANDANA_RETURN_IF_ERROR(CheckHead("a plan", nodes, in.epoch(), in.clock()));
  if (in.arms().empty()) return Malformed("a plan has no arms");
  if (in.pulls() < 0) return Malformed(fmt::format("a plan has a negative number of pulls: {}", in.pulls()));
  if (in.hops() < 0) return Malformed(fmt::format("a plan has a negative number of hops: {}", in.hops()));
  if (in.upstream_size() != nodes) {
    return Malformed(fmt::format("a plan names next hops for {} nodes, but the network has {}",
                                 in.upstream_size(), nodes));
  }
  auto plan = std::make_shared<ArmPlan>();
  plan->epoch = in.epoch();
  plan->clock = in.clock();
  BANDANA_ASSIGN_OR_RETURN(plan->arms, DecodeArms(in.arms()));
  plan->pulls = in.pulls();
  plan->hops = in.hops();
  plan->upstream.reserve(static_cast<std::size_t>(nodes));
  for (const std::uint32_t node : in.upstream()) {
    if (node > nodes)
      return Malformed(
          fmt::format("a plan names node {} as a next hop, but the network has {} nodes", node, nodes));
    plan->upstream.push_back(NodeId{node});
  }
  return plan;
}

}  // namespace bandana::service
