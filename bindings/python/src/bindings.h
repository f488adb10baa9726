#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/config.h"

/// The Python extension. A status becomes an exception here, and nowhere else.
namespace bandana::python {

namespace py = pybind11;

// One function per file of bindings. Each adds its part to the module.

/// Raises the Python exception that belongs to the status; does nothing if it is OK. The interpreter's lock
/// must be held.
void Raise(const absl::Status& status);

/// Returns the value or raises the status.
template <class T>
T ValueOrRaise(absl::StatusOr<T> value) {
  Raise(value.status());
  return *std::move(value);
}

}  // namespace bandana::python
