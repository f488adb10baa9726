#include "bandana/service/roster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr char kAgent[] = "agent/";

}  // namespace

std::string Seated::name() const {
  return fmt::format("the agent of clients {}-{}", first.value, last.value);
}

std::string Roster::LinkOf(NodeId first_client) { return fmt::format("{}{}", kAgent, first_client.value); }

// The number is compared as text, too: under "agent/03" or "agent/ 3", a process could have many links.
absl::Status Roster::Admits(const std::string& link) const {
  std::uint32_t first = 0;
  if (absl::StartsWith(link, kAgent) && absl::SimpleAtoi(link.substr(sizeof(kAgent) - 1), &first) &&
      first >= 1 && first <= clients_ && LinkOf(NodeId{first}) == link) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      fmt::format("{} has no part in this run: its agents are agent/N, N being their first client of 1-{}",
                  link, clients_));
}

absl::StatusOr<Seated> Roster::Propose(const std::string& link, std::uint32_t first_client,
                                       std::uint64_t client_count) const {
  const std::uint64_t last = first_client + client_count - 1;
  if (!(client_count >= 1 && client_count <= static_cast<std::uint64_t>(clients_) && first_client >= 1 &&
        last <= static_cast<std::uint64_t>(clients_))) {
    return absl::InvalidArgumentError(
        client_count >= 1 && last >= client_count
            ? fmt::format("clients {}-{} are not within 1-{}", first_client, last, clients_)
            : fmt::format("an agent cannot hold {} clients that start with client {}", client_count,
                          first_client));
  }
  if (LinkOf(NodeId{first_client}) != link) {
    return absl::InvalidArgumentError(
        fmt::format("{} cannot hold clients that start with client {}", link, first_client));
  }
  const auto next = agents_.lower_bound(NodeId{first_client});
  if (next != agents_.end() && next->second.first.value <= last && next->second.link != link) {
    return absl::AlreadyExistsError(
        fmt::format("clients {}-{} overlap with {}", first_client, last, next->second.name()));
  }
  const Seated* known = Find(link);
  if (known != nullptr && known->last.value != last) {
    return absl::AlreadyExistsError(
        fmt::format("clients {}-{} overlap with {}", first_client, last, known->name()));
  }
  return Seated{
      .link = link, .first = NodeId{first_client}, .last = NodeId{static_cast<std::uint32_t>(last)}};
}

void Roster::Add(Seated agent) {
  const Count clients = agent.clients();
  const NodeId last = agent.last;
  if (agents_.try_emplace(last, std::move(agent)).second) covered_ += clients;
}

void Roster::Remove(const std::string& link) {
  if (const Seated* agent = Find(link)) {
    covered_ -= agent->clients();
    agents_.erase(agent->last);
  }
}

Seated* Roster::Find(NodeId client) {
  const auto it = agents_.lower_bound(client);
  return it != agents_.end() && it->second.Owns(client) ? &it->second : nullptr;
}

Seated* Roster::Find(const std::string& link) {
  std::uint32_t first = 0;
  if (!absl::StartsWith(link, kAgent) || !absl::SimpleAtoi(link.substr(sizeof(kAgent) - 1), &first))
    return nullptr;
  Seated* agent = Find(NodeId{first});
  return agent != nullptr && agent->link == link ? agent : nullptr;
}

std::string Roster::Gaps() const {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> gaps;
  Count next = 1;
  const auto add_gap_before = [&](Count first) {
    if (first > next && gaps.size() <= kShown) {
      gaps.push_back(gaps.size() == kShown ? "..." : fmt::format("{}-{}", next, first - 1));
    }
  };
  for (const auto& [last, agent] : agents_) {
    add_gap_before(agent.first.value);
    next = Count{last.value} + 1;
  }
  add_gap_before(clients_ + 1);
  return absl::StrJoin(gaps, ", ");
}

}  // namespace bandana::service
