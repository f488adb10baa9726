#include "bandana/federation/dissemination.h"

#include <algorithm>

#include "bandana/core/check.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// Public coins must be the same for all peers, but need not be cryptographic. This is the finisher of
// SplitMix64 (S. Vigna).
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr int kMostGossipSlots = 1 << 20;

}  // namespace

DisseminationClock::DisseminationClock(const Graph& graph, Protocol protocol, int slack, std::uint64_t seed)
    : graph_(&graph), protocol_(protocol), slack_(slack), seed_(seed) {
  if (protocol != Protocol::kGossip && graph.edges() > 0) diameter_ = graph.diameter();
}

int DisseminationClock::Slots(Epoch epoch) const {
  if (graph_->edges() == 0) return 0;
  return slack_ + (protocol_ == Protocol::kGossip ? GossipSlots(epoch) : diameter_);
}

NodeId DisseminationClock::Partner(NodeId node, Epoch epoch, int slot) const {
  const auto neighbours = graph_->neighbours(node);
  const std::uint64_t coin = Mix(Mix(Mix(seed_ ^ node.value) ^ static_cast<std::uint64_t>(epoch)) ^
                                 static_cast<std::uint64_t>(slot));
  return neighbours[coin % neighbours.size()];
}

int DisseminationClock::GossipSlots(Epoch epoch) const {
  const std::lock_guard lock(mutex_);
  const auto known = gossip_slots_.find(epoch);
  if (known != gossip_slots_.end()) return known->second;
  const Count nodes = graph_->nodes();
  std::vector<NodeSet> have(static_cast<std::size_t>(nodes), NodeSet(nodes));
  for (std::uint32_t i = 0; i < nodes; ++i) have[i].Insert(NodeId{i + 1});
  int slots = 0;
  for (bool all = false; !all && slots < kMostGossipSlots;) {
    ++slots;
    std::vector<NodeSet> next = have;
    for (std::uint32_t i = 1; i <= nodes; ++i) {
      next[Partner(NodeId{i}, epoch, slots).value - 1].Add(have[i - 1]);
    }
    have = std::move(next);
    all = std::all_of(have.begin(), have.end(), [&](const NodeSet& set) { return set.size() == nodes; });
  }
  return gossip_slots_[epoch] = slots;
}

Dissemination::Dissemination(const DisseminationClock& clock, NodeId self)
    : clock_(&clock),
      self_(self),
      have_(clock.graph().nodes()),
      news_(have_),
      sums_(static_cast<std::size_t>(clock.graph().nodes())),
      source_(sums_.size()),
      asked_(have_) {}

bool Dissemination::Fits() const {
  const Count nodes = clock_->graph().nodes();
  bool fits = have_.nodes() == nodes && news_.nodes() == nodes && asked_.nodes() == nodes;
  for (const Offer& offer : offers_) {
    fits = fits && offer.has != nullptr && offer.has->nodes() == nodes &&
           (offer.asked.nodes() == 0 || offer.asked.nodes() == nodes);
  }
  for (const auto& [from, wants] : requests_) fits = fits && wants.nodes() == nodes;
  for (const auto& [to, sent] : sent_) fits = fits && sent.nodes() == nodes;
  if (!fits) return false;
  have_.ForEach([&](NodeId origin) { fits = fits && SumsOf(origin) != nullptr; });
  return fits;
}

void Dissemination::Begin(Epoch epoch, ReleasedArms own) {
  epoch_ = epoch;
  latest_clock_ = 0;
  have_.Clear();
  news_.Clear();
  offers_.clear();
  requests_.clear();
  sent_.clear();
  std::fill(sums_.begin(), sums_.end(), nullptr);
  sums_[self_.value - 1] = std::move(own);
  source_[self_.value - 1] = self_;
  have_.Insert(self_);
  news_.Insert(self_);
}

