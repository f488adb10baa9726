#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "bandana/bandit/context_law.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

constexpr double kNormSlack = 1 + 1e-9;

absl::Status BadLine(const std::string& path, int line, const std::string& value,
                     const std::string& message) {
  return InvalidInput({.message = message,
                       .file = path,
                       .line = line,
                       .key = "environment.file",
                       .value = value,
                       .accepted =
                           "one context a line: actions x dimension finite numbers separated by commas, "
                           "action by action, each action of norm at most 1"});
}

absl::Status CheckNorms(const std::string& path, int line, const double* context, Count actions,
                        Count dimension) {
  for (Count a = 0; a < actions; ++a) {
    const double norm = Eigen::Map<const Vector>(context + a * dimension, dimension).norm();
    if (!(norm <= kNormSlack)) {
      return BadLine(path, line, fmt::format("{:.6g}", norm), fmt::format("the norm of action {}", a + 1));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SampledContexts>> ReadContexts(const std::string& path, Count actions,
                                                                    Count dimension) {
  for (const auto& [key, value] :
       {std::pair("environment.actions", actions), {"environment.dimension", dimension}}) {
    constexpr Count kMost = 1 << 24;
    if (!(value >= 1 && value <= kMost)) {
      return InvalidOption(key, static_cast<double>(value), "a whole number from 1 to 2^24");
    }
  }
  std::ifstream in(path);
  if (!in) {
    return InvalidInput({.message = "cannot be opened",
                         .key = "environment.file",
                         .value = path,
                         .accepted = "a readable file, one context a line"});
  }
  const Count wanted = actions * dimension;
  std::vector<double> entries;
  int line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    const std::string text(absl::StripAsciiWhitespace(line));
    if (text.empty() || text[0] == '#') continue;
    const std::size_t first = entries.size();
    for (const absl::string_view field : absl::StrSplit(text, ',')) {
      double value;
      if (!absl::SimpleAtod(field, &value) || !std::isfinite(value)) {
        return BadLine(path, line_number, std::string(field), "not a finite number");
      }
      entries.push_back(value);
    }
    if (const auto count = static_cast<Count>(entries.size() - first); count != wanted) {
      return BadLine(
          path, line_number, fmt::format("{} numbers", count),
          fmt::format("a context of {} actions in dimension {} has {}", actions, dimension, wanted));
    }
    BANDANA_RETURN_IF_ERROR(CheckNorms(path, line_number, entries.data() + first, actions, dimension));
  }
  if (entries.empty()) return BadLine(path, 0, "", "the file holds no context");
  const auto rows = static_cast<Eigen::Index>(entries.size()) / dimension;
  return SampledContexts::Create(Eigen::Map<const ActionMatrix>(entries.data(), rows, dimension), actions);
}

}  // namespace bandana
