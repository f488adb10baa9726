#include "bandana/service/address.h"

#include <arpa/inet.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bandana/core/status.h"

namespace bandana::service {
namespace {

bool IsLoopback(const std::string& host, bool bracketed) {
  in6_addr six;
  if (bracketed) return inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
  in_addr four;
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  return host == "localhost";
}

}  // namespace

std::string Address::ToString() const {
  const bool six = host.find(':') != std::string::npos;
  return six ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<Address> ParseLoopback(const std::string& field, const std::string& text) {
  Address address;
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string::npos &&
                        absl::SimpleAtoi(text.substr(colon + 1), &address.port) && address.port >= 0 &&
                        address.port <= 65535;
  if (!has_port) return InvalidField(Part::kService, field, text, "host:port, such as 127.0.0.1:50051");
  address.host = text.substr(0, colon);
  const bool bracketed = address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  if (!IsLoopback(address.host, bracketed)) {
    return InvalidField(
        Part::kService,
        {.message = "connections are not encrypted yet, so reports must not leave this machine",
         .key = field,
         .value = text,
         .accepted = "127.x.x.x:port, localhost:port or [::1]:port"});
  }
  return address;
}

}  // namespace bandana::service
