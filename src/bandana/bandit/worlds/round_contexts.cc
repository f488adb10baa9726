#include "bandana/bandit/worlds/round_contexts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/core/lane_draws.h"
#include "bandana/core/lanes.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using Eigen::Index;
using lanes::Doubles;
using lanes::Floats;
using lanes::Ints;
using lanes::MulAdd;
using lanes::Words;

constexpr double kOthersLow = 0.5;  // P3, Section 4.4
constexpr double kWidth = 0.1;

constexpr Index kTile = 8;  // arms at a time: one register of floats, or two of doubles

/// Returns ln x for normal x > 0, with relative error 1e-7. The polynomials are from S. L. Moshier, Cephes
/// 2.2, 1992.
inline Floats Log(const Floats& x) {
  const Ints bits = lanes::BitsAs<Ints>(x);
  const Ints exponent = (bits - 0x3f3504f3) >> 23;  // x = 2^exponent (1 + f), 1 + f in [sqrt(1/2), sqrt 2)
  const Floats f = lanes::BitsAs<Floats>(bits - (exponent << 23)) - 1;
  // ln(1 + f) = f + f^2 (-1/2 + f/3 - ...). Pairs of coefficients come first: the chain is half as long as
  // Horner's.
  const auto linear = [&f](float constant, float slope) {
    return MulAdd(lanes::Broadcast(slope), f, lanes::Broadcast(constant));
  };
  const Floats f2 = f * f;
  const Floats f4 = f2 * f2;
  const Floats low = MulAdd(linear(-2.4999993993e-1f, 2.0000714765e-1f), f2, linear(-0.5f, 3.3333331174e-1f));
  const Floats middle =
      MulAdd(linear(-1.2420140846e-1f, 1.1676998740e-1f), f2, linear(-1.6668057665e-1f, 1.4249322787e-1f));
  const Floats high = linear(-1.1514610310e-1f, 7.0376836292e-2f);
  const Floats log = MulAdd(MulAdd(MulAdd(high, f4, middle), f4, low), f2, f);
  return MulAdd(__builtin_convertvector(exponent, Floats), lanes::Broadcast(std::numbers::ln2_v<float>), log);
}

struct NormalPair {
  Floats first;
  Floats second;
};

/// Returns two normals by G. E. P. Box, M. E. Muller, Ann. Math. Statist. 29(2), 1958. Neither is ever 0.
inline NormalPair BoxMuller(const Words& radius_bits, const Words& angle_bits) {
  const Floats grid = __builtin_convertvector(lanes::BitsAs<Ints>(radius_bits >> 1), Floats);
  const Floats uniform = MulAdd(grid, lanes::Broadcast(0x1p-31f), lanes::Broadcast(0x1p-32f));
  const Floats inside = uniform < 1 ? uniform : lanes::Broadcast(1 - 0x1p-24f);
  const Floats radius = lanes::Sqrt(-2 * Log(inside));

  // The angle is within an eighth of the circle on either side of 0. One bit may mirror it to the far side,
  // and one may exchange the axes; together they give the whole circle.
  const Floats angle = __builtin_convertvector(lanes::BitsAs<Ints>((angle_bits << 2) | 2), Floats) *
                       (std::numbers::pi_v<float> / 4 * 0x1p-31f);
  const Floats square = angle * angle;
  Floats sine = MulAdd(lanes::Broadcast(-1.9515295891e-4f), square, lanes::Broadcast(8.3321608736e-3f));
  sine = MulAdd(sine, square, lanes::Broadcast(-1.6666654611e-1f));
  sine = MulAdd(sine * square, angle, angle);
  Floats cosine =
      MulAdd(lanes::Broadcast(2.443315711809948e-5f), square, lanes::Broadcast(-1.388731625493765e-3f));
  cosine = MulAdd(cosine, square, lanes::Broadcast(4.166664568298827e-2f));
  cosine = MulAdd(cosine, square, lanes::Broadcast(-0.5f));
  cosine = MulAdd(cosine, square, lanes::Broadcast(1.0f));
  cosine = lanes::BitsAs<Floats>(lanes::BitsAs<Words>(cosine) ^ ((angle_bits << 1) & 0x80000000u));
  const Ints exchange = lanes::BitsAs<Ints>(angle_bits);
  return {radius * (exchange < 0 ? sine : cosine), radius * (exchange < 0 ? cosine : sine)};
}

