#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace bandana::service {

/// How much of a process others may use: its memory, its connections and its time. Every limit holds before
/// the process looks at what a message says. Whoever sends too fast is read more slowly, and never cut off
/// for it.
struct Limits {
  int message = 64 << 20;                            ///< bytes of one message
  std::size_t streams = 1024;                        ///< connections that others have opened, together
  std::size_t streams_per_party = 4;                 ///< connections that one certificate name has opened
  double openings = 50;                              ///< new connections per second
  absl::Duration first_message = absl::Seconds(10);  ///< for a new connection, until it says whose it is
  double calls = 100'000;                            ///< messages per second that are read from a connection
  double bytes = 256 << 20;                          ///< bytes per second that are read from a connection
  std::size_t waiting = 64 << 20;                    ///< bytes that are read and not yet dealt with
};

}  // namespace bandana::service
