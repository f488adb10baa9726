#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "bandana/core/value.h"

namespace bandana::python {

namespace py = pybind11;

/// Returns the value of an option as Python has it: bool, int, float, str, or a list of numbers. Numpy's
/// numbers count as Python's. Raises TypeError, which names the key, for anything else.
Value ValueFrom(const std::string& key, py::handle object);

/// Does so for all entries of a dict.
Values ValuesFrom(const py::dict& entries);

}  // namespace bandana::python
