#include "bandana/lab/calibrate_answers.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/lab/judge/statistics.h"
#include "bandana/lab/text_table.h"
#include "bandana/privacy/calibration/amplification.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/l2_ball.h"
#include "bandana/privacy/calibration/laplace.h"
#include "bandana/privacy/calibration/prefix_sum.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/calibration/sensitivity.h"
#include "bandana/privacy/calibration/shuffle_sum.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/privacy_options.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

using Absent = TypedFlags::Absent;

struct Sensitivity {
  double value;
  std::int64_t dimension = 1;
  bool symmetric = false;
  const char* meaning = "l1: the range of one number";  ///< for Laplace noise only
};

constexpr char kOrShape[] = "a finite number > 0; or --shape, --dimension, --bound and --neighbours";

// Returns the sensitivity: the number of --sensitivity (or --range), or that which follows from --shape,
// --dimension, --bound and --neighbours.
absl::StatusOr<Sensitivity> SensitivityOf(const TypedFlags& flags, const std::string& direct, Norm norm,
                                          const std::vector<std::string>& shapes) {
  if (!flags.Has("--shape")) {
    for (const char* flag : {"--bound", "--neighbours", "--dimension"}) {
      if (flags.Has(flag)) {
        return flags.Clash(flag, "needs --shape, which is missing");
      }
    }
    BANDANA_ASSIGN_OR_RETURN(const double value, flags.Number(direct, kOrShape));
    BANDANA_RETURN_IF_ERROR(calibration::CheckPositive(direct, value));
    return Sensitivity{value};
  }
  if (flags.Has(direct))
    return flags.Clash("--shape", "cannot be combined with " + direct + ": give one of them");
  BANDANA_ASSIGN_OR_RETURN(const std::string shape, flags.Choice("--shape", shapes, Absent::kRefused));
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t dimension, flags.Whole("--dimension"));
  BANDANA_ASSIGN_OR_RETURN(const double bound, flags.Number("--bound"));
  BANDANA_ASSIGN_OR_RETURN(const std::string relation,
                           flags.Choice("--neighbours", {"replace-one", "add-remove"}, Absent::kRefused));
  const Neighbours neighbours = relation == "replace-one" ? Neighbours::kReplaceOne : Neighbours::kAddRemove;
  absl::StatusOr<double> value;
  if (shape == "symmetric") {
    value = SymmetricSensitivity(dimension, calibration::ProductUp(bound, bound), neighbours);
  } else {
    const VectorShape vector = shape == "box"  ? VectorShape::kBox
                               : shape == "l1" ? VectorShape::kL1Ball
                                               : VectorShape::kL2Ball;
    value = VectorSensitivity(vector, dimension, bound, norm, neighbours);
  }
  if (!value.ok()) return NamedAsFlag(value.status(), {{"squared_norm", "bound"}});
  return Sensitivity{*value, dimension, shape == "symmetric",
                     neighbours == Neighbours::kReplaceOne ? "the l1 diameter of the shape"
                                                           : "the largest l1 norm in the shape"};
}

// Returns the largest epsilon0 for which the closed form gives the guarantee, and at least epsilon. The
// closed form grows with epsilon0.
absl::StatusOr<LocalBudget> LargestByClosedForm(const DpGuarantee& guarantee, std::int64_t n) {
  const LocalBudget local = {.epsilon0 = guarantee.epsilon,
                             .delivered = {guarantee.epsilon, 0},
                             .method = AmplificationMethod::kLocal};
  double low = guarantee.epsilon;
  double high = std::log(static_cast<double>(n) / (16 * std::log(2 / guarantee.delta)));
  const auto gives = [&](double epsilon0) {
    const absl::StatusOr<double> epsilon = ClosedFormAmplification(epsilon0, n, guarantee.delta);
    return epsilon.ok() && *epsilon <= guarantee.epsilon;
  };
  if (!(high > low && gives(low))) return local;
  while (high - low > 1e-9 * high) {
    const double middle = low + (high - low) / 2;
    (gives(middle) ? low : high) = middle;
  }
  BANDANA_ASSIGN_OR_RETURN(const double delivered, NumericalAmplification(low, n, guarantee.delta));
  return LocalBudget{low, {delivered, guarantee.delta}, AmplificationMethod::kNumerical};
}

