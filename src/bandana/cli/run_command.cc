#include <string>

#include "bandana/cli/commands.h"
#include "bandana/cli/interrupt.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/summary_text.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

// Returns a folder name made from the name of an experiment.
std::string Slug(const std::string& name) {
  std::string slug;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (plain || slug.empty() || slug.back() != '-') slug += plain ? c : '-';
  }
  const std::size_t begin = slug.find_first_not_of("-.");
  return begin == std::string::npos ? "experiment"
                                    : slug.substr(begin, slug.find_last_not_of('-') - begin + 1);
}

}  // namespace

int RunCommand(const RunArguments& arguments, const Global& global) {
  const absl::StatusOr<lab::Spec> spec = lab::LoadSpec(arguments.spec, arguments.set);
  if (!spec.ok()) return Fail(spec.status(), global);
  NoteKeysWithoutEffect(*spec, global);
  const std::string out = arguments.out.empty() ? "results/" + Slug(spec->name) : arguments.out;
  std::string command = "bandana run " + Quoted(arguments.spec);
  for (const std::string& assignment : arguments.set) command += " --set " + Quoted(assignment);
  command += PluginFlags(global);

  InstallInterrupt();
  const absl::StatusOr<lab::Json> summary = lab::RunExperiment(
      *spec, {out, arguments.threads, arguments.resume, global.quiet, command, arguments.trace},
      Interrupted());
  if (absl::IsCancelled(summary.status())) {
    if (!arguments.trace.empty()) command += " --trace " + Quoted(arguments.trace);
    const std::string how =
        fmt::format("interrupted; continue with: {} --out {} --resume", command, Quoted(out));
    return Fail(absl::CancelledError(how), global);
  }
  if (!summary.ok()) return Fail(summary.status(), global);
  if (global.json) {
    fmt::print("{}", lab::Dump(*summary));
  } else {
    fmt::print("{}{}\n{:.2f} s ({:.2f} s of CPU). Report: {}/report.html\n", Table(lab::ResultRows(*summary)),
               lab::Remarks(*summary), (*summary)["wall_s"].get<double>(), (*summary)["cpu_s"].get<double>(),
               out);
  }
  return 0;
}

}  // namespace bandana::cli
