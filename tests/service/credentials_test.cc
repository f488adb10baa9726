#include "bandana/service/credentials.h"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "absl/strings/str_split.h"
#include "bandana/service/certificate.h"
#include "bandana/service/channel.h"
#include "bandana/service/key_files.h"
#include "bandana/service/openssl.h"
#include "bandana/service/signer.h"
#include "bandana/service/whole_file.h"
#include "gmock/gmock.h"
#include "grpc/support/log.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/folder.h"

namespace bandana::service {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr absl::Duration kDay = absl::Hours(24);
constexpr absl::Duration kPatience = absl::Seconds(20);

// Sentences that a KeyRing has reported, from any thread.
class Reports {
 public:
  std::function<void(const std::string&)> Taker() {
    return [this](const std::string& sentence) {
      const std::lock_guard lock(mutex_);
      all_ += sentence + "\n";
    };
  }
  std::string all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::string all_;
};

// Answers every call with the name of the caller, in the message of the status.
class WhoAmI : public grpc::CallbackGenericService {
 public:
  explicit WhoAmI(const KeyRing* keys) : keys_(keys) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    class Answer : public grpc::ServerGenericBidiReactor {
     public:
      explicit Answer(const grpc::Status& status) { Finish(status); }
      void OnDone() override { delete this; }
    };
    const absl::StatusOr<std::string> party = keys_->PartyOf(*context->auth_context());
    return new Answer(party.ok() ? grpc::Status(grpc::StatusCode::ALREADY_EXISTS, *party)
                                 : ToGrpc(party.status()));
  }

 private:
  const KeyRing* keys_;
};

struct RunningServer {
  std::unique_ptr<WhoAmI> service;
  std::unique_ptr<grpc::Server> server;
  std::string address;
  int port = 0;

  RunningServer() = default;
  RunningServer(RunningServer&&) = default;
  ~RunningServer() {
    if (server != nullptr) server->Shutdown(std::chrono::system_clock::now());
  }
};

RunningServer Serve(const KeyRing& keys, const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  RunningServer running;
  running.service = std::make_unique<WhoAmI>(&keys);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", credentials, &running.port);
  builder.RegisterCallbackGenericService(running.service.get());
  running.server = builder.BuildAndStart();
  EXPECT_NE(running.server, nullptr);
  running.address = "127.0.0.1:" + std::to_string(running.port);
  return running;
}

RunningServer Serve(const KeyRing& keys) { return Serve(keys, keys.ForServer()); }

