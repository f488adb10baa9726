#include "bandana/lab/results.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

namespace fs = std::filesystem;

constexpr char kResults[] = "results.csv";
constexpr char kSpec[] = "spec.toml";

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// Returns the keys in which the points of a spec differ, in the order of the alphabet.
std::set<std::string> VariedKeys(const Spec& spec) {
  std::set<std::string> keys;
  for (const Point& point : spec.points) {
    for (const auto& [key, value] : point.varied.values()) keys.insert(key);
  }
  return keys;
}

// Returns the fields that all rows of a point begin with: its index, its label and its value of each key. The
// value is empty if the point does not have the key.
std::string PointFields(std::size_t index, const Point& point, const std::set<std::string>& keys) {
  std::string fields = fmt::format("{},{}", index, CsvField(point.label));
  for (const std::string& key : keys) {
    const Value* value = point.varied.Find(key);
    fields += ',';
    if (value != nullptr) fields += CsvField(ToText(*value));
  }
  return fields;
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

std::vector<std::string> CommonMetricNames() {
  return {"regret", "clients", "communication_reals", "communication_bits", "rounds", "best_action_rate"};
}

std::vector<std::string> MetricNames(const Spec& spec) {
  bool agents = false;   // whether some point has agents that play in every round
  bool network = false;  // whether some point has agents on a network of messages
  bool users = false;
  std::vector<std::string> own;  // of worlds and algorithms
  for (const Point& point : spec.points) {
    const std::string& kind = point.settings.Text("environment.kind");
    const absl::StatusOr<const Family*> family =
        Families().FindFamily(point.settings.Text("algorithm.name"), kind);
    BANDANA_CHECK(family.ok());  // the spec was resolved with it
    const TimeModel time = (*family)->time;
    const absl::StatusOr<const WorldKind*> world = Families().FindWorld(kind, time);
    BANDANA_CHECK(world.ok());
    own.insert(own.end(), (*world)->metrics.begin(), (*world)->metrics.end());
    own.insert(own.end(), (*family)->metrics.begin(), (*family)->metrics.end());
    agents |= time == TimeModel::kRound || time == TimeModel::kTick;
    network |= time == TimeModel::kTick;
    users |= time == TimeModel::kUser;
  }
  std::vector<std::string> names = CommonMetricNames();
  const auto add = [&](bool wanted, std::initializer_list<const char*> more) {
    if (wanted) names.insert(names.end(), more.begin(), more.end());
  };
  add(agents, {"regret_per_agent", "syncs", "first_sync", "repairs"});
  add(network, {"communication_cost", "paper_cost", "links_server", "links_peer", "slots", "messages",
                "bytes_on_wire", "waiting_pulls", "waiting_regret", "lost_tallies", "disagreements"});
  add(users, {"clipped_contexts", "clipped_rewards", "unsolved", "eliminated", "estimation_error"});
  for (const std::string& name : own) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

double MetricOf(const Checkpoint& checkpoint, const std::string& name) {
  if (name == "regret") return checkpoint.regret;
  if (name == "clients") return static_cast<double>(checkpoint.clients);
  if (name == "communication_reals") return static_cast<double>(checkpoint.reals);
  if (name == "communication_bits") return static_cast<double>(checkpoint.bits);
  if (name == "rounds") return static_cast<double>(checkpoint.rounds);
  if (name == "best_action_rate") return checkpoint.best_action_rate;
  const auto it = checkpoint.series.find(name);
  return it == checkpoint.series.end() ? std::numeric_limits<double>::quiet_NaN() : it->second;
}

ResultsFile::ResultsFile(std::string path, const Spec& spec)
    : path_(std::move(path)), spec_(&spec), metrics_(MetricNames(spec)), values_(spec.points.size()) {
  const std::set<std::string> keys = VariedKeys(spec);
  std::vector<std::string> columns = {"point", "label"};
  columns.insert(columns.end(), keys.begin(), keys.end());
  columns.insert(columns.end(), {"replicate", "t"});
  columns.insert(columns.end(), metrics_.begin(), metrics_.end());
  header_ = fmt::format("{}\n", fmt::join(columns, ","));
  for (const Point& point : spec.points) {
    point_fields_.push_back(PointFields(point_fields_.size(), point, keys));
    times_.push_back(Checkpoints(point.settings));
  }
}

absl::StatusOr<ResultsFile> ResultsFile::Create(const std::string& folder, const Spec& spec) {
  std::error_code error;
  if (fs::exists(folder, error)) {
    return FolderError(folder, "exists already", "a new folder, or --resume to continue in this one");
  }
  fs::create_directories(folder, error);
  if (error)
    return FolderError(folder, "cannot be created: " + error.message(), "a folder that can be written");
  BANDANA_RETURN_IF_ERROR(WriteFile(folder + "/" + kSpec, spec.toml));
  ResultsFile file(folder + "/" + kResults, spec);
  BANDANA_RETURN_IF_ERROR(file.Rewrite());
  return file;
}

absl::StatusOr<ResultsFile> ResultsFile::Resume(const std::string& folder, const Spec& spec) {
  const std::string spec_path = folder + "/" + kSpec;
  std::error_code error;
  if (!fs::exists(spec_path, error)) {
    return FolderError(folder, "nothing to resume: the folder has no spec.toml",
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
  for (const Checkpoint& checkpoint : checkpoints) {
    std::vector<double>& row = replicate.emplace_back();
    for (const std::string& name : metrics_) row.push_back(MetricOf(checkpoint, name));
  }
  out_ << Rows(replicate) << std::flush;
  if (!out_)
    return FolderError(path_, "cannot be written",
                       "free space on the disk, and a folder that can be written");
  values_[done_ / static_cast<std::size_t>(spec_->replicates())].push_back(std::move(replicate));
  ++done_;
  return absl::OkStatus();
}

// Returns the rows of replicate done_ as text.
std::string ResultsFile::Rows(const std::vector<std::vector<double>>& replicate) const {
  const auto replicates = static_cast<std::size_t>(spec_->replicates());
  const std::size_t point = done_ / replicates;
  std::string rows;
  for (std::size_t i = 0; i < replicate.size(); ++i) {
    rows += fmt::format("{},{},{},{}\n", point_fields_[point], done_ % replicates, times_[point][i],
                        fmt::join(replicate[i], ","));
  }
  return rows;
}

absl::Status ResultsFile::ReadRows() {
  std::ifstream in(path_);
  std::string line;
  std::error_code error;
  if (!fs::exists(path_, error)) return absl::OkStatus();  // stopped before the first row
  if (!std::getline(in, line) || line + "\n" != header_) {
    return FolderError(path_, "is not a results.csv of this version",
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
      const std::size_t count = metrics_.size();
      if (fields.size() < count) break;
      std::vector<double> row(count);
      bool numbers = true;
      for (std::size_t j = 0; j < count; ++j) {
        numbers = numbers && absl::SimpleAtod(fields[fields.size() - count + j], &row[j]);
      }
      if (!numbers) break;
      replicate.push_back(std::move(row));
    }
    // Writing the values that were read must give the same text; otherwise the file was altered.
    if (replicate.size() != times_[point].size() || Rows(replicate) != text) {
      return FolderError(path_,
                         fmt::format("was altered: replicate {} of point {} differs from what was written",
                                     done_ % replicates, point),
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
  std::string text = header_;
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
    return FolderError(path, "cannot be written", "a folder that can be written, and free space on the disk");
  return absl::OkStatus();
}

}  // namespace bandana::lab
