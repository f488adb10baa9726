#include <string>
#include <utility>
#include <vector>

#include "bandana/bandit/context_law.h"
#include "bandana/core/csv.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::Status CheckNorms(const CsvReader& reader, const double* context, Count actions, Count dimension) {
  for (Count a = 0; a < actions; ++a) {
    const double norm = Eigen::Map<const Vector>(context + a * dimension, dimension).norm();
    if (!(norm <= kNormSlack)) {
      return reader.Error({.message = fmt::format("action {} has this norm, which is larger than 1", a + 1),
                           .value = fmt::format("{:.6g}", norm)});
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SampledContexts>> ReadContexts(const std::string& path, Count actions,
                                                                    Count dimension) {
  for (const auto& [key, value] : {std::pair("actions", actions), {"dimension", dimension}}) {
    constexpr Count kMost = 1 << 24;
    if (!(value >= 1 && value <= kMost)) {
      return InvalidField(Part::kParams, key, static_cast<double>(value), "a whole number from 1 to 2^24");
    }
  }
  BANDANA_ASSIGN_OR_RETURN(
      CsvReader reader,
      CsvReader::Open(path,
                      {.key = "file",
                       .lines = "one context per line",
                       .accepted = "one context per line: actions x dimension finite numbers separated by "
                                   "commas, action by action; every action has a norm of at most 1"}));
  const Count wanted = actions * dimension;
  std::vector<double> entries;
  while (reader.Next()) {
    const std::size_t first = entries.size();
    for (std::size_t i = 0; i < reader.fields().size(); ++i) {
      BANDANA_ASSIGN_OR_RETURN(const double entry, reader.Number(i));
      entries.push_back(entry);
    }
    if (const auto count = static_cast<Count>(entries.size() - first); count != wanted) {
      return reader.Error(
          {.message = fmt::format("a context of {} actions in dimension {} must have {} numbers", actions,
                                  dimension, wanted),
           .value = fmt::format("{} numbers", count)});
    }
    BANDANA_RETURN_IF_ERROR(CheckNorms(reader, entries.data() + first, actions, dimension));
  }
  BANDANA_RETURN_IF_ERROR(reader.status());
  if (entries.empty()) return reader.FileError({.message = "the file holds no context"});
  const auto rows = static_cast<Eigen::Index>(entries.size()) / dimension;
  return SampledContexts::Create(Eigen::Map<const ActionMatrix>(entries.data(), rows, dimension), actions);
}

}  // namespace bandana
