#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/accounting/account.h"

/// The JSON of `bandana account` and of bandana.Accountant in Python.
namespace bandana::lab {

inline constexpr char kAccountProof[] = "docs/proofs/accounting.md";

struct AccountRequest {
  std::vector<Event> events;
  AccountTarget target;
};

/// Reads a file. Fails if it is not JSON, or if an object has a key twice.
absl::StatusOr<Json> ReadAccountFile(const std::string& file);

/// Reads a list of events, or an object with "events" and "delta" or "epsilon". Errors name fields, such as
/// "events[3].sigma".
absl::StatusOr<AccountRequest> ReadAccountRequest(const Json& json);

/// Reads one event. In errors, `prefix` stands before the names of fields.
absl::StatusOr<Event> ReadEvent(const Json& json, const std::string& prefix);

Json ToJson(const AccountRequest& request, const AccountReport& report);

}  // namespace bandana::lab
