#include "bandana/federation/family.h"

#include <algorithm>

#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana {
namespace {

bool IsPlayedIn(const Family& family, const std::string& world) {
  return std::find(family.worlds.begin(), family.worlds.end(), world) != family.worlds.end();
}

template <class Entries>
std::string NamesOf(const Entries& entries, const std::string& wrong) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if (std::find(names.begin(), names.end(), entry.name) == names.end()) names.push_back(entry.name);
  }
  const std::string nearest = NearestIfNear(wrong, names);
  return fmt::format("{}{}", nearest.empty() ? "" : "nearest: " + nearest + "; one of ",
                     fmt::join(names, ", "));
}

}  // namespace

absl::Status Registry::Add(Family family) {
  for (const Family& other : families_) {
    if (other.name != family.name) continue;
    for (const std::string& world : family.worlds) {
      if (!IsPlayedIn(other, world)) continue;
      return InvalidOption("name", family.name, "a name that no other algorithm has in that world");
    }
  }
  families_.push_back(std::move(family));
  return absl::OkStatus();
}

absl::Status Registry::Add(WorldKind kind) {
  for (const WorldKind& other : worlds_) {
    if (other.name == kind.name && other.time == kind.time) {
      return InvalidOption("name", kind.name, "a name that no other world of that time model has");
    }
  }
  worlds_.push_back(std::move(kind));
  return absl::OkStatus();
}

absl::StatusOr<const Family*> Registry::FindFamily(const std::string& name, const std::string& world) const {
  std::vector<std::string> worlds;
  for (const Family& family : families_) {
    if (family.name != name) continue;
    if (world.empty() || IsPlayedIn(family, world)) return &family;
    worlds.insert(worlds.end(), family.worlds.begin(), family.worlds.end());
  }
  if (worlds.empty()) return InvalidOption("name", name, NamesOf(families_, name));
  return InvalidOption("world", world, fmt::format("{} with {}", fmt::join(worlds, ", "), name));
}

absl::StatusOr<const Family*> Registry::FindFamily(const std::string& name, TimeModel time) const {
  std::vector<Family> others;
  for (const Family& family : families_) {
    if (family.time != time) continue;
    if (family.name == name) return &family;
    others.push_back(family);
  }
  return InvalidOption("name", name, NamesOf(others, name));
}

absl::StatusOr<const WorldKind*> Registry::FindWorld(const std::string& name, TimeModel time) const {
  for (const WorldKind& kind : worlds_) {
    if (kind.name == name && kind.time == time) return &kind;
  }
  std::vector<WorldKind> others;
  for (const WorldKind& kind : worlds_) {
    if (kind.time == time) others.push_back(kind);
  }
  return InvalidOption("kind", name, NamesOf(others, name));
}

}  // namespace bandana
