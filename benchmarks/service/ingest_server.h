#pragma once

#include <string>

#include "bandana/core/ids.h"

/// The processes to which ingest_bench sends: it starts itself again as one of them.
namespace bandana::service {

/// One phase of a run: `clients` clients report `coordinates` numbers each, and the noisy mean is released.
struct IngestParams {
  std::string folder;  ///< has keys/, and gets the store
  Count clients = 0;
  int coordinates = 0;
};

/// The server's answer to what it is sent.
enum class RawAnswer {
  kAcknowledge,  ///< one short frame for each message
  kEcho,         ///< the message itself
};

inline constexpr char kIngestDigest[] = "ingest";

/// Serves one phase with mutual TLS and a store in a file, or goes on with it. Prints the address once it
/// listens. Returns the exit code.
int ServeIngest(const IngestParams& params);

/// Answers frames with mutual TLS until its parent ends. Prints the address first.
int ServeRaw(const std::string& folder, RawAnswer answer);

}  // namespace bandana::service
