// Tests of `bandana store`, and of `bandana ledger` on stores.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bandana/cli/app.h"
#include "bandana/store/guarded_store.h"
#include "bandana/store/sqlite_store.h"
#include "tests/store/support.h"

namespace bandana::cli {
namespace {

using store::AddInput;
using store::BeginRun;
using store::IdentityKey;
using store::kBegan;
using store::PutOutput;
using store::RunId;
using store::RunName;
using store::Transaction;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

Outcome Bandana(std::vector<std::string> words) {
  words.insert(words.begin(), "bandana");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.code = Main(static_cast<int>(arguments.size()), arguments.data());
  std::fflush(stdout);
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

class StoreCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(public_key_) << IdentityKey::Open(key_)->public_key().pem();
    Charge(1, 3);
  }
  // Charges client 7 for epochs first to last, as a process does.
  void Charge(int first, int last) {
    auto opened = store::SqliteStore::Open(store_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    auto guarded = store::GuardedStore::Open(
        *std::move(opened), {.mirror = mirror_, .anchor = anchor_, .identity = *IdentityKey::Open(key_)});
    ASSERT_TRUE(guarded.ok()) << guarded.status();
    for (int epoch = first; epoch <= last; ++epoch) {
      Transaction changes;
      if (epoch == 1) {
        changes = {lines_.header(), BeginRun{RunId('a'), "spec", kBegan}, AddInput{1, "x", 1, "canary"},
                   PutOutput{"x", 1, "canary"}};
      }
      changes.push_back(lines_.Charge(RunId('a'), {NodeId{7}, epoch, "q"}, 0.25));
      const absl::Status status = (*guarded)->Commit(changes);
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  void LoseTheStore() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(store_ + suffix);
  }

  test::Folder folder_;
  std::string store_ = folder_ / "store.db";
  std::string copy_ = folder_ / "copy.db";
  std::string mirror_ = folder_ / "mirror.ledger";
  std::string anchor_ = folder_ / "anchor";
  std::string key_ = folder_ / "identity";
  std::string public_key_ = folder_ / "identity.pub";
  bool has_key_ = IdentityKey::Create(key_).ok();
  store::LineMaker lines_;
};

TEST_F(StoreCommandTest, ShowsAStore) {
  const Outcome shown = Bandana({"store", "show", store_, "--json"});
  ASSERT_EQ(shown.code, 0) << shown.out;
  const nlohmann::json json = shown.json();
  EXPECT_EQ(json["schema"], 1);
  EXPECT_THAT(json["store"].get<std::string>(), SizeIs(32));
  ASSERT_THAT(json["runs"], SizeIs(1));
  EXPECT_EQ(json["runs"][0]["run"], RunName(RunId('a')));
  EXPECT_EQ(json["runs"][0]["state"], "open");
  EXPECT_EQ(json["runs"][0]["began"], "2027-01-15T08:00:00Z");
  EXPECT_TRUE(json["runs"][0]["ended"].is_null());
  EXPECT_EQ(json["lines"], 4);
  EXPECT_EQ(json["head"]["seq"], 3);
  EXPECT_EQ(json["signed_head"]["seq"], 3);
  EXPECT_EQ(json["signed_head"]["signed"], true);
  EXPECT_EQ(json["anchor"]["file"], anchor_);
  EXPECT_EQ(json["anchor"]["agrees"], true);
  EXPECT_EQ(json["waiting_messages"], 1);
  EXPECT_TRUE(json["back_up"].is_null());
  EXPECT_GT(json["bytes"], 0);
  const Outcome text = Bandana({"store", "show", "sqlite:" + store_});
  EXPECT_EQ(text.code, 0);
  for (const std::string& part :
       {RunName(RunId('a')), std::string("schema 1"), std::string("ledger: 4 lines"),
        std::string("agrees: it knows line 3"), json["head"]["hash"].get<std::string>()}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  EXPECT_THAT(text.out + shown.out, Not(HasSubstr("canary")));
}

TEST_F(StoreCommandTest, ShowsThatAStoreIsBehindItsAnchor) {
  std::filesystem::copy_file(store_, folder_ / "old.db");
  Charge(4, 4);
  const nlohmann::json json = Bandana({"store", "show", folder_ / "old.db", "--json"}).json();
  EXPECT_EQ(json["anchor"]["agrees"], false);
  EXPECT_THAT(json["anchor"]["text"].get<std::string>(), HasSubstr("the store is an old copy"));
  EXPECT_EQ(Bandana({"store", "show", store_, "--json"}).json()["anchor"]["agrees"], true);
  EXPECT_EQ(
      Bandana({"store", "show", store_, "--json", "--anchor", folder_ / "none"}).json()["anchor"]["agrees"],
      false);
}

TEST_F(StoreCommandTest, BacksUpAndRestores) {
  const Outcome made = Bandana({"store", "backup", store_, copy_});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("4 lines of the ledger, verified"));
  EXPECT_EQ(Bandana({"store", "backup", store_, copy_}).code, 2) << "it was overwritten";
  EXPECT_FALSE(Bandana({"store", "show", copy_, "--json"}).json()["back_up"].is_null());
  EXPECT_THAT(Bandana({"store", "show", copy_}).out, HasSubstr("this is a back-up"));
  EXPECT_EQ(Bandana({"store", "end", copy_}).code, 2) << "a back-up was used as a store";
  Charge(4, 4);
  EXPECT_EQ(Bandana({"store", "restore", copy_, store_, "--anchor", anchor_}).code, 2)
      << "it was overwritten";
  LoseTheStore();

  const Outcome missed = Bandana({"store", "restore", copy_, store_, "--mirror", mirror_});
  EXPECT_EQ(missed.code, 2);
  EXPECT_THAT(missed.err, HasSubstr("--anchor-is-lost"));
  const Outcome restored = Bandana({"store", "restore", copy_, store_, "--mirror", mirror_, "--anchor",
                                    anchor_, "--key", public_key_, "--json"});
  ASSERT_EQ(restored.code, 0) << restored.out;
  const nlohmann::json json = restored.json();
  EXPECT_EQ(json["copied_lines"], 4);
  EXPECT_EQ(json["added_lines"], 1);
  EXPECT_EQ(json["ended_run"], RunName(RunId('a')));
  EXPECT_THAT(json["learned_runs"], IsEmpty());
  EXPECT_TRUE(json["all_spent"].is_null());
  EXPECT_EQ(json["head"]["seq"], 4);
  EXPECT_EQ(Bandana({"store", "show", store_, "--json"}).json()["runs"][0]["state"], "ended");

  LoseTheStore();
  const Outcome spent = Bandana({"store", "restore", copy_, store_, "--anchor", anchor_});
  EXPECT_EQ(spent.code, 0) << spent.err;
  EXPECT_THAT(spent.out, HasSubstr("EVERY BUDGET COUNTS AS SPENT: the anchor knows line 4"));
  EXPECT_THAT(spent.out, HasSubstr("what was paid stays paid"));
  EXPECT_EQ(Bandana({"store", "show", store_, "--json"}).json()["anchor"]["agrees"], true);
  const Outcome ledger = Bandana({"ledger", "show", store_});
  EXPECT_THAT(ledger.out, HasSubstr("note: every budget counts as spent"));
  const nlohmann::json exported = Bandana({"ledger", "export", store_, "--json"}).json();
  EXPECT_THAT(exported["all_spent"].get<std::string>(), HasSubstr("a back-up was restored"));
  EXPECT_THAT(exported["charges"], SizeIs(3));
  EXPECT_THAT(Bandana({"ledger", "export", store_}).err, HasSubstr("every budget counts as spent"));
}

TEST_F(StoreCommandTest, RestoreChecksItsFlags) {
  Bandana({"store", "backup", store_, copy_});
  const std::string to = folder_ / "restored.db";
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--anchor", anchor_, "--anchor-is-lost"},
                                             {"--key", public_key_},
                                             {"--anchor", anchor_, "--key", folder_ / "none"},
                                             {"--anchor", folder_ / "none"},
                                             {"--anchor", anchor_, "--mirror", folder_ / "none"}}) {
    std::vector<std::string> words = {"store", "restore", copy_, to};
    words.insert(words.end(), flags.begin(), flags.end());
    EXPECT_EQ(Bandana(words).code, 2) << flags[0];
    EXPECT_FALSE(std::filesystem::exists(to));
  }
  const std::string other = folder_ / "other";
  const IdentityKey key = *IdentityKey::Create(other);
  std::ofstream(other + ".pub") << key.public_key().pem();
  EXPECT_EQ(Bandana({"store", "restore", copy_, to, "--anchor", anchor_, "--key", other + ".pub"}).code, 1);
  EXPECT_EQ(Bandana({"store", "restore", copy_, to, "--anchor-is-lost"}).code, 0);
}

TEST_F(StoreCommandTest, EndsARun) {
  {
    const auto used = store::SqliteStore::Open(store_);
    EXPECT_EQ(Bandana({"store", "end", store_}).code, 4) << "a process uses the store";
  }
  const Outcome ended = Bandana({"store", "end", store_});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("What was paid stays paid: the ledger keeps its 4 lines"));
  const Outcome again = Bandana({"store", "end", store_});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("no run of this store is open"));
  const auto opened = store::SqliteStore::Open(store_);
  const store::Run run = (*opened)->Runs()->back();
  EXPECT_EQ(run.state, store::RunState::kEnded);
  EXPECT_THAT(run.why, HasSubstr("bandana store end"));
  EXPECT_TRUE((*opened)->Commit(Transaction{BeginRun{RunId('b'), "spec", kBegan}}).ok());
}

