#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace bandana::lab {

/// A formula in a claim, such as "1 - {algorithm.alpha}" or "links_peer / rounds". It has
///   numbers, names, and keys in braces;
///   + - * / ^ and parentheses;
///   comparisons, which are 1 or 0 and can be chained: a < b < c;
///   abs, ceil, exp, floor, log and sqrt of one value, min and max of two;
///   functions of a series, which is named: at(a, 0.9), slope(a), least(a), most(a), median(a).
class Formula {
 public:
  /// The meaning of names. Every function may fail, for example if a run has no such metric.
  struct Scope {
    std::function<absl::StatusOr<double>(const std::string& name)> name;
    std::function<absl::StatusOr<double>(const std::string& key)> key;
    /// Returns a function of a series. `x` is the second argument, or 0 if there is none. Null: there are no
    /// series here.
    std::function<absl::StatusOr<double>(const std::string& function, const std::string& series, double x)>
        of_series = nullptr;
  };

  struct Node;

  /// Fails with an error of InvalidInput that says where the text stops being a formula.
  static absl::StatusOr<Formula> Parse(const std::string& text);

  explicit Formula(double number);

  absl::StatusOr<double> Evaluate(const Scope& scope) const;

  /// Returns both sides of a comparison as numbers: "0.013 <= 0.02", or "0.03 not <= 0.02". If it is no
  /// comparison, returns its value.
  absl::StatusOr<std::string> Explain(const Scope& scope) const;

  /// Returns by how much the left side of each comparison is above its right side. If it is no comparison,
  /// there are none.
  absl::StatusOr<std::vector<double>> Gaps(const Scope& scope) const;

  const std::string& text() const { return text_; }

  /// The names outside braces, those of series included.
  const std::set<std::string>& names() const { return names_; }

  /// The keys in braces.
  const std::set<std::string>& keys() const { return keys_; }

  /// Whether it calls a function of a series.
  bool calls_series() const { return calls_series_; }

 private:
  Formula() = default;
  void Collect(const Node& node);

  std::string text_;
  std::shared_ptr<const Node> root_;
  std::set<std::string> names_;
  std::set<std::string> keys_;
  bool calls_series_ = false;
};

}  // namespace bandana::lab
