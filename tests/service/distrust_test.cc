#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "absl/time/clock.h"
#include "bandana/service/certificate.h"
#include "bandana/service/credentials.h"
#include "bandana/service/key_files.h"
#include "bandana/service/signer.h"
#include "bandana/service/whole_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/folder.h"
#include "tests/service/failing.h"
#include "tests/service/log_of_events.h"
#include "tests/service/small_run.h"

// Certificates that end, or are replaced, in the middle of a run. Processes talk over TLS.
namespace bandana::service {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::Duration kRecheck = absl::Milliseconds(100);

class Distrust : public testing::Test {
 protected:
  using Thread = ServerThread<NoPrivacyMean>;

  void SetUp() override {
    deployment_ = MakeDeployment(ca_).value();
    for (const char* party : {"server", "agent/1", "agent/1001"}) {
      ASSERT_TRUE(Issue(ca_, party, {.out = FolderOf(party)}).ok());
    }
  }

  std::string FolderOf(const std::string& party) const { return folder_ / FileNameOf(party); }

  // Where a process keeps its run is in memory, but it behaves as if it could come back.
  Deployed DeployedAs(const std::string& party, LogOfEvents& log) const {
    const auto keys = KeyRing::Open(
        {.folder = FolderOf(party), .self = party, .refresh = absl::Seconds(1), .report = [](const auto&) {
         }});
    EXPECT_TRUE(keys.ok()) << keys.status();
    return {.comes_back = true,
            .keys = *keys,
            .silence = silence_,
            .limits = {},
            .recheck = kRecheck,
            .on_event = log.Taker()};
  }

  ServerParams Server() {
    ServerParams params = SmallServerParams();
    params.deployed = DeployedAs("server", of_server_);
    return params;
  }

  std::future<absl::StatusOr<AgentReport>> StartAgent(const std::string& server, std::uint32_t first,
                                                      std::uint32_t last, LogOfEvents& log,
                                                      std::function<void()> in_epoch_3) {
    AgentParams params = SmallAgentParams(server, first, last);
    params.deployed = DeployedAs("agent/" + std::to_string(first), log);
    return std::async(std::launch::async, [this, params, event = std::move(in_epoch_3)] {
      bool is_first = true;
      EventfulPopulation population(3, [&] {
        if (std::exchange(is_first, false)) event();
      });
      return RunSmallAgent(params, privatizer_, population);
    });
  }

  // Replaces an agent's certificate by one that ends soon, without an operator's command.
  void IssueUntil(const std::string& party, absl::Time until) const {
    const KeyPair authority{.certificate = Certificate::FromPem(ReadWhole(ca_ + "/ca.pem").value())->front(),
                            .key = ReadPrivateKey(ca_ + "/ca.key").value()};
    const KeyPair pair = MakePair(authority, {deployment_, party},
                                  {.not_before = absl::Now() - absl::Hours(1), .not_after = until});
    const std::string path = FolderOf(party) + "/" + FileNameOf(party);
    std::ofstream(path + ".pem") << pair.certificate.pem();
    std::ofstream(path + ".key") << pair.key_pem();
  }

  // Copies the CA's list of revoked certificates to a party.
  void CopyRevoked(const std::string& party) const {
    std::filesystem::copy_file(ca_ + "/revoked", FolderOf(party) + "/revoked",
                               std::filesystem::copy_options::overwrite_existing);
  }

  // Two agents begin a run, and in epoch 3 the certificate of one of them is not accepted any more.
  void ExpectAgentIsSentAway(const std::function<void()>& event, const std::string& why) {
    Thread service(Server(), server_);
    LogOfEvents of_honest, of_other;
    absl::Duration took = absl::InfiniteDuration();
    auto honest = StartAgent(service.address(), 1, 1000, of_honest, [] {});
    auto other = StartAgent(service.address(), 1001, 2000, of_other, [&] {
      event();
      const absl::Time start = absl::Now();
      EXPECT_TRUE(of_server_.Await("disconnected", "agent/1001", why));
      took = absl::Now() - start;
    });
    ExpectError(other.get(), StatusCode::kUnavailable, AllOf(HasSubstr("was lost: "), HasSubstr(why)));
    ExpectError(service.Result(), StatusCode::kUnavailable, HasSubstr("the agent/1001 was lost: " + why));
    EXPECT_EQ(honest.get().status().code(), StatusCode::kUnavailable);
    EXPECT_LT(took, absl::Seconds(5));
    EXPECT_TRUE(of_other.Has("disconnected", "server", why)) << "the agent is told why";
    EXPECT_TRUE(of_other.Has("unreachable", "server")) << "it tried again";
  }

