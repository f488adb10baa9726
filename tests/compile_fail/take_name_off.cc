// error: is private within this context
#include "bandana/privacy/report.h"

// Nobody may take the client's name off a report, because then it would pass as a mixed one.
void Anonymize(bandana::Report& report) { report.origin_ = {}; }