using TileDoubles = lanes::DoubleHalves;  // one number for each arm of a tile

inline TileDoubles LoadTile(const double* from) { return {lanes::Load(from), lanes::Load(from + 4)}; }
inline TileDoubles LoadTile(const float* from) { return lanes::Widen(lanes::Load(from)); }

inline void StoreTile(double* to, const TileDoubles& tile) {
  lanes::Store(to, tile.low);
  lanes::Store(to + 4, tile.high);
}
inline void StoreTile(float* to, const TileDoubles& tile) { lanes::Store(to, lanes::Narrow(tile)); }

inline void StoreNormals(double* to, const Floats&, const TileDoubles& wide) { StoreTile(to, wide); }
inline void StoreNormals(float* to, const Floats& normals, const TileDoubles&) { lanes::Store(to, normals); }

/// Sums over an arm's random part, a vector h of normals: |h|^2 and <h, w>.
struct TileSums {
  TileDoubles square = {};
  TileDoubles product = {};
};

/// Draws normals for one tile after another.
class TileNormals {
 public:
  explicit TileNormals(const std::uint64_t* seeds) : words_(seeds) {}

  Words NextWords() { return lanes::BitsAs<Words>(words_.Next()); }

  /// Writes a tile's `count` normals at to, to + stride, ....
  template <class Scalar>
  TileSums Fill(Scalar* to, Index stride, Index count, const double* w) {
    TileSums sums;
    Index j = 0;
    for (; j + 2 <= count; j += 2) {
      const NormalPair pair = Draw();
      Put(pair.first, to + j * stride, w[j], sums);
      Put(pair.second, to + (j + 1) * stride, w[j + 1], sums);
    }
    if (j < count) Put(NextSingle(), to + j * stride, w[j], sums);
    return sums;
  }

 private:
  NormalPair Draw() {
    const Words radius_bits = lanes::BitsAs<Words>(words_.Next());
    return BoxMuller(radius_bits, lanes::BitsAs<Words>(words_.Next()));
  }

  Floats NextSingle() {
    left_ = !left_;
    if (!left_) return single_;
    const NormalPair pair = Draw();
    single_ = pair.second;
    return pair.first;
  }

  template <class Scalar>
  static void Put(const Floats& normals, Scalar* to, double w, TileSums& sums) {
    const TileDoubles h = lanes::Widen(normals);
    StoreNormals(to, normals, h);
    sums.square = {MulAdd(h.low, h.low, sums.square.low), MulAdd(h.high, h.high, sums.square.high)};
    const Doubles factor = lanes::Broadcast(w);
    sums.product = {MulAdd(factor, h.low, sums.product.low), MulAdd(factor, h.high, sums.product.high)};
  }

  LaneWords words_;
  bool left_ = false;  // whether single_ is still to be used
  Floats single_ = {};
};

/// Returns a factor that keeps rounding from making a norm exceed 1: rounding of doubles in the sums, and of
/// Scalar at the end.
template <class Scalar>
double Shrink(Index dimension) {
  const double sums = static_cast<double>(dimension + 16) * 0x1p-52;
  return 1 - sums - (std::same_as<Scalar, float> ? 0x1p-23 : 0);
}

/// Returns 1 for the arms first, first + 1, ... below `arms`, and 0 beyond.
TileDoubles Present(Index first, Index arms) {
  if (first + kTile <= arms) return {lanes::Broadcast(1.0), lanes::Broadcast(1.0)};
  std::array<double, kTile> present;
  for (Index i = 0; i < kTile; ++i) present[i] = first + i < arms ? 1 : 0;
  return LoadTile(present.data());
}

}  // namespace

