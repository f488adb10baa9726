#include "bandana/privacy/l2_ball_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "bandana/privacy/l2_ball_exact.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// Draws from the law of ExactCapDirection in doubles, for the lab.
void FastDirection(std::span<const std::int64_t> axis, double cosine, bool inside, std::span<double> unit,
                   NoiseGen& noise) {
  double axis_squares = 0;
  for (const std::int64_t x : axis) axis_squares += static_cast<double>(x) * static_cast<double>(x);
  const double length = std::sqrt(axis_squares);
  while (true) {
    double squares = 0;
    double product = 0;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      unit[i] = StandardNormal(noise);
      squares += unit[i] * unit[i];
      product += unit[i] * static_cast<double>(axis[i]);
    }
    const double norm = std::sqrt(squares);
    const bool is_inside = product >= cosine * norm * length;
    if (cosine != 0 && is_inside != inside) continue;
    const double sign = is_inside == inside ? 1 : -1;
    for (double& x : unit) x *= sign / norm;
    return;
  }
}

}  // namespace

absl::StatusOr<L2BallMean> L2BallMean::Create(const L2BallParams& params) {
  constexpr double kLongest = 0x1p20;  // fits the grid, with room for sums
  BANDANA_ASSIGN_OR_RETURN(const ExactL2Ball exact, SetUpExactL2Ball(params.randomizer, params.dimension,
                                                                     params.epsilon, params.radius));
  const L2BallSetting& setting = exact.setting;
  if (!(setting.scale * params.radius <= kLongest)) {
    return InvalidOption(
        "radius", params.radius,
        fmt::format("a smaller radius: a message may be at most {} long, and here it is {:.4g}", kLongest,
                    setting.scale * params.radius));
  }
  return L2BallMean(params, setting, exact.epsilon);
}

std::vector<Claim> L2BallMean::claims() const {
  return {{.adversary = "the server, and anyone who reads a client's report",
           .guarantee = guarantee(),
           .unit = "one client's vector",
           .neighbours = "replace-one",
           .proof = "docs/proofs/l2-ball-mean.md"}};
}

absl::StatusOr<Report> L2BallMean::Randomize(const BallQuery&, const Raw<std::span<const double>>& vector,
                                             NoiseGen& noise) const {
  const std::span<const double> x = Reveal(vector);
  BANDANA_CHECK(static_cast<std::int64_t>(x.size()) == params_.dimension);
  L2BallAxis axis(x, params_.radius);
  if (axis.zero()) axis.units[0] = 1;
  // Duchi's coin: the point moves to the surface, at x/|x| or opposite. The privacy claim does not depend on
  // it.
  if (!ExactCoin((1 + axis.length) / 2, noise)) axis.Turn();
  const bool inside = ExactCoin(setting_.p, noise);
  std::vector<double> unit(x.size());
  if (params_.sampler == Sampler::kExact) {
    ExactCapDirection(axis.units, setting_.gamma, inside, unit, noise);
  } else {
    FastDirection(axis.units, setting_.gamma, inside, unit, noise);
  }
  Units units(x.size());
  const double scale = setting_.scale * params_.radius / kUnit;
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i] = static_cast<std::int64_t>(std::nearbyint(unit[i] * scale));
  }
  return MakeReport(std::move(units), 64 * params_.dimension);
}

absl::Status L2BallMean::Add(const BallQuery& query, const Report& report,
                             BasicReportSum<BallQuery>& sum) const {
  const auto most = static_cast<std::int64_t>(std::ceil(setting_.scale * params_.radius / kUnit));
  if (!(static_cast<double>(query.clients) * static_cast<double>(most) < 0x1p61)) {
    return absl::InvalidArgumentError(
        fmt::format("the grid cannot hold the sum of {} reports of length {:.4g}", query.clients,
                    setting_.scale * params_.radius));
  }
  const auto entry = [&](std::size_t, std::int64_t units) {
    // A report that no honest client sends cannot move the sum further.
    return std::clamp(units, -most, most);
  };
  return AddReport(query, static_cast<std::size_t>(params_.dimension), report, entry, sum);
}

absl::StatusOr<Sealed> L2BallMean::Seal(const BasicReportSum<BallQuery>& sum, NoiseGen&) const {
  BANDANA_ASSIGN_OR_RETURN(Units totals, Complete(sum, QueryOf(sum).clients, Next::kLetOut));
  return MakeSealed(std::move(totals));
}

absl::StatusOr<Released<Mean>> L2BallMean::Open(const BallQuery& query, const Sealed& sealed) const {
  const Units& totals = UnitsOf(sealed);
  BANDANA_RETURN_IF_ERROR(CheckSize(static_cast<std::size_t>(params_.dimension), totals));
  const auto clients = static_cast<double>(query.clients);
  Mean mean{std::vector<double>(totals.size())};
  for (std::size_t i = 0; i < totals.size(); ++i) {
    mean.entries[i] = static_cast<double>(totals[i]) * kUnit / clients;
  }
  // Every coordinate of a report is at most the report's length away from 0 (Hoeffding's lemma).
  const NoiseLaw law{.proxy = setting_.scale * params_.radius / std::sqrt(clients)};
  return Mint(std::move(mean), std::vector<NoiseLaw>(totals.size(), law));
}

}  // namespace bandana
