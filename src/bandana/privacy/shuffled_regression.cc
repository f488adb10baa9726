#include "bandana/privacy/shuffled_regression.h"

#include <cmath>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {

RegressionStream::RegressionStream(const ShuffledRegressionSum& mechanism)
    : RegressionStream(mechanism.sums_) {}

RegressionEstimator::RegressionEstimator(const ShuffledRegressionSum& mechanism)
    : RegressionEstimator(mechanism.sums_) {}

absl::StatusOr<ShuffledRegressionSum> ShuffledRegressionSum::Create(const ShuffledRegressionParams& params) {
  if (!(params.silos >= 1 && params.silos < (Count{1} << 32))) {
    return InvalidOption("silos", static_cast<double>(params.silos), "a whole number from 1 to 2^32 - 1");
  }
  BANDANA_RETURN_IF_ERROR(params.collusion.Check());
  if (params.sums.calibration != Calibration::kTight) {
    return InvalidOption("calibration", "paper", "tight: P3 has no shuffler");
  }
  const auto hiding = static_cast<double>(params.collusion.Hiding(params.silos));
  BANDANA_ASSIGN_OR_RETURN(RegressionPrefixSum sums,
                           RegressionPrefixSum::Make(params.sums, 1 / std::sqrt(hiding)));
  return ShuffledRegressionSum(std::move(sums), params.silos, params.collusion);
}

std::vector<Claim> ShuffledRegressionSum::claims() const {
  const Claim server{
      .adversary = fmt::format(
          "the server, {}and everyone who sees the releases of all steps: totals over {} "
          "silos. {}, and the shuffler adds their reports up and tells nobody what they were",
          collusion_.covers_participants() ? "the other silos, " : "", silos_, collusion_.Describe("silos")),
      .guarantee = guarantee(),
      .unit = "one record (x, y) of one silo",
      .neighbours = "replace-one",
      .proof = "docs/proofs/shuffled-regression.md"};
  Claim shuffler = server;
  shuffler.adversary =
      "the shuffler, who sees every silo's reports, and with it the server and all silos but the record's "
      "own";
  shuffler.guarantee = alone();
  shuffler.asked = false;
  return {server, shuffler};
}

absl::StatusOr<std::size_t> ShuffledRegressionSum::EntriesAt(const StepQuery& query) const {
  if (query.silos != silos_) {
    return absl::InvalidArgumentError(
        fmt::format("the query asks {} silos, but the noise was set for {}", query.silos, silos_));
  }
  BANDANA_ASSIGN_OR_RETURN(const Count bits, sums_.ReportBits(query));
  return static_cast<std::size_t>(bits / 64);
}

absl::StatusOr<Count> ShuffledRegressionSum::ReportBits(const StepQuery& query) const {
  BANDANA_RETURN_IF_ERROR(EntriesAt(query).status());
  return sums_.ReportBits(query);
}

absl::StatusOr<Report> ShuffledRegressionSum::Randomize(const StepQuery& query,
                                                        const Raw<RegressionStream*>& stream,
                                                        NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(EntriesAt(query).status());
  BANDANA_ASSIGN_OR_RETURN(const Report report, sums_.Randomize(query, stream, noise));
  return MakeReport(UnitsOf(report), report.bits(), silos_);
}

absl::StatusOr<std::vector<Report>> ShuffledRegressionSum::Mix(const StepQuery& query,
                                                               const std::vector<Report>& reports) const {
  BANDANA_ASSIGN_OR_RETURN(const std::size_t entries, EntriesAt(query));
  BasicReportSum<StepQuery> sum;
  for (const Report& report : reports) {
    if (report.quorum() != silos_) {
      return absl::FailedPreconditionError(fmt::format(
          "a report wants to be mixed among {} silos, but the query asks {}", report.quorum(), silos_));
    }
    const auto entry = [](std::size_t, std::int64_t units) { return units; };
    BANDANA_RETURN_IF_ERROR(AddReport(query, entries, report, entry, sum));
  }
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, silos_, Next::kProtect));
  std::vector<Report> mixed;
  mixed.push_back(MakeReport(std::move(totals), 0));
  return mixed;
}

absl::Status ShuffledRegressionSum::AddMixed(const StepQuery& query, const std::vector<Report>& mixed,
                                             BasicReportSum<StepQuery>& sum) const {
  if (mixed.size() != 1)
    return absl::InvalidArgumentError(fmt::format("expected one vector of totals, but got {}", mixed.size()));
  BANDANA_ASSIGN_OR_RETURN(const std::size_t entries, EntriesAt(query));
  return AddTotals(query, entries, mixed.front(), silos_, sum);
}

absl::Status ShuffledRegressionSum::Add(const StepQuery&, const Report&, BasicReportSum<StepQuery>&) const {
  return absl::FailedPreconditionError("a report that no shuffler has mixed must not reach the analyzer");
}

absl::StatusOr<Sealed> ShuffledRegressionSum::Seal(const BasicReportSum<StepQuery>& sum,
                                                   NoiseGen& noise) const {
  return sums_.Seal(sum, noise);
}

absl::StatusOr<Released<StepValues>> ShuffledRegressionSum::Open(const StepQuery& query,
                                                                 const Sealed& sealed) const {
  BANDANA_RETURN_IF_ERROR(EntriesAt(query).status());
  return sums_.Open(query, sealed);
}

}  // namespace bandana
