#include "bandana/service/agent_session.h"

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::service {

absl::Status ValidateAgent(const AgentParams& params) {
  constexpr Count kMostClients = 0xfffffffe;  // the range of NodeId
  const Count last = Count{params.first_client.value} + params.clients - 1;
  if (!(params.first_client.value >= 1 && params.clients >= 1 && last <= kMostClients)) {
    return InvalidField(Part::kService, "clients", fmt::format("{}-{}", params.first_client.value, last),
                        fmt::format("first-last, within 1-{}", kMostClients));
  }
  if (!(params.connect_timeout > absl::ZeroDuration())) {
    return InvalidField(Part::kService, "connect_timeout", absl::FormatDuration(params.connect_timeout),
                        "a time > 0");
  }
  return absl::OkStatus();
}

v1::Hello HelloOf(const AgentParams& params) {
  v1::Hello hello;
  hello.set_first_client(params.first_client.value);
  hello.set_client_count(static_cast<std::uint64_t>(params.clients));
  hello.set_spec_digest(params.spec_digest);
  return hello;
}

absl::Status EndedBy(const std::string& host, const v1::Stop& stop) {
  if (stop.finished()) return absl::OkStatus();
  const std::string why = fmt::format("the {} ended the run: {}", host, stop.reason());
  return stop.over_budget() ? absl::ResourceExhaustedError(why) : absl::UnavailableError(why);
}

}  // namespace bandana::service
