#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/l2_ball.h"
#include "bandana/privacy/calibration/laplace.h"
#include "bandana/privacy/calibration/prefix_sum.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/calibration/sensitivity.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

using lab::Json;

constexpr char kPositive[] = "a finite number > 0";
constexpr char kProbability[] = "a number in (0, 1)";
constexpr char kWhole[] = "a whole number >= 1";

// The flags as typed. What they say of themselves when they are refused is what was typed, too.
class Flags {
 public:
  explicit Flags(const CalibrateArguments& arguments) : values_(arguments.flags) {}

  bool Has(const std::string& flag) const { return values_.contains(flag) && values_.at(flag).has_value(); }

  absl::StatusOr<double> Number(const std::string& flag, const std::string& accepted = kPositive) const {
    if (!Has(flag)) return Missing(flag, accepted);
    const std::string& text = *values_.at(flag);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool parsed = error == std::errc() && end == text.data() + text.size();
    if (parsed && std::isnormal(value) && value > 0) return value;
    return InvalidOption(flag, text, accepted);
  }

  absl::StatusOr<double> Probability(const std::string& flag) const {
    BANDANA_ASSIGN_OR_RETURN(const double value, Number(flag, kProbability));
    return value < 1 ? absl::StatusOr<double>(value) : InvalidOption(flag, *values_.at(flag), kProbability);
  }

  absl::StatusOr<std::int64_t> Whole(const std::string& flag) const {
    if (!Has(flag)) return Missing(flag, kWhole);
    const std::string& text = *values_.at(flag);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 1) return value;
    return InvalidOption(flag, text, std::string(kWhole) + ", without point or exponent");
  }

  // Which of the choices; the first if the flag is not there and `optional`.
  absl::StatusOr<std::string> Choice(const std::string& flag, const std::vector<std::string>& choices,
                                     bool optional) const {
    const std::string accepted = fmt::format("{}", fmt::join(choices, ", "));
    if (!Has(flag)) return optional ? absl::StatusOr<std::string>(choices.front()) : Missing(flag, accepted);
    for (const std::string& choice : choices) {
      if (choice == *values_.at(flag)) return choice;
    }
    return InvalidOption(flag, *values_.at(flag), accepted);
  }

  absl::StatusOr<DpGuarantee> Guarantee() const {
    BANDANA_ASSIGN_OR_RETURN(const double epsilon, Number("--epsilon"));
    BANDANA_ASSIGN_OR_RETURN(const double delta, Probability("--delta"));
    return DpGuarantee{epsilon, delta};
  }

  absl::StatusOr<bool> Tight() const {
    BANDANA_ASSIGN_OR_RETURN(const std::string calibration,
                             Choice("--calibration", {"tight", "paper"}, true));
    return calibration == "tight";
  }

  static absl::Status Missing(const std::string& flag, const std::string& accepted) {
    return InvalidInput({.message = "missing", .key = flag, .accepted = accepted});
  }

  // Two flags that say different things.
  absl::Status Clash(const std::string& flag, const std::string& message) const {
    return InvalidInput({.message = message, .key = flag, .value = *values_.at(flag)});
  }

 private:
  const std::map<std::string, std::optional<std::string>>& values_;
};

// The library names its fields as TOML does ("privacy.epsilon"): here they are flags.
absl::Status NamedAsFlag(const absl::Status& status, const std::map<std::string, std::string>& renamed = {}) {
  std::optional<InputError> error = InputErrorOf(status);
  if (!error.has_value() || error->key.starts_with("--")) return status;
  std::string name = error->key.substr(error->key.find('.') + 1);
  if (renamed.contains(name)) name = renamed.at(name);
  for (char& c : name) c = c == '_' ? '-' : c;
  error->key = "--" + name;
  return InvalidInput(*error);
}

// A row of the table and a member of the JSON document; without a meaning, of the document alone.
struct Entry {
  std::string name;
  Json value;
  std::string meaning;
};

