#include "bandana/service/party.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "absl/strings/str_replace.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr std::string_view kScheme = "bandana://";
constexpr std::size_t kDeploymentDigits = 32;

bool IsNumber(const std::string& text) {
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && parsed == end && (text == "0" || !text.starts_with('0'));
}

}  // namespace

bool IsParty(std::string_view text) {
  if (text == "server" || text == "shuffler" || text == "operator") return true;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view role = text.substr(0, slash);
  return (role == "agent" || role == "peer") && IsNumber(std::string(text.substr(slash + 1)));
}

bool IsDeployment(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kDeploymentDigits && std::all_of(text.begin(), text.end(), is_digit);
}

std::string ToUri(const PartyId& id) { return fmt::format("{}{}/{}", kScheme, id.deployment, id.party); }

std::optional<PartyId> PartyFromUri(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  const std::size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  PartyId id{.deployment = std::string(uri.substr(0, slash)), .party = std::string(uri.substr(slash + 1))};
  if (!IsDeployment(id.deployment) || !IsParty(id.party)) return std::nullopt;
  return id;
}

std::string FileNameOf(const std::string& party) { return absl::StrReplaceAll(party, {{"/", "-"}}); }

}  // namespace bandana::service