  test::Folder folder_;
  std::string ca_ = folder_ / "ca";
  std::string deployment_;
  absl::Duration silence_ = absl::Seconds(1);
  LogOfEvents of_server_;
  NoPrivacyMean privatizer_ = SmallNoPrivacy();
  EliminationServer<NoPrivacyMean> server_ = SmallServer(privatizer_, ManyClients());
};

TEST_F(Distrust, AnAgentThatIsRevokedInTheRunIsSentAway) {
  ExpectAgentIsSentAway(
      [&] {
        ASSERT_TRUE(Revoke(ca_, "agent/1001").ok());
        CopyRevoked("server");
      },
      "the certificate of agent/1001 with the serial");
}

TEST_F(Distrust, AnAgentWhoseCertificateEndsInTheRunIsSentAway) {
  const absl::Time until = absl::Now() + absl::Seconds(2);
  IssueUntil("agent/1001", until);
  ExpectAgentIsSentAway([&] { absl::SleepFor(until - absl::Now()); },
                        "the certificate of agent/1001 has expired: it was valid until");
}

// The dialing end checks, too.
TEST_F(Distrust, AServerThatIsRevokedInTheRunIsLeft) {
  Thread service(Server(), server_);
  LogOfEvents of_agent;
  auto agent = StartAgent(service.address(), 1, kClients, of_agent, [&] {
    ASSERT_TRUE(Revoke(ca_, "server").ok());
    CopyRevoked("agent/1");
    EXPECT_TRUE(of_server_.Await("disconnected", "agent/1", "the certificate of server with the serial"));
  });
  ExpectError(agent.get(), StatusCode::kUnavailable, HasSubstr("was lost: "));
  EXPECT_TRUE(of_agent.Has("disconnected", "server", "was revoked"));
  EXPECT_EQ(service.Result().status().code(), StatusCode::kUnavailable);
}

// New certificates are in use within seconds, at both ends, and nothing is lost: the old ones are revoked
// afterwards, and the run goes on to the same decisions.
TEST_F(Distrust, CertificatesThatAreReplacedInTheRunAreUsedAndTheRunGoesOn) {
  silence_ = kLong;
  auto reference = SmallServer(privatizer_, ManyClients());
  {
    Thread service(SmallServerParams(), reference);
    ASSERT_TRUE(RunSmallAgent(SmallAgentParams(service.address(), 1, kClients), privatizer_).ok());
    ASSERT_TRUE(service.Result().ok());
  }
  Thread service(Server(), server_);
  LogOfEvents of_agent, of_other;
  auto agent = StartAgent(service.address(), 1, 1000, of_agent, [] {});
  auto other = StartAgent(service.address(), 1001, kClients, of_other, [&] {  // the others wait for this one
    for (const char* party : {"agent/1", "server"}) {
      SCOPED_TRACE(party);
      const std::string old =
          Certificate::FromPem(ReadWhole(FolderOf(party) + "/" + FileNameOf(party) + ".pem").value())
              ->front()
              .serial();
      ASSERT_TRUE(Rotate(ca_, party, {.out = FolderOf(party)}).ok());
      const int turn = std::string(party) == "server" ? 2 : 1;
      EXPECT_TRUE(of_server_.Await("disconnected", "agent/1", "with a new certificate", turn));
      EXPECT_TRUE(of_agent.Await("connected", "server", "", turn + 1));
      ASSERT_TRUE(Revoke(ca_, old).ok());
      CopyRevoked("server");
      CopyRevoked("agent/1");
      absl::SleepFor(5 * kRecheck);
      EXPECT_FALSE(of_server_.Has("disconnected", "", "was revoked"));
      EXPECT_FALSE(of_agent.Has("disconnected", "", "was revoked"));
    }
  });
  for (auto* each : {&agent, &other}) {
    const auto done = each->get();
    EXPECT_TRUE(done.ok()) << done.status();
  }
  const auto report = service.Result();
  EXPECT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(server_.policy().history().size(), reference.policy().history().size());
  for (std::size_t i = 0; i < server_.policy().history().size(); ++i) {
    EXPECT_EQ(server_.policy().history()[i].averages, reference.policy().history()[i].averages) << i;
  }
}

}  // namespace
}  // namespace bandana::service
