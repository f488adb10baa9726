#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/core/reward.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/raw.h"
#include "bandana/privacy/released.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// A mechanism as the papers' triple P = (R, S, A): randomizer, shuffler, analyzer. An object holds public
/// parameters only and is shared by all roles:
/// - ReportBits returns the size of a report in bits, in the mechanism's own encoding.
/// - Randomize is R, at the client: it turns raw input into a report that may leave the client.
/// - Add and Seal are A, at the analyzer. Add collects reports to one query. Seal draws what leaves the
///   analyzer; it fails below the query's quorum.
/// - Open reads that draw.
///
/// Roles reach Randomize, Seal and Open through federation/release.h, which charges and records. An error
/// depends on the query alone, never on the data. R adds no noise in the central model, A adds none in the
/// local model. kChargesClient and kChargesAnalyzer tell where the release happens; guarantee() is the cost
/// for each client whose data are in the release.
template <class P>
concept Privatizer = requires(const P& p, const typename P::Query& query, const Raw<typename P::Input>& input,
                              const Report& report, BasicReportSum<typename P::Query>& sum,
                              const Sealed& sealed, NoiseGen& noise) {
  typename P::Output;
  { query.bytes() } -> std::same_as<std::string>;
  { p.claims() } -> std::same_as<std::vector<Claim>>;
  { p.guarantee() } -> std::same_as<DpGuarantee>;
  { p.ReportBits(query) } -> std::same_as<absl::StatusOr<Count>>;
  { p.Randomize(query, input, noise) } -> std::same_as<absl::StatusOr<Report>>;
  { p.Add(query, report, sum) } -> std::same_as<absl::Status>;
  { p.Seal(sum, noise) } -> std::same_as<absl::StatusOr<Sealed>>;
  { p.Open(query, sealed) } -> std::same_as<absl::StatusOr<Released<typename P::Output>>>;
  { P::kChargesClient } -> std::convertible_to<bool>;
  { P::kChargesAnalyzer } -> std::convertible_to<bool>;
};

/// A privatizer whose claim needs S, a shuffler between Randomize and the analyzer:
/// - Mix is S: it turns all clients' reports into what the analyzer may see, without their origins.
/// - AddMixed is A's replacement for Add.
template <class P>
concept ShufflePrivatizer =
    Privatizer<P> && requires(const P& p, const typename P::Query& query, std::vector<Report> reports,
                              BasicReportSum<typename P::Query>& sum) {
      { p.Mix(query, std::move(reports)) } -> std::same_as<absl::StatusOr<std::vector<Report>>>;
      { p.AddMixed(query, reports, sum) } -> std::same_as<absl::Status>;
    };

/// A privatizer that also answers dealt queries. In a dealt query a client answers one coordinate, with one
/// reward:
/// - ReportBits returns the size of a report to that part.
/// - RandomizePart is R for one client's one reward, a RewardSum of count 1.
/// - RandomizeGroup draws the sum of many clients' RandomizePart, with the same law, in a few draws (with the
///   exact sampler: in one draw for each client). It is for the lab: the report counts as that many clients
///   and is never sent. The input is one RewardSum with one reward in the part's interval from each of its
///   `count` clients; or one RewardSum for each value that a reward can take, over all clients that have it
///   (maybe none). On the grid a group's sum is rounded once, not reward by reward.
/// - CheckGroup fails if RandomizeGroup cannot do this. It fails with kUnimplemented if the law depends on
///   more than the sum and the input is one RewardSum; the caller must then ask client by client.
template <class P>
concept DealingPrivatizer = Privatizer<P> && requires(const P& p, const typename P::Query& query,
                                                      const Raw<typename P::Input>& input, NoiseGen& noise) {
  { p.ReportBits(query, 0) } -> std::same_as<absl::StatusOr<Count>>;
  { p.CheckGroup(query, 0, input) } -> std::same_as<absl::Status>;
  { p.RandomizePart(query, 0, input, noise) } -> std::same_as<absl::StatusOr<Report>>;
  { p.RandomizeGroup(query, 0, input, noise) } -> std::same_as<absl::StatusOr<Report>>;
};

/// Returns the privatizer's claims for answers to dealt queries, with one reward per client
/// (docs/proofs/dealt.md). kDealtAssumption, if there is one, is an assumption that only dealt queries need;
/// it is added to the adversary.
template <DealingPrivatizer P>
std::vector<Claim> DealtClaims(const P& privatizer) {
  std::vector<Claim> claims = privatizer.claims();
  for (Claim& claim : claims) {
    claim.unit = "one client's one reward";
    claim.proof = "docs/proofs/dealt.md";
    if constexpr (requires { privatizer.dealt_guarantee(); }) claim.guarantee = privatizer.dealt_guarantee();
  }
  if constexpr (requires { P::kDealtAssumption; }) {
    if (!claims.empty()) claims.front().adversary += std::string("; ") + P::kDealtAssumption;
  }
  return claims;
}

}  // namespace bandana
