#include "bandana/service/key_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "bandana/core/status.h"
#include "bandana/service/certificate.h"
#include "bandana/service/revoked.h"
#include "bandana/store/identity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/folder.h"

namespace bandana::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class KeyFiles : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(MakeDeployment(keys_).ok()); }

  std::string In(const std::string& name) const { return keys_ + "/" + name; }

  static Certificate Read(const std::string& path) {
    return Certificate::FromPem(ReadWhole(path).value(), path).value().front();
  }

  static std::set<std::string> NamesIn(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  static unsigned Mode(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }

  test::Folder folder_;
  std::string keys_ = folder_ / "keys";
};

TEST_F(KeyFiles, ADeploymentIsACaForTenYears) {
  EXPECT_EQ(NamesIn(keys_), (std::set<std::string>{"ca.pem", "ca.key", "revoked"}));
  EXPECT_EQ(Mode(keys_), 0700u);
  EXPECT_EQ(Mode(In("ca.key")), 0600u);
  EXPECT_EQ(ReadWhole(In("revoked")).value(), "");
  const Certificate authority = Read(In("ca.pem"));
  EXPECT_EQ(authority.id(), std::nullopt) << "a CA is no party";
  EXPECT_GT(authority.not_after(), absl::Now() + absl::Hours(24) * 3651);
  EXPECT_LT(authority.not_before(), absl::Now());
  const std::string deployment = DeploymentOf(keys_).value();
  EXPECT_TRUE(IsDeployment(deployment)) << deployment;
  EXPECT_NE(MakeDeployment(folder_ / "other").value(), deployment);
}

