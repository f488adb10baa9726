#pragma once

#include <atomic>
#include <fstream>
#include <iosfwd>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "bandana/lab/summary.h"
#include "bandana/service/log_event.h"

namespace bandana::cli {

/// A role's log: one event per line, with its time. It goes to stderr or to a file, and with --events to a
/// second place, which has more. Files are continued, never begun anew. docs/operations.md lists all events
/// with their fields; nothing in it is about one person. All calls may come from any thread.
class RoleLog {
 public:
  using Level = service::LogEvent::Level;
  enum class Format { kText, kJson };

  struct Params {
    std::string role;  ///< the name of the process as far as it is known, such as "agent"
    std::string file;  ///< empty: stderr
    Level level = Level::kInfo;
    Format format = Format::kJson;
    std::string events;  ///< the file of --events, "-" for stdout; empty: none
  };

  /// Fails if a file cannot be written. The error names the key.
  absl::Status Open(Params params);

  /// From now on lines have this name of the process, such as "agent/3001".
  void SetName(const std::string& name);

  /// Writes an event. `sentence` is what the text format says. If there are `details`, --events gets them in
  /// the place of `fields`: all values that the server has released.
  void Write(Level level, const std::string& event, const lab::Json& fields, const std::string& sentence,
             const lab::Json& details = lab::Json::object());

  /// Writes an event of the service.
  void Take(const service::LogEvent& event);

  /// Writes what a role has decided, to --events alone: decisions may follow from raw data.
  void Trace(const std::string& event, const lab::Json& fields);
  bool traces() const { return traces_; }

  /// Returns whether the log is where the program's errors are, too.
  bool is_on_stderr() const { return params_.file.empty(); }
  /// Returns whether anything has happened yet.
  bool has_begun() const { return has_begun_; }

 private:
  lab::Json Line(Level level, const std::string& event) const;

  Params params_;
  std::mutex mutex_;
  std::string run_;
  std::ofstream file_;
  std::ofstream events_file_;
  std::ostream* events_ = nullptr;
  bool traces_ = false;
  std::atomic<bool> has_begun_ = false;
};

/// The words for service.log.level, from the least important to the most.
inline constexpr const char* kLevelNames[] = {"debug", "info", "warn", "error"};

/// Returns a time in RFC 3339, in UTC and with milliseconds: "2026-11-19T19:44:00.097Z".
std::string LogTime(absl::Time time);

/// Returns a text from another process as a log may have it: without control characters, and not too long.
std::string Printable(const std::string& text);

}  // namespace bandana::cli
