#pragma once

#include "absl/status/status.h"

namespace bandana::service {

/// Makes this process refuse every version of TLS before 1.3, in all connections that use OpenSSL, from now
/// on until it ends. gRPC accepts TLS 1.2 and has no option against it (its versions before 1.57). Fails with
/// kInternal if OpenSSL does not do as it should.
absl::Status RequireTls13();

}  // namespace bandana::service
