#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bandana/federation/federation.h"
#include "bandana/federation/network_player.h"
#include "bandana/federation/node.h"
#include "bandana/federation/round_player.h"

/// Roles that are saved, destroyed and restored again and again, as in a process that restarts often. Their
/// run must equal, bit for bit, the run of roles that are never restored.
namespace bandana::test {

/// Holds one role. Before every `every`-th call the role is saved, destroyed, made anew from its parameters
/// and restored; with `every` = 0 never.
template <class Role>
class Cradle {
 public:
  using Make = std::function<std::unique_ptr<Role>()>;

  Cradle(Make make, int every) : make_(std::move(make)), every_(every), role_(make_()) {}

  Role& ForCall() {
    ++calls_;
    if (every_ > 0 && calls_ % every_ == 0) Again();
    return *role_;
  }
  Role& now() const { return *role_; }

 private:
  void Again() {
    const std::string saved = role_->Save();
    role_ = nullptr;
    ++births_;
    if ((births_ & (births_ - 1)) == 0) Damage(saved);
    role_ = make_();
    const absl::Status status = role_->Restore(saved);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(role_->Save() == saved) << "what a restored role saves is what it was restored from";
  }

  // Checks that Restore refuses saved bytes that were truncated or extended. Flipped bytes only have to do no
  // harm: the digest of a file would show them.
  void Damage(const std::string& saved) {
    const std::size_t step = saved.size() / 24 + 1;
    for (std::size_t at = 0; at < saved.size(); at += step) {
      EXPECT_FALSE(make_()->Restore(std::string_view(saved).substr(0, at)).ok()) << at;
      std::string flipped = saved;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      (void)make_()->Restore(flipped);
    }
    EXPECT_FALSE(make_()->Restore(saved + '\0').ok());
  }

  Make make_;
  int every_;
  std::unique_ptr<Role> role_;
  int calls_ = 0;
  unsigned births_ = 0;
};

class RebornNode : public Node {
 public:
  RebornNode(Cradle<Node>::Make make, int every) : cradle_(std::move(make), every) {}

  absl::Status OnStart(Context& context) override { return cradle_.ForCall().OnStart(context); }
  absl::Status OnMessage(Context& context, const Message& message) override {
    return cradle_.ForCall().OnMessage(context, message);
  }
  bool finished() const override { return cradle_.now().finished(); }
  void Describe(Observations& observations) const override { cradle_.now().Describe(observations); }
  std::string Save() const override { return cradle_.now().Save(); }
  absl::Status Restore(std::string_view saved) override { return cradle_.now().Restore(saved); }

 private:
  Cradle<Node> cradle_;
};

class RebornPlayer : public Player {
 public:
  RebornPlayer(Cradle<Player>::Make make, int every) : cradle_(std::move(make), every) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    return cradle_.ForCall().OnMessage(context, message);
  }
  std::span<const Pull> Act(Context& context) override {
    const auto pulls = cradle_.ForCall().Act(context);
    pulls_.assign(pulls.begin(), pulls.end());  // the role may be destroyed before the pulls are carried out
    return pulls_;
  }
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    return cradle_.ForCall().Observe(context, rewards);
  }
  bool finished() const override { return cradle_.now().finished(); }
  void Describe(Observations& observations) const override { cradle_.now().Describe(observations); }
  std::string Save() const override { return cradle_.now().Save(); }
  absl::Status Restore(std::string_view saved) override { return cradle_.now().Restore(saved); }

 private:
  Cradle<Player> cradle_;
  std::vector<Pull> pulls_;
};

class RebornNetworkPlayer : public NetworkPlayer {
 public:
  RebornNetworkPlayer(Cradle<NetworkPlayer>::Make make, int every) : cradle_(std::move(make), every) {}

  absl::Status OnStart(Context& context) override { return cradle_.ForCall().OnStart(context); }
  absl::Status OnMessage(Context& context, const Message& message) override {
    return cradle_.ForCall().OnMessage(context, message);
  }
  std::span<const Pull> Act(Context& context) override {
    const auto pulls = cradle_.ForCall().Act(context);
    pulls_.assign(pulls.begin(), pulls.end());
    return pulls_;
  }
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    return cradle_.ForCall().Observe(context, rewards);
  }
  absl::Status EndTick(Context& context) override { return cradle_.ForCall().EndTick(context); }
  void OnSilence(Context& context) override { cradle_.ForCall().OnSilence(context); }
  bool waiting() const override { return cradle_.now().waiting(); }
  bool finished() const override { return cradle_.now().finished(); }
  void Describe(Observations& observations) const override { cradle_.now().Describe(observations); }
  std::string Save() const override { return cradle_.now().Save(); }
  absl::Status Restore(std::string_view saved) override { return cradle_.now().Restore(saved); }

 private:
  Cradle<NetworkPlayer> cradle_;
  std::vector<Pull> pulls_;
};

template <class Scalar>
class RebornRoundPlayer : public RoundPlayer<Scalar> {
 public:
  using Role = RoundPlayer<Scalar>;
  RebornRoundPlayer(typename Cradle<Role>::Make make, int every) : cradle_(std::move(make), every) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    return cradle_.ForCall().OnMessage(context, message);
  }
  Count rounds_ready() const override { return cradle_.now().rounds_ready(); }
  bool Plays(Count round) const override { return cradle_.now().Plays(round); }
  const ChosenArm& Act(Context& context, Count round, const Raw<DecisionSet<Scalar>>& set) override {
    return cradle_.ForCall().Act(context, round, set);
  }
  absl::Status Observe(Context& context, Count round, const Raw<double>& reward) override {
    return cradle_.ForCall().Observe(context, round, reward);
  }
  absl::Status EndRound(Context& context, Count round) override {
    return cradle_.ForCall().EndRound(context, round);
  }
  void Describe(Observations& observations) const override { cradle_.now().Describe(observations); }
  std::string Save() const override { return cradle_.now().Save(); }
  absl::Status Restore(std::string_view saved) override { return cradle_.now().Restore(saved); }

 private:
  Cradle<Role> cradle_;
};

