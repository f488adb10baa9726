#include "bandana/lab/results.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "bandana/core/status.h"
#include "bandana/lab/algorithms.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

namespace fs = std::filesystem;

constexpr char kResults[] = "results.csv";
constexpr char kSpec[] = "spec.toml";

std::string Header(Metrics metrics) {
  return fmt::format("point,label,replicate,t,{}\n", fmt::join(MetricNames(metrics), ","));
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

absl::Status FolderError(const std::string& folder, const std::string& message, const std::string& accepted) {
  return InvalidInput({.message = message, .file = folder, .accepted = accepted});
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::vector<std::string> MetricNames(const Metrics& metrics) {
  std::vector<std::string> names = {"regret", "clients",         "communication_reals", "communication_bits",
                                    "rounds", "best_action_rate"};
  const auto add = [&](bool wanted, std::initializer_list<const char*> more) {
    if (wanted) names.insert(names.end(), more.begin(), more.end());
  };
  add(metrics.agents, {"regret_per_agent", "syncs", "first_sync", "repairs"});
  add(metrics.network, {"communication_cost", "paper_cost", "links_server", "links_peer", "slots", "messages",
                        "bytes_on_wire", "waiting_pulls", "waiting_regret", "lost_tallies", "disagreements"});
  add(metrics.users, {"clipped_contexts", "clipped_rewards", "unsolved"});
  add(metrics.value, {"value", "value_low", "value_high", "offered", "matched"});
  return names;
}

std::vector<double> MetricValues(const Checkpoint& checkpoint, const Metrics& metrics) {
  const auto number = [](Count count) { return static_cast<double>(count); };
  std::vector<double> values = {checkpoint.regret,         number(checkpoint.clients),
                                number(checkpoint.reals),  number(checkpoint.bits),
                                number(checkpoint.rounds), checkpoint.best_action_rate};
  const auto add = [&](bool wanted, std::initializer_list<double> more) {
    if (wanted) values.insert(values.end(), more.begin(), more.end());
  };
  add(metrics.agents, {checkpoint.regret / number(checkpoint.agents), number(checkpoint.rounds),
                       number(checkpoint.first_sync), number(checkpoint.repairs)});
  add(metrics.network,
      {checkpoint.cost, checkpoint.paper_cost, number(checkpoint.links_server), number(checkpoint.links_peer),
       number(checkpoint.slots), number(checkpoint.messages), number(checkpoint.bytes), checkpoint.waiting,
       checkpoint.waiting_regret, number(checkpoint.lost_tallies), number(checkpoint.disagreements)});
  add(metrics.users,
      {number(checkpoint.clipped_contexts), number(checkpoint.clipped_rewards), number(checkpoint.repairs)});
  add(metrics.value, {checkpoint.value, checkpoint.value_low, checkpoint.value_high,
                      number(checkpoint.offered), number(checkpoint.matched)});
  return values;
}

Metrics MetricsOf(const Spec& spec) {
  Metrics metrics;
  for (const Point& point : spec.points) {
    const Algorithm& algorithm = AlgorithmOf(point.settings);
    metrics.agents |= algorithm.arms || algorithm.federated;
    metrics.network |= algorithm.arms;
    metrics.users |= HasUsers(point.settings);
    metrics.value |= point.settings.Text("environment.kind") == "replay";
  }
  return metrics;
}

ResultsFile::ResultsFile(std::string path, const Spec& spec)
    : path_(std::move(path)), spec_(&spec), metrics_(MetricsOf(spec)), values_(spec.points.size()) {
  for (const Point& point : spec.points) times_.push_back(Checkpoints(point.settings));
}

absl::StatusOr<ResultsFile> ResultsFile::Create(const std::string& folder, const Spec& spec) {
  std::error_code error;
  if (fs::exists(folder, error)) {
    return FolderError(folder, "exists already", "a new folder, or --resume to go on with this one");
  }
  fs::create_directories(folder, error);
  if (error) return FolderError(folder, "cannot be made: " + error.message(), "a folder that can be written");
  BANDANA_RETURN_IF_ERROR(WriteFile(folder + "/" + kSpec, spec.toml));
  ResultsFile file(folder + "/" + kResults, spec);
  BANDANA_RETURN_IF_ERROR(file.Rewrite());
  return file;
}

absl::StatusOr<ResultsFile> ResultsFile::Resume(const std::string& folder, const Spec& spec) {
  const std::string spec_path = folder + "/" + kSpec;
  std::error_code error;
  if (!fs::exists(spec_path, error)) {
    return FolderError(folder, "nothing to resume: it holds no spec.toml",
                       "the folder of an interrupted run");
  }
  if (ReadAll(spec_path) != spec.toml) {
    return FolderError(folder, "holds the results of another spec",
                       fmt::format("the spec that is in {}, or another folder", spec_path));
  }
  ResultsFile file(folder + "/" + kResults, spec);
  BANDANA_RETURN_IF_ERROR(file.ReadRows());
  BANDANA_RETURN_IF_ERROR(file.Rewrite());
  return file;
}

absl::Status ResultsFile::Append(const std::vector<Checkpoint>& checkpoints) {
  std::vector<std::vector<double>> replicate;
  for (const Checkpoint& checkpoint : checkpoints) replicate.push_back(MetricValues(checkpoint, metrics_));
  out_ << Rows(replicate) << std::flush;
  if (!out_)
    return FolderError(path_, "cannot be written", "room on the disk and a folder that can be written");
  values_[done_ / static_cast<std::size_t>(spec_->replicates())].push_back(std::move(replicate));
  ++done_;
  return absl::OkStatus();
}

// The rows of replicate done_.
std::string ResultsFile::Rows(const std::vector<std::vector<double>>& replicate) const {
  const auto replicates = static_cast<std::size_t>(spec_->replicates());
  const std::size_t point = done_ / replicates;
  std::string rows;
  for (std::size_t i = 0; i < replicate.size(); ++i) {
    rows += fmt::format("{},{},{},{},{}\n", point, CsvField(spec_->points[point].label), done_ % replicates,
                        times_[point][i], fmt::join(replicate[i], ","));
  }
  return rows;
}

absl::Status ResultsFile::ReadRows() {
  std::ifstream in(path_);
  std::string line;
  std::error_code error;
  if (!fs::exists(path_, error)) return absl::OkStatus();  // stopped before the first row
  if (!std::getline(in, line) || line + "\n" != Header(metrics_)) {
    return FolderError(path_, "is no results.csv of this version",
                       "an unchanged results.csv, or another folder");
  }
  const auto replicates = static_cast<std::size_t>(spec_->replicates());
  const std::size_t total = spec_->points.size() * replicates;
  while (done_ < total) {
    const std::size_t point = done_ / replicates;
    std::vector<std::vector<double>> replicate;
    std::string text;
    for (std::size_t i = 0; i < times_[point].size(); ++i) {
      if (!std::getline(in, line) || in.eof()) return absl::OkStatus();  // a torn replicate ends the file
      text += line + "\n";
      const std::vector<std::string> fields = absl::StrSplit(line, ',');
      const std::size_t count = MetricNames(metrics_).size();
      if (fields.size() < count) break;
      std::vector<double> row(count);
      bool numbers = true;
      for (std::size_t j = 0; j < count; ++j) {
        numbers = numbers && absl::SimpleAtod(fields[fields.size() - count + j], &row[j]);
      }
      if (!numbers) break;
      replicate.push_back(std::move(row));
    }
    // Written again from what was read, a sound replicate is the very text it came from.
    if (replicate.size() != times_[point].size() || Rows(replicate) != text) {
      return FolderError(
          path_,
          fmt::format("was altered: replicate {} of point {} is not as written", done_ % replicates, point),
          "an unchanged results.csv, or another folder");
    }
    values_[point].push_back(std::move(replicate));
    ++done_;
  }
  if (std::getline(in, line)) {
    return FolderError(path_, "was altered: there are rows after the last replicate",
                       "an unchanged results.csv, or another folder");
  }
  return absl::OkStatus();
}

absl::Status ResultsFile::Rewrite() {
  std::string text = Header(metrics_);
  const std::size_t done = std::exchange(done_, 0);
  for (const auto& point : values_) {
    for (const auto& replicate : point) {
      text += Rows(replicate);
      ++done_;
    }
  }
  BANDANA_CHECK(done_ == done);
  BANDANA_RETURN_IF_ERROR(WriteFile(path_, text));
  out_.open(path_, std::ios::app);
  if (!out_) return FolderError(path_, "cannot be opened for writing", "a folder that can be written");
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".partial";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << content << std::flush;
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, path, error);
  if (!out || error)
    return FolderError(path, "cannot be written", "a folder that can be written, with room left");
  return absl::OkStatus();
}

}  // namespace bandana::lab
