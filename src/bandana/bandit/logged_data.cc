#include "bandana/bandit/logged_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/csv.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kMostActions = 1 << 24;
constexpr char kAcceptedScore[] = "a number in (0, 1]";

std::string AcceptedActions(Count actions) { return fmt::format("a whole number from 0 to {}", actions - 1); }

absl::Status CheckCount(const std::string& key, Count value) {
  if (value >= 1 && value <= kMostActions) return absl::OkStatus();
  return InvalidField(Part::kParams, key, fmt::format("{}", value), "a whole number from 1 to 2^24");
}

absl::Status CheckFinite(const std::string& key, std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return InvalidOption(key, value, "finite numbers");
  }
  return absl::OkStatus();
}

absl::Status CheckSize(const std::string& key, std::size_t size, Count wanted) {
  if (static_cast<Count>(size) == wanted) return absl::OkStatus();
  return InvalidOption(key, fmt::format("{} entries", size), fmt::format("{}, one per round", wanted));
}

// Returns i if the name is PREFIXi, with i in decimal without leading zeros.
std::optional<Count> NumberAfter(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.empty() || (name[0] == '0' && name.size() > 1)) return std::nullopt;
  std::uint32_t number;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// Returns the columns PREFIX0, PREFIX1, ...; empty if there are none.
absl::StatusOr<std::vector<std::size_t>> Numbered(const CsvReader& reader, const CsvHeader& header,
                                                  const std::string& prefix, std::set<std::string>& known) {
  Count largest = -1;
  for (const std::string& name : header.names()) {
    const std::optional<Count> number = NumberAfter(prefix, name);
    if (!number.has_value()) continue;
    known.insert(name);
    largest = std::max(largest, *number);
  }
  std::vector<std::size_t> places;
  for (Count i = 0; i <= largest; ++i) {
    BANDANA_ASSIGN_OR_RETURN(places.emplace_back(), header.Require(reader, fmt::format("{}{}", prefix, i)));
  }
  return places;
}

// Returns the columns of a vector under either of its names.
absl::StatusOr<std::vector<std::size_t>> VectorColumns(const CsvReader& reader, const CsvHeader& header,
                                                       const std::string& prefix,
                                                       std::set<std::string>& known) {
  BANDANA_ASSIGN_OR_RETURN(std::vector<std::size_t> by_prefix, Numbered(reader, header, prefix, known));
  if (!by_prefix.empty()) return by_prefix;
  BANDANA_ASSIGN_OR_RETURN(std::vector<std::size_t> by_x, Numbered(reader, header, "x", known));
  if (!by_x.empty()) return by_x;
  return reader.Error(
      {.message = fmt::format("the header has neither this column nor x0"), .key = prefix + "0"});
}

absl::Status CheckNoOthers(const CsvReader& reader, const CsvHeader& header,
                           const std::set<std::string>& known, const std::vector<std::string>& ignored) {
  for (const std::string& name : header.names()) {
    if (known.contains(name) || std::find(ignored.begin(), ignored.end(), name) != ignored.end()) continue;
    return reader.Error({.message = "this column is unknown; to ignore it, add its name to `ignore`",
                         .value = name.empty() ? "a column without a name" : name});
  }
  return absl::OkStatus();
}

absl::StatusOr<ArmId> ReadAction(const CsvReader& reader, std::size_t place, Count actions) {
  const std::optional<double> action = ParseNumber(reader.fields()[place]);
  if (action.has_value() && *action >= 0 && *action < static_cast<double>(actions) &&
      *action == std::floor(*action)) {
    return static_cast<ArmId>(*action);
  }
  return reader.Error({.message = "not an action",
                       .key = "action",
                       .value = std::string(reader.fields()[place]),
                       .accepted = AcceptedActions(actions)});
}

absl::Status ReadVector(const CsvReader& reader, const CsvHeader& header,
                        const std::vector<std::size_t>& places, std::vector<double>& entries) {
  for (const std::size_t place : places) {
    const std::optional<double> entry = ParseNumber(reader.fields()[place]);
    if (!entry.has_value()) return reader.Number(place, header.names()[place]).status();
    entries.push_back(*entry);
  }
  return absl::OkStatus();
}

