#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "tests/privacy/ledger_support.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

// Damage to the files of a ledger, by crashes and by people.
class LedgerDamageTest : public LedgerTest {};

// A crash in the middle of a write, at each of its bytes.
TEST_F(LedgerDamageTest, ATornLastLineIsDroppedWhereverItWasTorn) {
  {
    ASSERT_TRUE(Once(*Open(), {NodeId{0}, 1}, 0.25, {1}).ok());
  }
  const std::string whole = Slurp(path_);
  const std::string head = Slurp(head_path_);
  const Units first = *Once(*Open(), {NodeId{0}, 2}, 0.5, {1});
  const std::string longer = Slurp(path_);
  for (std::size_t size = whole.size(); size < longer.size(); ++size) {
    Spill(path_, longer.substr(0, size));
    Spill(head_path_, head);
    const auto state = Verify(path_);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->torn_bytes, size - whole.size());
    const auto ledger = Open();
    ASSERT_NE(ledger, nullptr);
    EXPECT_EQ(ledger->torn_bytes(), size - whole.size());
    EXPECT_EQ(Slurp(path_), whole);
    EXPECT_EQ(ledger->accounts().Of(NodeId{1}).spent.amount, 0.25);
    ASSERT_TRUE(Once(*ledger, {NodeId{0}, 2}, 0.5, {1}).ok());
    EXPECT_EQ(ledger->accounts().Of(NodeId{1}).spent.amount, 0.75);
  }
  // A crash after the whole line and before its head is written: the charge stands, and so does its draw.
  Spill(path_, longer);
  Spill(head_path_, head);
  const auto ledger = Open();
  EXPECT_EQ(ledger->accounts().Of(NodeId{1}).spent.amount, 0.75);
  EXPECT_EQ(*Once(*ledger, {NodeId{0}, 2}, 0.5, {1}), first);
  EXPECT_EQ(Verify(path_)->written_head->seq, 2u) << "the head is mended";
}

TEST_F(LedgerDamageTest, ACrashWhileTheLedgerIsBegunIsMended) {
  {
    Open();
  }
  const std::string header = Slurp(path_);
  const std::string head = Slurp(head_path_);
  for (std::size_t size = 0; size < header.size(); ++size) {
    for (const bool has_head : {true, false}) {
      Spill(path_, header.substr(0, size));
      Spill(head_path_, head);
      if (!has_head) std::filesystem::remove(head_path_);
      EXPECT_FALSE(Verify(path_).ok());
      ASSERT_NE(Open(), nullptr) << size;
      EXPECT_TRUE(Verify(path_).ok());
    }
  }
  std::filesystem::remove(head_path_);
  EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss) << "it was begun, and lost its head";
}

// A line that was durable and then lost its end is not a crash, and its draw may have been released.
TEST_F(LedgerDamageTest, ACommittedLineThatWasCutIsFoundAndNotMended) {
  WriteSmall();
  const std::string whole = Slurp(path_);
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    Spill(path_, cut);
    EXPECT_EQ(Verify(path_).status().code(), absl::StatusCode::kDataLoss) << size;
    if (size < last && size % 16 != 0) continue;
    EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_EQ(Slurp(path_), cut);
  }
}

TEST_F(LedgerDamageTest, AFlippedBitOfAnyByteIsFound) {
  WriteSmall();
  for (const std::string& path : {path_, head_path_}) {
    const std::string whole = Slurp(path);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const int mask : {1 << (i % 8), 0x20, 0xff}) {
        std::string text = whole;
        text[i] = static_cast<char>(whole[i] ^ mask);
        Spill(path, text);
        ASSERT_EQ(Verify(path_).status().code(), absl::StatusCode::kDataLoss)
            << "byte " << i << " mask " << mask;
      }
    }
    Spill(path, whole);
  }
  EXPECT_TRUE(Verify(path_).ok());
}

TEST_F(LedgerDamageTest, TheFaultNamesItsLine) {
  WriteSmall();
  const std::string whole = Slurp(path_);
  std::string text = whole;
  text[text.find("\"epoch\":2") + 8] = '4';
  Spill(path_, text);
  const absl::Status status = OpenStatus();
  EXPECT_EQ(InputErrorOf(status)->file, path_);
  EXPECT_EQ(InputErrorOf(status)->line, 3);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + ":3: "));
}

TEST_F(LedgerDamageTest, LinesRemovedSwappedOrRepeatedAreFound) {
  WriteSmall();
  std::vector<std::string> lines = absl::StrSplit(Slurp(path_), '\n');
  lines.pop_back();
  const auto found = [&](const std::vector<std::string>& changed, const std::string& what) {
    Spill(path_, absl::StrJoin(changed, "\n") + "\n");
    EXPECT_EQ(Verify(path_).status().code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss) << what;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> changed = lines;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    found(changed, "removed " + std::to_string(i));
    for (std::size_t j = 0; j <= lines.size(); ++j) {
      changed = lines;
      changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(j), lines[i]);
      found(changed, "repeated");
      if (j == i || j == lines.size()) continue;
      changed = lines;
      std::swap(changed[i], changed[j]);
      found(changed, "swapped");
    }
    changed = lines;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), "");
    found(changed, "an empty line");
  }
  Spill(path_, "");
  EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss) << "all removed";
}

