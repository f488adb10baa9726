#include "bandana/lab/spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "absl/strings/str_replace.h"
#include "bandana/core/nearest.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/lab/point.h"
#include "bandana/lab/used_entries.h"
#include "bandana/lab/vocabulary.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "toml++/toml.h"

namespace bandana::lab {
namespace {

struct Given {
  Value value;
  int line = 0;
  std::string source = {};  // the file, or --set
};
using Givens = std::map<std::string, Given>;

struct Variant {
  std::string label;
  Givens givens;
};

struct Sweep {
  std::string key;
  std::pair<int, int> place;  // line and column in the file; sweeps are sorted by it
  std::vector<Given> values;
};

// Keeps the error of the earlier line. toml++ visits keys in alphabetical order, but a person reads a file
// from the top.
void KeepEarlier(absl::Status& kept, const absl::Status& next) {
  if (next.ok()) return;
  const std::optional<InputError> before = InputErrorOf(kept);
  const std::optional<InputError> after = InputErrorOf(next);
  if (kept.ok() || (before && after && after->line > 0 && after->line < before->line)) kept = next;
}

// Returns whether a key belongs to the whole run and cannot differ between points. Points that differ in it
// could not be compared.
bool IsWholeRun(const std::string& key) {
  return key == "name" || key == "seed" || key == "replicates" || key == "checkpoints" ||
         key.starts_with("service.");
}

// A point takes some kilobytes, and a few short lists make billions of them.
constexpr std::size_t kMostPoints = 100'000;

// The order in which a spec's tables are written. Keys without a table come first.
constexpr std::array kTables = {"", "environment", "algorithm", "federation", "privacy"};

std::string TableOf(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

bool IsTable(const std::string& name) {
  const std::vector<std::string> keys = KnownKeys();
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return key.starts_with(name + "."); });
}

// toml++ checks that files are UTF-8, but nothing has checked the command line.
bool IsUtf8(const std::string& text) {
  try {
    (void)toml::parse("# " + text);
    return true;
  } catch (const toml::parse_error&) {
    return false;
  }
}

bool HasControlCharacter(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::optional<Value> ScalarOf(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return Value(flag->get());
  if (const auto* integer = node.as_integer()) return Value(integer->get());
  if (const auto* number = node.as_floating_point()) return Value(number->get());
  if (const auto* text = node.as_string()) return Value(text->get());
  return std::nullopt;
}

std::optional<Value> ValueOf(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return ScalarOf(node);
  std::vector<std::int64_t> whole;
  std::vector<double> numbers;
  for (const toml::node& element : *array) {
    const auto* integer = element.as_integer();
    const auto* number = element.as_floating_point();
    if (integer == nullptr && number == nullptr) return std::nullopt;
    if (integer != nullptr) whole.push_back(integer->get());
    numbers.push_back(integer != nullptr ? static_cast<double>(integer->get()) : number->get());
  }
  return whole.size() == numbers.size() ? Value(std::move(whole)) : Value(std::move(numbers));
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  absl::Status Read(const toml::table& table) {
    absl::Status status;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "sweep") {
        KeepEarlier(status, ReadSweep(node, ""));
      } else if (name == "variant") {
        KeepEarlier(status, ReadVariants(node));
      } else if (std::find(std::begin(kExhibitKeys), std::end(kExhibitKeys), name) ==
                 std::end(kExhibitKeys)) {
        KeepEarlier(status, ReadInto(name, node, base_));
      }
    }
    KeepEarlier(status, CheckAll());
    BANDANA_RETURN_IF_ERROR(status);
    std::sort(sweeps_.begin(), sweeps_.end(),
              [](const Sweep& x, const Sweep& y) { return x.place < y.place; });
    return absl::OkStatus();
  }

