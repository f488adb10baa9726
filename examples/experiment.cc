// Runs an experiment that stands in TOML, as `bandana run` does, and reads its results.

#include <bandana/bandana.h>

#include <cstdio>

constexpr char kSpec[] = R"(
horizon    = 20_000
seed       = 7
replicates = 5

[environment]
dimension = 5
actions   = 50

[algorithm]
name = "dp-dpe"

[privacy]
delta = 1e-6
epsilon = 5

[sweep]
"privacy.model" = ["none", "central", "local"]
)";

int main(int argc, char** argv) {
  using namespace bandana;
  const std::string folder = argc > 1 ? argv[1] : "results/experiment";
  const RunSummary summary = ValueOrExit(RunSpecText(kSpec, {.out = folder}));
  for (const PointSummary& point : summary.points) {
    const MetricSummary& regret = point.metrics.at("regret");
    std::printf("%-8s regret %.0f +- %.0f", point.label.c_str(), regret.mean, regret.se);
    for (const Claim& claim : point.claims) std::printf("; %s", ToText(claim).c_str());
    std::printf("%s%s\n", point.void_reason.empty() ? "" : "; VOID: ", point.void_reason.c_str());
  }
  std::printf("report: %s/report.html\n", summary.folder.c_str());
}
