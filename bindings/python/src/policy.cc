#include "policy.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "bandana/core/archive.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "policy_draws.h"
#include "policy_kinds.h"

namespace bandana::python {
namespace {

std::atomic<std::uint64_t> process_number = 1;

}  // namespace

std::uint64_t ProcessNumber() {
  // The handler runs in a forked child before anything else can.
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++process_number; });
  static_cast<void>(registered);
  return process_number.load(std::memory_order_relaxed);
}

Count Policy::Issue() {
  open_.insert(issued_);
  return issued_++;
}

absl::Status Policy::Redeem(Count token) {
  if (open_.erase(token) > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(token >= 0 && token < issued_
                                           ? "this token has had its reward: a token serves once"
                                           : "this policy has not issued this token; give it to the policy "
                                             "that has, or to one loaded from its file");
}

struct Policy::DriverState {
  Count selected = 0;
  Count learned = 0;
  Count issued = 0;
  std::vector<Count> open;
  std::string name;
  std::vector<std::string> roles;

  template <class Archive>
  void State(Archive& a) {
    a(selected, learned, issued, open, name, roles);
    a.Check(selected >= 0 && learned >= 0 && issued >= 0, "a number of rounds is negative");
  }
};

std::string Policy::SaveWith(const std::vector<std::string>& roles) const {
  DriverState state{selected_, learned_, issued_, {open_.begin(), open_.end()}, name, roles};
  std::sort(state.open.begin(), state.open.end());
  return SaveState(state);
}

absl::StatusOr<std::vector<std::string>> Policy::RestoreWith(std::string_view saved, std::size_t roles) {
  DriverState state;
  BANDANA_RETURN_IF_ERROR(RestoreState(saved, state));
  if (state.roles.size() != roles) return absl::DataLossError("the state has another number of roles");
  selected_ = state.selected;
  learned_ = state.learned;
  issued_ = state.issued;
  open_ = {state.open.begin(), state.open.end()};
  name = std::move(state.name);
  return std::move(state.roles);
}

absl::StatusOr<std::unique_ptr<Policy>> MakePolicy(Federation made, const Facts& facts,
                                                   const PolicyDraws& draws, const UserCharges& charges) {
  const auto shared = std::make_shared<const Federation>(std::move(made));
  const Federation& federation = *shared;
  const bool users = federation.time() == TimeModel::kUser;
  if (!users && (charges.budget.has_value() || !charges.ledger.empty())) {
    return InvalidOption("ledger", charges.ledger,
                         "none with this policy: its unit is a record, and its budget is for "
                         "the whole horizon");
  }
  absl::StatusOr<std::unique_ptr<Policy>> policy = users ? MakeUserPolicy(federation, facts, draws, charges)
                                                   : federation.time() == TimeModel::kRound
                                                       ? MakeRoundPolicy(federation, facts, draws)
                                                       : MakeArmPolicy(federation, facts, draws);
  if (!policy.ok()) return policy.status();
  (*policy)->assembled = shared;
  (*policy)->multi = facts.multi;
  (*policy)->arms = facts.arms;
  (*policy)->dimension = facts.dimension;
  return policy;
}

}  // namespace bandana::python
