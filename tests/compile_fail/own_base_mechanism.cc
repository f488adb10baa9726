// error: is private within this context
#include "bandana/privacy/mechanism.h"

class Unproved : public bandana::Mechanism {};
Unproved Make() { return Unproved(); }
