#pragma once

/// Bandana: bandits with differential privacy. This header has everything that a program needs which
/// assembles an algorithm, runs it in a world, and reads what it promises:
///
///   #include <bandana/bandana.h>
///
///   const auto world = bandana::ValueOrExit(bandana::MakeLinearWorld({...}, {.horizon = 100'000, .seed =
///   7})); const auto federation = bandana::ValueOrExit(bandana::CreateDpDpe({}, privacy, world->facts()));
///   const auto outcome = bandana::ValueOrExit(bandana::Simulate(federation, *world, {.seed = 7}));
///
/// The headers of this folder are the public interface and stay compatible within a minor version. They
/// include others of the folders below, which may change.

#include "bandana/algorithm.h"
#include "bandana/core/value_or_exit.h"
#include "bandana/lab.h"
#include "bandana/privacy.h"
#include "bandana/sim/simulate.h"
#include "bandana/world.h"
