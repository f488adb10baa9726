#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/service/machine.h"
#include "proto/federation.pb.h"
#include "tests/service/world/world.h"

/// Roles that are broken on purpose. A world must find each of them.
namespace bandana::service {

/// Does what another machine does. A derived class does something else at one point.
class ForwardingMachine : public Machine {
 public:
  explicit ForwardingMachine(Machine& inner) : inner_(inner) {}

  void Attach(store::StoreLedger& ledger, const store::Key& secret) override {
    inner_.Attach(ledger, secret);
  }
  absl::Status Admits(const std::string& link) const override { return inner_.Admits(link); }
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string& link, std::string_view body) const override {
    return inner_.Read(link, body);
  }
  absl::Status Begin() override { return Then(inner_.Begin()); }
  absl::Status Check(const std::string& link, const Input& input) const override {
    return inner_.Check(link, input);
  }
  absl::Status Take(const std::string& link, Input& input) override { return Then(inner_.Take(link, input)); }
  absl::StatusOr<bool> Work() override {
    absl::StatusOr<bool> more = inner_.Work();
    Pass();
    return more;
  }
  Absence JudgeAbsence(const std::string& link) const override { return inner_.JudgeAbsence(link); }
  absl::Status Lose(const std::string& link, const std::string& why) override {
    return Then(inner_.Lose(link, why));
  }
  bool MayStartAnew(const std::string& link) const override { return inner_.MayStartAnew(link); }
  void Abort(const absl::Status& why) override {
    inner_.Abort(why);
    Pass();
  }
  absl::Status Missing() const override { return inner_.Missing(); }
  std::string Awaits() const override { return inner_.Awaits(); }
  bool over() const override { return inner_.over(); }
  absl::Status result() const override { return inner_.result(); }
  std::string Save() const override { return inner_.Save(); }
  absl::Status Restore(std::string_view saved) override { return Then(inner_.Restore(saved)); }

 protected:
  Machine& inner() { return inner_; }
  const Machine& inner() const { return inner_; }
  virtual void Change(std::vector<Outgoing>&) {}

 private:
  absl::Status Then(absl::Status status) {
    Pass();
    return status;
  }
  void Pass() {
    std::vector<Outgoing> outgoing = inner_.TakeOutgoing();
    Change(outgoing);
    for (Outgoing& each : outgoing) Send(std::move(each.link), std::move(each.body));
    for (std::function<void()>& news : inner_.TakeNews()) Tell(std::move(news));
    if (inner_.TakeClosed()) SetClosed();
  }

  Machine& inner_;
};

/// Its snapshots lack the last message that it has taken.
class ForgetfulMachine final : public ForwardingMachine {
 public:
  using ForwardingMachine::ForwardingMachine;
  absl::Status Take(const std::string& link, Input& input) override {
    before_ = inner().Save();
    return ForwardingMachine::Take(link, input);
  }
  std::string Save() const override { return before_.empty() ? inner().Save() : before_; }

 private:
  std::string before_;
};

/// Sends each mix twice, if it is a shuffler.
class RemixingMachine final : public ForwardingMachine {
 public:
  using ForwardingMachine::ForwardingMachine;

 private:
  void Change(std::vector<Outgoing>& outgoing) override {
    std::vector<Outgoing> twice;
    for (const Outgoing& each : outgoing) {
      v1::FromAgent message;
      const bool is_mix = message.ParseFromString(each.body) && message.shares().messages_size() == 1 &&
                          message.shares().messages(0).has_mixed();
      twice.push_back(each);
      if (is_mix) twice.push_back(each);
    }
    outgoing = std::move(twice);
  }
};

/// Mixes without the first report, if it is a shuffler that permutes reports.
class DroppingMachine final : public ForwardingMachine {
 public:
  using ForwardingMachine::ForwardingMachine;

 private:
  void Change(std::vector<Outgoing>& outgoing) override {
    for (Outgoing& each : outgoing) {
      v1::FromAgent message;
      if (!message.ParseFromString(each.body) || message.shares().messages_size() != 1) continue;
      if (!message.shares().messages(0).has_mixed()) continue;
      auto& reports = *message.mutable_shares()->mutable_messages(0)->mutable_mixed()->mutable_reports();
      if (reports.size() > 1) reports.DeleteSubrange(0, 1);
      each.body = message.SerializeAsString();
    }
  }
};

template <class Planted>
class PlantedActor final : public Actor {
 public:
  explicit PlantedActor(std::unique_ptr<Actor> actor)
      : actor_(std::move(actor)), machine_(actor_->machine()) {}
  Machine& machine() override { return machine_; }

  static std::unique_ptr<Actor> Of(std::unique_ptr<Actor> actor) {
    return std::make_unique<PlantedActor>(std::move(actor));
  }

 private:
  std::unique_ptr<Actor> actor_;
  Planted machine_;
};

}  // namespace bandana::service
