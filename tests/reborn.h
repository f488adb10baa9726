#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bandana/federation/network_player.h"
#include "bandana/federation/node.h"
#include "bandana/federation/round_player.h"

/// Roles that are put away and made anew again and again, as in a process that never lives long: a run of
/// them must be bit for bit the run of roles that live on.
namespace bandana::test {

/// One role, which before every `every`-th call is saved, destroyed, made anew from its parameters and
/// restored. 0: it lives on.
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

  // What is cut short or longer is refused. Of flipped bytes, which a file's digest would show, nothing is
  // asked but that they do no harm.
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
    pulls_.assign(pulls.begin(), pulls.end());  // the role may be gone when they are carried out
    return pulls_;
  }
  absl::Status Observe(Context& context, const Raw<RewardSums>& rewards) override {
    return cradle_.ForCall().Observe(context, rewards);
  }
  bool finished() const override { return cradle_.now().finished(); }
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
  bool finished() const override { return cradle_.now().finished(); }
  std::string Save() const override { return cradle_.now().Save(); }
  absl::Status Restore(std::string_view saved) override { return cradle_.now().Restore(saved); }

 private:
  Cradle<NetworkPlayer> cradle_;
  std::vector<Pull> pulls_;
};

template <class Scalar>
class RebornRoundPlayer final : public RoundPlayer<Scalar> {
 public:
  using Role = RoundPlayer<Scalar>;
  RebornRoundPlayer(typename Cradle<Role>::Make make, int every) : cradle_(std::move(make), every) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    return cradle_.ForCall().OnMessage(context, message);
  }
  Count rounds_ready() const override { return cradle_.now().rounds_ready(); }
  bool Plays(Count round) const override { return cradle_.now().Plays(round); }
  ArmId Act(Context& context, Count round, const DecisionSet<Scalar>& set) override {
    return cradle_.ForCall().Act(context, round, set);
  }
  absl::Status Observe(Context& context, Count round, const Raw<double>& reward) override {
    return cradle_.ForCall().Observe(context, round, reward);
  }
  absl::Status EndRound(Context& context, Count round) override {
    return cradle_.ForCall().EndRound(context, round);
  }
  std::string Save() const override { return cradle_.now().Save(); }
  absl::Status Restore(std::string_view saved) override { return cradle_.now().Restore(saved); }

 private:
  Cradle<Role> cradle_;
};

}  // namespace bandana::test
