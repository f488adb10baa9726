#include "bandana/bandit/worlds/live.h"

#include <cmath>
#include <set>
#include <utility>

#include "bandana/core/csv.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

const CsvFormat& ActionsFormat() {
  static const CsvFormat& format = *new CsvFormat{
      "actions_file", "one action per line",
      "a first line with the column name and the names of the features, if there are any; then "
      "one action per line"};
  return format;
}

// Features are scaled so that the longest vector has norm 1. Actions without features are unit vectors.
ActionMatrix MatrixOf(const std::vector<LiveAction>& actions) {
  const auto rows = static_cast<Eigen::Index>(actions.size());
  const auto columns = static_cast<Eigen::Index>(actions.front().features.size());
  if (columns == 0) return ActionMatrix::Identity(rows, rows);
  ActionMatrix matrix(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) {
      matrix(i, j) = actions[static_cast<std::size_t>(i)].features[static_cast<std::size_t>(j)];
    }
  }
  return matrix / matrix.rowwise().norm().maxCoeff();
}

absl::StatusOr<std::unique_ptr<World>> MakeLiveWorld(const LiveWorldParams& params, const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(std::unique_ptr<LiveWorld> world, LiveWorld::Create(params, draw));
  return world;
}

}  // namespace

absl::StatusOr<std::vector<LiveAction>> ReadLiveActions(const std::string& path) {
  BANDANA_ASSIGN_OR_RETURN(CsvReader reader, CsvReader::Open(path, ActionsFormat()));
  BANDANA_ASSIGN_OR_RETURN(const CsvHeader header, CsvHeader::Read(reader));
  BANDANA_ASSIGN_OR_RETURN(const std::size_t name_column, header.Require(reader, "name"));
  std::vector<LiveAction> actions;
  std::set<std::string> names;
  while (reader.Next()) {
    BANDANA_RETURN_IF_ERROR(header.CheckWidth(reader));
    LiveAction action{.name = std::string(reader.fields()[name_column]), .features = {}};
    if (action.name.empty()) return reader.Error({.message = "an action has no name"});
    if (!names.insert(action.name).second) {
      return reader.Error({.message = fmt::format("two actions are named \"{}\"", action.name)});
    }
    bool is_zero = header.names().size() > 1;
    for (std::size_t i = 0; i < header.names().size(); ++i) {
      if (i == name_column) continue;
      BANDANA_ASSIGN_OR_RETURN(const double feature, reader.Number(i));
      action.features.push_back(feature);
      is_zero = is_zero && feature == 0;
    }
    if (is_zero) {
      return reader.Error({.message = "an action whose features are all 0 teaches nothing about the others"});
    }
    actions.push_back(std::move(action));
  }
  BANDANA_RETURN_IF_ERROR(reader.status());
  if (actions.size() >= 2) return actions;
  return reader.FileError(
      {.message = fmt::format("the file has {} actions", actions.size()), .accepted = "two actions or more"});
}

absl::StatusOr<std::unique_ptr<LiveWorld>> LiveWorld::Create(const LiveWorldParams& params,
                                                             const WorldDraw& draw) {
  std::unique_ptr<LiveWorld> world(new LiveWorld());
  world->params_ = params;
  BANDANA_ASSIGN_OR_RETURN(world->actions_, ReadLiveActions(params.actions_file));
  if (!(params.reward_low < params.reward_high)) {
    return InvalidField(Part::kParams, "reward_high", params.reward_high,
                        fmt::format("a number above reward_low, which is {}", params.reward_low));
  }
  if (!(params.reward_default >= params.reward_low && params.reward_default <= params.reward_high)) {
    return InvalidField(Part::kParams, "reward_default", params.reward_default,
                        fmt::format("a number from {} to {}", params.reward_low, params.reward_high));
  }
  if (!absl::ParseDuration(params.reward_window, &world->window_) ||
      world->window_ < absl::Milliseconds(100) || world->window_ > absl::Hours(24 * 366)) {
    return InvalidField(Part::kParams, "reward_window", params.reward_window,
                        "a time from 100ms to a year, such as 30s, 10m or 2h");
  }
  Facts& facts = world->facts_;
  facts.horizon = draw.horizon;
  facts.people = params.population;
  facts.actions = std::make_shared<const ActionMatrix>(MatrixOf(world->actions_));
  facts.arms = facts.actions->rows();
  facts.dimension = facts.actions->cols();
  // Any reward between two ends has no heavier tails than one that has the same mean and takes the ends only.
  facts.reward.kind =
      params.reward == LiveReward::kBernoulli ? RewardKind::kBernoulli : RewardKind::kRademacher;
  facts.client_sd = params.client_sd;
  return world;
}

Interval LiveWorld::learned() const {
  return params_.reward == LiveReward::kBernoulli ? Interval{0, 1} : Interval{-1, 1};
}

absl::Status LiveWorld::Answer(NodeId, Epoch, std::span<const Pull>, std::span<RewardSum>) {
  return absl::FailedPreconditionError(
      "nobody simulates people of a live world: only `bandana server` can run it");
}

WorldKind LiveWorldKind() {
  using P = LiveWorldParams;
  OptionsFor<P> options("environment");
  const auto any = [](double value) { return std::isfinite(value); };
  options
      .Path("actions_file", Claims::kKept, &P::actions_file,
            "The application's actions: a CSV file with the column `name`, and one column for each feature.")
      .Required()
      .Choice<LiveReward>("reward", Claims::kKept, &P::reward,
                          {{"bernoulli", LiveReward::kBernoulli, "A reward is reward_low or reward_high."},
                           {"bounded", LiveReward::kBounded, "A reward is anything in between, too."}},
                          "Which values a reward takes.")
      .Number("reward_low", Claims::kKept, &P::reward_low, any, "a finite number", "The smallest reward.")
      .Number("reward_high", Claims::kKept, &P::reward_high, any, "a finite number", "The largest reward.")
      .Number("reward_default", Claims::kKept, &P::reward_default, any, "a finite number",
              "What counts for a reward that has not come when its window ends.")
      .Text("reward_window", Claims::kKept, &P::reward_window, "a time such as 30s, 10m or 2h",
            "How long after a decision its reward may come.")
      .Required()
      .Number("client_sd", Claims::kKept, &P::client_sd, NonNegative, "a finite number >= 0",
              "How far people differ: each has its own theta_u = theta + N(0, client_sd^2 I).")
      .Integer("population", Claims::kChanged, &P::population, 1, "How many people may come, at most.");
  return WithParams(WorldKind{.name = "live",
                              .sentence = "An application's own actions and its own people. Only a server "
                                          "runs it: nothing is simulated.",
                              .time = TimeModel::kSlot},
                    options, &MakeLiveWorld);
}

}  // namespace bandana
