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

/// Parses a finite number that fills the whole text, without blanks around it. A leading + is accepted. A
/// number too small for a double becomes 0.
std::optional<double> ParseNumber(std::string_view text);

/// Texts for error messages about a file.
struct CsvFormat {
  std::string key;       ///< the parameter that names the file
  std::string lines;     ///< the content of a line in brief: "one action per line"
  std::string accepted;  ///< the content of a line in full
};

/// Reads a file of fields separated by commas, line by line. Blanks around a field do not belong to it. Lines
/// may end in CR LF, the file may start with a byte-order mark, and a field may be quoted as in RFC 4180 (but
/// not over several lines). Empty lines and lines that start with # are skipped. The fields point into the
/// reader's own buffer and are valid until the next call of Next:
///   while (reader.Next()) Use(reader.fields());
///   return reader.status();
class CsvReader {
 public:
  static absl::StatusOr<CsvReader> Open(const std::string& path, CsvFormat format);

  /// Reads the next line. Returns false at the end of the file and after an error; status() tells which.
  bool Next();
  const absl::Status& status() const { return status_; }

  std::span<const std::string_view> fields() const { return fields_; }
  int line() const { return line_number_; }  ///< from 1

  /// Returns field `index` as a number. The error names `key`, or the format's key if `key` is empty.
  absl::StatusOr<double> Number(std::size_t index, const std::string& key = "") const;

  /// Completes the error with the file and the line. If it names no key or no accepted values, those of the
  /// format are used.
  absl::Status Error(InputError error) const;
  /// Completes an error about the file as a whole. It names no line.
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

/// The column names in a file's first line and their positions. All names are different.
class CsvHeader {
 public:
  static absl::StatusOr<CsvHeader> Read(CsvReader& reader);

  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::size_t> Find(const std::string& name) const;
  /// Returns the position of the column. The error names this column and the columns that the file has.
  absl::StatusOr<std::size_t> Require(const CsvReader& reader, const std::string& name) const;
  /// Fails if the reader's line does not have as many fields as the header.
  absl::Status CheckWidth(const CsvReader& reader) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace bandana