std::shared_ptr<grpc::Channel> Connect(const std::string& address,
                                       const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  arguments.SetSslTargetNameOverride(kTlsName);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

std::shared_ptr<grpc::Channel> Connect(const RunningServer& to,
                                       const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  return Connect(to.address, credentials);
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

// How a call ends: with the name that the server gives the caller, or with the reason why it failed.
struct Answer {
  std::string party;
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string error;
};

Answer Call(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  const grpc::Slice empty;
  const grpc::ByteBuffer nothing(&empty, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/test/WhoAmI", {}, &nothing, &response,
                 [&](grpc::Status status) { done.set_value(std::move(status)); });
  const grpc::Status status = done.get_future().get();
  const bool named = status.error_code() == grpc::StatusCode::ALREADY_EXISTS;
  if (named) return {.party = status.error_message()};
  return {.code = status.error_code(), .error = status.error_message()};
}

bool Becomes(const std::function<bool()>& condition) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

class Credentials : public ::testing::Test {
 protected:
  void SetUp() override {
    deployment_ = MakeDeployment(keys_).value();
    for (const char* party : {"server", "agent/3", "peer/4"}) ASSERT_TRUE(Issue(keys_, party).ok());
  }

  std::shared_ptr<KeyRing> Open(const std::string& self, Reports& reports, const std::string& folder) {
    auto ring = KeyRing::Open(
        {.folder = folder, .self = self, .refresh = absl::Seconds(1), .report = reports.Taker()});
    EXPECT_TRUE(ring.ok()) << ring.status();
    return *std::move(ring);
  }
  std::shared_ptr<KeyRing> Open(const std::string& self, Reports& reports) {
    return Open(self, reports, keys_);
  }

  KeyPair Authority(const std::string& folder) const {
    return {.certificate = Certificate::FromPem(ReadWhole(folder + "/ca.pem").value()).value().front(),
            .key = ReadPrivateKey(folder + "/ca.key").value()};
  }

  // A certificate as anybody could make one who has a CA.
  KeyPair Forge(const PartyId& id, absl::Duration from, absl::Duration until) const {
    return MakePair(Authority(keys_), id,
                    {.not_before = absl::Now() + from, .not_after = absl::Now() + until});
  }

  static std::vector<grpc::experimental::IdentityKeyCertPair> Shown(const KeyPair& pair) {
    return {{.private_key = pair.key_pem(), .certificate_chain = pair.certificate.pem()}};
  }

  // Credentials of somebody who does not check what they show, nor what they see.
  static std::shared_ptr<grpc::ChannelCredentials> CarelessClient(const KeyPair* pair) {
    grpc::experimental::TlsChannelCredentialsOptions options;
    if (pair != nullptr) {
      options.set_certificate_provider(
          std::make_shared<grpc::experimental::StaticDataCertificateProvider>(Shown(*pair)));
      options.watch_identity_key_cert_pairs();
    }
    options.set_verify_server_certs(false);
    options.set_check_call_host(false);
    options.set_certificate_verifier(std::make_shared<grpc::experimental::NoOpCertificateVerifier>());
    return grpc::experimental::TlsCredentials(options);
  }

  static std::shared_ptr<grpc::ServerCredentials> CarelessServer(const KeyPair& pair) {
    grpc::experimental::TlsServerCredentialsOptions options(
        std::make_shared<grpc::experimental::StaticDataCertificateProvider>(Shown(pair)));
    options.watch_identity_key_cert_pairs();
    return grpc::experimental::TlsServerCredentials(options);
  }

  // Both ends refuse a certificate that is wrong in itself, and say why.
  void ExpectRefusedByBothEnds(const KeyPair& wrong, const std::string& why) {
    Reports of_server, of_agent;
    const auto server = Open("server", of_server);
    const auto agent = Open("agent/3", of_agent);
    const RunningServer running = Serve(*server);
    const Answer refused = Call(Connect(running, CarelessClient(&wrong)));
    EXPECT_EQ(refused.code, grpc::StatusCode::UNAVAILABLE) << refused.party;
    EXPECT_TRUE(Becomes([&] { return of_server.all().find(why) != std::string::npos; })) << of_server.all();

    const RunningServer other = Serve(*server, CarelessServer(wrong));
    const Answer at_client = Call(Connect(other, agent->ForChannel("server")));
    EXPECT_EQ(at_client.code, grpc::StatusCode::UNAVAILABLE) << at_client.party;
    EXPECT_THAT(at_client.error, HasSubstr(why));
    EXPECT_THAT(of_agent.all(), HasSubstr(why));
  }

  test::Folder folder_;
  std::string keys_ = folder_ / "keys";
  std::string deployment_;
};

TEST_F(Credentials, TheServerKnowsWhoCalls) {
  Reports reports;
  const auto server = Open("server", reports);
  const auto agent = Open("agent/3", reports);
  const auto peer = Open("peer/4", reports);
  const RunningServer running = Serve(*server);
  EXPECT_EQ(Call(Connect(running, agent->ForChannel("server"))).party, "agent/3");
  EXPECT_EQ(Call(Connect(running, peer->ForChannel("server"))).party, "peer/4");
  const RunningServer of_peer = Serve(*peer);
  EXPECT_EQ(Call(Connect(of_peer, agent->ForChannel("peer/4"))).party, "agent/3")
      << "a peer can be either end";
  EXPECT_EQ(agent->deployment(), deployment_);
  EXPECT_NEAR(absl::ToDoubleHours(agent->expiry() - absl::Now()), 90 * 24, 0.1);
  EXPECT_EQ(reports.all(), "");
}

TEST_F(Credentials, CredentialsOutliveTheirKeyRing) {
  Reports reports;
  const auto server = Open("server", reports);
  const RunningServer running = Serve(*server);
  auto agent = Open("agent/3", reports);
  const auto credentials = agent->ForChannel("server");
  agent.reset();
  EXPECT_EQ(Call(Connect(running, credentials)).party, "agent/3");
}

TEST_F(Credentials, AClientWithoutACertificateIsRefused) {
  Reports reports;
  const auto server = Open("server", reports);
  const RunningServer running = Serve(*server);
  EXPECT_EQ(Call(Connect(running, CarelessClient(nullptr))).code, grpc::StatusCode::UNAVAILABLE);
}

TEST_F(Credentials, AnExpiredCertificateIsRefused) {
  ExpectRefusedByBothEnds(Forge({deployment_, "server"}, -2 * kDay, -kDay),
                          "the certificate of server has expired: it was valid until");
}

TEST_F(Credentials, ACertificateThatIsNotValidYetIsRefused) {
  ExpectRefusedByBothEnds(Forge({deployment_, "server"}, kDay, 2 * kDay),
                          "the certificate of server is not valid yet: it begins at");
}

TEST_F(Credentials, ACertificateOfAnotherCaIsRefused) {
  const std::string other = folder_ / "other";
  ASSERT_TRUE(MakeDeployment(other, {.deployment = deployment_}).ok());
  const KeyPair pair = MakePair(Authority(other), {deployment_, "server"},
                                {.not_before = absl::Now() - kDay, .not_after = absl::Now() + kDay});
  ExpectRefusedByBothEnds(pair, "a certificate in the name of server was not signed by a CA in");
}

TEST_F(Credentials, ACertificateThatAPartyHasSignedIsRefused) {
  const KeyPair agent{
      .certificate = Certificate::FromPem(ReadWhole(keys_ + "/agent-3.pem").value()).value().front(),
      .key = ReadPrivateKey(keys_ + "/agent-3.key").value()};
  const KeyPair forged = MakePair(agent, {deployment_, "server"},
                                  {.not_before = absl::Now() - kDay, .not_after = absl::Now() + kDay});
  ExpectRefusedByBothEnds(forged, "a certificate in the name of server was not signed by a CA in");
}

TEST_F(Credentials, ACertificateOfAnotherDeploymentIsRefused) {
  const std::string other(32, 'a');
  ExpectRefusedByBothEnds(
      Forge({other, "server"}, -kDay, kDay),
      "the certificate of server is of the deployment " + other + ", and this is " + deployment_);
}

TEST_F(Credentials, ACertificateWithoutAPartyIsRefused) {
  ExpectRefusedByBothEnds(Forge({deployment_, "janitor"}, -kDay, kDay),
                          "a certificate that names no party of a deployment was shown");
}

TEST_F(Credentials, ACertificateOfTwoPartiesIsRefused) {
  const std::string two = "server,URI:bandana://" + deployment_ + "/agent/3";
  ExpectRefusedByBothEnds(Forge({deployment_, two}, -kDay, kDay), "one of its URIs, and only one, must be");
}

TEST_F(Credentials, ARevokedCertificateIsRefused) {
  const KeyPair pair = Forge({deployment_, "server"}, -kDay, kDay);
  std::ofstream(keys_ + "/revoked") << pair.certificate.serial() << "\n";
  ExpectRefusedByBothEnds(
      pair, "the certificate of server with the serial " + pair.certificate.serial() + " was revoked");
}

TEST_F(Credentials, AnotherPartyAtTheAddressIsRefused) {
  Reports reports;
  const auto agent = Open("agent/3", reports);
  const auto peer = Open("peer/4", reports);
  const RunningServer running = Serve(*peer);
  for (const char* partner : {"server", "peer/5", "peer", "agent/3"}) {
    const Answer refused = Call(Connect(running, agent->ForChannel(partner)));
    EXPECT_EQ(refused.code, grpc::StatusCode::UNAVAILABLE) << partner;
    EXPECT_THAT(refused.error,
                HasSubstr(std::string(partner) + " was expected at this address, and peer/4 answered"));
  }
}

// Lines that gRPC has logged. It says there what happens before certificates are shown.
std::mutex log_mutex;
std::string logged;
void KeepLog(gpr_log_func_args* line) {
  const std::lock_guard lock(log_mutex);
  logged += line->message;
  logged += '\n';
}

TEST_F(Credentials, ARefusalIsReportedOnceAndAFloodOfThemIsCutOff) {
  Reports reports;
  const auto server = Open("server", reports);
  const RunningServer running = Serve(*server);
  const KeyPair expired = Forge({deployment_, "agent/3"}, -2 * kDay, -kDay);
  for (int i = 0; i < 3; ++i) Call(Connect(running, CarelessClient(&expired)));
  const KeyPair foreign = Forge({std::string(32, 'a'), "agent/3"}, -kDay, kDay);
  Call(Connect(running, CarelessClient(&foreign)));
  ASSERT_TRUE(Becomes([&] { return reports.all().find("is of the deployment") != std::string::npos; }));
  EXPECT_THAT(Lines(reports.all()), SizeIs(2)) << reports.all();

  constexpr int kFlood = 25;
  for (int i = 0; i < kFlood; ++i) {
    const KeyPair other = Forge({deployment_, "agent/" + std::to_string(100 + i)}, -2 * kDay, -kDay);
    Call(Connect(running, CarelessClient(&other)));
  }
  EXPECT_THAT(Lines(reports.all()), SizeIs(::testing::Lt(kFlood)));
}

TEST_F(Credentials, PlainTextIsRefusedInBothDirections) {
  Reports reports;
  const auto server = Open("server", reports);
  const auto agent = Open("agent/3", reports);
  const RunningServer running = Serve(*server);
  gpr_set_log_function(KeepLog);
  EXPECT_EQ(Call(Connect(running, grpc::InsecureChannelCredentials())).code, grpc::StatusCode::UNAVAILABLE);
  gpr_set_log_function(nullptr);
  {
    const std::lock_guard lock(log_mutex);
    EXPECT_THAT(logged, HasSubstr("wrong version number")) << "the server's log says that it was no TLS";
  }

  const RunningServer plain = Serve(*server, grpc::InsecureServerCredentials());
  const Answer refused = Call(Connect(plain, agent->ForChannel("server")));
  EXPECT_EQ(refused.code, grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error, HasSubstr("wrong version number"));

  const Answer unknown = Call(Connect(plain, grpc::InsecureChannelCredentials()));
  EXPECT_EQ(unknown.code, grpc::StatusCode::PERMISSION_DENIED) << "without TLS nobody has a name";
  EXPECT_THAT(unknown.error, HasSubstr("no certificate"));
}

// The version of TLS that the server and an OpenSSL of our own agree on, or nothing.
std::string VersionWith(int port, int highest, const KeyPair& pair) {
  const std::unique_ptr<SSL_CTX, openssl::Deleter<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_clear_options(context.get(), SSL_OP_NO_TLSv1_2);
  SSL_CTX_set_max_proto_version(context.get(), highest);
  SSL_CTX_use_certificate(context.get(), pair.certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), pair.key.get());
  const unsigned char h2[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), h2, sizeof h2);
  const std::unique_ptr<BIO, openssl::Deleter<BIO_free_all>> bio(BIO_new_ssl_connect(context.get()));
  BIO_set_conn_hostname(bio.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
  const bool connected = BIO_do_connect(bio.get()) == 1 && BIO_do_handshake(bio.get()) == 1;
  SSL* ssl = nullptr;
  BIO_get_ssl(bio.get(), &ssl);
  std::string version = connected ? SSL_get_version(ssl) : "";
  ERR_clear_error();
  return version;
}

TEST_F(Credentials, TheServerSpeaksNoOlderTls) {
  Reports reports;
  const auto server = Open("server", reports);
  const RunningServer running = Serve(*server);
  const KeyPair agent = Forge({deployment_, "agent/3"}, -kDay, kDay);
  EXPECT_EQ(VersionWith(running.port, TLS1_3_VERSION, agent), "TLSv1.3");
  EXPECT_EQ(VersionWith(running.port, TLS1_2_VERSION, agent), "");
}

// A socket that waits for connections.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(bind(socket_, Address(), size), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    EXPECT_EQ(getsockname(socket_, Address(), &size), 0);
  }
  Listener(const Listener&) = delete;
  ~Listener() { close(socket_); }

  std::string at() const { return "127.0.0.1:" + std::to_string(ntohs(address_.sin_port)); }
  int Accept() const { return accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  sockaddr* Address() { return reinterpret_cast<sockaddr*>(&address_); }

  int socket_;
  sockaddr_in address_{};
};