  // Applies an assignment key=value of --set. The value is read as TOML, or as a text if it is not TOML.
  absl::Status Override(const std::string& assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidInput({.message = "not an assignment",
                           .file = "--set",
                           .value = assignment,
                           .accepted = "key=value, for example privacy.epsilon=2"});
    }
    const std::string key = assignment.substr(0, equals);
    const std::string text = assignment.substr(equals + 1);
    if (HasControlCharacter(assignment) || !IsUtf8(assignment)) {
      return InvalidInput({.message = "not a text of one line in UTF-8",
                           .file = "--set",
                           .key = key,
                           .accepted = "key=value, for example privacy.epsilon=2"});
    }
    const std::vector<Option> options = Named(key);
    const bool is_text = !options.empty() && (options.front().kind == Option::Kind::kText ||
                                              options.front().kind == Option::Kind::kPath);
    const bool verbatim = is_text && !text.starts_with('"');
    toml::table table;
    table.insert_or_assign("value", text);
    try {
      if (!verbatim) table = toml::parse("value = " + text);
    } catch (const toml::parse_error&) {
      table.insert_or_assign("value", text);  // not TOML: a text
    }
    Givens givens;
    overriding_ = true;
    const absl::Status status = ReadInto(key, *table.get("value"), givens);
    overriding_ = false;
    BANDANA_RETURN_IF_ERROR(status);
    for (auto& [name, given] : givens) BANDANA_RETURN_IF_ERROR(Check(name, given, base_));
    for (const auto& [name, given] : givens) {
      base_[name] = given;
      std::erase_if(sweeps_, [&](const Sweep& sweep) { return sweep.key == name; });
      for (Variant& variant : variants_) variant.givens.erase(name);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Spec> Resolve() {
    Spec spec;
    spec.file = file_;
    if (!base_.contains("name")) {
      base_["name"] = {.value = std::filesystem::path(file_).stem().string(), .source = file_};
    }
    spec.name = std::get<std::string>(base_["name"].value);
    if (HasControlCharacter(spec.name)) {
      return InvalidInput({.message = "contains a control character",
                           .file = file_,
                           .line = base_["name"].line,
                           .key = "name",
                           .accepted = "a text of one line"});
    }
    for (const Sweep& sweep : sweeps_) spec.swept.push_back(sweep.key);
    UsedEntries known;
    BANDANA_RETURN_IF_ERROR(Expand(Variant{}, spec, known));
    for (const Variant& variant : variants_) {
      UsedEntries known_here;
      BANDANA_RETURN_IF_ERROR(Expand(variant, spec, known_here));
      BANDANA_RETURN_IF_ERROR(RefuseIgnored(variant.givens, known_here));
      known.Merge(known_here);
    }
    Givens of_whole_run = base_;
    for (const Sweep& sweep : sweeps_) of_whole_run[sweep.key] = sweep.values.front();
    BANDANA_RETURN_IF_ERROR(RefuseIgnored(of_whole_run, known));
    for (const std::string& origin : known.origins) spec.toml += "# " + origin + "\n";
    spec.toml += ToToml(spec.points);
    spec.sha256 = Sha256(spec.toml);
    for (const auto& [key, given] : base_) {
      if (key.starts_with("service.")) spec.service.Set(key, given.value);
      spec.given.insert(key);
      const auto takes = [&](const Point& point) { return point.settings.Has(key); };
      if (!key.starts_with("service.") && key != "name" &&
          std::none_of(spec.points.begin(), spec.points.end(), takes)) {
        spec.without_effect.push_back(key);
      }
    }
    return spec;
  }

 private:
  // Returns the line of a value in the file, or 0 for a value on the command line.
  int LineOf(const toml::node& node) const {
    return overriding_ ? 0 : static_cast<int>(node.source().begin.line);
  }
  std::string SourceFile() const { return overriding_ ? "--set" : file_; }

  absl::Status BadType(const std::string& key, const toml::node& node, const std::string& accepted) const {
    std::ostringstream value;
    node.visit([&](const auto& typed) { value << typed; });
    return InvalidInput({.message = "a value of this type is not accepted",
                         .file = SourceFile(),
                         .line = LineOf(node),
                         .key = key,
                         .value = absl::StrReplaceAll(value.str(), {{"[ ", "["}, {" ]", "]"}}),
                         .accepted = accepted});
  }

  absl::Status UnknownKey(const std::string& key, int line) const {
    return InvalidInput({.message = "unknown key",
                         .file = SourceFile(),
                         .line = line,
                         .key = key,
                         .accepted = "nearest known key: " + Nearest(key, KnownKeys())});
  }

  // Returns the options of that key. Those of the algorithm and world of the variant, or else of the base,
  // come first.
  std::vector<Option> Named(const std::string& key, const Givens* variant = nullptr) const {
    const auto text_of = [&](const char* of) -> std::string {
      if (variant != nullptr && variant->contains(of)) return ToText(variant->at(of).value);
      return base_.contains(of) ? ToText(base_.at(of).value) : "";
    };
    return OptionsNamed(key, text_of("algorithm.name"), text_of("environment.kind"));
  }

  // Fails if no algorithm and no world accepts the value. Whether the chosen ones accept it is checked when
  // points are resolved.
  absl::Status Check(const std::string& key, Given& given, const Givens& variant) const {
    absl::Status first;
    for (const Option& option : Named(key, &variant)) {
      absl::StatusOr<Value> checked = option.check(given.value);
      if (!checked.ok()) {
        if (first.ok()) first = InvalidOption(key, ToText(given.value), AcceptedIn(checked.status()));
        continue;
      }
      given.value = *std::move(checked);
      const bool is_path = option.kind == Option::Kind::kPath;
      auto* path = std::get_if<std::string>(&given.value);
      if (is_path && path != nullptr && !path->empty()) *path = AbsolutePath(*path);
      return absl::OkStatus();
    }
    return WithFile(first, given.source, given.line);
  }

  static std::string AcceptedIn(const absl::Status& status) {
    const std::optional<InputError> error = InputErrorOf(status);
    return error.has_value() ? error->accepted : "";
  }

  absl::Status CheckAll() {
    absl::Status status;
    for (auto& [key, given] : base_) KeepEarlier(status, Check(key, given, base_));
    for (Variant& variant : variants_) {
      for (auto& [key, given] : variant.givens) KeepEarlier(status, Check(key, given, variant.givens));
    }
    for (Sweep& sweep : sweeps_) {
      for (Given& given : sweep.values) KeepEarlier(status, Check(sweep.key, given, base_));
    }
    return status;
  }

  // Makes a path absolute, so that a resolved spec means the same in any folder.
  std::string AbsolutePath(const std::string& path) const {
    return std::filesystem::absolute(std::filesystem::path(file_).parent_path() / path)
        .lexically_normal()
        .string();
  }

  absl::Status ReadInto(const std::string& key, const toml::node& node, Givens& givens) const {
    if (const toml::table* table = node.as_table()) {
      if (table->empty() && !IsTable(key)) return UnknownKey(key, LineOf(node));
      absl::Status status;
      for (const auto& [name, child] : *table) {
        KeepEarlier(status, ReadInto(fmt::format("{}.{}", key, std::string(name.str())), child, givens));
      }
      return status;
    }
    const std::vector<Option> options = Named(key);
    if (options.empty()) return UnknownKey(key, LineOf(node));
    std::optional<Value> value = ValueOf(node);
    if (!value.has_value()) return BadType(key, node, options.front().accepted);
    givens[key] = {*std::move(value), LineOf(node), SourceFile()};
    return absl::OkStatus();
  }

  absl::Status ReadSweep(const toml::node& node, const std::string& key) {
    if (const toml::table* table = node.as_table()) {
      absl::Status status;
      for (const auto& [name, child] : *table) {
        const std::string child_key(name.str());
        KeepEarlier(status, ReadSweep(child, key.empty() ? child_key : key + "." + child_key));
      }
      return status;
    }
    const std::vector<Option> options = Named(key);
    if (options.empty()) return UnknownKey(key, LineOf(node));
    if (IsWholeRun(key)) {
      return InvalidInput({.message = "cannot be swept: it belongs to the whole run",
                           .file = SourceFile(),
                           .line = LineOf(node),
                           .key = "sweep." + key,
                           .accepted = "keys of environment, algorithm and privacy, and horizon"});
    }
    const toml::array* array = node.as_array();
    if (array == nullptr || array->empty()) {
      return BadType("sweep." + key, node, "a list with at least one value");
    }
    const toml::source_position begin = node.source().begin;
    Sweep sweep{key, {static_cast<int>(begin.line), static_cast<int>(begin.column)}, {}};
    for (const toml::node& element : *array) {
      std::optional<Value> value = ScalarOf(element);
      if (!value.has_value()) return BadType(key, element, options.front().accepted);
      sweep.values.push_back({*std::move(value), LineOf(element), SourceFile()});
    }
    sweeps_.push_back(std::move(sweep));
    return absl::OkStatus();
  }

  absl::Status ReadVariants(const toml::node& node) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return BadType("variant", node, "[[variant]] tables");
    for (const toml::node& element : *array) {
      const toml::table* table = element.as_table();
      if (table == nullptr) return BadType("variant", element, "[[variant]] tables");
      const auto label = (*table)["label"].value<std::string>();
      if (!label.has_value() || label->empty() || HasControlCharacter(*label)) {
        return BadType("variant.label", element, "a text of one line that names the variant");
      }
      Variant variant{*label, {}};
      for (const auto& [name, child] : *table) {
        if (name.str() == "label") continue;
        BANDANA_RETURN_IF_ERROR(ReadInto(std::string(name.str()), child, variant.givens));
      }
      for (const auto& [key, given] : variant.givens) {
        if (!IsWholeRun(key)) continue;
        return InvalidInput({.message = "cannot vary: it belongs to the whole run",
                             .file = SourceFile(),
                             .line = given.line,
                             .key = key,
                             .value = ToText(given.value),
                             .accepted = "keys of environment, algorithm and privacy, and horizon"});
      }
      variants_.push_back(std::move(variant));
    }
    return absl::OkStatus();
  }

