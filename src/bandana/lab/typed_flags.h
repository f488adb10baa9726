#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::lab {

/// The values of flags by name ("--epsilon"), as the user typed them. A flag that was not given has no value.
using FlagValues = std::map<std::string, std::optional<std::string>>;

/// Reads and checks the values of flags. An error names the flag, the value and the accepted values.
class TypedFlags {
 public:
  explicit TypedFlags(const FlagValues& values) : values_(values) {}  ///< `values` must outlive it

  bool Has(const std::string& flag) const;

  /// Returns a finite number > 0 that is not denormal, or an error.
  absl::StatusOr<double> Number(const std::string& flag,
                                const std::string& accepted = "a finite number > 0") const;

  /// Returns a number in (0, 1), or an error.
  absl::StatusOr<double> Probability(const std::string& flag) const;

  /// Returns a whole number >= 1, or an error.
  absl::StatusOr<std::int64_t> Whole(const std::string& flag) const;

  enum class Absent { kRefused, kFirst };
  /// Returns one of the choices, or an error. If the flag was not given, kFirst returns the first choice and
  /// kRefused an error.
  absl::StatusOr<std::string> Choice(const std::string& flag, const std::vector<std::string>& choices,
                                     Absent absent) const;

  /// Returns the values of --epsilon and --delta.
  absl::StatusOr<DpGuarantee> Guarantee() const;

  static absl::Status Missing(const std::string& flag, const std::string& accepted);

  /// Returns the error that a given flag cannot be combined with the others.
  absl::Status Clash(const std::string& flag, const std::string& message) const;

 private:
  const FlagValues& values_;
};

/// Returns an error of the library, which names a dotted key ("privacy.honest_fraction"), with the name of
/// the flag instead ("--honest-fraction"). `renamed` maps last parts of keys to names of flags: {{"clients",
/// "n"}}.
absl::Status NamedAsFlag(const absl::Status& status, const std::map<std::string, std::string>& renamed = {});

}  // namespace bandana::lab
