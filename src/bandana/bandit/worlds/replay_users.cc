#include "bandana/bandit/worlds/replay_users.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "bandana/bandit/worlds/lending_rounds.h"
#include "bandana/bandit/worlds/logged_rounds.h"
#include "bandana/bandit/worlds/user_means.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr Count kPrices = 25;

bool IsLog(const ReplayUsersParams& params) { return params.log == ReplayLog::kOpenBandit; }
bool IsLending(const ReplayUsersParams& params) { return params.log == ReplayLog::kAutoLending; }
bool IsTwin(const ReplayUsersParams& params) { return IsLending(params) && params.file.empty(); }

ParameterKind ParametersOf(const ReplayUsersParams& params) {
  return params.parameters.value_or(IsLog(params) ? ParameterKind::kMulti : ParameterKind::kSingle);
}

Interval RewardsOf(const ReplayUsersParams& params, const MeanFunction& mean) {
  if (mean.link() == Link::kPoisson) return {0, static_cast<double>(mean.bound())};
  if (mean.link() != Link::kIdentity) return {0, 1};
  const double bound = params.reward_bound.value_or(1);
  return {-bound, bound};
}

absl::Status CheckRewards(const LoggedData& log, const Interval& rewards) {
  for (Count t = 0; t < log.rounds(); ++t) {
    if (log.reward(t) >= rewards.low && log.reward(t) <= rewards.high) continue;
    return InvalidField(
        Part::kParams,
        {.message = fmt::format("round {} of the log has this reward, which is out of range", t),
         .key = "reward_bound",
         .value = fmt::format("{}", log.reward(t)),
         .accepted = fmt::format("rewards in [{}, {}], as the link and its bound require", rewards.low,
                                 rewards.high)});
  }
  return absl::OkStatus();
}

// The warm-up asks for every action in turn, and waits for it.
absl::Status CheckActions(const LoggedData& log) {
  std::vector<bool> seen(static_cast<std::size_t>(log.num_actions()), false);
  for (Count t = 0; t < log.rounds(); ++t) seen[static_cast<std::size_t>(log.action(t))] = true;
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing == seen.end()) return absl::OkStatus();
  return InvalidField(Part::kParams,
                      {.message = fmt::format("the log never plays action {}", missing - seen.begin()),
                       .key = "actions",
                       .value = fmt::format("{}", log.num_actions()),
                       .accepted = "the number of actions that the log plays, with parameters = \"multi\""});
}

std::vector<std::string> IgnoredColumns(const ReplayUsersParams& params) {
  std::vector<std::string> names;
  for (const auto word : absl::StrSplit(params.ignore, ',', absl::SkipWhitespace())) {
    names.emplace_back(absl::StripAsciiWhitespace(word));
  }
  return names;
}

// The rounds that are played, and those on which policies are evaluated, or null.
struct LogParts {
  std::shared_ptr<const LoggedData> played;
  std::shared_ptr<const LoggedData> held_out;
};

absl::StatusOr<LogParts> Split(LoggedData log, LogEvaluation evaluation) {
  if (evaluation == LogEvaluation::kReplay) {
    return LogParts{std::make_shared<const LoggedData>(std::move(log)), nullptr};
  }
  constexpr Count kLeast = 8;
  if (log.rounds() < kLeast) {
    return InvalidField(Part::kParams, "evaluation", "doubly-robust",
                        fmt::format("replay: the log has {} rounds, and doubly-robust needs at least {}",
                                    log.rounds(), kLeast));
  }
  const Count half = log.rounds() / 2;
  return LogParts{std::make_shared<const LoggedData>(log.Part(0, half)),
                  std::make_shared<const LoggedData>(log.Part(half, log.rounds()))};
}

constexpr char kNotForPeopleInTheLog[] =
    "The claim is for users of the world that the log stands for, each of whom would send a message. It is "
    "not for the people in the log: which of its rounds counted, and what they earned, is computed from "
    "their records as they are.";

