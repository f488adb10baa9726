#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

/// How the parties of a deployment are named: in commands, in the names of their files and in certificates.
namespace bandana::service {

/// A party of one deployment.
struct PartyId {
  std::string deployment;  ///< 32 hexadecimal digits, in lower case
  std::string party;       ///< "server", "shuffler", "operator", "agent/3" or "peer/3"

  bool operator==(const PartyId&) const = default;
};

/// The names that CheckParty accepts, for errors and help texts.
inline constexpr std::string_view kPartyNames =
    "server, shuffler, operator, agent/N with the number of its first client, or peer/N with the number of "
    "its "
    "node";

/// Returns whether a text is the name of a party. There is one way to write a number: agent/03 is no name.
bool IsParty(std::string_view text);

/// Returns whether a text is the name of a deployment: 32 hexadecimal digits, in lower case.
bool IsDeployment(std::string_view text);

/// Returns the name that a certificate carries: "bandana://DEPLOYMENT/agent/3".
std::string ToUri(const PartyId& id);

/// Reads such a name. Returns nothing for any other text, however similar.
std::optional<PartyId> PartyFromUri(std::string_view uri);

/// Returns how the names of a party's files begin: "agent-3".
std::string FileNameOf(const std::string& party);

/// The name by which a client should ask for the other end of a TLS connection, whoever that is
/// (grpc::ChannelArguments::SetSslTargetNameOverride). No machine can have it. Each certificate has it beside
/// the URI, because gRPC's server writes an error to stderr for every client that asks for a name which its
/// certificate lacks. Nothing else depends on it.
inline constexpr char kTlsName[] = "party.bandana.invalid";

}  // namespace bandana::service