TEST_F(KeyFiles, ADeploymentCanBeGivenItsName) {
  const std::string name = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(MakeDeployment(folder_ / "named", {.deployment = name}).value(), name);
  EXPECT_EQ(DeploymentOf(folder_ / "named").value(), name);
  for (const char* bad : {"0123", "0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef0123456789abcdeg"}) {
    const auto error = InputErrorOf(MakeDeployment(folder_ / "bad", {.deployment = bad}).status());
    ASSERT_TRUE(error.has_value()) << bad;
    EXPECT_EQ(error->value, bad);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bad"));
}

TEST_F(KeyFiles, ASecondDeploymentInOneFolderIsRefused) {
  const std::string before = ReadWhole(In("ca.key")).value();
  EXPECT_TRUE(absl::IsAlreadyExists(MakeDeployment(keys_).status()));
  EXPECT_EQ(ReadWhole(In("ca.key")).value(), before);
}

TEST_F(KeyFiles, ACertificateNamesItsPartyAndIsSignedByTheCa) {
  const IssuedCertificate issued = Issue(keys_, "agent/3").value();
  EXPECT_EQ(issued.party, "agent/3");
  const Certificate certificate = Read(In("agent-3.pem"));
  EXPECT_EQ(certificate.id(), (PartyId{.deployment = DeploymentOf(keys_).value(), .party = "agent/3"}));
  EXPECT_THAT(certificate.uris(), ElementsAre("bandana://" + DeploymentOf(keys_).value() + "/agent/3"));
  EXPECT_EQ(certificate.serial(), issued.serial);
  EXPECT_EQ(certificate.not_after(), issued.not_after);
  EXPECT_NEAR(absl::ToDoubleHours(certificate.not_after() - absl::Now()), 90 * 24, 0.1);
  const Authorities authorities = Authorities::Open(In("ca.pem")).value();
  for (const auto use : {Authorities::Use::kClient, Authorities::Use::kServer, Authorities::Use::kAny}) {
    EXPECT_EQ(authorities.Check(certificate, {}, use), absl::OkStatus());
  }
  EXPECT_TRUE(certificate.Matches(*ReadPrivateKey(In("agent-3.key")).value()));
  EXPECT_EQ(Mode(In("agent-3.key")), 0600u);
  EXPECT_EQ(Mode(In("agent-3.identity")), 0600u);
  const auto identity = store::IdentityKey::Open(In("agent-3.identity"));
  const auto known = store::PublicKey::Open(In("agent-3.identity.pub"));
  ASSERT_TRUE(identity.ok() && known.ok());
  EXPECT_TRUE(known->HasSigned("head", identity->Sign("head")));
  EXPECT_EQ(NamesIn(keys_),
            (std::set<std::string>{"ca.pem", "ca.key", "revoked", "issued", "agent-3.pem", "agent-3.key",
                                   "agent-3.identity", "agent-3.identity.pub"}));
}

TEST_F(KeyFiles, SerialsDiffer) {
  std::set<std::string> serials;
  for (int i = 0; i < 20; ++i) serials.insert(Issue(keys_, "peer/" + std::to_string(i))->serial);
  EXPECT_THAT(serials, SizeIs(20));
  for (const std::string& serial : serials) EXPECT_THAT(serial, SizeIs(32));
}

TEST_F(KeyFiles, NamesOfPartiesAreChecked) {
  for (const char* bad : {"", "agent", "agent/", "agent/03", "agent/-1", "agent/4294967296", "server/1",
                          "root", "agent/3/4", "Agent/3", "../server", "agent/ 3", "agent/3 "}) {
    const auto error = InputErrorOf(Issue(keys_, bad).status());
    ASSERT_TRUE(error.has_value()) << bad;
    EXPECT_EQ(error->key, "party");
    EXPECT_THAT(error->accepted, HasSubstr("agent/N"));
  }
  for (const char* good : {"server", "shuffler", "operator", "agent/0", "agent/4294967295", "peer/12"}) {
    EXPECT_TRUE(Issue(keys_, good).ok()) << good;
  }
}

TEST_F(KeyFiles, DaysAreChecked) {
  for (const int bad : {0, -1, 3651}) {
    const auto error = InputErrorOf(Issue(keys_, "server", {.days = bad}).status());
    ASSERT_TRUE(error.has_value()) << bad;
    EXPECT_EQ(error->key, "days");
  }
  const auto status =
      Issue(keys_, "server", {.days = 400, .now = absl::Now() + absl::Hours(24) * 3300}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("an end before that of the CA"));
  EXPECT_TRUE(Issue(keys_, "server", {.days = 3650}).ok());
}

TEST_F(KeyFiles, NothingIsOverwritten) {
  ASSERT_TRUE(Issue(keys_, "server").ok());
  const std::string key = ReadWhole(In("server.key")).value();
  const absl::Status again = Issue(keys_, "server").status();
  EXPECT_TRUE(absl::IsAlreadyExists(again));
  EXPECT_THAT(std::string(again.message()), HasSubstr("keys rotate server"));
  EXPECT_EQ(ReadWhole(In("server.key")).value(), key);

  std::ofstream(In("shuffler.key")) << "mine";
  const absl::Status foreign = Issue(keys_, "shuffler").status();
  EXPECT_TRUE(absl::IsAlreadyExists(foreign));
  EXPECT_THAT(std::string(foreign.message()), HasSubstr("shuffler.key"));
  EXPECT_EQ(ReadWhole(In("shuffler.key")).value(), "mine");
}

TEST_F(KeyFiles, APartyThatIsCarriedAwayLeavesNoPrivateKeyBehind) {
  const std::string away = folder_ / "away";
  ASSERT_TRUE(Issue(keys_, "server").ok());
  ASSERT_TRUE(Issue(keys_, "agent/3", {.out = away}).ok());
  EXPECT_EQ(NamesIn(away), (std::set<std::string>{"ca.pem", "agent-3.pem", "agent-3.key", "agent-3.identity",
                                                  "agent-3.identity.pub", "revoked"}));
  EXPECT_EQ(Mode(away), 0700u);
  EXPECT_EQ(ReadWhole(away + "/ca.pem").value(), ReadWhole(In("ca.pem")).value());
  EXPECT_FALSE(std::filesystem::exists(In("agent-3.key")));
  EXPECT_FALSE(std::filesystem::exists(In("agent-3.identity")));
  EXPECT_TRUE(std::filesystem::exists(In("agent-3.identity.pub")));
  EXPECT_THAT(Show(keys_).value(), SizeIs(2));
  EXPECT_THAT(Show(away).value(), SizeIs(1)) << "a party's own machine shows its own";

  const absl::Status here = Rotate(keys_, "agent/3").status();
  EXPECT_TRUE(absl::IsNotFound(here));
  EXPECT_THAT(std::string(here.message()), HasSubstr("--out"));
  EXPECT_TRUE(Rotate(keys_, "agent/3", {.out = away}).ok());
  EXPECT_TRUE(Read(away + "/agent-3.pem").Matches(*ReadPrivateKey(away + "/agent-3.key").value()));
}

TEST_F(KeyFiles, FoldersOfOthersAreNotWrittenTo) {
  const std::string other = folder_ / "other";
  ASSERT_TRUE(MakeDeployment(other).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Issue(keys_, "agent/3", {.out = other}).status()));
  const std::string away = folder_ / "away";
  ASSERT_TRUE(Issue(other, "agent/3", {.out = away}).ok());
  const std::string authority = ReadWhole(away + "/ca.pem").value();
  EXPECT_TRUE(absl::IsAlreadyExists(Issue(keys_, "agent/4", {.out = away}).status()));
  EXPECT_EQ(ReadWhole(away + "/ca.pem").value(), authority);
}

