#pragma once

namespace bandana::cli {

/// Runs the command line and returns an exit code (interfaces.md lists them).
int Main(int argc, char** argv);

}  // namespace bandana::cli
