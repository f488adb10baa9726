#include "bandana/service/mixer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "bandana/core/bit_source.h"
#include "bandana/core/status.h"
#include "bandana/service/protocol.h"
#include "bandana/service/sealed_counts.h"
#include "fmt/format.h"

namespace bandana::service {

RoleMixer::RoleMixer(Node& shuffler, Count clients, std::optional<InsecureSeed> seed)
    : shuffler_(shuffler),
      world_(seed, [this](NodeId, NodeId, Payload payload) { Send(std::move(payload)); }),
      context_(world_, Topology::ShuffledStar(clients).LinksOf(kShufflerNode)) {}

absl::Status RoleMixer::TakeMixRequest(const Message& mix_request) {
  return shuffler_.OnMessage(context_, mix_request);
}

absl::Status RoleMixer::CheckShare(const v1::Message& share) const {
  BANDANA_ASSIGN_OR_RETURN(const Message message, Decode(share));
  if (std::holds_alternative<Share>(message.body)) return absl::OkStatus();
  return absl::InvalidArgumentError("the message is not a share");
}

absl::Status RoleMixer::TakeShare(v1::Message& share) {
  BANDANA_ASSIGN_OR_RETURN(const Message message, Decode(share));
  return shuffler_.OnMessage(context_, message);
}

// Sends the mix. A mix of many reports takes several messages.
void RoleMixer::Send(Payload payload) {
  auto& mixed = std::get<Mixed>(payload);
  for (std::size_t begin = 0; begin < mixed.reports.size(); begin += kBatchMessages) {
    const std::size_t end = std::min(begin + kBatchMessages, mixed.reports.size());
    Mixed part{mixed.epoch, {}};
    for (std::size_t i = begin; i < end; ++i) part.reports.push_back(std::move(mixed.reports[i]));
    v1::Message message;
    Encode({kShufflerNode, kShufflerNode, 0, next_seq_++, std::move(part)}, message);
    message.mutable_mixed()->set_more(end < mixed.reports.size());
    SendMessage(std::move(message));
  }
}

absl::Status BitMixer::TakeMixRequest(const Message& mix_request) {
  return Mix(awaited_reports_.Call(std::get<std::shared_ptr<const MixRequest>>(mix_request.body)));
}

absl::Status BitMixer::CheckShare(const v1::Message& share) const {
  if (share.has_sealed_share()) return CheckSealed(share.sealed_share());
  return absl::InvalidArgumentError(
      "the message is not a sealed share, but the bits of this run must be sealed");
}

absl::Status BitMixer::TakeShare(v1::Message& share) {
  const Epoch epoch = share.sealed_share().epoch();
  return Mix(awaited_reports_.Take(epoch, NodeId{share.origin()}, TakeSealed(*share.mutable_sealed_share())));
}

absl::Status BitMixer::Mix(AwaitedReports<SealedReport>::Outcome outcome) {
  if (!outcome.ok()) return outcome.status();
  if (!outcome->has_value()) return absl::OkStatus();
  auto& [mix_request, reports] = **outcome;
  BANDANA_ASSIGN_OR_RETURN(const Count bits, route_.bits_per_coordinate(mix_request->query));
  BANDANA_RETURN_IF_ERROR(Check(**outcome, static_cast<std::size_t>(bits)));
  SecureSource entropy;
  CoinGen coin(entropy);
  for (std::size_t i = 0; i < mix_request->query.size(); ++i) {
    std::string pool;
    pool.reserve(static_cast<std::size_t>(bits) * kSealedBitBytes * reports.size());
    for (auto& [client, report] : reports) {
      pool += report.coordinates[i];
      report.coordinates[i] = std::string();
    }
    PermuteSealedBits(pool, coin);
    SendBits(mix_request->epoch, static_cast<std::uint32_t>(i), pool);
  }
  return absl::OkStatus();
}

absl::Status BitMixer::Check(const AwaitedReports<SealedReport>::Complete& complete, std::size_t bits) const {
  const std::size_t coordinates = complete.mix_request->query.size();
  const std::string& key = complete.reports.begin()->second.key_fingerprint;
  for (const auto& [client, report] : complete.reports) {
    const bool fits =
        report.coordinates.size() == coordinates &&
        std::all_of(report.coordinates.begin(), report.coordinates.end(),
                    [&](const std::string& sealed) { return sealed.size() == bits * kSealedBitBytes; });
    if (!fits) {
      return absl::AbortedError(
          fmt::format("client {} did not send {} sealed bits for each of {} coordinates in epoch {}",
                      client.value, bits, coordinates, complete.mix_request->epoch));
    }
    if (report.key_fingerprint != key) {
      return absl::FailedPreconditionError(fmt::format(
          "the bits of epoch {} are sealed to different keys, so that a server could tell them apart: the "
          "keys of clients {} and {} differ",
          complete.mix_request->epoch, client.value, complete.reports.begin()->first.value));
    }
  }
  return absl::OkStatus();
}

void BitMixer::SendBits(Epoch epoch, std::uint32_t coordinate, const std::string& bits) {
  constexpr std::size_t kPiece = kSealedBytes / kSealedBitBytes * kSealedBitBytes;
  for (std::size_t begin = 0; begin < bits.size(); begin += kPiece) {
    v1::Message message;
    message.set_from(kShufflerNode.value);
    message.set_origin(kShufflerNode.value);
    message.set_seq(next_seq_++);
    message.mutable_sealed_bits()->set_epoch(epoch);
    message.mutable_sealed_bits()->set_coordinate(coordinate);
    message.mutable_sealed_bits()->set_bits(bits.substr(begin, kPiece));
    SendMessage(std::move(message));
  }
}

}  // namespace bandana::service
