#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bandana/service/certificate.h"

namespace grpc {
class AuthContext;
class ChannelCredentials;
class ServerCredentials;
namespace experimental {
class FileWatcherCertificateProvider;
}
}  // namespace grpc

namespace bandana::service {

/// One party's keys, and what it needs to know the others: TLS 1.3 in which both ends show a certificate. It
/// reads four files of a folder (docs/keys.md): ca.pem, which may hold several CAs; the party's own
/// certificate and private key, such as agent-3.pem and agent-3.key; and `revoked`. Each is read again when
/// it changes, so that nothing needs a restart: new connections see new files within `refresh`. A connection
/// that is open is checked again by whoever asks PartyOf or CheckPartner.
///
/// A certificate names its party by a URI, bandana://DEPLOYMENT/agent/3. It is refused if it was not signed
/// by one of the CAs, has expired, is not valid yet, is of another deployment, names no party or several, or
/// was revoked. Host names are not compared: the URI says who is at the other end, wherever that is.
///
/// From the first KeyRing on, the whole process speaks TLS 1.3 and nothing older.
class KeyRing {
 public:
  struct Params {
    std::string folder;
    std::string self;  ///< this party: "server", "shuffler", "agent/3" or "peer/3"

    /// How soon new connections use a new certificate, key or CA. At least a second.
    absl::Duration refresh = absl::Seconds(5);

    /// Is told, in one sentence, why this end has refused a connection, or that a file cannot be read again.
    /// TLS 1.3 does not tell the refused end, so this may be the only place that says it. It is called from
    /// gRPC's threads, for as long as any of the credentials live. By default the sentence goes to stderr.
    std::function<void(const std::string&)> report = nullptr;
  };

  /// Fails with kNotFound or kUnavailable if a file cannot be read; with kFailedPrecondition if others than
  /// its owner may read the private key, or if the own certificate would be refused by others; with
  /// kInvalidArgument if a file is not what it should be.
  static absl::StatusOr<std::shared_ptr<KeyRing>> Open(const Params& params);
  ~KeyRing();

  /// Returns credentials with which a server demands a certificate of each client. Who the client is, PartyOf
  /// says in the call: the server decides who may call what.
  std::shared_ptr<grpc::ServerCredentials> ForServer() const;

  /// Returns credentials for a connection to this party and no other, such as "server" or "peer/3". Set
  /// kTlsName (party.h) as the channel's target name.
  std::shared_ptr<grpc::ChannelCredentials> ForChannel(const std::string& partner) const;

  /// Returns the party that has made a call, such as "agent/3". Fails with kPermissionDenied if it has shown
  /// no certificate, or one of another deployment, or without a party, or one that was revoked; and with
  /// kUnauthenticated if no CA has signed it or it has expired. All of this may have happened since the
  /// connection was made.
  absl::StatusOr<std::string> PartyOf(const grpc::AuthContext& context) const;

  /// Returns OK if the party that this process has called is still the one that it wanted, and PartyOf's
  /// errors if not.
  absl::Status CheckPartner(const grpc::AuthContext& context, const std::string& partner) const;

  /// Returns when the own certificate that is used now came into use: later connections show it. It is
  /// in the past for a process whose certificate was never replaced.
  absl::Time in_use_since() const;

  /// Returns the deployment in the own certificate: 32 hexadecimal digits.
  const std::string& deployment() const;

  /// Returns when the own certificate ends, which is another time after it was rotated.
  absl::Time expiry() const;

 private:
  class Files;
  class Verifier;
  class UseOfGrpc;

  KeyRing();
  absl::StatusOr<std::string> CheckAgain(const grpc::AuthContext& context, const std::string& partner,
                                         Authorities::Use use) const;

  std::shared_ptr<const UseOfGrpc> use_of_grpc_;
  std::shared_ptr<Files> files_;
  std::shared_ptr<grpc::experimental::FileWatcherCertificateProvider> provider_;
};

}  // namespace bandana::service
