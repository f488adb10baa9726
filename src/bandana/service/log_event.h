#pragma once

#include <functional>
#include <string>

namespace bandana::service {

/// Something that has happened to a process, for its log. It is about processes and connections, never about
/// data. docs/operations.md lists all of them.
struct LogEvent {
  enum class Level { kDebug, kInfo, kWarn, kError };
  Level level = Level::kInfo;
  std::string event;
  std::string link = {};  ///< the process at the other end, such as "agent/3"; empty: none, or not known
  std::string why = {};
  std::string run = {};  ///< the run that the process takes part in from now on; empty: as before
};

/// Takes events. It may be called from any thread, for as long as the process and its keys live.
using TakeEvent = std::function<void(const LogEvent&)>;

}  // namespace bandana::service
