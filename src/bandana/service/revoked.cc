#include "bandana/service/revoked.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "bandana/core/status.h"
#include "bandana/service/certificate.h"

namespace bandana::service {

absl::StatusOr<RevokedSerials> ReadRevoked(const std::string& path) {
  BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
  RevokedSerials revoked;
  int line = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++line;
    const std::string serial(absl::StripAsciiWhitespace(whole.substr(0, whole.find('#'))));
    if (serial.empty()) continue;
    std::optional<std::string> parsed = ParseSerial(serial);
    if (parsed) {
      revoked.serials.insert(*std::move(parsed));
    } else if (revoked.problem.ok()) {
      revoked.problem = InvalidInput({.message = "not the serial of a certificate",
                                      .file = path,
                                      .line = line,
                                      .value = serial,
                                      .accepted = "hexadecimal digits, as bandana keys show prints them"});
    }
  }
  return revoked;
}

}  // namespace bandana::service
