#include "bandana/lab/judge/claim_reader.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/lab/judge/code_judges.h"
#include "bandana/lab/judge/series_reader.h"
#include "fmt/format.h"
#include "toml++/toml.h"

namespace bandana::lab {
namespace {

// Returns the names in braces.
std::set<std::string> NamesInBraces(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t begin = text.find('{'); begin != std::string::npos; begin = text.find('{', begin + 1)) {
    const std::size_t end = text.find('}', begin);
    if (end != std::string::npos) names.insert(text.substr(begin + 1, end - begin - 1));
  }
  return names;
}

constexpr char kVersions[] = "printed, ours";

class ClaimReader : private SeriesReader {
 public:
  using SeriesReader::SeriesReader;

  absl::StatusOr<ExhibitClaims> Read(const toml::table& table) {
    if (const toml::node* where = table.get("where")) BANDANA_RETURN_IF_ERROR(ReadWhere(*where));
    ExhibitClaims exhibit;
    const auto read = [&](const char* name, const auto& one) -> absl::Status {
      SetTable(name);
      const toml::node* node = table.get(name);
      if (node == nullptr) return absl::OkStatus();
      const std::string accepted = fmt::format("[[{}]] tables", name);
      const toml::array* array = node->as_array();
      if (array == nullptr) return Bad(name, *node, accepted);
      for (const toml::node& element : *array) {
        const toml::table* each = element.as_table();
        if (each == nullptr) return Bad(name, element, accepted);
        BANDANA_RETURN_IF_ERROR(one(*each));
      }
      return absl::OkStatus();
    };
    BANDANA_RETURN_IF_ERROR(
        read("claim", [&](const toml::table& each) { return ReadClaim(each, exhibit.claims); }));
    BANDANA_RETURN_IF_ERROR(
        read("bound", [&](const toml::table& each) { return ReadBound(each, exhibit.bounds); }));
    BANDANA_RETURN_IF_ERROR(read("not-runnable", [&](const toml::table& each) {
      return ReadNotRunnable(each, exhibit.not_runnable);
    }));
    if (const toml::node* node = table.get("stand_in")) {
      const auto* text = node->as_string();
      if (text == nullptr || text->get().empty()) {
        return Bad("stand_in", *node, "a sentence that says what stands in for which data");
      }
      exhibit.stand_in = text->get();
    }
    return exhibit;
  }

 private:
  // Reads the series or formula of `of`, `than` or `above`, if there is one.
  absl::Status ReadOperand(const toml::table& table, const std::string& key, const PaperClaim& claim,
                           std::optional<Operand>& operand) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return absl::OkStatus();
    const std::string name = "claim." + key;
    if (node->is_table()) {
      BANDANA_ASSIGN_OR_RETURN(Series series, ReadSeries(name, *node));
      operand = Operand(std::move(series));
      return absl::OkStatus();
    }
    BANDANA_ASSIGN_OR_RETURN(Formula formula, ReadOfNames(name, *node, claim.let));
    if (formula.calls_series()) return Bad(name, *node, "a series, a number, or a formula of series");
    operand = Operand(std::move(formula));
    return absl::OkStatus();
  }

