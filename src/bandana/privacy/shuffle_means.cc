#include "bandana/privacy/shuffle_means.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
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

// Stores calibrations: one takes milliseconds, and every client of a phase needs the same one.
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

// The noise in a report was set for the number of clients that the report names. It may be mixed only among
// that many, whatever the server asks a shuffler for. A report that names no number needs no protection.
absl::Status CheckPromise(const Report& report, Count clients) {
  if (report.quorum() == 0 || report.quorum() == clients) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "a report wants to be mixed among {} clients, but the query asks {}", report.quorum(), clients));
}

std::int64_t NoiseOnes(const ShuffleSumSetting& setting, Count clients, Sampler sampler, NoiseGen& noise) {
  const std::int64_t bits = clients * setting.noise_bits;
  if (sampler == Sampler::kFast) return Binomial(bits, setting.p, noise);
  const Rational p{.num = static_cast<std::uint64_t>(4 * setting.p), .den = 4};  // 1/2, or 1/4
  return static_cast<std::int64_t>(ExactBinomial(static_cast<std::uint64_t>(bits), p, noise));
}

// Returns the position of an average in its interval, from 0 (low end) to 1 (high end).
double ShareOf(const RewardSum& rewards, const Interval& bound) {
  const double range = bound.high - bound.low;
  return range > 0 ? (ClippedAverage(rewards, bound) - bound.low) / range : 0;
}

// Returns an interval for each number that a client reports. It is that of the average, or one that holds
// every number that the map makes of averages inside their intervals.
std::vector<Interval> ReportIntervals(const MeanQuery& query) {
  if (!query.mapped()) return query.bounds;
  constexpr double kSlack = 1 + 1e-9;  // more than the rounding of the sums
  std::vector<Interval> intervals(query.size());
  const double* row = query.map.entries.data();
  for (Interval& interval : intervals) {
    double reach = 0;
    for (const Interval& bound : query.bounds) reach += std::abs(*row++) * (bound.high - bound.low) / 2;
    reach = std::min(reach, query.map.radius) * kSlack;
    interval = {-reach, reach};
  }
  return intervals;
}

// Returns the position of each number of a report in its interval, from 0 to 1, whatever the rewards are.
std::vector<double> SharesOf(const MeanQuery& query, RewardSums sums) {
  std::vector<double> shares(query.size());
  if (!query.mapped()) {
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = ShareOf(sums[i], query.bounds[i]);
    return shares;
  }
  const std::vector<double> numbers = MappedAverages(query, sums);
  const std::vector<Interval> intervals = ReportIntervals(query);
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = ShareOf({1, numbers[i]}, intervals[i]);
  return shares;
}

// The number of levels for a share in [0, 1]: a whole number `below`, and one more with probability `up`. It
// is unbiased; the privacy claim does not depend on it.
struct RandomizedLevel {
  RandomizedLevel(const ShuffleSumSetting& setting, double share) {
    const auto levels = static_cast<double>(setting.levels);
    const double level = levels * (0.5 + setting.span * (share - 0.5));
    const double floor = std::clamp(std::floor(level), 0.0, levels);
    below = static_cast<std::int64_t>(floor);
    up = floor < levels ? std::clamp(level - floor, 0.0, 1.0) : 0;
  }
  std::int64_t below;
  double up;
};

std::int64_t LevelOf(const ShuffleSumSetting& setting, double share, NoiseGen& noise) {
  const RandomizedLevel level(setting, share);
  return level.below + (UniformUnit(noise) < level.up ? 1 : 0);
}

Count BitsOf(const ShuffleSumSetting& setting, Transport transport) {
  const std::int64_t ones = setting.levels + setting.noise_bits;
  return transport == Transport::kBits ? ones
                                       : static_cast<Count>(std::bit_width(static_cast<std::uint64_t>(ones)));
}

}  // namespace

