#include "bandana/store/sqlite_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>
#include <variant>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/durable_file.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/store/schema.h"
#include "fmt/format.h"

namespace bandana::store {
namespace {

// Rows that are erased are deleted in groups: at least so many with each transaction that adds none, and
// twice as many as a transaction adds.
constexpr std::int64_t kDeletedEach = 64;

// No row has a larger number. The sum of two such numbers does not overflow.
constexpr std::int64_t kMostRows = std::int64_t{1} << 53;

absl::Status IsBackUp(const std::string& path, const std::string& made) {
  return FileError(
      absl::StatusCode::kFailedPrecondition, path,
      fmt::format("this is a back-up, which was made at {}, and not a store: whoever went on from "
                  "it would release the same values again with other noise. Put it back with: "
                  "bandana store restore {} STORE",
                  made, path));
}

std::int64_t FromTime(absl::Time time) { return absl::ToUnixMicros(time); }

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& path, Missing missing) {
  std::unique_ptr<SqliteStore> store(new SqliteStore(path));
  BANDANA_ASSIGN_OR_RETURN(store->lock_,
                           FileLock::Take(path, missing == Missing::kCreate ? FileLock::Missing::kCreate
                                                                            : FileLock::Missing::kRefuse));
  BANDANA_ASSIGN_OR_RETURN(store->database_, Database::Open(path, Database::Access::kWrite));
  store->writes_ = true;
  BANDANA_RETURN_IF_ERROR(store->Prepare());
  return store;
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::OpenToRead(const std::string& path) {
  std::unique_ptr<SqliteStore> store(new SqliteStore(path));
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    return errno == ENOENT ? NoSuchStore(path) : SystemError(path, "cannot be read");
  BANDANA_ASSIGN_OR_RETURN(store->database_, Database::Open(path, Database::Access::kRead));
  BANDANA_RETURN_IF_ERROR(CheckSchema(*store->database_));
  // The first read inside of the transaction decides what it shows.
  BANDANA_RETURN_IF_ERROR(store->database_->Run("BEGIN"));
  BANDANA_RETURN_IF_ERROR(store->Load());
  return store;
}

SqliteStore::~SqliteStore() = default;

absl::Status SqliteStore::Prepare() {
  Database& database = *database_;
  BANDANA_ASSIGN_OR_RETURN(const int schema, SchemaOf(database));
  if (schema == 0) BANDANA_RETURN_IF_ERROR(database.Run("PRAGMA page_size=8192"));
  if (schema > 0) {
    BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> made, Meta(kCopyMeta));
    if (made) return IsBackUp(path_, *made);
  }
  BANDANA_ASSIGN_OR_RETURN(const std::string mode, database.Text("PRAGMA journal_mode=WAL"));
  if (mode != "wal") {
    return FileError(absl::StatusCode::kUnavailable, path_,
                     "its folder cannot hold a write-ahead log: use a disk of this machine");
  }
  BANDANA_RETURN_IF_ERROR(database.Run(
      "PRAGMA synchronous=FULL;PRAGMA wal_autocheckpoint=2000;PRAGMA journal_size_limit=67108864;"
      "PRAGMA cache_size=-16384;PRAGMA temp_store=MEMORY"));
  BANDANA_RETURN_IF_ERROR(schema == 0 ? Migrate(database) : CheckSchema(database));
  // The log may hold pages that are only in memory yet: a process that could not synchronise it has ended.
  // After this they are in the database, which is synchronised.
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t busy, database.Number("PRAGMA wal_checkpoint(TRUNCATE)"));
  if (busy != 0) {
    return FileError(absl::StatusCode::kUnavailable, path_,
                     "another process has been reading it for 30 seconds: end that process, and start again");
  }
  BANDANA_RETURN_IF_ERROR(SyncFolderOf(path_));
  BANDANA_RETURN_IF_ERROR(Load());
  BANDANA_RETURN_IF_ERROR(LoadRules());
  const std::tuple<Statement&, std::string_view> statements[] = {
      {begin_, "BEGIN IMMEDIATE"},
      {commit_, "COMMIT"},
      {begin_run_, "INSERT INTO runs (run, spec, state, why, began, first_line) VALUES (?, ?, ?, '', ?, ?)"},
      {end_run_,
       "UPDATE runs SET state = ?, why = ?, ended = ? WHERE number = (SELECT max(number) FROM runs)"},
      {add_input_, "INSERT INTO inputs VALUES (?, ?, ?, ?)"},
      {put_snapshot_, "INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?, ?)"},
      {delete_snapshot_, "DELETE FROM snapshot"},
      {put_output_,
       "INSERT INTO outputs (link, seq, body) VALUES (?, ?, ?) "
       "ON CONFLICT (link, seq) DO UPDATE SET body = excluded.body"},
      {acknowledge_,
       "INSERT INTO acknowledged VALUES (?, ?) "
       "ON CONFLICT (link) DO UPDATE SET seq = max(seq, excluded.seq)"},
      {delete_outputs_, "DELETE FROM outputs WHERE link = ? AND seq <= ?"},
      {delete_all_outputs_, "DELETE FROM outputs"},
      {delete_acknowledged_, "DELETE FROM acknowledged"},
      {add_line_, "INSERT INTO ledger VALUES (?, ?)"},
      {add_draw_, "INSERT INTO draws VALUES (?, ?, ?)"},
      {put_meta_, "INSERT OR REPLACE INTO meta VALUES (?, ?)"},
      {put_position_, "UPDATE position SET inputs_base = ?, inputs_floor = ?, draws_floor = ?"},
      {delete_inputs_, "DELETE FROM inputs WHERE number < ?"},
      {delete_draws_, "DELETE FROM draws WHERE number < ?"}};
  for (const auto& [statement, sql] : statements) {
    BANDANA_ASSIGN_OR_RETURN(statement, database.Prepare(sql));
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::Load() {
  Database& database = *database_;
  // Somebody else may have written the file.
  const auto load = [&](const std::string& sql) -> absl::StatusOr<std::int64_t> {
    BANDANA_ASSIGN_OR_RETURN(const std::int64_t number, database.Number(sql));
    if (number >= 0 && number <= kMostRows) return number;
    return FileError(absl::StatusCode::kDataLoss, path_,
                     fmt::format("the store is damaged: {} gives {}", sql, number));
  };
  const auto load_rows = [&](std::string_view table, Rows& rows) -> absl::Status {
    BANDANA_ASSIGN_OR_RETURN(rows.floor, load(fmt::format("SELECT {}_floor FROM position", table)));
    BANDANA_ASSIGN_OR_RETURN(const std::int64_t first,
                             load(fmt::format("SELECT min(number) FROM {}", table)));
    BANDANA_ASSIGN_OR_RETURN(const std::int64_t last, load(fmt::format("SELECT max(number) FROM {}", table)));
    rows.last = std::max(rows.floor, last);
    rows.first = first == 0 ? rows.last + 1 : first;
    return absl::OkStatus();
  };
  BANDANA_RETURN_IF_ERROR(load_rows("inputs", inputs_));
  BANDANA_RETURN_IF_ERROR(load_rows("draws", draws_));
  BANDANA_ASSIGN_OR_RETURN(inputs_base_, load("SELECT inputs_base FROM position"));
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t lines, load("SELECT max(seq) + 1 FROM ledger"));
  lines_ = static_cast<std::uint64_t>(lines);
  return absl::OkStatus();
}

absl::Status SqliteStore::LoadRules() {
  Rules::State state;
  BANDANA_ASSIGN_OR_RETURN(const std::vector<store::Run> runs, Runs());
  for (const store::Run& run : runs) {
    state.runs.insert(run.run);
    if (run.state == RunState::kOpen) state.open_run = RunName(run.run);
  }
  state.last_input = static_cast<std::uint64_t>(inputs_.last - inputs_base_);
  BANDANA_ASSIGN_OR_RETURN(Statement snapshot, database_->Prepare("SELECT generation FROM snapshot"));
  BANDANA_ASSIGN_OR_RETURN(const bool has_snapshot, snapshot.Step());
  if (has_snapshot) state.generation = static_cast<std::uint64_t>(snapshot.Integer(0));
  snapshot.Reset();
  BANDANA_RETURN_IF_ERROR(ForEachAcknowledgement([&](const store::Acknowledge& acknowledge) {
    state.links[acknowledge.link].acknowledged = acknowledge.seq;
    return absl::OkStatus();
  }));
  BANDANA_ASSIGN_OR_RETURN(Statement outputs, database_->Prepare("SELECT link, seq FROM outputs"));
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, outputs.Step());
    if (!row) break;
    state.links[std::string(outputs.Bytes(0))].waiting.insert(static_cast<std::uint64_t>(outputs.Integer(1)));
  }
  // The header, and then the last line or those of the open run.
  BANDANA_ASSIGN_OR_RETURN(const std::int64_t first_line,
                           database_->Number("SELECT first_line FROM runs WHERE ended IS NULL"));
  const auto take = [&](const store::AddLine& line) { return state.TakeLine(line); };
  const std::uint64_t open_from =
      state.open_run.empty() ? lines_ : std::min(lines_, static_cast<std::uint64_t>(first_line));
  const std::uint64_t from = lines_ == 0 ? 0 : std::min(open_from, lines_ - 1);
  if (from > 0) {
    BANDANA_ASSIGN_OR_RETURN(std::string header, database_->Text("SELECT line FROM ledger WHERE seq = 0"));
    BANDANA_RETURN_IF_ERROR(take({0, std::move(header)}));
  }
  BANDANA_RETURN_IF_ERROR(ForEachLine(from, take));
  rules_.Load(std::move(state));
  return absl::OkStatus();
}