constexpr char kPeopleComeAgain[] =
    "applicants of the file are drawn many times and send a message each time, and the scale of the "
    "features, the prices and theta_bound are computed from the file";

absl::StatusOr<std::unique_ptr<UserWorld>> ReadLog(const ReplayUsersParams& params, const MeanFunction& mean,
                                                   const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(LoggedData read,
                           ReadLoggedData(params.file, {.num_actions = params.actions.value_or(0),
                                                        .action_context = params.action_context,
                                                        .ignored = IgnoredColumns(params)}));
  const Interval rewards = RewardsOf(params, mean);
  BANDANA_RETURN_IF_ERROR(WithFile(CheckRewards(read, rewards), params.file));
  BANDANA_ASSIGN_OR_RETURN(LoggedFeatures features, LoggedFeatures::Create(read, ParametersOf(params),
                                                                           params.context_bound.value_or(1)));
  const double multiplier = read.smallest_pscore();
  absl::StatusOr<LogParts> parts = Split(std::move(read), params.evaluation);
  if (!parts.ok()) return WithFile(parts.status(), params.file);
  if (features.multi()) BANDANA_RETURN_IF_ERROR(WithFile(CheckActions(*parts->played), params.file));
  Facts facts{
      .horizon = draw.horizon,
      .people = draw.horizon,
      .arms = parts->played->num_actions(),
      .dimension = features.dimension(),
      .rewards = rewards,
      .reward_proxy = (rewards.high - rewards.low) / 2,
      .theta_norm = params.theta_bound.value_or(1),
      .context_norm = 1,  // features are divided by their bound
      .mean = mean,
      .multi = features.multi(),
      .rounds_that_count = static_cast<Count>(multiplier * static_cast<double>(parts->played->rounds())),
      .notes = {{Note::Weight::kNarrowsClaim, kNotForPeopleInTheLog,
                 "the person is a user of the world that the log stands for, and not somebody in the log"}}};
  BANDANA_ASSIGN_OR_RETURN(Replay replay, Replay::Create(parts->played, multiplier));
  return std::make_unique<LoggedRounds>(std::move(replay), std::move(features), draw.seed, draw.replicate,
                                        std::move(facts), std::move(parts->held_out));
}

absl::Status CheckLending(const ReplayUsersParams& params) {
  if (ParametersOf(params) != ParameterKind::kSingle) {
    return InvalidField(Part::kParams, "parameters", "multi", "single with log = \"auto-lending\"");
  }
  const bool revenue = params.payoff == LendingReward::kRevenue;
  if (params.link != Link::kPoisson && (revenue || params.link == Link::kLogistic)) return absl::OkStatus();
  std::string link;
  for (const Spelling<Link>& each : LinkSpellings()) {
    if (each.value == params.link) link = each.word;
  }
  return InvalidField(Part::kParams, "link", link,
                      revenue ? "identity, logistic, probit with payoff = \"revenue\""
                              : "logistic with payoff = \"acceptance\"");
}

absl::StatusOr<std::unique_ptr<UserWorld>> ReadLending(const ReplayUsersParams& params,
                                                       const MeanFunction& mean, const WorldDraw& draw) {
  BANDANA_RETURN_IF_ERROR(CheckLending(params));
  BANDANA_ASSIGN_OR_RETURN(std::vector<Loan> loans, IsTwin(params) ? SyntheticTwin(draw.seed, params.loans)
                                                                   : ReadAutoLending(params.file));
  AutoLendingOptions options{.prices = params.actions.value_or(kPrices), .reward = params.payoff};
  if (IsTwin(params)) options.scale = TwinScale();
  BANDANA_ASSIGN_OR_RETURN(AutoLendingProblem made, AutoLendingProblem::Create(std::move(loans), options));
  const auto problem = std::make_shared<const AutoLendingProblem>(std::move(made));
  Facts facts{.horizon = draw.horizon,
              .people = draw.horizon,
              .arms = problem->actions(),
              .dimension = AutoLendingProblem::dimension(),
              .rewards = {0, 1},
              .reward_proxy = 0.5,
              .theta_norm = params.theta_bound.value_or(problem->theta().norm()),
              .context_norm = params.context_bound.value_or(1),
              .mean = mean};
  if (!IsTwin(params)) facts.notes = {{Note::Weight::kVoidsClaim, kPeopleComeAgain}};
  return std::make_unique<LendingRounds>(problem, draw.seed, draw.replicate, std::move(facts));
}

