#pragma once

/// Algorithms: those that ship (Create by name, or Create... with a struct of parameters), what an algorithm
/// of your own is made of (roles, Release, Federation), the registry that gives it a name, and plugins.
/// docs/your-first-algorithm.md shows how to write one.

#include "bandana/algorithms/arms/create.h"
#include "bandana/algorithms/elimination/create.h"
#include "bandana/algorithms/elimination/dp_dpe.h"
#include "bandana/algorithms/elimination/pe.h"
#include "bandana/algorithms/elimination/private_elimination.h"
#include "bandana/algorithms/fed_ucb/create.h"
#include "bandana/algorithms/lin_ucb/lin_ucb.h"
#include "bandana/algorithms/plugin.h"
#include "bandana/algorithms/registry.h"
#include "bandana/algorithms/users/create.h"
#include "bandana/core/status.h"
#include "bandana/federation/collector.h"
#include "bandana/federation/drive.h"
#include "bandana/federation/family.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/release.h"
#include "bandana/federation/star.h"
#include "bandana/privacy/mean_privatizers.h"
