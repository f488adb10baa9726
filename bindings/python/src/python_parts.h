#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/bandit/world.h"
#include "bandana/core/options.h"

/// Worlds and algorithms that are Python classes, as entries of the registry. C++ calls them with the
/// interpreter's lock. bandana/_python_parts.py has the other side: it makes the objects, and checks what
/// they return.
namespace bandana::python {

namespace py = pybind11;

/// A Python object that any thread may let go.
using Shared = std::shared_ptr<py::object>;
Shared Share(py::object object);

/// Keeps the exception that Python has just raised, and returns a status with its text. The lock must be
/// held.
absl::Status KeepFailure(py::error_already_set& error);

/// Returns the status of the exception that was kept, if there is one.
absl::Status PythonFailure();

/// Raises the exception that was kept, if there is one, and forgets it. The lock must be held.
void RaiseFailure();

/// Returns options of table `table` from the cards of a class's fields. Their parameters are a Values in the
/// std::any.
std::vector<Option> OptionsFrom(const std::string& table, const py::list& cards, Values& defaults);

/// Returns the facts of a dict.
Facts FactsFrom(const py::dict& given);

/// Adds an entry, or takes the place of the Python entry of the same name.
void AddPythonWorld(const std::string& name, int time, const std::string& sentence, const py::list& options,
                    py::object make);
/// `like` is a family that ships, which has the same options of privacy.
void AddPythonFamily(const std::string& name, int time, const std::string& like, const std::string& sentence,
                     const py::list& options, py::object make);

}  // namespace bandana::python
