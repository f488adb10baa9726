#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/federation/context.h"
#include "bandana/federation/user_context.h"
#include "bandana/privacy/access.h"
#include "bandana/privacy/local_mechanism.h"
#include "bandana/privacy/privatizer.h"
#include "fmt/format.h"

namespace bandana {

/// The only ways by which information about a person's data leaves a role or a user's device. Each first
/// charges the people whose data it is, and draws once per (node, epoch, question), or once per user. No
/// other code can draw privacy noise or decide who is charged.
class Release {
 public:
  /// Runs the randomizer R at a client, on the client's own data.
  template <Privatizer P>
  static absl::StatusOr<Report> FromClient(Context& context, const P& privatizer, Epoch epoch,
                                           const typename P::Query& query,
                                           const Raw<typename P::Input>& input) {
    const NodeId self = context.links().self;
    Charge charge;
    if constexpr (P::kChargesClient) charge = {CostOf(privatizer, query), {self}};
    // Only contexts that remember releases, and mixes, need the question. A digest for each of many clients
    // takes time.
    ReleaseKey key{self, epoch};
    if (ShufflePrivatizer<P> || context.remembers()) key.question = QuestionOf(query);
    BANDANA_ASSIGN_OR_RETURN(Report report, context.ReleaseOnce(key, charge, [&](NoiseGen& noise) {
      return privatizer.Randomize(query, input, noise);
    }));
    Access::Origin(report) = self;
    if constexpr (ShufflePrivatizer<P>) Access::Question(report) = key.question;
    return report;
  }

  /// Runs R at a client that was assigned one part of a query, on the client's own data. Another part is
  /// another release.
  template <DealingPrivatizer P>
  static absl::StatusOr<Report> PartFromClient(Context& context, const P& privatizer, Epoch epoch,
                                               const typename P::Query& query, int part,
                                               const Raw<typename P::Input>& input) {
    const NodeId self = context.links().self;
    return FromPart(context, privatizer, epoch, query, {part, self, 1},
                    [&](NoiseGen& noise) { return privatizer.RandomizePart(query, part, input, noise); });
  }

  /// Runs R for many clients at once, in the lab: clients first, first + 1, ..., as many as the input has
  /// rewards. The report is theirs, and all of them are charged. Fails with kUnimplemented, and charges
  /// nobody, if the mechanism needs to know more than the input contains.
  template <DealingPrivatizer P>
  static absl::StatusOr<Report> FromGroup(Context& context, const P& privatizer, Epoch epoch,
                                          const typename P::Query& query, int part, NodeId first,
                                          const Raw<typename P::Input>& input) {
    BANDANA_RETURN_IF_ERROR(privatizer.CheckGroup(query, part, input));
    Count clients = 0;
    for (const auto& each : Access::Open(input)) clients += each.count;
    if (!(first != kServerNode && clients <= (Count{1} << 32) - first.value)) {
      return absl::InvalidArgumentError("the clients of a group must all have valid ids");
    }
    return FromPart(context, privatizer, epoch, query, {part, first, clients},
                    [&](NoiseGen& noise) { return privatizer.RandomizeGroup(query, part, input, noise); });
  }

  /// Runs the analyzer A for all clients whose reports are in the sum.
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

  /// Runs R and A at a silo that releases its own stream: it is its own client and analyzer. The silo is
  /// charged once.
  template <Privatizer P>
    requires(P::kChargesClient && !P::kChargesAnalyzer && !ShufflePrivatizer<P>)
  static absl::StatusOr<Released<typename P::Output>> FromSilo(Context& context, const P& privatizer,
                                                               Epoch epoch, const typename P::Query& query,
                                                               const Raw<typename P::Input>& stream) {
    const NodeId self = context.links().self;
    const auto draw = [&](NoiseGen& noise) -> absl::StatusOr<Report> {
      BANDANA_ASSIGN_OR_RETURN(Report report, privatizer.Randomize(query, stream, noise));
      Access::Origin(report) = self;
      BasicReportSum<typename P::Query> sum;
      BANDANA_RETURN_IF_ERROR(privatizer.Add(query, report, sum));
      BANDANA_ASSIGN_OR_RETURN(const Sealed sealed, privatizer.Seal(sum, noise));
      return Access::MakeReport(Access::Open(sealed));
    };
    ReleaseKey key{self, epoch};
    if (context.remembers()) key.question = QuestionOf(query);
    BANDANA_ASSIGN_OR_RETURN(const Report drawn,
                             context.ReleaseOnce(key, {CostOf(privatizer, query), {self}}, draw));
    return privatizer.Open(query, Access::Seal(Access::Open(drawn)));
  }

  /// Has a user's device answer a question about the user's own data: charges the user, draws, and fills in
  /// the message. `User` is a UserContext, or a final class of a simulator that the compiler sees through.
  template <std::derived_from<UserContext> User, class P, class Question>
    requires LocalMechanism<P, Question>
  static absl::Status FromUser(User& user, const P& mechanism, const Question& question,
                               LocalMessage& message) {
    const Count charged = mechanism.bare() ? 0 : question.users();
    return user.ReleaseOnce(mechanism.guarantee(), charged, message, [&](NoiseGen& noise) {
      mechanism.Answer(question, noise, message, user.range_counts());
    });
  }

  /// Adds a user's record to statistics that stay sealed until FromUser releases them.
  template <std::derived_from<UserContext> User, class P, class Sides, class Sealed>
  static void Record(User& user, const P& mechanism, const Raw<LocalRecord>& record, const Sides& sides,
                     Sealed& statistics) {
    mechanism.Record(record, sides, statistics, user.range_counts());
  }

  /// Returns the digest that identifies a query.
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
      key.question = fmt::format("{}/{}+{}", question, part.part, part.clients);
    }
    BANDANA_ASSIGN_OR_RETURN(Report report, context.ReleaseOnce(key, charge, draw));
    Access::Origin(report) = part.first;
    Access::Part(report) = part.part;
    Access::Clients(report) = part.clients;
    if constexpr (ShufflePrivatizer<P>) Access::Question(report) = std::move(question);
    return report;
  }

  // Returns what one release costs. A mechanism whose guarantee spans several releases computes it itself.
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
