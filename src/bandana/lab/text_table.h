#pragma once

#include <string>
#include <vector>

namespace bandana::lab {

/// Returns a text table whose columns are padded to their widest cell. The first row is the header.
std::string Table(const std::vector<std::vector<std::string>>& rows);

}  // namespace bandana::lab