  // Refuses options that no algorithm or world of the run has. An option that one of them has and that does
  // not apply with the values given is no mistake: a sweep or --set may well make it so.
  absl::Status RefuseIgnored(const Givens& givens, const UsedEntries& known) const {
    for (const auto& [key, given] : givens) {
      const bool of_algorithm = key.starts_with("algorithm.");
      if ((!of_algorithm && !key.starts_with("environment.")) || known.keys.contains(key)) continue;
      const std::set<std::string>& names = of_algorithm ? known.algorithms : known.worlds;
      const std::string table = key.substr(0, key.find('.') + 1);
      std::vector<std::string> has;
      for (const std::string& each : known.keys) {
        if (each.starts_with(table)) has.push_back(each);
      }
      return InvalidInput({.message = fmt::format("{} {} no such option", fmt::join(names, ", "),
                                                  names.size() == 1 ? "has" : "have"),
                           .file = given.source,
                           .line = given.line,
                           .key = key,
                           .value = ToText(given.value),
                           .accepted = fmt::format("{}", fmt::join(has, ", "))});
    }
    return absl::OkStatus();
  }

  // Adds a point for every combination of swept values, under a variant. A key that the variant sets itself
  // is not swept. Adds the algorithms and worlds of these points to `known`.
  absl::Status Expand(const Variant& variant, Spec& spec, UsedEntries& known) const {
    std::vector<const Sweep*> sweeps;
    for (const Sweep& sweep : sweeps_) {
      if (!variant.givens.contains(sweep.key)) sweeps.push_back(&sweep);
    }
    std::size_t points = 1;
    for (const Sweep* sweep : sweeps) {
      points *= sweep->values.size();
      if (points <= kMostPoints) continue;
      return InvalidInput({.message = fmt::format("the sweeps make more than {} points", kMostPoints),
                           .file = file_,
                           .line = sweep->place.first,
                           .key = "sweep." + sweep->key,
                           .accepted = "fewer values"});
    }
    std::vector<std::size_t> choice(sweeps.size(), 0);
    while (true) {
      Givens givens = base_;
      for (const auto& [key, given] : variant.givens) givens[key] = given;
      for (std::size_t i = 0; i < sweeps.size(); ++i) givens[sweeps[i]->key] = sweeps[i]->values[choice[i]];
      BANDANA_RETURN_IF_ERROR(AddPoint(variant, givens, spec, known));
      std::size_t i = sweeps.size();
      while (i > 0 && ++choice[i - 1] == sweeps[i - 1]->values.size()) choice[--i] = 0;
      if (i == 0) return absl::OkStatus();
    }
  }

