#include "bandana/lab/judge/claim_reader.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "bandana/lab/judge/code_judges.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "toml++/toml.h"

namespace bandana::lab {
namespace {

bool MayHave(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::optional<Json> JsonOf(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  if (const auto* integer = node.as_integer()) return Json(integer->get());
  if (const auto* number = node.as_floating_point()) return Json(number->get());
  if (const auto* text = node.as_string()) return Json(text->get());
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  Json list = Json::array();
  for (const toml::node& element : *array) {
    std::optional<Json> value = JsonOf(element);
    if (!value.has_value()) return std::nullopt;
    list.push_back(*std::move(value));
  }
  return list;
}

// Returns all combinations of rows. The first variation is the outermost one.
std::vector<Bindings> Combinations(const std::vector<Variation>& variations) {
  std::vector<Bindings> all = {{}};
  for (const Variation& variation : variations) {
    if (variation.rows.empty()) continue;
    std::vector<Bindings> next;
    for (const Bindings& before : all) {
      for (const Bindings& row : variation.rows) {
        next.push_back(before);
        for (const auto& [name, value] : row) next.back()[name] = value;
      }
    }
    all.swap(next);
  }
  return all;
}

// Returns the names in braces.
std::set<std::string> NamesInBraces(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t begin = text.find('{'); begin != std::string::npos; begin = text.find('{', begin + 1)) {
    const std::size_t end = text.find('}', begin);
    if (end != std::string::npos) names.insert(text.substr(begin + 1, end - begin - 1));
  }
  return names;
}

class ClaimReader {
 public:
  explicit ClaimReader(std::string file) : file_(std::move(file)) {
    keys_ = KnownKeys();
    for (const char* fact : {"nodes", "edges", "diameter", "cliques"}) {
      keys_.push_back(std::string("graph.") + fact);
    }
  }

  absl::StatusOr<std::vector<PaperClaim>> Read(const toml::table& table) {
    if (const toml::node* where = table.get("where")) BANDANA_RETURN_IF_ERROR(ReadWhere(*where));
    std::vector<PaperClaim> claims;
    const toml::node* node = table.get("claim");
    if (node == nullptr) return claims;
    const toml::array* array = node->as_array();
    if (array == nullptr) return Bad("claim", *node, "[[claim]] tables");
    for (const toml::node& element : *array) {
      const toml::table* each = element.as_table();
      if (each == nullptr) return Bad("claim", element, "[[claim]] tables");
      BANDANA_RETURN_IF_ERROR(ReadClaim(*each, claims));
    }
    return claims;
  }

 private:
  static int LineOf(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

  static std::string InWords(const toml::node& node) {
    std::ostringstream text;
    node.visit([&](const auto& typed) { text << typed; });
    std::string words = text.str();
    constexpr std::size_t kMost = 100;
    if (words.size() > kMost) words = words.substr(0, kMost) + " ...";
    std::replace(words.begin(), words.end(), '\n', ' ');
    return words;
  }

  absl::Status Bad(const std::string& key, const toml::node& node, const std::string& accepted,
                   const std::string& message = "not accepted") const {
    return InvalidInput({.message = message,
                         .file = file_,
                         .line = LineOf(node),
                         .key = key,
                         .value = InWords(node),
                         .accepted = accepted});
  }

  absl::Status Missing(const std::string& key, const toml::node& in, const std::string& accepted) const {
    return InvalidInput(
        {.message = "missing", .file = file_, .line = LineOf(in), .key = key, .accepted = accepted});
  }

  absl::Status Unknown(const std::string& key, const toml::node& node, const std::vector<std::string>& known,
                       const std::string& message = "unknown key") const {
    return InvalidInput({.message = message,
                         .file = file_,
                         .line = LineOf(node),
                         .key = key,
                         .accepted = fmt::format("{}", fmt::join(known, ", "))});
  }

  absl::Status UnknownSpecKey(const std::string& within, const std::string& key,
                              const toml::node& node) const {
    return InvalidInput({.message = "unknown key",
                         .file = file_,
                         .line = LineOf(node),
                         .key = within,
                         .value = key,
                         .accepted = "nearest known key: " + Nearest(key, keys_)});
  }

  bool IsKnown(const std::string& key) const { return MayHave(keys_, key); }

  absl::StatusOr<Where> ReadKeys(const std::string& within, const toml::table& table) const {
    Where where;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (!IsKnown(name)) return UnknownSpecKey(within, name, node);
      std::optional<Json> value = JsonOf(node);
      if (!value.has_value())
        return Bad(within + "." + name, node, "a value of the key, largest or smallest");
      where[name] = *std::move(value);
    }
    return where;
  }

