#include "bandana/lab/judge/series_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

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

}  // namespace

bool MayHave(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

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

SeriesReader::SeriesReader(std::string file) : file_(std::move(file)), keys_(KnownKeys()) {
  for (const char* fact : {"graph.nodes", "graph.edges", "graph.diameter", "graph.cliques", "t"}) {
    keys_.emplace_back(fact);
  }
}

int SeriesReader::LineOf(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::string SeriesReader::InWords(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& typed) { text << typed; });
  std::string words = text.str();
  constexpr std::size_t kMost = 100;
  if (words.size() > kMost) words = words.substr(0, kMost) + " ...";
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

absl::Status SeriesReader::Bad(const std::string& key, const toml::node& node, const std::string& accepted,
                               const std::string& message) const {
  return InvalidInput({.message = message,
                       .file = file_,
                       .line = LineOf(node),
                       .key = key,
                       .value = InWords(node),
                       .accepted = accepted});
}

absl::Status SeriesReader::Missing(const std::string& key, const toml::node& in,
                                   const std::string& accepted) const {
  return InvalidInput(
      {.message = "missing", .file = file_, .line = LineOf(in), .key = key, .accepted = accepted});
}

absl::Status SeriesReader::Unknown(const std::string& key, const toml::node& node,
                                   const std::vector<std::string>& known, const std::string& message) const {
  return InvalidInput({.message = message,
                       .file = file_,
                       .line = LineOf(node),
                       .key = key,
                       .accepted = fmt::format("{}", fmt::join(known, ", "))});
}

absl::Status SeriesReader::UnknownSpecKey(const std::string& within, const std::string& key,
                                          const toml::node& node) const {
  return InvalidInput({.message = "unknown key",
                       .file = file_,
                       .line = LineOf(node),
                       .key = within,
                       .value = key,
                       .accepted = "nearest known key: " + Nearest(key, keys_)});
}

bool SeriesReader::IsKnown(const std::string& key) const { return MayHave(keys_, key); }

absl::StatusOr<Where> SeriesReader::ReadKeys(const std::string& within, const toml::table& table) const {
  Where where;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!IsKnown(name)) return UnknownSpecKey(within, name, node);
    std::optional<Json> value = JsonOf(node);
    if (!value.has_value()) return Bad(within + "." + name, node, "a value of the key, largest or smallest");
    where[name] = *std::move(value);
  }
  return where;
}

absl::Status SeriesReader::ReadWhere(const toml::node& node) {
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

absl::StatusOr<std::string> SeriesReader::ReadText(const toml::table& table, const std::string& key,
                                                   const char* accepted, bool required) const {
  const toml::node* node = table.get(key);
  if (node == nullptr && required) return Missing(table_ + "." + key, table, accepted);
  if (node == nullptr) return std::string();
  const auto* text = node->as_string();
  if (text == nullptr || text->get().empty()) return Bad(table_ + "." + key, *node, accepted);
  return text->get();
}

absl::StatusOr<bool> SeriesReader::ReadFlag(const toml::table& table, const std::string& key,
                                            bool fallback) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  const auto* flag = node->as_boolean();
  if (flag == nullptr) return Bad(table_ + "." + key, *node, "true, false");
  return flag->get();
}

absl::StatusOr<std::size_t> SeriesReader::ReadChoice(const toml::table& table, const std::string& key,
                                                     const std::vector<std::string>& names,
                                                     bool required) const {
  const std::string accepted = fmt::format("{}", fmt::join(names, ", "));
  const toml::node* node = table.get(key);
  if (node == nullptr && required) return Missing(table_ + "." + key, table, accepted);
  if (node == nullptr) return std::size_t{0};
  const auto* text = node->as_string();
  const auto it = text == nullptr ? names.end() : std::find(names.begin(), names.end(), text->get());
  if (it == names.end()) return Bad(table_ + "." + key, *node, accepted);
  return static_cast<std::size_t>(it - names.begin());
}

absl::StatusOr<double> SeriesReader::ReadNumber(const toml::table& table, const std::string& key,
                                                double least, double most, const char* accepted) const {
  const toml::node* node = table.get(key);
  const std::optional<double> number = node->value<double>();
  if (!number.has_value() || !(*number >= least && *number <= most))
    return Bad(table_ + "." + key, *node, accepted);
  return *number;
}

absl::StatusOr<Formula> SeriesReader::ReadFormula(const std::string& key, const toml::node& node) const {
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

absl::StatusOr<Formula> SeriesReader::ReadScalar(const std::string& key, const toml::node& node) const {
  BANDANA_ASSIGN_OR_RETURN(Formula formula, ReadFormula(key, node));
  if (!formula.names().empty()) {
    return Bad(key, node, "a number, or a formula of numbers and keys in braces");
  }
  return formula;
}

absl::StatusOr<Formula> SeriesReader::ReadOfNames(const std::string& key, const toml::node& node,
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

absl::Status SeriesReader::CheckName(const std::string& key, const std::string& name,
                                     const toml::node& node) const {
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

absl::Status SeriesReader::ReadAt(const std::string& key, const toml::node& node,
                                  std::vector<Json>& at) const {
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

absl::Status SeriesReader::CheckAlong(const std::string& key, const std::string& along,
                                      const toml::node& node) const {
  if (along == "t" || IsKnown(along)) return absl::OkStatus();
  if (along.find('{') == std::string::npos) return UnknownSpecKey(key, along, node);
  return ReadScalar(key, node).status();
}

absl::StatusOr<Series> SeriesReader::ReadSeries(const std::string& key, const toml::node& node) const {
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

// Reads a table of lists, which are taken in step: the first row has the first value of each list.
absl::StatusOr<Variation> SeriesReader::ReadRows(const std::string& key, const toml::table& table) const {
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

absl::Status SeriesReader::ReadVariations(const std::string& key, const toml::node& node, bool keys,
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
    return Bad(key, node,
               keys ? "a key, a table of lists, or a list of these" : "a table of lists, or a list of these");
  }
  if (name->get().find('{') == std::string::npos && !IsKnown(name->get())) {
    return UnknownSpecKey(key, name->get(), node);
  }
  variations.push_back({.key = name->get()});
  return absl::OkStatus();
}

void SeriesReader::Remember(const std::vector<Variation>& of_for, const std::vector<Variation>& of_each) {
  std::vector<Variation> both = of_for;
  both.insert(both.end(), of_each.begin(), of_each.end());
  all_bindings_ = Combinations(both);
  bound_.clear();
  for (const Bindings& bindings : all_bindings_) {
    for (const auto& [name, value] : bindings) bound_.insert(name);
  }
}

}  // namespace bandana::lab