TEST_F(StoreCommandTest, MigratesNothingYet) {
  const Outcome migrated = Bandana({"store", "migrate", store_});
  EXPECT_EQ(migrated.code, 0) << migrated.err;
  EXPECT_THAT(migrated.out, HasSubstr("nothing to do"));
  EXPECT_FALSE(std::filesystem::exists(store_ + ".schema-1"));
}

TEST_F(StoreCommandTest, NamesWhatIsWrong) {
  EXPECT_EQ(Bandana({"store"}).code, 2);
  EXPECT_EQ(Bandana({"store", "frobnicate", store_}).code, 2);
  EXPECT_EQ(Bandana({"store", "show"}).code, 2);
  for (const char* const action : {"show", "migrate", "end"}) {
    EXPECT_EQ(Bandana({"store", action, folder_ / "none"}).code, 2) << action;
    EXPECT_EQ(Bandana({"store", action, mirror_}).code, 1) << action;
    const Outcome other = Bandana({"store", action, "postgresql://db/bandana", "--json"});
    EXPECT_EQ(other.code, 2) << action;
    EXPECT_EQ(other.json()["error"]["value"], "postgresql://db/bandana");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

TEST_F(StoreCommandTest, ShowsTheLedgerOfAStore) {
  const Outcome shown = Bandana({"ledger", "show", store_, "--json"});
  ASSERT_EQ(shown.code, 0) << shown.out;
  EXPECT_EQ(shown.json()["releases"], 3);
  EXPECT_EQ(shown.json()["largest"]["spent"]["epsilon"], 0.75);
  EXPECT_THAT(shown.json()["notes"], IsEmpty());
  const Outcome mine = Bandana({"ledger", "show", "sqlite:" + store_, "--client", "7"});
  EXPECT_EQ(mine.code, 0);
  EXPECT_THAT(mine.out, HasSubstr("run " + RunName(RunId('a'))));
  const std::string csv = Bandana({"ledger", "export", store_}).out;
  EXPECT_THAT(csv, HasSubstr("seq,time,run,node,"));
  EXPECT_THAT(csv, HasSubstr("," + RunName(RunId('a')) + ",7,2,"));
  EXPECT_EQ(Bandana({"ledger", "export", store_, "--json"}).json()["charges"][1]["run"], RunName(RunId('a')));
  EXPECT_EQ(Bandana({"ledger", "export", store_, "--out", store_}).code, 2) << "it replaced the store";
  EXPECT_EQ(Bandana({"ledger", "show", "sqlite:" + (folder_ / "none")}).code, 2);
}

TEST_F(StoreCommandTest, VerifiesWhoSignedTheLedger) {
  EXPECT_EQ(Bandana({"ledger", "verify", store_}).code, 0);
  const Outcome verified = Bandana({"ledger", "verify", store_, "--key", public_key_, "--json"});
  ASSERT_EQ(verified.code, 0) << verified.out;
  EXPECT_EQ(verified.json()["signed_by"]["seq"], 3);
  EXPECT_EQ(verified.json()["signed_by"]["key"], IdentityKey::Open(key_)->public_key().name());
  const IdentityKey other = *IdentityKey::Create(folder_ / "other");
  std::ofstream(folder_ / "other.pub") << other.public_key().pem();
  const Outcome wrong = Bandana({"ledger", "verify", store_, "--key", folder_ / "other.pub"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("was not signed by the key"));

  // A mirror has no signed head of its own: the anchor has it.
  EXPECT_EQ(Bandana({"ledger", "verify", mirror_, "--key", public_key_}).code, 2);
  const Outcome mirror = Bandana({"ledger", "verify", mirror_, "--anchor", anchor_, "--key", public_key_});
  EXPECT_EQ(mirror.code, 0) << mirror.err;
  EXPECT_THAT(mirror.out, HasSubstr("the head of line 3 was signed at"));
  EXPECT_EQ(Bandana({"ledger", "verify", mirror_, "--anchor", anchor_, "--key", folder_ / "other.pub"}).code,
            1);
  EXPECT_EQ(Bandana({"ledger", "show", store_, "--key", public_key_}).code, 2);
  EXPECT_EQ(Bandana({"ledger", "verify", store_, "--anchor", anchor_, "--head", std::string(64, 'a')}).code,
            2);

  // Somebody without the key has added a line.
  std::filesystem::copy_file(store_, folder_ / "added.db");
  {
    store::LineMaker lines = lines_;
    const auto added = store::SqliteStore::Open(folder_ / "added.db");
    const Transaction line = {lines.Charge(RunId('a'), {NodeId{7}, 9, "q"}, 0)};
    ASSERT_TRUE((*added)->Commit(line).ok());
  }
  EXPECT_EQ(Bandana({"ledger", "verify", folder_ / "added.db"}).code, 0);
  const Outcome unsigned_line = Bandana({"ledger", "verify", folder_ / "added.db", "--key", public_key_});
  EXPECT_EQ(unsigned_line.code, 1);
  EXPECT_THAT(unsigned_line.err, HasSubstr("nobody has signed the lines after line 3"));

  // An anchor that is ahead of the store, and lines after the one that was signed.
  std::filesystem::copy_file(store_, folder_ / "old.db");
  std::filesystem::copy_file(anchor_, folder_ / "old-anchor");
  Charge(4, 4);
  EXPECT_EQ(Bandana({"ledger", "verify", folder_ / "old.db", "--anchor", anchor_}).code, 1);
  const Outcome older = Bandana({"ledger", "verify", store_, "--anchor", folder_ / "old-anchor"});
  EXPECT_EQ(older.code, 0) << older.err;
  EXPECT_THAT(older.out, HasSubstr("nobody has signed the lines after it"));
}

TEST_F(StoreCommandTest, ExportsAMirror) {
  const std::string out = folder_ / "exported.ledger";
  EXPECT_EQ(Bandana({"ledger", "export", store_, "--format", "mirror"}).code, 2) << "it needs --out";
  const Outcome made = Bandana({"ledger", "export", store_, "--format", "mirror", "--out", out});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(store::Contents(out), store::Contents(mirror_));
  EXPECT_EQ(Bandana({"ledger", "verify", out}).code, 0);
  Charge(4, 4);
  EXPECT_EQ(Bandana({"ledger", "export", store_, "--format", "mirror", "--out", out}).code, 0);
  EXPECT_EQ(store::Contents(out), store::Contents(mirror_)) << "an earlier mirror is completed";
  EXPECT_EQ(Bandana({"ledger", "export", mirror_, "--format", "mirror", "--out", out}).code, 2);
  EXPECT_EQ(Bandana({"ledger", "export", store_, "--format", "mirror", "--out", store_}).code, 2);
}

}  // namespace
}  // namespace bandana::cli
