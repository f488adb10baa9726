#include "bandana/service/mixed_inbox.h"

#include <algorithm>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/codec.h"
#include "fmt/format.h"

namespace bandana::service {

void MixedInbox::Begin(const store::Key& secret) {
  const std::lock_guard lock(opening_);
  if (route_.sealed()) opener_.emplace(store::DeriveKey(secret, "sealing key"));
}

std::string MixedInbox::sealing_key() const {
  const std::lock_guard lock(opening_);
  return opener_.has_value() ? opener_->public_key() : "";
}

absl::StatusOr<MixedInbox::Piece> MixedInbox::Read(const v1::Message& message) const {
  if (message.from() != kShufflerNode.value || message.origin() != kShufflerNode.value) {
    return absl::PermissionDeniedError("the shuffler may send messages only in its own name");
  }
  Piece piece;
  if (!route_.sealed()) {
    BANDANA_ASSIGN_OR_RETURN(Message part, Decode(message));
    auto* mixed = std::get_if<Mixed>(&part.body);
    if (mixed == nullptr) return absl::InvalidArgumentError("the message is not a mix");
    piece.epoch = mixed->epoch;
    piece.part = std::move(*mixed);
    piece.more = message.mixed().more();
    return piece;
  }
  if (!message.has_sealed_bits()) {
    return absl::InvalidArgumentError("the mix is not sealed, but the bits of this run must be sealed");
  }
  const v1::SealedBits& sealed = message.sealed_bits();
  piece.epoch = sealed.epoch();
  piece.coordinate = sealed.coordinate();
  piece.bits = static_cast<Count>(sealed.bits().size() / kSealedBitBytes);
  const std::lock_guard lock(opening_);
  BANDANA_ASSIGN_OR_RETURN(piece.ones, opener_->Ones(piece.epoch, piece.coordinate, sealed.bits()));
  return piece;
}

absl::Status MixedInbox::Expect(std::shared_ptr<const MixRequest> mix_request) {
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

absl::StatusOr<std::optional<Mixed>> MixedInbox::Take(Piece piece) {
  if (mix_request_ == nullptr || mix_request_->epoch != piece.epoch) {
    return absl::InvalidArgumentError(fmt::format("nobody asked for a mix of epoch {}", piece.epoch));
  }
  return route_.sealed() ? TakeBits(piece) : TakePart(std::move(piece));
}

absl::StatusOr<std::optional<Mixed>> MixedInbox::TakePart(Piece piece) {
  std::vector<Report>& reports = piece.part.reports;
  mixed_.reports.insert(mixed_.reports.end(), std::make_move_iterator(reports.begin()),
                        std::make_move_iterator(reports.end()));
  if (mixed_.reports.size() > mix_request_->clients.size()) {
    return absl::InvalidArgumentError(fmt::format("the mix has more than {} reports in epoch {}",
                                                  mix_request_->clients.size(), mix_request_->epoch));
  }
  if (piece.more) return std::nullopt;
  mix_request_ = nullptr;
  return std::exchange(mixed_, {});
}

absl::StatusOr<std::optional<Mixed>> MixedInbox::TakeBits(const Piece& piece) {
  if (piece.coordinate >= ones_.size()) {
    return absl::InvalidArgumentError(
        fmt::format("the message has sealed bits of coordinate {}, but there are only {} coordinates",
                    piece.coordinate, ones_.size()));
  }
  Count& opened = opened_[piece.coordinate];
  opened += piece.bits;
  if (piece.bits == 0 || opened > bits_a_coordinate_) {
    return absl::InvalidArgumentError(fmt::format("there must be {} sealed bits of coordinate {} in epoch {}",
                                                  bits_a_coordinate_, piece.coordinate, piece.epoch));
  }
  ones_[piece.coordinate] += piece.ones;
  const auto complete = [&](Count count) { return count == bits_a_coordinate_; };
  if (!std::all_of(opened_.begin(), opened_.end(), complete)) return std::nullopt;
  mixed_.reports.push_back(Wire::FromUnits({}, std::exchange(ones_, {})));
  mix_request_ = nullptr;
  return std::exchange(mixed_, {});
}

}  // namespace bandana::service