// Reads K rows. `actions` is K; if it is 0, the file determines K.
absl::StatusOr<ActionMatrix> ReadActionContexts(const std::string& path, Count actions,
                                                const std::vector<std::string>& ignored) {
  BANDANA_ASSIGN_OR_RETURN(
      CsvReader reader,
      CsvReader::Open(path,
                      {.key = "action_context",
                       .lines = "one action per line under a header",
                       .accepted = "columns action_context_0, ... (or x0, ...) and optionally action"}));
  BANDANA_ASSIGN_OR_RETURN(const CsvHeader header, CsvHeader::Read(reader));
  std::set<std::string> known = {"action"};
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::size_t> features,
                           VectorColumns(reader, header, "action_context_", known));
  BANDANA_RETURN_IF_ERROR(CheckNoOthers(reader, header, known, ignored));
  const std::optional<std::size_t> action_place = header.Find("action");
  std::vector<double> entries;
  std::vector<ArmId> order;
  while (reader.Next()) {
    BANDANA_RETURN_IF_ERROR(header.CheckWidth(reader));
    const auto row = static_cast<Count>(order.size());
    if (row == (actions == 0 ? kMostActions : actions)) {
      return reader.Error(
          {.message = fmt::format("the file has more rows than there are actions ({})", row)});
    }
    order.push_back(static_cast<ArmId>(row));
    if (action_place.has_value()) {
      BANDANA_ASSIGN_OR_RETURN(order.back(),
                               ReadAction(reader, *action_place, actions == 0 ? kMostActions : actions));
    }
    BANDANA_RETURN_IF_ERROR(ReadVector(reader, header, features, entries));
  }
  BANDANA_RETURN_IF_ERROR(reader.status());
  const auto rows = static_cast<Count>(order.size());
  if (rows == 0 || (actions != 0 && rows != actions)) {
    return reader.FileError({.message = "the number of rows is not the number of actions",
                             .value = fmt::format("{} rows", rows),
                             .accepted = actions == 0 ? "at least one row" : fmt::format("{}", actions)});
  }
  std::vector<bool> seen(order.size());
  ActionMatrix table(rows, static_cast<Eigen::Index>(features.size()));
  for (Count row = 0; row < rows; ++row) {
    const ArmId action = order[static_cast<std::size_t>(row)];
    if (action >= rows || seen[static_cast<std::size_t>(action)]) {
      return reader.FileError({.message = "each action must have one row",
                               .key = "action",
                               .value = fmt::format("{}", action),
                               .accepted = AcceptedActions(rows)});
    }
    seen[static_cast<std::size_t>(action)] = true;
    table.row(action) =
        Eigen::Map<const Eigen::RowVectorXd>(entries.data() + row * table.cols(), table.cols());
  }
  return table;
}

// The columns of a log.
struct LogColumns {
  std::vector<std::size_t> context;
  std::size_t action = 0, reward = 0, pscore = 0;
  std::optional<std::size_t> position;
};

absl::StatusOr<LogColumns> FindColumns(const CsvReader& reader, const CsvHeader& header,
                                       const std::vector<std::string>& ignored) {
  LogColumns columns;
  std::set<std::string> known = {"action", "reward", "pscore", "position"};
  BANDANA_ASSIGN_OR_RETURN(columns.context, VectorColumns(reader, header, "context_", known));
  for (const auto& [name, place] :
       {std::pair("action", &columns.action), {"reward", &columns.reward}, {"pscore", &columns.pscore}}) {
    BANDANA_ASSIGN_OR_RETURN(*place, header.Require(reader, name));
  }
  columns.position = header.Find("position");
  BANDANA_RETURN_IF_ERROR(CheckNoOthers(reader, header, known, ignored));
  return columns;
}

}  // namespace

LoggedData::LoggedData(Params params)
    : params_(std::move(params)),
      smallest_pscore_(*std::min_element(params_.pscores.begin(), params_.pscores.end())) {}

LoggedData LoggedData::Part(Count first, Count last) const {
  BANDANA_CHECK(first >= 0 && first < last && last <= rounds());
  const auto cut = [](const auto& all, Count from, Count to) {
    return std::remove_cvref_t<decltype(all)>(all.begin() + from, all.begin() + to);
  };
  const Count d = params_.dimension;
  return LoggedData({.num_actions = params_.num_actions,
                     .dimension = d,
                     .contexts = cut(params_.contexts, first * d, last * d),
                     .actions = cut(params_.actions, first, last),
                     .rewards = cut(params_.rewards, first, last),
                     .pscores = cut(params_.pscores, first, last),
                     .action_contexts = params_.action_contexts});
}

