#include "bandana/service/mixed_inbox.h"

#include <algorithm>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/codec.h"
#include "fmt/format.h"

namespace bandana::service {

MixedInbox::MixedInbox(const Route& route) : route_(route) {
  if (route.sealed()) opener_.emplace();
}

std::string MixedInbox::sealing_key() const { return opener_.has_value() ? opener_->public_key() : ""; }

absl::Status MixedInbox::Expect(std::shared_ptr<const MixRequest> mix_request) {
  const std::lock_guard lock(mutex_);
  if (route_.sealed()) {
    BANDANA_ASSIGN_OR_RETURN(const Count bits, route_.bits_per_coordinate(mix_request->query));
    bits_a_coordinate_ = bits * static_cast<Count>(mix_request->clients.size());
    ones_.assign(mix_request->query.size(), 0);
    opened_.assign(mix_request->query.size(), 0);
  }
  mixed_ = {mix_request->epoch, {}};
  mix_request_ = std::move(mix_request);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Mixed>> MixedInbox::Take(const v1::Message& message) {
  if (message.from() != kShufflerNode.value || message.origin() != kShufflerNode.value) {
    return absl::PermissionDeniedError("the shuffler may send messages only in its own name");
  }
  const std::lock_guard lock(mutex_);
  const Epoch epoch = message.has_sealed_bits() ? message.sealed_bits().epoch() : message.mixed().epoch();
  if (mix_request_ == nullptr || mix_request_->epoch != epoch) {
    return absl::InvalidArgumentError(fmt::format("nobody asked for a mix of epoch {}", epoch));
  }
  if (!route_.sealed()) return TakePart(message);
  if (message.has_sealed_bits()) return TakeBits(message.sealed_bits());
  return absl::InvalidArgumentError("the mix is not sealed, but the bits of this run must be sealed");
}

absl::StatusOr<std::optional<Mixed>> MixedInbox::TakePart(const v1::Message& message) {
  absl::StatusOr<Message> part = Decode(message);
  if (!part.ok()) return part.status();
  auto* reports = std::get_if<Mixed>(&part->body);
  if (reports == nullptr) return absl::InvalidArgumentError("the message is not a mix");
  mixed_.reports.insert(mixed_.reports.end(), std::make_move_iterator(reports->reports.begin()),
                        std::make_move_iterator(reports->reports.end()));
  if (mixed_.reports.size() > mix_request_->clients.size()) {
    return absl::InvalidArgumentError(fmt::format("the mix has more than {} reports in epoch {}",
                                                  mix_request_->clients.size(), mix_request_->epoch));
  }
  if (message.mixed().more()) return std::nullopt;
  mix_request_ = nullptr;
  return std::move(mixed_);
}

absl::StatusOr<std::optional<Mixed>> MixedInbox::TakeBits(const v1::SealedBits& sealed) {
  if (sealed.coordinate() >= ones_.size()) {
    return absl::InvalidArgumentError(
        fmt::format("the message has sealed bits of coordinate {}, but there are only {} coordinates",
                    sealed.coordinate(), ones_.size()));
  }
  Count& opened = opened_[sealed.coordinate()];
  opened += static_cast<Count>(sealed.bits().size() / kSealedBitBytes);
  if (sealed.bits().empty() || opened > bits_a_coordinate_) {
    return absl::InvalidArgumentError(fmt::format("there must be {} sealed bits of coordinate {} in epoch {}",
                                                  bits_a_coordinate_, sealed.coordinate(), sealed.epoch()));
  }
  BANDANA_ASSIGN_OR_RETURN(const Count ones,
                           opener_->Ones(sealed.epoch(), sealed.coordinate(), sealed.bits()));
  ones_[sealed.coordinate()] += ones;
  const auto complete = [&](Count count) { return count == bits_a_coordinate_; };
  if (!std::all_of(opened_.begin(), opened_.end(), complete)) return std::nullopt;
  mixed_.reports.push_back(Wire::FromUnits({}, std::move(ones_)));
  mix_request_ = nullptr;
  return std::move(mixed_);
}

}  // namespace bandana::service
