#pragma once

#include <cstdint>

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"
#include "bandana/core/generators.h"
#include "bandana/privacy/samplers/rational.h"

/// C. L. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
/// Algorithm 1. Exact, with integers only. Proof: docs/proofs/discrete-noise.md.
namespace bandana {

/// Returns true with probability p; p <= 1.
inline bool Bernoulli(Rational p, NoiseGen& gen) {
  BANDANA_CHECK(p.den > 0 && p.num <= p.den);
  if (p.num == p.den) return true;
  return UniformBelow(p.den, gen) < p.num;
}

/// Returns true with probability exp(-P(event)). `event()` tries an event, each time independently of the
/// others. Departure from Algorithm 1: its Bernoulli(gamma/k) is drawn as Bernoulli(gamma) and
/// Bernoulli(1/k), so that no product can overflow and gamma need not be known.
template <class Event>
bool BernoulliExpOfEvent(Event event, NoiseGen& gen) {
  for (std::uint64_t k = 1;; ++k) {
    if (!event() || (k > 1 && UniformBelow(k, gen) != 0)) return k % 2 == 1;
  }
}

/// Returns true with probability exp(-gamma).
inline bool BernoulliExp(Rational gamma, NoiseGen& gen) {
  BANDANA_CHECK(gamma.den > 0);
  for (std::uint64_t whole = gamma.num / gamma.den; whole > 0; --whole) {
    if (!BernoulliExpOfEvent([] { return true; }, gen)) return false;
  }
  const Rational rest{gamma.num % gamma.den, gamma.den};
  return BernoulliExpOfEvent([&] { return Bernoulli(rest, gen); }, gen);
}

}  // namespace bandana