absl::StatusOr<CalibrationAnswer> CalibrateGaussian(const TypedFlags& flags, Calibration calibration) {
  const bool tight = calibration == Calibration::kTight;
  BANDANA_ASSIGN_OR_RETURN(const DpGuarantee asked, flags.Guarantee());
  BANDANA_ASSIGN_OR_RETURN(const Sensitivity sensitivity, SensitivityOf(flags, "--sensitivity", Norm::kL2,
                                                                        {"box", "l1", "l2", "symmetric"}));
  BANDANA_ASSIGN_OR_RETURN(const double multiplier,
                           tight ? TightGaussianMultiplier(asked) : ClassicGaussianMultiplier(asked));
  const double sigma = calibration::ProductUp(multiplier, sensitivity.value);
  CalibrationAnswer answer = {.mechanism = tight ? "analytic Gaussian" : "classic Gaussian"};
  answer.figures = {{"sigma", sigma, "standard deviation of the noise in each entry"},
                    {"stddev", sigma, ""},
                    {"multiplier", multiplier, "sigma / sensitivity"},
                    {"sensitivity", sensitivity.value, "l2, of the whole statistic"}};
  answer.proof = "docs/proofs/central-gaussian.md";
  if (sensitivity.symmetric) {
    const SymmetricNoise noise = SymmetricGaussianNoise(multiplier, sensitivity.value);
    answer.mechanism += " on a symmetric matrix";
    answer.figures[0].meaning = "standard deviation of the noise off the diagonal";
    answer.figures[3].meaning = "Frobenius norm / sqrt2, which this noise must hide";
    answer.figures.push_back(
        {"sigma_diagonal", noise.diagonal_stddev, "standard deviation of the noise on the diagonal"});
    answer.proof = "docs/proofs/sensitivity.md";
  }
  answer.asked = asked;
  answer.delivered = {tight ? asked.epsilon : GaussianEpsilon(asked.delta, multiplier), asked.delta};
  return answer;
}

absl::StatusOr<CalibrationAnswer> CalibrateLaplace(const TypedFlags& flags, Calibration calibration) {
  const bool tight = calibration == Calibration::kTight;
  BANDANA_ASSIGN_OR_RETURN(const double epsilon, flags.Number("--epsilon"));
  BANDANA_ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                           SensitivityOf(flags, "--range", Norm::kL1, {"box", "l1", "l2"}));
  if (!tight && flags.Has("--shape")) {
    return flags.Clash("--shape", "the paper's formula is for one reward: give its --range");
  }
  CalibrationAnswer answer = {.mechanism = "Laplace", .proof = "docs/proofs/laplace.md"};
  answer.asked = {epsilon, 0};
  const std::map<std::string, std::string> renamed = {
      {"sensitivity", flags.Has("--shape") ? "bound" : "range"}};
  const auto setting =
      tight ? TightLaplace(epsilon, sensitivity.value) : PaperLaplace(epsilon, sensitivity.value);
  if (!setting.ok()) return NamedAsFlag(setting.status(), renamed);
  answer.figures = {{"scale", setting->scale, "scale of the Laplace noise in each entry"},
                    {"stddev", setting->stddev, "sqrt2 scale"},
                    {"sensitivity", sensitivity.value, sensitivity.meaning}};
  answer.delivered = {setting->delivered_epsilon, 0};
  if (!flags.Has("--unit")) return answer;

  BANDANA_ASSIGN_OR_RETURN(const double unit, flags.Number("--unit"));
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("--unit", unit));
  if (!tight) return flags.Clash("--unit", "the paper's formula is for real numbers");
  // Rounding to the nearest unit turns a distance x into at most ceil(x) units.
  const double units = std::ceil(calibration::QuotientUp(sensitivity.value, unit)) +
                       static_cast<double>(sensitivity.dimension - 1);
  if (!(units <= 0x1p52)) {
    return InvalidInput({.message = fmt::format("the sensitivity would be {:.3g} units", units),
                         .key = "--unit",
                         .value = fmt::format("{}", unit),
                         .accepted = "a coarser grid, with at most 2^52 units"});
  }
  const auto discrete = TightDiscreteLaplace(epsilon, static_cast<std::uint64_t>(units));
  if (!discrete.ok()) return NamedAsFlag(discrete.status(), {{"sensitivity", "unit"}});
  answer.mechanism = "discrete Laplace";
  answer.figures = {
      {"scale", static_cast<double>(discrete->numerator) / static_cast<double>(discrete->denominator) * unit,
       "scale of the noise in each entry"},
      {"stddev", discrete->stddev * unit, "standard deviation of the noise"},
      {"sensitivity", units * unit, "l1, with rounding to the grid"},
      {"sensitivity_units", static_cast<std::uint64_t>(units), "the sensitivity in units of the grid"},
      {"scale_numerator", discrete->numerator, "scale in units: P(k) ~ exp(-|k| den/num)"},
      {"scale_denominator", discrete->denominator, "an exact sampler needs numerator and denominator"}};
  answer.delivered = {discrete->delivered_epsilon, 0};
  return answer;
}