  absl::Status ReadWhere(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Bad("where", node, "a table of names");
    auto names = std::make_shared<std::map<std::string, Where>>();
    for (const auto& [key, child] : *table) {
      const std::string name(key.str());
      const toml::table* keys = child.as_table();
      if (keys == nullptr) return Bad("where." + name, child, "a table of keys of the spec");
      BANDANA_ASSIGN_OR_RETURN((*names)[name], ReadKeys("where." + name, *keys));
    }
    where_ = std::move(names);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> ReadText(const toml::table& table, const std::string& key, const char* accepted,
                                       bool required = false) const {
    const toml::node* node = table.get(key);
    if (node == nullptr && required) return Missing("claim." + key, table, accepted);
    if (node == nullptr) return std::string();
    const auto* text = node->as_string();
    if (text == nullptr || text->get().empty()) return Bad("claim." + key, *node, accepted);
    return text->get();
  }

  absl::StatusOr<bool> ReadFlag(const toml::table& table, const std::string& key, bool fallback) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return fallback;
    const auto* flag = node->as_boolean();
    if (flag == nullptr) return Bad("claim." + key, *node, "true, false");
    return flag->get();
  }

  absl::StatusOr<std::size_t> ReadChoice(const toml::table& table, const std::string& key,
                                         const std::vector<std::string>& names, bool required = false) const {
    const std::string accepted = fmt::format("{}", fmt::join(names, ", "));
    const toml::node* node = table.get(key);
    if (node == nullptr && required) return Missing("claim." + key, table, accepted);
    if (node == nullptr) return std::size_t{0};
    const auto* text = node->as_string();
    const auto it = text == nullptr ? names.end() : std::find(names.begin(), names.end(), text->get());
    if (it == names.end()) return Bad("claim." + key, *node, accepted);
    return static_cast<std::size_t>(it - names.begin());
  }

  // Reads a number between bounds.
  absl::StatusOr<double> ReadNumber(const toml::table& table, const std::string& key, double least,
                                    double most, const char* accepted) const {
    const toml::node* node = table.get(key);
    const std::optional<double> number = node->value<double>();
    if (!number.has_value() || !(*number >= least && *number <= most))
      return Bad("claim." + key, *node, accepted);
    return *number;
  }

  absl::StatusOr<Formula> ReadFormula(const std::string& key, const toml::node& node) const {
    if (node.is_number()) {
      const double number = *node.value<double>();
      if (!std::isfinite(number)) return Bad(key, node, "a finite number, or a formula");
      return Formula(number);
    }
    const auto* text = node.as_string();
    if (text == nullptr) return Bad(key, node, "a number, or a formula");
    absl::StatusOr<Formula> formula = Formula::Parse(text->get());
    if (!formula.ok()) {
      InputError error = *InputErrorOf(formula.status());
      error.file = file_;
      error.line = LineOf(node);
      error.key = key;
      return InvalidInput(error);
    }
    for (const std::string& name : formula->keys()) {
      if (!bound_.contains(name) && !IsKnown(name)) return UnknownSpecKey(key, name, node);
    }
    return formula;
  }

  // Reads a formula without names, for a number.
  absl::StatusOr<Formula> ReadScalar(const std::string& key, const toml::node& node) const {
    BANDANA_ASSIGN_OR_RETURN(Formula formula, ReadFormula(key, node));
    if (!formula.names().empty()) {
      return Bad(key, node, "a number, or a formula of numbers and keys in braces");
    }
    return formula;
  }

