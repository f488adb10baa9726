#include "bandana/bandit/worlds/contextual.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "bandana/bandit/worlds/contextual_population.h"
#include "bandana/bandit/worlds/reward_options.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

Count PoliciesOf(const ContextualWorldParams& params) {
  constexpr Count kInThePlane = 256;
  constexpr Count kAbove = 4096;
  return params.policies.value_or(params.dimension <= 2 ? kInThePlane : kAbove);
}

absl::StatusOr<std::shared_ptr<const ContextLaw>> MakeLaw(const ContextualWorldParams& params) {
  switch (params.contexts) {
    case ContextSource::kSphere:
      return SphereContexts::Create(params.actions, params.dimension);
    case ContextSource::kGaussian:
      return GaussianContexts::Create(params.actions, params.dimension);
    case ContextSource::kClusters:
      return ClusterContexts::Two(params.actions, params.dimension);
    case ContextSource::kFile:
      return ReadContexts(params.file, params.actions, params.dimension);
  }
  return absl::InternalError("`contexts` has an unknown value");
}

absl::StatusOr<ActionMatrix> DirectionsOf(const ContextualWorldParams& params, Count dimension,
                                          const WorldDraw& draw) {
  if (params.policy_spread == PolicySpread::kNumber) {
    return PolicyDirections(dimension, PoliciesOf(params), draw.seed);
  }
  return PolicyNet(dimension, static_cast<double>(draw.horizon) * params.theta_norm, kMostPolicyEntries);
}

absl::StatusOr<std::shared_ptr<const PolicySet>> ComputePolicies(const ContextualWorldParams& params,
                                                                 const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const ContextLaw> law, MakeLaw(params));
  BANDANA_ASSIGN_OR_RETURN(ActionMatrix thetas, DirectionsOf(params, law->dimension(), draw));
  return PolicySet::Create({.law = std::move(law),
                            .thetas = std::move(thetas),
                            .samples = params.context_samples,
                            .seed = draw.seed});
}

// Names everything that a policy set is made of, and for a file also when it was written.
std::string KeyOf(const ContextualWorldParams& params, const WorldDraw& draw) {
  std::string file;
  if (params.contexts == ContextSource::kFile) {
    file = params.file;
    std::error_code missing;
    const auto written = std::filesystem::last_write_time(file, missing);
    if (!missing) {
      file += fmt::format("@{}+{}", written.time_since_epoch().count(),
                          std::filesystem::file_size(file, missing));
    }
  }
  const bool net = params.policy_spread == PolicySpread::kNet;
  return fmt::format(
      "{} {} {} {} {} {} {}", static_cast<int>(params.contexts), params.actions, params.dimension,
      net ? fmt::format("T{}*{}", draw.horizon, params.theta_norm) : fmt::format("{}", PoliciesOf(params)),
      params.context_samples, draw.seed, file);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PolicySet>> MakePolicies(const ContextualWorldParams& params,
                                                              const WorldDraw& draw) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const PolicySet>> made;
  constexpr std::size_t kMostKept = 16;
  const std::string key = KeyOf(params, draw);
  const std::lock_guard lock(mutex);
  if (const auto it = made.find(key); it != made.end()) return it->second;
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const PolicySet> policies, ComputePolicies(params, draw));
  if (made.size() >= kMostKept) made.clear();
  made.emplace(key, policies);
  return policies;
}

// The plans follow from the policies, and these from all contexts of the file, without noise
// (docs/proofs/known-contexts.md, "What the claim rests on").
std::vector<Note> NotesOf(const ContextualWorldParams& params) {
  if (params.contexts != ContextSource::kFile) return {};
  return {{Note::Weight::kNarrowsClaim,
           "The claim is for clients of the world that the file of contexts stands for. It is not for the "
           "people in the file: the policies are computed from their contexts as they are.",
           "the person is a client of the world that the file of contexts stands for, and not somebody in "
           "the file"}};
}

absl::StatusOr<std::unique_ptr<World>> MakeContextualWorld(const ContextualWorldParams& params,
                                                           const WorldDraw& draw) {
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const PolicySet> policies, MakePolicies(params, draw));
  BANDANA_ASSIGN_OR_RETURN(
      ContextualProblem problem,
      ContextualProblem::Draw(std::move(policies), params.theta_norm, draw.seed, draw.replicate));
  BANDANA_ASSIGN_OR_RETURN(
      ContextualPopulation population,
      ContextualPopulation::Create({.problem = std::make_shared<const ContextualProblem>(std::move(problem)),
                                    .reward = {.kind = params.reward, .mean_varies = true},
                                    .size = params.population.value_or(draw.horizon),
                                    .seed = draw.seed,
                                    .replicate = draw.replicate,
                                    .horizon = draw.horizon,
                                    .notes = NotesOf(params)}));
  return std::make_unique<ContextualPopulation>(std::move(population));
}

WorldKind ContextualWorldKind() {
  using P = ContextualWorldParams;
  OptionsFor<P> options("environment");
  options
      .Choice<ContextSource>(
          "contexts", Claims::kChanged, &P::contexts,
          {{"sphere", ContextSource::kSphere, "Every action is uniform on the unit sphere."},
           {"gaussian", ContextSource::kGaussian, "Every action is normal."},
           {"clusters", ContextSource::kClusters, "Actions lie around two centres."},
           {"file", ContextSource::kFile, "Contexts are drawn from those in `file`."}},
          "How the actions of a client's context are drawn.")
      .Path("file", Claims::kKept, &P::file,
            "The file of the contexts: one per line, action by action, numbers separated by commas.")
      .Required()
      .When([](const P& p) { return p.contexts == ContextSource::kFile; }, "with contexts = file")
      .Integer("dimension", Claims::kKept, &P::dimension, 1, "The dimension d of an action.")
      .Required()
      .Integer("actions", Claims::kKept, &P::actions, 1, "The number K of actions in one context.")
      .Required()
      .Choice<PolicySpread>(
          "policy_spread", Claims::kKept, &P::policy_spread,
          {{"number", PolicySpread::kNumber, "There are `policies` of them, whatever the horizon."},
           {"net", PolicySpread::kNet,
            "There are the fewest that cost a regret of at most 1 over the horizon if contexts have the same "
            "law in "
            "all directions, but at most 2^20 numbers in all."}},
          "How many parameters theta_j there are to play by, and where.")
      .Integer(
          "policies", Claims::kKept, &P::policies, 1,
          "How many parameters theta_j there are to play by. Each stands for the policy that picks the best "
          "action by theta_j. auto: 256 in the plane, 4096 above.")
      .When([](const P& p) { return p.policy_spread == PolicySpread::kNumber; },
            "with policy_spread = number")
      .Integer(
          "context_samples", Claims::kKept, &P::context_samples, 0,
          "The learner knows the distribution of contexts from so many of them, and its widths allow for the "
          "error. 0: the learner knows it exactly.")
      .Number("theta_norm", Claims::kKept, &P::theta_norm, InHalfOpen(0, 1), "a number in (0, 1]",
              "The norm of theta.");
  AddRewardOptions(options, {RewardKind::kRademacher, RewardKind::kBernoulli, RewardKind::kUniform});
  options.Integer("population", Claims::kChanged, &P::population, 1,
                  "How many clients there are. Each takes part at most once. auto: one for every round.");
  return WithParams(
      WorldKind{.name = "contextual-linear",
                .sentence = "Each client has a context of K actions, whose distribution is known. "
                            "Policies are played instead of actions.",
                .time = TimeModel::kSlot},
      options, &MakeContextualWorld);
}

}  // namespace bandana
