// error: is private within this context
#include "bandana/privacy/access.h"
#include "bandana/privacy/local_record.h"

double Report(const bandana::Raw<bandana::LocalRecord>& record) {
  return bandana::Access::Open(record).reward;
}
