#pragma once

#include <string>
#include <vector>

#include "bandana/cli/output.h"

/// One function a command; each returns the exit code.
namespace bandana::cli {

struct RunArguments {
  std::string spec;
  std::string out;
  int threads = 0;
  bool resume = false;
  std::vector<std::string> set;
};
int RunCommand(const RunArguments& arguments, const Global& global);

int ListCommand(const std::string& what, const Global& global);

}  // namespace bandana::cli