TEST_F(Credentials, AClientSpeaksNoOlderTls) {
  Reports reports;
  const auto agent = Open("agent/3", reports);
  const std::unique_ptr<SSL_CTX, openssl::Deleter<SSL_CTX_free>> context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_clear_options(context.get(), SSL_OP_NO_TLSv1_2);
  const KeyPair pair = Forge({deployment_, "server"}, -kDay, kDay);
  ASSERT_EQ(SSL_CTX_use_certificate(context.get(), pair.certificate.get()), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context.get(), pair.key.get()), 1);
  SSL_CTX_set_num_tickets(context.get(),
                          0);  // nothing is written after the handshake, when nobody may listen
  SSL_CTX_set_alpn_select_cb(
      context.get(),
      [](SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered, unsigned,
         void*) {
        *chosen = offered + 1;
        *size = offered[0];
        return SSL_TLSEXT_ERR_OK;
      },
      nullptr);
  const auto handshake = [&](int highest) {
    SSL_CTX_set_max_proto_version(context.get(), highest);
    const Listener listener;
    const auto channel = Connect(listener.at(), agent->ForChannel("server"));
    std::thread caller([&] { Call(channel); });
    const int connection = listener.Accept();
    const std::unique_ptr<SSL, openssl::Deleter<SSL_free>> ssl(SSL_new(context.get()));
    SSL_set_fd(ssl.get(), connection);
    const bool done = SSL_accept(ssl.get()) == 1;
    ERR_clear_error();
    close(connection);
    caller.join();
    return done;
  };
  EXPECT_TRUE(handshake(TLS1_3_VERSION));
  EXPECT_FALSE(handshake(TLS1_2_VERSION));
}

