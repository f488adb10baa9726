#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>

#include "absl/status/status.h"
#include "bandana/audit/empirical_privacy.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "bandana/lab/judge/code_judges.h"
#include "fmt/format.h"

/// P3, Algorithm 1, line 12: agents synchronise when the determinant of an agent's raw Gram matrix has grown.
/// No noise protects that decision. A distinguisher that sees only the round of the first sync tells two
/// neighbouring streams (worlds a and b) apart.
namespace bandana::lab {
namespace {

constexpr double kFalseAlarm = 0.01;

/// The event that agents synchronised in round `by` or before or, if `contrary`, that they did not. The
/// distinguisher takes it as evidence for one of the two worlds.
struct SyncEvent {
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

SyncEvent MostTelling(std::span<const double> a, std::span<const double> b, double delta) {
  std::set<double> rounds(a.begin(), a.end());
  rounds.insert(b.begin(), b.end());
  SyncEvent best;
  double most = -1;
  for (const double round : rounds) {
    for (const bool contrary : {false, true}) {
      for (const bool speaks_for_a : {false, true}) {
        const SyncEvent event{round, contrary, speaks_for_a};
        const double promise = EpsilonLowerBound(event.Counts(a, b), delta, kFalseAlarm / 2);
        if (promise <= most) continue;
        most = promise;
        best = event;
      }
    }
  }
  return best;
}

// Returns whether `trials` runs would break a claim of `claimed` if the times had the privacy of randomized
// response with `epsilon` and `delta`, and both counts were kClear standard deviations on the side of the
// claim.
bool IsSeen(double epsilon, double claimed, double delta, std::int64_t trials) {
  const auto n = static_cast<double>(trials);
  const double likely = delta + (1 - delta) / (1 + std::exp(-epsilon));
  const double unlikely = (1 - delta) / (1 + std::exp(epsilon));
  const auto deviations = [n](double p) { return kClear * std::sqrt(n * p * (1 - p)); };
  const audit::EventCounts counts = {
      .likely = static_cast<std::int64_t>(std::max(0.0, std::floor(n * likely - deviations(likely)))),
      .unlikely = static_cast<std::int64_t>(std::min(n, std::ceil(n * unlikely + deviations(unlikely)))),
      .trials = trials};
  return EpsilonLowerBound(counts, delta, kFalseAlarm / 2) > claimed;
}

// Returns the least epsilon that IsSeen; infinite if there is none.
double LeastSeen(double claimed, double delta, std::int64_t trials) {
  constexpr double kLargest = 50;  // the likely event then happens always, and the unlikely one never
  if (!IsSeen(kLargest, claimed, delta, trials)) return kInfinity;
  double unseen = claimed;
  double seen = kLargest;
  while (seen - unseen > 1e-3) {
    const double middle = (unseen + seen) / 2;
    (IsSeen(middle, claimed, delta, trials) ? seen : unseen) = middle;
  }
  return seen;
}

std::string RoundsInWords(const Sample& sample) {
  const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
  return *least == *most ? fmt::format("{}", *least) : fmt::format("{} to {}", *least, *most);
}

}  // namespace

// The event is chosen on the first half of the runs and judged on the second half.
absl::StatusOr<Finding> TimesHide(const Case& of) {
  if (!of.claim.than.has_value()) return absl::NotFoundError("the claim has no second world (than)");
  BANDANA_ASSIGN_OR_RETURN(const NamedLine world_a, LineOf(*of.claim.of, of));
  BANDANA_ASSIGN_OR_RETURN(const NamedLine world_b, LineOf(*of.claim.than, of));
  BANDANA_ASSIGN_OR_RETURN(const MeasuredPoint* point,
                           of.findings.ThePoint(ChoiceOf(std::get<Series>(*of.claim.of), of)));
  const Sample& a = world_a.line.y.front();
  const Sample& b = world_b.line.y.front();
  const std::size_t half = a.size() / 2;
  if (half == 0 || b.size() != a.size()) return absl::NotFoundError("too few runs to choose and to judge by");
  const Json& claimed = (*point->json)["privacy"]["nominal"];
  if (claimed.is_null()) return absl::NotFoundError("the points have no nominal guarantee");
  const double epsilon = claimed["epsilon"].get<double>();
  const double delta = claimed["delta"].get<double>();
  const SyncEvent event = MostTelling(std::span(a).first(half), std::span(b).first(half), delta);
  const double found = EpsilonLowerBound(event.Counts(std::span(a).subspan(half), std::span(b).subspan(half)),
                                         delta, kFalseAlarm / 2);
  const auto judging = static_cast<std::int64_t>(a.size() - half);
  return Finding{found <= epsilon,
                 fmt::format("first synchronisation after round {} in {}, {} in {}, {} runs each: "
                             "epsilon >= {:.2f} at 99 % confidence against a claim of {} (delta {})",
                             RoundsInWords(a), world_a.name, RoundsInWords(b), world_b.name, a.size(), found,
                             epsilon, delta),
                 Resolution{LeastSeen(epsilon, delta, judging), Resolution::Kind::kEpsilon}};
}

}  // namespace bandana::lab