// Every kind of log has an option `parameters` with a default of its own. `spellings` begins with it.
void AddParameters(OptionsFor<ReplayUsersParams>& options, const std::string& sentence,
                   const std::vector<Spelling<ParameterKind>>& spellings) {
  std::vector<Word> words;
  for (const Spelling<ParameterKind>& each : spellings) words.push_back({each.word, each.sentence});
  const std::string accepted = internal::OneOf(words);
  options
      .Custom(
          "parameters", Claims::kChanged, accepted, sentence,
          [words, accepted](const Value& value) {
            return internal::CheckWord("parameters", value, words, accepted);
          },
          [spellings](ReplayUsersParams& params, const Value& value) {
            for (const auto& each : spellings) {
              if (IsWord(value, each.word)) params.parameters = each.value;
            }
          },
          [spellings](const ReplayUsersParams& params) {
            for (const auto& each : spellings) {
              if (each.value == params.parameters) return Value(each.word);
            }
            return Value(spellings.front().word);
          })
      .Meaning(words);
}

// Every kind of log has an option `actions`: one without a default, one with it.
void AddActions(OptionsFor<ReplayUsersParams>& options, const std::string& sentence) {
  options.Custom(
      "actions", Claims::kKept, internal::WholeFrom(1, OptionsFor<ReplayUsersParams>::kNoLimit), sentence,
      [](const Value& value) {
        constexpr auto kMost = static_cast<double>(OptionsFor<ReplayUsersParams>::kNoLimit);
        return internal::CheckInteger("actions", value, 1, kMost, false,
                                      internal::WholeFrom(1, OptionsFor<ReplayUsersParams>::kNoLimit));
      },
      [](ReplayUsersParams& params, const Value& value) { params.actions = std::get<std::int64_t>(value); },
      [](const ReplayUsersParams& params) { return Value(std::int64_t{params.actions.value_or(kPrices)}); });
}

}  // namespace

