#include "bandana/service/credentials.h"

#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/service/calm_reporter.h"
#include "bandana/service/certificate.h"
#include "bandana/service/only_tls13.h"
#include "bandana/service/party.h"
#include "bandana/service/revoked.h"
#include "bandana/service/watched_file.h"
#include "bandana/service/whole_file.h"
#include "fmt/format.h"
#include "grpc/grpc.h"
#include "grpcpp/security/auth_context.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"

namespace bandana::service {
namespace {

using TellOperator = std::function<void(const std::string&)>;

TellOperator ToStderrIfNull(TellOperator report) {
  if (report != nullptr) return report;
  return [](const std::string& sentence) { fmt::print(stderr, "bandana: {}\n", sentence); };
}

absl::StatusOr<Certificate> FirstIn(const std::string& path) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<Certificate> certificates, Certificate::FromPem(text, path));
  return certificates.front();
}

std::string ToString(const grpc::string_ref& text) { return {text.data(), text.size()}; }

std::string FirstOf(const grpc::AuthContext& context, const char* property) {
  const std::vector<grpc::string_ref> values = context.FindPropertyValues(property);
  return values.empty() ? "" : ToString(values.front());
}

}  // namespace

/// Keeps gRPC initialised: the provider of certificates does not.
class KeyRing::UseOfGrpc {
 public:
  UseOfGrpc() { grpc_init(); }
  ~UseOfGrpc() { grpc_shutdown(); }
  UseOfGrpc(const UseOfGrpc&) = delete;
  UseOfGrpc& operator=(const UseOfGrpc&) = delete;
};

/// The files of the folder, and what follows from them. Credentials share it, and may outlive the KeyRing.
class KeyRing::Files {
 public:
  static absl::StatusOr<std::shared_ptr<Files>> Open(const Params& params);

  const std::string& certificate_path() const { return own_->path(); }
  const std::string& key_path() const { return key_path_; }
  const std::string& authorities_path() const { return authorities_->path(); }
  const std::string& deployment() const { return deployment_; }
  absl::Time expiry() { return own_->Current()->not_after(); }
  absl::Time in_use_since();

  /// Returns the party of a certificate that was checked before, if it still is one.
  absl::StatusOr<std::string> PartyOf(const Certificate& certificate) {
    const std::optional<PartyId>& id = certificate.id();
    if (!id) {
      return absl::PermissionDeniedError(
          fmt::format("{} was shown: one of its URIs, and only one, must be bandana://{}/PARTY",
                      certificate.Description(), deployment_));
    }
    if (id->deployment != deployment_) {
      return absl::PermissionDeniedError(fmt::format("{} is of the deployment {}, and this is {}",
                                                     certificate.Description(), id->deployment, deployment_));
    }
    if (revoked_->Current()->serials.contains(certificate.serial())) {
      return absl::PermissionDeniedError(
          fmt::format("{} with the serial {} was revoked", certificate.Description(), certificate.serial()));
    }
    return id->party;
  }

  /// Returns the party of a certificate that may open a connection, or keep it. `partner` is the only party
  /// that may, unless it is empty.
  absl::StatusOr<std::string> Check(const std::string& pem, const std::string& chain,
                                    const std::string& partner, Authorities::Use use) {
    absl::StatusOr<std::vector<Certificate>> shown = Certificate::FromPem(pem);
    if (!shown.ok()) return absl::UnauthenticatedError("the other end has shown no certificate");
    std::vector<Certificate> more;
    if (auto parsed = Certificate::FromPem(chain); parsed.ok()) more = *std::move(parsed);
    const Certificate& certificate = shown->front();
    BANDANA_RETURN_IF_ERROR(authorities_->Current()->Check(certificate, more, use));
    BANDANA_ASSIGN_OR_RETURN(const std::string party, PartyOf(certificate));
    if (partner.empty() || party == partner) return party;
    return absl::PermissionDeniedError(
        fmt::format("{} was expected at this address, and {} answered", partner, party));
  }

