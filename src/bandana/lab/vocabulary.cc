#include "bandana/lab/vocabulary.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "bandana/algorithms/registry.h"
#include "bandana/core/quantity.h"
#include "bandana/core/status.h"
#include "bandana/privacy/privacy_options.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

absl::StatusOr<Value> CheckCheckpoints(const Value& value, const std::string& accepted) {
  if (IsWord(value, "log")) return value;
  if (const auto* count = std::get_if<std::int64_t>(&value); count != nullptr && *count >= 1) return value;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    const bool ascending =
        std::adjacent_find(list->begin(), list->end(), std::greater_equal<>()) == list->end();
    if (!list->empty() && list->front() >= 1 && ascending) return value;
  }
  return InvalidOption("checkpoints", ToText(value), accepted);
}

std::vector<Option> MakeGeneralOptions() {
  using P = RunParams;
  const std::string checkpoints =
      "\"log\", a count >= 1, or an ascending list of rounds from 1 to the horizon";
  return OptionsFor<P>("")
      .Text("name", Claims::kKept, &P::name, "a text",
            "The title of the report. Its default is the name of the file.")
      .Required()
      .Integer("horizon", Claims::kChanged, &P::horizon, 1, "The number T of rounds.")
      .Required()
      .Integer("seed", Claims::kKept, &P::seed, 0, "Everything random in the run is drawn from this seed.")
      .Integer("replicates", Claims::kKept, &P::replicates, 1,
               "How many independent runs each point has. Points are compared on the same instances.")
      .Custom(
          "checkpoints", Claims::kKept, checkpoints,
          "The rounds at which results are written. \"log\": evenly spaced on a logarithmic scale. A number: "
          "so many rounds, evenly spaced. A list: these rounds.",
          [checkpoints](const Value& value) { return CheckCheckpoints(value, checkpoints); },
          [](P& p, const Value& value) { p.checkpoints = value; }, [](const P& p) { return p.checkpoints; })
      .options();
}

// The types of what a role of a deployment reads from [service]. The values are read by key: all keys of a
// type share its field, and none has a default.
struct ServiceParams {
  std::string text;
  double number = 0;
  Count integer = 0;
  bool flag = false;
};

// Adds an option of [service] whose value is a text. `is_accepted` says which texts are accepted.
void AddText(OptionsFor<ServiceParams>& options, const std::string& key, const std::string& accepted,
             const std::string& sentence, std::function<bool(const std::string&)> is_accepted) {
  const auto check = [key, accepted,
                      is_accepted = std::move(is_accepted)](const Value& value) -> absl::StatusOr<Value> {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && is_accepted(*text)) return value;
    return InvalidOption(key, ToText(value), accepted);
  };
  options
      .Custom(
          key, Claims::kKept, accepted, sentence, check,
          [](ServiceParams& params, const Value& value) { params.text = std::get<std::string>(value); },
          [](const ServiceParams& params) { return Value(params.text); })
      .As(Option::Kind::kText);
}

void AddBytes(OptionsFor<ServiceParams>& options, const std::string& key, const std::string& sentence,
              const std::string& least, const std::string& most) {
  const std::int64_t low = *ParseBytes(least), high = *ParseBytes(most);
  AddText(options, key, fmt::format("a size from {} to {}, such as 16MiB", least, most), sentence,
          [low, high](const std::string& text) {
            const std::optional<std::int64_t> bytes = ParseBytes(text);
            return bytes && *bytes >= low && *bytes <= high;
          });
}

void AddTime(OptionsFor<ServiceParams>& options, const std::string& key, const std::string& sentence,
             absl::Duration least, absl::Duration most) {
  AddText(options, key,
          fmt::format("a time from {} to {}, such as 30s", absl::FormatDuration(least),
                      absl::FormatDuration(most)),
          sentence, [least, most](const std::string& text) {
            const std::optional<absl::Duration> time = ParseTime(text);
            return time && *time >= least && *time <= most;
          });
}