absl::Status SqliteStore::Commit(std::span<const Change> changes) {
  BANDANA_RETURN_IF_ERROR(failed_);
  if (!writes_) return absl::FailedPreconditionError("the store was opened to be read");
  failed_ = ApplyAll(changes);
  if (!failed_.ok()) database_->Rollback();
  return failed_;
}

absl::Status SqliteStore::ApplyAll(std::span<const Change> changes) {
  BANDANA_RETURN_IF_ERROR(rules_.Check(changes, charges_wait()));
  BANDANA_RETURN_IF_ERROR(lock_.CheckNamed(path_));
  const Rows inputs = inputs_;
  const Rows draws = draws_;
  BANDANA_RETURN_IF_ERROR(begin_.Run());
  for (const Change& change : changes) {
    BANDANA_RETURN_IF_ERROR(std::visit([this](const auto& each) { return Apply(each); }, change));
  }
  if (inputs_.floor != inputs.floor || draws_.floor != draws.floor) BANDANA_RETURN_IF_ERROR(StorePosition());
  BANDANA_RETURN_IF_ERROR(DeleteErased(changes.size()));
  return commit_.Run();
}

// Deleting the rows of a phase at once would take seconds.
absl::Status SqliteStore::DeleteErased(std::size_t inserted) {
  const std::int64_t most = kDeletedEach + 2 * static_cast<std::int64_t>(inserted);
  const auto remove = [&](Rows& rows, Statement& statement) -> absl::Status {
    const std::int64_t end = std::min(rows.floor + 1, rows.first + most);
    if (end <= rows.first) return absl::OkStatus();
    rows.first = end;
    return statement.Bind(1, end).Run();
  };
  BANDANA_RETURN_IF_ERROR(remove(inputs_, delete_inputs_));
  return remove(draws_, delete_draws_);
}

