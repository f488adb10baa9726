#include <cstdio>
#include <exception>

#include "bandana/cli/app.h"

int main(int argc, char** argv) {
  try {
    return bandana::cli::Main(argc, argv);
  } catch (const std::exception& error) {  // our code throws nothing, so this is out of memory or a bug
    std::fprintf(stderr, "bandana: %s\n", error.what());
    return 1;
  }
}