TEST_F(LedgerDamageTest, AMissingHeadIsFound) {
  WriteSmall();
  std::filesystem::remove(head_path_);
  const absl::Status status = Verify(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(InputErrorOf(status)->file, head_path_);
  EXPECT_EQ(OpenStatus().code(), absl::StatusCode::kDataLoss);
}

// A copy of an old head, noted elsewhere, finds a ledger that was rewritten together with its head.
TEST_F(LedgerDamageTest, ANotedHeadFindsARewrittenLedger) {
  std::vector<std::string> notes;
  {
    const auto ledger = Open();
    for (Epoch epoch = 1; epoch <= 3; ++epoch) {
      ASSERT_TRUE(Once(*ledger, {NodeId{0}, epoch}, 0.25, {1}).ok());
      notes.push_back(ledger->head().hash);
    }
  }
  for (std::size_t i = 0; i < notes.size(); ++i) {
    EXPECT_EQ(Verify(path_, {notes[i]})->noted_seq, i + 1) << "of any time";
  }
  EXPECT_EQ(Verify(path_, {std::string(64, 'a')}).status().code(), absl::StatusCode::kDataLoss);
  const std::string whole = Slurp(path_);
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  Spill(path_, whole.substr(0, last));
  Spill(head_path_, FormatHead({2, notes[1]}));
  EXPECT_TRUE(Verify(path_).ok());
  EXPECT_EQ(Verify(path_, {notes[2]}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(Verify(path_, {notes[1]}).ok());
}

// Correct hashes do not make a valid ledger: the entries must also add up.
TEST_F(LedgerDamageTest, WellChainedNonsenseIsFound) {
  LedgerEntry entry{.key = {NodeId{0}, 1}, .guarantee = {0.75, 0}, .loss = {0.75, 0}};
  entry.units = *UnitRanges::Parse("1-3");
  const auto forge = [&](const std::vector<std::string>& contents) {
    LedgerHead head{0, std::string(kNoHash)};
    std::string text;
    for (std::size_t i = 0; i < contents.size(); ++i) {
      head = {i, ChainHash(head.hash, contents[i])};
      text += Join(contents[i], head.hash);
    }
    Spill(path_, text);
    Spill(head_path_, FormatHead(head));
    return std::string(Verify(path_).status().message());
  };
  const std::string header = FormatHeader(Header(), absl::UnixEpoch());
  const auto line = [&](std::uint64_t seq) {
    return FormatEntry(entry, Measure::kApproximateDp, seq, absl::UnixEpoch());
  };
  const std::string one = line(1);
  EXPECT_EQ(forge({header, one}), "");
  EXPECT_THAT(forge({header, line(2)}), HasSubstr("charge 2 stands where charge 1 belongs"));
  EXPECT_THAT(forge({one}), HasSubstr("header"));
  EXPECT_THAT(forge({header, header}), HasSubstr("not a charge"));
  EXPECT_THAT(forge({header, one, line(2)}), HasSubstr("second time"));
  entry.key.epoch = 2;
  EXPECT_THAT(forge({header, one, line(2)}), HasSubstr("over budget"));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = one;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    return forge({header, text});
  };
  EXPECT_NE(replaced("\"1-3\"", "\"3-1\""), "");
  EXPECT_NE(replaced("\"1-3\"", "\"1-2,2-3\""), "");
  EXPECT_NE(replaced("\"1-3\"", "\"1-2,3\""), "") << "one spelling only";
  EXPECT_NE(replaced("\"1-3\"", "\"0-4294967295\""), "");
  EXPECT_NE(replaced("0.75", "0.750"), "");
  EXPECT_NE(replaced("0.75", "-0.75"), "");
  EXPECT_NE(replaced("0.75", "nan"), "");
  EXPECT_NE(replaced("0.75", "inf"), "");
  EXPECT_NE(replaced("\"draw\":[]", "\"draw\":[1,]"), "");
  EXPECT_NE(replaced("\"draw\":[]", "\"draw\":[99999999999999999999]"), "");
  EXPECT_NE(replaced("\"draw\":[]", "\"draw\":[],\"more\":1"), "");
}

// After any operations, restarts included, the ledger agrees with simple bookkeeping.
RC_GTEST_PROP(LedgerPropertyTest, AgreesWithPlainBookkeeping, ()) {
  const Folder folder;
  const std::string path = folder / "ledger";
  const auto durability = *rc::gen::element(Durability::kEach, Durability::kGrouped);
  auto ledger = *Ledger::Open(path, Header(), durability);
  Drawer drawer;
  std::map<ReleaseKey, Units> kept;  // the draw of each key
  std::map<std::uint32_t, Loss> spent;
  const int steps = *rc::gen::inRange(1, 25);
  for (int i = 0; i < steps; ++i) {
    if (*rc::gen::inRange(0, 5) == 0) {
      RC_ASSERT(ledger->Commit().ok());
      ledger.reset();
      ledger = *Ledger::Open(path, Header(), durability);
    }
    const ReleaseKey key{NodeId{*rc::gen::inRange<std::uint32_t>(0, 3)}, *rc::gen::inRange<Epoch>(1, 6)};
    const double cost = *rc::gen::inRange(0, 9) / 16.;
    std::vector<std::uint32_t> clients = {9};
    for (std::uint32_t client = 1; client <= 4; ++client) {
      if (*rc::gen::arbitrary<bool>()) clients.push_back(client);
    }
    if (*rc::gen::arbitrary<bool>()) clients.erase(clients.begin());
    if (clients.empty()) continue;
    const bool known = kept.contains(key);
    const bool affordable = std::all_of(clients.begin(), clients.end(), [&](std::uint32_t client) {
      return spent[client].amount + cost <= 1 && spent[client].delta + 0.0625 <= 0.5;
    });
    const auto units = drawer.Once(*ledger, key, cost, clients);
    RC_ASSERT(units.ok() == (known || affordable));
    if (known) {
      RC_ASSERT(*units == kept[key]);
    } else if (affordable) {
      kept[key] = *units;
      for (const std::uint32_t client : clients) {
        spent[client] = {spent[client].amount + cost, spent[client].delta + 0.0625};
      }
    } else {
      RC_ASSERT(units.status().code() == absl::StatusCode::kResourceExhausted);
    }
    for (const auto& [client, loss] : spent) RC_ASSERT(ledger->accounts().Of(NodeId{client}).spent == loss);
  }
  RC_ASSERT(ledger->Commit().ok());
  const auto state = Verify(path);
  RC_ASSERT(state.ok());
  RC_ASSERT(state->head.hash == ledger->head().hash);
  RC_ASSERT(state->accounts.releases() == static_cast<std::int64_t>(kept.size()));
  RC_ASSERT(drawer.draws == static_cast<std::int64_t>(kept.size()));
}

// A child process releases, and writes each draw to a file after the ledger has committed it, until it is
// killed. However it ended, each draw that left is in the ledger once with its charge, and a retry gets the
// same draw.
TEST(LedgerCrashTest, KilledAtAnyMomentNothingIsChargedTwiceOrLeavesUnpaid) {
  const Folder folder(Medium::kDisk);
  const std::string path = folder / "ledger";
  const std::string outside = folder / "outside";
  LedgerHeader header = Header();
  header.limits.per_unit = {1e9, 0};
  constexpr double kCost = 0.25;
  const auto release = [&](Ledger& ledger, Epoch epoch, std::int64_t salt) {
    return ledger.Once({NodeId{0}, epoch}, {{kCost, 0}, {kCost, 0}}, UnitRanges::From(NodeId{1}, 2),
                       [&]() -> absl::StatusOr<Report> {
                         return Wire::FromUnits(NodeId{0}, Units(200, salt * 1'000'000 + epoch));
                       });
  };
  std::map<Epoch, std::int64_t> left;
  Epoch most = 0;
  for (int round = 0; round < 25; ++round) {
    std::error_code none_yet;
    const auto size = [&] { return std::filesystem::file_size(path, none_yet); };
    const auto before = round == 0 ? 0 : size();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto ledger = Ledger::Open(path, header, round % 2 == 0 ? Durability::kEach : Durability::kGrouped);
      if (!ledger.ok()) _exit(3);
      std::FILE* out = std::fopen(outside.c_str(), "a");
      // It starts again at the first epoch, as a restarted role does.
      for (Epoch epoch = 1;; ++epoch) {
        const auto report = release(**ledger, epoch, round + 1);
        if (!report.ok() || !(*ledger)->Commit().ok()) _exit(4);
        std::fprintf(out, "%d %lld\n", epoch, static_cast<long long>(Wire::Units(*report)[0]));
        std::fflush(out);
      }
    }
    // Every other pair of children gets the time to add something, even on a busy machine.
    while (round % 4 < 2 && (size() == before || none_yet) && waitpid(child, nullptr, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(977 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);

    std::ifstream lines(outside);
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
      std::istringstream fields(line);
      Epoch epoch = 0;
      std::int64_t value = 0;
      fields >> epoch >> value;
      const auto [it, is_new] = left.emplace(epoch, value);
      ASSERT_EQ(it->second, value) << "two draws of one release have left";
    }
    auto ledger = Ledger::Open(path, header, Durability::kEach);
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    const auto charged = static_cast<Epoch>((*ledger)->accounts().releases());
    ASSERT_GE(charged, static_cast<Epoch>(left.size())) << "something left unpaid";
    ASSERT_EQ((*ledger)->accounts().Of(NodeId{2}).spent.amount, charged * kCost) << "charged twice";
    for (const auto& [epoch, value] : left) {
      ASSERT_LE(epoch, charged);
      ASSERT_EQ(Wire::Units(*release(**ledger, epoch, 999))[0], value);
    }
    ASSERT_EQ((*ledger)->accounts().releases(), charged);
    most = std::max(most, charged);
  }
  EXPECT_GT(most, 10) << "the children got nowhere";
}

}  // namespace
}  // namespace bandana
