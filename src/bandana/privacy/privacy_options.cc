#include "bandana/privacy/privacy_options.h"

#include <algorithm>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana {
namespace {

bool HasShuffler(const Privacy& privacy) { return privacy.model == TrustModel::kShuffle; }
bool IsPrivate(const Privacy& privacy) { return privacy.is_private(); }
bool HasNoShuffler(const Privacy& privacy) {
  return privacy.model == TrustModel::kCentral || privacy.model == TrustModel::kLocal;
}
bool HasShuffleSum(const Privacy& privacy) {
  return HasShuffler(privacy) && privacy.shuffle == ShuffleKind::kSum;
}

}  // namespace

std::string NameOf(TrustModel model) {
  switch (model) {
    case TrustModel::kUnset:
      return "unset";
    case TrustModel::kNone:
      return "none";
    case TrustModel::kCentral:
      return "central";
    case TrustModel::kLocal:
      return "local";
    case TrustModel::kShuffle:
      return "shuffle";
    case TrustModel::kSilo:
      return "silo";
    case TrustModel::kPeer:
      return "peer";
  }
  return "unset";
}

std::vector<Option> PrivacyOptions() {
  using P = Privacy;
  return OptionsFor<P>("privacy")
      .Choice<TrustModel>(
          "model", Claims::kChanged, &P::model,
          {{"none", TrustModel::kNone, "Data are used as they are, and no privacy is claimed."},
           {"central", TrustModel::kCentral,
            "People trust the server, which adds noise to what it releases."},
           {"local", TrustModel::kLocal, "People trust nobody: each adds noise to its own report."},
           {"shuffle", TrustModel::kShuffle,
            "A shuffler between people and server mixes reports that have little noise each."},
           {"silo", TrustModel::kSilo, "People trust their own agent, which adds noise to what it sends."},
           {"peer", TrustModel::kPeer, "People trust their own peer. There is no controller."}},
          "Whom people trust with their data.")
      .Required()
      .Choice<NoiseKind>("noise", Claims::kChanged, &P::noise,
                         {{"gaussian", NoiseKind::kGaussian, "Normal noise, with delta > 0."},
                          {"laplace", NoiseKind::kLaplace, "Laplace noise, with delta = 0."}},
                         "Which noise is added.")
      .When(HasNoShuffler, "with model = central or local")
      .Choice<OutOfRange>(
          "out_of_range", Claims::kKept, &P::out_of_range,
          {{"clip", OutOfRange::kClip, "The context and the reward are clipped to their bounds."},
           {"zero", OutOfRange::kZero, "The user sends a privatized (0, 0)."}},
          "A user whose context or reward is outside its bounds sends something else.")
      .Choice<SlotBudget>(
          "slots", Claims::kChanged, &P::slots,
          {{"full", SlotBudget::kFull, "All of epsilon, which is enough (docs/proofs/synthetic-slots.md)."},
           {"half", SlotBudget::kHalf, "Half of epsilon, as in the paper."},
           {"split", SlotBudget::kSplit, "A K-th of epsilon."}},
          "How much of epsilon protects each arm's part of a user's message.")
      .When([](const P& p) { return p.model == TrustModel::kLocal; }, "with model = local")
      .WhenWorld("parameters", "multi")
      .Choice<ShuffleKind>(
          "shuffle", Claims::kChanged, &P::shuffle,
          {{"sum", ShuffleKind::kSum, "The shuffler adds up noisy bits."},
           {"amplified", ShuffleKind::kAmplified, "The shuffler permutes reports that have local noise."}},
          "What the shuffler does.")
      .When(HasShuffler, "with model = shuffle")
      .Number("epsilon", Claims::kChanged, &P::epsilon, Positive, "a finite number > 0",
              "The privacy budget of one unit. A smaller epsilon means more privacy and more noise.")
      .Required()
      .When(IsPrivate, "unless model = none")
      .Number("delta", Claims::kChanged, &P::delta, Probability, "a number in (0, 1)",
              "The second part of the budget: how much a probability may change beyond the factor e^epsilon.")
      .Required()
      .When(
          [](const P& p) { return p.is_private() && (!HasNoShuffler(p) || p.noise == NoiseKind::kGaussian); },
          "unless model = none or noise = laplace")
      .Choice<Neighbours>(
          "neighbours", Claims::kKept, &P::neighbours,
          {{"replace-one", Neighbours::kReplaceOne, "The data of one unit are replaced by other data."},
           {"add-remove", Neighbours::kAddRemove,
            "There is one unit more, or one less. This is refused: how many people take part is public here, "
            "because plans and schedules depend on it."}},
          "Which change of the data is hidden.")
      .When(IsPrivate, "unless model = none")
      .Integer(
          "records_per_person", Claims::kChanged, &P::records_per_person, 1,
          "The largest number of records that one person has. auto: this number is not known, and the claim "
          "is for one record.")
      .When(IsPrivate, "unless model = none")
      .Numbers(
          "budgets", Claims::kChanged, &P::budgets,
          [](double value) { return value > 0 && std::isfinite(value); }, "finite numbers > 0",
          "Epsilons that the agents take in turn. auto: every agent has epsilon.")
      .When(IsPrivate, "unless model = none")
      .Choice<Calibration>("calibration", Claims::kChanged, &P::calibration,
                           {{"tight", Calibration::kTight, "The least noise that we can prove to be enough."},
                            {"paper", Calibration::kPaper, "The noise of the paper's formula."}},
                           "How much noise is added.")
      .When(IsPrivate, "unless model = none")
      .Choice<Sampler>("sampler", Claims::kKept, &P::sampler,
                       {{"exact", Sampler::kExact,
                         "Integer arithmetic, whose law is proved. A deployment takes nothing else."},
                        {"fast", Sampler::kFast, "Floating point, for simulations."}},
                       "How noise is drawn.")
      .When(IsPrivate, "unless model = none")
      .Choice<Transport>(
          "transport", Claims::kChanged, &P::transport,
          {{"bits", Transport::kBits, "Single bits that the shuffler cannot read."},
           {"counts", Transport::kCounts, "Counts that the shuffler adds up; it is trusted with them."}},
          "The form in which clients send their reports to the shuffler.")
      .When(HasShuffleSum, "with model = shuffle and shuffle = sum")
      .Integer("colluding", Claims::kChanged, &P::colluding, 1,
               "How many participants may work with the adversary. They know their own noise, so they hide "
               "nobody. It is at least 1, because any participant may be curious.")
      .When(HasShuffler, "with model = shuffle")
      .Number("honest_fraction", Claims::kChanged, &P::honest_fraction, InHalfOpen(0, 1),
              "a number in (0, 1]",
              "The share of the participants who follow the protocol. Only they hide others.")
      .When(HasShuffler, "with model = shuffle")
      .Number("quorum", Claims::kKept, &P::quorum, InHalfOpen(0, 1), "a number in (0, 1]",
              "The share of the answers that a phase needs which is enough when its time is over. The noise "
              "does not depend on it.")
      .When([](const P& p) { return p.model != TrustModel::kShuffle; }, "unless model = shuffle")
      .Number("loss", Claims::kKept, &P::loss, InHalfOpen(0, 10), "a number in (0, 10]",
              "How much more noise than a trusted server's is allowed, as a share of its standard deviation. "
              "More noise needs fewer bits.")
      .When([](const P& p) { return HasShuffleSum(p) && p.calibration == Calibration::kTight; },
            "with model = shuffle, shuffle = sum and calibration = tight")
      .options();
}

