#include "bandana/privacy/ledger/unit_ranges.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "bandana/core/check.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// Reads a number without sign or leading zeros, and moves `text` past it.
bool TakeNumber(std::string_view& text, std::uint32_t& number) {
  if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

absl::StatusOr<UnitRanges> UnitRanges::Of(std::vector<NodeId> units) {
  if (units.size() > kMostUnits) {
    return absl::InvalidArgumentError(
        fmt::format("a charge has {} units, but at most {} are accepted", units.size(), kMostUnits));
  }
  std::sort(units.begin(), units.end());
  UnitRanges result;
  for (const NodeId unit : units) {
    if (!result.ranges_.empty() && unit.value == result.ranges_.back().last) {
      return absl::InvalidArgumentError(fmt::format("a charge names client {} twice", unit.value));
    }
    result.Append({unit.value, unit.value});
  }
  return result;
}

UnitRanges UnitRanges::From(NodeId first, Count count) {
  BANDANA_CHECK(count >= 1 && count <= (Count{1} << 32) - first.value);
  UnitRanges result;
  result.Append({first.value, static_cast<std::uint32_t>(first.value + count - 1)});
  return result;
}

UnitRanges UnitRanges::FromRanges(std::span<const Range> ranges) {
  UnitRanges result;
  for (const Range& range : ranges) {
    BANDANA_CHECK(range.first <= range.last);
    BANDANA_CHECK(result.empty() || range.first > result.ranges_.back().last);
    result.Append(range);
  }
  return result;
}

void UnitRanges::Append(Range range) {
  if (!ranges_.empty() && range.first == std::uint64_t{ranges_.back().last} + 1) {
    ranges_.back().last = range.last;
  } else {
    ranges_.push_back(range);
  }
  count_ += std::uint64_t{range.last} - range.first + 1;
}

absl::StatusOr<UnitRanges> UnitRanges::Parse(std::string_view text) {
  const auto refuse = [whole = std::string(text.substr(0, 40))] {
    return absl::InvalidArgumentError(fmt::format("'{}' names no units", whole));
  };
  UnitRanges result;
  while (!text.empty()) {
    Range range{};
    if (!result.ranges_.empty()) {
      if (text.front() != ',') return refuse();
      text.remove_prefix(1);
    }
    if (!TakeNumber(text, range.first)) return refuse();
    range.last = range.first;
    if (!text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      if (!TakeNumber(text, range.last) || range.last <= range.first) return refuse();
    }
    if (!result.ranges_.empty() && range.first < std::uint64_t{result.ranges_.back().last} + 2)
      return refuse();
    result.count_ += std::uint64_t{range.last} - range.first + 1;
    if (result.count_ > kMostUnits) return refuse();
    result.ranges_.push_back(range);
  }
  return result;
}

std::string UnitRanges::ToText() const {
  fmt::memory_buffer text;
  for (const Range& range : ranges_) {
    if (text.size() > 0) text.push_back(',');
    fmt::format_to(std::back_inserter(text), "{}", range.first);
    if (range.last != range.first) fmt::format_to(std::back_inserter(text), "-{}", range.last);
  }
  return fmt::to_string(text);
}

bool UnitRanges::Contains(NodeId unit) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), unit.value,
                                      [](std::uint32_t id, const Range& range) { return id < range.first; });
  return after != ranges_.begin() && unit.value <= std::prev(after)->last;
}

void UnitRanges::ForEach(absl::FunctionRef<void(NodeId)> visit) const {
  for (const Range& range : ranges_) {
    for (std::uint64_t id = range.first; id <= range.last; ++id)
      visit(NodeId{static_cast<std::uint32_t>(id)});
  }
}

}  // namespace bandana
