#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/judge/claim.h"
#include "toml++/toml.h"

namespace bandana::lab {

bool MayHave(const std::vector<std::string>& keys, const std::string& key);

/// Returns all combinations of rows. The first variation is the outermost one.
std::vector<Bindings> Combinations(const std::vector<Variation>& variations);

/// Reads series, formulas and values of an exhibit's TOML file. Every error names the file, line, key, value
/// and what is accepted.
class SeriesReader {
 public:
  explicit SeriesReader(std::string file);

  /// Sets the table that errors name: "claim" in claim.says.
  void SetTable(std::string table) { table_ = std::move(table); }

  absl::Status ReadWhere(const toml::node& node);
  const std::shared_ptr<const std::map<std::string, Where>>& where() const { return where_; }

  /// Remembers which names are bound, to check formulas and names in [where].
  void Remember(const std::vector<Variation>& of_for, const std::vector<Variation>& of_each);

  absl::Status ReadVariations(const std::string& key, const toml::node& node, bool keys,
                              std::vector<Variation>& variations) const;

  absl::StatusOr<std::string> ReadText(const toml::table& table, const std::string& key, const char* accepted,
                                       bool required = false) const;
  absl::StatusOr<bool> ReadFlag(const toml::table& table, const std::string& key, bool fallback) const;

  /// Returns the number of a name in `names`; 0 if the key is absent and not required.
  absl::StatusOr<std::size_t> ReadChoice(const toml::table& table, const std::string& key,
                                         const std::vector<std::string>& names, bool required = false) const;

  /// Reads a number between bounds. The key is present.
  absl::StatusOr<double> ReadNumber(const toml::table& table, const std::string& key, double least,
                                    double most, const char* accepted) const;

  absl::StatusOr<Formula> ReadFormula(const std::string& key, const toml::node& node) const;

  /// Reads a formula without names, for a number.
  absl::StatusOr<Formula> ReadScalar(const std::string& key, const toml::node& node) const;

  /// Reads a formula of the names in `let`.
  absl::StatusOr<Formula> ReadOfNames(const std::string& key, const toml::node& node,
                                      const std::map<std::string, Series>& let) const;

  absl::StatusOr<Series> ReadSeries(const std::string& key, const toml::node& node) const;

  static int LineOf(const toml::node& node);
  absl::Status Bad(const std::string& key, const toml::node& node, const std::string& accepted,
                   const std::string& message = "not accepted") const;
  absl::Status Missing(const std::string& key, const toml::node& in, const std::string& accepted) const;
  absl::Status Unknown(const std::string& key, const toml::node& node, const std::vector<std::string>& known,
                       const std::string& message = "unknown key") const;

 private:
  static std::string InWords(const toml::node& node);
  absl::Status UnknownSpecKey(const std::string& within, const std::string& key,
                              const toml::node& node) const;
  bool IsKnown(const std::string& key) const;
  absl::StatusOr<Where> ReadKeys(const std::string& within, const toml::table& table) const;
  absl::Status CheckName(const std::string& key, const std::string& name, const toml::node& node) const;
  absl::Status ReadAt(const std::string& key, const toml::node& node, std::vector<Json>& at) const;
  absl::Status CheckAlong(const std::string& key, const std::string& along, const toml::node& node) const;
  absl::StatusOr<Variation> ReadRows(const std::string& key, const toml::table& table) const;

  std::string file_;
  std::string table_ = "claim";
  std::vector<std::string> keys_;  // of specs, facts of graphs, and t
  std::shared_ptr<const std::map<std::string, Where>> where_ =
      std::make_shared<const std::map<std::string, Where>>();
  std::set<std::string> bound_;         // the names that `for` and `each` bind
  std::vector<Bindings> all_bindings_;  // all combinations of their values
};

}  // namespace bandana::lab
