#include "bandana/store/rules.h"

#include "tests/store/support.h"

namespace bandana::store {
namespace {

const ReleaseKey kFirst{NodeId{7}, 1, "q"};
const ReleaseKey kSecond{NodeId{7}, 2, "q"};

// Each test plants one fault. The transactions before it are accepted.
class RulesTest : public ::testing::Test {
 protected:
  void SetUp() override { Accept({BeginRun{RunId('a'), "spec", kBegan}, lines_.header()}); }
  void Accept(const Transaction& changes) {
    const absl::Status status = store_.Commit(changes);
    EXPECT_TRUE(status.ok()) << status;
  }
  // The transaction is refused, nothing of it is stored, and the store refuses everything after it.
  void Refuse(const Transaction& changes, const std::string& why) {
    const std::size_t lines = Lines(store_).size();
    const absl::Status status = store_.Commit(changes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_EQ(store_.Commit({}).code(), absl::StatusCode::kInvalidArgument);
    MemoryStore again(disk_);
    EXPECT_THAT(Lines(again), SizeIs(lines));
  }
  AddLine Charge(const ReleaseKey& key, double epsilon = 0.25) {
    return lines_.Charge(RunId('a'), key, epsilon);
  }
  static AddDraw DrawOf(const ReleaseKey& key) { return {DrawKey(RunName(RunId('a')), key), "sealed"}; }

  MemoryDisk disk_;
  MemoryStore store_{disk_};
  LineMaker lines_;
};

TEST_F(RulesTest, RunsBeginOnceAndOneAtATime) {
  MemoryDisk disk;
  Transaction begin = {BeginRun{RunId('a'), "spec", kBegan}};
  EXPECT_FALSE(Commit(*std::make_unique<MemoryStore>(disk), {BeginRun{"short", "spec", kBegan}}).ok());
  EXPECT_FALSE(Commit(*std::make_unique<MemoryStore>(disk), {EndRun{}}).ok());
  ASSERT_TRUE(Commit(*std::make_unique<MemoryStore>(disk), begin).ok());
  EXPECT_FALSE(Commit(*std::make_unique<MemoryStore>(disk), {BeginRun{RunId('b'), "spec", kBegan}}).ok());
  EXPECT_FALSE(Commit(*std::make_unique<MemoryStore>(disk), {EndRun{RunState::kOpen, "", kEnded}}).ok());
  ASSERT_TRUE(Commit(*std::make_unique<MemoryStore>(disk), {EndRun{RunState::kEnded, "why", kEnded}}).ok());
  EXPECT_FALSE(Commit(*std::make_unique<MemoryStore>(disk), begin).ok()) << "a run begins a second time";
  EXPECT_TRUE(Commit(*std::make_unique<MemoryStore>(disk), {BeginRun{RunId('b'), "spec", kBegan}}).ok());
}

TEST_F(RulesTest, EverythingOfARunNeedsAnOpenRun) {
  Accept({EndRun{RunState::kFinished, "", kEnded}});
  for (const Change& change : Transaction{AddInput{1, "a", 1, "x"}, PutSnapshot{1, 0, "x"},
                                          PutOutput{"a", 1, "x"}, Acknowledge{"a", 1}, DrawOf(kFirst)}) {
    MemoryStore store(disk_);
    EXPECT_THAT(std::string(store.Commit({&change, 1}).message()), HasSubstr("needs an open run"));
  }
}

TEST_F(RulesTest, AnInputIsLost) {
  Accept({AddInput{1, "a", 1, "x"}});
  Refuse({AddInput{3, "a", 2, "x"}}, "input 3 follows input 1");
}

TEST_F(RulesTest, AnInputIsTakenTwice) {
  Accept({AddInput{1, "a", 1, "x"}});
  Refuse({AddInput{1, "a", 1, "x"}}, "input 1 follows input 1");
}

TEST_F(RulesTest, InputsContinueAfterASnapshotThatContainsMore) {
  Accept({AddInput{1, "a", 1, "x"}, AddInput{2, "a", 2, "x"}});
  Accept({PutSnapshot{1, 5, "s"}, AddInput{6, "a", 6, "x"}});
  MemoryStore again(disk_);
  EXPECT_TRUE(Commit(again, {AddInput{7, "a", 7, "x"}}).ok());
}

TEST_F(RulesTest, ASnapshotMissesAnInput) {
  Accept({AddInput{1, "a", 1, "x"}, AddInput{2, "a", 2, "x"}});
  Refuse({PutSnapshot{1, 1, "s"}}, "the store has input 2");
}

TEST_F(RulesTest, ASnapshotGoesBackInTheRatchet) {
  Accept({PutSnapshot{2, 0, "s"}});
  Refuse({PutSnapshot{2, 0, "s"}}, "a snapshot of generation 2 follows one of generation 2");
}

TEST_F(RulesTest, AnOutputIsForgottenInASnapshot) {
  Accept({PutOutput{"a", 1, "x"}, PutOutput{"a", 2, "x"}, PutOutput{"b", 1, "x"}});
  Accept({Acknowledge{"a", 1}, PutSnapshot{1, 0, "s"}, PutOutput{"a", 2, "y"}, PutOutput{"b", 1, "y"}});
  Refuse({PutOutput{"b", 1, "z"}, PutSnapshot{2, 0, "s"}, PutOutput{"a", 2, "y"}},
         "output 1 to b was not sealed again");
}

TEST_F(RulesTest, AnAcknowledgedOutputComesBack) {
  Accept({PutOutput{"a", 1, "x"}, PutOutput{"a", 2, "x"}, Acknowledge{"a", 1}});
  Accept({Acknowledge{"a", 0}});  // a late one changes nothing
  Refuse({PutOutput{"a", 1, "x"}}, "output 1 to a was acknowledged");
}

TEST_F(RulesTest, OutputsComeOutOfOrder) {
  Accept({PutOutput{"a", 5, "x"}});
  Refuse({PutOutput{"a", 4, "x"}}, "output 4 to a follows output 5");
}

TEST_F(RulesTest, ALineIsRefunded) {
  Accept({Charge(kFirst), DrawOf(kFirst)});
  Refuse({Charge(kSecond, -0.25)}, "loss");
}

TEST_F(RulesTest, ALineReplacesAnother) {
  Accept({Charge(kFirst), DrawOf(kFirst)});
  LineMaker other;
  Refuse({other.Charge(RunId('a'), kFirst, 0)}, "line 1 stands where line 2 belongs");
}

TEST_F(RulesTest, ALineDoesNotContinueTheChain) {
  LineMaker other;
  (void)other.Charge(RunId('a'), kFirst);
  Accept({Charge(kSecond)});
  Refuse({other.Charge(RunId('a'), kFirst)}, "the hash of line 2 does not fit");
}

TEST_F(RulesTest, AReleaseIsChargedTwice) {
  Accept({Charge(kFirst), DrawOf(kFirst)});
  Refuse({Charge(kFirst), DrawOf(kFirst)}, "a second time");
}

TEST_F(RulesTest, AReleaseIsChargedTwiceByTwoProcesses) {
  Accept({Charge(kFirst), DrawOf(kFirst)});
  MemoryStore again(disk_);
  EXPECT_THAT(std::string(Commit(again, {Charge(kFirst)}).message()), HasSubstr("a second time"));
}

TEST_F(RulesTest, AChargeIsOfAnotherRun) { Refuse({lines_.Charge(RunId('b'), kFirst)}, "which is not open"); }

TEST_F(RulesTest, AChargeComesWithoutARun) {
  Accept({EndRun{RunState::kFinished, "", kEnded}});
  Refuse({Charge(kFirst)}, "which is not open");
}

TEST_F(RulesTest, ASecondDraw) {
  Accept({Charge(kFirst), DrawOf(kFirst)});
  Refuse({DrawOf(kFirst)}, "has no charge of its own");
}

TEST_F(RulesTest, ASecondDrawInOneTransaction) {
  Refuse({Charge(kFirst), DrawOf(kFirst), DrawOf(kFirst)}, "has no charge of its own");
}

TEST_F(RulesTest, ADrawWithoutACharge) {
  Refuse({Charge(kFirst), DrawOf(kSecond)}, "has no charge of its own");
}

TEST_F(RulesTest, ADrawAfterTheSnapshotOfItsTransaction) {
  Refuse({Charge(kFirst), PutSnapshot{1, 0, "s"}, DrawOf(kFirst)}, "comes after the snapshot");
}

TEST_F(RulesTest, ALineAfterTheSnapshotOfItsTransaction) {
  Refuse({PutSnapshot{1, 0, "s"}, Charge(kFirst)}, "comes after the snapshot");
}

TEST_F(RulesTest, AStoreIsMarkedAsABackUp) { Refuse({PutMeta{kCopyMeta, "x"}}, "the mark of a back-up"); }

TEST_F(RulesTest, TheStoreLosesItsIdentity) { Refuse({PutMeta{"store", "x"}}, "never changes"); }

TEST_F(RulesTest, NotALine) { Refuse({AddLine{1, "{}"}}, "not a line of a ledger"); }

TEST_F(RulesTest, AHeaderOfAFile) {
  MemoryDisk disk;
  MemoryStore store(disk);
  const std::string content = FormatHeader(SmallHeader(), kBegan);
  std::string line = Join(content, ChainHash(kNoHash, content));
  line.pop_back();
  EXPECT_THAT(std::string(Commit(store, {AddLine{0, line}}).message()), HasSubstr("not that of a store"));
}

}  // namespace
}  // namespace bandana::store