namespace {

absl::Status CheckMostClients(Count most) {
  if (most >= 1) return absl::OkStatus();
  return InvalidField(Part::kFacts, "people", static_cast<double>(most), "a whole number >= 1");
}

// The claims cover queries to at most so many clients.
absl::Status CheckClients(Count clients, Count most) {
  if (clients >= 1 && clients <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("the query is to {} clients, but the population has {}", clients, most));
}

}  // namespace

class ShuffleSumMean::Settings : public Memo<std::tuple<Sum, Count, std::size_t>, ShuffleSumSetting> {};

absl::StatusOr<ShuffleSumMean> ShuffleSumMean::Create(const ShuffleSumMeanParams& params) {
  BANDANA_RETURN_IF_ERROR(params.collusion.Check());
  BANDANA_RETURN_IF_ERROR(CheckMostClients(params.most_clients));
  // A parameter that is invalid is invalid for every query, so one query is enough to check them. The paper's
  // formula for vectors accepts less: CheckWholeQueries.
  BANDANA_RETURN_IF_ERROR(
      TightShuffleSum(
          {.clients = 1, .dimension = 1, .guarantee = params.nominal, .hiding = 1, .loss = params.loss})
          .status());
  return ShuffleSumMean(params, std::make_shared<Settings>());
}

ShuffleSumMean::ShuffleSumMean(const ShuffleSumMeanParams& params, std::shared_ptr<Settings> settings)
    : params_(params),
      delivered_(params.nominal),
      dealt_delivered_(params.nominal),
      settings_(std::move(settings)) {
  if (params.calibration == Calibration::kTight) return;
  delivered_.epsilon = PaperVectorEpsilon(params.nominal, params.collusion, params.most_clients);
  dealt_delivered_.epsilon = PaperScalarEpsilon(params.nominal, params.collusion, params.most_clients);
}

absl::Status ShuffleSumMean::CheckWholeQueries() const {
  if (params_.calibration == Calibration::kTight) return absl::OkStatus();
  return CheckPaperVectorSum(params_.nominal);
}

std::vector<Claim> ShuffleSumMean::claims() const {
  const char* proof = "docs/proofs/shuffle-sum.md";
  const bool bits = params_.transport == Transport::kBits;
  std::vector<Claim> claims = {ClientClaim(
      fmt::format("the server, and everyone who sees its releases: they see each coordinate's total. {}, and "
                  "the shuffler {}",
                  params_.collusion.Describe("clients"),
                  bits ? "does not tell the server who sent which bit" : "is trusted with the counts"),
      guarantee(), proof)};
  if (bits) {
    claims.push_back(ClientClaim(
        "the shuffler by itself: it sees who reported, and the queries, which follow from earlier releases. "
        "X25519 and ChaCha20-Poly1305 are assumed to hold",
        guarantee(), proof));
  }
  return claims;
}

absl::StatusOr<ShuffleSumSetting> ShuffleSumMean::SettingFor(const MeanQuery& query) const {
  if (query.dealt.empty()) return Calibrate(Sum::kVector, query.clients, query.size());
  return absl::InvalidArgumentError("a dealt query has a setting for each part: name the part");
}

absl::StatusOr<ShuffleSumSetting> ShuffleSumMean::SettingFor(const MeanQuery& query, int part) const {
  BANDANA_RETURN_IF_ERROR(CheckPart(query, part));
  return Calibrate(Sum::kScalar, query.dealt[static_cast<std::size_t>(part)], 1);
}

absl::StatusOr<std::vector<ShuffleSumSetting>> ShuffleSumMean::SettingsOf(const MeanQuery& query) const {
  BANDANA_RETURN_IF_ERROR(CheckQuery(query));
  std::vector<ShuffleSumSetting> settings;
  if (query.dealt.empty()) {
    BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting all, SettingFor(query));
    settings.assign(query.size(), all);
  }
  for (const Count clients : query.dealt) {
    BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting each, Calibrate(Sum::kScalar, clients, 1));
    settings.push_back(each);
  }
  return settings;
}