TEST_F(Credentials, RevocationEndsALiveConnection) {
  Reports of_server, of_others;
  const auto server = Open("server", of_server);
  const auto agent = Open("agent/3", of_others);
  const auto peer = Open("peer/4", of_others);
  const RunningServer running = Serve(*server);
  const auto channel = Connect(running, agent->ForChannel("server"));
  ASSERT_EQ(Call(channel).party, "agent/3");
  ASSERT_TRUE(Revoke(keys_, "agent/3").ok());
  const Answer next = Call(channel);
  EXPECT_EQ(next.code, grpc::StatusCode::PERMISSION_DENIED)
      << "the connection is there, and the party is not";
  EXPECT_THAT(next.error, HasSubstr("was revoked"));
  EXPECT_EQ(Call(Connect(running, agent->ForChannel("server"))).code, grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Becomes([&] {
    return of_server.all().find("a connection was refused: the certificate of agent/3") != std::string::npos;
  })) << of_server.all();
  EXPECT_EQ(Call(Connect(running, peer->ForChannel("server"))).party, "peer/4") << "others go on";
}

TEST_F(Credentials, AListThatCannotBeReadStaysInForce) {
  Reports reports;
  const auto server = Open("server", reports);
  const auto agent = Open("agent/3", reports);
  const RunningServer running = Serve(*server);
  ASSERT_TRUE(Revoke(keys_, "agent/3").ok());
  ASSERT_EQ(Call(Connect(running, agent->ForChannel("server"))).code, grpc::StatusCode::UNAVAILABLE);
  std::filesystem::remove(keys_ + "/revoked");
  ASSERT_EQ(Call(Connect(running, agent->ForChannel("server"))).code, grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Becomes(
      [&] { return reports.all().find("what was read before stays in force") != std::string::npos; }));

  const Certificate certificate =
      Certificate::FromPem(ReadWhole(keys_ + "/agent-3.pem").value()).value().front();
  std::ofstream(keys_ + "/revoked") << "oops\n" << certificate.serial() << "\n";
  ASSERT_EQ(Call(Connect(running, agent->ForChannel("server"))).code, grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Becomes([&] { return reports.all().find("revoked:1: ") != std::string::npos; }))
      << reports.all();
}

