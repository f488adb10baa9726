// Tests of what is known of a store's ledger outside of it: signed heads, the copy of the ledger, the anchor.

#include "bandana/store/guarded_store.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "bandana/core/status.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/store/sqlite_store.h"
#include "tests/store/support.h"

namespace bandana::store {
namespace {

using test::Folder;

void Put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

ReleaseKey Release(int epoch) { return {NodeId{7}, epoch, "q"}; }

TEST(IdentityKey, SignsAndIsTheOwnersAlone) {
  const Folder folder;
  const std::string path = folder / "identity";
  const auto key = IdentityKey::Create(path);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_FALSE(IdentityKey::Create(path).ok()) << "a key was overwritten";
  const auto again = IdentityKey::Open(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->Sign("text"), key->Sign("text"));
  EXPECT_TRUE(key->public_key().HasSigned("text", again->Sign("text")));
  EXPECT_FALSE(key->public_key().HasSigned("another text", key->Sign("text")));
  EXPECT_FALSE(key->public_key().HasSigned("text", ""));
  EXPECT_FALSE(IdentityKey::Create(folder / "other")->public_key().HasSigned("text", key->Sign("text")));

  Put(folder / "public", key->public_key().pem());
  EXPECT_EQ(PublicKey::Open(folder / "public")->name(), key->public_key().name());
  EXPECT_EQ(PublicKey::Open(path).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(IdentityKey::Open(folder / "none").status().code(), absl::StatusCode::kNotFound);
  Put(folder / "text", "text");
  ASSERT_EQ(chmod((folder / "text").c_str(), 0600), 0);
  EXPECT_EQ(IdentityKey::Open(folder / "text").status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  const absl::Status open_to_all = IdentityKey::Open(path).status();
  EXPECT_EQ(open_to_all.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(open_to_all.message()), HasSubstr("chmod 600"));
}

TEST(SignedHead, HasOneSpellingAndOneSigner) {
  const Folder folder;
  const auto key = *IdentityKey::Create(folder / "identity");
  const LedgerHead head{17, std::string(64, 'a')};
  const SignedHead made = SignHead("0123abcd", std::string(32, 'b'), head, kBegan, &key);
  const std::string text = FormatSignedHead(made);
  const auto parsed = ParseSignedHead(text);
  ASSERT_TRUE(parsed.has_value()) << text;
  EXPECT_EQ(FormatSignedHead(*parsed), text);
  EXPECT_EQ(parsed->head.seq, 17);
  EXPECT_TRUE(CheckSignature(*parsed, key.public_key(), "file").ok());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string altered = text;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    const auto other = ParseSignedHead(altered);
    EXPECT_FALSE(other && CheckSignature(*other, key.public_key(), "file").ok()) << altered;
    EXPECT_FALSE(ParseSignedHead(text.substr(0, i)).has_value());
  }
  const SignedHead unsigned_head = SignHead("0123abcd", std::string(32, 'b'), head, kBegan, nullptr);
  EXPECT_TRUE(ParseSignedHead(FormatSignedHead(unsigned_head)).has_value());
  EXPECT_THAT(std::string(CheckSignature(unsigned_head, key.public_key(), "file").message()),
              HasSubstr("not signed"));
}

class GuardedStoreTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<GuardedStore>> TryToOpen() {
    auto store = SqliteStore::Open(store_);
    if (!store.ok()) return store.status();
    GuardedStore::Params params{.mirror = mirror_, .anchor = anchor_, .identity = std::nullopt};
    if (has_key_) params.identity = *IdentityKey::Open(key_);
    return GuardedStore::Open(*std::move(store), std::move(params));
  }
  std::unique_ptr<GuardedStore> Open() {
    auto store = TryToOpen();
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  absl::Status OpenStatus() { return TryToOpen().status(); }

  // Charges for epochs first to last, in a transaction each.
  void Charge(Store& store, int first, int last) {
    for (int epoch = first; epoch <= last; ++epoch) {
      Transaction changes;
      if (*store.Lines() == 0) changes = {lines_.header(), BeginRun{RunId('a'), "spec", kBegan}};
      changes.push_back(lines_.Charge(RunId('a'), Release(epoch), 0));
      const absl::Status status = store.Commit(changes);
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  std::uint64_t MirrorLines() {
    const auto state = ReadLedger(mirror_, {}, [](const auto&, auto) { return absl::OkStatus(); });
    EXPECT_TRUE(state.ok()) << state.status();
    return state.ok() ? state->head.seq + 1 : 0;
  }
  void CopyStore(const std::string& to) {
    std::filesystem::copy_file(store_, to, std::filesystem::copy_options::overwrite_existing);
  }

  Folder folder_;
  std::string store_ = folder_ / "store.db";
  std::string mirror_ = folder_ / "mirror.ledger";
  std::string anchor_ = folder_ / "anchor";
  std::string key_ = folder_ / "identity";
  bool has_key_ = IdentityKey::Create(key_).ok();
  LineMaker lines_;
};

TEST_F(GuardedStoreTest, KeepsACopyAndAnAnchorOfEveryLine) {
  {
    const auto store = Open();
    EXPECT_FALSE(std::filesystem::exists(anchor_));
    Charge(*store, 1, 3);
    EXPECT_EQ(MirrorLines(), 4);
    const auto anchor = ReadSignedHead(anchor_);
    ASSERT_TRUE(anchor.ok()) << anchor.status();
    EXPECT_EQ(anchor->head.seq, 3);
    EXPECT_EQ(anchor->configuration, "0123abcd");
    EXPECT_EQ(anchor->store, **store->Meta("store"));
    EXPECT_TRUE(CheckSignature(*anchor, IdentityKey::Open(key_)->public_key(), anchor_).ok());
    EXPECT_EQ(**store->Meta(kHeadMeta), Contents(anchor_));
    EXPECT_EQ(HeadOf(*store)->value().hash, anchor->head.hash);
  }
  const auto store = Open();
  Charge(*store, 4, 5);
  EXPECT_EQ(MirrorLines(), 6);
  EXPECT_EQ(ReadSignedHead(anchor_)->head.seq, 5);
  ASSERT_TRUE(Commit(*store, {AddInput{1, "a", 1, "x"}}).ok());
}

TEST_F(GuardedStoreTest, TheRulesHoldBehindIt) {
  const auto store = Open();
  const auto ledger = OpenLedger(*store);
  ledger->EnterRun(RunId('a'));
  ASSERT_TRUE(store::Release(*ledger, Release(1)).ok());
  Transaction changes = {BeginRun{RunId('a'), "spec", kBegan}, PutOutput{"a", 1, "x"}};
  EXPECT_THAT(std::string(store->Commit(changes).message()),
              HasSubstr("charges that the store does not hold"));
}

TEST_F(GuardedStoreTest, CompletesCopyAndAnchorAfterACrash) {
  {
    Charge(*Open(), 1, 3);
  }
  const std::string old_mirror = Contents(mirror_);
  const std::string old_head = Contents(HeadPath(mirror_));
  const std::string old_anchor = Contents(anchor_);
  {
    Charge(*Open(), 4, 6);
  }
  Put(mirror_, old_mirror + "{\"seq\":4,");  // a line that was being written
  Put(HeadPath(mirror_), old_head);
  Put(anchor_, old_anchor);
  const auto store = Open();
  EXPECT_EQ(MirrorLines(), 7);
  EXPECT_EQ(ReadSignedHead(anchor_)->head.seq, 6);
}

TEST_F(GuardedStoreTest, AnOldCopyDoesNotGoOn) {
  {
    Charge(*Open(), 1, 3);
  }
  CopyStore(folder_ / "old.db");
  {
    Charge(*Open(), 4, 4);
  }
  std::filesystem::rename(folder_ / "old.db", store_);
  const std::string mirror = mirror_;
  for (const std::string& named : {mirror, std::string()}) {
    mirror_ = named;
    const absl::Status status = OpenStatus();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the store is an old copy"));
    EXPECT_EQ(InputErrorOf(status)->file, anchor_);
  }
  mirror_ = mirror;
  anchor_ = "";  // the copy of the ledger finds it, too
  const absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(InputErrorOf(status)->file, mirror_);
}

TEST_F(GuardedStoreTest, AnOldCopyThatWentOnElsewhereDoesNotGoOn) {
  {
    Charge(*Open(), 1, 3);
  }
  CopyStore(folder_ / "old.db");
  const LineMaker lines = lines_;
  {
    Charge(*Open(), 4, 4);
  }
  std::filesystem::rename(folder_ / "old.db", store_);
  {
    lines_ = lines;
    const auto store = SqliteStore::Open(store_);
    Charge(**store, 5, 9);  // it has more lines than the anchor knows
  }
  const absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("an old copy of the store went on"));
}

TEST_F(GuardedStoreTest, AMissingAnchorIsMissed) {
  {
    Charge(*Open(), 1, 1);
  }
  std::filesystem::remove(anchor_);
  const absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the anchor is missing"));
  EXPECT_FALSE(std::filesystem::exists(anchor_));
}

TEST_F(GuardedStoreTest, AnAnchorThatWasAlteredIsFound) {
  {
    Charge(*Open(), 1, 2);
  }
  const std::string good = Contents(anchor_);
  auto head = *ReadSignedHead(anchor_);
  head.head = {1, *HashOfLine(**SqliteStore::Open(store_), 1).value()};  // a valid line, but an older one
  Put(anchor_, FormatSignedHead(head));
  absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("not signed by the key"));
  Put(anchor_, "{}\n");
  EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss);
  Put(anchor_, good);
  std::filesystem::remove(key_);
  ASSERT_TRUE(IdentityKey::Create(key_).ok());
  EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss) << "another key";
}

TEST_F(GuardedStoreTest, TheAnchorOfAnotherStoreIsRefused) {
  {
    Charge(*Open(), 1, 1);
  }
  store_ = folder_ / "another.db";
  mirror_ = "";
  lines_ = LineMaker();
  const absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("an anchor of its own"));
}

