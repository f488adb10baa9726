#include "bandana/store/seal.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/store/support.h"

namespace bandana::store {
namespace {

using test::Folder;

std::string Hex(const Key& key) { return RunName(std::string(key.begin(), key.end())); }

TEST(DeriveKey, IsHkdf) {
  // Computed by Python's hmac: extract with an empty salt, expand to 32 bytes.
  Key secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(Hex(DeriveKey(secret, "a purpose")),
            "1424d0f742e3a99ee776da30cc08a7b5fefd4b434522dd9e771c548f9c529f16");
  EXPECT_NE(DeriveKey(secret, "a purpose"), DeriveKey(secret, "another purpose"));
}

TEST(Sealer, OpensWhatItSealed) {
  const Ratchet ratchet = Ratchet::InMemory();
  Sealer sealer(ratchet);
  for (const std::string& body : {std::string(), std::string("x"), std::string(100'000, 'y')}) {
    const std::string sealed = sealer.Seal("input 17", body);
    EXPECT_EQ(sealed.size(), body.size() + Sealer::kOverhead);
    const auto opened = Sealer(ratchet).Open("input 17", sealed);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(*opened, body);
  }
}

TEST(Sealer, DoesNotOpenWhatWasMovedOrAltered) {
  const Ratchet ratchet = Ratchet::InMemory();
  Sealer sealer(ratchet);
  const std::string sealed = sealer.Seal("input 17", "a body");
  EXPECT_EQ(sealer.Open("input 18", sealed).status().code(), absl::StatusCode::kDataLoss);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string altered = sealed;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(sealer.Open("input 17", altered).ok()) << i;
    EXPECT_FALSE(sealer.Open("input 17", sealed.substr(0, i)).ok()) << i;
  }
  EXPECT_FALSE(Sealer(ratchet.Next()).Open("input 17", sealed).ok());
}

TEST(Sealer, NeverUsesANonceTwice) {
  const Ratchet ratchet = Ratchet::InMemory();
  std::set<std::string> nonces;
  for (int process = 0; process < 10; ++process) {
    Sealer sealer(ratchet);
    for (int i = 0; i < 100; ++i) nonces.insert(sealer.Seal("place", "body").substr(0, 12));
  }
  EXPECT_THAT(nonces, SizeIs(1000));
}

TEST(Ratchet, GoesOnWhereItWas) {
  const Folder folder;
  auto ratchet = Ratchet::Open(folder / "ratchet");
  ASSERT_TRUE(ratchet.ok()) << ratchet.status();
  EXPECT_EQ(ratchet->generation(), 0);
  const Key first = ratchet->KeyFor("sealing");
  EXPECT_NE(first, ratchet->KeyFor("another purpose"));
  EXPECT_EQ(Ratchet::Open(folder / "ratchet")->KeyFor("sealing"), first);

  const Key second = ratchet->Next().KeyFor("sealing");
  ASSERT_TRUE(ratchet->Advance().ok());
  EXPECT_EQ(ratchet->generation(), 1);
  EXPECT_EQ(ratchet->KeyFor("sealing"), second);
  EXPECT_NE(second, first);
  const auto again = Ratchet::Open(folder / "ratchet");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->generation(), 1);
  EXPECT_EQ(again->KeyFor("sealing"), second);
}

TEST(Ratchet, ErasesTheOldKeyAlsoWhereAnotherNameLeadsToIt) {
  const Folder folder;
  auto ratchet = Ratchet::Open(folder / "ratchet");
  ASSERT_TRUE(ratchet.ok());
  std::filesystem::create_hard_link(folder / "ratchet", folder / "old");
  const std::string before = Contents(folder / "old");
  const std::string secret = before.substr(before.size() - 65, 64);
  ASSERT_TRUE(ratchet->Advance().ok());
  EXPECT_THAT(Contents(folder / "old"), ::testing::Not(HasSubstr(secret)));
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder / ""))) {
    EXPECT_THAT(Contents(entry.path()), ::testing::Not(HasSubstr(secret))) << entry.path();
  }
}

TEST(Ratchet, IsTheOwnersAlone) {
  const Folder folder;
  ASSERT_TRUE(Ratchet::Open(folder / "ratchet").ok());
  struct stat info{};
  ASSERT_EQ(stat((folder / "ratchet").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
  ASSERT_EQ(chmod((folder / "ratchet").c_str(), 0640), 0);
  const absl::Status status = Ratchet::Open(folder / "ratchet").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("chmod 600"));
}

TEST(Ratchet, RefusesWhatIsNone) {
  const Folder folder;
  ASSERT_TRUE(Ratchet::Open(folder / "ratchet").ok());
  const std::string good = Contents(folder / "ratchet");
  std::string upper = good;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c == 'b' ? 'B' : c; });
  for (const std::string& bad : {std::string(), good.substr(0, good.size() - 1), good + "\n", "x" + good,
                                 std::string("bandana-ratchet-1 0 00\n"), upper}) {
    std::ofstream(folder / "ratchet", std::ios::trunc) << bad;
    EXPECT_EQ(Ratchet::Open(folder / "ratchet").status().code(), absl::StatusCode::kDataLoss) << bad;
  }
}

TEST(Ratchet, NoticesThatAnotherProcessMovedItOn) {
  const Folder folder;
  auto one = Ratchet::Open(folder / "ratchet");
  auto other = Ratchet::Open(folder / "ratchet");
  ASSERT_TRUE(one->Advance().ok());
  EXPECT_EQ(other->Advance().code(), absl::StatusCode::kAborted);
}

TEST(Ratchet, FitsASnapshotAfterACrashAndNoOldCopy) {
  Ratchet ratchet = Ratchet::InMemory();
  ASSERT_TRUE(ratchet.AdvanceTo(0).ok());
  ASSERT_TRUE(ratchet.AdvanceTo(1).ok());  // the process ended between the commit and the move
  EXPECT_EQ(ratchet.generation(), 1);
  ASSERT_TRUE(ratchet.AdvanceTo(2).ok());
  const absl::Status old_store = ratchet.AdvanceTo(1);
  EXPECT_EQ(old_store.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(old_store.message()), HasSubstr("the store is an old copy"));
  const absl::Status old_ratchet = ratchet.AdvanceTo(4);
  EXPECT_EQ(old_ratchet.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(old_ratchet.message()), HasSubstr("the ratchet is an old copy"));
  EXPECT_EQ(ratchet.generation(), 2);
}

}  // namespace
}  // namespace bandana::store
