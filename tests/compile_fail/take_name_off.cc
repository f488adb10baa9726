// error: is private within this context
#include "bandana/privacy/report.h"

// A report with its client's name on is not taken for a mixed one.
void Anonymize(bandana::Report& report) { report.origin_ = {}; }
