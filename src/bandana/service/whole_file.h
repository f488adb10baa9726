#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace bandana::service {

/// Returns the path of a file in a folder, whether the folder's name ends with a slash or not.
std::string PathIn(const std::string& folder, const std::string& name);

enum class Secrecy { kPublic, kPrivate };  ///< only the owner may read a private file

/// Writes a file that is not there yet. It appears whole: after a crash it is there with all its bytes, or
/// not at all. Fails with kAlreadyExists.
absl::Status WriteNewFile(const std::string& path, std::string_view bytes, Secrecy secrecy);

/// Replaces a file, or writes a new one. After a crash it holds the old bytes or the new ones.
absl::Status WriteOverFile(const std::string& path, std::string_view bytes, Secrecy secrecy);

/// Gives a file that was written under a temporary name its own. Fails with kAlreadyExists if there is a file
/// of that name.
absl::Status GiveNewName(const std::string& temporary, const std::string& path);

}  // namespace bandana::service
