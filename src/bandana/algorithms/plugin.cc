#include "bandana/algorithms/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "bandana/algorithms/registry.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

std::vector<Plugin>& Plugins() {
  static std::vector<Plugin>& plugins = *new std::vector<Plugin>;
  return plugins;
}

absl::Status Refused(const std::string& path, std::string message, std::string accepted) {
  return InvalidInput(
      {.message = std::move(message), .file = path, .key = "plugin", .accepted = std::move(accepted)});
}

// A function that the plugin's macro BANDANA_PLUGIN has made, or null.
template <class Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Every federation of the family says whose code it runs.
Family WithRemark(Family family, const Plugin& plugin) {
  family.origin = NameOf(plugin);
  family.create = [create = std::move(family.create), remark = RemarkOf(plugin)](
                      const std::any& params, const Privacy& privacy,
                      const Facts& facts) -> absl::StatusOr<Federation> {
    BANDANA_ASSIGN_OR_RETURN(Federation federation, create(params, privacy, facts));
    federation.notes.push_back({.text = remark});
    return federation;
  };
  return family;
}

// Adds everything or nothing.
absl::Status AddAll(const Registry& entries, const Plugin& plugin) {
  Registry together = Families();
  for (const Family& family : entries.families()) {
    if (!family.create) return InvalidOption("create", family.name, "a family with a function that creates it");
    BANDANA_RETURN_IF_ERROR(together.Add(family));
  }
  for (const WorldKind& kind : entries.worlds()) BANDANA_RETURN_IF_ERROR(together.Add(kind));
  for (const Family& family : entries.families()) {
    BANDANA_RETURN_IF_ERROR(Families().Add(WithRemark(family, plugin)));
  }
  for (WorldKind kind : entries.worlds()) {
    kind.origin = NameOf(plugin);
    BANDANA_RETURN_IF_ERROR(Families().Add(std::move(kind)));
  }
  return absl::OkStatus();
}

}  // namespace

std::string NameOf(const Plugin& plugin) {
  return fmt::format("plugin {} (SHA-256 {})", plugin.file, plugin.sha256);
}

std::string RemarkOf(const Plugin& plugin) {
  return fmt::format(
      "This algorithm is code of the {}. Its mechanisms are Bandana's, and the claims rest on "
      "its author's word that the code keeps to them.",
      NameOf(plugin));
}

const std::vector<Plugin>& LoadedPlugins() { return Plugins(); }

absl::Status LoadPlugin(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  std::ifstream in(absolute, std::ios::binary);
  if (error || !in || !std::filesystem::is_regular_file(absolute)) {
    return Refused(path, "cannot be read", "a shared library that uses BANDANA_PLUGIN");
  }
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const Plugin plugin{.file = absolute.filename().string(), .sha256 = Sha256(bytes)};
  const bool loaded = std::any_of(Plugins().begin(), Plugins().end(),
                                  [&](const Plugin& other) { return other.sha256 == plugin.sha256; });
  if (loaded) return absl::OkStatus();

  // It stays loaded: the registry keeps functions of its code.
  void* library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return Refused(path, why == nullptr ? "cannot be loaded" : why,
                   "a shared library that is linked with this libbandana");
  }
  auto* abi = Find<const char*()>(library, "bandana_plugin_abi");
  auto* add = Find<void(Registry&, absl::Status&)>(library, "bandana_plugin_add");
  if (abi == nullptr || add == nullptr) {
    return Refused(path, "is no plugin", "a shared library that uses BANDANA_PLUGIN");
  }
  if (std::string(abi()) != BANDANA_ABI) {
    return Refused(path, fmt::format("was built for Bandana {}", abi()),
                   fmt::format("a plugin for Bandana {}; build it again", BANDANA_ABI));
  }
  Registry entries;
  absl::Status status;
  add(entries, status);
  if (status.ok()) status = AddAll(entries, plugin);
  if (!status.ok()) return WithFile(status, path);
  Plugins().push_back(plugin);
  return absl::OkStatus();
}

}  // namespace bandana
