#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "bandana/core/ids.h"
#include "bandana/core/sha256.h"
#include "bandana/service/names.h"
#include "bandana/service/sealed_bit.h"
#include "bandana/service/sealed_counts.h"
#include "bandana/store/seal.h"
#include "fmt/format.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// Who pays for a release, and so must have its line in the ledger before anything leaves that follows from
/// it.
enum class Pays { kNobody, kServer, kEachClient };

/// Reads all messages of a server, its agents and a shuffler, as an adversary who sees every network would,
/// and checks what they say. Each function returns what is wrong; empty if nothing is.
class StarWatch {
 public:
  /// Returns whether a process has a durable line for a release.
  using IsCharged = std::function<bool(const std::string& process, NodeId node, Epoch epoch)>;

  explicit StarWatch(Pays pays) : pays_(pays) {}

  /// Lets the watch open sealed bits. `secret` is that of the server's run.
  void SetSecret(const store::Key& secret) { secret_ = secret; }

  /// Returns a message without what may differ each time that it is sent: a sealed bit has another ciphertext
  /// each time.
  static std::string Spelled(const std::string& from, const std::string& body) {
    v1::FromAgent message;
    if (!from.starts_with("agent/") || !message.ParseFromString(body) || !message.has_shares()) return body;
    bool is_sealed = false;
    for (v1::Message& share : *message.mutable_shares()->mutable_messages()) {
      is_sealed = is_sealed || share.has_sealed_share();
      for (std::string& bits : *share.mutable_sealed_share()->mutable_coordinates()) {
        bits = std::to_string(bits.size());
      }
    }
    return is_sealed ? message.SerializeAsString() : body;
  }

