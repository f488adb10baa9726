#include <cmath>
#include <string>
#include <string_view>

#include "bandana/core/status.h"
#include "bandana/lab/exhibit.h"
#include "bandana/lab/judge/claim_reader.h"
#include "bandana/lab/judge/formula.h"
#include "tests/fuzz/fuzz.h"

// The claims of exhibits, and the formulas in them. A formula that was read is the same when its text is read
// again, and can be evaluated.
namespace bandana::fuzz {
namespace {

void CheckFormula(const std::string& text) {
  const auto formula = lab::Formula::Parse(text);
  if (!formula.ok()) {
    BANDANA_CHECK(absl::IsInvalidArgument(formula.status()));
    return;
  }
  const lab::Formula::Scope scope{.name = [](const std::string& name) -> absl::StatusOr<double> {
                                    return static_cast<double>(name.size());
                                  },
                                  .key = [](const std::string&) -> absl::StatusOr<double> { return 0.5; },
                                  .of_series = [](const std::string&, const std::string&,
                                                  double x) -> absl::StatusOr<double> { return x; }};
  (void)formula->Explain(scope);
  (void)formula->Gaps(scope);
  const auto value = formula->Evaluate(scope);
  const auto again = lab::Formula::Parse(formula->text());
  BANDANA_CHECK(again.ok() && again->names() == formula->names() && again->keys() == formula->keys());
  const auto same = again->Evaluate(scope);
  BANDANA_CHECK(same.ok() == value.ok());
  if (value.ok()) BANDANA_CHECK(*same == *value || (std::isnan(*same) && std::isnan(*value)));
}

void Run(std::string_view input) {
  const std::string text(input);
  CheckFormula(text);
  const auto claims = lab::ReadClaims(text, "x.toml");
  if (claims.ok()) return;
  BANDANA_CHECK(absl::IsInvalidArgument(claims.status()) && InputErrorOf(claims.status()).has_value());
}

}  // namespace

Target MakeTarget() {
  Target target{.run = Run,
                .words = {"[[claim]]\n", "[[bound]]\n", "[[not-runnable]]\n", "[where]\n",
                          "stand_in = ", "is = \"", "for = ", "version = \"", "at(a, 0.9)", "slope(",
                          "{algorithm.alpha}", "min(", ")", "^", "<", "-", "1e308", "log(", "/ 0"},
                .mutations = 3000,
                .allocation = std::size_t{1} << 20};
  for (const char* formula : {"1 - {algorithm.alpha}", "links_peer / rounds", "1 < 2 <= max(3, x) ^ 2",
                              "at(a, 0.9) - -slope(b) + sqrt(abs(-4))"}) {
    target.seeds.push_back({"formula-" + std::to_string(target.seeds.size()), formula});
  }
  target.seeds.push_back({"deep-formula", std::string(20'000, '(')});
  target.seeds.push_back({"deep-negation", std::string(20'000, '-') + "1"});
  target.seeds.push_back({"deep-power", "2" + [] {
                            std::string text;
                            for (int i = 0; i < 10'000; ++i) text += "^2";
                            return text;
                          }()});
  for (const lab::Exhibit& exhibit : lab::Exhibits()) {
    if (exhibit.text.size() < 4000) target.seeds.push_back({exhibit.name, exhibit.text});
  }
  return target;
}

}  // namespace bandana::fuzz
