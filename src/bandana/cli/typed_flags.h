#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/privacy/guarantee.h"

namespace bandana::cli {

/// The values of flags by name ("--epsilon"), as typed; no value where a flag was not given.
using FlagValues = std::map<std::string, std::optional<std::string>>;

/// Flags with their values checked: an error names the flag, what was typed and what is accepted.
class TypedFlags {
 public:
  explicit TypedFlags(const FlagValues& values) : values_(values) {}  ///< `values` must outlive it

  bool Has(const std::string& flag) const;

  /// A finite number > 0 that is not denormal.
  absl::StatusOr<double> Number(const std::string& flag,
                                const std::string& accepted = "a finite number > 0") const;

  /// A number in (0, 1).
  absl::StatusOr<double> Probability(const std::string& flag) const;

  /// A whole number >= 1.
  absl::StatusOr<std::int64_t> Whole(const std::string& flag) const;

  enum class Absent { kRefused, kFirst };
  /// One of the choices; with kFirst, the first of them if the flag was not given.
  absl::StatusOr<std::string> Choice(const std::string& flag, const std::vector<std::string>& choices,
                                     Absent absent) const;

  /// --epsilon and --delta.
  absl::StatusOr<DpGuarantee> Guarantee() const;

  static absl::Status Missing(const std::string& flag, const std::string& accepted);

  /// A flag that was given and does not go with the others.
  absl::Status Clash(const std::string& flag, const std::string& message) const;

 private:
  const FlagValues& values_;
};

/// An error of the library, which names fields as TOML does ("privacy.honest_fraction"), with the flag's name
/// ("--honest-fraction"). `renamed` maps last parts of names to others: {{"clients", "n"}}.
absl::Status NamedAsFlag(const absl::Status& status, const std::map<std::string, std::string>& renamed = {});

}  // namespace bandana::cli
