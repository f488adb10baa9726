#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "bandana/algorithms/users/ldp_gloc.h"
#include "bandana/algorithms/users/ldp_ols.h"
#include "bandana/algorithms/users/ldp_sgd.h"
#include "bandana/algorithms/users/ldp_ucb.h"
#include "bandana/algorithms/users/thompson_sampling.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/federation/release.h"
#include "bandana/federation/user_learner.h"
#include "bandana/privacy/declassify.h"
#include "fmt/format.h"
#include "policy_draws.h"
#include "policy_kinds.h"

namespace bandana::python {
namespace {

/// The contexts of one user, read where the program has them.
class ArrayView final : public UserView {
 public:
  ArrayView(const Facts& facts)
      : arms_(facts.arms),
        dimension_(facts.dimension),
        multi_(facts.multi),
        contexts_(multi_ ? 1 : arms_, dimension_) {}

  void Point(const double* data) {
    data_ = data;
    copied_ = false;
  }

  // Learners that look at all contexts want a matrix. It is scratch of this policy.
  const ActionMatrix& Contexts() override {
    if (!copied_) {
      std::copy_n(data_, contexts_.size(), contexts_.data());
      copied_ = true;
    }
    return contexts_;
  }

  void Scores(std::span<const double> thetas, std::span<double> scores) override {
    const Count context_step = multi_ ? 0 : dimension_;
    const Count theta_step = dimension_ - context_step;
    for (Count a = 0; a < arms_; ++a) {
      scores[static_cast<std::size_t>(a)] =
          Dot(data_ + a * context_step, thetas.data() + a * theta_step, dimension_);
    }
  }

  std::span<const double> ContextOf(ArmId arm) const {
    return {data_ + (multi_ ? 0 : arm * dimension_), static_cast<std::size_t>(dimension_)};
  }

 private:
  Count arms_;
  Count dimension_;
  bool multi_;
  const double* data_ = nullptr;
  bool copied_ = false;
  ActionMatrix contexts_;
};

/// What a user's device reaches of the outside: its noise. The policy has charged the user before.
class UserDoor final : public UserContext {
 public:
  UserDoor(Bits& bits, Count before) : bits_(&bits), before_(before) {}

  // No learner's Report asks for coins; Choose gets its own.
  CoinGen& coin() override {
    BANDANA_CHECK(false);
    std::abort();
  }

 private:
  friend class bandana::Release;

  absl::Status ReleaseOnce(const DpGuarantee&, Count, LocalMessage&,
                           absl::FunctionRef<void(NoiseGen&)> draw) override {
    // The simulator's key of this user.
    bits_->WithNoise(kServerNode, static_cast<Epoch>(before_ + 1), [&](NoiseGen& noise) { draw(noise); });
    return absl::OkStatus();
  }

  Bits* bits_;
  Count before_;
};

/// What users who come again have spent.
class Accounts {
 public:
  static absl::StatusOr<Accounts> Create(const Federation& federation, const UserCharges& charges) {
    Accounts accounts(charges.budget.value_or(federation.budget), federation.budget);
    if (charges.ledger.empty()) return accounts;
    if (!federation.charges_clients) {
      return InvalidOption("ledger", charges.ledger, "none for a policy that protects nobody");
    }
    const DpGuarantee& budget = accounts.budget_;
    BANDANA_ASSIGN_OR_RETURN(accounts.ledger_,
                             Ledger::Open(charges.ledger,
                                          {.deployment = "bandana.policies",
                                           .configuration = Sha256(fmt::format(
                                               "{} {}", federation.budget.epsilon, federation.budget.delta)),
                                           .claims = federation.claims,
                                           .void_reason = federation.void_reason(),
                                           .limits = {.per_unit = {budget.epsilon, budget.delta}}},
                                          Ledger::Durability::kGrouped));
    accounts.next_ = static_cast<Epoch>(accounts.ledger_->head().seq);
    return accounts;
  }

  bool has_ledger() const { return ledger_ != nullptr; }

  /// Charges the user for a message. Nothing is charged if the budget is too small.
  absl::Status Charge(NodeId user) {
    if (ledger_ == nullptr) return odometer_.Add({cost_, {user}});
    // Every message is a release of its own. Nobody asks for it again, so it is not kept.
    const ReleaseKey key{user, ++next_, "message"};
    const Ledger::Cost cost{cost_, {cost_.epsilon, cost_.delta}};
    BANDANA_RETURN_IF_ERROR(
        ledger_->Once(key, cost, {user}, []() -> absl::StatusOr<Report> { return Report(); }).status());
    return ledger_->Commit();
  }

 private:
  Accounts(DpGuarantee budget, DpGuarantee cost) : budget_(budget), cost_(cost), odometer_(budget) {}

  DpGuarantee budget_;
  DpGuarantee cost_;
  Odometer odometer_;
  std::unique_ptr<Ledger> ledger_;
  Epoch next_ = 0;
};

/// L is a class of a learner (federation/user_learner.h), so that a round is straight code, or UserLearner.
template <class L>
class UserPolicyOf final : public Policy {
 public:
  UserPolicyOf(std::unique_ptr<UserLearner> owned, L& learner, const Federation& federation,
               const Facts& facts, const PolicyDraws& draws, Accounts accounts)
      : owned_(std::move(owned)),
        learner_(learner),
        device_(learner.MakeDevice()),
        view_(facts),
        bits_(draws.seed),
        accounts_(std::move(accounts)),
        protects_(federation.charges_clients),
        horizon_(facts.horizon) {}

