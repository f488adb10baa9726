#include "bandana/audit/catalog.h"
#include "bandana/audit/mean_target.h"
#include "bandana/privacy/l2_ball_mean.h"
#include "bandana/privacy/wire.h"

namespace bandana::audit {
namespace {

constexpr std::size_t kBallDimension = 5;
constexpr double kBallRadius = 2;

// Attacks a client's report of a vector at either end of a diameter.
auto Ball(L2BallRandomizer randomizer) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(const L2BallMean privatizer, L2BallMean::Create({.epsilon = nominal.epsilon,
                                                                              .randomizer = randomizer,
                                                                              .dimension = kBallDimension,
                                                                              .radius = kBallRadius,
                                                                              .sampler = Sampler::kExact}));
    std::array<std::vector<double>, 2> ends = {std::vector<double>(kBallDimension),
                                               std::vector<double>(kBallDimension)};
    ends[0][0] = -0.8 * kBallRadius;
    ends[0][1] = 0.6 * kBallRadius;
    for (std::size_t i = 0; i < kBallDimension; ++i) ends[1][i] = -ends[0][i];
    Target target{
        .name = name, .claim = ClaimOf(privatizer), .dimension = kBallDimension, .direction = ends[1]};
    target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
      AuditContext client(NodeId{1}, noise);
      const Raw<std::span<const double>> vector(ends[neighbour == Neighbour::kSecond]);
      BANDANA_ASSIGN_OR_RETURN(const Report report,
                               Release::FromClient(client, privatizer, 1, BallQuery{.clients = 1}, vector));
      const std::vector<std::int64_t>& units = Wire::Units(report);
      for (std::size_t i = 0; i < view.size(); ++i)
        view[i] = static_cast<double>(units[i]) * L2BallMean::kUnit;
      return absl::OkStatus();
    };
    return target;
  };
}

}  // namespace

std::vector<Entry> L2BallEntries() {
  constexpr std::int64_t kDraws = 200'000;
  return {
      {"l2-ball-duchi",
       "a vector of a ball with the randomizer of Duchi et al.; the adversary reads the report",
       {1, 0},
       kDraws,
       Ball(L2BallRandomizer::kDuchi)},
      {"l2-ball-privunit",
       "l2-ball-duchi with PrivUnit instead",
       {1, 0},
       kDraws,
       Ball(L2BallRandomizer::kPrivUnit)},
      {"l2-ball-privunit-4",
       "l2-ball-privunit with a larger epsilon, where the cap is small",
       {4, 0},
       kDraws,
       Ball(L2BallRandomizer::kPrivUnit)},
  };
}

}  // namespace bandana::audit
