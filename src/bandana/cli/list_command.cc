#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/catalog.h"
#include "fmt/format.h"

namespace bandana::cli {

int ListCommand(const std::string& what, const Global& global) {
  const absl::StatusOr<std::vector<lab::Entry>> entries = lab::Catalog(what);
  if (!entries.ok()) return Fail(entries.status(), global);
  if (global.json) {
    lab::Json json = lab::Json::array();
    for (const lab::Entry& entry : *entries) {
      lab::Json options = lab::Json::array();
      for (const lab::Option* option : entry.options) {
        const std::optional<lab::Value> fallback = option->FallbackFor(entry.settings);
        options.push_back({{"key", option->key},
                           {"default", fallback ? lab::ToJson(*fallback) : lab::Json(nullptr)},
                           {"accepted", option->accepted},
                           {"help", option->help}});
      }
      json.push_back({{"name", entry.name}, {"summary", entry.summary}, {"options", options}});
    }
    fmt::print("{}\n", json.dump(1));
    return 0;
  }
  if (entries->empty()) fmt::print("no {} yet\n", what);
  for (const lab::Entry& entry : *entries) {
    fmt::print("{}\n    {}\n", entry.name, entry.summary);
    for (const lab::Option* option : entry.options) {
      const std::optional<lab::Value> fallback = option->FallbackFor(entry.settings);
      fmt::print("    {:<26} {}\n    {:<26}   {}; {}\n", option->key, option->help, "", option->accepted,
                 fallback ? "default " + lab::ToText(*fallback) : "no default");
    }
    fmt::print("\n");
  }
  return 0;
}

}  // namespace bandana::cli
