// error: is private within this context
#include "bandana/privacy/grid_mean.h"

class Unproved : public bandana::GridMean {};
Unproved Make() { return Unproved(); }
