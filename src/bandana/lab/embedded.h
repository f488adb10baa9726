#pragma once

#include <span>
#include <string_view>

namespace bandana::lab {

/// A file of web/dist or experiments/exhibits that is part of the program, so that it needs nothing beside
/// it.
struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace bandana::lab
