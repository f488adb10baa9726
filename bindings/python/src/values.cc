#include "values.h"

#include <cstdint>
#include <vector>

#include "fmt/format.h"

namespace bandana::python {
namespace {

bool IsWhole(py::handle object) { return PyIndex_Check(object.ptr()) != 0 && !PyBool_Check(object.ptr()); }

std::int64_t Whole(py::handle object) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!index) throw py::error_already_set();
  return py::cast<std::int64_t>(index);
}

double Number(py::handle object) {
  const double number = PyFloat_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

bool IsNumber(py::handle object) {
  return PyFloat_Check(object.ptr()) ||
         (PyNumber_Check(object.ptr()) != 0 && !PyUnicode_Check(object.ptr()) &&
          py::hasattr(object, "__float__") && !py::hasattr(object, "__len__"));
}

}  // namespace

Value ValueFrom(const std::string& key, py::handle object) {
  if (PyBool_Check(object.ptr()) || std::string(Py_TYPE(object.ptr())->tp_name) == "numpy.bool_") {
    return object.cast<bool>();
  }
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (IsWhole(object)) return Whole(object);
  if (IsNumber(object)) return Number(object);
  if (py::hasattr(object, "__iter__")) {
    std::vector<std::int64_t> wholes;
    std::vector<double> numbers;
    bool all_whole = true;
    for (const py::handle each : object) {
      if (!IsWhole(each) && !IsNumber(each)) {
        throw py::type_error(
            fmt::format("{}: a list that has a {}, not only numbers", key, Py_TYPE(each.ptr())->tp_name));
      }
      all_whole = all_whole && IsWhole(each);
      if (all_whole) wholes.push_back(Whole(each));
      numbers.push_back(Number(each));
    }
    if (all_whole && !wholes.empty()) return wholes;
    return numbers;
  }
  throw py::type_error(fmt::format("{}: a {}, not a bool, a number, a text or a list of numbers", key,
                                   Py_TYPE(object.ptr())->tp_name));
}

Values ValuesFrom(const py::dict& entries) {
  Values values;
  for (const auto& [key, value] : entries) {
    const auto name = py::cast<std::string>(key);
    values[name] = ValueFrom(name, value);
  }
  return values;
}

}  // namespace bandana::python