absl::StatusOr<ShuffleSumSetting> ShuffleSumMean::Calibrate(Sum sum, Count clients,
                                                            std::size_t dimension) const {
  BANDANA_RETURN_IF_ERROR(CheckClients(clients, params_.most_clients));
  return settings_->Get({sum, clients, dimension}, [&]() -> absl::StatusOr<ShuffleSumSetting> {
    const ShuffleSumParams params{.clients = clients,
                                  .dimension = static_cast<std::int64_t>(dimension),
                                  .guarantee = params_.nominal,
                                  .hiding = params_.collusion.Hiding(clients),
                                  .loss = params_.loss};
    const auto paper = sum == Sum::kVector ? PaperVectorSum : PaperScalarSum;
    BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, params_.calibration == Calibration::kTight
                                                                  ? TightShuffleSum(params)
                                                                  : paper(params));
    if (!(static_cast<double>(clients) * static_cast<double>(setting.bits_per_coordinate) < 0x1p61)) {
      return absl::InvalidArgumentError(
          fmt::format("{} bits from each of {} clients add up to more than a count of 64 bits can hold",
                      setting.bits_per_coordinate, clients));
    }
    const DpGuarantee& delivered = setting.delivered;
    if (delivered.epsilon <= params_.nominal.epsilon && delivered.delta <= params_.nominal.delta) {
      return setting;
    }
    return InvalidField(
        Part::kPrivacy,
        {.message = fmt::format("the published constants deliver ({:.4g}, {:.3g}) for {} clients",
                                delivered.epsilon, delivered.delta, clients),
         .key = "calibration",
         .value = "paper",
         .accepted = "tight"});
  });
}

absl::StatusOr<Count> ShuffleSumMean::ReportBits(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query));
  return BitsOf(setting, params_.transport) * static_cast<Count>(query.size());
}

absl::StatusOr<Count> ShuffleSumMean::ReportBits(const MeanQuery& query, int part) const {
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query, part));
  return BitsOf(setting, params_.transport);
}

absl::StatusOr<Report> ShuffleSumMean::Randomize(const MeanQuery& query, const Raw<RewardSums>& rewards,
                                                 NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(CheckWhole(query));
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query));
  BANDANA_ASSIGN_OR_RETURN(const Count bits, ReportBits(query));
  const RewardSums sums = Reveal(rewards);
  BANDANA_CHECK(sums.size() == query.bounds.size());
  const std::vector<double> shares = SharesOf(query, sums);
  Units counts(shares.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = LevelOf(setting, shares[i], noise);
    counts[i] += NoiseOnes(setting, 1, params_.sampler, noise);
  }
  return MakeReport(std::move(counts), bits, query.clients);
}

absl::StatusOr<Report> ShuffleSumMean::RandomizePart(const MeanQuery& query, int part,
                                                     const Raw<RewardSums>& one, NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query, part));
  const auto i = static_cast<std::size_t>(part);
  const RewardSums sums = Reveal(one);
  BANDANA_CHECK(sums.size() == 1);
  const std::int64_t level = LevelOf(setting, ShareOf(sums[0], query.bounds[i]), noise);
  const std::int64_t count = level + NoiseOnes(setting, 1, params_.sampler, noise);
  return MakePart(part, 1, count, BitsOf(setting, params_.transport), query.dealt[i]);
}

absl::Status ShuffleSumMean::CheckGroup(const MeanQuery& query, int part,
                                        const Raw<RewardSums>& group) const {
  BANDANA_RETURN_IF_ERROR(CheckPart(query, part));
  const RewardSums sums = Reveal(group);
  BANDANA_RETURN_IF_ERROR(GroupSize(query, part, sums).status());
  if (sums.size() > 1 || sums[0].count == 1) return absl::OkStatus();
  const double share = ShareOf(sums[0], query.bounds[static_cast<std::size_t>(part)]);
  if (!(share > 1e-12 && share < 1 - 1e-12)) return absl::OkStatus();
  return absl::UnimplementedError("how the rewards of a group are rounded cannot be computed from their sum");
}

