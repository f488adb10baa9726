#include "bandana/privacy/ledger/reader.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "fmt/format.h"

namespace bandana {
namespace {

absl::Status Fault(const std::string& file, std::uint64_t line, std::string message) {
  return FileError(absl::StatusCode::kDataLoss, file, std::move(message), static_cast<int>(line));
}

std::string AllRemoved(const std::string& path, const LedgerHead& head) {
  return fmt::format("missing: {} names line {}; all lines were removed", HeadPath(path), head.seq + 1);
}

absl::StatusOr<std::ifstream> OpenFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    BANDANA_ASSIGN_OR_RETURN(const std::optional<LedgerHead> head, ReadHead(path));
    if (head) return Fault(path, 1, AllRemoved(path, *head));
    return FileError(absl::StatusCode::kNotFound, path, "no such ledger");
  }
  if (!S_ISREG(info.st_mode)) return InvalidInput({.message = "not a file", .file = path});
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError(absl::StatusCode::kUnavailable, path, "cannot be read");
  return file;
}

// Verifies line by line, each against the one before it.
class Verifier {
 public:
  Verifier(const std::string& path, const ReadOptions& options, std::optional<LedgerHead> written)
      : path_(path), options_(options), written_(std::move(written)) {}

  absl::Status TakeLine(
      std::string_view line,
      absl::FunctionRef<absl::Status(const Dated<LedgerEntry>&, std::string_view hash)> visit) {
    ++lines_;
    const std::optional<SplitLine> parts = Split(line);
    if (!parts) return Here("this is not a line of a ledger: it was altered");
    if (ChainHash(hash_, parts->content) != parts->hash) {
      return Here("its hash does not fit: this line was altered, or a line before it was removed or added");
    }
    hash_ = parts->hash;
    BANDANA_RETURN_IF_ERROR(lines_ == 1 ? TakeHeader(parts->content) : TakeCharge(parts->content, visit));
    if (written_ && written_->seq == seq() && written_->hash != hash_) {
      return Here(fmt::format("this is not the line {} that {} names: the ledger was altered", seq(),
                              HeadPath(path_)));
    }
    if (options_.noted_head == hash_) noted_seq_ = seq();
    bytes_ += line.size() + 1;
    return absl::OkStatus();
  }

  absl::StatusOr<LedgerState> Finish(std::uint64_t torn_bytes) && {
    if (lines_ == 0) {
      return Fault(path_, 1,
                   written_ && written_->seq > 0
                       ? AllRemoved(path_, *written_)
                       : "it has no complete line: it is not a ledger, or it was never begun");
    }
    if (written_ && written_->seq > seq()) {
      return Fault(path_, lines_ + 1,
                   fmt::format("missing: the ledger ends with line {}, but {} names line {}; the last lines "
                               "were removed",
                               lines_, HeadPath(path_), written_->seq + 1));
    }
    if (options_.noted_head && !noted_seq_) {
      return Fault(
          path_, 0,
          fmt::format("no line has the noted hash {}: lines were altered or removed", *options_.noted_head));
    }
    if (!written_ && !options_.noted_head) {
      return Fault(HeadPath(path_), 0,
                   "missing: without it, lines removed at the end of the ledger would not be missed; put it "
                   "back, or give a hash that was noted");
    }
    return LedgerState{.header = std::move(*header_),
                       .accounts = std::move(*accounts_),
                       .head = {seq(), hash_},
                       .last_time = std::move(time_),
                       .bytes = bytes_,
                       .torn_bytes = torn_bytes,
                       .written_head = std::move(written_),
                       .noted_seq = noted_seq_};
  }

 private:
  std::uint64_t seq() const { return lines_ - 1; }
  absl::Status Here(std::string message) const { return Fault(path_, lines_, std::move(message)); }

  absl::Status TakeHeader(std::string_view content) {
    absl::StatusOr<Dated<LedgerHeader>> header = ParseHeader(content);
    if (!header.ok()) return Here(std::string(header.status().message()));
    time_ = header->time;
    accounts_.emplace(header->record.limits);
    header_ = *std::move(header);
    return absl::OkStatus();
  }

  absl::Status TakeCharge(
      std::string_view content,
      absl::FunctionRef<absl::Status(const Dated<LedgerEntry>&, std::string_view hash)> visit) {
    absl::StatusOr<Dated<LedgerEntry>> entry = ParseEntry(content, header_->record.limits.measure);
    if (!entry.ok()) return Here(std::string(entry.status().message()));
    if (entry->seq != seq())
      return Here(fmt::format("charge {} stands where charge {} belongs", entry->seq, seq()));
    const LedgerEntry& record = entry->record;
    if (!charged_.insert(record.key).second) {
      return Here(fmt::format("node {} is charged for the same question of epoch {} a second time",
                              record.key.node.value, record.key.epoch));
    }
    if (const absl::Status paid = accounts_->Add(record.loss, record.units); !paid.ok()) {
      return Here("over budget: " + std::string(paid.message()));
    }
    time_ = entry->time;
    return visit(*entry, hash_);
  }

  const std::string& path_;
  const ReadOptions& options_;
  std::optional<LedgerHead> written_;
  std::optional<std::uint64_t> noted_seq_;
  std::optional<Dated<LedgerHeader>> header_;
  std::optional<Accounts> accounts_;
  absl::flat_hash_set<ReleaseKey> charged_;
  std::string hash_{kNoHash};
  std::string time_;
  std::uint64_t lines_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::string HeadPath(const std::string& ledger) {
  std::error_code error;
  const bool link = std::filesystem::is_symlink(ledger, error);
  const std::string target = link ? std::filesystem::canonical(ledger, error).string() : ledger;
  return (error ? ledger : target) + ".head";
}

absl::StatusOr<std::optional<LedgerHead>> ReadHead(const std::string& ledger) {
  const std::string path = HeadPath(ledger);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    struct stat info{};
    if (stat(path.c_str(), &info) == 0)
      return FileError(absl::StatusCode::kUnavailable, path, "cannot be read");
    return std::nullopt;
  }
  std::ostringstream text;
  text << file.rdbuf();
  std::optional<LedgerHead> head = ParseHead(text.str());
  if (!head) return Fault(path, 1, "this is not the head of a ledger: it was altered");
  return head;
}

absl::StatusOr<LedgerState> ReadLedger(
    const std::string& path, const ReadOptions& options,
    absl::FunctionRef<absl::Status(const Dated<LedgerEntry>&, std::string_view hash)> visit) {
  // The head is read before the ledger. A writer appends to the ledger first, so the ledger that is read is
  // never behind the head.
  BANDANA_ASSIGN_OR_RETURN(std::ifstream file, OpenFile(path));
  BANDANA_ASSIGN_OR_RETURN(std::optional<LedgerHead> written, ReadHead(path));
  Verifier verifier(path, options, std::move(written));
  std::uint64_t torn_bytes = 0;
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) {
      torn_bytes = line.size();
      break;
    }
    BANDANA_RETURN_IF_ERROR(verifier.TakeLine(line, visit));
  }
  if (file.bad()) return FileError(absl::StatusCode::kUnavailable, path, "cannot be read to its end");
  return std::move(verifier).Finish(torn_bytes);
}

}  // namespace bandana
