#include "bandana/core/quantity.h"

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

namespace bandana {

std::optional<std::int64_t> ParseBytes(const std::string& text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || count < 0) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [name, shift] :
       {std::pair<std::string_view, int>("", 0), {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}) {
    if (unit != name) continue;
    if (count > std::numeric_limits<std::int64_t>::max() >> shift) return std::nullopt;
    return count << shift;
  }
  return std::nullopt;
}

std::optional<absl::Duration> ParseTime(const std::string& text) {
  absl::Duration time;
  if (!absl::ParseDuration(text, &time) || time <= absl::ZeroDuration()) return std::nullopt;
  return time;
}

}  // namespace bandana
