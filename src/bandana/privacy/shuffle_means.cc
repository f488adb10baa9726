#include "bandana/privacy/shuffle_means.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/amplification.h"
#include "bandana/privacy/samplers/exact_binomial.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::Status Unmixed() {
  return absl::FailedPreconditionError("a report that no shuffler has mixed must not reach the analyzer");
}

// A calibration takes milliseconds and every client of a phase asks for the same one.
template <class Key, class Value>
class Memo {
 public:
  template <class Make>
  absl::StatusOr<Value> Get(const Key& key, Make make) {
    const std::lock_guard lock(mutex_);
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    BANDANA_ASSIGN_OR_RETURN(Value value, make());
    known_.emplace(key, value);
    return value;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> known_;
};

// The noise in a report was set for a number of clients, which it names: it is mixed among as many, whatever
// the server asks a shuffler for. A report that names none asks for no protection.
absl::Status CheckPromises(const MeanQuery& query, const std::vector<Report>& reports) {
  for (const Report& report : reports) {
    if (report.quorum() == 0 || report.quorum() == query.clients) continue;
    return absl::FailedPreconditionError(fmt::format(
        "a report that is to be mixed among {} clients, in a query to {}", report.quorum(), query.clients));
  }
  return absl::OkStatus();
}

std::int64_t NoiseOnes(const ShuffleSumSetting& setting, Sampler sampler, NoiseGen& noise) {
  if (sampler == Sampler::kFast) return Binomial(setting.noise_bits, setting.p, noise);
  const auto bits = static_cast<std::uint64_t>(setting.noise_bits);
  const Rational p{.num = static_cast<std::uint64_t>(4 * setting.p), .den = 4};  // 1/2, or 1/4
  return static_cast<std::int64_t>(ExactBinomial(bits, p, noise));
}

}  // namespace

class ShuffleSumMean::Settings : public Memo<std::pair<Count, std::size_t>, ShuffleSumSetting> {};

absl::StatusOr<ShuffleSumMean> ShuffleSumMean::Create(const ShuffleSumMeanParams& params) {
  // What can be wrong with the parameters is wrong for every query.
  BANDANA_RETURN_IF_ERROR(TightShuffleSum({.clients = 1,
                                           .dimension = 1,
                                           .guarantee = params.nominal,
                                           .honest_fraction = params.honest_fraction,
                                           .loss = params.loss})
                              .status());
  return ShuffleSumMean(params, std::make_shared<Settings>());
}

std::vector<Claim> ShuffleSumMean::claims() const {
  const char* proof = "docs/proofs/shuffle-sum.md";
  const bool bits = params_.transport == Transport::kBits;
  std::vector<Claim> claims = {ClientClaim(
      fmt::format("the server, and everyone who sees its releases: each coordinate's total. {:.4g} % of the "
                  "clients follow the protocol, and the shuffler {}",
                  100 * params_.honest_fraction,
                  bits ? "does not tell the server who sent which bit" : "is trusted with the counts"),
      params_.nominal, proof)};
  if (bits) {
    claims.push_back(ClientClaim(
        "the shuffler by itself: who reported. As long as X25519 and ChaCha20-Poly1305 hold", {0, 0}, proof));
  }
  return claims;
}

absl::StatusOr<ShuffleSumSetting> ShuffleSumMean::SettingFor(const MeanQuery& query) const {
  return settings_->Get({query.clients, query.bounds.size()}, [&]() -> absl::StatusOr<ShuffleSumSetting> {
    const ShuffleSumParams params{.clients = query.clients,
                                  .dimension = static_cast<std::int64_t>(query.bounds.size()),
                                  .guarantee = params_.nominal,
                                  .honest_fraction = params_.honest_fraction,
                                  .loss = params_.loss};
    BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, params_.calibration == Calibration::kTight
                                                                  ? TightShuffleSum(params)
                                                                  : PaperVectorSum(params));
    if (!(static_cast<double>(query.clients) * static_cast<double>(setting.bits_per_coordinate) < 0x1p61)) {
      return absl::InvalidArgumentError(
          fmt::format("{} bits of each of {} clients are more than a count of 64 bits holds",
                      setting.bits_per_coordinate, query.clients));
    }
    const DpGuarantee& delivered = setting.delivered;
    if (delivered.epsilon <= params_.nominal.epsilon && delivered.delta <= params_.nominal.delta) {
      return setting;
    }
    return InvalidInput(
        {.message = fmt::format("the published constants deliver ({:.4g}, {:.3g}) for {} clients",
                                delivered.epsilon, delivered.delta, query.clients),
         .key = "privacy.calibration",
         .value = "paper",
         .accepted = "tight"});
  });
}