absl::StatusOr<RoundContexts> RoundContexts::Create(const RoundContextsParams& params) {
  BANDANA_RETURN_IF_ERROR(CheckRoundContexts(params));
  PhiloxSource bits(
      {.seed = params.seed, .replicate = params.replicate, .node = kServerNode, .stream = Stream::kInstance});
  CoinGen coin(bits);
  Vector theta(params.dimension);
  double square = 0;
  while (!(square > 0)) {
    for (double& entry : theta) entry = StandardNormal(coin);
    square = Dot(theta.data(), theta.data(), theta.size());
  }
  double norm = params.theta_norm;
  if (params.contexts == RoundLaw::kGap) {
    const double least = std::max(0.8, kOthersLow + 2 * kWidth + params.gap);
    norm = least + UniformUnit(coin) * std::max(0.0, 1 - least);
  }
  for (double& entry : theta) entry *= norm / std::sqrt(square);
  return RoundContexts(params, std::move(theta));
}

RoundContexts::RoundContexts(const RoundContextsParams& params, Vector theta)
    : params_(params), facts_(FactsOf(params)), theta_(std::move(theta)) {
  theta_norm_ = std::sqrt(Dot(theta_.data(), theta_.data(), theta_.size()));
  if (params_.contexts != RoundLaw::kGap) return;
  // v is the longer of e_1 - t and e_1 + t, to avoid cancellation.
  axis_ = theta_[0] > 0 ? -1 : 1;
  mirror_ = theta_;
  for (double& entry : mirror_) entry *= -axis_ / theta_norm_;
  mirror_[0] += 1;
  const double scale = std::sqrt(2 / Dot(mirror_.data(), mirror_.data(), mirror_.size()));
  for (double& entry : mirror_) entry *= scale;
}

void RoundContexts::Fill(NodeId agent, Count first_round, DecisionBlock<double>& block) {
  Draw(agent, first_round, block);
}
void RoundContexts::Fill(NodeId agent, Count first_round, DecisionBlock<float>& block) {
  Draw(agent, first_round, block);
}
double RoundContexts::Reward(const DecisionBlock<double>& block, NodeId, Count at, ArmId arm) {
  return Reward(block, at, arm);
}
double RoundContexts::Reward(const DecisionBlock<float>& block, NodeId, Count at, ArmId arm) {
  return Reward(block, at, arm);
}

template <class Scalar>
void RoundContexts::Draw(NodeId agent, Count first_round, DecisionBlock<Scalar>& block) const {
  BANDANA_CHECK(block.arms() == params_.actions && block.dimension() == params_.dimension);
  BANDANA_CHECK(first_round >= 0 && first_round + block.rounds() <= std::numeric_limits<Epoch>::max());
  for (Count at = 0; at < block.rounds(); ++at) {
    const auto epoch = static_cast<Epoch>(first_round + at);
    PhiloxSource bits({.seed = params_.seed,
                       .replicate = params_.replicate,
                       .node = agent,
                       .epoch = epoch,
                       .stream = Stream::kContext});
    std::array<std::uint64_t, LaneWords::kSeeds + 4> words;
    bits.Refill(words);
    if (params_.contexts == RoundLaw::kGap) {
      DrawGapRound(words.data(), at, block);
    } else if (params_.contexts == RoundLaw::kProbe) {
      const double first = params_.world == ProbeWorld::kA ? 1 : 0;
      const double length = epoch == 1 ? first : *params_.probe_level;
      DrawProbeRound(words.data(), agent == NodeId{1} ? length : 0, at, block);
    } else {
      DrawSphereRound(words.data(), at, block);
    }
  }
}