// Adds how much of a process others may use: service/limits.h.
void AddLimits(OptionsFor<ServiceParams>& options) {
  using P = ServiceParams;
  constexpr Count kMostStreams = 100'000;
  AddBytes(options, "limits.message",
           "The largest message that is read, of any other process. A larger one ends the connection. The "
           "default is 64MiB.",
           "64KiB", "1GiB");
  options
      .Integer("limits.streams", Claims::kKept, &P::integer, 1,
               "How many connections others may have open to this process, together. The default is 1024.",
               kMostStreams)
      .Integer("limits.streams_per_party", Claims::kKept, &P::integer, 1,
               "How many connections one certificate name may have open to this process. A party needs one, "
               "and a second one while a lost one is not yet noticed. The default is 4.",
               kMostStreams)
      .Number("limits.openings", Claims::kKept, &P::number, InClosed(1, 1e6), "a number from 1 to 1e6",
              "How many new connections per second are accepted, with a burst of twice as many. A quarter of "
              "that is for any one party. The default is 50.")
      .Number(
          "limits.calls", Claims::kKept, &P::number, InClosed(1, 1e9), "a number from 1 to 1e9",
          "How many messages per second are read from one connection. Who sends more is read more slowly. "
          "The default is 100000.");
  AddBytes(options, "limits.bytes",
           "How much per second is read from one connection. Who sends more is read more slowly. The default "
           "is 256MiB.",
           "64KiB", "64GiB");
  AddBytes(options, "limits.waiting",
           "How much may wait in memory to be dealt with. Beyond that nothing more is read. The default is "
           "64MiB.",
           "1MiB", "64GiB");
  AddTime(options, "limits.first_message",
          "How long a new connection may take until it says whose it is. The default is 10s.",
          absl::Seconds(1), absl::Hours(1));
}

// Adds where the log goes: cli/role_log.h.
void AddLog(OptionsFor<ServiceParams>& options) {
  AddText(options, "log.file", "a path", "The file to which the log is appended. The default is stderr.",
          [](const std::string& text) { return !text.empty(); });
  AddText(options, "log.level", "debug, info, warn or error",
          "The least important events that are in the log. The default is info.",
          [](const std::string& text) {
            return text == "debug" || text == "info" || text == "warn" || text == "error";
          });
  AddText(options, "log.format", "text or json",
          "How a line of the log is written. The default is text on a terminal, and else json.",
          [](const std::string& text) { return text == "text" || text == "json"; });
}

// A new key of [service] is one more entry here. Specs, --set, `bandana list tables service`, completions and
// the site read this list.
std::vector<Option> MakeServiceOptions() {
  using P = ServiceParams;
  OptionsFor<P> options("service");
  options
      .Text("listen", Claims::kKept, &P::text, "ADDRESS:PORT; port 0 means any",
            "Where the server, or the shuffler, listens.")
      .Text("server", Claims::kKept, &P::text, "ADDRESS:PORT",
            "Where agents and the shuffler find the server.")
      .Text("shuffler", Claims::kKept, &P::text, "ADDRESS:PORT", "Where agents find the shuffler.")
      .Text("http", Claims::kKept, &P::text, "ADDRESS:PORT; port 0 means any",
            "Where the server of a live world listens for the application, with HTTP and JSON.")
      .Text("fill", Claims::kKept, &P::text, "a time such as 30s, 10m or 2h",
            "How long a phase of a live world waits for people before its first deadline. The default is 30 "
            "days (720h).")
      .Text("grace", Claims::kKept, &P::text, "a time such as 30s, 10m or 2h",
            "How long a phase of a live world waits after the last window has ended. The default is 2m.")
      .Integer(
          "attempts", Claims::kKept, &P::integer, 1,
          "After so many deadlines with too few answers a live world counts as stalled. It then waits on. "
          "The default is 5.")
      .Text(
          "store", Claims::kKept, &P::text, "sqlite:FILE, or memory",
          "Where a role keeps its run, so that it can go on after it was killed. The default is a file named "
          "after the role, such as sqlite:server.db. In memory, which is the default of an insecure role, "
          "everything is forgotten when the process ends.")
      .Text("keys", Claims::kKept, &P::text, "a folder that bandana keys has made",
            "The role's certificate and private key, and the certificate of the deployment's CA.")
      .Flag(
          "insecure", Claims::kKept, &P::flag,
          "The role uses no certificates, and nothing is encrypted. It then talks only to processes on this "
          "machine. For trying things out.")
      .Text("ledger_mirror", Claims::kKept, &P::text, "a path",
            "A copy of the store's ledger, to be kept on another disk.")
      .Text("anchor", Claims::kKept, &P::text, "a path on another disk than the store's",
            "The file that shows whether a store was put back from an old copy.");
  AddTime(options, "silence",
          "How long another process may be away before this one gives it up. The default is 10m. Without a "
          "store that outlives the process, a process that is away is given up at once.",
          absl::Milliseconds(1), absl::Hours(24 * 365));
  options
      .Number("client_epsilon", Claims::kKept, &P::number, Positive, "a finite number > 0",
              "The most that one client may spend in all runs of a store, with client_delta. The default is "
              "what one run costs, so that a second run needs a new store.")
      .Number(
          "client_delta", Claims::kKept, &P::number, [](double value) { return value >= 0 && value < 1; },
          "a number in [0, 1)", "The delta of client_epsilon.")
      .Number("deployment_epsilon", Claims::kKept, &P::number, Positive, "a finite number > 0",
              "The most that all releases of a store may add up to, with deployment_delta.")
      .Number(
          "deployment_delta", Claims::kKept, &P::number, [](double value) { return value >= 0 && value < 1; },
          "a number in [0, 1)", "The delta of deployment_epsilon.")
      .Integer("node", Claims::kKept, &P::integer, 1,
               "The number of this process among the peers, or among the agents of a multi-armed bandit.")
      .Text("peers", Claims::kKept, &P::text, "ADDRESS:PORT, ADDRESS:PORT, ...: of node 1, node 2, ...",
            "Where peers, and agents with arms that have neighbours, listen.")
      .Text("clients", Claims::kKept, &P::text, "FIRST-LAST, for example 1-500",
            "The clients that an agent holds.");
  AddLimits(options);
  AddLog(options);
  return options.options();
}

