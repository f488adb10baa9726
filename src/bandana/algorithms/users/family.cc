#include "bandana/algorithms/users/family.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/algorithms/users/create.h"
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
          "The number that is added to the diagonal of a noisy Gram matrix to keep it positive definite, in "
          "units of the largest eigenvalue of the noise.")
      .Meaning({{"paper", "The shift of P5, Theorems 3.1 and 4.1."}});
}

template <class P>
void AddLazy(OptionsFor<P>& options) {
  options.Number("lazy", Claims::kKept, &P::lazy, InClosed(0, 1), "a number in [0, 1]",
                 "The estimate is computed anew when the number of "
                 "messages has grown by this share. 0: after every message.");
}

template <class P>
void AddWeight(OptionsFor<P>& options) {
  options.Number(
      "reward_weight", Claims::kKept, &P::reward_weight, Positive, "a finite number > 0",
      "The weight of the reward beside the context in one release. A larger weight means less noise "
      "on r x and more noise on x x'.");
}

template <class P>
void AddWarmUp(OptionsFor<P>& options) {
  options
      .Integer("warm_up", Claims::kKept, &P::warm_up, 1,
               "How often each arm is played before contexts decide (s_0 in P5). auto: 2 T^(2/3) / K, but at "
               "most a tenth of the horizon in all.")
      .WhenWorld("parameters", "multi");
}

template <class P>
void AddEliminationGap(OptionsFor<P>& options) {
  options
      .Number("elimination_gap", Claims::kKept, &P::elimination_gap, Positive, "a finite number > 0",
              "After the warm-up, arms that are more than half of this below the best are no longer played "
              "(h in P5, equation (7)).")
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
      .Choice<SgdSteps>("steps", Claims::kKept, &P::steps,
                        {{"pulls", SgdSteps::kPulls,
                          "Steps fall as 1/n, where n is how often an arm has been played on average."},
                         {"paper", SgdSteps::kPaper,
                          "Steps fall as 1/n, where n counts all users after the warm-up (P5, Theorem 4.1)."},
                         {"root", SgdSteps::kRoot, "Steps fall as 1/sqrt(n), as in P5's Appendix F."}},
                        "How the length of steps falls.")
      .Number("delay", Claims::kKept, &P::delay, NonNegative, "a finite number >= 0",
              "How late steps begin: n is counted from n_0 = delay (step d l / zeta)^2 on, where l is the "
              "size of a "
              "message's noise. 0: from 0 on, as in the paper.")
      .Choice<SgdProjection>(
          "projection", Claims::kKept, &P::projection,
          {{"ball", SgdProjection::kBall, "Theta is projected onto its ball after every step."},
           {"none", SgdProjection::kNone, "Theta is not projected, as in the paper."}},
          "Whether theta is kept in the ball in which the world says that it lies.")
      .NumberOr("none", "average", Claims::kKept, &P::average, InClosed(0, 100), "a number in [0, 100]",
                "Users choose by a weighted mean of all iterates; the n-th iterate has weight n^average.")
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
  AddWeight(options);
  AddWarmUp(options);
  AddEliminationGap(options);
  return WithParams(
      UserFamily("ldp-ols", "P5, Algorithms 1 and 2",
                 "Every user sends noisy statistics, and the server solves least squares.", GaussianNoise()),
      options, &CreateLdpOls);
}

constexpr char kBonus[] = "The authors' bonus is multiplied by this number. 0: no optimism.";

Family LdpUcbFamily() {
  using P = LdpUcbParams;
  OptionsFor<P> options("algorithm");
  AddShift(options);
  options.Number("bonus", Claims::kKept, &P::bonus, NonNegative, "a finite number >= 0", kBonus);
  AddLazy(options);
  AddWeight(options);
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
                 "The online parameter moves by step / sqrt(T) times a gradient.");
  AddShift(options);
  options.Number("bonus", Claims::kKept, &P::bonus, NonNegative, "a finite number >= 0", kBonus);
  AddLazy(options);
  AddWeight(options);
  AddWarmUp(options);
  return WithParams(
      UserFamily("ldp-gloc", "Zheng et al., NeurIPS 2020",
                 "The server turns an online learner for the link function into confidence sets; users send "
                 "noisy statistics.",
                 GaussianNoise()),
      options, &CreateLdpGloc);
}

Family ThompsonSamplingFamily() {
  using P = ThompsonSamplingParams;
  OptionsFor<P> options("algorithm");
  options.Number("spread", Claims::kKept, &P::spread, NonNegative, "a finite number >= 0",
                 "The spread of the thetas that are drawn, in standard deviations of a reward.");
  AddLazy(options);
  AddWarmUp(options);
  return WithParams(UserFamily("thompson-sampling", "Agrawal and Goyal, ICML 2013",
                               "Every user draws thetas from their posterior law and chooses by them.", {}),
                    options, &CreateThompsonSampling);
}

Family ContextLinUcbFamily() {
  using P = ContextLinUcbParams;
  OptionsFor<P> options("algorithm");
  options.Number("bonus", Claims::kKept, &P::bonus, NonNegative, "a finite number >= 0", kBonus);
  AddLazy(options);
  AddWarmUp(options);
  return WithParams(UserFamily("lin-ucb", "Abbasi-Yadkori et al., NIPS 2011",
                               "Users choose optimistically, by least squares without noise.", {}),
                    options, &CreateContextLinUcb);
}

}  // namespace

void AddUserFamilies(Registry& registry) {
  for (const auto& family : {LdpSgdFamily, LdpOlsFamily, LdpUcbFamily, LdpGlocFamily, ThompsonSamplingFamily,
                             ContextLinUcbFamily}) {
    registry.MustAdd(family());
  }
}

}  // namespace bandana
