#pragma once

#include <concepts>
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

/// The papers' triple P = (R, S, A). An object holds public parameters only and is shared by all roles:
///   ReportBits what a report takes, as the mechanism encodes it;
///   Randomize  R, at the client: from raw input to what may leave the client;
///   Add, Seal  A, at the analyzer: collects reports to one query, then draws what leaves the analyzer. Below
///   the
///              query's quorum Seal is an error;
///   Open       reads that draw.
/// Roles reach Randomize, Seal and Open through federation/release.h, which charges and journals. An error
/// depends on the query alone, never on the data. R or A may add no noise (central, local). kChargesClient
/// and kChargesAnalyzer say where the release happens; guarantee() is what it costs each client whose data it
/// is.
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

/// A privatizer whose promise needs S, a shuffler between Randomize and the analyzer:
///   Mix       S: what the analyzer may see of all clients' reports, of which it cannot tell whose they are;
///   AddMixed  A, in the place of Add.
template <class P>
concept ShufflePrivatizer =
    Privatizer<P> && requires(const P& p, const typename P::Query& query, std::vector<Report> reports,
                              BasicReportSum<typename P::Query>& sum) {
      { p.Mix(query, std::move(reports)) } -> std::same_as<absl::StatusOr<std::vector<Report>>>;
      { p.AddMixed(query, reports, sum) } -> std::same_as<absl::Status>;
    };

/// A privatizer that also answers dealt queries, of which a client answers one coordinate with one reward:
///   ReportBits      of a report to that part;
///   RandomizePart   R for one client's one reward, a RewardSum of count 1;
///   RandomizeCrowd  the sum of as many clients' RandomizePart, in law, in a few draws; with the exact
///   sampler
///                   in as many. For the lab: the report counts as that many clients, and is on nobody's
///                   wire. The input is one RewardSum, of one reward in the part's interval from each of its
///                   `count` clients; or one for each value that a reward takes, of all who have it (maybe
///                   nobody). On the grid a crowd's sum is rounded once, and not each of its rewards;
///   CheckCrowd      an error if that cannot be: kUnimplemented, to ask client by client, where the law
///   depends
///                   on more than the sum and the input is one.
template <class P>
concept DealingPrivatizer = Privatizer<P> && requires(const P& p, const typename P::Query& query,
                                                      const Raw<typename P::Input>& input, NoiseGen& noise) {
  { p.ReportBits(query, 0) } -> std::same_as<absl::StatusOr<Count>>;
  { p.CheckCrowd(query, 0, input) } -> std::same_as<absl::Status>;
  { p.RandomizePart(query, 0, input, noise) } -> std::same_as<absl::StatusOr<Report>>;
  { p.RandomizeCrowd(query, 0, input, noise) } -> std::same_as<absl::StatusOr<Report>>;
};

}  // namespace bandana
