#include "bandana/store/store_name.h"

#include <fstream>
#include <string_view>

#include "bandana/core/status.h"

namespace bandana::store {
namespace {

constexpr std::string_view kScheme = "sqlite:";
constexpr std::string_view kSqliteBeginning("SQLite format 3\0", 16);

}  // namespace

absl::StatusOr<std::string> FileOfStore(const std::string& name) {
  const bool has_scheme = name.starts_with(kScheme);
  std::string path = has_scheme ? name.substr(kScheme.size()) : name;
  if (!path.empty() && (has_scheme || path.find("://") == std::string::npos)) return path;
  return InvalidInput({.message = "not a store",
                       .key = "store",
                       .value = name,
                       .accepted = "the file of a store, such as store.db or sqlite:store.db"});
}

bool NamesStore(const std::string& name) {
  if (name.starts_with(kScheme)) return true;
  std::ifstream file(name, std::ios::binary);
  std::string beginning(kSqliteBeginning.size(), ' ');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return file && beginning == kSqliteBeginning;
}

}  // namespace bandana::store