absl::Status Dissemination::OnMessage(const Message& message) {
  const auto malformed = [&](const NodeSet& set) { return set.nodes() != have_.nodes(); };
  const auto error = [] {
    return absl::InvalidArgumentError(
        "malformed message: it has a set of other nodes than those of this run");
  };
  if (const auto* advert = std::get_if<Advert>(&message.body)) {
    if (malformed(*advert->has)) return error();
    if (advert->epoch != epoch_) return absl::OkStatus();
    latest_clock_ = std::max(latest_clock_, advert->clock);
    offers_.push_back({message.from, advert->has, {}});
    return absl::OkStatus();
  }
  if (const auto* request = std::get_if<Request>(&message.body)) {
    if (malformed(request->wants)) return error();
    if (request->epoch == epoch_) requests_.emplace_back(message.from, request->wants);
    return absl::OkStatus();
  }
  const auto* data = std::get_if<Tallies>(&message.body);
  if (data == nullptr) return absl::InvalidArgumentError("a peer accepts only adverts, requests and tallies");
  for (const Tally& tally : data->tallies) {
    if (!clock_->graph().Contains(tally.origin) || tally.sums == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("malformed message: it has an invalid tally of node {}", tally.origin.value));
    }
  }
  if (data->epoch == epoch_) Take(message, *data);
  return absl::OkStatus();
}

void Dissemination::Take(const Message& message, const Tallies& data) {
  latest_clock_ = std::max(latest_clock_, data.clock);
  for (const Tally& tally : data.tallies) {
    if (have_.Contains(tally.origin)) continue;
    have_.Insert(tally.origin);
    news_.Insert(tally.origin);
    sums_[tally.origin.value - 1] = tally.sums;
    source_[tally.origin.value - 1] = message.from;
  }
}

void Dissemination::EndTick(Context& context, int tick, Count now) {
  const int stage = tick % clock_->ticks_a_slot();
  const int slot = tick / clock_->ticks_a_slot() + 1;
  if (slot > clock_->Slots(epoch_)) return;
  switch (clock_->protocol()) {
    case Protocol::kGis:
      if (stage == 0) return Advertise(context, now);
      return stage == 1 ? Ask(context) : Serve(context, now);
    case Protocol::kFlooding:
      return Flood(context, now);
    case Protocol::kGossip:
      return Gossip(context, slot, now);
  }
}

void Dissemination::Advertise(Context& context, Count now) {
  if (news_.empty()) return;
  const auto has = std::make_shared<const NodeSet>(news_);
  for (const NodeId peer : context.links().peers) context.Send(peer, Advert{epoch_, now, has});
  news_.Clear();
}

// Requests each tally from the first peer that offers it. A peer that did not send what it was asked for is
// not asked again.
void Dissemination::Ask(Context& context) {
  std::erase_if(offers_, [&](Offer& offer) {
    NodeSet missing = *offer.has;
    missing.Remove(have_);
    if (missing.empty()) return true;
    missing.Keep(offer.asked);
    return !missing.empty();
  });
  asked_ = have_;
  for (Offer& offer : offers_) {
    offer.asked = *offer.has;
    offer.asked.Remove(asked_);
    if (offer.asked.empty()) continue;
    asked_.Add(offer.asked);
    context.Send(offer.from, Request{epoch_, offer.asked});
  }
}

void Dissemination::Serve(Context& context, Count now) {
  for (auto& [from, wants] : requests_) {
    wants.Keep(have_);
    if (!wants.empty()) context.Send(from, Pack(wants, now));
  }
  requests_.clear();
}

void Dissemination::Flood(Context& context, Count now) {
  for (const NodeId peer : context.links().peers) {
    NodeSet fresh = news_;
    news_.ForEach([&](NodeId origin) {
      if (source_[origin.value - 1] == peer || origin == peer) fresh.Erase(origin);
    });
    if (!fresh.empty()) context.Send(peer, Pack(fresh, now));
  }
  news_.Clear();
}

void Dissemination::Gossip(Context& context, int slot, Count now) {
  const NodeId partner = clock_->Partner(self_, epoch_, slot);
  NodeSet& sent = sent_.try_emplace(partner, have_.nodes()).first->second;
  NodeSet fresh = have_;
  fresh.Remove(sent);
  if (fresh.empty()) return;
  sent.Add(fresh);
  context.Send(partner, Pack(fresh, now));
}

Tallies Dissemination::Pack(const NodeSet& which, Count now) const {
  Tallies data{.epoch = epoch_, .clock = now};
  data.tallies.reserve(static_cast<std::size_t>(which.size()));
  which.ForEach([&](NodeId origin) { data.tallies.push_back({origin, SumsOf(origin)}); });
  return data;
}

}  // namespace bandana