struct Answer {
  std::string mechanism;
  std::vector<Entry> figures;
  DpGuarantee asked;
  DpGuarantee delivered;
  std::string proof;
  std::string table;  // more to show to a person
  Json alternatives;  // the same for a program
};

Json Guarantee(const DpGuarantee& guarantee) {
  return {{"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}};
}

std::string Shown(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string Shown(const DpGuarantee& guarantee) {
  return fmt::format("({:.6g}, {:.3g})-DP", guarantee.epsilon, guarantee.delta);
}

// Not met: the paper's formula says more than it gives.
bool Met(const Answer& answer) {
  return answer.delivered.epsilon <= answer.asked.epsilon && answer.delivered.delta <= answer.asked.delta;
}

void Print(const Answer& answer, const CalibrateArguments& arguments, bool tight, bool json) {
  const std::string calibration = tight ? "tight" : "paper";
  if (json) {
    Json document = {
        {"calibrate", arguments.mechanism}, {"mechanism", answer.mechanism}, {"calibration", calibration}};
    for (const Entry& figure : answer.figures) document[figure.name] = figure.value;
    document["asked"] = Guarantee(answer.asked);
    document["delivered"] = Guarantee(answer.delivered);
    document["met"] = Met(answer);
    document["proof"] = answer.proof;
    if (!answer.alternatives.is_null()) document["alternatives"] = answer.alternatives;
    fmt::print("{}\n", document.dump(1));
    return;
  }
  fmt::print("{}: {}, {} calibration\n\n", arguments.mechanism, answer.mechanism, calibration);
  std::size_t name_width = 9;
  std::size_t value_width = Shown(answer.delivered).size();
  for (const Entry& figure : answer.figures) {
    name_width = std::max(name_width, figure.name.size());
    value_width = std::max(value_width, Shown(figure.value).size());
  }
  const auto line = [&](const std::string& name, const std::string& value, const std::string& meaning) {
    fmt::print("  {:<{}}  {:<{}}  {}\n", name, name_width, value, value_width, meaning);
  };
  for (const Entry& figure : answer.figures) {
    if (!figure.meaning.empty()) line(figure.name, Shown(figure.value), figure.meaning);
  }
  line("delivered", Shown(answer.delivered), fmt::format("asked: {}; {}", Shown(answer.asked), answer.proof));
  if (!Met(answer)) fmt::print("\nThe paper's formula gives less privacy than it claims.\n");
  if (!answer.table.empty()) fmt::print("\n{}", answer.table);
}

struct Sensitivity {
  double value;
  std::int64_t dimension = 1;
  bool symmetric = false;
};

constexpr char kOrShape[] = "a finite number > 0; or --shape, --dimension, --bound and --neighbours";

// --sensitivity (or --range) as a number, or what --shape, --dimension, --bound and --neighbours make it.
absl::StatusOr<Sensitivity> SensitivityOf(const Flags& flags, const std::string& direct, Norm norm,
                                          const std::vector<std::string>& shapes) {
  if (!flags.Has("--shape")) {
    for (const char* flag : {"--bound", "--neighbours", "--dimension"}) {
      if (flags.Has(flag)) {
        return flags.Clash(flag, "goes with --shape, and there is none");
      }
    }
    BANDANA_ASSIGN_OR_RETURN(const double value, flags.Number(direct, kOrShape));
    BANDANA_RETURN_IF_ERROR(calibration::CheckPositive(direct, value));
    return Sensitivity{value};
  }
  if (flags.Has(direct)) return flags.Clash("--shape", "says what " + direct + " says already: give one");
  BANDANA_ASSIGN_OR_RETURN(const std::string shape, flags.Choice("--shape", shapes, false));
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t dimension, flags.Whole("--dimension"));
  BANDANA_ASSIGN_OR_RETURN(const double bound, flags.Number("--bound"));
  BANDANA_ASSIGN_OR_RETURN(const std::string relation,
                           flags.Choice("--neighbours", {"replace-one", "add-remove"}, false));
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
  return Sensitivity{*value, dimension, shape == "symmetric"};
}

absl::StatusOr<Answer> Gaussian(const Flags& flags, bool tight) {
  BANDANA_ASSIGN_OR_RETURN(const DpGuarantee asked, flags.Guarantee());
  BANDANA_ASSIGN_OR_RETURN(const Sensitivity sensitivity, SensitivityOf(flags, "--sensitivity", Norm::kL2,
                                                                        {"box", "l1", "l2", "symmetric"}));
  BANDANA_ASSIGN_OR_RETURN(const double multiplier,
                           tight ? TightGaussianMultiplier(asked) : ClassicGaussianMultiplier(asked));
  const double sigma = calibration::ProductUp(multiplier, sensitivity.value);
  Answer answer = {.mechanism = tight ? "analytic Gaussian" : "classic Gaussian"};
  answer.figures = {{"sigma", sigma, "standard deviation of the noise in each entry"},
                    {"stddev", sigma, ""},
                    {"multiplier", multiplier, "sigma / sensitivity"},
                    {"sensitivity", sensitivity.value, "l2, of the whole statistic"}};
  answer.proof = "docs/proofs/central-gaussian.md";
  if (sensitivity.symmetric) {
    const SymmetricNoise noise = SymmetricGaussianNoise(multiplier, sensitivity.value);
    answer.mechanism += " on a symmetric matrix";
    answer.figures[0].meaning = "standard deviation of the noise off the diagonal";
    answer.figures[3].meaning = "Frobenius / sqrt2: what counts against this noise";
    answer.figures.push_back(
        {"sigma_diagonal", noise.diagonal_stddev, "standard deviation of the noise on the diagonal"});
    answer.proof = "docs/proofs/sensitivity.md";
  }
  answer.asked = asked;
  answer.delivered = {tight ? asked.epsilon : GaussianEpsilon(asked.delta, multiplier), asked.delta};
  return answer;
}

absl::StatusOr<Answer> Laplace(const Flags& flags, bool tight) {
  BANDANA_ASSIGN_OR_RETURN(const double epsilon, flags.Number("--epsilon"));
  BANDANA_ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                           SensitivityOf(flags, "--range", Norm::kL1, {"box", "l1", "l2"}));
  if (!tight && flags.Has("--shape")) {
    return flags.Clash("--shape", "the paper's formula is for one reward: give its --range");
  }
  Answer answer = {.mechanism = "Laplace", .proof = "docs/proofs/laplace.md"};
  answer.asked = {epsilon, 0};
  const std::map<std::string, std::string> renamed = {
      {"sensitivity", flags.Has("--shape") ? "bound" : "range"}};
  const auto setting =
      tight ? TightLaplace(epsilon, sensitivity.value) : PaperLaplace(epsilon, sensitivity.value);
  if (!setting.ok()) return NamedAsFlag(setting.status(), renamed);
  answer.figures = {{"scale", setting->scale, "of the Laplace noise in each entry"},
                    {"stddev", setting->stddev, "sqrt2 scale"},
                    {"sensitivity", sensitivity.value, "l1: the range of one number"}};
  answer.delivered = {setting->delivered_epsilon, 0};
  if (!flags.Has("--unit")) return answer;

  BANDANA_ASSIGN_OR_RETURN(const double unit, flags.Number("--unit"));
  BANDANA_RETURN_IF_ERROR(calibration::CheckPositive("--unit", unit));
  if (!tight) return flags.Clash("--unit", "the paper's formula is for real numbers");
  // Rounding to the nearest unit turns a distance x into at most ceil(x) units.
  const double units = std::ceil(calibration::QuotientUp(sensitivity.value, unit)) +
                       static_cast<double>(sensitivity.dimension - 1);
  if (!(units <= 0x1p53)) {
    return InvalidInput({.message = fmt::format("the sensitivity would be {:.3g} units", units),
                         .key = "--unit",
                         .value = fmt::format("{}", unit),
                         .accepted = "a coarser grid: up to 2^53 units"});
  }
  const auto discrete = TightDiscreteLaplace(epsilon, static_cast<std::uint64_t>(units));
  if (!discrete.ok()) return NamedAsFlag(discrete.status(), {{"sensitivity", "unit"}});
  answer.mechanism = "discrete Laplace";
  answer.figures = {
      {"scale", static_cast<double>(discrete->numerator) / static_cast<double>(discrete->denominator) * unit,
       "of the noise in each entry"},
      {"stddev", discrete->stddev * unit, "of the noise"},
      {"sensitivity", units * unit, "l1, with rounding to the grid"},
      {"sensitivity_units", static_cast<std::uint64_t>(units), "the same in units of the grid"},
      {"scale_numerator", discrete->numerator, "scale in units: P(k) ~ exp(-|k| den/num)"},
      {"scale_denominator", discrete->denominator, "what an exact sampler takes"}};
  answer.delivered = {discrete->delivered_epsilon, 0};
  return answer;
}

absl::StatusOr<Answer> PrefixSum(const Flags& flags, bool tight) {
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t n, flags.Whole("--n"));
  BANDANA_ASSIGN_OR_RETURN(const DpGuarantee asked, flags.Guarantee());
  BANDANA_ASSIGN_OR_RETURN(const double sensitivity, flags.Number("--sensitivity"));
  BANDANA_ASSIGN_OR_RETURN(const std::string name,
                           flags.Choice("--mechanism", {"auto", "tree", "honaker", "toeplitz"}, true));
  std::optional<std::int64_t> memory;
  if (flags.Has("--memory")) {
    BANDANA_ASSIGN_OR_RETURN(memory, flags.Whole("--memory"));
    if (name != "auto") return flags.Clash("--memory", "is for --mechanism auto");
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
  Answer answer = {.mechanism = std::string(NameOf(setting.mechanism)), .proof = "docs/proofs/prefix-sum.md"};
  answer.figures = {
      {"sigma", setting.sigma, "standard deviation of the noise in each released value"},
      {"stddev", setting.max_stddev, "of an estimated prefix sum, at the worst step"},
      {"max_variance", setting.max_stddev * setting.max_stddev, "stddev squared"},
      {"last_stddev", setting.last_stddev, "of the estimate at the last step"},
      {"sensitivity", setting.cost.sensitivity * sensitivity, "l2, of all released values together"},
      {"memory", setting.cost.memory, "numbers kept a coordinate"},
      {"released", setting.cost.released, "values released a coordinate, in all steps"},
      {"bits_per_coordinate", bits(setting.cost), "a step, on average, at 64 bits a value"}};
  answer.asked = asked;
  answer.delivered = setting.delivered;
  std::vector<std::vector<std::string>> rows = {{"tight", "sigma", "stddev", "memory", "bits a step"}};
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
  answer.table = Table(rows);
  return answer;
}

absl::StatusOr<Answer> L2Ball(const Flags& flags, bool tight) {
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t dimension, flags.Whole("--dimension"));
  BANDANA_ASSIGN_OR_RETURN(const double epsilon, flags.Number("--epsilon"));
  BANDANA_ASSIGN_OR_RETURN(const double radius, flags.Number("--radius"));
  BANDANA_ASSIGN_OR_RETURN(std::string randomizer, flags.Choice("--randomizer", {"privunit", "duchi"}, true));
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
  Answer answer = {.mechanism = randomizer, .proof = "docs/proofs/l2-ball.md"};
  answer.figures = {
      {"p", setting.p, "probability of the cap around the input"},
      {"gamma", setting.gamma, "height at which the cap begins"},
      {"scale", setting.scale, "length of the output / radius"},
      {"length", setting.scale * radius, "length of the output"},
      {"stddev", setting.stddev, "of a coordinate, root mean square, at the worst input (zero)"},
      {"stddev_at_radius", setting.stddev_at_radius, "the same for an input as long as the radius"}};
  answer.asked = {epsilon, 0};
  answer.delivered = {setting.delivered_epsilon, 0};
  return answer;
}

