#include <sqlite3.h>

#include <array>
#include <string>
#include <string_view>

#include "bandana/core/sha256.h"
#include "bandana/privacy/ledger/record.h"
#include "bandana/store/anchor.h"
#include "bandana/store/backup.h"
#include "bandana/store/ledger_reader.h"
#include "bandana/store/memory_store.h"
#include "bandana/store/restore.h"
#include "bandana/store/rules.h"
#include "bandana/store/schema.h"
#include "bandana/store/sqlite_store.h"
#include "bandana/store/store_ledger.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz.h"

// The file of a store that somebody else has written. An input is a list of edits of a valid store: bytes of
// the file, or values in its tables. Every function that opens or reads a store says what is wrong; a ledger
// that verifies has no release twice; and a store that is opened for writing still refuses what it would
// refuse.
namespace bandana::fuzz {
namespace {

using store::Run;

const LedgerHeader& Header() {
  static const auto& header =
      *new LedgerHeader{.deployment = "fuzz", .configuration = "c", .limits = {.per_unit = {1, 0.5}}};
  return header;
}

// The names of the columns that edits change.
constexpr std::array<std::array<const char*, 2>, 26> kColumns = {{
    {"meta", "name"},
    {"meta", "value"},
    {"runs", "number"},
    {"runs", "run"},
    {"runs", "spec"},
    {"runs", "state"},
    {"runs", "why"},
    {"runs", "began"},
    {"runs", "ended"},
    {"runs", "first_line"},
    {"ledger", "seq"},
    {"ledger", "line"},
    {"position", "inputs_base"},
    {"position", "inputs_floor"},
    {"position", "draws_floor"},
    {"snapshot", "generation"},
    {"snapshot", "applied"},
    {"snapshot", "body"},
    {"inputs", "number"},
    {"inputs", "link"},
    {"inputs", "link_seq"},
    {"outputs", "seq"},
    {"outputs", "body"},
    {"acknowledged", "seq"},
    {"draws", "number"},
    {"draws", "key"},
}};
constexpr const char* kValues[] = {"0",
                                   "1",
                                   "-1",
                                   "2",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "1e300",
                                   "'text'",
                                   "x''",
                                   "x'00ff'",
                                   "zeroblob(100000)",
                                   "'{\"seq\":1'",
                                   "NULL",
                                   "'agent/1'",
                                   "'copy'",
                                   "randomblob(16)"};

store::Transaction FirstTransaction() {
  const std::string run(16, 'a');
  std::string hash(kNoHash);
  const auto line = [&](std::uint64_t seq, const std::string& content) {
    hash = ChainHash(hash, content);
    std::string joined = Join(content, hash);
    joined.pop_back();
    return store::AddLine{seq, joined};
  };
  LedgerHeader header = Header();
  header.of_store = true;
  const absl::Time time = absl::UnixEpoch() + absl::Hours(500'000);
  const ReleaseKey key{NodeId{7}, 1, "q"};
  const LedgerEntry entry{
      .key = key, .guarantee = {0.25, 0}, .loss = {0.25, 0}, .units = NodeId{7}, .run = store::RunName(run)};
  return {store::BeginRun{run, "spec", time},
          line(0, FormatHeader(header, time)),
          store::PutMeta{"head", "x"},
          store::AddInput{1, "agent/1", 1, "sealed"},
          store::PutOutput{"agent/1", 1, "sealed"},
          store::PutOutput{"agent/2", 1, "sealed"},
          line(1, FormatEntry(entry, Measure::kApproximateDp, 1, time)),
          store::AddDraw{store::DrawKey(store::RunName(run), key), "sealed"},
          store::Acknowledge{"agent/2", 1}};
}

const Folder& TheFolder() {
  static const Folder& folder = *new Folder();
  return folder;
}

// Returns the bytes of a valid store.
const std::string& ValidStore() {
  static const std::string& bytes = *new std::string([] {
    const std::string path = TheFolder() / "valid.db";
    {
      auto store = store::SqliteStore::Open(path).value();
      BANDANA_CHECK(store->Commit(FirstTransaction()).ok());
    }
    return Contents(path);
  }());
  return bytes;
}

void RemoveStore(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path + suffix);
}

void EditTables(const std::string& path, Input& input) {
  sqlite3* database = nullptr;
  BANDANA_CHECK(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  sqlite3_exec(database, "PRAGMA synchronous=OFF; PRAGMA ignore_check_constraints=ON", nullptr, nullptr,
               nullptr);
  for (int edits = 0; edits < 8 && !input.empty(); ++edits) {
    const auto& [table, column] = kColumns[input.Byte() % kColumns.size()];
    const std::string value = kValues[input.Byte() % std::size(kValues)];
    const std::string where = std::string(" WHERE ") + column + " IN (SELECT " + column + " FROM " + table +
                              " LIMIT 1 OFFSET " + std::to_string(input.Byte() % 4) + ")";
    const std::string sql = value == "NULL"
                                ? std::string("DELETE FROM ") + table + where
                                : std::string("UPDATE ") + table + " SET " + column + "=" + value + where;
    sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(database);
}

std::string EditBytes(std::string bytes, Input& input) {
  for (int edits = 0; edits < 32 && !input.empty(); ++edits) {
    const std::size_t page = input.Byte() % 16;
    const std::size_t at = page * 4096 + std::size_t{input.Byte()} * 16 + input.Byte() % 16;
    const std::uint8_t value = input.Byte();
    if (at < bytes.size()) bytes[at] = static_cast<char>(value);
  }
  return bytes;
}

void ReadAll(store::Store& store) {
  std::size_t rows = 0;
  const auto count = [&](const auto&) {
    ++rows;
    return absl::OkStatus();
  };
  (void)store.Runs();
  (void)store.Meta("head");
  (void)store.Snapshot();
  (void)store.ForEachInput(count);
  (void)store.ForEachOutput(count);
  (void)store.ForEachAcknowledgement(count);
  (void)store.ForEachDraw(count);
  (void)store.ForEachLine(0, count);
  (void)store::StoredHead(store);
  (void)store::HeadOf(store);
  BANDANA_CHECK(rows < 1000);
  const auto state =
      store::ReadStoreLedger(store, {}, [](const auto&, std::string_view) { return absl::OkStatus(); });
  if (state.ok()) BANDANA_CHECK(state->accounts.releases() <= 2);
}

void Run(std::string_view bytes) {
  const std::string path = TheFolder() / "store.db";
  RemoveStore(path);
  Input input(bytes);
  if (input.Byte() % 2 == 0) {
    Write(path, EditBytes(ValidStore(), input));
  } else {
    Write(path, ValidStore());
    EditTables(path, input);
  }
  (void)store::OpenAnySchema(path);
  if (const auto store = store::SqliteStore::OpenToRead(path); store.ok()) ReadAll(**store);
  const std::string copy = TheFolder() / "copy.db";
  RemoveStore(copy);
  (void)store::Restore({.copy = path, .store = copy}, absl::UnixEpoch());
  auto store = store::SqliteStore::Open(path, store::SqliteStore::Missing::kRefuse);
  if (!store.ok()) return;
  ReadAll(**store);
  (void)store::StoreLedger::Open(**store, Header());
  BANDANA_CHECK(!(*store)->Commit(std::array<store::Change, 1>{store::PutMeta{"store", "x"}}).ok());
}

}  // namespace

Target MakeTarget() {
  ValidStore();
  return {.seeds = {{"valid", std::string(1, '\0')},
                    {"valid-tables", "\1"},
                    {"first-page", std::string("\0\0\5\3\7", 5)},
                    {"ledger", "\1\xb\x7\1"},
                    {"runs", "\1\5\1\1\3\11\1"},
                    {"position", "\1\15\4\1"},
                    {"inputs", "\1\24\2\1\23\3\2"}},
          .run = Run,
          .mutations = 250,
          .allocation = std::size_t{16} << 20};  // SQLite's own caches
}

}  // namespace bandana::fuzz
