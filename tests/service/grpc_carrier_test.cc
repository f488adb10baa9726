#include "bandana/service/grpc_carrier.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/service/raw_peers.h"

namespace bandana::service {
namespace {

// Takes no part in anything.
class IdleMachine final : public Machine {
 public:
  void Attach(store::StoreLedger&, const store::Key&) override {}
  absl::Status Admits(const std::string&) const override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string&, std::string_view) const override {
    return std::make_unique<Input>();
  }
  absl::Status Begin() override { return absl::OkStatus(); }
  absl::Status Check(const std::string&, const Input&) const override { return absl::OkStatus(); }
  absl::Status Take(const std::string&, Input&) override { return absl::OkStatus(); }
  Absence JudgeAbsence(const std::string&) const override { return Absence::kWait; }
  absl::Status Lose(const std::string&, const std::string&) override { return absl::OkStatus(); }
  void Abort(const absl::Status&) override {}
  bool over() const override { return false; }
  absl::Status result() const override { return absl::OkStatus(); }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::OkStatus(); }
};

// The other end answers signs of life, but reads nothing, so that what is written stays here.
TEST(GrpcCarrierTest, ShutdownDoesNotWaitForAnEndThatReadsNothing) {
  absl::Notification is_over;
  RawServer server([&](RawEnd&) { is_over.WaitForNotification(); });
  const IdleMachine machine;
  const std::unique_ptr<GrpcCarrier> carrier =
      GrpcCarrier::Open({.dial = {{"server", server.address()}}}, machine).value();
  const auto next = [&]() -> GrpcCarrier::Event {
    return std::move(carrier->Wait(absl::Now() + absl::Seconds(30), 1).at(0));
  };
  GrpcCarrier::Event event = next();
  while (event.kind == GrpcCarrier::Event::Kind::kNotReached) event = next();
  ASSERT_EQ(event.kind, GrpcCarrier::Event::Kind::kDialed);
  const ConnectionId id = event.connection;
  carrier->Send(id, OpeningFrame("agent/1", "server"));
  ASSERT_EQ(next().kind, GrpcCarrier::Event::Kind::kFrame);
  v1::Frame frame;
  frame.mutable_data()->set_body(std::string(1 << 20, 'x'));
  for (int i = 0; i < 64; ++i) carrier->Send(id, frame);
  absl::SleepFor(absl::Milliseconds(200));
  const absl::Time began = absl::Now();
  carrier->Shutdown();
  EXPECT_LT(absl::Now() - began, absl::Seconds(8));
  is_over.Notify();
}

}  // namespace
}  // namespace bandana::service