absl::StatusOr<Report> ShuffleSumMean::RandomizeGroup(const MeanQuery& query, int part,
                                                      const Raw<RewardSums>& group, NoiseGen& noise) const {
  BANDANA_RETURN_IF_ERROR(CheckGroup(query, part, group));
  BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, SettingFor(query, part));
  const auto i = static_cast<std::size_t>(part);
  const RewardSums sums = Reveal(group);
  BANDANA_ASSIGN_OR_RETURN(const Count clients, GroupSize(query, part, sums));
  std::int64_t count = 0;
  for (const RewardSum& each : sums) {
    if (each.count == 0) continue;
    const RandomizedLevel level(setting, ShareOf(each, query.bounds[i]));
    count += each.count * level.below + Binomial(each.count, level.up, noise);
  }
  count += NoiseOnes(setting, clients, params_.sampler, noise);
  return MakePart(part, clients, count, clients * BitsOf(setting, params_.transport), query.dealt[i]);
}

absl::StatusOr<std::vector<Report>> ShuffleSumMean::Mix(const MeanQuery& query,
                                                        const std::vector<Report>& reports) const {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<ShuffleSumSetting> settings, SettingsOf(query));
  ReportSum sum;
  for (const Report& report : reports) {
    const auto entry = [&](std::size_t i, std::int64_t count) {
      const std::int64_t most = settings[i].levels + settings[i].noise_bits;
      // No report counts for more than its clients.
      return std::clamp(count, std::int64_t{0}, report.clients() * most);
    };
    BANDANA_RETURN_IF_ERROR(AddReport(query, query.size(), report, entry, sum));
    const auto part = static_cast<std::size_t>(std::max(report.part(), 0));
    BANDANA_RETURN_IF_ERROR(CheckPromise(report, query.clients_of(part)));
  }
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, query.clients, Next::kProtect));
  std::vector<Report> mixed;
  mixed.push_back(MakeReport(std::move(totals), 0));
  return mixed;
}

absl::Status ShuffleSumMean::AddMixed(const MeanQuery& query, const std::vector<Report>& mixed,
                                      ReportSum& sum) const {
  if (mixed.size() != 1)
    return absl::InvalidArgumentError(fmt::format("expected one vector of totals, but got {}", mixed.size()));
  return AddTotals(query, query.size(), mixed.front(), query.clients, sum);
}

absl::Status ShuffleSumMean::Add(const MeanQuery&, const Report&, ReportSum&) const { return Unmixed(); }

absl::StatusOr<Sealed> ShuffleSumMean::Seal(const ReportSum& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<Mean>> ShuffleSumMean::Open(const MeanQuery& query, const Sealed& sealed) const {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<ShuffleSumSetting> settings, SettingsOf(query));
  const Units& totals = UnitsOf(sealed);
  BANDANA_RETURN_IF_ERROR(CheckSize(query.size(), totals));
  const std::vector<Interval> intervals = ReportIntervals(query);
  Mean mean{std::vector<double>(totals.size())};
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const ShuffleSumSetting& setting = settings[i];
    const auto clients = static_cast<double>(query.clients_of(i));
    const auto levels = static_cast<double>(setting.levels);
    const double ones = clients * static_cast<double>(setting.noise_bits) * setting.p;
    const double range = intervals[i].high - intervals[i].low;
    const double share = ((static_cast<double>(totals[i]) - ones) / (levels * clients) - 0.5) / setting.span;
    mean.entries[i] = intervals[i].low + range * (share + 0.5);
  }
  BANDANA_ASSIGN_OR_RETURN(std::vector<NoiseLaw> noise, Forecast(query));
  return Mint(std::move(mean), std::move(noise));
}