absl::Status SqliteStore::StorePosition() {
  return put_position_.Bind(1, inputs_base_).Bind(2, inputs_.floor).Bind(3, draws_.floor).Run();
}

absl::Status SqliteStore::Apply(const BeginRun& begin) {
  return begin_run_.BindBlob(1, begin.run)
      .BindText(2, begin.spec)
      .Bind(3, static_cast<std::int64_t>(RunState::kOpen))
      .Bind(4, FromTime(begin.time))
      .Bind(5, static_cast<std::int64_t>(lines_))
      .Run();
}

absl::Status SqliteStore::Apply(const EndRun& end) {
  BANDANA_RETURN_IF_ERROR(end_run_.Bind(1, static_cast<std::int64_t>(end.state))
                              .BindText(2, end.why)
                              .Bind(3, FromTime(end.time))
                              .Run());
  inputs_.floor = inputs_.last;
  inputs_base_ = inputs_.last;
  draws_.floor = draws_.last;
  BANDANA_RETURN_IF_ERROR(StorePosition());
  BANDANA_RETURN_IF_ERROR(delete_snapshot_.Run());
  BANDANA_RETURN_IF_ERROR(delete_all_outputs_.Run());
  return delete_acknowledged_.Run();
}

absl::Status SqliteStore::Apply(const AddInput& input) {
  inputs_.last = inputs_base_ + static_cast<std::int64_t>(input.seq);
  return add_input_.Bind(1, inputs_.last)
      .BindText(2, input.link)
      .Bind(3, static_cast<std::int64_t>(input.link_seq))
      .BindBlob(4, input.body)
      .Run();
}

absl::Status SqliteStore::Apply(const PutSnapshot& snapshot) {
  inputs_.last = inputs_base_ + static_cast<std::int64_t>(snapshot.applied);
  inputs_.floor = inputs_.last;
  draws_.floor = draws_.last;
  return put_snapshot_.Bind(1, static_cast<std::int64_t>(snapshot.generation))
      .Bind(2, static_cast<std::int64_t>(snapshot.applied))
      .BindBlob(3, snapshot.body)
      .Run();
}

absl::Status SqliteStore::Apply(const PutOutput& output) {
  return put_output_.BindText(1, output.link)
      .Bind(2, static_cast<std::int64_t>(output.seq))
      .BindBlob(3, output.body)
      .Run();
}

absl::Status SqliteStore::Apply(const store::Acknowledge& acknowledge) {
  const auto seq = static_cast<std::int64_t>(acknowledge.seq);
  BANDANA_RETURN_IF_ERROR(acknowledge_.BindText(1, acknowledge.link).Bind(2, seq).Run());
  return delete_outputs_.BindText(1, acknowledge.link).Bind(2, seq).Run();
}

