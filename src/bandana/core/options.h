#pragma once

#include <any>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/ids.h"
#include "bandana/core/value.h"

/// Options: fields of a struct that have a name, a default, a range and a sentence. The command line, the
/// experiments' TOML, the lists that are printed and the error messages are all made from the same options.
namespace bandana {

/// One of the words that an option accepts, and what the word means.
struct Word {
  std::string word;
  std::string sentence;
};

/// Whether an option can change what is claimed about privacy: against whom, for which unit, how much, or on
/// which condition. Every option declares it. tests/claims/claims_table_test.cc varies every option and fails
/// if the declaration is wrong; docs/claims.md has the claims for all values of those that change them.
enum class Claims { kKept = 1, kChanged };

/// One option, bound to one field of a parameter struct P. `std::any` holds a P.
struct Option {
  enum class Kind { kPlain, kChoice, kText, kPath };

  std::string table;  ///< the TOML table in which it stands; empty: at the top
  std::string key;    ///< the name of the option, and of the field
  Kind kind = Kind::kPlain;
  bool required = false;    ///< it has no default
  std::string accepted;     ///< what is accepted, for messages
  std::string sentence;     ///< what the option does
  std::vector<Word> words;  ///< the words that it accepts, where it accepts words
  Claims claims;            ///< whether the option can change a privacy claim; it has no default
  std::string condition;    ///< when it has an effect, such as "with link = poisson"; empty: always

  /// Returns the value in the type that the field has, or an error that names the key.
  std::function<absl::StatusOr<Value>(const Value&)> check;
  std::function<void(std::any& params, const Value& checked)> set;
  std::function<Value(const std::any& params)> get;

  /// Returns whether the option has an effect, given the options before it and the world's own options. A
  /// program that does not say what its world is (`world` empty) may set it in any case.
  std::function<bool(const std::any& params, const Values& world)> applies;

  std::string FullKey() const { return table.empty() ? key : table + "." + key; }
};

/// Reads options into a parameter struct.
struct Resolved {
  std::any params;
  Values values;  ///< of every option that applies, with defaults
};

/// Sets what is given, leaves the rest at its default. Fails for an unknown key, a value out of range and a
/// required option that is not given.
absl::StatusOr<Resolved> Resolve(const std::vector<Option>& options, std::any defaults, const Values& given,
                                 const Values& world = {});

/// Fails if a field that has an effect is out of its option's range, for programs that fill in a struct by
/// hand. The error is an InvalidField of Part::kParams.
absl::Status CheckFields(const std::vector<Option>& options, const std::any& params);

inline bool Positive(double value) { return value > 0 && std::isnormal(value); }
inline bool NonNegative(double value) { return value >= 0 && std::isfinite(value); }
inline bool Probability(double value) { return value > 0 && value < 1 && std::isnormal(value); }
inline std::function<bool(double)> InClosed(double low, double high) {
  return [=](double value) { return value >= low && value <= high; };
}
inline std::function<bool(double)> InHalfOpen(double low, double high) {  ///< low is excluded
  return [=](double value) { return value > low && value <= high; };
}

/// A spelling of an enumerator.
template <class E>
struct Spelling {
  std::string word;
  E value;
  std::string sentence;
};

namespace internal {

using Range = std::function<bool(double)>;
absl::StatusOr<Value> CheckNumber(const std::string& key, const Value& value, const Range& range,
                                  const std::vector<std::string>& words, const std::string& accepted);
absl::StatusOr<Value> CheckInteger(const std::string& key, const Value& value, double least, double most,
                                   bool or_auto, const std::string& accepted);
absl::StatusOr<Value> CheckNumbers(const std::string& key, const Value& value, const Range& range,
                                   const std::string& accepted);
absl::StatusOr<Value> CheckIntegers(const std::string& key, const Value& value, double least,
                                    const std::string& accepted);
absl::StatusOr<Value> CheckWord(const std::string& key, const Value& value, const std::vector<Word>& words,
                                const std::string& accepted);
absl::StatusOr<Value> CheckFlag(const std::string& key, const Value& value);
absl::StatusOr<Value> CheckText(const std::string& key, const Value& value, const std::string& accepted);
std::string WholeFrom(Count least, Count most);
std::string OneOf(const std::vector<Word>& words);

}  // namespace internal

/// Makes the options of a parameter struct: OptionsFor<P>("algorithm").Number("alpha", &P::alpha, ...). What
/// P{} has in a field is the default, so that a default is written once.
template <class P>
class OptionsFor {
 public:
  static constexpr Count kNoLimit = std::numeric_limits<Count>::max();

