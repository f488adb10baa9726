#include "bandana/cli/role_limits.h"

#include <string>

#include "bandana/core/quantity.h"

namespace bandana::cli {

// The spec's reader has checked all values.
service::Limits LimitsOf(const lab::Settings& service) {
  service::Limits limits;
  const auto if_given = [&](const std::string& name, const auto& set) {
    const std::string key = "service.limits." + name;
    if (service.Has(key)) set(key);
  };
  const auto bytes = [&](const std::string& name, auto& field) {
    if_given(name, [&](const std::string& key) {
      field = static_cast<std::decay_t<decltype(field)>>(*ParseBytes(service.Text(key)));
    });
  };
  const auto count = [&](const std::string& name, std::size_t& field) {
    if_given(name, [&](const std::string& key) { field = static_cast<std::size_t>(service.Integer(key)); });
  };
  const auto rate = [&](const std::string& name, double& field) {
    if_given(name, [&](const std::string& key) { field = service.Number(key); });
  };
  bytes("message", limits.message);
  count("streams", limits.streams);
  count("streams_per_party", limits.streams_per_party);
  rate("openings", limits.openings);
  rate("calls", limits.calls);
  bytes("bytes", limits.bytes);
  bytes("waiting", limits.waiting);
  if_given("first_message",
           [&](const std::string& key) { limits.first_message = *ParseTime(service.Text(key)); });
  return limits;
}

}  // namespace bandana::cli