TEST_F(GuardedStoreTest, TheCopyOfAnotherLedgerIsRefused) {
  {
    Charge(*Open(), 1, 1);
  }
  store_ = folder_ / "another.db";
  anchor_ = "";
  lines_ = LineMaker();
  {
    const auto store = SqliteStore::Open(store_);
    Charge(**store, 5, 9);
  }
  const absl::Status status = OpenStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the copy of another ledger"));
  Put(folder_ / "text", "something else\n");
  mirror_ = folder_ / "text";
  EXPECT_THAT(std::string(OpenStatus().message()), HasSubstr("it is no copy of a ledger"));
  EXPECT_EQ(Contents(mirror_), "something else\n");
}

TEST_F(GuardedStoreTest, ACopyThatWasAlteredIsFound) {
  {
    Charge(*Open(), 1, 3);
  }
  std::string mirror = Contents(mirror_);
  mirror[mirror.size() / 2] ^= 1;
  Put(mirror_, mirror);
  EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss);
}

TEST_F(GuardedStoreTest, AnchorOrCopyOnAFailingDiskEndTheProcess) {
  for (std::string* const path : {&mirror_, &anchor_}) {
    const std::string before = *path;
    std::filesystem::create_directory(folder_ / "disk");
    *path = folder_ / "disk/file";
    store_ = *path + ".db";
    store_ = folder_ / (path == &mirror_ ? "a.db" : "b.db");
    (path == &mirror_ ? anchor_ : mirror_) = "";
    lines_ = LineMaker();
    const auto store = Open();
    Charge(*store, 1, 1);
    std::filesystem::remove_all(folder_ / "disk");  // as if it were not mounted any more
    const Transaction changes = {lines_.Charge(RunId('a'), Release(2), 0)};
    EXPECT_FALSE(store->Commit(changes).ok());
    EXPECT_FALSE(Commit(*store, {PutMeta{"a", "b"}}).ok()) << "it went on";
    *path = before;
  }
}

}  // namespace
}  // namespace bandana::store
