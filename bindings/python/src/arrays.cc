#include "arrays.h"

#include <bit>

#include "fmt/format.h"

namespace bandana::python {
namespace {

constexpr int kOrdered =
    py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;

std::string ShapeText(const Py_ssize_t* sizes, std::size_t dimensions) {
  std::string text = "(";
  for (std::size_t i = 0; i < dimensions; ++i) {
    text += (i > 0 ? ", " : "") + (sizes[i] == kAny ? std::string("n") : std::to_string(sizes[i]));
  }
  return text + (dimensions == 1 ? ",)" : ")");
}

std::nullptr_t Refuse(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  return nullptr;
}

const void* Read(PyObject* object, const char* what, std::initializer_list<Py_ssize_t> wanted,
                 ArrayShape* shape, bool integers) {
  static const py::detail::npy_api& api = py::detail::npy_api::get();
  const char* type = integers ? "numpy.int64" : "float";
  const std::string convert = fmt::format("numpy.ascontiguousarray({}, dtype={})", what, type);
  if (!api.PyArray_Check_(object)) {
    return Refuse(PyExc_TypeError, fmt::format("{}: a {}, not an array of numpy; make one once with {}", what,
                                               Py_TYPE(object)->tp_name, convert));
  }
  const auto* array = py::detail::array_proxy(object);
  const auto* descriptor = py::detail::array_descriptor_proxy(array->descr);
  const int number = descriptor->type_num;
  const bool right =
      integers ? number == py::detail::npy_api::NPY_LONG_ || number == py::detail::npy_api::NPY_LONGLONG_
               : number == py::detail::npy_api::NPY_DOUBLE_;
  if (!right || descriptor->byteorder == '>') {
    const std::string name = py::str(py::handle(array->descr));
    return Refuse(PyExc_TypeError, fmt::format("{}: an array of {}, not of {}; convert it once with {}", what,
                                               name, integers ? "int64" : "float64", convert));
  }
  const auto dimensions = static_cast<std::size_t>(array->nd);
  bool fits = dimensions == wanted.size();
  for (std::size_t i = 0; fits && i < dimensions; ++i) {
    const Py_ssize_t want = wanted.begin()[i];
    fits = want == kAny || want == array->dimensions[i];
    if (shape != nullptr) shape->sizes[i] = array->dimensions[i];
  }
  if (!fits) {
    return Refuse(PyExc_ValueError, fmt::format("{}: an array of shape {}, not {}", what,
                                                ShapeText(array->dimensions, dimensions),
                                                ShapeText(wanted.begin(), wanted.size())));
  }
  if ((array->flags & kOrdered) != kOrdered) {
    return Refuse(PyExc_ValueError,
                  fmt::format("{}: an array that is not in C order; copy it once with {}", what, convert));
  }
  return array->data;
}

}  // namespace

const double* ReadDoubles(PyObject* object, const char* what, std::initializer_list<Py_ssize_t> wanted,
                          ArrayShape* shape) {
  return static_cast<const double*>(Read(object, what, wanted, shape, false));
}

const std::int64_t* ReadIntegers(PyObject* object, const char* what,
                                 std::initializer_list<Py_ssize_t> wanted) {
  return static_cast<const std::int64_t*>(Read(object, what, wanted, nullptr, true));
}

bool CheckFinite(const double* numbers, std::size_t count, const char* what) {
  constexpr std::uint64_t kExponent = 0x7ff0'0000'0000'0000;
  std::uint64_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bad |= static_cast<std::uint64_t>((std::bit_cast<std::uint64_t>(numbers[i]) & kExponent) == kExponent);
  }
  if (bad == 0) [[likely]]
    return true;
  std::size_t first = 0;
  while ((std::bit_cast<std::uint64_t>(numbers[first]) & kExponent) != kExponent) ++first;
  Refuse(PyExc_ValueError, fmt::format("{}: number {} of it (from 0, in C order) is {}, which is not finite",
                                       what, first, numbers[first]));
  return false;
}

}  // namespace bandana::python
