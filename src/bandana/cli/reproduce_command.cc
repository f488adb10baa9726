#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bandana/cli/commands.h"
#include "bandana/cli/interrupt.h"
#include "bandana/core/status.h"
#include "bandana/lab/exhibit.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

struct Job {
  lab::Exhibit exhibit;
  std::string asked;  ///< the name or path that the user gave
  lab::Spec spec;
  std::string out;
};

// Finds an exhibit of the program by its name, or reads one from a file. A path ends with .toml.
absl::StatusOr<lab::Exhibit> FindOrLoad(const std::string& asked) {
  if (asked.ends_with(".toml")) return lab::LoadExhibit(asked);
  BANDANA_ASSIGN_OR_RETURN(const lab::Exhibit* exhibit, lab::FindExhibit(asked));
  return *exhibit;
}

absl::StatusOr<std::vector<std::string>> Asked(const ReproduceArguments& arguments) {
  std::vector<std::string> names;
  if (arguments.all == !arguments.exhibits.empty()) {
    return InvalidInput(
        {.message = arguments.all ? "--all cannot be combined with names" : "no exhibit is named",
         .key = "exhibit",
         .accepted = "names of exhibits, which bandana reproduce --list prints, TOML files with "
                     "claims, or --all"});
  }
  if (arguments.all) {
    for (const lab::Exhibit& exhibit : lab::Exhibits()) names.push_back(exhibit.name);
    return names;
  }
  for (const std::string& name : arguments.exhibits) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Prepares all exhibits before the first one runs, so that errors show at once.
absl::StatusOr<std::vector<Job>> Prepare(const ReproduceArguments& arguments, lab::Scale scale) {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> names, Asked(arguments));
  std::vector<Job> jobs;
  for (const std::string& name : names) {
    BANDANA_ASSIGN_OR_RETURN(lab::Exhibit exhibit, FindOrLoad(name));
    BANDANA_ASSIGN_OR_RETURN(lab::Spec spec, lab::ExhibitSpec(exhibit, scale, arguments.set));
    std::string out = arguments.out.empty() ? "results/" + exhibit.name
                      : names.size() == 1   ? arguments.out
                                            : arguments.out + "/" + exhibit.name;
    std::error_code error;
    if (!arguments.resume && std::filesystem::exists(out, error)) {
      return InvalidInput({.message = "exists already",
                           .file = out,
                           .accepted = "a new folder, or --resume to continue in this one"});
    }
    const auto same_folder = [&](const Job& job) { return job.out == out; };
    if (std::any_of(jobs.begin(), jobs.end(), same_folder)) {
      return InvalidInput({.message = "two exhibits would write to one folder",
                           .file = out,
                           .accepted = "files with different names, or one command for each"});
    }
    jobs.push_back({std::move(exhibit), name, std::move(spec), std::move(out)});
  }
  return jobs;
}

// Returns the command line that runs these exhibits again, without --out.
std::string CommandFor(const std::string& exhibits, const ReproduceArguments& arguments,
                       const Global& global) {
  std::string command = fmt::format("bandana reproduce {} --scale {}", exhibits, arguments.scale);
  for (const std::string& assignment : arguments.set) command += " --set " + Quoted(assignment);
  return command + PluginFlags(global);
}

std::string InterruptedMessage(const ReproduceArguments& arguments, const Global& global) {
  std::string exhibits = arguments.all ? "--all" : "";
  for (const std::string& name : arguments.exhibits) {
    if (!exhibits.empty()) exhibits += ' ';
    exhibits += Quoted(name);
  }
  std::string command = CommandFor(exhibits, arguments, global);
  if (!arguments.out.empty()) command += " --out " + Quoted(arguments.out);
  return fmt::format("interrupted; continue with: {} --resume", command);
}

