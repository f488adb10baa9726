#include <cmath>
#include <string>
#include <string_view>

#include "bandana/bandit/auto_lending.h"
#include "bandana/bandit/context_law.h"
#include "bandana/bandit/linear_problem.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/core/status.h"
#include "bandana/federation/graph.h"
#include "bandana/federation/policy_file.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz.h"

// Files of data that a spec names: actions, contexts, logged rounds, loans, graphs; and saved policies. The
// first byte says which it is. What is read is finite and in its range.
namespace bandana::fuzz {
namespace {

template <class T>
bool Refused(const absl::StatusOr<T>& result) {
  if (result.ok()) return false;
  BANDANA_CHECK(InputErrorOf(result.status()).has_value());
  return true;
}

void Run(std::string_view bytes) {
  static const Folder& folder = *new Folder();
  const std::string path = folder / "file";
  Input input(bytes);
  const int which = input.Byte() % 7;
  Write(path, input.Rest());
  switch (which) {
    case 0:
      if (const auto actions = ReadActions(path); !Refused(actions)) {
        BANDANA_CHECK(actions->allFinite() && actions->rows() >= 1);
      }
      break;
    case 1:
      if (const auto contexts = ReadContexts(path, 2, 2); !Refused(contexts))
        BANDANA_CHECK(*contexts != nullptr);
      break;
    case 2:
    case 3: {
      const LoggedDataOptions options{
          .num_actions = which == 2 ? 3 : 0, .action_context = which == 2 ? "" : path, .ignored = {"index"}};
      if (const auto data = ReadLoggedData(path, options); !Refused(data)) {
        BANDANA_CHECK(data->smallest_pscore() > 0 && std::isfinite(data->reward(0)));
      }
      break;
    }
    case 4:
      if (const auto loans = ReadAutoLending(path); !Refused(loans)) {
        for (const Loan& loan : *loans)
          BANDANA_CHECK(std::isfinite(loan.amount) && std::isfinite(PriceOf(loan)));
      }
      break;
    case 5:
      if (const auto graph = ReadGraph(path, 6); !Refused(graph)) BANDANA_CHECK(graph->nodes() == 6);
      break;
    default: {
      const PolicyIdentity identity{"lin-ucb", "agent 1", {{"horizon", "10"}}};
      if (const auto policy = ReadPolicy(path, identity); policy.ok()) {
        const std::string again = folder / "again";
        BANDANA_CHECK(WritePolicy(again, identity, *policy).ok() && Contents(again) == bytes.substr(1));
      }
    }
  }
}

}  // namespace

Target MakeTarget() {
  const Folder folder;
  const std::string policy = folder / "policy";
  BANDANA_CHECK(WritePolicy(policy, {"lin-ucb", "agent 1", {{"horizon", "10"}}}, "state").ok());
  const std::string rounds =
      "context_0,context_1,action,reward,pscore,position\n0.5,0.25,0,1,0.5,0\n0,1,2,0,1,0\n";
  return {.seeds = {{"actions", std::string("\0", 1) + "# actions\n0.5, 0.25\r\n\"0\",-1e-3\n"},
                    {"contexts",
                     "\1"
                     "0.5,0,0,0.5\n0.1,0.2,0.3,0.4\n"},
                    {"rounds", "\2" + rounds},
                    {"rounds-and-actions",
                     "\3"
                     "action,x0,action_context_0\n0,1,2\n1,2,3\n"},
                    {"loans",
                     "\4"
                     "Primary_FICO,onemonth,Term,Amount_Approved,Competition_rate,CarType,mp,apply\n"
                     "700,0.1,60,20000,5.5,N,380,1\n"},
                    {"graph",
                     "\5"
                     "1 2\n2 3 # a remark\n\n5 6\n"},
                    {"policy", "\6" + Contents(policy)}},
          .run = Run,
          .words = {",", "\"", "\"\"", "\n", "\r\n", "#", "nan", "inf", "1e308", "-1", "\xef\xbb\xbf", " ",
                    "4294967296", "9223372036854775808", "pscore", "position"},
          .mutations = 5000};
}

}  // namespace bandana::fuzz
