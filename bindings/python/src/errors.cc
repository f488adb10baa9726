#include <optional>
#include <string>

#include "bandana/core/status.h"
#include "bindings.h"

namespace bandana::python {
namespace {

py::object TextOrNone(const std::string& text) {
  return text.empty() ? py::object(py::none()) : py::object(py::str(text));
}

// The exceptions are Python classes, in bandana/errors.py.
py::object ClassOf(const absl::Status& status) {
  const py::module_ errors = py::module_::import("bandana.errors");
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return errors.attr("SpecError");
    case absl::StatusCode::kResourceExhausted:
      return errors.attr("BudgetError");
    case absl::StatusCode::kDataLoss:
      return errors.attr("DataError");
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
      return errors.attr("OutsideError");
    case absl::StatusCode::kCancelled:
      return py::reinterpret_borrow<py::object>(PyExc_KeyboardInterrupt);
    default:
      return errors.attr("Error");
  }
}

}  // namespace

void Raise(const absl::Status& status) {
  if (status.ok()) return;
  const std::string message(status.message());
  const py::object type = ClassOf(status);
  py::object error = type(message);
  if (const auto input = InputErrorOf(status); input.has_value() && py::hasattr(error, "accepted")) {
    error.attr("file") = TextOrNone(input->file);
    error.attr("line") = input->line > 0 ? py::object(py::int_(input->line)) : py::object(py::none());
    error.attr("key") = TextOrNone(input->key);
    error.attr("value") = TextOrNone(input->value);
    error.attr("accepted") = TextOrNone(input->accepted);
  }
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

}  // namespace bandana::python
