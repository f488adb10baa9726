#pragma once

#include <cstddef>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/core/status.h"

namespace bandana {

/// A finite number that fills the text: no blanks around it. A leading + is fine, as is an underflow to 0.
std::optional<double> ParseNumber(std::string_view text);

/// What errors about a file say.
struct CsvFormat {
  std::string key;       ///< the option that named the file
  std::string lines;     ///< what a line holds: "one action a line"
  std::string accepted;  ///< the same in full
};

/// Fields separated by commas, line by line; blanks around a field do not belong to it. Lines may end in CR
/// LF, the file may start with a byte-order mark, and a field may be quoted as in RFC 4180 (but not over
/// several lines). Empty lines and lines that start with # are skipped. Fields point into the reader's own
/// line:
///   while (reader.Next()) Use(reader.fields());
///   return reader.status();
class CsvReader {
 public:
  static absl::StatusOr<CsvReader> Open(const std::string& path, CsvFormat format);

  /// On to the next line; false at the end, or where the file cannot be read on: see status().
  bool Next();
  const absl::Status& status() const { return status_; }

  std::span<const std::string_view> fields() const { return fields_; }
  int line() const { return line_number_; }  ///< from 1

  /// Field `index` as a number, or an error under `key`, which is the format's own if empty.
  absl::StatusOr<double> Number(std::size_t index, const std::string& key = "") const;

  /// The error with file, line and, where it names none, the format's key and what is accepted.
  absl::Status Error(InputError error) const;
  /// The same about the file as a whole.
  absl::Status FileError(InputError error) const;

 private:
  CsvReader(std::string path, CsvFormat format, std::ifstream in)
      : path_(std::move(path)), format_(std::move(format)), in_(std::move(in)) {}
  void Split(std::string_view text);
  bool SplitQuoted(std::string_view text);

  std::string path_;
  CsvFormat format_;
  std::ifstream in_;
  std::string line_;
  std::string unquoted_;
  std::vector<std::string_view> fields_;
  int line_number_ = 0;
  absl::Status status_;
};

/// The names in a file's first line, all different, and where they are.
class CsvHeader {
 public:
  static absl::StatusOr<CsvHeader> Read(CsvReader& reader);

  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::size_t> Find(const std::string& name) const;
  /// Find, or an error that names the column and those that are there.
  absl::StatusOr<std::size_t> Require(const CsvReader& reader, const std::string& name) const;
  /// An error if the reader's line has not as many fields as the header.
  absl::Status CheckWidth(const CsvReader& reader) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace bandana
