#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bandana/lab/judge/findings.h"
#include "bandana/lab/judge/formula.h"

/// Claims as a TOML file writes them (docs/exhibits.md). Texts and formulas may hold keys and names in
/// braces, which stand for the values that `for` and `each` give them.
namespace bandana::lab {

/// Values by name, from `for` and `each`. A name with a dot, or "horizon", is a key of the spec.
using Bindings = std::map<std::string, Json>;

/// A metric at one point, or at several points along a key.
struct Series {
  std::string name = {};             ///< for the evidence; empty: the names in `at`, or else the metric
  std::vector<Json> at = {};         ///< names of [where] and tables of keys; later ones come first
  std::string along = {};            ///< a key, a formula of keys, or "t"; empty: there is one point
  Formula metric = Formula(0);       ///< a metric, or a formula of metrics and of keys of the point
  std::optional<Formula> from = {};  ///< the smallest place that counts
  std::optional<Formula> to = {};    ///< the largest place that counts
  bool average = false;              ///< whether points at one place are averaged, or else an error
};

/// A series, or a formula of the series that `let` names.
using Operand = std::variant<Series, Formula>;

/// Values to go through. `rows` lists them, or else they are all numbers that the run has for `key`.
struct Variation {
  std::string key = {};
  std::vector<Bindings> rows = {};
};

enum class ClaimKind {
  kFalls,
  kRises,
  kBelow,
  kAbove,
  kNotAbove,
  kNotBelow,
  kWithin,
  kAtLeast,
  kAtMost,
  kGrows,
  kEquals,
  kPrints,
  kDelivers,
  kInequality,
  kCode,
};

/// The names of the kinds, in the order of ClaimKind.
const std::vector<std::string>& ClaimKindNames();

enum class By {
  kMean,       ///< means over replicates, with their standard errors
  kMedian,     ///< medians over replicates
  kReplicate,  ///< replicate by replicate
};

/// Says whose algorithm a claim is about.
enum class Version {
  kNone,     ///< the claim is not about a version
  kPrinted,  ///< the paper's algorithm, with its noise, widths, schedules and constants
  kOurs,     ///< Bandana's default
};

/// Returns "", "printed" or "ours".
const std::string& NameOf(Version version);

enum class Places { kEvery, kSome, kFirst, kLast };

/// One sentence of a paper, in a form that a run can confirm or not.
struct PaperClaim {
  int line = 0;  ///< where it begins in its file
  std::string says;
  std::string paper;     ///< where the paper says so: "p1 Fig. 2(a)"
  bool expected = true;  ///< whether we expect a run to confirm it
  std::string reason;    ///< why we do not expect it; empty if we do
  Version version = Version::kNone;
  bool at_paper_scale = false;  ///< whether scale quick is too short, or has too few runs, to judge it
  ClaimKind is = ClaimKind::kFalls;

  Bindings bindings;            ///< the values of `for`
  std::vector<Variation> each;  ///< the claim must hold for all of these
  bool negated = false;         ///< whether the claim is that it does not hold

  std::optional<Operand> of;
  std::optional<Operand> than;
  std::optional<Operand> above;       ///< the series that `of` is measured from
  std::map<std::string, Series> let;  ///< series by name, for formulas

  Formula factor = Formula(1);
  std::optional<Formula> at_most;  ///< the exponent that growth may have
  std::optional<Formula> like;     ///< the exponent that growth has
  std::optional<Formula> value;    ///< the number that the paper prints
  std::optional<Formula> digit;    ///< what a unit of its last printed digit is; ours must round to `value`
  double tolerance = 0;
  By by = By::kMean;
  std::optional<double> share;  ///< the share of the replicates in which it must be so
  Places place = Places::kEvery;
  std::vector<Formula> that;  ///< the inequalities
  std::string judge;          ///< the name of a function in C++

  std::shared_ptr<const std::map<std::string, Where>> where;  ///< the names of [where]
};

/// A line that a theorem gives for a series. `claim` has its words, its series `of`, and [where].
struct Bound {
  PaperClaim claim;
  Series line;        ///< the series of the bound: `of` with the bound's formula as its metric
  bool rate = false;  ///< whether the formula lacks its constant, which is then fitted at the last place
};

/// Something that a paper prints and that cannot be run as printed.
struct NotRunnable {
  std::string what;
  std::string paper;
  std::string reason;
};

/// Everything that an exhibit's file says beside its spec.
struct ExhibitClaims {
  std::vector<PaperClaim> claims;
  std::vector<Bound> bounds;
  std::vector<NotRunnable> not_runnable;
  std::string stand_in;  ///< what stands in for data that is not public; empty: nothing does
};

/// Returns the text with the values of bound names instead of these names in braces.
std::string Filled(const std::string& text, const Bindings& bindings);

/// Returns the value of the name if the text is just a bound name in braces, or else null.
const Json* BoundWhole(const std::string& text, const Bindings& bindings);

/// Returns a value as a text for people.
std::string TextOf(const Json& value);

/// Return the keys that every claim may have, and those that only claims of this kind may have.
const std::vector<std::string>& CommonClaimKeys();
const std::vector<std::string>& ClaimKeysOf(ClaimKind kind);

}  // namespace bandana::lab