// Says which values of the paper's scale this scale changes.
std::string ScaleInWords(const lab::Exhibit& exhibit, lab::Scale scale) {
  std::vector<std::string> words;
  for (const lab::ScaledValue& value : lab::ScaledValues(exhibit, scale)) {
    words.push_back(fmt::format("{} = {} (paper: {})", value.key, value.here,
                                value.paper.empty() ? "the default" : value.paper));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// Says from which runs a verdict comes, and how small an effect they would have shown.
std::string RunsAndPowerInWords(const lab::Verdict& verdict) {
  const std::string runs = lab::RunsInWords(verdict);
  const std::string power = lab::PowerInWords(verdict);
  if (runs.empty() && power.empty()) return "";
  return fmt::format(" [{}{}{}]", runs, runs.empty() || power.empty() ? "" : "; ", power);
}

const char* ExpectedInWords(const lab::Verdict& verdict) {
  if (verdict.left) return "-";
  return verdict.as_expected() ? "as expected" : "UNEXPECTED";
}

void Print(const Job& job, const lab::Reproduction& reproduction, const ReproduceArguments& arguments,
           lab::Scale scale) {
  fmt::print("{}  {} (scale {}, {:.1f} s)\n", job.exhibit.name, job.spec.name, arguments.scale,
             reproduction.summary["wall_s"].get<double>());
  const std::string scaled = ScaleInWords(job.exhibit, scale);
  if (!scaled.empty()) fmt::print("  Scale: {}\n", scaled);
  if (!job.exhibit.stand_in.empty()) fmt::print("  Stand-in: {}\n", job.exhibit.stand_in);
  if (!reproduction.verdicts.empty())
    fmt::print("  {:<11}  {:<13}  {:<7}  claim: evidence\n", "expected?", "verdict", "version");
  for (const lab::Verdict& verdict : reproduction.verdicts) {
    fmt::print("  {:<11}  {:<13}  {:<7}  {}: {}{}\n", ExpectedInWords(verdict), lab::InWords(verdict),
               verdict.version, verdict.claim, verdict.evidence, RunsAndPowerInWords(verdict));
  }
  for (const lab::NotRunnable& one : job.exhibit.not_runnable) {
    fmt::print("  not runnable as printed: {} ({}): {}\n", one.what, one.paper, one.reason);
  }
  fmt::print("  Report: {}/report.html\n", job.out);
  std::fflush(stdout);
}

int ListExhibits(const Global& global) {
  if (global.json) return ListCommand("exhibits", "", global);
  for (const lab::Exhibit& exhibit : lab::Exhibits()) {
    fmt::print("{:<12} {} ({} claims)\n", exhibit.name, exhibit.title, exhibit.claims.size());
  }
  return 0;
}

}  // namespace

int ReproduceCommand(const ReproduceArguments& arguments, const Global& global) {
  if (arguments.list) return ListExhibits(global);
  const absl::StatusOr<lab::Scale> scale = lab::ScaleOf(arguments.scale);
  if (!scale.ok()) return Fail(scale.status(), global);
  const absl::StatusOr<std::vector<Job>> jobs = Prepare(arguments, *scale);
  if (!jobs.ok()) return Fail(jobs.status(), global);
  InstallInterrupt();
  const bool settles = *scale != lab::Scale::kSmoke;
  std::size_t unexpected = 0;
  std::size_t claims = 0;
  std::size_t left = 0;
  std::size_t not_runnable = 0;
  lab::Json json = lab::Json::array();
  for (const Job& job : *jobs) {
    NoteKeysWithoutEffect(job.spec, global);
    std::error_code error;
    const bool resume = arguments.resume && std::filesystem::exists(job.out, error);
    const absl::StatusOr<lab::Reproduction> reproduction =
        lab::RunExhibit(job.exhibit, *scale, job.spec,
                        {.out = job.out,
                         .threads = arguments.threads,
                         .resume = resume,
                         .quiet = global.quiet,
                         .command = CommandFor(Quoted(job.asked), arguments, global)},
                        Interrupted());
    if (absl::IsCancelled(reproduction.status())) {
      return Fail(absl::CancelledError(InterruptedMessage(arguments, global)), global);
    }
    if (!reproduction.ok()) return Fail(reproduction.status(), global);
    for (const lab::Verdict& verdict : reproduction->verdicts) {
      unexpected += verdict.as_expected() ? 0 : 1;
      left += verdict.left ? 1 : 0;
      claims += verdict.left ? 0 : 1;
    }
    not_runnable += job.exhibit.not_runnable.size();
    if (global.json) {
      lab::Json one = reproduction->json;
      one["out"] = job.out;
      one["wall_s"] = reproduction->summary["wall_s"];
      json.push_back(std::move(one));
    } else {
      Print(job, *reproduction, arguments, *scale);
    }
  }
  if (global.json) {
    fmt::print("{}", lab::Dump(json));
  } else {
    fmt::print("{} of {} claims came out as expected.\n", claims - unexpected, claims);
    if (left > 0) fmt::print("{} more are judged with --scale paper only.\n", left);
    if (not_runnable > 0) fmt::print("{} of the papers' items cannot be run as printed.\n", not_runnable);
    if (!settles) {
      fmt::print(
          "Scale smoke has too few runs to settle a claim, and fails only if an exhibit cannot run.\n");
    }
  }
  return settles && unexpected > 0 ? 1 : 0;
}

}  // namespace bandana::cli