  absl::Status ReadClaim(const toml::table& table, std::vector<PaperClaim>& claims) {
    BANDANA_ASSIGN_OR_RETURN(const std::size_t kind, ReadChoice(table, "is", ClaimKindNames(), true));
    PaperClaim claim;
    claim.line = LineOf(table);
    claim.is = static_cast<ClaimKind>(kind);
    std::vector<std::string> known = CommonClaimKeys();
    known.insert(known.end(), ClaimKeysOf(claim.is).begin(), ClaimKeysOf(claim.is).end());
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (!MayHave(known, name)) {
        return Unknown("claim." + name, node, known,
                       fmt::format("unknown key of a claim with is = \"{}\"", ClaimKindNames()[kind]));
      }
    }
    std::vector<Variation> variations;
    if (const toml::node* node = table.get("for")) {
      BANDANA_RETURN_IF_ERROR(ReadVariations("claim.for", *node, false, variations));
    }
    if (const toml::node* node = table.get("each")) {
      BANDANA_RETURN_IF_ERROR(ReadVariations("claim.each", *node, true, claim.each));
    }
    Remember(variations, claim.each);
    BANDANA_RETURN_IF_ERROR(ReadWords(table, claim));
    BANDANA_RETURN_IF_ERROR(ReadAllSeries(table, claim));
    BANDANA_RETURN_IF_ERROR(ReadNumbers(table, claim));
    BANDANA_RETURN_IF_ERROR(CheckWhole(table, claim));
    claim.where = where();
    for (const Bindings& bindings : Combinations(variations)) {
      claims.push_back(claim);
      PaperClaim& made = claims.back();
      made.bindings = bindings;
      made.says = Filled(claim.says, bindings);
      made.paper = Filled(claim.paper, bindings);
      BANDANA_RETURN_IF_ERROR(ReadVersion(table, bindings, made));
      BANDANA_RETURN_IF_ERROR(ReadExpected(table, bindings, made));
      const auto same = [&](const PaperClaim& other) {
        return &other != &made && other.says == made.says && other.version == made.version;
      };
      if (std::any_of(claims.begin(), claims.end(), same)) {
        return Bad("claim.says", *table.get("says"), "a sentence that no other claim of the same version has",
                   "two claims say the same");
      }
      const std::set<std::string> unbound = NamesInBraces(made.says);
      if (!unbound.empty()) {
        return Bad("claim.says", *table.get("says"),
                   fmt::format("names that for gives, and not {{{}}}", *unbound.begin()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadWords(const toml::table& table, PaperClaim& claim) const {
    BANDANA_ASSIGN_OR_RETURN(claim.says, ReadText(table, "says", "a sentence", true));
    BANDANA_ASSIGN_OR_RETURN(claim.paper,
                             ReadText(table, "paper", "where the paper says so, such as p1 Fig. 2(a)", true));
    BANDANA_ASSIGN_OR_RETURN(claim.negated, ReadFlag(table, "not", false));
    BANDANA_ASSIGN_OR_RETURN(claim.reason, ReadText(table, "reason", "a sentence"));
    const char* paper = "paper: the one scale that a claim can ask for";
    BANDANA_ASSIGN_OR_RETURN(const std::string scale, ReadText(table, "scale", paper));
    if (!scale.empty() && scale != "paper") return Bad("claim.scale", *table.get("scale"), paper);
    claim.at_paper_scale = scale == "paper";
    return absl::OkStatus();
  }

  // Reads whose algorithm the claim is about. The text may be a name that `for` binds.
  absl::Status ReadVersion(const toml::table& table, const Bindings& bindings, PaperClaim& claim) const {
    BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadText(table, "version", kVersions));
    const std::string name = Filled(text, bindings);
    for (const Version version : {Version::kNone, Version::kPrinted, Version::kOurs}) {
      if (NameOf(version) != name) continue;
      claim.version = version;
      return absl::OkStatus();
    }
    return Bad("claim.version", *table.get("version"), kVersions);
  }

  // Reads whether the claim is expected to hold, and if not, why. The flag may be a name that `for` binds.
  absl::Status ReadExpected(const toml::table& table, const Bindings& bindings, PaperClaim& claim) const {
    const toml::node* node = table.get("expected");
    const auto* text = node == nullptr ? nullptr : node->as_string();
    if (text == nullptr) {
      BANDANA_ASSIGN_OR_RETURN(claim.expected, ReadFlag(table, "expected", true));
    } else {
      const Json* bound = BoundWhole(text->get(), bindings);
      if (bound == nullptr || !bound->is_boolean()) {
        return Bad("claim.expected", *node,
                   "true, false, or a name in braces that for gives as one of these");
      }
      claim.expected = bound->get<bool>();
    }
    if (!claim.expected && claim.reason.empty()) {
      return Missing("claim.reason", table, "a sentence that says why it is not expected to hold");
    }
    if (claim.expected && text == nullptr && !claim.reason.empty()) {
      return Bad("claim.reason", *table.get("reason"), "no reason, or expected = false");
    }
    claim.reason = claim.expected ? "" : Filled(claim.reason, bindings);
    return absl::OkStatus();
  }

  absl::Status ReadBound(const toml::table& table, std::vector<Bound>& bounds) {
    static const auto& known = *new std::vector<std::string>{"says", "paper", "for", "of", "value", "rate"};
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (!MayHave(known, name)) return Unknown("bound." + name, node, known);
    }
    std::vector<Variation> variations;
    if (const toml::node* node = table.get("for")) {
      BANDANA_RETURN_IF_ERROR(ReadVariations("bound.for", *node, false, variations));
    }
    Remember(variations, {});
    Bound bound;
    bound.claim.line = LineOf(table);
    bound.claim.where = where();
    BANDANA_ASSIGN_OR_RETURN(bound.claim.says, ReadText(table, "says", "a sentence", true));
    BANDANA_ASSIGN_OR_RETURN(
        bound.claim.paper, ReadText(table, "paper", "where the paper says so, such as p1 Theorem 5.1", true));
    BANDANA_ASSIGN_OR_RETURN(bound.rate, ReadFlag(table, "rate", false));
    const toml::node* of = table.get("of");
    if (of == nullptr) return Missing("bound.of", table, "a series with along");
    BANDANA_ASSIGN_OR_RETURN(const Series series, ReadSeries("bound.of", *of));
    if (series.along.empty()) return Missing("bound.of.along", *of, "a key, a formula of keys, or t");
    const toml::node* value = table.get("value");
    if (value == nullptr) return Missing("bound.value", table, "a formula of keys in braces");
    bound.claim.of = Operand(series);
    bound.line = series;
    BANDANA_ASSIGN_OR_RETURN(bound.line.metric, ReadScalar("bound.value", *value));
    for (const Bindings& bindings : Combinations(variations)) {
      bounds.push_back(bound);
      PaperClaim& made = bounds.back().claim;
      made.bindings = bindings;
      made.says = Filled(bound.claim.says, bindings);
      made.paper = Filled(bound.claim.paper, bindings);
    }
    return absl::OkStatus();
  }

  absl::Status ReadNotRunnable(const toml::table& table, std::vector<NotRunnable>& all) const {
    static const auto& known = *new std::vector<std::string>{"what", "paper", "reason"};
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (!MayHave(known, name)) return Unknown("not-runnable." + name, node, known);
    }
    NotRunnable one;
    BANDANA_ASSIGN_OR_RETURN(one.what, ReadText(table, "what", "a sentence", true));
    BANDANA_ASSIGN_OR_RETURN(one.paper, ReadText(table, "paper", "where the paper has it", true));
    BANDANA_ASSIGN_OR_RETURN(one.reason, ReadText(table, "reason", "a sentence that says why", true));
    all.push_back(std::move(one));
    return absl::OkStatus();
  }

  absl::Status ReadAllSeries(const toml::table& table, PaperClaim& claim) const {
    if (const toml::node* node = table.get("let")) {
      const toml::table* names = node->as_table();
      if (names == nullptr) return Bad("claim.let", *node, "a table of series by name");
      for (const auto& [key, child] : *names) {
        const std::string name(key.str());
        BANDANA_ASSIGN_OR_RETURN(Series series, ReadSeries("claim.let." + name, child));
        claim.let.emplace(name, std::move(series));
      }
    }
    BANDANA_RETURN_IF_ERROR(ReadOperand(table, "of", claim, claim.of));
    BANDANA_RETURN_IF_ERROR(ReadOperand(table, "than", claim, claim.than));
    return ReadOperand(table, "above", claim, claim.above);
  }

  absl::Status ReadNumbers(const toml::table& table, PaperClaim& claim) const {
    if (const toml::node* node = table.get("factor")) {
      BANDANA_ASSIGN_OR_RETURN(claim.factor, ReadScalar("claim.factor", *node));
    }
    if (const toml::node* node = table.get("at_most")) {
      BANDANA_ASSIGN_OR_RETURN(claim.at_most, ReadScalar("claim.at_most", *node));
    }
    if (const toml::node* node = table.get("like")) {
      BANDANA_ASSIGN_OR_RETURN(claim.like, ReadScalar("claim.like", *node));
    }
    if (const toml::node* node = table.get("value")) {
      BANDANA_ASSIGN_OR_RETURN(claim.value, ReadScalar("claim.value", *node));
    }
    if (const toml::node* node = table.get("digit")) {
      BANDANA_ASSIGN_OR_RETURN(claim.digit, ReadScalar("claim.digit", *node));
    }
    if (table.contains("tolerance")) {
      BANDANA_ASSIGN_OR_RETURN(claim.tolerance, ReadNumber(table, "tolerance", 0, HUGE_VAL, "a number >= 0"));
    }
    if (table.contains("share")) {
      BANDANA_ASSIGN_OR_RETURN(claim.share, ReadNumber(table, "share", 0, 1, "a number from 0 to 1"));
    }
    BANDANA_ASSIGN_OR_RETURN(const std::size_t by, ReadChoice(table, "by", {"mean", "median", "replicate"}));
    claim.by = static_cast<By>(by);
    BANDANA_ASSIGN_OR_RETURN(const std::size_t place,
                             ReadChoice(table, "place", {"every", "some", "first", "last"}));
    claim.place = static_cast<Places>(place);
    if (const toml::node* node = table.get("that")) {
      const toml::array* list = node->as_array();
      for (std::size_t i = 0; i < (list == nullptr ? 1 : list->size()); ++i) {
        BANDANA_ASSIGN_OR_RETURN(
            Formula formula, ReadOfNames("claim.that", list == nullptr ? *node : *list->get(i), claim.let));
        claim.that.push_back(std::move(formula));
      }
    }
    std::vector<std::string> judges;
    for (const auto& [name, judge] : CodeJudges()) judges.push_back(name);
    BANDANA_ASSIGN_OR_RETURN(const std::size_t judge,
                             ReadChoice(table, "judge", judges, claim.is == ClaimKind::kCode));
    claim.judge = judges[judge];
    return absl::OkStatus();
  }

  // Checks that the claim has all parts that its kind needs, and that they fit together.
  absl::Status CheckWhole(const toml::table& table, const PaperClaim& claim) const {
    const std::vector<std::string>& keys = ClaimKeysOf(claim.is);
    if (MayHave(keys, "of") && !claim.of.has_value()) return Missing("claim.of", table, "a series");
    if (MayHave(keys, "than") && claim.is != ClaimKind::kCode && !claim.than.has_value()) {
      return Missing("claim.than", table, "a series, a number, or a formula");
    }
    const bool trend = claim.is == ClaimKind::kFalls || claim.is == ClaimKind::kRises;
    const bool growth = claim.is == ClaimKind::kGrows;
    if (claim.of.has_value()) BANDANA_RETURN_IF_ERROR(CheckAlongOf(*table.get("of"), claim, trend, growth));
    for (const auto& [key, operand] : {std::pair{"than", &claim.than}, std::pair{"above", &claim.above}}) {
      const auto* series = operand->has_value() ? std::get_if<Series>(&**operand) : nullptr;
      if (series == nullptr || series->along != "t") continue;
      return Bad(fmt::format("claim.{}", key), *table.get(key), "a key; a series along t has no replicates");
    }
    if (claim.is == ClaimKind::kPrints && !claim.value.has_value()) {
      return Missing("claim.value", table, "the number that the paper prints");
    }
    if (claim.is == ClaimKind::kPrints && table.contains("factor") == claim.digit.has_value()) {
      return Missing("claim.factor", table,
                     "a number > 1, by which factor ours may differ; or digit, a unit of the last printed "
                     "digit, and not "
                     "both");
    }
    if (growth && claim.at_most.has_value() == claim.like.has_value()) {
      return Missing("claim.at_most", table, "an exponent as at_most, or as like, and not both");
    }
    if (claim.like.has_value() && !(claim.tolerance > 0)) {
      return Missing("claim.tolerance", table, "a number > 0: how far the exponent may be from like");
    }
    if (claim.is == ClaimKind::kInequality && claim.that.empty()) {
      return Missing("claim.that", table, "an inequality of the series that let names, or a list of them");
    }
    if (claim.by == By::kMedian && (claim.is == ClaimKind::kNotAbove || claim.is == ClaimKind::kNotBelow)) {
      return Bad("claim.by", *table.get("by"), "mean, replicate");
    }
    if (claim.share.has_value() && claim.by == By::kMean) {
      return Bad("claim.share", *table.get("share"),
                 "a share of replicates only with by = median or replicate");
    }
    return absl::OkStatus();
  }

  absl::Status CheckAlongOf(const toml::node& node, const PaperClaim& claim, bool trend, bool growth) const {
    const auto* series = std::get_if<Series>(&*claim.of);
    const bool wants_series = claim.is == ClaimKind::kDelivers || claim.is == ClaimKind::kCode;
    if (series == nullptr) {
      return wants_series ? Bad("claim.of", node, "a series") : absl::OkStatus();
    }
    if ((trend || growth) && series->along.empty()) {
      return Missing("claim.of.along", node,
                     growth ? "a key, a formula of keys, or t" : "a key, or a formula of keys");
    }
    if (!growth && series->along == "t") {
      return Bad("claim.of", node,
                 "a key; a series along t has no replicates: use it in let, or with is = \"grows\"");
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<ExhibitClaims> ReadClaims(const std::string& text, const std::string& file) {
  toml::table table;
  try {
    table = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return InvalidInput({.message = fmt::format("not TOML: {}", std::string(error.description())),
                         .file = file,
                         .line = static_cast<int>(error.source().begin.line),
                         .accepted = "TOML 1.0"});
  }
  return ClaimReader(file).Read(table);
}

}  // namespace bandana::lab
