#include "bandana/federation/failure.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "bandana/core/status.h"

namespace bandana {

absl::StatusOr<Failure> ParseFailure(const std::string& text) {
  const auto refuse = [&] {
    return InvalidOption(
        "federation.failures", text,
        "\"agent A @ R\", \"link A-B @ R\" or \"miss A @ R\" with agents A, B (0: the server of a link) "
        "and a round R");
  };
  const std::vector<std::string> words =
      absl::StrSplit(absl::StrReplaceAll(text, {{"@", " @ "}}), ' ', absl::SkipEmpty());
  if (words.size() != 4 || words[2] != "@") return refuse();
  Failure failure;
  std::int32_t round = 0;
  if (!absl::SimpleAtoi(words[3], &round) || round < 0) return refuse();
  failure.round = round;
  std::uint32_t a = 0;
  if (words[0] == "link") {
    failure.kind = Failure::Kind::kLink;
    const std::vector<std::string> ends = absl::StrSplit(words[1], '-');
    std::uint32_t b = 0;
    if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &a) || !absl::SimpleAtoi(ends[1], &b) || a == b)
      return refuse();
    failure.a = NodeId{std::min(a, b)};
    failure.b = NodeId{std::max(a, b)};
    return failure;
  }
  if (words[0] != "agent" && words[0] != "miss") return refuse();
  if (!absl::SimpleAtoi(words[1], &a) || a == 0) return refuse();
  failure.kind = words[0] == "agent" ? Failure::Kind::kAgent : Failure::Kind::kMiss;
  failure.a = NodeId{a};
  return failure;
}

}  // namespace bandana
