#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "bandana/core/ids.h"

/// Arrays of numpy, read where they are. Nothing is converted or copied: an array of another type, order or
/// shape is an exception that says what to do.
namespace bandana::python {

namespace py = pybind11;

/// A dimension that may be anything.
inline constexpr Py_ssize_t kAny = -1;

/// The last shape that was read; only the first `nd` are set.
struct ArrayShape {
  Py_ssize_t sizes[3] = {0, 0, 0};
};

/// Return the data of a C-ordered array of float64 or int64 with this shape, in which kAny matches every
/// size. Null: a Python exception is set, which names `what`. `shape` gets the sizes that the array has.
const double* ReadDoubles(PyObject* object, const char* what, std::initializer_list<Py_ssize_t> wanted,
                          ArrayShape* shape = nullptr);
const std::int64_t* ReadIntegers(PyObject* object, const char* what,
                                 std::initializer_list<Py_ssize_t> wanted);

/// Returns whether all numbers are finite. If not, a ValueError is set, which names `what` and the place.
bool CheckFinite(const double* numbers, std::size_t count, const char* what);

}  // namespace bandana::python