TEST_F(Credentials, RotationNeedsNoRestart) {
  Reports reports;
  const auto server = Open("server", reports);
  const auto agent = Open("agent/3", reports);
  const RunningServer running = Serve(*server);
  const auto before = Connect(running, agent->ForChannel("server"));
  ASSERT_EQ(Call(before).party, "agent/3");
  const absl::Time expiry = agent->expiry();

  const std::vector<IssuedCertificate> old = Show(keys_).value();
  for (const char* party : {"server", "agent/3"}) ASSERT_TRUE(Rotate(keys_, party, {.days = 200}).ok());
  EXPECT_GT(agent->expiry(), expiry + 100 * kDay);
  EXPECT_EQ(Call(before).party, "agent/3") << "open connections stay";

  // The old certificates are revoked, so that only the new ones open connections.
  for (const IssuedCertificate& each : old) {
    if (each.party != "peer/4") ASSERT_TRUE(Revoke(keys_, each.serial).ok());
  }
  EXPECT_TRUE(Becomes([&] { return Call(Connect(running, agent->ForChannel("server"))).party == "agent/3"; }))
      << reports.all();
}

TEST_F(Credentials, TwoCasMayOverlap) {
  const std::string next = folder_ / "next";
  ASSERT_TRUE(MakeDeployment(next, {.deployment = deployment_}).ok());
  ASSERT_TRUE(Issue(next, "agent/7").ok());
  Reports reports;
  const auto server = Open("server", reports);
  const RunningServer running = Serve(*server);
  const std::string both = ReadWhole(keys_ + "/ca.pem").value() + ReadWhole(next + "/ca.pem").value();
  ASSERT_TRUE(WriteOverFile(next + "/ca.pem", both, Secrecy::kPublic).ok());
  const auto agent = Open("agent/7", reports, next);
  ASSERT_EQ(Call(Connect(running, agent->ForChannel("server"))).code, grpc::StatusCode::UNAVAILABLE);
  ASSERT_TRUE(WriteOverFile(keys_ + "/ca.pem", both, Secrecy::kPublic).ok());
  EXPECT_TRUE(Becomes([&] { return Call(Connect(running, agent->ForChannel("server"))).party == "agent/7"; }))
      << reports.all();
}