  // Reads a formula of the names in `let`.
  absl::StatusOr<Formula> ReadOfNames(const std::string& key, const toml::node& node,
                                      const std::map<std::string, Series>& let) const {
    BANDANA_ASSIGN_OR_RETURN(Formula formula, ReadFormula(key, node));
    for (const std::string& name : formula.names()) {
      if (let.contains(name)) continue;
      std::vector<std::string> known;
      for (const auto& [each, series] : let) known.push_back(each);
      return InvalidInput(
          {.message = "unknown series",
           .file = file_,
           .line = LineOf(node),
           .key = key,
           .value = name,
           .accepted = known.empty() ? "names that let gives" : fmt::format("{}", fmt::join(known, ", "))});
    }
    return formula;
  }

  absl::Status CheckName(const std::string& key, const std::string& name, const toml::node& node) const {
    for (const Bindings& bindings : all_bindings_) {
      const std::string filled = Filled(name, bindings);
      if (where_->contains(filled) || filled.find('{') != std::string::npos) continue;
      std::vector<std::string> known;
      for (const auto& [each, where] : *where_) known.push_back(each);
      return InvalidInput({.message = "unknown name",
                           .file = file_,
                           .line = LineOf(node),
                           .key = key,
                           .value = filled,
                           .accepted = known.empty() ? "names in [where], of which there are none"
                                                     : fmt::format("{}", fmt::join(known, ", "))});
    }
    return absl::OkStatus();
  }

  absl::Status ReadAt(const std::string& key, const toml::node& node, std::vector<Json>& at) const {
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) BANDANA_RETURN_IF_ERROR(ReadAt(key, element, at));
      return absl::OkStatus();
    }
    if (const auto* name = node.as_string()) {
      BANDANA_RETURN_IF_ERROR(CheckName(key, name->get(), node));
      at.push_back(name->get());
      return absl::OkStatus();
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) return Bad(key, node, "a name in [where], a table of keys, or a list of these");
    BANDANA_ASSIGN_OR_RETURN(const Where where, ReadKeys(key, *table));
    at.push_back(Json(where));
    return absl::OkStatus();
  }

  absl::Status CheckAlong(const std::string& key, const std::string& along, const toml::node& node) const {
    if (along == "t" || IsKnown(along)) return absl::OkStatus();
    if (along.find('{') == std::string::npos) return UnknownSpecKey(key, along, node);
    return ReadScalar(key, node).status();
  }

  absl::StatusOr<Series> ReadSeries(const std::string& key, const toml::node& node) const {
    static const auto& known =
        *new std::vector<std::string>{"name", "at", "along", "metric", "from", "to", "same"};
    const toml::table* table = node.as_table();
    if (table == nullptr) return Bad(key, node, "a series: a table with at, along and metric");
    Series series{.metric = *Formula::Parse("regret")};
    for (const auto& [name, child] : *table) {
      const std::string each = key + "." + std::string(name.str());
      if (!MayHave(known, std::string(name.str()))) return Unknown(each, child, known);
      if (name.str() == "at") {
        BANDANA_RETURN_IF_ERROR(ReadAt(each, child, series.at));
      } else if (name.str() == "metric") {
        BANDANA_ASSIGN_OR_RETURN(series.metric, ReadFormula(each, child));
        if (series.metric.calls_series()) return Bad(each, child, "a formula of metrics");
      } else if (name.str() == "from") {
        BANDANA_ASSIGN_OR_RETURN(series.from, ReadScalar(each, child));
      } else if (name.str() == "to") {
        BANDANA_ASSIGN_OR_RETURN(series.to, ReadScalar(each, child));
      } else {
        const auto* text = child.as_string();
        if (text == nullptr || text->get().empty()) return Bad(each, child, "a text");
        if (name.str() == "name") series.name = text->get();
        if (name.str() == "along") {
          BANDANA_RETURN_IF_ERROR(CheckAlong(each, text->get(), child));
          series.along = text->get();
        }
        if (name.str() == "same") {
          if (text->get() != "mean") return Bad(each, child, "mean");
          series.average = true;
        }
      }
    }
    return series;
  }

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

