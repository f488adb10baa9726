#include "bandana/lab/judge/formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::lab {

struct Formula::Node {
  enum class Kind { kNumber, kName, kKey, kCall, kSeriesCall, kOperator, kComparisons };
  Kind kind = Kind::kNumber;
  double number = 0;
  std::string text = {};                      // a name, a key, a function or an operator
  std::vector<std::string> comparisons = {};  // between the arguments of kComparisons
  std::vector<Node> arguments = {};
};

namespace {

using Node = Formula::Node;

// The number of arguments of each function.
const std::map<std::string, std::size_t>& Functions() {
  static const auto& functions = *new std::map<std::string, std::size_t>{
      {"abs", 1}, {"ceil", 1}, {"exp", 1}, {"floor", 1}, {"log", 1}, {"sqrt", 1}, {"min", 2}, {"max", 2}};
  return functions;
}

// The number of arguments of each function of a series. The first one is the name of the series.
const std::map<std::string, std::size_t>& SeriesFunctions() {
  static const auto& functions = *new std::map<std::string, std::size_t>{
      {"at", 2}, {"slope", 1}, {"least", 1}, {"most", 1}, {"median", 1}};
  return functions;
}

// A formula is read, evaluated and destroyed by functions that call themselves, so it must not be deep.
constexpr std::size_t kMostLetters = 4000;
constexpr int kMostNested = 100;

class FormulaParser {
 public:
  explicit FormulaParser(const std::string& text) : text_(text) {}

  absl::StatusOr<Node> Parse() {
    BANDANA_ASSIGN_OR_RETURN(Node node, Comparisons());
    SkipBlanks();
    if (at_ != text_.size()) return Unexpected("an operator, or the end");
    return node;
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool Take(const std::string& symbol) {
    SkipBlanks();
    if (text_.compare(at_, symbol.size(), symbol) != 0) return false;
    at_ += symbol.size();
    return true;
  }

  std::string TakeOneOf(const std::vector<std::string>& symbols) {
    for (const std::string& symbol : symbols) {
      if (Take(symbol)) return symbol;
    }
    return "";
  }

  absl::Status Unexpected(const std::string& wanted) const {
    const std::string rest = at_ < text_.size() ? fmt::format("at \"{}\"", text_.substr(at_)) : "at its end";
    return InvalidInput({.message = fmt::format("not a formula {}", rest),
                         .value = text_,
                         .accepted = fmt::format("{} there", wanted)});
  }

  absl::StatusOr<Node> Comparisons() {
    BANDANA_ASSIGN_OR_RETURN(Node first, Sum());
    Node node{.kind = Node::Kind::kComparisons};
    node.arguments.push_back(std::move(first));
    while (true) {
      const std::string symbol = TakeOneOf({"<=", ">=", "==", "<", ">"});
      if (symbol.empty()) break;
      BANDANA_ASSIGN_OR_RETURN(Node next, Sum());
      node.comparisons.push_back(symbol);
      node.arguments.push_back(std::move(next));
    }
    return node.comparisons.empty() ? std::move(node.arguments.front()) : std::move(node);
  }

  static Node Binary(std::string symbol, Node left, Node right) {
    Node node{.kind = Node::Kind::kOperator, .text = std::move(symbol)};
    node.arguments.push_back(std::move(left));
    node.arguments.push_back(std::move(right));
    return node;
  }

  absl::StatusOr<Node> Sum() {
    BANDANA_ASSIGN_OR_RETURN(Node node, Product());
    while (true) {
      const std::string symbol = TakeOneOf({"+", "-"});
      if (symbol.empty()) return node;
      BANDANA_ASSIGN_OR_RETURN(Node next, Product());
      node = Binary(symbol, std::move(node), std::move(next));
    }
  }

  absl::StatusOr<Node> Product() {
    BANDANA_ASSIGN_OR_RETURN(Node node, Signed());
    while (true) {
      const std::string symbol = TakeOneOf({"*", "/"});
      if (symbol.empty()) return node;
      BANDANA_ASSIGN_OR_RETURN(Node next, Signed());
      node = Binary(symbol, std::move(node), std::move(next));
    }
  }

  absl::StatusOr<Node> Signed() {
    if (nested_ == kMostNested)
      return Unexpected(fmt::format("a formula with at most {} levels", kMostNested));
    ++nested_;
    absl::StatusOr<Node> node = SignedAtThisLevel();
    --nested_;
    return node;
  }

  absl::StatusOr<Node> SignedAtThisLevel() {
    if (Take("-")) {
      BANDANA_ASSIGN_OR_RETURN(Node node, Signed());
      return Binary("-", Node{.number = 0}, std::move(node));
    }
    BANDANA_ASSIGN_OR_RETURN(Node base, Primary());
    if (!Take("^")) return base;
    BANDANA_ASSIGN_OR_RETURN(Node exponent, Signed());
    return Binary("^", std::move(base), std::move(exponent));
  }

  absl::StatusOr<Node> Primary() {
    SkipBlanks();
    if (Take("(")) {
      BANDANA_ASSIGN_OR_RETURN(Node node, Comparisons());
      if (!Take(")")) return Unexpected("a closing parenthesis");
      return node;
    }
    if (Take("{")) {
      const std::size_t end = text_.find('}', at_);
      if (end == std::string::npos) return Unexpected("a key and a closing brace");
      Node node{.kind = Node::Kind::kKey, .text = text_.substr(at_, end - at_)};
      at_ = end + 1;
      return node;
    }
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)) return Number();
    if (at_ < text_.size() && (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0)) return Named();
    return Unexpected("a number, a name, a key in braces, or a parenthesis");
  }

  absl::StatusOr<Node> Number() {
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) return Unexpected("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return Node{.number = number};
  }

