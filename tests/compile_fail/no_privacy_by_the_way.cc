// error: no matching function for call to
#include "bandana/privacy/mean_privatizers.h"

bandana::NoPrivacyMean Make() { return bandana::NoPrivacyMean(); }
