#include "bindings.h"

// The private extension of the package bandana. Each file binds one part; the package gives it Python's
// manners.
PYBIND11_MODULE(_bandana, m) {
  m.doc() = "The C++ part of bandana. Import bandana instead.";
  m.attr("version") = bandana::Version();
  bandana::python::BindLab(m);
  bandana::python::BindPrivacy(m);
  bandana::python::BindLogs(m);
  bandana::python::BindPolicies(m);
  bandana::python::BindPythonParts(m);
  bandana::python::BindPythonAlgorithms(m);
}
