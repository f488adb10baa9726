#include "bandana/service/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bandana/core/status.h"

namespace bandana::service {
namespace {

bool IsAllDigits(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

// An address before anybody has looked at its host.
struct HostAndPort {
  Address address;
  bool bracketed = false;
};

std::optional<HostAndPort> Split(const std::string& text) {
  HostAndPort split;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string port = text.substr(colon + 1);
  const bool has_port = IsAllDigits(port) && absl::SimpleAtoi(port, &split.address.port) &&
                        split.address.port >= 0 && split.address.port <= 65535;
  if (!has_port) return std::nullopt;
  std::string& host = split.address.host;
  host = text.substr(0, colon);
  split.bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (split.bracketed) host = host.substr(1, host.size() - 2);
  return split;
}

bool IsLoopback(const std::string& host, bool bracketed) {
  in6_addr six;
  if (bracketed) return inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
  in_addr four;
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  return host == "localhost";
}

// Returns whether this is a name that DNS or /etc/hosts may know. A name whose last part is a number would be
// an IPv4 address that somebody has mistyped.
bool IsHostName(const std::string& host) {
  constexpr std::size_t kMostLetters = 253;
  constexpr std::size_t kMostLettersOfPart = 63;
  if (host.empty() || host.size() > kMostLetters) return false;
  const std::vector<std::string> parts = absl::StrSplit(host, '.');
  for (const std::string& part : parts) {
    const bool fits = !part.empty() && part.size() <= kMostLettersOfPart && part.front() != '-' &&
                      part.back() != '-' && std::all_of(part.begin(), part.end(), [](char c) {
                        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
                      });
    if (!fits) return false;
  }
  return !IsAllDigits(parts.back());
}

bool IsHost(const std::string& host, bool bracketed) {
  in6_addr six;
  if (bracketed) return inet_pton(AF_INET6, host.c_str(), &six) == 1;
  in_addr four;
  return inet_pton(AF_INET, host.c_str(), &four) == 1 || IsHostName(host);
}

}  // namespace

std::string Address::ToString() const {
  const bool six = host.find(':') != std::string::npos;
  return six ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<Address> ParseAddress(const std::string& field, const std::string& text) {
  std::optional<HostAndPort> split = Split(text);
  if (split && IsHost(split->address.host, split->bracketed)) return std::move(split->address);
  return InvalidField(Part::kService, field, text,
                      "host:port, such as learn.example.org:7443, 10.0.0.7:7443 or [2001:db8::7]:7443");
}

absl::StatusOr<Address> ParseLoopback(const std::string& field, const std::string& text) {
  std::optional<HostAndPort> split = Split(text);
  if (!split) return InvalidField(Part::kService, field, text, "host:port, such as 127.0.0.1:50051");
  if (IsLoopback(split->address.host, split->bracketed)) return std::move(split->address);
  return InvalidField(Part::kService,
                      {.message = "connections are not encrypted, so reports must not leave this machine: "
                                  "insecure = true is for loopback only",
                       .key = field,
                       .value = text,
                       .accepted = "127.x.x.x:port, localhost:port or [::1]:port"});
}

}  // namespace bandana::service