  explicit OptionsFor(std::string table) : table_(std::move(table)) {}

  /// The options that follow stand in another table.
  OptionsFor& In(std::string table) {
    table_ = std::move(table);
    return *this;
  }

  OptionsFor& Number(const std::string& key, Claims claims, double P::* field, internal::Range range,
                     const std::string& accepted, const std::string& sentence) {
    Add(key, claims, Option::Kind::kPlain, accepted, sentence, field);
    last().check = [key, range = std::move(range), accepted = last().accepted](const Value& value) {
      return internal::CheckNumber(key, value, range, {}, accepted);
    };
    return *this;
  }

  /// "auto" is an empty field.
  OptionsFor& Number(const std::string& key, Claims claims, std::optional<double> P::* field,
                     internal::Range range, const std::string& accepted, const std::string& sentence) {
    return NumberOr("auto", key, claims, field, std::move(range), accepted, sentence);
  }

  /// `word` is an empty field.
  OptionsFor& NumberOr(const std::string& word, const std::string& key, Claims claims,
                       std::optional<double> P::* field, internal::Range range, const std::string& accepted,
                       const std::string& sentence) {
    AddOption(key, claims, Option::Kind::kPlain, "\"" + word + "\" or " + accepted, sentence);
    last().check = [key, range = std::move(range), word, accepted = last().accepted](const Value& value) {
      return internal::CheckNumber(key, value, range, {word}, accepted);
    };
    last().set = [field](std::any& params, const Value& value) {
      const auto* number = std::get_if<double>(&value);
      Of(params).*field = number == nullptr ? std::nullopt : std::optional(*number);
    };
    last().get = [field, word](const std::any& params) {
      const std::optional<double>& value = Of(params).*field;
      return value.has_value() ? Value(*value) : Value(word);
    };
    return *this;
  }

  OptionsFor& Integer(const std::string& key, Claims claims, Count P::* field, Count least,
                      const std::string& sentence, Count most = kNoLimit) {
    Add(key, claims, Option::Kind::kPlain, internal::WholeFrom(least, most), sentence, field);
    last().check = [key, least, most, accepted = last().accepted](const Value& value) {
      return internal::CheckInteger(key, value, static_cast<double>(least), static_cast<double>(most), false,
                                    accepted);
    };
    return *this;
  }

  /// "auto" is an empty field.
  OptionsFor& Integer(const std::string& key, Claims claims, std::optional<Count> P::* field, Count least,
                      const std::string& sentence) {
    AddOption(key, claims, Option::Kind::kPlain, "\"auto\" or " + internal::WholeFrom(least, kNoLimit),
              sentence);
    last().check = [key, least, accepted = last().accepted](const Value& value) {
      return internal::CheckInteger(key, value, static_cast<double>(least), static_cast<double>(kNoLimit),
                                    true, accepted);
    };
    last().set = [field](std::any& params, const Value& value) {
      const auto* number = std::get_if<std::int64_t>(&value);
      Of(params).*field = number == nullptr ? std::nullopt : std::optional<Count>(*number);
    };
    last().get = [field](const std::any& params) {
      const std::optional<Count>& value = Of(params).*field;
      return value.has_value() ? Value(std::int64_t{*value}) : Value(std::string("auto"));
    };
    return *this;
  }

