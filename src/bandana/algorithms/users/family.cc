#include "bandana/algorithms/users/family.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/algorithms/users/create.h"
#include "bandana/bandit/worlds/glm_users.h"
#include "bandana/bandit/worlds/replay_users.h"
#include "bandana/core/check.h"

namespace bandana {
namespace {

// An entry without its options. `mechanism_keys` are the options of Privacy that set the noise.
Family UserFamily(std::string name, std::string paper, std::string sentence,
                  const std::vector<std::string>& mechanism_keys) {
  Family family{.name = std::move(name),
                .paper = std::move(paper),
                .sentence = std::move(sentence),
                .time = TimeModel::kUser,
                .trust = {TrustModel::kNone},
                .worlds = {"contextual-linear", "glm", "replay"},
                .privacy_keys = {"out_of_range"}};
  if (mechanism_keys.empty()) return family;
  family.trust.push_back(TrustModel::kLocal);
  family.privacy_keys.insert(family.privacy_keys.end(), mechanism_keys.begin(), mechanism_keys.end());
  return family;
}

std::vector<std::string> PureNoise() { return {"slots", "epsilon", "neighbours", "calibration", "sampler"}; }
std::vector<std::string> GaussianNoise() {
  return {"slots", "epsilon", "delta", "neighbours", "calibration", "sampler"};
}

template <class P>
void AddShift(OptionsFor<P>& options) {
  options
      .NumberOr(
          "paper", "gram_shift", Claims::kKept, &P::gram_shift, NonNegative, "a finite number >= 0",
          "What is added to the diagonal of a noisy Gram matrix to keep it positive definite, in units of "
          "the largest eigenvalue of the noise.")
      .Meaning({{"paper", "The shift of P5, Theorem 3.1."}});
}

template <class P>
void AddLazy(OptionsFor<P>& options) {
  options.Number(
      "lazy", Claims::kKept, &P::lazy, InClosed(0, 1), "a number in [0, 1]",
      "Estimates are solved for again when the number of messages has grown by this share; 0: after "
      "every message.");
}

template <class P>
void AddWeight(OptionsFor<P>& options, const std::string& sentence) {
  options.Number("reward_weight", Claims::kKept, &P::reward_weight, Positive, "a finite number > 0",
                 sentence);
}

constexpr char kWeightOfReward[] =
    "The weight of the reward beside the context in one release. A larger weight means less noise on r x and "
    "more "
    "noise on x x'.";
constexpr char kWeightWithoutNoise[] =
    "The weight of the reward beside the context in a noisy release. It has no effect here, where nothing "
    "has "
    "noise.";

template <class P>
void AddWarmUp(OptionsFor<P>& options) {
  options
      .Integer("warm_up", Claims::kKept, &P::warm_up, 1,
               "s_0: how often each arm is played before contexts decide. auto: 2 T^(2/3) / K, but at most a "
               "tenth "
               "of the horizon in all.")
      .WhenWorld("parameters", "multi");
}

template <class P>
void AddEliminationGap(OptionsFor<P>& options) {
  options
      .Number("elimination_gap", Claims::kKept, &P::elimination_gap, Positive, "a finite number > 0",
              "h: arms that are more than h/2 below the best after the warm-up are not played (P5, equation "
              "(7)).")
      .WhenWorld("parameters", "multi");
}

Family LdpSgdFamily() {
  using P = LdpSgdParams;
  OptionsFor<P> options("algorithm");
  options
      .Number(
          "step", Claims::kKept, &P::step, Positive, "a finite number > 0",
          "The length of steps: the n-th is this times d / (zeta n), where zeta is the smallest slope of the "
          "link.")
      .Number("delay", Claims::kKept, &P::delay, NonNegative, "a finite number >= 0",
              "How late steps begin: n is counted from n_0 = delay (step d l / zeta)^2 on, where l is the "
              "size of a "
              "message's noise. 0: from 0 on, as in the paper.")
      .NumberOr("none", "average", Claims::kKept, &P::average, InClosed(0, 100), "a number in [0, 100]",
                "Users choose by a mean of the iterates, with weights that grow as n to this power.")
      .Meaning({{"none", "Users choose by the last iterate, as in the paper."}});
  AddWarmUp(options);
  AddEliminationGap(options);
  options.Choice<L2BallRandomizer>(
      "randomizer", Claims::kKept, &P::randomizer,
      {{"privunit", L2BallRandomizer::kPrivUnit, "PrivUnit, whose noise is smaller for a large epsilon."},
       {"duchi", L2BallRandomizer::kDuchi,
        "The randomizer of Duchi, Jordan and Wainwright, as in the paper."}},
      "How gradients are randomized in the l2 ball.");
  return WithParams(
      UserFamily("ldp-sgd", "P5, Algorithms 1 and 2",
                 "Every user sends a randomized gradient, by which the server steps.", PureNoise()),
      options, &CreateLdpSgd);
}

Family LdpOlsFamily() {
  OptionsFor<LdpOlsParams> options("algorithm");
  AddShift(options);
  AddLazy(options);
  AddWeight(options, kWeightOfReward);
  AddWarmUp(options);
  AddEliminationGap(options);
  return WithParams(
      UserFamily("ldp-ols", "P5, Algorithms 1 and 2",
                 "Every user sends noisy statistics, and the server solves least squares.", GaussianNoise()),
      options, &CreateLdpOls);
}

constexpr char kBonus[] = "The factor of the optimistic bonus that the authors give.";

Family LdpUcbFamily() {
  using P = LdpUcbParams;
  OptionsFor<P> options("algorithm");
  AddShift(options);
  options.Number("bonus", Claims::kKept, &P::bonus, NonNegative, "a finite number >= 0", kBonus);
  AddLazy(options);
  AddWeight(options, kWeightOfReward);
  AddWarmUp(options);
  return WithParams(
      UserFamily("ldp-ucb", "Zheng et al., NeurIPS 2020",
                 "Users of ldp-ols choose optimistically: LinUCB with local privacy.", GaussianNoise()),
      options, &CreateLdpUcb);
}

Family LdpGlocFamily() {
  using P = LdpGlocParams;
  OptionsFor<P> options("algorithm");
  options.Number("step", Claims::kKept, &P::step, Positive, "a finite number > 0",
                 "The length of steps of the online parameter, times sqrt(T).");
  AddShift(options);
  options.Number("bonus", Claims::kKept, &P::bonus, NonNegative, "a finite number >= 0", kBonus);
  AddLazy(options);
  AddWeight(options, kWeightOfReward);
  AddWarmUp(options);
  return WithParams(
      UserFamily("ldp-gloc", "Zheng et al., NeurIPS 2020",
                 "Online learning through a link is turned into confidence sets, with local privacy.",
                 GaussianNoise()),
      options, &CreateLdpGloc);
}

Family ThompsonSamplingFamily() {
  using P = ThompsonSamplingParams;
  OptionsFor<P> options("algorithm");
  AddShift(options);
  options.Number("spread", Claims::kKept, &P::spread, NonNegative, "a finite number >= 0",
                 "The spread of the thetas that are drawn, in standard deviations of a reward.");
  AddLazy(options);
  AddWeight(options, kWeightWithoutNoise);
  AddWarmUp(options);
  return WithParams(UserFamily("thompson-sampling", "Agrawal and Goyal, ICML 2013",
                               "Every user draws thetas from their posterior law and chooses by them.", {}),
                    options, &CreateThompsonSampling);
}

Family ContextLinUcbFamily() {
  using P = ContextLinUcbParams;
  OptionsFor<P> options("algorithm");
  AddShift(options);
  options.Number("bonus", Claims::kKept, &P::bonus, NonNegative, "a finite number >= 0", kBonus);
  AddLazy(options);
  AddWeight(options, kWeightWithoutNoise);
  AddWarmUp(options);
  return WithParams(UserFamily("lin-ucb", "Abbasi-Yadkori et al., NIPS 2011",
                               "Users choose optimistically, by least squares without noise.", {}),
                    options, &CreateContextLinUcb);
}

absl::StatusOr<std::unique_ptr<World>> MakeGlm(const GlmUsersParams& params, const WorldDraw& draw) {
  return MakeGlmUsers(params, draw);
}
absl::StatusOr<std::unique_ptr<World>> MakeReplay(const ReplayUsersParams& params, const WorldDraw& draw) {
  return MakeReplayUsers(params, draw);
}

WorldKind LinearUsersKind() {
  WorldKind kind =
      WithParams({.name = "contextual-linear",
                  .sentence = "Every round has a new user with a context of its own, and the mean "
                              "reward is <theta, x>.",
                  .time = TimeModel::kUser},
                 GlmUsersOptions(false), &MakeGlm);
  kind.defaults = GlmUsersParams{.link = Link::kIdentity};
  return kind;
}

WorldKind GlmUsersKind() {
  return WithParams(
      {.name = "glm",
       .sentence = "Every round has a new user with a context of its own, and the mean reward follows "
                   "from <theta, x> through a link.",
       .time = TimeModel::kUser},
      GlmUsersOptions(true), &MakeGlm);
}

WorldKind ReplayUsersKind() {
  return WithParams({.name = "replay",
                     .sentence = "Users come from a log, or from a data set of loans.",
                     .time = TimeModel::kUser},
                    ReplayUsersOptions(), &MakeReplay);
}

}  // namespace

void AddUserFamilies(Registry& registry) {
  for (const auto& family : {LdpSgdFamily, LdpOlsFamily, LdpUcbFamily, LdpGlocFamily, ThompsonSamplingFamily,
                             ContextLinUcbFamily}) {
    registry.MustAdd(family());
  }
}

void AddUserWorlds(Registry& registry) {
  for (const auto& kind : {LinearUsersKind, GlmUsersKind, ReplayUsersKind}) {
    registry.MustAdd(kind());
  }
}

}  // namespace bandana
