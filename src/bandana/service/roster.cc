#include "bandana/service/roster.h"

#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "fmt/format.h"

namespace bandana::service {

std::string AgentLink::name() const {
  if (is_shuffler()) return fmt::format("the shuffler ({})", peer);
  return fmt::format("the agent of clients {}-{} ({})", first.value, last.value, peer);
}

absl::Status Roster::Add(const std::shared_ptr<AgentLink>& link) {
  if (!(link->first.value >= 1 && link->first <= link->last && link->last.value <= clients_)) {
    return absl::InvalidArgumentError(
        fmt::format("clients {}-{} are not within 1-{}", link->first.value, link->last.value, clients_));
  }
  const auto next = links_.lower_bound(link->first);
  if (next != links_.end() && next->second->first <= link->last) {
    return absl::AlreadyExistsError(fmt::format("clients {}-{} overlap with {}", link->first.value,
                                                link->last.value, next->second->name()));
  }
  covered_ += link->clients();
  links_.emplace_hint(next, link->last, link);
  return absl::OkStatus();
}

void Roster::Remove(const AgentLink& link) {
  if (links_.erase(link.last) > 0) covered_ -= link.clients();
}

AgentLink* Roster::Find(NodeId client) const {
  const auto it = links_.lower_bound(client);
  return it != links_.end() && it->second->Owns(client) ? it->second.get() : nullptr;
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
  for (const auto& [last, link] : links_) {
    add_gap_before(link->first.value);
    next = Count{last.value} + 1;
  }
  add_gap_before(clients_ + 1);
  return absl::StrJoin(gaps, ", ");
}

}  // namespace bandana::service
