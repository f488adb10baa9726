#include "bandana/core/csv.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view Trimmed(std::string_view text) {
  const auto blank = [](char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<double> ParseNumber(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (last != end || error == std::errc::invalid_argument) return std::nullopt;
  // from_chars does not tell an overflow from an underflow.
  if (error == std::errc::result_out_of_range && !absl::SimpleAtod({text.data(), text.size()}, &value)) {
    return std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

absl::StatusOr<CsvReader> CsvReader::Open(const std::string& path, CsvFormat format) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return InvalidField(Part::kParams, {.message = "cannot be opened",
                                        .key = format.key,
                                        .value = path,
                                        .accepted = fmt::format("a readable file with {}", format.lines)});
  }
  return CsvReader(path, std::move(format), std::move(in));
}

bool CsvReader::Next() {
  while (status_.ok() && std::getline(in_, line_)) {
    ++line_number_;
    std::string_view text = line_;
    if (line_number_ == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text = Trimmed(text);
    if (text.empty() || text[0] == '#') continue;
    if (text.find('"') == std::string_view::npos) {
      Split(text);
    } else if (!SplitQuoted(text)) {
      status_ = Error({.message = "a field is not quoted correctly", .value = std::string(text)});
      return false;
    }
    return true;
  }
  if (in_.bad()) status_ = FileError({.message = "cannot be read"});
  return false;
}

void CsvReader::Split(std::string_view text) {
  fields_.clear();
  while (true) {
    const std::size_t comma = text.find(',');
    fields_.push_back(Trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

bool CsvReader::SplitQuoted(std::string_view text) {
  fields_.clear();
  unquoted_.clear();
  unquoted_.reserve(text.size());  // no reallocation, so the views below stay valid
  while (true) {
    while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
    if (!text.starts_with('"')) {
      const std::size_t comma = text.find(',');
      const std::string_view field = Trimmed(text.substr(0, comma));
      if (field.find('"') != std::string_view::npos) return false;
      fields_.push_back(field);
      if (comma == std::string_view::npos) return true;
      text.remove_prefix(comma + 1);
      continue;
    }
    const std::size_t first = unquoted_.size();
    std::size_t at = 1;
    for (;; ++at) {
      if (at >= text.size()) return false;
      if (text[at] == '"' && (at + 1 >= text.size() || text[at + 1] != '"')) break;
      if (text[at] == '"') ++at;
      unquoted_ += text[at];
    }
    fields_.push_back(std::string_view(unquoted_).substr(first));
    text = Trimmed(text.substr(at + 1));
    if (text.empty()) return true;
    if (text[0] != ',') return false;
    text.remove_prefix(1);
  }
}

absl::StatusOr<double> CsvReader::Number(std::size_t index, const std::string& key) const {
  if (const std::optional<double> value = ParseNumber(fields_[index])) return *value;
  return Error({.message = "not a finite number",
                .key = key,
                .value = std::string(fields_[index]),
                .accepted = key.empty() ? "" : "a finite number"});
}

absl::Status CsvReader::Error(InputError error) const {
  error.line = line_number_;
  return FileError(std::move(error));
}

absl::Status CsvReader::FileError(InputError error) const {
  error.file = path_;
  if (error.accepted.empty()) error.accepted = format_.accepted;
  if (!error.key.empty()) return InvalidInput(error);  // a column
  error.key = format_.key;
  return InvalidField(Part::kParams, error);
}

absl::StatusOr<CsvHeader> CsvHeader::Read(CsvReader& reader) {
  if (!reader.Next()) {
    BANDANA_RETURN_IF_ERROR(reader.status());
    return reader.FileError({.message = "the file is empty"});
  }
  CsvHeader header;
  for (const std::string_view field : reader.fields()) {
    std::string name(field);
    if (!header.places_.emplace(name, header.names_.size()).second) {
      return reader.Error({.message = "the header has this column twice", .value = name});
    }
    header.names_.push_back(std::move(name));
  }
  return header;
}

std::optional<std::size_t> CsvHeader::Find(const std::string& name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

absl::StatusOr<std::size_t> CsvHeader::Require(const CsvReader& reader, const std::string& name) const {
  if (const auto place = Find(name)) return *place;
  return reader.Error(
      {.message = fmt::format("the header does not have this column; it has {}", fmt::join(names_, ", ")),
       .key = name});
}

absl::Status CsvHeader::CheckWidth(const CsvReader& reader) const {
  if (reader.fields().size() == names_.size()) return absl::OkStatus();
  return reader.Error(
      {.message = fmt::format("the header has {0} columns, so each line must have {0} fields", names_.size()),
       .value = fmt::format("{} fields", reader.fields().size())});
}

}  // namespace bandana
