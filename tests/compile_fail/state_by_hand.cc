// error: is private within this context
#include "bandana/privacy/report.h"

struct Eye {
  template <class... Values>
  void operator()(Values&...) {}
  void Check(bool, const char*) {}
};

void Peek(bandana::Report& report, Eye& eye) { report.State(eye); }