  absl::Status AddPoint(const Variant& variant, const Givens& givens, Spec& spec, UsedEntries& known) const {
    absl::StatusOr<ResolvedPoint> resolved = ResolvePoint([&](const std::string& key) -> const Value* {
      const auto given = givens.find(key);
      return given == givens.end() ? nullptr : &given->second.value;
    });
    Sources sources;
    for (const auto& [key, given] : givens) sources[key] = {given.source, given.line};
    if (!resolved.ok()) return WithSource(resolved.status(), sources, file_);
    known.Add(resolved->experiment);
    Point point{.settings = std::move(resolved->settings),
                .order = std::move(resolved->order),
                .defaults = std::move(resolved->defaults),
                .sources = std::move(sources)};
    if (const auto given = givens.find("checkpoints"); given != givens.end()) {
      BANDANA_RETURN_IF_ERROR(CheckCheckpoints(point.settings, given->second));
    }
    for (const Point& other : spec.points) {
      if (other.settings == point.settings)
        return absl::OkStatus();  // they differ only in keys without effect
    }
    Describe(variant, point);
    spec.points.push_back(std::move(point));
    return absl::OkStatus();
  }

  absl::Status CheckCheckpoints(const Settings& settings, const Given& given) const {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&given.value);
    if (list == nullptr || list->back() <= settings.Integer("horizon")) return absl::OkStatus();
    return InvalidInput({.message = "a checkpoint beyond the horizon",
                         .file = given.source,
                         .line = given.line,
                         .key = "checkpoints",
                         .value = fmt::format("{}", list->back()),
                         .accepted = fmt::format("rounds from 1 to {}", settings.Integer("horizon"))});
  }

  // Sets the point's label and its varied settings.
  void Describe(const Variant& variant, Point& point) const {
    std::vector<std::string> words;
    if (!variant.label.empty()) words.push_back(variant.label);
    for (const Sweep& sweep : sweeps_) {
      const Value* value = point.settings.Find(sweep.key);
      if (value == nullptr) continue;
      point.varied.Set(sweep.key, *value);
      if (variant.givens.contains(sweep.key)) continue;
      const bool speaks_for_itself = Named(sweep.key).front().kind == Option::Kind::kChoice;
      const std::string short_key = sweep.key.substr(sweep.key.rfind('.') + 1);
      words.push_back(speaks_for_itself ? ToText(*value) : fmt::format("{}={}", short_key, ToText(*value)));
    }
    for (const Variant& any : variants_) {
      for (const auto& [key, given] : any.givens) {
        if (const Value* value = point.settings.Find(key)) point.varied.Set(key, *value);
      }
    }
    if (words.empty()) words.push_back(point.settings.Text("algorithm.name"));
    point.label = fmt::format("{}", fmt::join(words, " "));
  }

  std::string ToToml(const std::vector<Point>& points) const {
    std::string text;
    for (const char* table : kTables) {
      const std::string lines = TableToToml(points, table);
      if (lines.empty()) continue;
      if (*table != '\0') text += fmt::format("\n[{}]\n", table);
      text += lines;
    }
    for (const Variant& variant : variants_) {
      text += fmt::format("\n[[variant]]\nlabel = {}\n", bandana::ToToml(Value(variant.label)));
      for (const auto& [key, given] : variant.givens)
        text += fmt::format("{} = {}\n", key, bandana::ToToml(given.value));
    }
    if (!sweeps_.empty()) text += "\n[sweep]\n";
    for (const Sweep& sweep : sweeps_) {
      std::vector<std::string> values;
      for (const Given& given : sweep.values) values.push_back(bandana::ToToml(given.value));
      text += fmt::format("\"{}\" = [{}]\n", sweep.key, fmt::join(values, ", "));
    }
    return text;
  }

  // Returns the keys of one table that some point uses, with the values given, or else with the default of
  // the first such point.
  std::string TableToToml(const std::vector<Point>& points, const std::string& table) const {
    std::string text;
    std::set<std::string> written;
    for (const Point& point : points) {
      for (const std::string& key : point.order) {
        if (TableOf(key) != table || !written.insert(key).second) continue;
        const auto given = base_.find(key);
        const std::optional<Value>& fallback = point.defaults.at(key);
        if (given == base_.end() && !fallback.has_value()) continue;
        text += fmt::format("{} = {}\n", table.empty() ? key : key.substr(table.size() + 1),
                            bandana::ToToml(given == base_.end() ? *fallback : given->second.value));
      }
    }
    return text;
  }

  std::string file_;
  bool overriding_ = false;  // whether an assignment of --set is being read
  Givens base_;
  std::vector<Variant> variants_;
  std::vector<Sweep> sweeps_;
};

}  // namespace

