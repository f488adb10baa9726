#include <algorithm>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bandana/cli/commands.h"
#include "bandana/lab/calibrate_answers.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

using lab::CalibrationAnswer;
using lab::CalibrationFigure;
using lab::Json;

std::string Shown(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string Shown(const DpGuarantee& guarantee) {
  std::string delta = RoundedUp(guarantee.delta, 3);
  if (delta == "1" && guarantee.delta < 1) delta = fmt::format("{}", guarantee.delta);
  return fmt::format("({}, {})-DP", RoundedUp(guarantee.epsilon, 6), delta);
}

void Print(const CalibrationAnswer& answer) {
  fmt::print("{}: {}, {} calibration\n\n", answer.name, answer.mechanism, answer.calibration);
  std::size_t name_width = 9;
  std::size_t value_width = Shown(answer.delivered).size();
  for (const CalibrationFigure& figure : answer.figures) {
    name_width = std::max(name_width, figure.name.size());
    value_width = std::max(value_width, Shown(figure.value).size());
  }
  const auto line = [&](const std::string& title, const std::string& value, const std::string& meaning) {
    fmt::print("  {:<{}}  {:<{}}  {}\n", title, name_width, value, value_width, meaning);
  };
  for (const CalibrationFigure& figure : answer.figures) {
    if (!figure.meaning.empty()) line(figure.name, Shown(figure.value), figure.meaning);
  }
  line("delivered", Shown(answer.delivered),
       answer.asked.has_value() ? fmt::format("asked: {}; {}", Shown(*answer.asked), answer.proof)
                                : answer.proof);
  if (!answer.met()) fmt::print("\nThe paper's formula gives less privacy than it claims.\n");
  if (!answer.more.empty()) fmt::print("\n{}", answer.more);
}

// A flag of one mechanism with its help text.
struct FlagHelp {
  const char* name;
  const char* help;
  bool required = true;
};

struct Mechanism {
  const char* name;
  const char* help;
  std::vector<FlagHelp> flags;
  const char* footer = "";
};

const std::vector<Mechanism>& Mechanisms() {
  static const auto& mechanisms = *new std::vector<Mechanism>{
      {"gaussian",
       "Gaussian noise for (epsilon, delta)-DP.",
       {{"--epsilon", "The epsilon of the guarantee."},
        {"--delta", "The delta of the guarantee."},
        {"--sensitivity", "The l2 sensitivity of the whole statistic.", false},
        {"--shape",
         "The shape of what is released: box (|x_i| <= bound), l1 or l2 (ball of radius bound), or symmetric "
         "(v v', |v|_2 <= bound).",
         false},
        {"--dimension", "The number of entries of x, or of v.", false},
        {"--bound", "The bound of the shape.", false},
        {"--neighbours", "The neighbours: replace-one or add-remove.", false}},
       "Give --sensitivity, or --shape with --dimension, --bound and --neighbours."},
      {"laplace",
       "Laplace noise for epsilon-DP.",
       {{"--epsilon", "The epsilon of the guarantee."},
        {"--range", "The range of one number. A reward in [-1, 1] has range 2.", false},
        {"--shape", "The shape of what is released: box (|x_i| <= bound), l1 or l2 (ball of radius bound).",
         false},
        {"--dimension", "The number of entries of x.", false},
        {"--bound", "The bound of the shape.", false},
        {"--neighbours", "The neighbours: replace-one or add-remove.", false},
        {"--unit", "The unit of a grid to which values are rounded. The noise is then discrete.", false}},
       "Give --range, or --shape with --dimension, --bound and --neighbours."},
      {"prefix-sum",
       "Noise for the running sums of a stream, (epsilon, delta)-DP for the whole stream.",
       {{"--n", "The number of steps, fixed beforehand."},
        {"--epsilon", "The epsilon of the guarantee."},
        {"--delta", "The delta of the guarantee."},
        {"--sensitivity", "The largest l2 change of one increment between neighbours."},
        {"--mechanism",
         "One of tree, honaker, toeplitz, auto. auto, the default, has the least variance at the worst step.",
         false},
        {"--memory",
         "With --mechanism auto, the largest number of values that may be kept per coordinate (default: no "
         "limit).",
         false}}},
      {"shuffle-sum",
       "Levels and noise bits for sums in the shuffle model, (epsilon, delta)-DP against the server and the "
       "clients "
       "that work with it.",
       {{"--n", "The number of clients, all of whom must report."},
        {"--dimension", "The number of coordinates of a client's vector."},
        {"--epsilon", "The epsilon of the guarantee."},
        {"--delta", "The delta of the guarantee."},
        {"--bound", "Every coordinate lies in [-bound, bound]."},
        {"--colluding", "How many clients may work with the adversary: it knows their noise (default: 1).",
         false},
        {"--honest-fraction", "The share of clients that follow the protocol (default: 1, all of them).",
         false},
        {"--loss",
         "The extra error that is accepted, relative to a trusted server's Gaussian noise (default: 0.1, "
         "that is 10 %).",
         false}}},
      {"amplification",
       "The guarantee of n shuffled reports of an epsilon0-LDP randomizer, or the largest epsilon0 for it.",
       {{"--n",
         "The number of reports that are shuffled together, of clients who do not work with the adversary."},
        {"--delta", "The delta of the guarantee."},
        {"--epsilon0", "The epsilon of the randomizer. Finds the epsilon of what the server sees.", false},
        {"--epsilon", "The epsilon of what the server sees. Finds the largest epsilon0.", false}},
       "Give --epsilon0 or --epsilon."},
      {"l2-ball",
       "A locally private randomizer for a vector of an l2 ball.",
       {{"--dimension", "The dimension of the vector."},
        {"--epsilon", "The epsilon of the guarantee."},
        {"--radius", "The radius of the ball."},
        {"--randomizer", "One of privunit, duchi. privunit, the default, has the least variance.", false}}},
  };
  return mechanisms;
}

}  // namespace

CLI::App* AddCalibrate(CLI::App& app, CalibrateArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Computes the noise that a guarantee needs, and the guarantee that the noise delivers.");
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
    add({"--calibration",
         "One of tight, paper. tight, the default, is the least noise that we can prove to be enough. paper "
         "is the formula in the paper.",
         false});
    sub->footer(std::string(mechanism.footer) + (*mechanism.footer ? "\n" : "") +
                "--json prints the figures as one JSON document.");
  }
  return command;
}

int CalibrateCommand(const CalibrateArguments& arguments, const Global& global) {
  const absl::StatusOr<CalibrationAnswer> answer = lab::Calibrate(arguments.mechanism, arguments.flags);
  if (!answer.ok()) return Fail(answer.status(), global);
  if (global.json) {
    fmt::print("{}\n", lab::ToJson(*answer).dump(1));
  } else {
    Print(*answer);
  }
  return 0;
}

}  // namespace bandana::cli