absl::StatusOr<Count> ShuffleSumMean::ReportBits(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query));
  const std::int64_t ones = setting.levels + setting.noise_bits;
  const Count each = params_.transport == Transport::kBits
                         ? ones
                         : static_cast<Count>(std::bit_width(static_cast<std::uint64_t>(ones)));
  return each * static_cast<Count>(query.bounds.size());
}

absl::StatusOr<Report> ShuffleSumMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                 NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(CheckQuery(query));
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query));
  BANDANA_ASSIGN_OR_RETURN(const Count bits, ReportBits(query));
  const RewardSums sums = Reveal(rewards);
  BANDANA_CHECK(sums.size() == query.bounds.size());
  const auto levels = static_cast<double>(setting.levels);
  Units counts(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Interval& bound = query.bounds[i];
    const double range = bound.high - bound.low;
    const double share = range > 0 ? (ClippedAverage(sums[i], bound) - bound.low) / range : 0;
    const double place = levels * (0.5 + setting.span * (share - 0.5));
    const double below = std::min(std::floor(place), levels);
    const bool up = UniformUnit(noise) < place - below;  // unbiased; the promise does not rest on it
    counts[i] = std::clamp(static_cast<std::int64_t>(below) + (up ? 1 : 0), std::int64_t{0}, setting.levels);
    counts[i] += NoiseOnes(setting, params_.sampler, noise);
  }
  return MakeReport(std::move(counts), bits, query.clients);
}

absl::StatusOr<std::vector<Report>> ShuffleSumMean::Mix(const MeanQuery& query,
                                                        const std::vector<Report>& reports) const {
  BANDANA_RETURN_IF_ERROR(CheckPromises(query, reports));
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query));
  const std::int64_t most = setting.levels + setting.noise_bits;
  ReportSum sum;
  for (const Report& report : reports) {
    const auto entry = [&](std::size_t, std::int64_t count) {
      return std::clamp(count, std::int64_t{0}, most);  // nobody counts for more than one
    };
    BANDANA_RETURN_IF_ERROR(AddReport(query, query.bounds.size(), report, entry, sum));
  }
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, query.clients, Next::kProtect));
  std::vector<Report> mixed;
  mixed.push_back(MakeReport(std::move(totals), 0));
  return mixed;
}

absl::Status ShuffleSumMean::AddMixed(const MeanQuery& query, const std::vector<Report>& mixed,
                                      ReportSum& sum) const {
  if (mixed.size() != 1) return absl::InvalidArgumentError("a shuffle sum is one vector of totals");
  return AddAnonymous(
      query, query.bounds.size(), mixed.front(), query.clients,
      [](std::size_t, std::int64_t total) { return total; }, sum);
}

absl::Status ShuffleSumMean::Add(const MeanQuery&, const Report&, ReportSum&) const { return Unmixed(); }

absl::StatusOr<Sealed> ShuffleSumMean::Seal(const ReportSum& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<Mean>> ShuffleSumMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query));
  const Units& totals = UnitsOf(sealed);
  BANDANA_RETURN_IF_ERROR(CheckSize(query.bounds.size(), totals));
  const auto clients = static_cast<double>(query.clients);
  const auto levels = static_cast<double>(setting.levels);
  const double ones = clients * static_cast<double>(setting.noise_bits) * setting.p;
  // A noise bit, and what rounding adds, stay in an interval of length 1: sub-Gaussian with proxy 1/2
  // (Hoeffding's lemma).
  const double proxy = std::sqrt(clients * (static_cast<double>(setting.noise_bits) + 1)) / 2;
  Mean mean{std::vector<double>(totals.size())};
  std::vector<NoiseLaw> noise(totals.size());
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const double range = query.bounds[i].high - query.bounds[i].low;
    const double share = ((static_cast<double>(totals[i]) - ones) / (levels * clients) - 0.5) / setting.span;
    mean.entries[i] = query.bounds[i].low + range * (share + 0.5);
    noise[i].proxy = proxy * range / (levels * clients * setting.span);
  }
  return Mint(std::move(mean), std::move(noise));
}

class ShuffledLaplaceMean::Settings : public Memo<Count, double> {};