  void Tell(const std::string& sentence) { report_(sentence); }

 private:
  explicit Files(const Params& params)
      : key_path_(PathIn(params.folder, FileNameOf(params.self) + ".key")),
        refresh_(params.refresh),
        report_(ToStderrIfNull(params.report)) {}

  absl::Status CheckOwn(const std::string& self);

  const std::string key_path_;
  const absl::Duration refresh_;
  CalmReporter report_;
  std::mutex mutex_;
  std::string serial_;  // of the own certificate, as it was noticed
  absl::Time in_use_since_ = absl::InfinitePast();
  std::string deployment_;
  std::unique_ptr<WatchedFile<Authorities>> authorities_;
  std::unique_ptr<WatchedFile<Certificate>> own_;
  std::unique_ptr<WatchedFile<RevokedSerials>> revoked_;
};

absl::StatusOr<std::shared_ptr<KeyRing::Files>> KeyRing::Files::Open(const Params& params) {
  std::shared_ptr<Files> files(new Files(params));
  const auto report = [raw = files.get()](const std::string& sentence) { raw->Tell(sentence); };
  BANDANA_ASSIGN_OR_RETURN(
      files->authorities_,
      WatchedFile<Authorities>::Open(PathIn(params.folder, "ca.pem"), Authorities::Open, report));
  BANDANA_ASSIGN_OR_RETURN(
      files->own_, WatchedFile<Certificate>::Open(PathIn(params.folder, FileNameOf(params.self) + ".pem"),
                                                  FirstIn, report));
  const auto read = [report](const std::string& path) -> absl::StatusOr<RevokedSerials> {
    BANDANA_ASSIGN_OR_RETURN(RevokedSerials revoked, ReadRevoked(path));
    if (!revoked.problem.ok()) report(std::string(revoked.problem.message()));
    return revoked;
  };
  BANDANA_ASSIGN_OR_RETURN(files->revoked_,
                           WatchedFile<RevokedSerials>::Open(PathIn(params.folder, "revoked"), read, report));
  BANDANA_RETURN_IF_ERROR(files->revoked_->Current()->problem);
  BANDANA_RETURN_IF_ERROR(files->CheckOwn(params.self));
  files->serial_ = files->own_->Current()->serial();
  return files;
}

// A certificate whose private key is not there yet does not count: the operator is still copying.
absl::Time KeyRing::Files::in_use_since() {
  const std::shared_ptr<const Certificate> own = own_->Current();
  const std::lock_guard lock(mutex_);
  if (own->serial() != serial_) {
    const absl::StatusOr<std::shared_ptr<evp_pkey_st>> key = ReadPrivateKey(key_path_);
    if (key.ok() && own->Matches(**key)) {
      serial_ = own->serial();
      in_use_since_ = absl::Now() + refresh_ + absl::Seconds(1);  // gRPC looks at the files by itself
    }
  }
  return in_use_since_;
}

// Finds at the start, and at this end, what every other end would refuse later.
absl::Status KeyRing::Files::CheckOwn(const std::string& self) {
  const Certificate own = *own_->Current();
  const auto wrong = [&](std::string message) {
    return FileError(absl::StatusCode::kFailedPrecondition, certificate_path(), std::move(message));
  };
  BANDANA_ASSIGN_OR_RETURN(const std::shared_ptr<evp_pkey_st> key, ReadPrivateKey(key_path_));
  if (!own.Matches(*key)) {
    return wrong(fmt::format("the private key in {} is not that of this certificate", key_path_));
  }
  if (!own.id() || own.id()->party != self) {
    return wrong(fmt::format("this is {}, and not that of {}", own.Description(), self));
  }
  const absl::Status trusted = authorities_->Current()->Check(own, {}, Authorities::Use::kAny);
  if (!trusted.ok()) return wrong(std::string(trusted.message()));
  deployment_ = own.id()->deployment;
  const absl::Status valid = PartyOf(own).status();
  return valid.ok() ? valid : wrong(std::string(valid.message()));
}

