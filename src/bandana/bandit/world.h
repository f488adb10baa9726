#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/bandit/mean_function.h"
#include "bandana/bandit/reward_model.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/claim.h"

/// Worlds: what clients, agents and users play in. A world is simulated, replayed from a log, or real. There
/// is one interface for each way in which time passes; the simulator, the lab and the agents of a deployment
/// take any class that implements it.
namespace bandana {

/// How time passes for the players.
enum class TimeModel {
  kSlot,   ///< a server plans phases, and clients report on them
  kRound,  ///< every agent plays one arm of its own decision set in each round
  kTick,   ///< agents pull arms that all share, and messages travel between ticks
  kUser,   ///< every round has a new user with a context of its own
};

/// The facts that a world declares about itself. All of them are public: an algorithm may rest on them, and
/// claims hold only where they are true.
struct Facts {
  Count horizon = 0;    ///< T, rounds
  Count people = 0;     ///< clients, agents or peers have the ids 1 .. people
  Count arms = 0;       ///< K
  Count dimension = 0;  ///< d; 0: arms are no vectors
  std::shared_ptr<const ActionMatrix> actions =
      {};  ///< slots: the vectors of the arms, which all clients share

  RewardModel reward = {};  ///< law of a reward given its mean
  std::optional<double> reward_bound =
      {};                   ///< slots: clients clip averages to it; empty: the algorithm chooses
  Interval rewards{0, 1};   ///< ticks and users: rewards outside are clipped
  double reward_proxy = 1;  ///< users: sub-Gaussian proxy of a reward given its mean
  double client_sd = 0;     ///< slots: how far clients' own parameters spread around theta
  double theta_norm = 1;    ///< no parameter is longer
  double context_norm = 1;  ///< no context is longer; longer ones are clipped
  MeanFunction mean = {};   ///< the mean reward as a function of <theta, x>
  bool multi = false;       ///< users: one theta for each arm instead of one for all

  /// Slots: |mean reward of x - <theta, x>| is at most this for every action.
  double misspecification = 0;
  /// Slots: an action stands for a policy that maps each client's own context to an arm.
  bool policies = false;
  /// Ticks: the smallest positive gap between means, which only a simulation knows; 0: all means are equal.
  std::optional<double> smallest_gap = {};
  /// Ticks: an arm's mean reward may differ between agents.
  bool agents_differ = false;
  /// Users: about how many rounds of a log will count; 0: as many as the horizon has.
  Count rounds_that_count = 0;
  std::uint64_t public_seed = 1;  ///< public coins: random graphs and gossip are drawn from it

  /// Remarks on what the world does to claims, for example that some of these facts come from people's data.
  std::vector<Note> notes = {};
};

/// Which instance of a world is drawn.
struct WorldDraw {
  Count horizon = 0;
  std::uint64_t seed = 1;
  std::uint32_t replicate = 0;
  bool one_client_per_round = false;  ///< slots: how many clients there are if nobody says so
};

class World {
 public:
  virtual ~World() = default;
  virtual const Facts& facts() const = 0;

  /// Save and Restore continue the world in another process, as those of a role do (core/savable.h). A world
  /// whose answers depend only on who asks and when has nothing to save.
  virtual std::string Save() const { return {}; }
  virtual absl::Status Restore(std::string_view saved) {
    return saved.empty() ? absl::OkStatus() : absl::DataLossError("this world saves nothing");
  }
};

/// A world for slots and ticks: people pull arms that all share.
class SlotWorld : public World {
 public:
  /// Fills in what `who` sees of the pulls of an epoch: one sum for each pull, in their order.
  virtual absl::Status Answer(NodeId who, Epoch epoch, std::span<const Pull> pulls,
                              std::span<RewardSum> rewards) = 0;

  /// Returns by how much the arm's mean is below the best. NaN: nobody knows, and regret is not reported.
  virtual double Gap(ArmId) const { return std::numeric_limits<double>::quiet_NaN(); }

  /// Returns whether playing the arm counts as playing the best one.
  virtual bool IsBest(ArmId arm) const { return Gap(arm) <= 0; }

  /// Returns whether AnswerGroup works.
  virtual bool AnswersGroups() const { return false; }

  /// Answers for many new clients at once: clients first, first + 1, ... each pull `arm` once. Fills in, for
  /// each value that a reward can take, how many clients got it and the sum of their rewards; or everything
  /// in one sum. The result has the same distribution as that of asking the clients one by one.
  virtual absl::Status AnswerGroup(NodeId first, Count clients, Epoch epoch, ArmId arm,
                                   std::vector<RewardSum>& rewards);
};

/// A world for rounds: every agent meets decision sets of its own. Different agents may be asked by different
/// threads.
class RoundWorld : public World {
 public:
  /// Fills in the decision sets of block.rounds() rounds of an agent, from first_round on, with their means
  /// if these are known. A deployment asks for one round at a time.
  virtual void Fill(NodeId agent, Count first_round, DecisionBlock<double>& block) = 0;

  /// Returns the reward of `arm` in round `at` of the block, which was filled last for this agent.
  virtual double Reward(const DecisionBlock<double>& block, NodeId agent, Count at, ArmId arm) = 0;

  /// A world may also draw its decision sets in single precision.
  virtual bool single_precision() const { return false; }
  virtual void Fill(NodeId agent, Count first_round, DecisionBlock<float>& block);
  virtual double Reward(const DecisionBlock<float>& block, NodeId agent, Count at, ArmId arm);
};

/// The view that a learner has of a user when it chooses.
class UserView {
 public:
  virtual ~UserView() = default;

  /// Returns the contexts: K x d, or 1 x d if every arm has a theta of its own. Valid until the next user.
  virtual const ActionMatrix& Contexts() = 0;

  /// Fills in one score per arm. One theta for all arms: scores[a] = <x_a, theta>. One theta per arm, row by
  /// row: scores[a] = <x, theta_a>. It is asked at most once per user and parameter, before Reward.
  virtual void Scores(std::span<const double> thetas, std::span<double> scores);
};

/// A world for users: every round has a new one.
class UserWorld : public World, public UserView {
 public:
  /// The next user comes. False: there are no more.
  virtual bool Next() = 0;

  /// Returns what comes of playing the arm. Nothing: the round does not count, and nobody learns from it.
  virtual std::optional<double> Reward(ArmId arm) = 0;

  /// Returns the context that belongs to an arm: x_a, or x. Valid until the next user.
  virtual std::span<const double> Context(ArmId arm);

  /// Returns by how much the arm's mean is below the best of this user. NaN: nobody knows.
  virtual double Gap(ArmId) const { return std::numeric_limits<double>::quiet_NaN(); }

  /// Returns the sum over all thetas of the distance from its estimate to the truth. NaN: nobody knows.
  virtual double EstimationError(std::span<const double> /*thetas*/) const {
    return std::numeric_limits<double>::quiet_NaN();
  }

  /// Returns a cheaper world with the same law, for learners that look only at scores. Null: there is none.
  virtual std::unique_ptr<UserWorld> ScoresOnly() const { return nullptr; }

  /// Returns the arm that the learner's public model holds for the best.
  using GreedyPolicy = absl::FunctionRef<ArmId(UserView&)>;

  /// Adds metrics that only this world can measure, for example what the learner has earned on a log up to
  /// now.
  virtual absl::Status Measure(GreedyPolicy /*greedy*/, std::map<std::string, double>& /*series*/) {
    return absl::OkStatus();
  }
};

}  // namespace bandana