  // Reads a table of lists, which are taken in step: the first row has the first value of each list.
  absl::StatusOr<Variation> ReadRows(const std::string& key, const toml::table& table) const {
    constexpr char kAccepted[] = "keys or names with lists of values, equally long";
    Variation variation;
    std::size_t rows = 1;
    for (const auto& [name, node] : table) {
      const toml::array* list = node.as_array();
      if (list != nullptr && list->empty()) return Bad(key, node, kAccepted);
      if (list != nullptr) rows = std::max(rows, list->size());
    }
    variation.rows.resize(rows);
    for (const auto& [name, node] : table) {
      const std::string each(name.str());
      if (each.find('.') != std::string::npos && !IsKnown(each)) return UnknownSpecKey(key, each, node);
      const toml::array* list = node.as_array();
      if (list != nullptr && list->size() != rows) return Bad(key, node, kAccepted);
      for (std::size_t i = 0; i < rows; ++i) {
        const std::optional<Json> value = JsonOf(list == nullptr ? node : *list->get(i));
        if (!value.has_value()) return Bad(key, node, kAccepted);
        variation.rows[i][each] = *value;
      }
    }
    if (table.empty()) return Bad(key, table, kAccepted);
    return variation;
  }

  absl::Status ReadVariations(const std::string& key, const toml::node& node, bool keys,
                              std::vector<Variation>& variations) const {
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) {
        BANDANA_RETURN_IF_ERROR(ReadVariations(key, element, keys, variations));
      }
      return absl::OkStatus();
    }
    if (const toml::table* table = node.as_table()) {
      BANDANA_ASSIGN_OR_RETURN(Variation variation, ReadRows(key, *table));
      variations.push_back(std::move(variation));
      return absl::OkStatus();
    }
    const auto* name = node.as_string();
    if (name == nullptr || !keys) {
      return Bad(
          key, node,
          keys ? "a key, a table of lists, or a list of these" : "a table of lists, or a list of these");
    }
    if (name->get().find('{') == std::string::npos && !IsKnown(name->get())) {
      return UnknownSpecKey(key, name->get(), node);
    }
    variations.push_back({.key = name->get()});
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
    claim.where = where_;
    for (const Bindings& bindings : Combinations(variations)) {
      claims.push_back(claim);
      PaperClaim& made = claims.back();
      made.bindings = bindings;
      made.says = Filled(claim.says, bindings);
      made.paper = Filled(claim.paper, bindings);
      made.reason = Filled(claim.reason, bindings);
      const std::set<std::string> unbound = NamesInBraces(made.says);
      if (!unbound.empty()) {
        return Bad("claim.says", *table.get("says"),
                   fmt::format("names that for gives, and not {{{}}}", *unbound.begin()));
      }
    }
    return absl::OkStatus();
  }

  // Remembers which names a claim binds, to check formulas and names in [where].
  void Remember(const std::vector<Variation>& of_for, const std::vector<Variation>& of_each) {
    std::vector<Variation> both = of_for;
    both.insert(both.end(), of_each.begin(), of_each.end());
    all_bindings_ = Combinations(both);
    bound_.clear();
    for (const Bindings& bindings : all_bindings_) {
      for (const auto& [name, value] : bindings) bound_.insert(name);
    }
  }

  absl::Status ReadWords(const toml::table& table, PaperClaim& claim) const {
    BANDANA_ASSIGN_OR_RETURN(claim.says, ReadText(table, "says", "a sentence", true));
    BANDANA_ASSIGN_OR_RETURN(claim.paper,
                             ReadText(table, "paper", "where the paper says so, such as p1 Fig. 2(a)", true));
    BANDANA_ASSIGN_OR_RETURN(claim.expected, ReadFlag(table, "expected", true));
    BANDANA_ASSIGN_OR_RETURN(claim.negated, ReadFlag(table, "not", false));
    BANDANA_ASSIGN_OR_RETURN(claim.reason, ReadText(table, "reason", "a sentence"));
    if (!claim.expected && claim.reason.empty()) {
      return Missing("claim.reason", table, "a sentence that says why it is not expected to hold");
    }
    if (claim.expected && !claim.reason.empty()) {
      return Bad("claim.reason", *table.get("reason"), "no reason, or expected = false");
    }
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

  std::string file_;
  std::vector<std::string> keys_;  // of specs, and facts of graphs
  std::shared_ptr<const std::map<std::string, Where>> where_ =
      std::make_shared<const std::map<std::string, Where>>();
  std::set<std::string> bound_;         // the names that the claim binds
  std::vector<Bindings> all_bindings_;  // all combinations of their values
};

}  // namespace

absl::StatusOr<std::vector<PaperClaim>> ReadClaims(const std::string& text, const std::string& file) {
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
