#pragma once

#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bandana/core/archive.h"
#include "bandana/core/status.h"
#include "bandana/federation/node.h"
#include "bandana/privacy/privatizer.h"
#include "bandana/privacy/silo_prefix_sum.h"

namespace bandana {

/// The shuffler S as a role for silos that all release at every sync. It holds their reports until it has all
/// of them, mixes them, and sends the mixed reports to the controller. The list of silos is public, so it
/// waits for no mix request.
template <ShufflePrivatizer P>
class SiloShuffler final : public Node {
 public:
  /// The silos are nodes first .. first + silos - 1. `privatizer` must outlive this object.
  SiloShuffler(const P& privatizer, NodeId first, Count silos)
      : privatizer_(&privatizer), first_(first), silos_(silos) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    const auto* share = std::get_if<Share>(&message.body);
    if (share == nullptr) return absl::InvalidArgumentError("a shuffler of silos accepts only shares");
    const bool stranger = message.origin < first_ || message.origin.value - first_.value >= silos_;
    if (stranger || share->epoch <= done_) return absl::OkStatus();  // not a silo, or a repeat
    auto& reports = waiting_[share->epoch];
    reports.try_emplace(message.origin, share->report);
    if (static_cast<Count>(reports.size()) < silos_) return absl::OkStatus();
    std::vector<Report> all;
    for (auto& [silo, report] : reports) all.push_back(std::move(report));
    const StepQuery query{.step = share->epoch, .silos = silos_};
    done_ = share->epoch;
    waiting_.erase(done_);
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> mixed, privatizer_->Mix(query, std::move(all)));
    context.Send(*context.links().upstream, Mixed{done_, std::move(mixed)});
    return absl::OkStatus();
  }

  bool finished() const override { return waiting_.empty(); }
  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a.Same(first_.value, "first silo");
    a.Same(silos_, "number of silos");
    a(done_, waiting_);
  }

 private:
  const P* privatizer_;
  NodeId first_;
  Count silos_;
  Epoch done_ = 0;
  std::map<Epoch, std::map<NodeId, Report>> waiting_;  // sorted: independent of arrival order
};

}  // namespace bandana
