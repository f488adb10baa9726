#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "bandana/core/status.h"
#include "bandana/federation/cohort.h"
#include "bandana/federation/messages.h"
#include "bandana/federation/release.h"
#include "fmt/format.h"

namespace bandana {

/// A shuffler's book: what the clients of a roll have sent, until all of it is there. `R` is what one client
/// sends; quorum() says among how many it may be mixed.
template <class R>
class RollCall {
 public:
  struct Complete {
    std::shared_ptr<const Roll> roll;
    std::map<NodeId, R> reports;  ///< in an order that does not depend on the network
  };
  using Outcome = absl::StatusOr<std::optional<Complete>>;

  /// The server's roll. One that comes again changes nothing.
  Outcome Call(std::shared_ptr<const Roll> roll) {
    const Epoch epoch = roll->epoch;
    if (done_.contains(epoch)) return std::nullopt;
    if (roll->query.cohort != CohortOf(roll->clients)) {
      return absl::InvalidArgumentError(
          fmt::format("the roll of epoch {} is not of the cohort that its query names", epoch));
    }
    Batch& batch = batches_[epoch];
    if (batch.roll == nullptr) {
      batch.wanted.insert(roll->clients.begin(), roll->clients.end());
      batch.roll = std::move(roll);
      std::erase_if(batch.reports, [&](const auto& entry) { return !batch.wanted.contains(entry.first); });
    }
    return TakeIfComplete(epoch);
  }

  /// A client's report, which may come before its roll. Of one that comes again, or that no roll asks for,
  /// nothing is kept.
  Outcome Take(Epoch epoch, NodeId client, R&& report) {
    if (done_.contains(epoch)) return std::nullopt;
    Batch& batch = batches_[epoch];
    if (batch.roll == nullptr || batch.wanted.contains(client)) {
      batch.reports.try_emplace(client, std::move(report));
    }
    return TakeIfComplete(epoch);
  }

  /// Nothing is held back.
  bool empty() const { return batches_.empty(); }

  template <class Archive>
  void State(Archive& a) {
    a(batches_, done_);
  }

 private:
  struct Batch {
    std::shared_ptr<const Roll> roll;
    absl::flat_hash_set<NodeId> wanted;
    std::map<NodeId, R> reports;

    template <class Archive>
    void State(Archive& a) {
      a(roll, wanted, reports);
    }
  };

  // What a client was promised rests on how many it is mixed with, on who they are and on what they were all
  // asked: it says so itself, and the server's word does not count.
  static absl::Status CheckPromises(const Batch& batch) {
    const std::string question = Release::QuestionOf(batch.roll->query);
    for (const auto& [client, report] : batch.reports) {
      if (report.question() != question) {
        return absl::FailedPreconditionError(
            fmt::format("client {} answers another question than the roll of epoch {} asks", client.value,
                        batch.roll->epoch));
      }
      if (report.quorum() <= static_cast<Count>(batch.reports.size())) continue;
      return absl::FailedPreconditionError(
          fmt::format("client {} may only be mixed with {} reports, and the roll of epoch {} has {}",
                      client.value, report.quorum(), batch.roll->epoch, batch.reports.size()));
    }
    return absl::OkStatus();
  }

  Outcome TakeIfComplete(Epoch epoch) {
    Batch& batch = batches_[epoch];
    if (batch.roll == nullptr || batch.reports.size() != batch.wanted.size()) return std::nullopt;
    BANDANA_RETURN_IF_ERROR(CheckPromises(batch));
    Complete complete{std::move(batch.roll), std::move(batch.reports)};
    batches_.erase(epoch);
    done_.insert(epoch);
    return complete;
  }

  std::map<Epoch, Batch> batches_;
  absl::flat_hash_set<Epoch> done_;
};

}  // namespace bandana
