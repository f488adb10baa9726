#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bandana/lab/summary.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::lab {

/// The smallest effect that a comparison would have called clear. For means and ratios of means it is kClear
/// standard errors; for medians it is the spread over replicates (docs/exhibits.md).
struct Resolution {
  enum class Kind {
    kDifference,  ///< a relative difference
    kExponent,    ///< a difference between exponents of growth
    kGap,         ///< a difference between the sides of an inequality, in their own unit
    kEpsilon,     ///< an epsilon of the true distributions, not a difference
  };
  double value = 0;  ///< infinite: no effect, however large, would have been clear
  Kind kind = Kind::kDifference;
};

/// Returns the name of the kind in verdict.json: "difference", "exponent", "gap" or "epsilon".
const std::string& NameOf(Resolution::Kind kind);

/// The result of comparing a claim with a run.
struct Finding {
  bool holds = false;    ///< whether the run confirms the claim; false also if the run is not clear enough
  std::string evidence;  ///< the numbers, with standard errors
  std::optional<Resolution> resolves = std::nullopt;  ///< nothing: no replicates tell
  std::optional<double> measured = std::nullopt;      ///< our number, of a claim about a printed one
  std::optional<double> printed = std::nullopt;       ///< the number that the paper prints
};

/// A guarantee that was asked for and another one that the noise delivers.
struct OtherGuarantee {
  DpGuarantee asked;
  DpGuarantee delivered;
};

/// A claim and whether a run confirmed it.
struct Verdict {
  std::string claim;
  std::string paper;
  bool expected = true;
  bool holds = false;
  std::string evidence;
  bool judged = true;        ///< false: the run lacks the points or metrics that the claim is about
  bool left = false;         ///< not judged, because only the paper's scale can settle it
  std::string version = {};  ///< "printed", "ours", or empty: the claim is not about a version
  std::string reason = {};   ///< why it is not expected to hold; empty if it is
  std::optional<Resolution> resolves = std::nullopt;
  std::optional<double> measured = std::nullopt;
  std::optional<double> printed = std::nullopt;
  std::vector<double> horizons = {};          ///< the horizons of the points that were compared, ascending
  std::size_t replicates = 0;                 ///< the smallest number of runs behind one of them
  std::vector<OtherGuarantee> delivers = {};  ///< where the noise delivers another guarantee than was asked

  bool as_expected() const { return left || (judged && holds == expected); }
};

/// Returns the verdicts in the shape of verdict.json (docs/exhibits.md).
Json ToJson(const std::vector<Verdict>& verdicts);

/// Returns at which horizons and from how many runs the claim was judged: "T = 20000, 16 runs". The text is
/// empty if the claim was not judged.
std::string RunsInWords(const Verdict& verdict);

/// Returns how small an effect the runs would have shown: "sees differences of 12 %". The text is empty if
/// that is not known.
std::string PowerInWords(const Verdict& verdict);

/// Returns the verdict in one or two words: "confirmed", "not confirmed", "not judged" or "paper scale".
std::string InWords(const Verdict& verdict);

}  // namespace bandana::lab
