#include "python_parts.h"

#include <pybind11/stl.h>

#include <cmath>
#include <limits>
#include <utility>

#include "bandana/algorithms/plugin.h"
#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "bindings.h"
#include "fmt/format.h"
#include "values.h"

namespace bandana::python {
namespace {

// What Python raised while C++ waited for it. The interpreter's lock guards it.
struct Failure {
  std::string text;
  py::object error;
};

Failure*& Kept() {
  static Failure* kept = nullptr;
  return kept;
}

Option OptionFrom(const std::string& table, const py::dict& card) {
  const auto key = card["key"].cast<std::string>();
  Option option{.table = table,
                .key = key,
                .kind = Option::Kind::kPlain,
                .required = card["required"].cast<bool>(),
                .accepted = card["accepted"].cast<std::string>(),
                .sentence = card["sentence"].cast<std::string>(),
                .words = {},
                // Only its author knows what an option of a Python class changes.
                .claims = Claims::kChanged,
                .condition = "",
                .applies = [](const std::any&, const Values&) { return true; }};
  const auto kind = card["kind"].cast<std::string>();
  const auto low = card["low"].cast<double>();
  const auto high = card["high"].cast<double>();
  if (kind == "bool") {
    option.check = [key](const Value& value) { return internal::CheckFlag(key, value); };
  } else if (kind == "int") {
    option.check = [=, accepted = option.accepted](const Value& value) {
      return internal::CheckInteger(key, value, low, high, false, accepted);
    };
  } else if (kind == "float") {
    option.check = [=, accepted = option.accepted](const Value& value) {
      const auto inside = [=](double number) {
        return number >= low && number <= high && std::isfinite(number);
      };
      return internal::CheckNumber(key, value, inside, {}, accepted);
    };
  } else {
    for (const py::handle word : card["words"]) option.words.push_back({word.cast<std::string>(), ""});
    option.kind = option.words.empty() ? Option::Kind::kText : Option::Kind::kChoice;
    option.check = [key, words = option.words, accepted = option.accepted](const Value& value) {
      return words.empty() ? internal::CheckText(key, value, accepted)
                           : internal::CheckWord(key, value, words, accepted);
    };
  }
  option.set = [key](std::any& params, const Value& value) { std::any_cast<Values&>(params)[key] = value; };
  option.get = [key](const std::any& params) { return std::any_cast<const Values&>(params).at(key); };
  return option;
}

}  // namespace

Shared Share(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            if (Py_IsInitialized() == 0) return;
            const py::gil_scoped_acquire lock;
            delete held;
          }};
}

absl::Status KeepFailure(py::error_already_set& error) {
  const std::string text = fmt::format("{}: {}", py::str(error.type().attr("__name__")).cast<std::string>(),
                                       py::str(error.value()).cast<std::string>());
  if (Kept() == nullptr) Kept() = new Failure{text, error.value()};
  return absl::UnknownError(text);
}

absl::Status PythonFailure() {
  if (Py_IsInitialized() == 0) return absl::OkStatus();
  const py::gil_scoped_acquire lock;
  return Kept() == nullptr ? absl::OkStatus() : absl::UnknownError(Kept()->text);
}

void RaiseFailure() {
  if (Kept() == nullptr) return;
  const std::unique_ptr<Failure> failure(std::exchange(Kept(), nullptr));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(failure->error.ptr())), failure->error.ptr());
  throw py::error_already_set();
}

std::vector<Option> OptionsFrom(const std::string& table, const py::list& cards, Values& defaults) {
  std::vector<Option> options;
  for (const py::handle each : cards) {
    const auto card = each.cast<py::dict>();
    options.push_back(OptionFrom(table, card));
    const std::string& key = options.back().key;
    if (!options.back().required) defaults[key] = ValueFrom(key, card["default"]);
  }
  return options;
}

Facts FactsFrom(const py::dict& given) {
  const auto number = [&](const char* key) { return given[key].cast<double>(); };
  const auto count = [&](const char* key) { return given[key].cast<Count>(); };
  Facts facts{.horizon = count("horizon"),
              .people = count("people"),
              .arms = count("arms"),
              .dimension = count("dimension")};
  facts.rewards = {number("low"), number("high")};
  facts.reward_proxy = number("reward_proxy");
  facts.context_norm = number("context_norm");
  facts.theta_norm = number("theta_norm");
  facts.client_sd = number("client_sd");
  facts.misspecification = number("misspecification");
  facts.multi = given["multi"].cast<bool>();
  facts.public_seed = given["public_seed"].cast<std::uint64_t>();
  const auto link = given["link"].cast<std::string>();
  const Link which = link == "logistic"  ? Link::kLogistic
                     : link == "probit"  ? Link::kProbit
                     : link == "poisson" ? Link::kPoisson
                                         : Link::kIdentity;
  facts.mean = ValueOrRaise(MeanFunction::Create(
      which, which == Link::kPoisson ? static_cast<Count>(facts.rewards.high) : Count{0}));
  const auto law = given["reward"].cast<std::string>();
  facts.reward = {.kind = law == "bernoulli"    ? RewardKind::kBernoulli
                          : law == "rademacher" ? RewardKind::kRademacher
                          : law == "uniform"    ? RewardKind::kUniform
                                                : RewardKind::kGaussian,
                  .sd = facts.reward_proxy};
  if (law == "bounded")
    facts.reward_bound = std::max(std::abs(facts.rewards.low), std::abs(facts.rewards.high));
  if (!given["actions"].is_none()) {
    const auto rows = given["actions"].cast<std::vector<std::vector<double>>>();
    auto actions = std::make_shared<ActionMatrix>(rows.size(), rows.at(0).size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows[i].size(); ++j) {
        (*actions)(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
      }
    }
    facts.actions = std::move(actions);
  }
  facts.notes = {{Note::Weight::kRemark, "The world is a class in Python: its facts are its author's word."}};
  return facts;
}

}  // namespace bandana::python
