#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "bandana/core/byte_string.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/federation/context.h"
#include "bandana/privacy/access.h"
#include "bandana/privacy/privatizer.h"

namespace bandana {

/// The ways by which something of a person's data leaves a role. All charge first, those whose data it is,
/// and draw once per (node, epoch, question); no other code can draw privacy noise or say who is charged.
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
    // A name is needed where releases are remembered, or mixed: a digest for each of many clients takes time.
    ReleaseKey key{self, epoch};
    if (ShufflePrivatizer<P> || context.remembers()) key.question = QuestionOf(query);
    BANDANA_ASSIGN_OR_RETURN(Report report, context.ReleaseOnce(key, charge, [&](NoiseGen& noise) {
      return privatizer.Randomize(query, input, noise);
    }));
    Access::Origin(report) = self;
    if constexpr (ShufflePrivatizer<P>) Access::Question(report) = key.question;
    return report;
  }

  /// R, at a client that was dealt one part of a query, for itself. Another part is another release.
  template <DealingPrivatizer P>
  static absl::StatusOr<Report> PartFromClient(Context& context, const P& privatizer, Epoch epoch,
                                               const typename P::Query& query, int part,
                                               const Raw<typename P::Input>& input) {
    const NodeId self = context.links().self;
    return FromPart(context, privatizer, epoch, query, {part, self, 1},
                    [&](NoiseGen& noise) { return privatizer.RandomizePart(query, part, input, noise); });
  }

  /// The same for a crowd at once, in the lab: clients `first` and on, as many as the input has rewards. The
  /// report is theirs, and they are charged. kUnimplemented, and nobody is charged, if the mechanism needs to
  /// know more than the input tells.
  template <DealingPrivatizer P>
  static absl::StatusOr<Report> FromCrowd(Context& context, const P& privatizer, Epoch epoch,
                                          const typename P::Query& query, int part, NodeId first,
                                          const Raw<typename P::Input>& input) {
    BANDANA_RETURN_IF_ERROR(privatizer.CheckCrowd(query, part, input));
    Count clients = 0;
    for (const auto& each : Access::Open(input)) clients += each.count;
    if (!(first != kServerNode && clients <= (Count{1} << 32) - first.value)) {
      return absl::InvalidArgumentError("a crowd of clients without an id each");
    }
    return FromPart(context, privatizer, epoch, query, {part, first, clients},
                    [&](NoiseGen& noise) { return privatizer.RandomizeCrowd(query, part, input, noise); });
  }

  /// A, at the analyzer, for all whose reports are in the sum.
  template <Privatizer P>
  static absl::StatusOr<Released<typename P::Output>> FromAnalyzer(
      Context& context, const P& privatizer, Epoch epoch, const BasicReportSum<typename P::Query>& sum) {
    Charge charge;
    if constexpr (P::kChargesAnalyzer) {
      charge = {CostOf(privatizer, Access::QueryOf(sum)), Access::Origins(sum).Ranges()};
    }
    const auto draw = [&](NoiseGen& noise) -> absl::StatusOr<Report> {
      BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, privatizer.Seal(sum, noise));
      return Access::MakeReport(Access::Open(sealed));
    };
    const ReleaseKey key{context.links().self, epoch, QuestionOf(Access::QueryOf(sum))};
    BANDANA_ASSIGN_OR_RETURN(const Report drawn, context.ReleaseOnce(key, charge, draw));
    return privatizer.Open(Access::QueryOf(sum), Access::Seal(Access::Open(drawn)));
  }

  /// What a query is known by.
  template <class Query>
  static std::string QuestionOf(const Query& query) {
    return Sha256(query.bytes());
  }

 private:
  struct Part {
    int part;
    NodeId first;
    Count clients;
  };

  template <DealingPrivatizer P>
  static absl::StatusOr<Report> FromPart(Context& context, const P& privatizer, Epoch epoch,
                                         const typename P::Query& query, const Part& part,
                                         absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) {
    Charge charge;
    if constexpr (P::kChargesClient) {
      charge = {CostOf(privatizer, query), UnitRanges::From(part.first, part.clients)};
    }
    ReleaseKey key{part.first, epoch};
    std::string question;
    if (ShufflePrivatizer<P> || context.remembers()) {
      question = QuestionOf(query);
      key.question = Sha256(ByteString().Add(question).Add(std::int64_t{part.part}).Add(part.clients).Take());
    }
    BANDANA_ASSIGN_OR_RETURN(Report report, context.ReleaseOnce(key, charge, draw));
    Access::Origin(report) = part.first;
    Access::Part(report) = part.part;
    Access::Clients(report) = part.clients;
    if constexpr (ShufflePrivatizer<P>) Access::Question(report) = std::move(question);
    return report;
  }

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