// A flag of one mechanism.
struct FlagHelp {
  const char* name;
  const char* help;
  bool required = true;
};

struct Mechanism {
  const char* name;
  const char* help;
  absl::StatusOr<Answer> (*answer)(const Flags& flags, bool tight);
  std::vector<FlagHelp> flags;
  const char* footer = "";
};

const std::vector<Mechanism>& Mechanisms() {
  static const auto& mechanisms = *new std::vector<Mechanism>{
      {"gaussian",
       "Gaussian noise for (epsilon, delta)-DP",
       Gaussian,
       {{"--epsilon", "budget"},
        {"--delta", "budget"},
        {"--sensitivity", "l2, of the whole statistic; or say what it is made of:", false},
        {"--shape", "box (|x_i| <= bound), l1 or l2 (ball of radius bound), symmetric (v v', |v|_2 <= bound)",
         false},
        {"--dimension", "entries of x, or of v", false},
        {"--bound", "of the shape", false},
        {"--neighbours", "replace-one or add-remove", false}},
       "Give --sensitivity, or --shape with --dimension, --bound and --neighbours."},
      {"laplace",
       "Laplace noise for epsilon-DP",
       Laplace,
       {{"--epsilon", "budget"},
        {"--range", "of one number: 2 for a reward in [-1, 1]; or say what is released:", false},
        {"--shape", "box (|x_i| <= bound), l1 or l2 (ball of radius bound)", false},
        {"--dimension", "entries of x", false},
        {"--bound", "of the shape", false},
        {"--neighbours", "replace-one or add-remove", false},
        {"--unit", "of a grid that values are rounded to: discrete noise", false}},
       "Give --range, or --shape with --dimension, --bound and --neighbours."},
      {"prefix-sum",
       "noise for running sums of a stream, (epsilon, delta)-DP for the whole of it",
       PrefixSum,
       {{"--n", "steps, fixed beforehand"},
        {"--epsilon", "budget"},
        {"--delta", "budget"},
        {"--sensitivity", "l2: the most that one increment moves between neighbours"},
        {"--mechanism", "auto (the default: least variance at the worst step), tree, honaker or toeplitz",
         false},
        {"--memory", "for auto: numbers that may be kept a coordinate (default: no limit)", false}}},
      {"l2-ball",
       "epsilon-local privacy for a vector of an l2 ball",
       L2Ball,
       {{"--dimension", "of the vector"},
        {"--epsilon", "budget"},
        {"--radius", "of the ball"},
        {"--randomizer", "privunit (the default: least variance) or duchi", false}}},
  };
  return mechanisms;
}

}  // namespace

