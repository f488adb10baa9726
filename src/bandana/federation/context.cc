#include "bandana/federation/context.h"

namespace bandana {

void Context::DealOut(const std::shared_ptr<const Plan>& plan, NodeId first, const Order& order) {
  const std::vector<std::uint32_t> clients = order == nullptr ? std::vector<std::uint32_t>{} : order();
  std::uint32_t place = 0;
  for (std::size_t part = 0; part < plan->query.dealt.size(); ++part) {
    for (Count i = 0; i < plan->query.dealt[part]; ++i, ++place) {
      const NodeId client{first.value + (clients.empty() ? place : clients[place])};
      Send(client, Task{plan, static_cast<int>(part)});
    }
  }
}

}  // namespace bandana
