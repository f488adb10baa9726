// error: no matching function for call to
#include "bandana/privacy/mean_privatizers.h"

bandana::LocalGaussianMean Make() { return bandana::LocalGaussianMean(); }
