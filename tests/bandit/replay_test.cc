#include "bandana/bandit/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "tests/support.h"

namespace bandana {
namespace {

// Three contexts, three actions, rewards 0 or 1.
constexpr int kContexts = 3;
constexpr int kActions = 3;
constexpr int kOutcomes = kContexts * kActions * 2;
constexpr std::array<double, kContexts> kContextLaw = {0.5, 0.3, 0.2};
constexpr double kLogging[kContexts][kActions] = {{0.2, 0.3, 0.5}, {0.6, 0.2, 0.2}, {0.25, 0.5, 0.25}};
constexpr double kMeans[kContexts][kActions] = {{0.9, 0.2, 0.5}, {0.1, 0.6, 0.4}, {0.5, 0.3, 0.8}};
constexpr double kSmallest = 0.2;

struct Outcome {
  int context = 0, action = 0, reward = 0;
  int index() const { return (context * kActions + action) * 2 + reward; }
};

// A learner that remembers the last round that counted: it prefers an action that had reward 1, differently
// in each context.
double Choice(int context, int action, const Outcome* last) {
  if (last == nullptr) return action == context ? 0.5 : 0.25;
  const int favourite = last->reward == 1 ? last->action : (last->action + 1 + context) % kActions;
  return action == favourite ? 0.8 : 0.1;
}

template <class Law>
int DrawFrom(Law law, int size, CoinGen& coin) {
  double left = UniformUnit(coin);
  for (int i = 0; i + 1 < size; ++i) {
    left -= law(i);
    if (left < 0) return i;
  }
  return size - 1;
}

std::shared_ptr<const LoggedData> DrawLog(Count rounds, CoinGen& coin) {
  LoggedData::Params log{.num_actions = kActions, .dimension = 1};
  for (Count t = 0; t < rounds; ++t) {
    const int x = DrawFrom([](int i) { return kContextLaw[static_cast<std::size_t>(i)]; }, kContexts, coin);
    const int a = DrawFrom([&](int i) { return kLogging[x][i]; }, kActions, coin);
    log.contexts.push_back(x);
    log.actions.push_back(a);
    log.rewards.push_back(UniformUnit(coin) < kMeans[x][a] ? 1 : 0);
    log.pscores.push_back(kLogging[x][a]);
  }
  return std::make_shared<const LoggedData>(*LoggedData::Create(std::move(log)));
}

double OnlineMass(const Outcome& outcome, const Outcome* last) {
  const double mean = kMeans[outcome.context][outcome.action];
  return kContextLaw[static_cast<std::size_t>(outcome.context)] *
         Choice(outcome.context, outcome.action, last) * (outcome.reward == 1 ? mean : 1 - mean);
}

// Computes the masses of the first two rounds in the environment itself, by enumeration.
std::vector<double> OnlineLaw() {
  std::vector<Outcome> outcomes;
  for (int x = 0; x < kContexts; ++x) {
    for (int a = 0; a < kActions; ++a) {
      for (int r = 0; r < 2; ++r) outcomes.push_back({x, a, r});
    }
  }
  std::vector<double> masses;
  for (const Outcome& first : outcomes) {
    for (const Outcome& second : outcomes) {
      masses.push_back(OnlineMass(first, nullptr) * OnlineMass(second, &first));
    }
  }
  return masses;
}

// Counts the outcomes of the first two rounds that counted, over many logs.
std::vector<double> ReplayedCounts(std::optional<double> multiplier, bool lie_about_pscores) {
  test::Coins coins(71);
  std::vector<double> counts(kOutcomes * kOutcomes);
  constexpr Count kRounds = 40;
  for (int repetition = 0; repetition < 30'000; ++repetition) {
    auto log = DrawLog(kRounds, coins.gen);
    if (lie_about_pscores) {  // claims a uniform log: then every match counts
      LoggedData::Params flat{.num_actions = kActions, .dimension = 1};
      for (Count t = 0; t < kRounds; ++t) {
        flat.contexts.push_back(log->context(t)[0]);
        flat.actions.push_back(log->action(t));
        flat.rewards.push_back(log->reward(t));
        flat.pscores.push_back(1.0 / kActions);
      }
      log = std::make_shared<const LoggedData>(*LoggedData::Create(std::move(flat)));
    }
    Replay replay = *Replay::Create(log, multiplier);
    std::vector<Outcome> seen;
    while (!replay.done() && seen.size() < 2) {
      const int x = static_cast<int>(replay.context()[0]);
      const Outcome* last = seen.empty() ? nullptr : &seen.back();
      const int a = DrawFrom([&](int i) { return Choice(x, i, last); }, kActions, coins.gen);
      if (const auto reward = replay.Play(a, coins.gen)) seen.push_back({x, a, static_cast<int>(*reward)});
    }
    // Whether two rounds counted is independent of their outcomes.
    if (seen.size() == 2)
      counts[static_cast<std::size_t>(seen[0].index() * kOutcomes + seen[1].index())] += 1;
  }
  return counts;
}

// The false-alarm rate is 1e-6, and the seed is fixed.
TEST(ReplayTest, RoundsThatCountHaveTheLawOfTheWorld) {
  EXPECT_TRUE(test::FitsMasses(ReplayedCounts(kSmallest, false), OnlineLaw()));
}

TEST(ReplayTest, WrongPscoresShow) {
  EXPECT_FALSE(test::FitsMasses(ReplayedCounts(std::nullopt, true), OnlineLaw()));
}

// The number of rounds that count is binomial(n, c) for any learner. The test allows 5 standard deviations, a
// false alarm in 10^6.
TEST(ReplayTest, CountsRounds) {
  test::Coins coins(72);
  constexpr Count kRounds = 100'000;
  const auto log = DrawLog(kRounds, coins.gen);
  for (const double c : {0.2, 0.1}) {
    Replay replay = *Replay::Create(log, c);
    Count matched = 0, accepted = 0;
    while (!replay.done()) {
      const Count round = replay.offered();
      const int choice = static_cast<int>(replay.context()[0]);
      matched += choice == log->action(round) ? 1 : 0;
      accepted += replay.Play(choice, coins.gen).has_value() ? 1 : 0;
    }
    EXPECT_EQ(replay.offered(), kRounds);
    EXPECT_EQ(replay.matched(), matched);
    EXPECT_EQ(replay.accepted(), accepted);
    EXPECT_NEAR(static_cast<double>(accepted), c * kRounds, 5 * std::sqrt(c * (1 - c) * kRounds));
  }
}

TEST(ReplayTest, UniformLogsCountEveryMatch) {
  LoggedData::Params params{.num_actions = 2,
                            .dimension = 1,
                            .contexts = {5, 6, 7},
                            .actions = {0, 1, 0},
                            .rewards = {0.25, 0.5, 0.75},
                            .pscores = {0.5, 0.5, 0.5}};
  Replay replay = *Replay::Create(std::make_shared<const LoggedData>(*LoggedData::Create(std::move(params))));
  test::Coins coins(73);
  EXPECT_EQ(replay.multiplier(), 0.5);
  EXPECT_EQ(replay.context()[0], 5);
  EXPECT_EQ(replay.Play(0, coins.gen), 0.25);
  EXPECT_EQ(replay.context()[0], 6);
  EXPECT_EQ(replay.Play(0, coins.gen), std::nullopt);
  EXPECT_EQ(replay.Play(0, coins.gen), 0.75);
  EXPECT_TRUE(replay.done());
  EXPECT_EQ(replay.offered(), 3);
  EXPECT_EQ(replay.accepted(), 2);
}

TEST(ReplayTest, CoinsFallAlikeForAllLearners) {
  test::Coins coins(74);
  const auto log = DrawLog(1000, coins.gen);
  const auto accepted = [&](int skipped) {
    test::Coins same(75);
    Replay replay = *Replay::Create(log);
    std::vector<bool> counted;
    while (!replay.done()) {
      const ArmId right = log->action(replay.offered());
      const bool skip = replay.offered() < skipped;
      counted.push_back(replay.Play(skip ? (right + 1) % kActions : right, same.gen).has_value());
    }
    return counted;
  };
  const auto all = accepted(0), later = accepted(500);
  EXPECT_EQ(all, accepted(0));
  EXPECT_TRUE(std::equal(all.begin() + 500, all.end(), later.begin() + 500));
}

TEST(ReplayTest, MultipliersThatCannotBe) {
  test::Coins coins(76);
  const auto log = DrawLog(1000, coins.gen);
  EXPECT_EQ(Replay::Create(log)->multiplier(), kSmallest);
  for (const double bad : {0.0, -1.0, 0.21, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(InputErrorOf(Replay::Create(log, bad).status())->key, "multiplier") << bad;
  }
}

}  // namespace
}  // namespace bandana