  OptionsFor& Flag(const std::string& key, Claims claims, bool P::* field, const std::string& sentence) {
    Add(key, claims, Option::Kind::kPlain, "true, false", sentence, field);
    last().check = [key](const Value& value) { return internal::CheckFlag(key, value); };
    return *this;
  }

  template <class E>
  OptionsFor& Choice(const std::string& key, Claims claims, E P::* field,
                     const std::vector<Spelling<E>>& spellings, const std::string& sentence) {
    std::vector<Word> words;
    for (const Spelling<E>& each : spellings) words.push_back({each.word, each.sentence});
    AddOption(key, claims, Option::Kind::kChoice, internal::OneOf(words), sentence);
    last().words = words;
    last().check = [key, words, accepted = last().accepted](const Value& value) {
      return internal::CheckWord(key, value, words, accepted);
    };
    last().set = [field, spellings](std::any& params, const Value& value) {
      for (const Spelling<E>& each : spellings) {
        if (IsWord(value, each.word)) Of(params).*field = each.value;
      }
    };
    last().get = [field, spellings](const std::any& params) {
      for (const Spelling<E>& each : spellings) {
        if (Of(params).*field == each.value) return Value(each.word);
      }
      return Value(std::string());
    };
    return *this;
  }

  OptionsFor& Text(const std::string& key, Claims claims, std::string P::* field, const std::string& accepted,
                   const std::string& sentence) {
    Add(key, claims, Option::Kind::kText, accepted, sentence, field);
    last().check = [key, accepted = last().accepted](const Value& value) {
      return internal::CheckText(key, value, accepted);
    };
    return *this;
  }

  /// A path. A program takes it from its working folder, the lab from the folder of the spec.
  OptionsFor& Path(const std::string& key, Claims claims, std::string P::* field,
                   const std::string& sentence) {
    Text(key, claims, field, "a path, relative to the spec", sentence);
    last().kind = Option::Kind::kPath;
    return *this;
  }

  /// "auto" is an empty list.
  OptionsFor& Numbers(const std::string& key, Claims claims, std::vector<double> P::* field,
                      internal::Range range, const std::string& each, const std::string& sentence) {
    AddList(key, claims, field, "\"auto\" or a list of " + each, sentence);
    last().check = [key, range = std::move(range), accepted = last().accepted](const Value& value) {
      return internal::CheckNumbers(key, value, range, accepted);
    };
    return *this;
  }
  OptionsFor& Integers(const std::string& key, Claims claims, std::vector<std::int64_t> P::* field,
                       Count least, const std::string& sentence) {
    AddList(key, claims, field, "\"auto\" or a list of whole numbers >= " + std::to_string(least), sentence);
    last().check = [key, least, accepted = last().accepted](const Value& value) {
      return internal::CheckIntegers(key, value, static_cast<double>(least), accepted);
    };
    return *this;
  }

  /// An option with a type of its own.
  OptionsFor& Custom(const std::string& key, Claims claims, const std::string& accepted,
                     const std::string& sentence, std::function<absl::StatusOr<Value>(const Value&)> check,
                     std::function<void(P&, const Value&)> set, std::function<Value(const P&)> get) {
    AddOption(key, claims, Option::Kind::kPlain, accepted, sentence);
    last().check = std::move(check);
    last().set = [set = std::move(set)](std::any& params, const Value& value) { set(Of(params), value); };
    last().get = [get = std::move(get)](const std::any& params) { return get(Of(params)); };
    return *this;
  }

  /// The last option has an effect only under this condition on the options before it. `text` says so, for
  /// lists: "with link = poisson".
  OptionsFor& When(std::function<bool(const P&)> condition, const std::string& text = "") {
    AddCondition(text);
    last().applies = [before = last().applies, condition = std::move(condition)](const std::any& params,
                                                                                 const Values& world) {
      return before(params, world) && condition(Of(params));
    };
    return *this;
  }

