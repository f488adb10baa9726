#include "bandana/core/status.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p3_points.h"

/// P3, Fig. 1B: regret by the number of syncs.
namespace bandana::lab {
namespace {

using namespace p3;  // NOLINT(google-build-using-namespace)

constexpr char kFigure[] = "p3 Fig. 1B, Remark 1";

absl::StatusOr<NamedSample> BySync(const Findings& findings, const Where& where, const std::string& sync) {
  return NamedRegret(findings, sync, With(where, "algorithm.sync", sync));
}

// Claims that the schedule `more` has less regret than the schedule `less`.
PaperClaim Pays(const std::string& claim, const Where& where, const std::string& more,
                const std::string& less, bool expected = true, const std::string& reason = "") {
  return {claim, kFigure, expected, reason, [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const NamedSample a, BySync(findings, where, more));
            BANDANA_ASSIGN_OR_RETURN(const NamedSample b, BySync(findings, where, less));
            return Below(a, b);
          }};
}

absl::StatusOr<Finding> ReleasedIsNearlyFree(const Findings& findings) {
  const Where raw = {{"privacy.model", "silo"}, {"algorithm.local", "raw"}};
  BANDANA_ASSIGN_OR_RETURN(NamedSample a, BySync(findings, Ours(), "mlogt"));
  BANDANA_ASSIGN_OR_RETURN(NamedSample b, BySync(findings, raw, "mlogt"));
  a.name = "released";
  b.name = "raw";
  return lab::WithinFactor(a, b, 1.1);
}

}  // namespace

std::vector<PaperClaim> P3Fig1bClaims() {
  return {
      Pays("non-private: M log T messages have less regret than M^1.5", NonPrivate(), "mlogt", "m15"),
      Pays("non-private: M T messages have less regret than M log T", NonPrivate(), "every", "mlogt"),
      Pays("private: M log T messages have less regret than M^1.5", Ours(), "mlogt", "m15", false,
           "fewer releases need less noise, which makes up for what is known later"),
      Pays("private: M T messages have less regret than M log T (by a factor sqrt(log T))", Ours(), "every",
           "mlogt", false, "the noise is then for T releases"),
      Pays("beyond the paper: private, M T messages have clearly more regret than M log T", Ours(), "mlogt",
           "every"),
      {"beyond the paper: with M log T messages, to act on released statistics alone costs at most 10 %",
       kFigure, true, "", ReleasedIsNearlyFree},
  };
}

}  // namespace bandana::lab
