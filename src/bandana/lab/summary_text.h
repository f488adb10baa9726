#pragma once

#include <string>
#include <vector>

#include "bandana/lab/summary.h"

/// A summary as `bandana run` prints it.
namespace bandana::lab {

/// Returns the rows of the table, the header first: one row per point.
std::vector<std::vector<std::string>> ResultRows(const Json& summary);

/// Returns lines on what a reader of the table must know: which claims are void or conditional, and what was
/// repaired.
std::string Remarks(const Json& summary);

}  // namespace bandana::lab
