#include "bandana/cli/role_log.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/time/clock.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

absl::Status OpenFile(const std::string& path, const std::string& key, std::string accepted,
                      std::ofstream& file) {
  file.open(path, std::ios::app);
  if (file) return absl::OkStatus();
  return InvalidInput(
      {.message = "cannot be written", .file = path, .key = key, .accepted = std::move(accepted)});
}

// A log that cannot be written now, because the disk is full, must not end a run, and may be written later.
void WriteLine(std::ostream& out, const std::string& line) {
  out.clear();
  out << line + "\n" << std::flush;
}

std::string Dump(const lab::Json& line) {
  return line.dump(-1, ' ', false, lab::Json::error_handler_t::replace);
}

const char* NameOf(RoleLog::Level level) { return kLevelNames[static_cast<int>(level)]; }

std::string SentenceOf(const service::LogEvent& event) {
  const std::string why = event.why.empty() ? "" : ": " + event.why;
  if (event.event == "begun") return "the run begins: " + event.run;
  if (event.event == "recovered") return "going on with the run: " + event.run;
  if (event.event == "slowed") return event.link + " is read more slowly" + why;
  if (event.link.empty()) return event.why;
  return event.link + " is " + event.event + why;
}

}  // namespace

std::string LogTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string Printable(const std::string& text) {
  constexpr std::size_t kMost = 1000;
  std::string printable = text.substr(0, kMost);
  std::replace_if(
      printable.begin(), printable.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return printable;
}

absl::Status RoleLog::Open(Params params) {
  params_ = std::move(params);
  if (!params_.file.empty()) {
    BANDANA_RETURN_IF_ERROR(OpenFile(params_.file, "service.log.file", "a file that can be written", file_));
  }
  traces_ = !params_.events.empty();
  if (params_.events == "-") events_ = &std::cout;
  if (!traces_ || events_ != nullptr) return absl::OkStatus();
  events_ = &events_file_;
  return OpenFile(params_.events, "--events", "a file that can be written, or - for stdout", events_file_);
}

void RoleLog::SetName(const std::string& name) {
  const std::lock_guard lock(mutex_);
  params_.role = name;
}

lab::Json RoleLog::Line(Level level, const std::string& event) const {
  lab::Json line = {{"time", LogTime(absl::Now())}, {"level", NameOf(level)}, {"role", params_.role}};
  if (!run_.empty()) line["run"] = run_;
  line["event"] = event;
  return line;
}

void RoleLog::Write(Level level, const std::string& event, const lab::Json& fields,
                    const std::string& sentence, const lab::Json& details) {
  has_begun_ = true;
  const std::lock_guard lock(mutex_);
  const lab::Json begin = Line(level, event);
  lab::Json line = begin;
  line.update(fields);
  if (level >= params_.level) {
    std::ostream& out = params_.file.empty() ? std::cerr : file_;
    WriteLine(out, params_.format == Format::kJson
                       ? Dump(line)
                       : fmt::format("{} {:<5} {}  {}", line["time"].get<std::string>(), NameOf(level),
                                     params_.role, Printable(sentence)));
  }
  if (events_ == nullptr) return;
  if (!details.empty()) {
    line = begin;
    line.update(details);
  }
  WriteLine(*events_, Dump(line));
}

void RoleLog::Take(const service::LogEvent& event) {
  lab::Json fields = lab::Json::object();
  if (!event.link.empty()) fields["link"] = Printable(event.link);
  if (!event.why.empty()) fields["why"] = Printable(event.why);
  if (!event.run.empty()) {
    const std::lock_guard lock(mutex_);
    run_ = event.run;
  }
  Write(event.level, event.event, fields, SentenceOf(event));
}

void RoleLog::Trace(const std::string& event, const lab::Json& fields) {
  if (!traces_) return;
  const std::lock_guard lock(mutex_);
  lab::Json line = Line(Level::kDebug, event);
  line.update(fields);
  WriteLine(*events_, Dump(line));
}

}  // namespace bandana::cli