absl::Status SqliteStore::Apply(const AddLine& line) {
  lines_ = line.seq + 1;
  return add_line_.Bind(1, static_cast<std::int64_t>(line.seq)).BindText(2, line.line).Run();
}

absl::Status SqliteStore::Apply(const AddDraw& draw) {
  return add_draw_.Bind(1, ++draws_.last).BindText(2, draw.key).BindBlob(3, draw.body).Run();
}

absl::Status SqliteStore::Apply(const PutMeta& meta) {
  return put_meta_.BindText(1, meta.name).BindBlob(2, meta.value).Run();
}

absl::StatusOr<std::vector<Run>> SqliteStore::Runs() {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(
      Statement rows,
      database_->Prepare("SELECT run, spec, state, why, began, ended FROM runs ORDER BY number"));
  std::vector<Run> runs;
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return runs;
    runs.push_back(
        {.run = std::string(rows.Bytes(0)),
         .spec = std::string(rows.Bytes(1)),
         .state = static_cast<RunState>(rows.Integer(2)),
         .why = std::string(rows.Bytes(3)),
         .began = absl::FromUnixMicros(rows.Integer(4)),
         .ended = rows.IsNull(5) ? absl::InfiniteFuture() : absl::FromUnixMicros(rows.Integer(5))});
  }
}

absl::StatusOr<std::optional<std::string>> SqliteStore::Meta(const std::string& name) {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(Statement rows, database_->Prepare("SELECT value FROM meta WHERE name = ?"));
  BANDANA_ASSIGN_OR_RETURN(const bool row, rows.BindText(1, name).Step());
  return row ? std::optional(std::string(rows.Bytes(0))) : std::nullopt;
}

absl::StatusOr<std::optional<PutSnapshot>> SqliteStore::Snapshot() {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(Statement rows,
                           database_->Prepare("SELECT generation, applied, body FROM snapshot"));
  BANDANA_ASSIGN_OR_RETURN(const bool row, rows.Step());
  if (!row) return std::nullopt;
  return PutSnapshot{static_cast<std::uint64_t>(rows.Integer(0)), static_cast<std::uint64_t>(rows.Integer(1)),
                     std::string(rows.Bytes(2))};
}

absl::Status SqliteStore::ForEachInput(absl::FunctionRef<absl::Status(const AddInput&)> visit) {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(
      Statement rows,
      database_->Prepare("SELECT number, link, link_seq, body FROM inputs WHERE number > ? ORDER BY number"));
  rows.Bind(1, inputs_.floor);
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(
        visit({static_cast<std::uint64_t>(rows.Integer(0) - inputs_base_), std::string(rows.Bytes(1)),
               static_cast<std::uint64_t>(rows.Integer(2)), std::string(rows.Bytes(3))}));
  }
}

absl::Status SqliteStore::ForEachOutput(absl::FunctionRef<absl::Status(const PutOutput&)> visit) {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(Statement rows,
                           database_->Prepare("SELECT link, seq, body FROM outputs ORDER BY link, seq"));
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(visit({std::string(rows.Bytes(0)), static_cast<std::uint64_t>(rows.Integer(1)),
                                   std::string(rows.Bytes(2))}));
  }
}

absl::Status SqliteStore::ForEachAcknowledgement(
    absl::FunctionRef<absl::Status(const store::Acknowledge&)> visit) {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(Statement rows,
                           database_->Prepare("SELECT link, seq FROM acknowledged ORDER BY link"));
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(visit({std::string(rows.Bytes(0)), static_cast<std::uint64_t>(rows.Integer(1))}));
  }
}

absl::Status SqliteStore::ForEachDraw(absl::FunctionRef<absl::Status(const AddDraw&)> visit) {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(
      Statement rows, database_->Prepare("SELECT key, body FROM draws WHERE number > ? ORDER BY number"));
  rows.Bind(1, draws_.floor);
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(visit({std::string(rows.Bytes(0)), std::string(rows.Bytes(1))}));
  }
}

absl::StatusOr<std::uint64_t> SqliteStore::Lines() {
  BANDANA_RETURN_IF_ERROR(failed_);
  return lines_;
}

absl::Status SqliteStore::ForEachLine(std::uint64_t from,
                                      absl::FunctionRef<absl::Status(const AddLine&)> visit) {
  BANDANA_RETURN_IF_ERROR(failed_);
  BANDANA_ASSIGN_OR_RETURN(Statement rows,
                           database_->Prepare("SELECT seq, line FROM ledger WHERE seq >= ? ORDER BY seq"));
  rows.Bind(1, static_cast<std::int64_t>(from));
  for (;;) {
    BANDANA_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return absl::OkStatus();
    BANDANA_RETURN_IF_ERROR(visit({static_cast<std::uint64_t>(rows.Integer(0)), std::string(rows.Bytes(1))}));
  }
}

}  // namespace bandana::store