absl::StatusOr<CalibrationAnswer> CalibratePrefixSum(const TypedFlags& flags, Calibration calibration) {
  const bool tight = calibration == Calibration::kTight;
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t n, flags.Whole("--n"));
  BANDANA_ASSIGN_OR_RETURN(const DpGuarantee asked, flags.Guarantee());
  BANDANA_ASSIGN_OR_RETURN(const double sensitivity, flags.Number("--sensitivity"));
  BANDANA_ASSIGN_OR_RETURN(
      const std::string name,
      flags.Choice("--mechanism", {"auto", "tree", "honaker", "toeplitz"}, Absent::kFirst));
  std::optional<std::int64_t> memory;
  if (flags.Has("--memory")) {
    BANDANA_ASSIGN_OR_RETURN(memory, flags.Whole("--memory"));
    if (name != "auto") return flags.Clash("--memory", "works only with --mechanism auto");
  }
  if (!tight && name != "auto" && name != "tree") {
    return flags.Clash("--mechanism", "the paper's formula is for the tree");
  }
  constexpr PrefixSumMechanism kAll[] = {PrefixSumMechanism::kTree, PrefixSumMechanism::kHonaker,
                                         PrefixSumMechanism::kToeplitz};
  PrefixSumMechanism mechanism = PrefixSumMechanism::kTree;
  if (tight && name == "auto") {
    BANDANA_ASSIGN_OR_RETURN(mechanism, BestPrefixSum(n, memory));
  }
  for (const PrefixSumMechanism one : kAll) {
    if (NameOf(one) == name) mechanism = one;
  }
  BANDANA_ASSIGN_OR_RETURN(
      const PrefixSumSetting setting,
      tight ? TightPrefixSum(mechanism, n, asked, sensitivity) : PaperPrefixSum(n, asked, sensitivity));
  const auto bits = [&](const PrefixSumCost& cost) {
    return 64 * static_cast<double>(cost.released) / static_cast<double>(n);
  };
  CalibrationAnswer answer = {.mechanism = std::string(NameOf(setting.mechanism)),
                              .proof = "docs/proofs/prefix-sum.md"};
  answer.figures = {
      {"sigma", setting.sigma, "standard deviation of the noise in each released value"},
      {"stddev", setting.max_stddev, "standard deviation of an estimated prefix sum, at the worst step"},
      {"max_variance", setting.max_stddev * setting.max_stddev, "stddev squared"},
      {"last_stddev", setting.last_stddev, "standard deviation of the estimate at the last step"},
      {"sensitivity", setting.cost.sensitivity * sensitivity, "l2, of all released values together"},
      {"memory", setting.cost.memory, "values kept per coordinate"},
      {"released", setting.cost.released, "values released per coordinate, in all steps together"},
      {"bits_per_coordinate", bits(setting.cost), "per step, on average, with 64 bits per value"}};
  answer.asked = asked;
  answer.delivered = setting.delivered;
  std::vector<std::vector<std::string>> rows = {{"tight", "sigma", "stddev", "memory", "bits per step"}};
  answer.alternatives = Json::array();
  for (const PrefixSumMechanism one : kAll) {
    BANDANA_ASSIGN_OR_RETURN(const PrefixSumSetting other, TightPrefixSum(one, n, asked, sensitivity));
    rows.push_back({std::string(NameOf(one)), Figure(other.sigma), Figure(other.max_stddev),
                    fmt::format("{}", other.cost.memory), Figure(bits(other.cost))});
    answer.alternatives.push_back({{"mechanism", NameOf(one)},
                                   {"sigma", other.sigma},
                                   {"stddev", other.max_stddev},
                                   {"memory", other.cost.memory},
                                   {"bits_per_coordinate", bits(other.cost)}});
  }
  answer.more = Table(rows);
  return answer;
}