absl::StatusOr<LoggedData> LoggedData::Create(Params params) {
  BANDANA_RETURN_IF_ERROR(CheckCount("num_actions", params.num_actions));
  BANDANA_RETURN_IF_ERROR(CheckCount("dimension", params.dimension));
  if (params.actions.empty()) return InvalidOption("action", "no rounds", "at least one round");
  const auto rounds = static_cast<Count>(params.actions.size());
  BANDANA_RETURN_IF_ERROR(CheckSize("reward", params.rewards.size(), rounds));
  BANDANA_RETURN_IF_ERROR(CheckSize("pscore", params.pscores.size(), rounds));
  if (static_cast<Count>(params.contexts.size()) != rounds * params.dimension) {
    return InvalidOption("context", fmt::format("{} entries", params.contexts.size()),
                         fmt::format("{}, {} per round", rounds * params.dimension, params.dimension));
  }
  BANDANA_RETURN_IF_ERROR(CheckFinite("context", params.contexts));
  BANDANA_RETURN_IF_ERROR(CheckFinite("reward", params.rewards));
  for (const double pscore : params.pscores) {
    if (!(pscore > 0 && pscore <= 1)) return InvalidOption("pscore", pscore, kAcceptedScore);
  }
  for (const ArmId action : params.actions) {
    if (!(action >= 0 && action < params.num_actions)) {
      return InvalidOption("action", action, AcceptedActions(params.num_actions));
    }
  }
  const ActionMatrix& table = params.action_contexts;
  if (table.rows() != 0 && table.rows() != params.num_actions) {
    return InvalidOption("action_context", fmt::format("{} rows", table.rows()),
                         fmt::format("{}, one per action", params.num_actions));
  }
  BANDANA_RETURN_IF_ERROR(
      CheckFinite("action_context", {table.data(), static_cast<std::size_t>(table.size())}));
  return LoggedData(std::move(params));
}

absl::StatusOr<LoggedData> ReadLoggedData(const std::string& path, const LoggedDataOptions& options) {
  LoggedData::Params log{.num_actions = options.num_actions};
  if (options.num_actions != 0 || options.action_context.empty()) {
    BANDANA_RETURN_IF_ERROR(CheckCount("actions", options.num_actions));
  }
  if (!options.action_context.empty()) {
    BANDANA_ASSIGN_OR_RETURN(log.action_contexts,
                             ReadActionContexts(options.action_context, log.num_actions, options.ignored));
    log.num_actions = log.action_contexts.rows();
  }
  BANDANA_ASSIGN_OR_RETURN(
      CsvReader reader,
      CsvReader::Open(path, {.key = "file",
                             .lines = "one round per line under a header",
                             .accepted = "columns context_0, ... (or x0, ...), action, reward, pscore and "
                                         "optionally position; one round per line"}));
  BANDANA_ASSIGN_OR_RETURN(const CsvHeader header, CsvHeader::Read(reader));
  BANDANA_ASSIGN_OR_RETURN(const LogColumns columns, FindColumns(reader, header, options.ignored));
  log.dimension = static_cast<Count>(columns.context.size());
  std::string position;
  while (reader.Next()) {
    BANDANA_RETURN_IF_ERROR(header.CheckWidth(reader));
    BANDANA_RETURN_IF_ERROR(ReadVector(reader, header, columns.context, log.contexts));
    BANDANA_ASSIGN_OR_RETURN(const ArmId action, ReadAction(reader, columns.action, log.num_actions));
    BANDANA_ASSIGN_OR_RETURN(const double reward, reader.Number(columns.reward, "reward"));
    BANDANA_ASSIGN_OR_RETURN(const double pscore, reader.Number(columns.pscore, "pscore"));
    if (!(pscore > 0 && pscore <= 1)) {
      return reader.Error({.message = "this cannot be the probability of an action that was played",
                           .key = "pscore",
                           .value = std::string(reader.fields()[columns.pscore]),
                           .accepted = kAcceptedScore});
    }
    if (columns.position.has_value()) {
      const std::string_view here = reader.fields()[*columns.position];
      if (log.actions.empty()) position = here;
      if (here != position) {
        return reader.Error({.message = "the log has several positions, but only one is accepted",
                             .key = "position",
                             .value = std::string(here),
                             .accepted = fmt::format("{}, as in the first round", position)});
      }
    }
    log.actions.push_back(action);
    log.rewards.push_back(reward);
    log.pscores.push_back(pscore);
  }
  BANDANA_RETURN_IF_ERROR(reader.status());
  if (log.actions.empty()) return reader.FileError({.message = "the file holds no round"});
  return LoggedData::Create(std::move(log));
}

}  // namespace bandana
