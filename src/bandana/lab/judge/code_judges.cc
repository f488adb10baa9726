#include "bandana/lab/judge/code_judges.h"

namespace bandana::lab {

const std::map<std::string, CodeJudge>& CodeJudges() {
  static const auto& judges = *new std::map<std::string, CodeJudge>{{"default-is-best", DefaultIsBest},
                                                                    {"links-by-laplacian", LinksByLaplacian},
                                                                    {"links-by-walk", LinksByWalk},
                                                                    {"number-is-best", NumberIsBest},
                                                                    {"times-hide", TimesHide}};
  return judges;
}

}  // namespace bandana::lab
