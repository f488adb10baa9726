#include <cstdio>
#include <exception>

#include "bandana/cli/app.h"

int main(int argc, char** argv) {
  try {
    return bandana::cli::Main(argc, argv);
  } catch (const std::exception& error) {  // the library throws nothing: this is memory, or a mistake of ours
    std::fprintf(stderr, "bandana: %s\n", error.what());
    return 1;
  }
}
