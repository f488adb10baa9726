#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bandana/config.h"
#include "bandana/federation/family.h"

/// Plugins: shared libraries from outside the tree that add algorithms and worlds to the registry.
namespace bandana {

struct Plugin {
  std::string file;    ///< the name of the file, without its folder
  std::string sha256;  ///< the digest of the file
};

/// Loads a plugin and adds its entries to Families(). They exist until the program ends. The code of a plugin
/// runs in this process, so load only what you trust. Every federation that its algorithms make carries the
/// remark that the code is not Bandana's. Fails, and adds nothing, if the file is no plugin, was built
/// against another Bandana, or brings a name that is taken.
absl::Status LoadPlugin(const std::string& path);

/// Returns the plugins that were loaded, in their order.
const std::vector<Plugin>& LoadedPlugins();

/// Returns the file and its digest as reports name them.
std::string NameOf(const Plugin& plugin);

/// Returns the remark that the federations of a plugin's algorithms carry.
std::string RemarkOf(const Plugin& plugin);

}  // namespace bandana

/// A plugin's entry. It stands once in a shared library, before a function body that adds to `registry` and
/// returns an absl::Status:
///   BANDANA_PLUGIN(registry) { return registry.Add(MyFamily()); }
#define BANDANA_PLUGIN(registry)                                                                     \
  static absl::Status BandanaPluginEntries(::bandana::Registry& registry);                           \
  extern "C" [[gnu::visibility("default")]] const char* bandana_plugin_abi() { return BANDANA_ABI; } \
  extern "C" [[gnu::visibility("default")]] void bandana_plugin_add(::bandana::Registry& to,         \
                                                                    absl::Status& status) {          \
    status = BandanaPluginEntries(to);                                                               \
  }                                                                                                  \
  static absl::Status BandanaPluginEntries(::bandana::Registry& registry)