  /// The last option has an effect only if the world's option has this word.
  OptionsFor& WhenWorld(const std::string& key, const std::string& word) {
    AddCondition("in a world with " + key + " = " + word);
    last().applies = [before = last().applies, key, word](const std::any& params, const Values& world) {
      const auto it = world.find(key);
      return before(params, world) && (world.empty() || (it != world.end() && IsWord(it->second, word)));
    };
    return *this;
  }

  /// The last option has no default.
  OptionsFor& Required() {
    last().required = true;
    return *this;
  }

  /// Explains the words of the last option, where it is not a choice.
  OptionsFor& Meaning(std::vector<Word> words) {
    last().words = std::move(words);
    return *this;
  }

  /// Appends options of a struct that P derives from.
  template <class Base>
  OptionsFor& Also(const OptionsFor<Base>& base) {
    return AppendPart(base, [](P& params) -> Base& { return params; });
  }

  /// Appends options of a struct that is a field of P.
  template <class Field>
  OptionsFor& Also(Field P::* field, const OptionsFor<Field>& its) {
    return AppendPart(its, [field](P& params) -> Field& { return params.*field; });
  }

  /// States how the last option is written, where it is not a number.
  OptionsFor& As(Option::Kind kind) {
    last().kind = kind;
    return *this;
  }

  const std::vector<Option>& options() const { return options_; }

 private:
  static P& Of(std::any& params) { return *std::any_cast<P>(&params); }
  static const P& Of(const std::any& params) { return *std::any_cast<P>(&params); }
  Option& last() { return options_.back(); }

  void AddCondition(const std::string& text) {
    std::string& condition = last().condition;
    condition += condition.empty() || text.empty() ? text : " and " + text;
  }

  // Appends options of a part of P, to which `part_of` refers.
  template <class Part, class PartOf>
  OptionsFor& AppendPart(const OptionsFor<Part>& its, PartOf part_of) {
    for (Option option : its.options()) {
      option.set = [set = option.set, part_of](std::any& params, const Value& value) {
        std::any part = part_of(Of(params));
        set(part, value);
        part_of(Of(params)) = std::any_cast<const Part&>(part);
      };
      option.get = [get = option.get, part_of](const std::any& params) {
        P copy = Of(params);
        return get(std::any(part_of(copy)));
      };
      option.applies = [applies = option.applies, part_of](const std::any& params, const Values& world) {
        P copy = Of(params);
        return applies(std::any(part_of(copy)), world);
      };
      options_.push_back(std::move(option));
    }
    return *this;
  }

  void AddOption(const std::string& key, Claims claims, Option::Kind kind, const std::string& accepted,
                 const std::string& sentence) {
    options_.push_back({.table = table_,
                        .key = key,
                        .kind = kind,
                        .accepted = accepted,
                        .sentence = sentence,
                        .claims = claims,
                        .condition = "",
                        .applies = [](const std::any&, const Values&) { return true; }});
  }

  // A field whose type is that of its values.
  template <class T>
  void Add(const std::string& key, Claims claims, Option::Kind kind, const std::string& accepted,
           const std::string& sentence, T P::* field) {
    AddOption(key, claims, kind, accepted, sentence);
    last().set = [field](std::any& params, const Value& value) { Of(params).*field = std::get<T>(value); };
    last().get = [field](const std::any& params) { return Value(Of(params).*field); };
  }

  template <class T>
  void AddList(const std::string& key, Claims claims, std::vector<T> P::* field, const std::string& accepted,
               const std::string& sentence) {
    AddOption(key, claims, Option::Kind::kPlain, accepted, sentence);
    last().set = [field](std::any& params, const Value& value) {
      const auto* list = std::get_if<std::vector<T>>(&value);
      Of(params).*field = list == nullptr ? std::vector<T>() : *list;
    };
    last().get = [field](const std::any& params) {
      const std::vector<T>& list = Of(params).*field;
      return list.empty() ? Value(std::string("auto")) : Value(list);
    };
  }

  std::string table_;
  std::vector<Option> options_;
};

}  // namespace bandana
