#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "bandana/federation/messages.h"
#include "proto/federation.pb.h"

/// Encodes and decodes the messages of a network with arms, for service/codec.h. `nodes` is the number of
/// nodes in the network.
namespace bandana::service {

void EncodeBody(const Advert& advert, v1::Advert& out);
void EncodeBody(const Request& request, v1::Request& out);
void EncodeBody(const Tallies& tallies, v1::Tallies& out);
void EncodeBody(const Collected& collected, v1::Collected& out);
void EncodeBody(const ArmPlan& plan, v1::ArmPlan& out);

absl::StatusOr<Advert> DecodeBody(const v1::Advert& in, Count nodes);
absl::StatusOr<Request> DecodeBody(const v1::Request& in, Count nodes);
absl::StatusOr<Tallies> DecodeBody(const v1::Tallies& in, Count nodes);
absl::StatusOr<Collected> DecodeBody(const v1::Collected& in, Count nodes);
absl::StatusOr<std::shared_ptr<const ArmPlan>> DecodeBody(const v1::ArmPlan& in, Count nodes);

}  // namespace bandana::service