/// A learner that goes on from what it has saved after every message.
class RebornLearner : public UserLearner {
 public:
  RebornLearner(Make<UserLearner> make, int every) : cradle_(std::move(make), every) {}

  std::unique_ptr<UserDevice> MakeDevice() const override { return cradle_.now().MakeDevice(); }
  ArmId Choose(UserView& view, CoinGen& coin, UserDevice& device) const override {
    return cradle_.now().Choose(view, coin, device);
  }
  absl::StatusOr<Count> Report(UserContext& user, ArmId arm, const Raw<LocalRecord>& record,
                               UserDevice& device) const override {
    return cradle_.now().Report(user, arm, record, device);
  }
  void Learn(const LocalMessage& message, Count users) override { cradle_.ForCall().Learn(message, users); }
  bool looks_at_contexts() const override { return cradle_.now().looks_at_contexts(); }
  ArmId Greedy(UserView& view) const override { return cradle_.now().Greedy(view); }
  Count RealsSent(Count users) const override { return cradle_.now().RealsSent(users); }
  void Describe(Observations& observations) const override { cradle_.now().Describe(observations); }
  std::string Save() const override { return cradle_.now().Save(); }
  absl::Status Restore(std::string_view saved) override { return cradle_.now().Restore(saved); }

 private:
  Cradle<UserLearner> cradle_;
};

/// The saved states of roles, by the names of the roles.
using SavedRoles = std::map<std::string, std::string>;

/// Puts down what a role would save when it ends.
template <class Reborn>
class Remembered final : public Reborn {
 public:
  template <class MakeRole>
  Remembered(MakeRole make, int every, SavedRoles& saved, std::string name)
      : Reborn(std::move(make), every), saved_(saved), name_(std::move(name)) {}
  ~Remembered() override { saved_[name_] = Reborn::Save(); }

 private:
  SavedRoles& saved_;
  std::string name_;
};

inline std::string NameOf(const std::string& role, NodeId id) {
  return role + " " + std::to_string(id.value);
}

/// The federation with roles that are reborn at every `every`-th call. Their last states go to `saved`, which
/// must outlive them; those of clients do not.
inline Federation Reborn(Federation federation, int every, SavedRoles& saved) {
  const auto one = [&]<class R>(Make<R>& make, auto tag, const std::string& name) {
    using Wrapped = typename decltype(tag)::type;
    if (make == nullptr) return;
    make = [make, every, &saved, name] {
      return std::make_unique<Remembered<Wrapped>>(make, every, saved, name);
    };
  };
  const auto each = [&]<class R>(Make<R, NodeId>& make, auto tag, const std::string& name) {
    using Wrapped = typename decltype(tag)::type;
    if (make == nullptr) return;
    make = [make, every, &saved, name](NodeId id) {
      return std::make_unique<Remembered<Wrapped>>([make, id] { return make(id); }, every, saved,
                                                   NameOf(name, id));
    };
  };
  if (auto* slots = std::get_if<SlotRoles>(&federation.roles)) {
    slots->group = nullptr;  // every client answers for itself
    slots->client = [make = slots->client, every](NodeId id) {
      return std::make_unique<RebornPlayer>([make, id] { return make(id); }, every);
    };
    one(slots->server, std::type_identity<RebornNode>(), "server");
    one(slots->shuffler, std::type_identity<RebornNode>(), "shuffler");
  } else if (auto* rounds = std::get_if<RoundRoles>(&federation.roles)) {
    each(rounds->controller, std::type_identity<RebornNode>(), "controller");
    each(rounds->agent, std::type_identity<RebornRoundPlayer<double>>(), "agent");
    each(rounds->agent_float, std::type_identity<RebornRoundPlayer<float>>(), "agent");
    one(rounds->shuffler, std::type_identity<RebornNode>(), "shuffler");
  } else if (auto* ticks = std::get_if<TickRoles>(&federation.roles)) {
    one(ticks->server, std::type_identity<RebornNetworkPlayer>(), "server");
    each(ticks->agent, std::type_identity<RebornNetworkPlayer>(), "agent");
  } else if (auto* users = std::get_if<UserRoles>(&federation.roles)) {
    one(users->learner, std::type_identity<RebornLearner>(), "learner");
  }
  return federation;
}

/// One of each role, by the names above.
inline std::map<std::string, std::unique_ptr<Role>> MakeRoles(const Federation& federation) {
  std::map<std::string, std::unique_ptr<Role>> roles;
  if (const auto* slots = std::get_if<SlotRoles>(&federation.roles)) roles["server"] = slots->server();
  if (const auto* rounds = std::get_if<RoundRoles>(&federation.roles)) {
    if (rounds->controller != nullptr) roles["controller 1"] = rounds->controller(NodeId{1});
    roles["agent 1"] = rounds->agent(NodeId{1});
  }
  if (const auto* ticks = std::get_if<TickRoles>(&federation.roles)) {
    if (ticks->server != nullptr) roles["server"] = ticks->server();
    roles["agent 1"] = ticks->agent(NodeId{1});
  }
  if (const auto* users = std::get_if<UserRoles>(&federation.roles)) roles["learner"] = users->learner();
  return roles;
}

}  // namespace bandana::test