  absl::StatusOr<Node> Named() {
    const std::size_t begin = at_;
    const auto belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    if (!Take("(")) return Node{.kind = Node::Kind::kName, .text = name};
    const bool of_series = SeriesFunctions().contains(name);
    if (!of_series && !Functions().contains(name)) {
      at_ = begin;
      return Unexpected(
          "one of abs, ceil, exp, floor, log, sqrt, min, max, at, slope, least, most and median");
    }
    Node node{.kind = of_series ? Node::Kind::kSeriesCall : Node::Kind::kCall, .text = name};
    const std::size_t count = of_series ? SeriesFunctions().at(name) : Functions().at(name);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0 && !Take(",")) return Unexpected("a comma and a second argument");
      BANDANA_ASSIGN_OR_RETURN(Node argument, Comparisons());
      if (of_series && i == 0 && argument.kind != Node::Kind::kName) {
        return Unexpected("the name of a series as first argument");
      }
      node.arguments.push_back(std::move(argument));
    }
    if (!Take(")")) return Unexpected("a closing parenthesis");
    return node;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int nested_ = 0;
};

double Operate(char symbol, double left, double right) {
  switch (symbol) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    default:
      return std::pow(left, right);
  }
}

bool Agrees(const std::string& comparison, double left, double right) {
  if (comparison == "<") return left < right;
  if (comparison == "<=") return left <= right;
  if (comparison == ">") return left > right;
  if (comparison == ">=") return left >= right;
  return left == right;
}

double Apply(const std::string& function, const std::vector<double>& values) {
  const double x = values.front();
  if (function == "abs") return std::abs(x);
  if (function == "ceil") return std::ceil(x);
  if (function == "exp") return std::exp(x);
  if (function == "floor") return std::floor(x);
  if (function == "log") return std::log(x);
  if (function == "sqrt") return std::sqrt(x);
  return function == "min" ? std::min(x, values[1]) : std::max(x, values[1]);
}

absl::StatusOr<double> ValueOf(const Node& node, const Formula::Scope& scope) {
  switch (node.kind) {
    case Node::Kind::kNumber:
      return node.number;
    case Node::Kind::kName:
      return scope.name(node.text);
    case Node::Kind::kKey:
      return scope.key(node.text);
    case Node::Kind::kSeriesCall: {
      double x = 0;
      if (node.arguments.size() > 1) {
        BANDANA_ASSIGN_OR_RETURN(x, ValueOf(node.arguments[1], scope));
      }
      if (scope.of_series == nullptr) return absl::NotFoundError("there is no series for " + node.text);
      return scope.of_series(node.text, node.arguments.front().text, x);
    }
    default:
      break;
  }
  std::vector<double> values;
  for (const Node& argument : node.arguments) {
    BANDANA_ASSIGN_OR_RETURN(const double value, ValueOf(argument, scope));
    values.push_back(value);
  }
  if (node.kind == Node::Kind::kCall) return Apply(node.text, values);
  if (node.kind == Node::Kind::kOperator) return Operate(node.text.front(), values[0], values[1]);
  for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
    if (!Agrees(node.comparisons[i], values[i], values[i + 1])) return 0.0;
  }
  return 1.0;
}

}  // namespace

absl::StatusOr<Formula> Formula::Parse(const std::string& text) {
  if (text.size() > kMostLetters) {
    return InvalidInput({.message = fmt::format("a formula of {} letters is too long", text.size()),
                         .value = text.substr(0, 40) + "...",
                         .accepted = fmt::format("at most {} letters", kMostLetters)});
  }
  BANDANA_ASSIGN_OR_RETURN(Node root, FormulaParser(text).Parse());
  Formula formula;
  formula.text_ = text;
  formula.Collect(root);
  formula.root_ = std::make_shared<const Node>(std::move(root));
  return formula;
}

Formula::Formula(double number)
    : text_(fmt::format("{}", number)), root_(std::make_shared<const Node>(Node{.number = number})) {}

absl::StatusOr<double> Formula::Evaluate(const Scope& scope) const { return ValueOf(*root_, scope); }

absl::StatusOr<std::string> Formula::Explain(const Scope& scope) const {
  const bool compares = root_->kind == Node::Kind::kComparisons;
  std::string text;
  double before = 0;
  for (std::size_t i = 0; i < (compares ? root_->arguments.size() : 1); ++i) {
    BANDANA_ASSIGN_OR_RETURN(const double value, ValueOf(compares ? root_->arguments[i] : *root_, scope));
    if (i > 0) {
      const std::string& symbol = root_->comparisons[i - 1];
      text += fmt::format(" {}{} ", Agrees(symbol, before, value) ? "" : "not ", symbol);
    }
    text += fmt::format("{:.3g}", value);
    before = value;
  }
  return text;
}

absl::StatusOr<std::vector<double>> Formula::Gaps(const Scope& scope) const {
  std::vector<double> gaps;
  if (root_->kind != Node::Kind::kComparisons) return gaps;
  std::vector<double> values;
  for (const Node& argument : root_->arguments) {
    BANDANA_ASSIGN_OR_RETURN(const double value, ValueOf(argument, scope));
    values.push_back(value);
  }
  for (std::size_t i = 0; i + 1 < values.size(); ++i) gaps.push_back(values[i] - values[i + 1]);
  return gaps;
}

void Formula::Collect(const Node& node) {
  if (node.kind == Node::Kind::kName) names_.insert(node.text);
  if (node.kind == Node::Kind::kKey) keys_.insert(node.text);
  calls_series_ = calls_series_ || node.kind == Node::Kind::kSeriesCall;
  for (const Node& argument : node.arguments) Collect(argument);
}

}  // namespace bandana::lab
