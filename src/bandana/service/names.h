#pragma once

/// The names of the processes of a deployment, as they stand in certificates, on the wire and in stores. An
/// agent is "agent/N", N being its first client, and a node of a network is "peer/N".
namespace bandana::service {

inline constexpr char kServerName[] = "server";
inline constexpr char kShufflerName[] = "shuffler";

}  // namespace bandana::service
