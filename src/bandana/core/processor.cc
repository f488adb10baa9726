// Ends the program with a message if the processor cannot run it. This file alone is compiled for every
// x86-64 processor, and its function runs before all other code of the library, of a program and of a plugin:
// the first instruction of a newer processor would end the program without a word. So it calls nothing of a
// header: of an inline function the linker may keep a copy from a file that is compiled for newer processors.

#include <unistd.h>

#include <cstddef>

// processor_features.inc, which the build makes, has FEATURE("avx2") and so on: what the compiler may use.
namespace {

void Say(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  while (size > 0) {
    const ssize_t written = write(STDERR_FILENO, text, size);
    if (written <= 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

[[gnu::constructor(101)]] void CheckProcessor() {
  __builtin_cpu_init();
  bool missing = false;
#define FEATURE(name)                                                  \
  if (!__builtin_cpu_supports(name)) {                                 \
    Say(missing ? ", " name : "bandana: this processor has no " name); \
    missing = true;                                                    \
  }
#include "processor_features.inc"
#undef FEATURE
  if (!missing) return;
  Say(".\nBandana was compiled for processors of the kind " BANDANA_MARCH
      ". Use another machine, or compile it on this one (script/build native).\n");
  _exit(4);
}

}  // namespace

namespace bandana::internal {

/// Whoever links the library as an archive takes this file by naming this constant.
extern const char kProcessorIsChecked = 0;

}  // namespace bandana::internal