template <class Scalar>
void RoundContexts::DrawGapRound(const std::uint64_t* words, Count round,
                                 DecisionBlock<Scalar>& block) const {
  const Index d = block.dimension();
  const Index arms = block.arms();
  const Index stride = block.stride();
  TileNormals normals(words);
  words += LaneWords::kSeeds;

  double* means = block.means_of(round);
  for (Index first = 0; first < arms; first += kTile) {
    const TileDoubles wide = lanes::Widen(lanes::BitsAs<Ints>(normals.NextWords() >> 1));
    constexpr double kStep = kWidth * 0x1p-31;
    constexpr double kFirst = kOthersLow + kStep / 2;
    StoreTile(means + first, {wide.low * kStep + kFirst, wide.high * kStep + kFirst});
  }
  const auto best =
      static_cast<Index>((static_cast<unsigned __int128>(words[0]) * static_cast<std::uint64_t>(arms)) >> 64);
  means[best] += kWidth + params_.gap;
  block.SetTruth(round, means[best], static_cast<double>(words[1] >> 11) * 0x1p-53);

  const double shrink = Shrink<Scalar>(d);
  for (Index first = 0; first < arms; first += kTile) {
    Scalar* entries = block.entries(round) + first;
    const TileSums sums = normals.Fill(entries + stride, stride, d - 1, mirror_.data() + 1);
    // Before the reflection, an arm is (axis a, s h).
    TileDoubles along = LoadTile(means + first);
    TileDoubles across, component;
    const TileDoubles present = Present(first, arms);
    const auto place = [&](const Doubles& square, const Doubles& product, const Doubles& here, Doubles& a,
                           Doubles& s, Doubles& c) {
      const Doubles cosine = a / theta_norm_;
      const Doubles sine_square = lanes::Max((1 - cosine) * (1 + cosine), Doubles{});
      s = lanes::Sqrt(sine_square / square) * (here * shrink);
      a = cosine * (here * (shrink * axis_));
      c = MulAdd(s, product, a * mirror_[0]);
    };
    place(sums.square.low, sums.product.low, present.low, along.low, across.low, component.low);
    place(sums.square.high, sums.product.high, present.high, along.high, across.high, component.high);
    StoreTile(entries, {along.low - component.low * mirror_[0], along.high - component.high * mirror_[0]});
    for (Index j = 1; j < d; ++j) {
      const TileDoubles h = LoadTile(entries + j * stride);
      const Doubles v = lanes::Broadcast(-mirror_[j]);
      StoreTile(entries + j * stride, {MulAdd(v, component.low, across.low * h.low),
                                       MulAdd(v, component.high, across.high * h.high)});
    }
  }
}

template <class Scalar>
void RoundContexts::DrawSphereRound(const std::uint64_t* words, Count round,
                                    DecisionBlock<Scalar>& block) const {
  const Index d = block.dimension();
  const Index arms = block.arms();
  const Index stride = block.stride();
  TileNormals normals(words);
  words += LaneWords::kSeeds;
  double* means = block.means_of(round);
  const double shrink = Shrink<Scalar>(d);
  for (Index first = 0; first < arms; first += kTile) {
    Scalar* entries = block.entries(round) + first;
    const TileSums sums = normals.Fill(entries, stride, d, theta_.data());
    const TileDoubles present = Present(first, arms);
    const TileDoubles inverse = {present.low / lanes::Sqrt(sums.square.low),
                                 present.high / lanes::Sqrt(sums.square.high)};
    StoreTile(means + first, {inverse.low * sums.product.low, inverse.high * sums.product.high});
    const TileDoubles scale = {inverse.low * shrink, inverse.high * shrink};
    for (Index j = 0; j < d; ++j) {
      const TileDoubles h = LoadTile(entries + j * stride);
      StoreTile(entries + j * stride, {scale.low * h.low, scale.high * h.high});
    }
  }
  block.SetTruth(round, *std::max_element(means, means + arms),
                 static_cast<double>(words[1] >> 11) * 0x1p-53);
}

template <class Scalar>
void RoundContexts::DrawProbeRound(const std::uint64_t* words, double length, Count round,
                                   DecisionBlock<Scalar>& block) const {
  Scalar* entries = block.entries(round);
  std::fill_n(entries, block.stride() * block.dimension(), Scalar{0});
  std::fill_n(entries, block.arms(), static_cast<Scalar>(length));
  const double mean = length * theta_[0];
  std::fill_n(block.means_of(round), block.arms(), mean);
  block.SetTruth(round, mean, static_cast<double>(words[LaneWords::kSeeds + 1] >> 11) * 0x1p-53);
}

template void RoundContexts::Draw(NodeId, Count, DecisionBlock<double>&) const;
template void RoundContexts::Draw(NodeId, Count, DecisionBlock<float>&) const;

}  // namespace bandana