class OwnKeys : public Credentials {
 protected:
  absl::Status Opened(const std::string& self = "agent/3") {
    return KeyRing::Open({.folder = keys_, .self = self, .report = reports_.Taker()}).status();
  }
  void Replace(const KeyPair& pair) {
    ASSERT_TRUE(WriteOverFile(keys_ + "/agent-3.key", pair.key_pem(), Secrecy::kPrivate).ok());
    ASSERT_TRUE(WriteOverFile(keys_ + "/agent-3.pem", pair.certificate.pem(), Secrecy::kPublic).ok());
  }
  Reports reports_;
};

TEST_F(OwnKeys, AreOpened) { EXPECT_EQ(Opened(), absl::OkStatus()); }

TEST_F(OwnKeys, ThatOthersMayReadAreRefused) {
  for (const int mode : {0640, 0604, 0610, 0601, 0620}) {
    std::filesystem::permissions(keys_ + "/agent-3.key", std::filesystem::perms(mode));
    const absl::Status status = Opened();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << mode;
    EXPECT_THAT(std::string(status.message()), HasSubstr("chmod 600 " + keys_ + "/agent-3.key"));
  }
  std::filesystem::permissions(keys_ + "/agent-3.key", std::filesystem::perms(0400));
  EXPECT_EQ(Opened(), absl::OkStatus());
}

TEST_F(OwnKeys, ThatAreMissingAreNamed) {
  for (const char* name : {"ca.pem", "agent-3.pem", "agent-3.key", "revoked"}) {
    std::filesystem::rename(keys_ + "/" + name, folder_ / "kept");
    const absl::Status status = Opened();
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    std::ofstream(keys_ + "/" + name) << "nonsense\n";
    std::filesystem::permissions(keys_ + "/" + name, std::filesystem::perms(0600));
    const absl::Status nonsense = Opened();
    EXPECT_TRUE(absl::IsInvalidArgument(nonsense)) << nonsense;
    EXPECT_THAT(std::string(nonsense.message()), HasSubstr(name));
    std::filesystem::rename(folder_ / "kept", keys_ + "/" + name);
  }
  EXPECT_EQ(Opened(), absl::OkStatus());
}

TEST_F(OwnKeys, ThatOthersWouldRefuseAreRefusedAtTheStart) {
  const auto expect = [&](const std::string& why) {
    const absl::Status status = Opened();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("agent-3.pem"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  Replace(Forge({deployment_, "agent/3"}, -2 * kDay, -kDay));
  expect("has expired");
  Replace(Forge({deployment_, "agent/3"}, kDay, 2 * kDay));
  expect("is not valid yet");
  Replace(Forge({deployment_, "agent/4"}, -kDay, kDay));
  expect("this is the certificate of agent/4, and not that of agent/3");
  KeyPair pair = Forge({deployment_, "agent/3"}, -kDay, kDay);
  pair.key = Forge({deployment_, "agent/3"}, -kDay, kDay).key;
  Replace(pair);
  expect("is not that of this certificate");
  pair = Forge({deployment_, "agent/3"}, -kDay, kDay);
  Replace(pair);
  EXPECT_EQ(Opened(), absl::OkStatus());
  std::ofstream(keys_ + "/revoked") << pair.certificate.serial() << "\n";
  expect("was revoked");
}

TEST_F(OwnKeys, HaveAPartyThatThereIs) {
  EXPECT_TRUE(absl::IsInvalidArgument(Opened("agent")));
  EXPECT_TRUE(absl::IsInvalidArgument(Opened("../keys/agent-3")));
  EXPECT_TRUE(absl::IsNotFound(Opened("agent/4")));
  const auto hasty = KeyRing::Open({.folder = keys_, .self = "agent/3", .refresh = absl::ZeroDuration()});
  EXPECT_TRUE(absl::IsInvalidArgument(hasty.status()));
}

}  // namespace
}  // namespace bandana::service
