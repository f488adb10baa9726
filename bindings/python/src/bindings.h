#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/config.h"
#include "bandana/core/value.h"

/// The Python extension. A status becomes an exception here, and nowhere else.
namespace bandana::python {

namespace py = pybind11;

// One function per file of bindings. Each adds its part to the module.
void BindLab(py::module_& m);
void BindPrivacy(py::module_& m);
void BindLogs(py::module_& m);
void BindPolicies(py::module_& m);
void BindPythonParts(py::module_& m);
void BindPythonAlgorithms(py::module_& m);

/// Raises the Python exception that belongs to the status; does nothing if it is OK. The interpreter's lock
/// must be held.
void Raise(const absl::Status& status);

/// Returns the value or raises the status.
template <class T>
T ValueOrRaise(absl::StatusOr<T> value) {
  Raise(value.status());
  return *std::move(value);
}

/// Runs `work` on a thread of its own and waits for its end without the interpreter's lock. While it waits,
/// it often looks for signals and calls `tick`, with the lock. What one of them raises turns `stop` true, and
/// is raised here once `work` has ended. `work` may take the lock.
void RunUntilDone(const std::function<void(const std::atomic<bool>& stop)>& work,
                  const std::function<void()>& tick);

/// Returns the value as Python has it: a bool, an int, a float, a str or a list.
py::object ToPython(const Value& value);

}  // namespace bandana::python
