#include "bandana/cli/app.h"

int main(int argc, char** argv) { return bandana::cli::Main(argc, argv); }