  absl::StatusOr<ArmId> Select(const double* contexts) override {
    view_.Point(contexts);
    return Choose();
  }

  absl::StatusOr<bool> Update(const double* context, ArmId arm, double reward,
                              std::optional<NodeId> user) override {
    return Learn({context, static_cast<std::size_t>(dimension)}, arm, reward, user);
  }

  absl::Status SelectMany(const double* contexts, Count rounds, bool exploit, std::int64_t* out) override {
    const Count step = context_size();
    for (Count i = 0; i < rounds; ++i) {
      view_.Point(contexts + i * step);
      out[i] = exploit ? learner_.Greedy(view_) : Choose();
    }
    return absl::OkStatus();
  }

  absl::Status UpdateMany(const double* contexts, Count rounds, const std::int64_t* played,
                          const double* rewards) override {
    const Count step = context_size();
    for (Count i = 0; i < rounds; ++i) {
      view_.Point(contexts + i * step);
      const auto arm = static_cast<ArmId>(played[i]);
      BANDANA_RETURN_IF_ERROR(Learn(view_.ContextOf(arm), arm, rewards[i], std::nullopt).status());
    }
    return absl::OkStatus();
  }

  absl::Status Scores(const double* contexts, Count rounds, double* scores) override {
    const std::span<const double> now = thetas();
    for (Count i = 0; i < rounds; ++i) {
      view_.Point(contexts + i * context_size());
      view_.Scores(now, {scores + i * arms, static_cast<std::size_t>(arms)});
    }
    return absl::OkStatus();
  }

  std::span<const double> thetas() const override { return owned_->thetas(); }

  std::string Save() override { return SaveWith({owned_->Save()}); }
  absl::Status Restore(std::string_view saved) override {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<std::string> roles, RestoreWith(saved, 1));
    return owned_->Restore(roles[0]);
  }

 private:
  auto& device() {
    if constexpr (std::is_same_v<L, UserLearner>) {
      return *device_;
    } else {
      return device_;
    }
  }
  const LocalMessage& message() {
    if constexpr (std::is_same_v<L, UserLearner>) {
      return device_->message();
    } else {
      return device_.message;
    }
  }

  ArmId Choose() {
    return bits_.WithCoin(kServerNode, static_cast<Epoch>(selected_++),
                          [&](CoinGen& coin) { return learner_.Choose(view_, coin, device()); });
  }

  // In the warm-up the arm is public, because the round alone determines it; a message about another arm
  // would tell more than the claim allows.
  bool OutOfTurn(ArmId arm) const {
    if constexpr (requires { learner_.policy().public_arm(); }) {
      const std::optional<ArmId> due = learner_.policy().public_arm();
      return due.has_value() && *due != arm;
    } else {
      return false;
    }
  }

  absl::StatusOr<bool> Learn(std::span<const double> context, ArmId arm, double reward,
                             std::optional<NodeId> user) {
    if (learned_ >= horizon_) [[unlikely]]
      return InvalidField(Part::kFacts, "horizon", static_cast<double>(horizon_),
                          "at least as many rounds as the policy is to learn from");
    if (OutOfTurn(arm)) return false;
    if (user.has_value() && protects_) BANDANA_RETURN_IF_ERROR(accounts_.Charge(*user));
    if (!user.has_value() && accounts_.has_ledger()) [[unlikely]]
      return InvalidInput(
          {.message = "missing: the policy has a ledger", .key = "user", .accepted = "the user's number"});
    UserDoor door(bits_, learned_);
    const Raw record(LocalRecord{context, reward, arm});
    BANDANA_ASSIGN_OR_RETURN(const Count users, learner_.Report(door, arm, record, device()));
    if (users > 0) learner_.Learn(message(), users);
    ++learned_;
    return true;
  }

  std::unique_ptr<UserLearner> owned_;
  L& learner_;
  decltype(std::declval<const L&>().MakeDevice()) device_;
  ArrayView view_;
  Bits bits_;
  Accounts accounts_;
  bool protects_;
  Count horizon_;
};

template <class L>
bool TryLearner(std::unique_ptr<UserLearner>& learner, const Federation& federation, const Facts& facts,
                const PolicyDraws& draws, Accounts& accounts, std::unique_ptr<Policy>& policy) {
  auto* own = dynamic_cast<UserLearnerOf<L>*>(learner.get());
  if (own == nullptr) return false;
  policy = std::make_unique<UserPolicyOf<L>>(std::move(learner), own->learner(), federation, facts, draws,
                                             std::move(accounts));
  return true;
}

template <class... L>
std::unique_ptr<Policy> FindLearner(std::unique_ptr<UserLearner> learner, const Federation& federation,
                                    const Facts& facts, const PolicyDraws& draws, Accounts accounts) {
  std::unique_ptr<Policy> policy;
  if ((TryLearner<L>(learner, federation, facts, draws, accounts, policy) || ...)) return policy;
  UserLearner& any = *learner;
  return std::make_unique<UserPolicyOf<UserLearner>>(std::move(learner), any, federation, facts, draws,
                                                     std::move(accounts));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Policy>> MakeUserPolicy(const Federation& federation, const Facts& facts,
                                                       const PolicyDraws& draws, const UserCharges& charges) {
  BANDANA_ASSIGN_OR_RETURN(Accounts accounts, Accounts::Create(federation, charges));
  return FindLearner<LdpSgd, LdpOls, LdpUcb, LdpGloc, ThompsonSampling>(
      std::get<UserRoles>(federation.roles).learner(), federation, facts, draws, std::move(accounts));
}

}  // namespace bandana::python