TEST_F(KeyFiles, RotateReplacesKeyAndCertificateButNotTheIdentity) {
  const IssuedCertificate first = Issue(keys_, "server", {.days = 1}).value();
  const std::string key = ReadWhole(In("server.key")).value();
  const std::string identity = ReadWhole(In("server.identity")).value();
  const IssuedCertificate second = Rotate(keys_, "server").value();
  EXPECT_NE(second.serial, first.serial);
  EXPECT_GT(second.not_after, first.not_after);
  EXPECT_NE(ReadWhole(In("server.key")).value(), key);
  EXPECT_EQ(Mode(In("server.key")), 0600u);
  EXPECT_EQ(Read(In("server.pem")).serial(), second.serial);
  EXPECT_TRUE(Read(In("server.pem")).Matches(*ReadPrivateKey(In("server.key")).value()));
  EXPECT_EQ(ReadWhole(In("server.identity")).value(), identity);
  const absl::Status unknown = Rotate(keys_, "agent/3").status();
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("keys issue agent/3"));
}

TEST_F(KeyFiles, RevokingAPartyRevokesTheKeysThatItHadBeforeToo) {
  const IssuedCertificate first = Issue(keys_, "agent/3").value();
  const IssuedCertificate second = Rotate(keys_, "agent/3").value();
  const IssuedCertificate other = Issue(keys_, "agent/30").value();
  const std::vector<IssuedCertificate> revoked = Revoke(keys_, "agent/3").value();
  EXPECT_THAT(revoked, SizeIs(2));
  EXPECT_THAT(ReadRevoked(In("revoked"))->serials, UnorderedElementsAre(first.serial, second.serial));
  const std::vector<IssuedCertificate> shown = Show(keys_).value();
  EXPECT_THAT(shown, SizeIs(3));
  for (const IssuedCertificate& each : shown) EXPECT_EQ(each.revoked, each.serial != other.serial);

  EXPECT_THAT(Revoke(keys_, "agent/3").value(), IsEmpty()) << "once is enough";
  const IssuedCertificate third = Rotate(keys_, "agent/3").value();
  const std::vector<IssuedCertificate> now = Show(keys_).value();
  EXPECT_THAT(now, SizeIs(4));
  for (const IssuedCertificate& each : now) {
    EXPECT_EQ(each.revoked, each.serial != other.serial && each.serial != third.serial);
  }
}

