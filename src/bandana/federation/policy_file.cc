#include "bandana/federation/policy_file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "bandana/core/archive.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana {
namespace {

// A file holds this magic text, the version, the identity, the state, and the hexadecimal digest of all that.
constexpr std::string_view kMagic = "bandana saved policy\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigestSize = 64;

struct Contents {
  std::string algorithm;
  std::string role;
  std::map<std::string, std::string> parameters;
  std::string state;

  template <class Archive>
  void State(Archive& a) {
    a.Same(kVersion, "format version");
    a(algorithm, role, parameters, state);
  }
};

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  std::error_code none;
  std::ifstream file(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path, none) || !file) {
    return InvalidInput(
        {.message = "cannot be read", .file = path, .accepted = "a file that a policy was saved to"});
  }
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return FileError(absl::StatusCode::kUnavailable, path, "cannot be read");
  return bytes;
}

absl::Status Other(const std::string& path, std::string_view what, std::string_view saved,
                   std::string_view here) {
  return FileError(
      absl::StatusCode::kFailedPrecondition, path,
      fmt::format("the file was saved by a policy with {} = \"{}\", not \"{}\"", what, saved, here));
}

absl::Status CheckIdentity(const std::string& path, const Contents& saved, const PolicyIdentity& identity) {
  if (saved.algorithm != identity.algorithm) {
    return Other(path, "algorithm", saved.algorithm, identity.algorithm);
  }
  if (saved.role != identity.role) return Other(path, "role", saved.role, identity.role);
  std::map<std::string, std::string> all = identity.parameters;
  all.insert(saved.parameters.begin(), saved.parameters.end());
  const auto value = [](const std::map<std::string, std::string>& parameters, const std::string& name) {
    const auto it = parameters.find(name);
    return it == parameters.end() ? std::string("(none)") : it->second;
  };
  for (const auto& [name, unused] : all) {
    const std::string before = value(saved.parameters, name);
    const std::string here = value(identity.parameters, name);
    if (before != here) return Other(path, name, before, here);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WritePolicy(const std::string& path, const PolicyIdentity& identity, std::string_view saved) {
  const Contents contents{.algorithm = identity.algorithm,
                          .role = identity.role,
                          .parameters = identity.parameters,
                          .state = std::string(saved)};
  std::string bytes = std::string(kMagic) + SaveState(contents);
  bytes += Sha256(bytes);
  BANDANA_RETURN_IF_ERROR(ReplaceFile(path, bytes));
  return SyncFolderOf(path);
}

absl::StatusOr<std::string> ReadPolicy(const std::string& path, const PolicyIdentity& identity) {
  BANDANA_ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(path));
  std::string_view rest = bytes;
  if (rest.substr(0, kMagic.size()) != kMagic.substr(0, rest.size())) {
    return InvalidInput({.message = "not a saved policy", .file = path});
  }
  const auto damaged = [&](std::string_view how) {
    return FileError(absl::StatusCode::kDataLoss, path, fmt::format("the file is damaged: {}", how));
  };
  if (rest.size() < kMagic.size() + kDigestSize) return damaged("it ends too early");
  const std::string_view digest = rest.substr(rest.size() - kDigestSize);
  rest.remove_suffix(kDigestSize);
  if (Sha256(rest) != digest) return damaged("its digest does not match its contents");
  rest.remove_prefix(kMagic.size());
  Contents contents;
  if (const absl::Status status = RestoreState(rest, contents); !status.ok()) {
    return FileError(status.code(), path, std::string(status.message()));
  }
  BANDANA_RETURN_IF_ERROR(CheckIdentity(path, contents, identity));
  return std::move(contents.state);
}

absl::Status SavePolicy(const std::string& path, const PolicyIdentity& identity, const Savable& role) {
  return WritePolicy(path, identity, role.Save());
}

absl::Status LoadPolicy(const std::string& path, const PolicyIdentity& identity, Savable& role) {
  BANDANA_ASSIGN_OR_RETURN(const std::string saved, ReadPolicy(path, identity));
  const absl::Status status = role.Restore(saved);
  return status.ok() ? status : FileError(status.code(), path, std::string(status.message()));
}

}  // namespace bandana
