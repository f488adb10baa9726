#include "bandana/audit/local_target.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"
#include "bandana/core/noise_door.h"

namespace bandana::audit {
namespace {

Raw<LocalRecord> RecordOf(const LocalUser& user) {
  return Raw(LocalRecord{user.context, user.reward, user.arm});
}

std::vector<double> EntriesOf(const LocalMessage& message) {
  return {message.entries().begin(), message.entries().end()};
}

// A generator for mechanisms that draw no noise.
class NoNoise {
 public:
  NoiseGen& gen() { return gen_; }

 private:
  PhiloxSource source_{StreamKey{.stream = Stream::kTest}};
  NoiseGen gen_ = NoiseDoor::Open(source_);
};

double Square(std::span<const double> vector) {
  double squares = 0;
  for (const double x : vector) squares += x * x;
  return squares;
}

// Returns ln of a slot's density, up to a constant, if this is its gradient.
double LogDensity(const LocalGradient& mechanism, std::span<const double> gradient,
                  std::span<const double> view) {
  const double length = std::sqrt(Square(gradient));
  if (length == 0) return 0;
  const L2BallSetting& setting = mechanism.setting();
  double product = 0;
  for (std::size_t i = 0; i < view.size(); ++i) product += gradient[i] * view[i];
  const double height = product / length / mechanism.length();
  const double inside = setting.p / setting.cap_mass;
  const double outside = (1 - setting.p) / (1 - setting.cap_mass);
  const double kept = (1 + std::min(1.0, length / mechanism.radius())) / 2;
  const auto density = [&](double t) { return t >= setting.gamma ? inside : outside; };
  return std::log(kept * density(height) + (1 - kept) * density(-height));
}

// Divides every entry by the standard deviation of its noise.
void Whiten(const LocalRegression& mechanism, std::span<double> entries) {
  const auto d = static_cast<std::size_t>(mechanism.space().dimension);
  for (std::size_t first = 0; first < entries.size(); first += mechanism.slot_size()) {
    std::size_t at = first;
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < i; ++j) entries[at++] /= mechanism.gram_noise();
      entries[at++] /= mechanism.diagonal_noise();
    }
    for (std::size_t side = 0; side < mechanism.space().side_bounds.size(); ++side) {
      for (std::size_t i = 0; i < d; ++i) entries[at++] /= mechanism.side_noise(side);
    }
  }
}

LocalUser AtRadius(double norm, std::size_t dimension, double angle) {
  LocalUser user{std::vector<double>(dimension, 0)};
  user.context[0] = norm * std::cos(angle);
  if (dimension > 1) user.context[1] = norm * std::sin(angle);
  return user;
}

}  // namespace

std::vector<double> GradientMessage(const LocalGradient& mechanism, const LocalUser& user, NoiseGen& noise) {
  LocalMessage message;
  const auto highest = [&](std::span<const double>) { return mechanism.space().means.high; };
  const Raw record = RecordOf(user);
  mechanism.Answer(GradientQuestion{record, highest}, noise, message, nullptr);
  return EntriesOf(message);
}

std::vector<double> RegressionMessage(const LocalRegression& mechanism, const LocalUser& user,
                                      NoiseGen& noise) {
  SealedStatistics statistics(mechanism);
  LocalMessage message;
  const auto rewards = [](std::span<const double>, double reward, std::span<double> sides) {
    std::fill(sides.begin(), sides.end(), reward);
  };
  mechanism.Record(RecordOf(user), rewards, statistics);
  mechanism.Answer({statistics}, noise, message, nullptr);
  return EntriesOf(message);
}

std::vector<double> RegressionCentre(const LocalRegression& mechanism, const LocalRegressionSpace& space,
                                     const LocalUser& user) {
  const auto bare = LocalRegression::CreateBare(space, Declassify("a record of the audit's own making"));
  BANDANA_CHECK(bare.ok());
  NoNoise none;
  std::vector<double> centre = RegressionMessage(*bare, user, none.gen());
  Whiten(mechanism, centre);
  return centre;
}

Target LocalGradientTarget(const std::string& name, const LocalGradient& mechanism,
                           const std::array<LocalUser, 2>& users) {
  const auto bare =
      LocalGradient::CreateBare(mechanism.space(), Declassify("a record of the audit's own making"));
  BANDANA_CHECK(bare.ok());
  NoNoise none;
  std::array<std::vector<double>, 2> gradients;
  for (std::size_t i = 0; i < 2; ++i) gradients[i] = GradientMessage(*bare, users[i], none.gen());
  Target target{.name = name, .claim = mechanism.claims().front(), .dimension = gradients[0].size()};
  target.direction = gradients[1];
  for (std::size_t i = 0; i < target.dimension; ++i) target.direction[i] -= gradients[0][i];
  target.log_ratio = [=](std::span<const double> view) {
    const auto d = static_cast<std::size_t>(mechanism.space().dimension);
    double ratio = 0;
    for (std::size_t at = 0; at < view.size(); at += d) {
      const std::span<const double> slot = view.subspan(at, d);
      ratio += LogDensity(mechanism, std::span(gradients[1]).subspan(at, d), slot) -
               LogDensity(mechanism, std::span(gradients[0]).subspan(at, d), slot);
    }
    return ratio;
  };
  // Only a part is sent, and its distribution has no simple form.
  if (mechanism.lifted()) target.log_ratio = nullptr;
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    const std::vector<double> entries =
        GradientMessage(mechanism, users[neighbour == Neighbour::kSecond], noise);
    std::copy(entries.begin(), entries.end(), view.begin());
    return absl::OkStatus();
  };
  return target;
}

Target LocalRegressionTarget(const std::string& name, const LocalRegression& mechanism,
                             const std::array<LocalUser, 2>& users) {
  const std::vector<double> first = RegressionCentre(mechanism, mechanism.space(), users[0]);
  Target target{.name = name, .claim = mechanism.claims().front(), .dimension = first.size()};
  target.direction = RegressionCentre(mechanism, mechanism.space(), users[1]);
  for (std::size_t i = 0; i < first.size(); ++i) target.direction[i] -= first[i];
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) {
    std::vector<double> entries = RegressionMessage(mechanism, users[neighbour == Neighbour::kSecond], noise);
    Whiten(mechanism, entries);
    std::copy(entries.begin(), entries.end(), view.begin());
    return absl::OkStatus();
  };
  return target;
}

std::array<LocalUser, 2> FarthestGradients(const LocalGradientSpace& space) {
  const auto d = static_cast<std::size_t>(space.dimension);
  LocalUser first = AtRadius(space.context_norm, d, 0.5);
  first.reward = space.rewards.low;
  LocalUser second = first;
  for (double& x : second.context) x = -x;
  second.arm = static_cast<ArmId>(space.slots - 1);
  return {first, second};
}

std::array<LocalUser, 2> FarthestRegressions(const LocalRegressionSpace& space, double side_weight) {
  BANDANA_CHECK(space.dimension >= 2 && space.side_bounds.size() == 1);
  const auto d = static_cast<std::size_t>(space.dimension);
  const double ratio = side_weight * space.side_bounds[0] / space.context_norm;
  LocalUser first = AtRadius(space.context_norm, d, 0);
  LocalUser second = AtRadius(space.context_norm, d, std::acos(std::min(1.0, ratio * ratio)));
  first.reward = space.rewards.high;
  second.reward = space.rewards.low;
  second.arm = static_cast<ArmId>(space.slots - 1);
  return {first, second};
}

}  // namespace bandana::audit
