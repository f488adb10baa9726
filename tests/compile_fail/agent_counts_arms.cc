// error: is private within this context
#include <vector>

#include "bandana/privacy/access.h"

void CountArm(const bandana::ChosenArm& played, std::vector<int>& pulls) {
  ++pulls[static_cast<std::size_t>(bandana::Access::Arm(played))];
}
