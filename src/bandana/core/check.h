#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program if `condition` is false. It is for programmer errors; a user's errors are absl::Status.
/// It is active in release builds, too.
#define BANDANA_CHECK(condition)                                                         \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
