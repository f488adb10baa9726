#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/federation/context.h"
#include "bandana/privacy/access.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// The two ways by which something of a person's data leaves a role. Both charge first, those whose data it
/// is, and draw once per (node, epoch, question); no other code can draw privacy noise or say who is charged.
class Release {
 public:
  /// R, at a client, for itself.
  template <Privatizer P>
  static absl::StatusOr<Report> FromClient(Context& context, const P& privatizer, Epoch epoch,
                                           const typename P::Query& query,
                                           const Raw<typename P::Input>& input) {
    const NodeId self = context.links().self;
    Charge charge;
    if constexpr (P::kChargesClient) charge = {CostOf(privatizer, query), {self}};
    BANDANA_ASSIGN_OR_RETURN(
        Report report, context.ReleaseOnce({self, epoch, query.fingerprint()}, charge, [&](NoiseGen& noise) {
          return privatizer.Randomize(query, input, noise);
        }));
    Access::Origin(report) = self;
    return report;
  }

  /// A, at the analyzer, for all whose reports are in the sum.
  template <Privatizer P>
  static absl::StatusOr<Released<typename P::Output>> FromAnalyzer(
      Context& context, const P& privatizer, Epoch epoch, const BasicReportSum<typename P::Query>& sum) {
    Charge charge;
    if constexpr (P::kChargesAnalyzer) {
      charge = {CostOf(privatizer, Access::QueryOf(sum)),
                {Access::Origins(sum).begin(), Access::Origins(sum).end()}};
    }
    const auto draw = [&](NoiseGen& noise) -> absl::StatusOr<Report> {
      BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, privatizer.Seal(sum, noise));
      return Access::MakeReport(Access::Open(sealed));
    };
    const ReleaseKey key{context.links().self, epoch, Access::QueryOf(sum).fingerprint()};
    BANDANA_ASSIGN_OR_RETURN(const Report drawn, context.ReleaseOnce(key, charge, draw));
    return privatizer.Open(Access::QueryOf(sum), Access::Seal(Access::Open(drawn)));
  }

 private:
  // A mechanism whose promise spans several releases says what each of them costs.
  template <Privatizer P>
  static DpGuarantee CostOf(const P& privatizer, const typename P::Query& query) {
    if constexpr (requires { privatizer.CostOf(query); }) {
      return privatizer.CostOf(query);
    } else {
      return privatizer.guarantee();
    }
  }
};

}  // namespace bandana