TEST_F(KeyFiles, RevokesASerial) {
  const IssuedCertificate first = Issue(keys_, "agent/3").value();
  const IssuedCertificate second = Rotate(keys_, "agent/3").value();
  EXPECT_THAT(Revoke(keys_, first.serial).value(), SizeIs(1));
  EXPECT_THAT(ReadRevoked(In("revoked"))->serials, UnorderedElementsAre(first.serial));
  EXPECT_TRUE(absl::IsNotFound(Revoke(keys_, "abc").status()));
  EXPECT_TRUE(absl::IsNotFound(Revoke(keys_, "agent/4").status()));
  const auto error = InputErrorOf(Revoke(keys_, "agent/x").status());
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->accepted, HasSubstr("serial"));
}

TEST_F(KeyFiles, ARevokedPartyCanBeIssuedANewCertificateOnceItsFilesAreGone) {
  ASSERT_TRUE(Issue(keys_, "agent/3").ok());
  const std::string identity = ReadWhole(In("agent-3.identity.pub")).value();
  ASSERT_TRUE(Revoke(keys_, "agent/3").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Issue(keys_, "agent/3").status()));
  for (const char* name : {"agent-3.pem", "agent-3.key", "agent-3.identity"})
    std::filesystem::remove(In(name));
  const absl::Status stolen = Issue(keys_, "agent/3").status();
  EXPECT_TRUE(absl::IsAlreadyExists(stolen)) << "its identity is known, and another one would be a surprise";
  EXPECT_THAT(std::string(stolen.message()), HasSubstr("agent-3.identity.pub"));
  std::filesystem::remove(In("agent-3.identity.pub"));
  ASSERT_TRUE(Issue(keys_, "agent/3").ok());
  EXPECT_NE(ReadWhole(In("agent-3.identity.pub")).value(), identity);
}

TEST_F(KeyFiles, ShowsPartiesInTheirOrder) {
  for (const char* party : {"agent/10", "server", "agent/9", "peer/0"}) ASSERT_TRUE(Issue(keys_, party).ok());
  const std::vector<IssuedCertificate> shown = Show(keys_).value();
  std::vector<std::string> parties;
  for (const IssuedCertificate& each : shown) parties.push_back(each.party);
  EXPECT_THAT(parties, ElementsAre("agent/9", "agent/10", "peer/0", "server"));
}

TEST_F(KeyFiles, ErrorsNameTheFile) {
  const std::string none = folder_ / "none";
  for (const absl::Status& status :
       {Issue(none, "server").status(), Show(none).status(), Revoke(none, "server").status()}) {
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("none"));
  }
  std::filesystem::permissions(In("ca.key"), std::filesystem::perms(0640));
  const absl::Status open_key = Issue(keys_, "server").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(open_key));
  EXPECT_THAT(std::string(open_key.message()), HasSubstr("chmod 600 " + In("ca.key")));

  std::filesystem::permissions(In("ca.key"), std::filesystem::perms(0600));
  std::filesystem::copy_file(In("ca.pem"), folder_ / "ca.pem");
  ASSERT_TRUE(MakeDeployment(folder_ / "other").ok());
  std::filesystem::copy_file(folder_ / "other/ca.key", In("ca.key"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(std::string(Issue(keys_, "server").status().message()), HasSubstr("none of its CAs has"));
}

TEST_F(KeyFiles, BadLinesOfTheRevokedDoNotHideTheOthers) {
  std::ofstream(In("revoked")) << "# stolen laptop\n\n00:AB:CD # agent/3\nagent/3\n12  \n";
  const auto revoked = ReadRevoked(In("revoked"));
  ASSERT_TRUE(revoked.ok());
  EXPECT_THAT(revoked->serials, UnorderedElementsAre("abcd", "12"));
  const auto error = InputErrorOf(revoked->problem);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->line, 4);
  EXPECT_EQ(error->value, "agent/3");
  EXPECT_FALSE(Show(keys_).ok()) << "commands refuse a list that they cannot read";
}

}  // namespace
}  // namespace bandana::service