absl::StatusOr<std::vector<NoiseLaw>> ShuffleSumMean::Forecast(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const std::vector<ShuffleSumSetting> settings, SettingsOf(query));
  const std::vector<Interval> intervals = ReportIntervals(query);
  std::vector<NoiseLaw> noise(settings.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const auto clients = static_cast<double>(query.clients_of(i));
    // A noise bit, and the change by rounding, are in an interval of length 1: sub-Gaussian with proxy 1/2
    // (Hoeffding's lemma).
    const double proxy = std::sqrt(clients * (static_cast<double>(settings[i].noise_bits) + 1)) / 2;
    const double range = intervals[i].high - intervals[i].low;
    noise[i].proxy = proxy * range / (static_cast<double>(settings[i].levels) * clients * settings[i].span);
  }
  return noise;
}

class ShuffledLaplaceMean::Settings : public Memo<Count, double> {};

namespace {

// `hiding` is how many of a query's clients hide each other.
absl::StatusOr<double> Epsilon0For(const ShuffledLaplaceMeanParams& params, Count hiding) {
  if (params.calibration == Calibration::kPaper) return PaperLocalEpsilon(params.nominal, hiding);
  BANDANA_ASSIGN_OR_RETURN(const LocalBudget budget, LargestLocalEpsilon(params.nominal, hiding));
  return budget.epsilon0;
}

// Returns an upper bound on the epsilon that P2's epsilon0 gives in any query in which 1 to `most` clients
// hide each other. Reports are 2 epsilon0-LDP. In each step [low, high] the local epsilon is at most that of
// `high` clients, since it grows with their number, and the amplification is at least that of `low` clients.
absl::StatusOr<double> PaperEpsilon(const ShuffledLaplaceMeanParams& params, Count most) {
  double largest = 0;
  for (Count low = 1; low <= most;) {
    const Count high = std::min(most, low + low / 16);
    BANDANA_ASSIGN_OR_RETURN(const double epsilon0, Epsilon0For(params, high));
    BANDANA_ASSIGN_OR_RETURN(const double epsilon,
                             NumericalAmplification(2 * epsilon0, low, params.nominal.delta));
    largest = std::max(largest, epsilon);
    low = high + 1;
  }
  return largest;
}

}  // namespace

absl::StatusOr<ShuffledLaplaceMean> ShuffledLaplaceMean::Create(const ShuffledLaplaceMeanParams& params) {
  BANDANA_RETURN_IF_ERROR(CheckMostClients(params.most_clients));
  BANDANA_RETURN_IF_ERROR(params.collusion.Check());
  const Count most = params.collusion.Hiding(params.most_clients);
  BANDANA_ASSIGN_OR_RETURN(const double epsilon0, Epsilon0For(params, most));
  DpGuarantee delivered = params.nominal;
  if (params.calibration == Calibration::kPaper) {
    using Key = std::tuple<double, double, Count>;
    static Memo<Key, double>& known = *new Memo<Key, double>;  // it takes up to a second
    BANDANA_ASSIGN_OR_RETURN(delivered.epsilon,
                             known.Get({params.nominal.epsilon, params.nominal.delta, most},
                                       [&] { return PaperEpsilon(params, most); }));
  }
  return ShuffledLaplaceMean(params, epsilon0, delivered, std::make_shared<Settings>());
}

std::vector<Claim> ShuffledLaplaceMean::claims() const {
  const char* proof = "docs/proofs/shuffled-laplace.md";
  const double most_local = (params_.calibration == Calibration::kPaper ? 2 : 1) * most_epsilon0_;
  Claim shuffler =
      ClientClaim("the shuffler, and anyone who reads a client's report", {most_local, 0}, proof);
  shuffler.asked = false;
  return {
      ClientClaim(fmt::format("the server, and everyone who sees its releases: they see the reports, but "
                              "not whose they are. {}, and the shuffler tells nobody whose report is whose",
                              params_.collusion.Describe("clients")),
                  delivered_, proof),
      shuffler};
}

absl::StatusOr<double> ShuffledLaplaceMean::LocalEpsilon(Count clients) const {
  BANDANA_RETURN_IF_ERROR(CheckClients(clients, params_.most_clients));
  return settings_->Get(clients, [&]() -> absl::StatusOr<double> {
    BANDANA_ASSIGN_OR_RETURN(const double epsilon0, Epsilon0For(params_, params_.collusion.Hiding(clients)));
    return std::min(epsilon0, most_epsilon0_);  // it exceeds that by at most the width of a bracket
  });
}

