#pragma once

namespace bandana::cli {

/// The command line; returns the exit code of interfaces.md.
int Main(int argc, char** argv);

}  // namespace bandana::cli
