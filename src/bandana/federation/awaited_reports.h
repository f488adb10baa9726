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

/// Collects, for a shuffler, what the clients of a mix request send, until all of them have sent it. `R` is
/// what one client sends; its quorum() is the smallest number of clients among which it may be mixed.
template <class R>
class AwaitedReports {
 public:
  struct Complete {
    std::shared_ptr<const MixRequest> mix_request;
    std::map<NodeId, R> reports;  ///< ordered by id, so that the order does not depend on the network
  };
  using Outcome = absl::StatusOr<std::optional<Complete>>;

  /// Takes the server's mix request. A repeated mix request changes nothing.
  Outcome Call(std::shared_ptr<const MixRequest> mix_request) {
    const Epoch epoch = mix_request->epoch;
    if (done_.contains(epoch)) return std::nullopt;
    if (mix_request->query.cohort != CohortOf(mix_request->clients)) {
      return absl::InvalidArgumentError(fmt::format(
          "the clients of the mix request of epoch {} are not the cohort that its query names", epoch));
    }
    Batch& batch = batches_[epoch];
    if (batch.mix_request == nullptr) {
      batch.wanted.insert(mix_request->clients.begin(), mix_request->clients.end());
      batch.mix_request = std::move(mix_request);
      std::erase_if(batch.reports, [&](const auto& entry) { return !batch.wanted.contains(entry.first); });
    }
    return TakeIfComplete(epoch);
  }

  /// Takes a client's report, which may come before its mix request. Keeps nothing of a repeat, or of a
  /// report that no mix request asks for.
  Outcome Take(Epoch epoch, NodeId client, R&& report) {
    if (done_.contains(epoch)) return std::nullopt;
    Batch& batch = batches_[epoch];
    if (batch.mix_request == nullptr || batch.wanted.contains(client)) {
      batch.reports.try_emplace(client, std::move(report));
    }
    return TakeIfComplete(epoch);
  }

  /// Returns whether no report or mix request is waiting.
  bool empty() const { return batches_.empty(); }

  template <class Archive>
  void State(Archive& a) {
    a(batches_, done_);
  }

 private:
  struct Batch {
    std::shared_ptr<const MixRequest> mix_request;
    absl::flat_hash_set<NodeId> wanted;
    std::map<NodeId, R> reports;

    template <class Archive>
    void State(Archive& a) {
      a(mix_request, wanted, reports);
    }
  };

  // Fails unless the mix keeps what each client was promised. The promise depends on how many clients it is
  // mixed with, who they are, and what all of them were asked. The report itself names these; the server's
  // word does not count.
  static absl::Status CheckPromises(const Batch& batch) {
    const std::string question = Release::QuestionOf(batch.mix_request->query);
    for (const auto& [client, report] : batch.reports) {
      if (report.question() != question) {
        return absl::FailedPreconditionError(
            fmt::format("client {} answers another question than the mix request of epoch {} asks",
                        client.value, batch.mix_request->epoch));
      }
      if (report.quorum() <= static_cast<Count>(batch.reports.size())) continue;
      return absl::FailedPreconditionError(fmt::format(
          "client {} requires a mix of at least {} reports, but the mix request of epoch {} has {}",
          client.value, report.quorum(), batch.mix_request->epoch, batch.reports.size()));
    }
    return absl::OkStatus();
  }

  Outcome TakeIfComplete(Epoch epoch) {
    Batch& batch = batches_[epoch];
    if (batch.mix_request == nullptr || batch.reports.size() != batch.wanted.size()) return std::nullopt;
    BANDANA_RETURN_IF_ERROR(CheckPromises(batch));
    Complete complete{std::move(batch.mix_request), std::move(batch.reports)};
    batches_.erase(epoch);
    done_.insert(epoch);
    return complete;
  }

  std::map<Epoch, Batch> batches_;
  absl::flat_hash_set<Epoch> done_;
};

}  // namespace bandana