absl::StatusOr<LaplaceNoise> ShuffledLaplaceMean::NoiseFor(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const double epsilon0, LocalEpsilon(query.clients));
  return LaplaceNoise::Create({epsilon0, params_.calibration, params_.sampler});
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

absl::StatusOr<Report> ShuffledLaplaceMean::RandomizePart(const MeanQuery& query, int part,
                                                          const Raw<RewardSums>& one, NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(std::int64_t units, PartOf(query, part, one));
  BANDANA_ASSIGN_OR_RETURN(const LaplaceNoise laplace, NoiseFor(query));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, laplace.Scale(query, part));
  if (scale > 0) units += laplace.Draw(scale, noise);
  return MakePart(part, 1, units, kWordBits, query.clients);
}

absl::StatusOr<Report> ShuffledLaplaceMean::RandomizeGroup(const MeanQuery& query, int part,
                                                           const Raw<RewardSums>& group,
                                                           NoiseGen& noise) const {
  BANDANA_ASSIGN_OR_RETURN(GroupSum sum, GroupOf(query, part, group));
  BANDANA_ASSIGN_OR_RETURN(const LaplaceNoise laplace, NoiseFor(query));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t scale, laplace.Scale(query, part));
  if (scale > 0) {
    BANDANA_ASSIGN_OR_RETURN(const std::int64_t added, laplace.DrawSum(scale, sum.clients, noise));
    sum.units += added;
  }
  return MakePart(part, sum.clients, sum.units, sum.clients * kWordBits, query.clients);
}

absl::StatusOr<std::vector<Report>> ShuffledLaplaceMean::Mix(const MeanQuery& query,
                                                             std::vector<Report> reports) const {
  ReportSum once;  // checks that no client is in it twice and none is missing
  for (const Report& report : reports) {
    BANDANA_RETURN_IF_ERROR(CheckPromise(report, query.clients));
    BANDANA_RETURN_IF_ERROR(AddEntries(query, report, Entries::kAsSent, once));
  }
  BANDANA_RETURN_IF_ERROR(Complete(once, query.clients, Next::kProtect).status());
  for (Report& report : reports) {  // removes the origin
    report = report.part() == Report::kWhole
                 ? MakeReport(UnitsOf(report), WordBits(query))
                 : MakePart(report.part(), report.clients(), UnitsOf(report).front(),
                            report.clients() * kWordBits);
  }
  std::sort(reports.begin(), reports.end(), [&](const Report& a, const Report& b) {
    const int a_part = a.part(), b_part = b.part();
    return std::tie(a_part, UnitsOf(a)) < std::tie(b_part, UnitsOf(b));
  });
  return reports;
}

absl::Status ShuffledLaplaceMean::AddMixed(const MeanQuery& query, const std::vector<Report>& mixed,
                                           ReportSum& sum) const {
  for (const Report& report : mixed) {
    BANDANA_RETURN_IF_ERROR(AddAnonymous(
        query, query.size(), report, [](std::size_t, std::int64_t units) { return units; }, sum));
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
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> scales,
                           ScalesOf(query, [&](int part) { return laplace.Scale(query, part); }));
  return MintMean(query, sealed,
                  [&](std::size_t i) { return EntryNoise{laplace.Law(scales[i], query.clients_of(i)), 0}; });
}

absl::StatusOr<std::vector<NoiseLaw>> ShuffledLaplaceMean::Forecast(const MeanQuery& query) const {
  BANDANA_ASSIGN_OR_RETURN(const LaplaceNoise laplace, NoiseFor(query));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> scales,
                           ScalesOf(query, [&](int part) { return laplace.Scale(query, part); }));
  return LawsOf(query,
                [&](std::size_t i) { return EntryNoise{laplace.Law(scales[i], query.clients_of(i))}; });
}

}  // namespace bandana
