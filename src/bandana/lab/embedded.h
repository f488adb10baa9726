#pragma once

#include <span>
#include <string_view>

namespace bandana::lab {

/// A file of web/dist or experiments/exhibits that is compiled into the program, so that the program needs no
/// other files at run time.
struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace bandana::lab