// Returns an option whose accepted values are names in the registry.
Option NamesOption(std::string table, std::string key, std::string sentence, const std::vector<Word>& words) {
  Option option{.table = std::move(table),
                .key = std::move(key),
                .kind = Option::Kind::kChoice,
                .required = true,
                .accepted = internal::OneOf(words),
                .sentence = std::move(sentence),
                .words = words,
                .claims = Claims::kChanged,
                .condition = ""};
  option.check = [full = option.FullKey(), words, accepted = option.accepted](const Value& value) {
    return internal::CheckWord(full, value, words, accepted);
  };
  return option;
}

template <class Entries>
std::vector<Word> NamesIn(const Entries& entries) {
  std::vector<Word> words;
  for (const auto& entry : entries) {
    const bool known =
        std::any_of(words.begin(), words.end(), [&](const Word& each) { return each.word == entry.name; });
    if (!known) words.push_back({entry.name, entry.sentence});
  }
  return words;
}

// Calls `visit` with every option. The options of the given algorithm and kind of world come first.
void ForEachOption(const std::string& algorithm, const std::string& kind,
                   const std::function<void(const Option&)>& visit) {
  const auto all = [&](const std::vector<Option>& options) {
    for (const Option& option : options) visit(option);
  };
  all(GeneralOptions());
  visit(KindOption());
  visit(AlgorithmOption());
  for (const bool own : {true, false}) {
    for (const WorldKind& world : Families().worlds()) {
      const absl::StatusOr<const Family*> family = Families().FindFamily(algorithm, world.name);
      const bool is_own = world.name == kind && family.ok() && (*family)->time == world.time;
      if (is_own == own) all(world.options);
    }
    for (const Family& family : Families().families()) {
      const absl::StatusOr<const Family*> found = Families().FindFamily(algorithm, kind);
      const bool is_own = found.ok() && *found == &family;
      if (is_own != own) continue;
      all(family.options);
      all(family.simulation_options);
    }
  }
  all(PrivacyOptions());
  all(ServiceOptions());
}

}  // namespace

const std::vector<Option>& GeneralOptions() {
  static const auto& options = *new std::vector<Option>(MakeGeneralOptions());
  return options;
}

const std::vector<Option>& ServiceOptions() {
  static const auto& options = *new std::vector<Option>(MakeServiceOptions());
  return options;
}

Option AlgorithmOption() {
  return NamesOption("algorithm", "name", "The algorithm. See: bandana list algorithms.",
                     NamesIn(Families().families()));
}

Option KindOption() {
  return NamesOption("environment", "kind", "The kind of world. See: bandana list environments.",
                     NamesIn(Families().worlds()));
}

std::vector<Option> OptionsNamed(const std::string& key, const std::string& algorithm,
                                 const std::string& kind) {
  std::vector<Option> found;
  ForEachOption(algorithm, kind, [&](const Option& option) {
    if (option.FullKey() == key) found.push_back(option);
  });
  return found;
}

std::vector<std::string> KnownKeys() {
  std::vector<std::string> keys;
  ForEachOption("", "", [&](const Option& option) {
    const std::string key = option.FullKey();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  });
  return keys;
}

}  // namespace bandana::lab
