// error: use of deleted function
#include "bandana/privacy/local_regression.h"

bandana::LocalCrowd Twice(const bandana::LocalCrowd& crowd) { return crowd; }
