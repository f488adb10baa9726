#pragma once

#include <cstdio>
#include <cstdlib>

/// Programmer errors end the program; a user's errors are absl::Status. Stays on in release builds.
#define BANDANA_CHECK(condition)                                                         \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
