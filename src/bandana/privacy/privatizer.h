#pragma once

#include <concepts>
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
///   Randomize  R, at the client: from raw input to what may leave the client;
///   Add, Seal  A, at the analyzer: collects reports, then draws what leaves the analyzer, once per epoch.
///              Below the query's quorum Seal is an error;
///   Open       reads that draw. It is separate so that a context can journal the draw and hand it out again.
/// An error depends on the query alone, never on the data. R or A may add no noise (central, local). S, where
/// there is one, stands between Randomize and Add. ChargesClient/ChargesAnalyzer say where the release
/// happens, and so who asks the ledger.
template <class P>
concept Privatizer = requires(const P& p, const typename P::Query& query, const Raw<typename P::Input>& input,
                              const Report& report, ReportSum& sum, NoiseGen& noise) {
  typename P::Output;
  { p.claims() } -> std::same_as<std::vector<Claim>>;
  { p.Randomize(query, input, noise) } -> std::same_as<absl::StatusOr<Report>>;
  { p.Add(query, report, sum) } -> std::same_as<absl::Status>;
  { p.Seal(query, sum, noise) } -> std::same_as<absl::StatusOr<Report>>;
  { p.Open(query, report) } -> std::same_as<absl::StatusOr<Released<typename P::Output>>>;
  { P::kChargesClient } -> std::convertible_to<bool>;
  { P::kChargesAnalyzer } -> std::convertible_to<bool>;
};

/// The question of an elimination phase: the clients' average reward in each coordinate (an arm of the plan).
struct MeanQuery {
  std::vector<Interval> bounds;  ///< public, one a coordinate; a client's average is clipped to it
  Count clients = 0;             ///< how many are asked, and the quorum: all of them must answer
};

}  // namespace bandana