/// Asks Files about each new connection. OpenSSL itself checks only that the other end has the private key:
/// it would refuse an expired certificate with a number and no sentence, and would not look at it again when
/// a session is resumed.
class KeyRing::Verifier : public grpc::experimental::ExternalCertificateVerifier {
 public:
  Verifier(std::shared_ptr<Files> files, std::string partner, Authorities::Use use)
      : files_(std::move(files)), partner_(std::move(partner)), use_(use) {}

  bool Verify(grpc::experimental::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> /*when_done_later*/, grpc::Status* result) override {
    const absl::Status status =
        files_
            ->Check(ToString(request->peer_cert()), ToString(request->peer_cert_full_chain()), partner_, use_)
            .status();
    if (!status.ok()) {
      const std::string message(status.message());
      *result = grpc::Status(static_cast<grpc::StatusCode>(status.code()), message);
      files_->Tell(partner_.empty() ? "a connection was refused: " + message
                                    : fmt::format("no connection to {}: {}", partner_, message));
    }
    return true;  // it is done
  }

  void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  const std::shared_ptr<Files> files_;
  const std::string partner_;
  const Authorities::Use use_;
};

KeyRing::KeyRing() : use_of_grpc_(std::make_shared<const UseOfGrpc>()) {}
KeyRing::~KeyRing() = default;

absl::StatusOr<std::shared_ptr<KeyRing>> KeyRing::Open(const Params& params) {
  if (!IsParty(params.self)) {
    return InvalidField(Part::kService, "self", params.self, std::string(kPartyNames));
  }
  if (!(params.refresh >= absl::Seconds(1) && params.refresh <= absl::Hours(1))) {
    return InvalidField(Part::kService, "refresh", absl::FormatDuration(params.refresh), "from 1s to 1h");
  }
  BANDANA_RETURN_IF_ERROR(RequireTls13());
  std::shared_ptr<KeyRing> ring(new KeyRing());
  BANDANA_ASSIGN_OR_RETURN(ring->files_, Files::Open(params));
  ring->provider_ = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      ring->files_->key_path(), ring->files_->certificate_path(), ring->files_->authorities_path(),
      static_cast<unsigned>(absl::ToInt64Seconds(params.refresh)));
  return ring;
}

std::shared_ptr<grpc::ServerCredentials> KeyRing::ForServer() const {
  grpc::experimental::TlsServerCredentialsOptions options(provider_);
  options.watch_identity_key_cert_pairs();
  options.watch_root_certs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
  options.set_certificate_verifier(grpc::experimental::ExternalCertificateVerifier::Create<Verifier>(
      files_, "", Authorities::Use::kClient));
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> KeyRing::ForChannel(const std::string& partner) const {
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(provider_);
  options.watch_identity_key_cert_pairs();
  options.watch_root_certs();
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(grpc::experimental::ExternalCertificateVerifier::Create<Verifier>(
      files_, partner, Authorities::Use::kServer));
  return grpc::experimental::TlsCredentials(options);
}

absl::StatusOr<std::string> KeyRing::PartyOf(const grpc::AuthContext& context) const {
  return CheckAgain(context, "", Authorities::Use::kClient);
}

absl::Status KeyRing::CheckPartner(const grpc::AuthContext& context, const std::string& partner) const {
  return CheckAgain(context, partner, Authorities::Use::kServer).status();
}

absl::StatusOr<std::string> KeyRing::CheckAgain(const grpc::AuthContext& context, const std::string& partner,
                                                Authorities::Use use) const {
  const std::string pem = FirstOf(context, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (pem.empty()) return absl::PermissionDeniedError("the other end has shown no certificate");
  return files_->Check(pem, FirstOf(context, GRPC_X509_PEM_CERT_CHAIN_PROPERTY_NAME), partner, use);
}

const std::string& KeyRing::deployment() const { return files_->deployment(); }

absl::Time KeyRing::expiry() const { return files_->expiry(); }

absl::Time KeyRing::in_use_since() const { return files_->in_use_since(); }

}  // namespace bandana::service