absl::Status WithSource(const absl::Status& status, const Sources& sources, const std::string& file) {
  const std::optional<InputError> error = InputErrorOf(status);
  const auto source = error.has_value() ? sources.find(error->key) : sources.end();
  if (source == sources.end()) return WithFile(status, file);
  return WithFile(status, source->second.file, source->second.line);
}

absl::StatusOr<Spec> LoadSpec(const std::string& path, const Overrides& overrides) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || std::filesystem::is_directory(path)) {
    return InvalidInput({.message = "cannot be read", .file = path, .accepted = "a readable TOML file"});
  }
  return ParseSpec(text.str(), path, overrides);
}

absl::StatusOr<Spec> ParseSpec(const std::string& text, const std::string& path, const Overrides& overrides) {
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return InvalidInput({.message = fmt::format("not TOML: {}", std::string(error.description())),
                         .file = path,
                         .line = static_cast<int>(error.source().begin.line),
                         .accepted = "TOML 1.0"});
  }
  Reader reader(path);
  BANDANA_RETURN_IF_ERROR(reader.Read(table));
  for (const std::string& assignment : overrides) BANDANA_RETURN_IF_ERROR(reader.Override(assignment));
  return reader.Resolve();
}

std::vector<Count> Checkpoints(const Settings& settings) {
  const Count horizon = settings.Integer("horizon");
  const Value& value = *settings.Find("checkpoints");
  std::vector<Count> times;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    times = *list;
  } else if (const auto* count = std::get_if<std::int64_t>(&value)) {
    const Count points = std::min<Count>(*count, horizon);
    for (Count i = 1; i <= points; ++i) {
      times.push_back(static_cast<Count>(static_cast<__int128>(horizon) * i / points));
    }
  } else {
    constexpr double kPerDecade = 10;
    for (double i = 0;; ++i) {
      const double t = std::pow(10, i / kPerDecade);
      if (!(t < static_cast<double>(horizon))) break;
      times.push_back(static_cast<Count>(std::llround(t)));
    }
    times.push_back(horizon);
    times.erase(std::unique(times.begin(), times.end()), times.end());
  }
  return times;
}

}  // namespace bandana::lab