CLI::App* AddCalibrate(CLI::App& app, CalibrateArguments& arguments) {
  CLI::App* command = app.add_subcommand("calibrate", "noise for a guarantee, and what it delivers");
  command->require_subcommand(1);
  for (const Mechanism& mechanism : Mechanisms()) {
    CLI::App* sub = command->add_subcommand(mechanism.name, mechanism.help);
    sub->callback([&arguments, &mechanism] { arguments.mechanism = mechanism.name; });
    const auto add = [&](const FlagHelp& flag) {
      sub->add_option(flag.name, arguments.flags[flag.name], flag.help)
          ->required(flag.required)
          ->type_name("");
    };
    for (const FlagHelp& flag : mechanism.flags) add(flag);
    add({"--calibration", "tight (the default: the least noise provable) or paper (the paper's formula)",
         false});
    sub->footer(std::string(mechanism.footer) + (*mechanism.footer ? "\n" : "") +
                "--json prints the figures as one JSON document.");
  }
  return command;
}

int CalibrateCommand(const CalibrateArguments& arguments, const Global& global) {
  const Flags flags(arguments);
  const absl::StatusOr<bool> tight = flags.Tight();
  if (!tight.ok()) return Fail(tight.status(), global);
  for (const Mechanism& mechanism : Mechanisms()) {
    if (mechanism.name != arguments.mechanism) continue;
    const absl::StatusOr<Answer> answer = mechanism.answer(flags, *tight);
    if (!answer.ok()) return Fail(NamedAsFlag(answer.status()), global);
    Print(*answer, arguments, *tight, global.json);
  }
  return 0;
}

}  // namespace bandana::cli