OptionsFor<ReplayUsersParams> ReplayUsersOptions() {
  using P = ReplayUsersParams;
  OptionsFor<P> options("environment");
  options
      .Choice<ReplayLog>(
          "log", Claims::kChanged, &P::log,
          {{"obp", ReplayLog::kOpenBandit,
            "A file with the columns of the Open Bandit Pipeline: context_0, ..., action, reward, pscore. A "
            "round counts where the learner chooses what the log has."},
           {"auto-lending", ReplayLog::kAutoLending,
            "Applications for car loans (P5, Appendix G), which a logistic regression answers."}},
          "Which data are played.")
      .Choice<Link>("link", Claims::kKept, &P::link, LinkSpellings(),
                    "The link that learners assume between <theta, x> and the mean reward.");
  std::vector<Spelling<ParameterKind>> spellings = ParameterSpellings();
  std::stable_partition(spellings.begin(), spellings.end(),
                        [](const auto& each) { return each.value == ParameterKind::kMulti; });
  AddParameters(options,
                "Whether arms share one theta. If they do, a context is the product of the log's context and "
                "its action_context.",
                spellings);
  options.When(IsLog, "with log = obp");
  std::erase_if(spellings, [](const auto& each) { return each.value != ParameterKind::kSingle; });
  AddParameters(options, "Prices share one theta.", spellings);
  options.When(IsLending, "with log = auto-lending");
  options.Path("file", Claims::kChanged, &P::file, "The CSV file of the log.")
      .Required()
      .When(IsLog, "with log = obp")
      .Path("file", Claims::kChanged, &P::file,
            "The CSV file of the applications for loans. "
            "Without a file a synthetic twin of the data set is drawn.")
      .When(IsLending, "with log = auto-lending")
      .Path(
          "action_context", Claims::kKept, &P::action_context,
          "A file with features of the log's actions: one action per line, in columns action_context_0, ...")
      .When(IsLog, "with log = obp")
      .Text("ignore", Claims::kKept, &P::ignore, "names of columns, with commas between",
            "Further columns that the log, or the file of its actions, may have.")
      .When(IsLog, "with log = obp")
      .Choice<LogEvaluation>(
          "evaluation", Claims::kKept, &P::evaluation,
          {{"replay", LogEvaluation::kReplay,
            "The value is what the learner earned per round while it learned, in rounds that counted."},
           {"doubly-robust", LogEvaluation::kDoublyRobust,
            "The learner learns from the first half of the log, and the value is what its greedy policy of "
            "the moment earns in the other half."}},
          "How the value of a learner is estimated.")
      .When(IsLog, "with log = obp")
      .Choice<LendingReward>(
          "payoff", Claims::kKept, &P::payoff,
          {{"acceptance", LendingReward::kAcceptance,
            "The reward is 1 if the applicant accepts, so that the lowest price is best."},
           {"revenue", LendingReward::kRevenue,
            "The reward is the price, as a share of the highest, if the applicant accepts. No link of "
            "<theta, x> has this mean."}},
          "The reward of a price.")
      .When(IsLending, "with log = auto-lending")
      .Integer("loans", Claims::kKept, &P::loans, 1, "The number of applications in the synthetic twin.")
      .When(IsTwin, "with log = auto-lending and no file");
  AddActions(options, "The number K of actions in the log.");
  options.Required().When(IsLog, "with log = obp");
  AddActions(options, "The number K of prices.");
  options.When(IsLending, "with log = auto-lending")
      .Number("theta_bound", Claims::kKept, &P::theta_bound, Positive, "a finite number > 0",
              "The radius of the ball in which learners look for theta. auto: 1 for obp, the length of the "
              "regression's theta for auto-lending.")
      .Number("reward_bound", Claims::kKept, &P::reward_bound, AtLeastOne, "a finite number >= 1",
              "Rewards of the log must be in [-c, c], where c is this bound. auto: 1.")
      .When([](const P& p) { return p.link == Link::kIdentity; }, "with link = identity")
      .Number("reward_bound", Claims::kKept, &P::reward_bound, AtLeastOne, "a finite number >= 1",
              "The whole number at which poisson rewards are cut. auto: 5.")
      .When([](const P& p) { return p.link == Link::kPoisson; }, "with link = poisson")
      .Number("context_bound", Claims::kChanged, &P::context_bound, Positive, "a finite number > 0",
              "Contexts are divided by this length, and longer ones are shortened to it first. auto: 1.");
  return options;
}

absl::StatusOr<std::unique_ptr<UserWorld>> MakeReplayUsers(const ReplayUsersParams& params,
                                                           const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(const MeanFunction mean, MeanFunctionOf(params.link, params.reward_bound));
  return IsLog(params) ? ReadLog(params, mean, draw) : ReadLending(params, mean, draw);
}

namespace {

absl::StatusOr<std::unique_ptr<World>> MakeReplay(const ReplayUsersParams& params, const WorldDraw& draw) {
  return MakeReplayUsers(params, draw);
}

}  // namespace

WorldKind ReplayUsersKind() {
  return WithParams({.name = "replay",
                     .sentence = "Users come from a log, or from a data set of loans.",
                     .time = TimeModel::kUser,
                     .metrics = {"value", "value_low", "value_high", "offered", "matched"}},
                    ReplayUsersOptions(), &MakeReplay);
}

}  // namespace bandana