absl::StatusOr<CalibrationAnswer> CalibrateL2Ball(const TypedFlags& flags, Calibration calibration) {
  const bool tight = calibration == Calibration::kTight;
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t dimension, flags.Whole("--dimension"));
  BANDANA_ASSIGN_OR_RETURN(const double epsilon, flags.Number("--epsilon"));
  BANDANA_ASSIGN_OR_RETURN(const double radius, flags.Number("--radius"));
  BANDANA_ASSIGN_OR_RETURN(std::string randomizer,
                           flags.Choice("--randomizer", {"privunit", "duchi"}, Absent::kFirst));
  if (!tight) {
    if (flags.Has("--randomizer") && randomizer != "duchi") {
      return flags.Clash("--randomizer", "the paper's randomizer is duchi");
    }
    randomizer = "duchi";
  }
  BANDANA_ASSIGN_OR_RETURN(
      const L2BallSetting setting,
      SetUpL2Ball(randomizer == "duchi" ? L2BallRandomizer::kDuchi : L2BallRandomizer::kPrivUnit, dimension,
                  epsilon, radius));
  CalibrationAnswer answer = {.mechanism = randomizer, .proof = "docs/proofs/l2-ball.md"};
  answer.figures = {
      {"p", setting.p, "probability of the cap around the input"},
      {"gamma", setting.gamma, "height at which the cap begins"},
      {"cap_mass", setting.cap_mass, "share of the sphere that the cap covers"},
      {"scale", setting.scale, "length of the output / radius"},
      {"length", setting.scale * radius, "length of the output"},
      {"stddev", setting.stddev, "root mean square error of a coordinate, at the worst input (zero)"},
      {"stddev_at_radius", setting.stddev_at_radius,
       "root mean square error of a coordinate, if the input is as long as the radius"}};
  answer.asked = {epsilon, 0};
  answer.delivered = {setting.delivered_epsilon, 0};
  return answer;
}

