#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/bandit/world.h"
#include "bandana/core/ids.h"
#include "bandana/federation/federation.h"
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/privacy/odometer.h"

/// Policies for a program of one's own: the roles of one agent, or of a user and the server, with the program
/// in the place of the simulator. This is a driver (as src/bandana/sim and src/bandana/service are): it makes
/// the noise, and it hands people's data to the roles.
namespace bandana::python {

/// How a policy draws. Without a seed it uses the operating system's entropy. With one it draws what the
/// lab's simulator draws with this seed in replicate 0.
struct PolicyDraws {
  std::optional<std::uint64_t> seed;
};

/// Who pays for the messages of users who come again.
struct UserCharges {
  /// The most that one user may spend. Empty: one message's guarantee.
  std::optional<DpGuarantee> budget;
  std::string ledger;  ///< a file; empty: charges are forgotten when the process ends
};

/// A policy that the program asks and tells. One thread at a time may use it.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Returns the arm to play. `contexts` are K x d numbers, or d numbers with one theta for each arm; they
  /// are null for policies without contexts.
  virtual absl::StatusOr<ArmId> Select(const double* contexts) = 0;

  /// Learns what came of an arm. `context` is that of the arm. Returns whether the policy has learned: in a
  /// warm-up, whose arms are played in a public order, it learns nothing from another arm.
  virtual absl::StatusOr<bool> Update(const double* context, ArmId arm, double reward,
                                      std::optional<NodeId> user) = 0;

  /// Does Select for each of `rounds` rounds; with `exploit` it chooses the best arms by the model of this
  /// moment.
  virtual absl::Status SelectMany(const double* contexts, Count rounds, bool exploit, std::int64_t* arms) = 0;

  /// Does Update for each of `rounds` rounds, in their order. `contexts` are those of all arms in every
  /// round.
  virtual absl::Status UpdateMany(const double* contexts, Count rounds, const std::int64_t* arms,
                                  const double* rewards) = 0;

  /// Fills in one score for each arm in every round.
  virtual absl::Status Scores(const double* contexts, Count rounds, double* scores) = 0;

  virtual std::span<const double> thetas() const { return {}; }

  virtual std::string Save() = 0;
  virtual absl::Status Restore(std::string_view saved) = 0;

  /// Returns why the state must not leave the process but into the owner's file; empty: it is public.
  virtual std::string secret() const { return ""; }

  Count learned() const { return learned_; }  ///< rounds that the policy has learned from

  /// Its roles hold references into it.
  std::shared_ptr<const Federation> assembled;
  bool takes_contexts = true;
  bool multi = false;  ///< one context in a round, and a theta for each arm
  Count arms = 0;
  Count dimension = 0;
  /// How many numbers a round's contexts are.
  Count context_size() const { return (multi ? 1 : arms) * dimension; }

  /// Tokens: a reward that comes late is for the token that Issue returned. Redeem fails if the token has
  /// been served.
  Count Issue();
  absl::Status Redeem(Count token);
  void Reopen(Count token) { open_.insert(token); }
  std::string name;   ///< a random name that tokens carry, so that another policy refuses them
  bool busy = false;  ///< while a batch runs without the interpreter's lock

 protected:
  Count selected_ = 0;  // rounds for which an arm was chosen
  Count learned_ = 0;
  Count issued_ = 0;
  absl::flat_hash_set<Count> open_;  // tokens without a reward

  struct DriverState;
  std::string SaveWith(const std::vector<std::string>& roles) const;
  absl::StatusOr<std::vector<std::string>> RestoreWith(std::string_view saved, std::size_t roles);
};

/// Makes the policy of a federation: of users, of one agent that plays rounds, or of one that pulls arms.
absl::StatusOr<std::unique_ptr<Policy>> MakePolicy(Federation federation, const Facts& facts,
                                                   const PolicyDraws& draws, const UserCharges& charges);

}  // namespace bandana::python