absl::StatusOr<ShuffledLaplaceMean> ShuffledLaplaceMean::Create(const ShuffledLaplaceMeanParams& params) {
  if (!(params.most_clients >= 1)) {
    return InvalidOption("environment.population", static_cast<double>(params.most_clients),
                         "a whole number >= 1");
  }
  if (!(params.honest_fraction > 0 && params.honest_fraction <= 1)) {
    return InvalidOption("privacy.honest_fraction", params.honest_fraction, "a number in (0, 1]");
  }
  BANDANA_ASSIGN_OR_RETURN(
      const LocalBudget most,
      LargestLocalEpsilon(params.nominal, HonestClients(params.most_clients, params.honest_fraction)));
  return ShuffledLaplaceMean(params, most.epsilon0, std::make_shared<Settings>());
}

std::vector<Claim> ShuffledLaplaceMean::claims() const {
  const char* proof = "docs/proofs/shuffled-laplace.md";
  return {
      ClientClaim(fmt::format("the server, and everyone who sees its releases: it learns the reports, not "
                              "whose they are. {:.4g} % of the clients follow the protocol",
                              100 * params_.honest_fraction),
                  params_.nominal, proof),
      ClientClaim("the shuffler, and anyone who reads a client's report", {most_epsilon0_, 0}, proof)};
}

absl::StatusOr<double> ShuffledLaplaceMean::LocalEpsilon(Count clients) const {
  if (clients > params_.most_clients) {
    return absl::InvalidArgumentError(
        fmt::format("a query to {} clients, of a population of {}", clients, params_.most_clients));
  }
  return settings_->Get(clients, [&]() -> absl::StatusOr<double> {
    BANDANA_ASSIGN_OR_RETURN(
        const LocalBudget budget,
        LargestLocalEpsilon(params_.nominal, HonestClients(clients, params_.honest_fraction)));
    return std::min(budget.epsilon0, most_epsilon0_);  // which it exceeds by the width of a bracket at most
  });
}

absl::StatusOr<LaplaceNoise> ShuffledLaplaceMean::NoiseFor(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const double epsilon0, LocalEpsilon(query.clients));
  return LaplaceNoise::Create({epsilon0, Calibration::kTight, params_.sampler});
}

absl::StatusOr<Report> ShuffledLaplaceMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                      NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(const LaplaceNoise laplace, NoiseFor(query));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, laplace.Scale(query));
  BANDANA_ASSIGN_OR_RETURN(Units units, Average(query, rewards));
  if (scale > 0) {
    for (std::int64_t& unit : units) unit += laplace.Draw(scale, noise);
  }
  return MakeReport(std::move(units), WordBits(query), query.clients);
}

absl::StatusOr<std::vector<Report>> ShuffledLaplaceMean::Mix(const MeanQuery& query,
                                                             std::vector<Report> reports) const {
  BANDANA_RETURN_IF_ERROR(CheckPromises(query, reports));
  ReportSum once;  // nobody is in it twice, and nobody is missing
  for (const Report& report : reports) {
    BANDANA_RETURN_IF_ERROR(AddEntries(query, report, Entries::kAsSent, once));
  }
  BANDANA_RETURN_IF_ERROR(Complete(once, query.clients, Next::kProtect).status());
  for (Report& report : reports) report = MakeReport(UnitsOf(report), WordBits(query));  // nobody's
  std::sort(reports.begin(), reports.end(),
            [&](const Report& a, const Report& b) { return UnitsOf(a) < UnitsOf(b); });
  return reports;
}

absl::Status ShuffledLaplaceMean::AddMixed(const MeanQuery& query, const std::vector<Report>& mixed,
                                           ReportSum& sum) const {
  for (const Report& report : mixed) {
    BANDANA_RETURN_IF_ERROR(AddAnonymous(
        query, query.bounds.size(), report, 1, [](std::size_t, std::int64_t units) { return units; }, sum));
  }
  return absl::OkStatus();
}

absl::Status ShuffledLaplaceMean::Add(const MeanQuery&, const Report&, ReportSum&) const { return Unmixed(); }

absl::StatusOr<Sealed> ShuffledLaplaceMean::Seal(const ReportSum& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<Mean>> ShuffledLaplaceMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const LaplaceNoise laplace, NoiseFor(query));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, laplace.Scale(query));
  return MintMean(query, sealed, laplace.Law(scale, query.clients), 0);
}

}  // namespace bandana
