#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/federation/federation.h"
#include "bandana/federation/release.h"
#include "bandana/federation/shuffler.h"
#include "bandana/privacy/privatizer.h"
#include "bandana/privacy/shuffle_means.h"

/// Federations of a server and its clients, with a shuffler between them if the mechanism has one.
namespace bandana {

/// Returns the number of bits per coordinate that clients seal one by one, if the mechanism sends single
/// bits.
template <Privatizer P>
BitsOfQuery SealedBitsOf(const std::shared_ptr<const P>& privatizer) {
  if constexpr (std::same_as<P, ShuffleSumMean>) {
    if (privatizer->transport() == Transport::kBits) {
      return [privatizer](const MeanQuery& query) -> absl::StatusOr<Count> {
        BANDANA_ASSIGN_OR_RETURN(const ShuffleSumSetting setting, privatizer->SettingFor(query));
        return setting.bits_per_coordinate;
      };
    }
  }
  return nullptr;
}

/// Assembles the federation of a mean mechanism P. `make_server(privatizer)` returns an absl::StatusOr of the
/// server; it is called once here, so that a federation which is returned can run. Clients are made from the
/// privatizer alone.
template <template <class> class Client, Privatizer P, class MakeServer>
absl::StatusOr<Federation> AssembleStar(P privatizer, Count clients, const MakeServer& make_server) {
  const auto shared = std::make_shared<const P>(std::move(privatizer));
  BANDANA_RETURN_IF_ERROR(make_server(*shared).status());
  SlotRoles roles;
  roles.server = [shared, make_server]() -> std::unique_ptr<Node> {
    auto server = make_server(*shared);
    return std::make_unique<typename decltype(server)::value_type>(*std::move(server));
  };
  roles.client = [shared](NodeId) { return std::make_unique<Client<P>>(*shared); };
  if constexpr (ShufflePrivatizer<P>) {
    roles.shuffler = [shared] { return std::make_unique<Shuffler<P>>(*shared); };
  }
  if constexpr (DealingPrivatizer<P>) {
    roles.group = [shared](Context& context, const Plan& plan, int part, NodeId first,
                           const Raw<RewardSums>& rewards) {
      return Release::FromGroup(context, *shared, plan.epoch, plan.query, part, first, rewards);
    };
  }
  roles.report_bits = [shared](const MeanQuery& query) { return shared->ReportBits(query); };
  roles.sealed_bits = SealedBitsOf(shared);
  return Federation{.roles = std::move(roles),
                    .topology = TopologyFor<P>(clients),
                    .budget = shared->guarantee(),
                    .charges_clients = P::kChargesClient,
                    .charges_server = P::kChargesAnalyzer,
                    .claims = shared->claims()};
}

/// Assembles a federation whose server is made by Server<P>::Create(params, privatizer).
template <template <class> class Server, template <class> class Client, class Params, Privatizer P>
absl::StatusOr<Federation> StarFederation(const Params& params, P privatizer, Count clients) {
  return AssembleStar<Client>(std::move(privatizer), clients,
                              [params](const P& own) { return Server<P>::Create(params, own); });
}

}  // namespace bandana
