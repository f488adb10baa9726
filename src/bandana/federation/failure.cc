#include "bandana/federation/failure.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana {

absl::StatusOr<Failure> ParseFailure(const std::string& text) {
  const auto refuse = [&] {
    return InvalidField(
        Part::kParams, "failures", text,
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

absl::StatusOr<std::vector<Failure>> ParseFailures(const std::string& text) {
  std::vector<Failure> failures;
  if (text == "none") return failures;
  for (const auto word : absl::StrSplit(text, ',')) {
    BANDANA_ASSIGN_OR_RETURN(const Failure failure,
                             ParseFailure(std::string(absl::StripAsciiWhitespace(word))));
    failures.push_back(failure);
  }
  return failures;
}

std::string ToText(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::kAgent:
      return fmt::format("agent {} @ {}", failure.a.value, failure.round);
    case Failure::Kind::kLink:
      return fmt::format("link {}-{} @ {}", failure.a.value, failure.b.value, failure.round);
    case Failure::Kind::kMiss:
      break;
  }
  return fmt::format("miss {} @ {}", failure.a.value, failure.round);
}

absl::Status CheckFailures(const std::vector<Failure>& failures, const Topology& topology) {
  for (const Failure& failure : failures) {
    const bool nobody = failure.kind != Failure::Kind::kLink && failure.a == kServerNode;
    if (nobody || std::max(failure.a, failure.b).value > topology.clients()) {
      return InvalidField(Part::kParams, "failures", ToText(failure),
                          fmt::format("agents from 1 to {}", topology.clients()));
    }
  }
  for (const Failure& failure : failures) {
    if (failure.kind != Failure::Kind::kLink) continue;
    const bool to_server = std::min(failure.a, failure.b) == kServerNode;
    const Graph* graph = topology.graph();
    if (to_server ? topology.has_server() : graph != nullptr && graph->adjacent(failure.a, failure.b))
      continue;
    return InvalidField(Part::kParams, "failures",
                        fmt::format("link {}-{}", failure.a.value, failure.b.value),
                        "a link that the network has");
  }
  return absl::OkStatus();
}

OptionsFor<LossParams> LossOptions() {
  using P = LossParams;
  OptionsFor<P> options("federation");
  options
      .Number(
          "dropout", Claims::kKept, &P::dropout, [](double value) { return value >= 0 && value < 1; },
          "a number in [0, 1)", "The probability that everything an agent sends in a sync is lost.")
      .Custom(
          "failures", Claims::kKept,
          "\"none\", or some of \"agent 3 @ 2\", \"link 4-5 @ 1\", \"miss 7 @ 3\", with commas between",
          "Agents, links and messages that are lost.",
          [](const Value& value) -> absl::StatusOr<Value> {
            const auto* text = std::get_if<std::string>(&value);
            BANDANA_RETURN_IF_ERROR(ParseFailures(text == nullptr ? ToText(value) : *text).status());
            return value;
          },
          [](P& params, const Value& value) {
            params.failures = ParseFailures(std::get<std::string>(value)).value();
          },
          [](const P& params) -> Value {
            std::vector<std::string> words;
            for (const Failure& failure : params.failures) words.push_back(ToText(failure));
            return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
          })
      .As(Option::Kind::kText)
      .Meaning({{"none", "Nothing is lost."},
                {"agent A @ R", "Agent A is lost after sync R."},
                {"link A-B @ R", "The link between A and B is cut after sync R; 0 is the server."},
                {"miss A @ R", "Everything that agent A sends in sync R is lost."}});
  return options;
}

OptionsFor<LossParams> DropoutOptions() {
  using P = LossParams;
  OptionsFor<P> options("federation");
  options.Number(
      "dropout", Claims::kKept, &P::dropout, [](double value) { return value >= 0 && value < 1; },
      "a number in [0, 1)", "The probability that a client who is asked never answers.");
  return options;
}

std::vector<Note> NotesOn(const LossParams& losses, const Facts& facts) {
  std::vector<Note> notes;
  if (facts.agents_differ && (losses.dropout > 0 || !losses.failures.empty())) {
    notes.emplace_back(
        Note::Weight::kRemark,
        "Rewards differ between agents, and some are not heard: widths do not cover who is missing.");
  }
  if (std::any_of(losses.failures.begin(), losses.failures.end(),
                  [](const Failure& failure) { return failure.kind == Failure::Kind::kAgent; })) {
    notes.emplace_back(Note::Weight::kRemark, "An agent that is lost plays no more: its regret ends there.");
  }
  return notes;
}

}  // namespace bandana
