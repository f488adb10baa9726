#include <algorithm>
#include <set>
#include <span>

#include "bandana/audit/empirical_privacy.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "bandana/lab/exhibits/exhibits.h"
#include "fmt/format.h"

/// P3, Algorithm 1, line 12: agents synchronise when the determinant of an agent's raw Gram matrix has grown.
/// No noise protects that decision. A distinguisher that sees only the round of the first sync tells two
/// neighbouring streams (worlds a and b) apart.
namespace bandana::lab {
namespace {

constexpr char kPrinted[] = "p3 Proposition 3, with Algorithm 1, line 12";
constexpr double kFalseAlarm = 0.01;

/// The event that agents synchronised in round `by` or before or, if `contrary`, that they did not. The
/// distinguisher takes it as evidence for one of the two worlds.
struct Event {
  double by = 0;
  bool contrary = false;
  bool speaks_for_a = true;

  std::int64_t Count(std::span<const double> rounds) const {
    return std::count_if(rounds.begin(), rounds.end(), [&](double round) {
      const double when = round == 0 ? kInfinity : round;
      return (when <= by) != contrary;
    });
  }
  audit::EventCounts Counts(std::span<const double> a, std::span<const double> b) const {
    const std::int64_t in_a = Count(a);
    const std::int64_t in_b = Count(b);
    return {.likely = speaks_for_a ? in_a : in_b,
            .unlikely = speaks_for_a ? in_b : in_a,
            .trials = static_cast<std::int64_t>(std::min(a.size(), b.size()))};
  }
};

Event MostTelling(std::span<const double> a, std::span<const double> b, double delta) {
  std::set<double> rounds(a.begin(), a.end());
  rounds.insert(b.begin(), b.end());
  Event best;
  double most = -1;
  for (const double round : rounds) {
    for (const bool contrary : {false, true}) {
      for (const bool speaks_for_a : {false, true}) {
        const Event event{round, contrary, speaks_for_a};
        const double promise = EpsilonLowerBound(event.Counts(a, b), delta, kFalseAlarm / 2);
        if (promise <= most) continue;
        most = promise;
        best = event;
      }
    }
  }
  return best;
}

std::string Rounds(const Sample& sample) {
  const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
  return *least == *most ? fmt::format("{}", *least) : fmt::format("{} to {}", *least, *most);
}

// Holds if the times of syncs show no epsilon above the claimed one. The event is chosen on the first half of
// the runs and judged on the second half.
absl::StatusOr<Finding> TimesHide(const Findings& findings, const std::string& calibration,
                                  const std::string& sync) {
  const auto world = [&](const char* name) {
    return findings.Final(
        {{"privacy.calibration", calibration}, {"algorithm.sync", sync}, {"environment.world", name}},
        "first_sync");
  };
  BANDANA_ASSIGN_OR_RETURN(const Sample a, world("a"));
  BANDANA_ASSIGN_OR_RETURN(const Sample b, world("b"));
  const std::size_t half = a.size() / 2;
  if (half == 0 || b.size() != a.size()) return absl::NotFoundError("too few runs to choose and to judge by");
  const Json& claimed = findings.summary()["points"][0]["privacy"]["nominal"];
  const double epsilon = claimed["epsilon"].get<double>();
  const double delta = claimed["delta"].get<double>();
  const Event event = MostTelling(std::span(a).first(half), std::span(b).first(half), delta);
  const double found = EpsilonLowerBound(event.Counts(std::span(a).subspan(half), std::span(b).subspan(half)),
                                         delta, kFalseAlarm / 2);
  return Finding{found <= epsilon,
                 fmt::format("first synchronisation after round {} in world a, {} in world b, {} runs each: "
                             "epsilon >= {:.2f} at 99 % confidence against a claim of {} (delta {})",
                             Rounds(a), Rounds(b), a.size(), found, epsilon, delta)};
}

PaperClaim AsPrinted(const char* noise, const std::string& calibration) {
  return {
      fmt::format("with {}, the claim holds against who sees only when agents synchronise by the "
                  "determinant trigger",
                  noise),
      kPrinted, false,
      "the trigger looks at raw records; until the first synchronisation its time is a function of them "
      "without any noise, and no epsilon bounds what it tells",
      [calibration](const Findings& findings) { return TimesHide(findings, calibration, "determinant"); }};
}

PaperClaim Public(const char* noise, const std::string& calibration) {
  return {
      fmt::format(
          "beyond the paper: with {}, the claim holds against who sees when agents synchronise by a public "
          "schedule",
          noise),
      kPrinted, true, "",
      [calibration](const Findings& findings) { return TimesHide(findings, calibration, "mlogt"); }};
}

}  // namespace

std::vector<PaperClaim> P3LeakClaims() {
  constexpr char kPaperNoise[] = "the paper's noise, shift and width";
  constexpr char kOurNoise[] = "the least noise";
  return {AsPrinted(kPaperNoise, "paper"), AsPrinted(kOurNoise, "tight"), Public(kPaperNoise, "paper"),
          Public(kOurNoise, "tight")};
}

}  // namespace bandana::lab