absl::StatusOr<CalibrationAnswer> CalibrateShuffleSum(const TypedFlags& flags, Calibration calibration) {
  const bool tight = calibration == Calibration::kTight;
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t n, flags.Whole("--n"));
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t dimension, flags.Whole("--dimension"));
  BANDANA_ASSIGN_OR_RETURN(const DpGuarantee asked, flags.Guarantee());
  BANDANA_ASSIGN_OR_RETURN(const double bound, flags.Number("--bound"));
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("--bound", bound));
  Collusion collusion;
  if (flags.Has("--colluding")) {
    BANDANA_ASSIGN_OR_RETURN(collusion.colluding, flags.Whole("--colluding"));
  }
  if (flags.Has("--honest-fraction")) {
    BANDANA_ASSIGN_OR_RETURN(collusion.honest_fraction,
                             flags.Number("--honest-fraction", "a number in (0, 1]"));
  }
  if (const absl::Status status = collusion.Check(); !status.ok()) return NamedAsFlag(status, {});
  const Count hiding = collusion.Hiding(n);
  double loss = 0.1;
  if (flags.Has("--loss")) {
    if (!tight) return flags.Clash("--loss", "works only with --calibration tight");
    BANDANA_ASSIGN_OR_RETURN(loss, flags.Number("--loss"));
  }
  const ShuffleSumParams params = {
      .clients = n, .dimension = dimension, .guarantee = asked, .hiding = hiding, .loss = loss};
  const auto setting = tight            ? TightShuffleSum(params)
                       : dimension == 1 ? PaperScalarSum(params)
                                        : PaperVectorSum(params);
  if (!setting.ok()) return NamedAsFlag(setting.status(), {{"clients", "n"}});
  const double range = 2 * bound;
  CalibrationAnswer answer = {.mechanism = tight            ? "shuffled binomial sum"
                                           : dimension == 1 ? "P_1D"
                                                            : "P_VEC",
                              .proof = "docs/proofs/shuffle-sum.md"};
  answer.figures = {
      {"g", setting->levels, "levels of a coordinate"},
      {"b", setting->noise_bits, "noise bits per client and coordinate"},
      {"p", setting->p, "probability that a noise bit is one"},
      {"bits_per_coordinate", setting->bits_per_coordinate, "g + b, sent by each client"},
      {"stddev", setting->stddev * range,
       "standard deviation of a coordinate of the sum over all clients, rounding included"},
      {"stddev_of_mean", setting->stddev * range / static_cast<double>(n),
       "standard deviation of a coordinate of the mean"},
      {"gaussian_stddev", setting->gaussian_stddev * range, "the noise that a trusted server would add"},
      {"hiding", hiding, "clients whose noise counts for privacy, because the adversary does not know it"}};
  if (tight) {
    answer.figures.push_back(
        {"loss", loss, "the accepted error above gaussian_stddev sqrt(n / hiding), as a share of it"});
    answer.figures.push_back({"within_loss", setting->within_loss, "whether the error is within loss"});
  } else {
    answer.figures.push_back({"span", setting->span, "share of the levels that the range takes"});
  }
  answer.asked = asked;
  answer.delivered = setting->delivered;
  return answer;
}

absl::StatusOr<CalibrationAnswer> CalibrateAmplification(const TypedFlags& flags, Calibration calibration) {
  const bool tight = calibration == Calibration::kTight;
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t n, flags.Whole("--n"));
  BANDANA_ASSIGN_OR_RETURN(const double delta, flags.Probability("--delta"));
  if (flags.Has("--epsilon0") == flags.Has("--epsilon")) {
    if (flags.Has("--epsilon")) return flags.Clash("--epsilon", "give --epsilon0 or --epsilon, not both");
    return TypedFlags::Missing("--epsilon0", "a finite number > 0; or --epsilon, for the largest epsilon0");
  }
  CalibrationAnswer answer = {.mechanism = tight ? "numerical" : "closed form",
                              .proof = "docs/proofs/amplification.md"};
  if (flags.Has("--epsilon")) {
    BANDANA_ASSIGN_OR_RETURN(const double epsilon, flags.Number("--epsilon"));
    BANDANA_ASSIGN_OR_RETURN(const LocalBudget budget, tight ? LargestLocalEpsilon({epsilon, delta}, n)
                                                             : LargestByClosedForm({epsilon, delta}, n));
    if (budget.method == AmplificationMethod::kLocal) answer.mechanism = "local";
    answer.figures = {{"epsilon0", budget.epsilon0, "the largest epsilon of each client's randomizer"},
                      {"n", n, "shuffled reports of clients who do not work with the adversary"}};
    answer.asked = {epsilon, delta};
    answer.delivered = budget.delivered;
    return answer;
  }
  BANDANA_ASSIGN_OR_RETURN(const double epsilon0, flags.Number("--epsilon0"));
  const absl::StatusOr<double> closed = ClosedFormAmplification(epsilon0, n, delta);
  if (!tight) BANDANA_RETURN_IF_ERROR(closed.status());
  absl::StatusOr<double> epsilon = closed;
  if (tight) epsilon = NumericalAmplification(epsilon0, n, delta);
  BANDANA_RETURN_IF_ERROR(epsilon.status());
  answer.figures = {{"epsilon0", epsilon0, "the epsilon of each client's randomizer"},
                    {"n", n, "shuffled reports of clients who do not work with the adversary"},
                    {"closed_form", closed.ok() ? Json(*closed) : Json(nullptr), ""}};
  if (tight) {
    answer.more = closed.ok()
                      ? fmt::format("The closed form: epsilon = {:.6g}.\n", *closed)
                      : "The closed form does not apply: epsilon0 is above ln(n / (16 ln(2 / delta))).\n";
  }
  answer.delivered = {*epsilon, delta};
  return answer;
}

