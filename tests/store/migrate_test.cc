// Tests of migrations with planted ones: this program has only one schema yet.

#include "bandana/store/migrate.h"

#include <filesystem>

#include "bandana/store/database.h"
#include "bandana/store/sqlite_store.h"
#include "tests/store/support.h"

namespace bandana::store {
namespace {

using test::Folder;

const std::string_view kTwo[] = {Migrations()[0], "CREATE TABLE second(a); INSERT INTO second VALUES (2);"};
const std::string_view kThree[] = {kTwo[0], kTwo[1], "ALTER TABLE second ADD COLUMN b;"};
const std::string_view kBroken[] = {kTwo[0], kTwo[1], "CREATE TABLE third(a); INSERT INTO none VALUES (1);"};

class MigrateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = SqliteStore::Open(path_);
    ASSERT_TRUE(store.ok()) << store.status();
    LineMaker lines;
    const absl::Status status =
        (*store)->Commit(Transaction{lines.header(), BeginRun{RunId('a'), "spec", kBegan}});
    ASSERT_TRUE(status.ok()) << status;
  }
  int Schema(const std::string& path) {
    auto database = Database::Open(path, Database::Access::kRead);
    return *SchemaOf(**database);
  }
  std::int64_t Number(const char* sql) {
    auto database = Database::Open(path_, Database::Access::kRead);
    return *(*database)->Number(sql);
  }

  Folder folder_;
  std::string path_ = folder_ / "store.db";
};

TEST_F(MigrateTest, AStoreOfThisSchemaStaysAsItIs) {
  const auto migrated = MigrateFile(path_, kBegan);
  ASSERT_TRUE(migrated.ok()) << migrated.status();
  EXPECT_EQ(migrated->from, migrated->to);
  EXPECT_EQ(migrated->copy, "");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".schema-1"));
  EXPECT_TRUE(SqliteStore::Open(path_).ok());
}

TEST_F(MigrateTest, MakesABackUpAndThenOneStepAfterTheOther) {
  const auto migrated = MigrateFile(path_, kBegan, kThree);
  ASSERT_TRUE(migrated.ok()) << migrated.status();
  EXPECT_EQ(migrated->from, 1);
  EXPECT_EQ(migrated->to, 3);
  EXPECT_EQ(migrated->copy, path_ + ".schema-1");
  EXPECT_EQ(Schema(path_), 3);
  EXPECT_EQ(Number("SELECT a FROM second WHERE b IS NULL"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM ledger"), 1) << "the ledger is lost";
  EXPECT_EQ(Schema(migrated->copy), 1);
  const auto copy = SqliteStore::OpenToRead(migrated->copy);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_THAT(*(*copy)->Runs(), SizeIs(1));
  EXPECT_TRUE((*copy)->Meta(kCopyMeta)->has_value());
  // A second call has nothing to do, and an older program refuses the store.
  EXPECT_EQ(MigrateFile(path_, kBegan, kThree)->copy, "");
  const absl::Status older = MigrateFile(path_, kBegan, kTwo).status();
  EXPECT_EQ(older.code(), absl::StatusCode::kFailedPrecondition) << older;
  EXPECT_THAT(std::string(older.message()), HasSubstr("use a newer program"));
}

TEST_F(MigrateTest, AStepThatFailsLeavesNothingAndCanBeRepeated) {
  // Step 2 succeeds, and step 3 fails.
  EXPECT_FALSE(MigrateFile(path_, kBegan, kBroken).ok());
  EXPECT_EQ(Schema(path_), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM sqlite_schema WHERE name = 'third'"), 0);
  EXPECT_TRUE(std::filesystem::exists(path_ + ".schema-1"));
  // Now the first step fails, so that the back-up of schema 2 is not needed.
  EXPECT_FALSE(MigrateFile(path_, kBegan, kBroken).ok());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".schema-2"));
  const auto migrated = MigrateFile(path_, kBegan, kThree);
  ASSERT_TRUE(migrated.ok()) << migrated.status();
  EXPECT_EQ(migrated->from, 2);
  EXPECT_EQ(Schema(path_), 3);
  EXPECT_EQ(Schema(migrated->copy), 2);
}

TEST_F(MigrateTest, RefusesAStoreThatIsUsedAndFilesThatAreNone) {
  {
    const auto store = SqliteStore::Open(path_);
    EXPECT_EQ(MigrateFile(path_, kBegan, kTwo).status().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(MigrateFile(folder_ / "none", kBegan, kTwo).status().code(), absl::StatusCode::kNotFound);
  std::ofstream(folder_ / "empty").close();
  EXPECT_EQ(MigrateFile(folder_ / "empty", kBegan, kTwo).status().code(), absl::StatusCode::kDataLoss);
  std::ofstream(path_ + ".schema-1") << "something else";
  EXPECT_EQ(MigrateFile(path_, kBegan, kTwo).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Schema(path_), 1) << "it was migrated without a back-up";
}

}  // namespace
}  // namespace bandana::store