absl::Status CheckPrivacy(const Privacy& privacy, const std::vector<TrustModel>& accepted) {
  if (std::find(accepted.begin(), accepted.end(), privacy.model) == accepted.end()) {
    std::vector<std::string> names;
    for (const TrustModel each : accepted) names.push_back(NameOf(each));
    return InvalidField(Part::kPrivacy, "model", NameOf(privacy.model),
                        fmt::format("{}", fmt::join(names, ", ")));
  }
  if (privacy.model == TrustModel::kNone) {
    if (!privacy.none_because.empty()) return absl::OkStatus();
    return InvalidField(Part::kPrivacy, "none_because", "", "a reason, because model is none");
  }
  if (privacy.neighbours != Neighbours::kReplaceOne) {
    return InvalidField(Part::kPrivacy, "neighbours", "add-remove",
                        "replace-one. With add-remove, the number of people who take part would have to be "
                        "hidden, but plans, quorums and schedules tell it (docs/limitations.md)");
  }
  if (HasShuffler(privacy) && privacy.colluding < 1) {
    return InvalidField(Part::kPrivacy, "colluding", static_cast<double>(privacy.colluding),
                        "a whole number >= 1: another participant sees the releases and knows its own noise");
  }
  if (Positive(privacy.epsilon)) return absl::OkStatus();
  return InvalidField(Part::kPrivacy, "epsilon", privacy.epsilon, "a finite number > 0");
}

std::optional<Note> UnknownRecords(const Privacy& privacy) {
  if (!privacy.is_private() || privacy.records_per_person.has_value()) return std::nullopt;
  return Note{Note::Weight::kRemark,
              "It is not known how many records one person has (records_per_person), so the claims are "
              "for one record. They promise less to a person who has more."};
}

std::vector<TrustModel> MeanModels() {
  return {TrustModel::kNone, TrustModel::kCentral, TrustModel::kLocal, TrustModel::kShuffle};
}

GaussianParams GaussianParamsOf(const Privacy& privacy) {
  return {privacy.budget(), privacy.calibration, privacy.sampler};
}

LaplaceParams LaplaceParamsOf(const Privacy& privacy) {
  return {privacy.epsilon, privacy.calibration, privacy.sampler};
}

ShuffleSumMeanParams ShuffleSumParamsOf(const Privacy& privacy, Count most_clients) {
  return {.nominal = privacy.budget(),
          .calibration = privacy.calibration,
          .sampler = privacy.sampler,
          .transport = privacy.transport,
          .collusion = privacy.collusion(),
          .most_clients = most_clients,
          .loss = privacy.calibration == Calibration::kTight ? privacy.loss : 1};
}

ShuffledLaplaceMeanParams ShuffledLaplaceParamsOf(const Privacy& privacy, Count most_clients) {
  return {.nominal = privacy.budget(),
          .calibration = privacy.calibration,
          .sampler = privacy.sampler,
          .collusion = privacy.collusion(),
          .most_clients = most_clients};
}

}  // namespace bandana
