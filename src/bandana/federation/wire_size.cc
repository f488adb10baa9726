#include "bandana/federation/wire_size.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "bandana/core/check.h"

namespace bandana {
namespace {

constexpr Count kTag = 1;  // the tag's size for fields 1 to 15

Count VarintBytes(std::uint64_t value) { return (std::bit_width(value | 1) + 6) / 7; }

// A number 0 is omitted. A negative number is encoded as 64 bits.
Count IntField(std::int64_t value) {
  return value == 0 ? 0 : kTag + VarintBytes(static_cast<std::uint64_t>(value));
}

Count DoubleField(double value) { return std::bit_cast<std::uint64_t>(value) == 0 ? 0 : kTag + 8; }

Count LengthField(Count bytes) { return kTag + VarintBytes(static_cast<std::uint64_t>(bytes)) + bytes; }

Count RepeatedField(Count bytes) { return bytes == 0 ? 0 : LengthField(bytes); }

Count SetField(const NodeSet& set) { return RepeatedField((set.nodes() + 7) / 8); }

// The arms ascend, so those with encodings of the same length lie together.
Count ArmsField(const std::vector<ArmId>& arms) {
  auto bytes = static_cast<Count>(arms.size());
  if (arms.empty() || arms.back() < 128) return RepeatedField(bytes);
  for (int bits = 7; bits < 31; bits += 7) {
    bytes += arms.end() - std::lower_bound(arms.begin(), arms.end(), ArmId{1} << bits);
  }
  return RepeatedField(bytes);
}

Count SumsField(const ArmSums& sums) {
  return LengthField(IntField(sums.agents) + IntField(sums.pulls) + ArmsField(sums.arms) +
                     RepeatedField(8 * static_cast<Count>(sums.units.size())) +
                     DoubleField(sums.noise_scale) + IntField(sums.noise_terms));
}

Count BytesOf(const Advert& advert) {
  return IntField(advert.epoch) + IntField(advert.clock) + SetField(*advert.has);
}

Count BytesOf(const Request& request) { return IntField(request.epoch) + SetField(request.wants); }

Count BytesOf(const Tallies& tallies) {
  Count bytes = IntField(tallies.epoch) + IntField(tallies.clock);
  for (const Tally& tally : tallies.tallies) {
    bytes += LengthField(IntField(tally.origin.value) + SumsField(tally.sums->value()));
  }
  return bytes;
}

Count BytesOf(const Collected& collected) {
  return IntField(collected.epoch) + SetField(collected.agents) + SumsField(collected.sums->value());
}

Count BytesOf(const std::shared_ptr<const ArmPlan>& plan) {
  Count upstream = 0;
  for (const NodeId node : plan->upstream) upstream += VarintBytes(node.value);
  return IntField(plan->epoch) + IntField(plan->clock) + ArmsField(plan->arms) + IntField(plan->pulls) +
         IntField(plan->hops) + RepeatedField(upstream);
}

Count RealsOf(const ReleasedArms& sums) { return static_cast<Count>(sums->value().units.size()); }

}  // namespace

Count WireBytes(const Payload& payload) {
  return std::visit(
      [](const auto& body) -> Count {
        if constexpr (requires { BytesOf(body); }) {
          return BytesOf(body);
        } else {
          BANDANA_CHECK(!"a message of a network with arms");
          return 0;
        }
      },
      payload);
}

Count RealsIn(const Payload& payload) {
  if (const auto* tallies = std::get_if<Tallies>(&payload)) {
    Count reals = 0;
    for (const Tally& tally : tallies->tallies) reals += RealsOf(tally.sums);
    return reals;
  }
  if (const auto* collected = std::get_if<Collected>(&payload)) return RealsOf(collected->sums);
  return 0;
}

}  // namespace bandana