using CalibrationFunction = absl::StatusOr<CalibrationAnswer>(const TypedFlags& flags,
                                                              Calibration calibration);

CalibrationFunction* FunctionOf(const std::string& name) {
  if (name == "gaussian") return CalibrateGaussian;
  if (name == "laplace") return CalibrateLaplace;
  if (name == "prefix-sum") return CalibratePrefixSum;
  if (name == "shuffle-sum") return CalibrateShuffleSum;
  if (name == "amplification") return CalibrateAmplification;
  if (name == "l2-ball") return CalibrateL2Ball;
  return nullptr;
}

// Returns the option that specs have, so that its words are read in one place.
Option CalibrationOption() {
  const std::vector<Option> options = PrivacyOptions();
  return *std::find_if(options.begin(), options.end(),
                       [](const Option& each) { return each.key == "calibration"; });
}

}  // namespace

bool CalibrationAnswer::met() const {
  return !asked.has_value() || (delivered.epsilon <= asked->epsilon && delivered.delta <= asked->delta);
}

absl::StatusOr<CalibrationAnswer> Calibrate(const std::string& name, const FlagValues& values) {
  CalibrationFunction* function = FunctionOf(name);
  if (function == nullptr) {
    return InvalidOption("mechanism", name,
                         "gaussian, laplace, prefix-sum, shuffle-sum, amplification, l2-ball");
  }
  const TypedFlags flags(values);
  const Option option = CalibrationOption();
  std::vector<std::string> words;
  for (const Word& each : option.words) words.push_back(each.word);
  BANDANA_ASSIGN_OR_RETURN(const std::string calibration,
                           flags.Choice("--calibration", words, Absent::kFirst));
  std::any privacy = Privacy{};
  option.set(privacy, calibration);
  absl::StatusOr<CalibrationAnswer> answer =
      function(flags, std::any_cast<const Privacy&>(privacy).calibration);
  if (!answer.ok()) return NamedAsFlag(answer.status());
  answer->name = name;
  answer->calibration = calibration;
  return answer;
}

Json ToJson(const CalibrationAnswer& answer) {
  Json json = {
      {"calibrate", answer.name}, {"mechanism", answer.mechanism}, {"calibration", answer.calibration}};
  for (const CalibrationFigure& figure : answer.figures) json[figure.name] = figure.value;
  json["asked"] = answer.asked.has_value() ? GuaranteeJson(*answer.asked) : Json(nullptr);
  json["delivered"] = GuaranteeJson(answer.delivered);
  json["met"] = answer.met();
  json["proof"] = answer.proof;
  if (!answer.alternatives.is_null()) json["alternatives"] = answer.alternatives;
  return json;
}

}  // namespace bandana::lab