  std::string OnMessage(const std::string& from, const std::string& body, bool is_new,
                        const IsCharged& is_charged) {
    if (from == kServerName) return OnServer(body, is_charged);
    v1::FromAgent message;
    if (!message.ParseFromString(body)) return fmt::format("{} has sent something that is no message", from);
    for (const v1::Message& each : message.shares().messages()) {
      std::string wrong;
      if (from != kShufflerName) {
        wrong = OnShare(from, each, is_charged);
      } else if (is_new) {
        wrong = each.has_mixed() ? OnMixed(each.mixed()) : OnSealedBits(each.sealed_bits());
      }
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  struct Answer {
    std::string digest;  // of the share, without ciphertexts
    std::vector<std::int64_t> counts;
    std::vector<std::string> sealed;  // by coordinate, as it was first sent
  };
  struct Batch {
    std::vector<std::uint32_t> asked;
    std::map<std::uint32_t, Answer> answers;
    std::int64_t quorum = 0;
    std::vector<std::vector<std::int64_t>> mixed;  // parts of a mix that is not complete
    bool is_mixed = false;
    std::map<std::uint32_t, std::size_t> bits;  // mixed, by coordinate
  };

  // A plan tells what was released before: all that is asked in an epoch follows from the epochs before it.
  std::string OnServer(const std::string& body, const IsCharged& is_charged) {
    v1::ToAgent message;
    if (!message.ParseFromString(body)) return "the server has sent something that is no message";
    Epoch epoch = message.stop().finished() ? kAfterAll : 0;
    if (message.delivery().message().has_plan()) {
      const v1::Plan& plan = message.delivery().message().plan();
      epoch = plan.epoch();
      const std::string digest = Sha256(plan.SerializeAsString());
      if (plans_.try_emplace(epoch, digest).first->second != digest) {
        return fmt::format("epoch {} was asked with two plans: what was released before has changed", epoch);
      }
    } else if (message.delivery().message().has_mix_request()) {
      const v1::MixRequest& request = message.delivery().message().mix_request();
      epoch = request.epoch();
      batches_[epoch].asked.assign(request.clients().begin(), request.clients().end());
    }
    if (pays_ != Pays::kServer) return "";
    for (const auto& [before, digest] : plans_) {
      if (before < epoch && !is_charged(kServerName, kServerNode, before)) {
        return fmt::format("the server speaks about epoch {} before its ledger line is durable", before);
      }
    }
    return "";
  }

  std::string OnShare(const std::string& from, const v1::Message& message, const IsCharged& is_charged) {
    const bool is_sealed = message.has_sealed_share();
    const Epoch epoch = is_sealed ? message.sealed_share().epoch() : message.share().epoch();
    const NodeId client{message.origin()};
    if (pays_ == Pays::kEachClient && !is_charged(from, client, epoch)) {
      return fmt::format("client {} answers epoch {} before its ledger line is durable", client.value, epoch);
    }
    Batch& batch = batches_[epoch];
    Answer answer;
    if (is_sealed) {
      const v1::SealedShare& share = message.sealed_share();
      answer.sealed.assign(share.coordinates().begin(), share.coordinates().end());
      answer.digest = Sha256(fmt::format("{} {}", share.quorum(), share.question()));
      batch.quorum = std::max(batch.quorum, share.quorum());
      for (std::size_t i = 0; i < answer.sealed.size(); ++i) {
        for (std::size_t at = 0; at < answer.sealed[i].size(); at += kSealedBitBytes) {
          sealed_bits_.insert(Place(epoch, i, answer.sealed[i].substr(at, kSealedBitBytes)));
        }
      }
    } else {
      answer.counts.assign(message.share().report().begin(), message.share().report().end());
      answer.digest = Sha256(message.share().SerializeAsString());
      batch.quorum = std::max(batch.quorum, message.share().quorum());
    }
    const auto first = batch.answers.find(client.value);
    if (first == batch.answers.end()) {
      batch.answers.emplace(client.value, std::move(answer));
      return "";
    }
    const bool same = first->second.digest == answer.digest &&
                      (!is_sealed || SameBits(epoch, first->second.sealed, answer.sealed));
    return same ? "" : fmt::format("client {} has two draws for epoch {}", client.value, epoch);
  }

  bool SameBits(Epoch epoch, const std::vector<std::string>& first, const std::vector<std::string>& second) {
    if (first == second || !secret_) return true;
    if (first.size() != second.size()) return false;
    if (!opener_) opener_.emplace(store::DeriveKey(*secret_, "sealing key"));
    for (std::size_t i = 0; i < first.size(); ++i) {
      const auto coordinate = static_cast<std::uint32_t>(i);
      const auto a = opener_->Ones(epoch, coordinate, first[i]);
      const auto b = opener_->Ones(epoch, coordinate, second[i]);
      if (!a.ok() || !b.ok() || *a != *b) return false;
    }
    return true;
  }

  // Everybody who was asked has answered, and they are enough.
  static std::string MayMix(const Batch& batch, Epoch epoch) {
    for (const std::uint32_t client : batch.asked) {
      if (!batch.answers.contains(client)) {
        return fmt::format("epoch {} was mixed without client {}", epoch, client);
      }
    }
    if (!batch.asked.empty() && static_cast<std::int64_t>(batch.asked.size()) >= batch.quorum) return "";
    return fmt::format("epoch {} was mixed with {} reports, fewer than {}", epoch, batch.asked.size(),
                       batch.quorum);
  }

  // A mix is the reports of those who were asked, each once: all of them, or their sum.
  std::string OnMixed(const v1::Mixed& mixed) {
    Batch& batch = batches_[mixed.epoch()];
    if (batch.is_mixed) return fmt::format("epoch {} was mixed twice", mixed.epoch());
    for (const v1::MixedReport& report : mixed.reports()) {
      batch.mixed.emplace_back(report.units().begin(), report.units().end());
    }
    if (mixed.more()) return "";
    batch.is_mixed = true;
    if (std::string wrong = MayMix(batch, mixed.epoch()); !wrong.empty()) return wrong;
    std::vector<std::vector<std::int64_t>> expected;
    for (const std::uint32_t client : batch.asked) expected.push_back(batch.answers.at(client).counts);
    if (batch.mixed.size() == 1) {
      std::vector<std::int64_t> sum(expected.front().size());
      for (const auto& counts : expected) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts[i];
      }
      expected = {sum};
    }
    std::sort(expected.begin(), expected.end());
    std::sort(batch.mixed.begin(), batch.mixed.end());
    return expected == batch.mixed
               ? ""
               : fmt::format("the mix of epoch {} is not the reports of its clients", mixed.epoch());
  }

  // Each bit of a pool was sent by a client for this epoch, and is in no other pool.
  std::string OnSealedBits(const v1::SealedBits& piece) {
    Batch& batch = batches_[piece.epoch()];
    if (std::string wrong = MayMix(batch, piece.epoch()); !wrong.empty()) return wrong;
    for (std::size_t at = 0; at < piece.bits().size(); at += kSealedBitBytes) {
      if (sealed_bits_.erase(
              Place(piece.epoch(), piece.coordinate(), piece.bits().substr(at, kSealedBitBytes))) == 0) {
        return fmt::format("a bit in the pool of epoch {} is in it twice, or was sent by nobody",
                           piece.epoch());
      }
    }
    std::size_t& bits = batch.bits[piece.coordinate()];
    bits += piece.bits().size();
    const std::size_t most =
        batch.asked.size() * batch.answers.at(batch.asked.front()).sealed.at(piece.coordinate()).size();
    return bits <= most ? ""
                        : fmt::format("the pool of epoch {} has more bits than its reports", piece.epoch());
  }

  static std::string Place(Epoch epoch, std::size_t coordinate, const std::string& bit) {
    return fmt::format("{}/{}/{}", epoch, coordinate, bit);
  }

  static constexpr Epoch kAfterAll = 1 << 30;
  Pays pays_;
  std::optional<store::Key> secret_;
  std::optional<CountOpener> opener_;
  std::map<Epoch, std::string> plans_;  // digests
  std::map<Epoch, Batch> batches_;
  absl::flat_hash_set<std::string> sealed_bits_;  // sent and not mixed
};

}  // namespace bandana::service
