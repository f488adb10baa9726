// error: is private within this context
#include "bandana/privacy/chosen_arm.h"

double Remember(const bandana::ChosenArm& played) { return played.x_[0]; }
