#include "bandana/federation/cohort.h"

#include <algorithm>

#include "bandana/core/byte_string.h"
#include "bandana/core/sha256.h"

namespace bandana {

std::string CohortOf(std::vector<NodeId> clients) {
  std::sort(clients.begin(), clients.end());
  ByteString bytes;
  for (const NodeId client : clients) bytes.Add(std::uint64_t{client.value});
  return Sha256(bytes.Take());
}

std::string CohortOf(NodeId first, Count count) {
  ByteString bytes;
  bytes.Add(std::string("range")).Add(std::uint64_t{first.value}).Add(count);
  return Sha256(bytes.Take());
}

}  // namespace bandana
