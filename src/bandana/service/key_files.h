#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

/// Makes, replaces and revokes the keys of a deployment, in the folder of whoever runs its CA. docs/keys.md
/// says what each file is. Files are written whole: after a crash a file is either as it was or as it shall
/// be. No file is replaced except by Rotate and Revoke.
namespace bandana::service {

struct IssuedCertificate {
  std::string party;   ///< "server", "agent/3"
  std::string serial;  ///< the certificate's number, in hexadecimal digits
  absl::Time not_before;
  absl::Time not_after;
  bool revoked = false;
};

struct DeploymentOptions {
  std::string deployment = "";  ///< 32 hexadecimal digits; if empty, 16 random bytes are drawn
  absl::Time now = absl::Now();
};

/// Makes a CA that is valid for ten years, and an empty list of revoked certificates: ca.pem, ca.key and
/// `revoked`. Makes the folder if there is none. Returns the deployment's name. Fails with kAlreadyExists if
/// one of the files is there.
absl::StatusOr<std::string> MakeDeployment(const std::string& folder, const DeploymentOptions& options = {});

struct IssueOptions {
  int days = 90;  ///< how long the certificate is valid: from 1 to 3650

  /// A folder for the files of the party, to be carried to its machine, with copies of ca.pem and `revoked`.
  /// The private keys are then in no other place. If it is empty, the files are written into the CA's folder.
  std::string out = "";
  absl::Time now = absl::Now();
};

/// Makes a party's certificate with its private key, and its identity (store/identity.h) unless that is there
/// already: agent-3.pem, agent-3.key, agent-3.identity and agent-3.identity.pub. The server's files have one
/// more, application.key: the text that an application shows to the server. Fails with kAlreadyExists if
/// one of the files is there, or if the party has a certificate that is neither revoked nor expired.
absl::StatusOr<IssuedCertificate> Issue(const std::string& folder, const std::string& party,
                                        const IssueOptions& options = {});

/// Replaces a party's certificate and private key by new ones. The old ones stay valid until they expire or
/// are revoked; the identity stays. Fails with kNotFound if the party was never issued one, or if its files
/// are neither in the CA's folder nor is there an `out`.
absl::StatusOr<IssuedCertificate> Rotate(const std::string& folder, const std::string& party,
                                         const IssueOptions& options = {});

/// Adds certificates to the list `revoked`: all of a party, or the one with this serial. Returns those that
/// were added. The list takes effect on each machine to which it is copied.
absl::StatusOr<std::vector<IssuedCertificate>> Revoke(const std::string& folder,
                                                      const std::string& party_or_serial);

/// Returns all certificates that the CA has issued, by party and then by time.
absl::StatusOr<std::vector<IssuedCertificate>> Show(const std::string& folder);

/// Returns the name of the deployment whose CA is in this folder.
absl::StatusOr<std::string> DeploymentOf(const std::string& folder);

}  // namespace bandana::service
