#include "bandana/privacy/ledger/reader.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/privacy/ledger/verifier.h"
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

// Compares the lines of a file with the heads that were written or noted.
class FileVerifier {
 public:
  FileVerifier(const std::string& path, const ReadOptions& options, std::optional<LedgerHead> written)
      : path_(path), options_(options), written_(std::move(written)), lines_(path) {}

  absl::Status TakeLine(std::string_view line, LedgerVerifier::Visit visit) {
    BANDANA_RETURN_IF_ERROR(lines_.Take(line, visit));
    const LedgerHead head = lines_.head();
    if (written_ && written_->seq == head.seq && written_->hash != head.hash) {
      return lines_.Fault(fmt::format("this is not the line {} that {} names: the ledger was altered",
                                      head.seq, HeadPath(path_)));
    }
    if (options_.noted_head == head.hash) noted_seq_ = head.seq;
    bytes_ += line.size() + 1;
    return absl::OkStatus();
  }

  absl::StatusOr<LedgerState> Finish(std::uint64_t torn_bytes) && {
    if (lines_.lines() == 0) {
      return Fault(path_, 1,
                   written_ && written_->seq > 0
                       ? AllRemoved(path_, *written_)
                       : "it has no complete line: it is not a ledger, or it was never begun");
    }
    if (written_ && written_->seq > lines_.head().seq) {
      return Fault(path_, lines_.lines() + 1,
                   fmt::format("missing: the ledger ends with line {}, but {} names line {}; the last lines "
                               "were removed",
                               lines_.lines(), HeadPath(path_), written_->seq + 1));
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
    return LedgerState{.header = lines_.header(),
                       .accounts = lines_.TakeAccounts(),
                       .head = lines_.head(),
                       .last_time = lines_.last_time(),
                       .bytes = bytes_,
                       .torn_bytes = torn_bytes,
                       .written_head = std::move(written_),
                       .noted_seq = noted_seq_};
  }

 private:
  const std::string& path_;
  const ReadOptions& options_;
  std::optional<LedgerHead> written_;
  std::optional<std::uint64_t> noted_seq_;
  LedgerVerifier lines_;
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
  FileVerifier verifier(path, options, std::move(written));
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
