#include "bandana/lab/judge/verdict.h"

namespace bandana::lab {

Json ToJson(const std::vector<Verdict>& verdicts) {
  Json json = Json::array();
  for (const Verdict& verdict : verdicts) {
    json.push_back({{"claim", verdict.claim},
                    {"paper", verdict.paper},
                    {"expected", verdict.expected},
                    {"holds", verdict.holds},
                    {"evidence", verdict.evidence}});
  }
  return json;
}

}  // namespace bandana::lab
