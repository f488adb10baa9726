#include "bandana/service/user_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/algorithms/users/create.h"
#include "bandana/bandit/worlds/glm_users.h"
#include "bandana/core/byte_string.h"
#include "bandana/privacy/wire.h"
#include "bandana/sim/simulate.h"
#include "bandana/sim/user_simulator.h"

namespace bandana::service {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

TEST(UserCodecTest, AMessageComesBackBitForBit) {
  const std::vector<double> entries = {0.1, -0.0, 1e-310, -1.7976931348623157e308, 3};
  const std::string bytes = EncodeUserMessage(Wire::MakeMessage(entries));
  EXPECT_EQ(bytes.size(), 48u);
  const auto message = DecodeUserMessage(bytes, 5);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_THAT(message->entries(), ElementsAreArray(entries));
  EXPECT_TRUE(std::signbit(message->entries()[1]));
  EXPECT_EQ(EncodeUserMessage(*message), bytes);
}

TEST(UserCodecTest, WhatIsMalformedIsRefusedAndNamed) {
  const auto error = [](std::string_view bytes, Count entries) {
    const auto message = DecodeUserMessage(bytes, entries);
    EXPECT_EQ(message.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(message.status().message());
  };
  const std::string good = EncodeUserMessage(Wire::MakeMessage({1, 2}));
  ASSERT_TRUE(DecodeUserMessage(good, 2).ok());
  EXPECT_THAT(error("", 2), HasSubstr("0 bytes"));
  EXPECT_THAT(error(good.substr(0, 20), 2), HasSubstr("20 bytes"));
  EXPECT_THAT(error(good.substr(0, 16), 2), HasSubstr("it has 1 entries, but it announces 2"));
  EXPECT_THAT(error(good + std::string(8, '\0'), 2), HasSubstr("it has 3 entries, but it announces 2"));
  EXPECT_THAT(error(good, 3), HasSubstr("it has 2 entries, but the model takes 3"));
  EXPECT_THAT(error(good, -1), HasSubstr("but the model takes -1"));
  std::string huge = good;
  huge[7] = '\x7f';  // 2^62 entries and more
  EXPECT_THAT(error(huge, 2), HasSubstr("but it announces"));
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::string bytes = ByteString().Add(std::uint64_t{2}).Add(1.0).Add(bad).Take();
    EXPECT_THAT(error(bytes, 2), HasSubstr("entry 1 is"));
  }
}

constexpr std::uint64_t kSeed = 11;
constexpr Count kHorizon = 300;

// A deployment in one process: every user's device has a copy of the server's model, read back from bytes,
// and sends bytes.
std::vector<Pull> DecisionsOverTheWire(const Federation& federation, UserWorld& world) {
  const auto& make = std::get<UserRoles>(federation.roles).learner;
  const std::unique_ptr<UserLearner> server = make();
  RangeCounts counts;
  std::vector<Pull> decisions;
  for (Count before = 0; before < kHorizon && world.Next(); ++before) {
    const std::unique_ptr<UserLearner> model = make();
    const absl::Status restored = model->Restore(server->Save());
    EXPECT_TRUE(restored.ok()) << restored;
    const std::unique_ptr<UserDevice> device = model->MakeDevice();
    sim::UserSeat user(kSeed, 0, before, counts);
    const ArmId arm = model->Choose(world, user.coin(), *device);
    const Raw record(LocalRecord{world.Context(arm), *world.Reward(arm), arm});
    const auto users = model->Report(user, arm, record, *device);
    EXPECT_TRUE(users.ok() && *users == 1) << users.status();
    const Count entries = server->RealsSent(before + 1) - server->RealsSent(before);
    const auto message = DecodeUserMessage(EncodeUserMessage(device->message()), entries);
    EXPECT_TRUE(message.ok()) << message.status();
    server->Learn(*message, 1);
    decisions.push_back({arm, 1});
  }
  return decisions;
}

std::vector<std::pair<std::string, Federation>> Learners(const Facts& facts) {
  const Privacy local{.model = TrustModel::kLocal, .epsilon = 4, .delta = 0.01};
  EXPECT_EQ(local.sampler, Sampler::kExact);
  return {{"ldp-sgd", CreateLdpSgd({}, local, facts).value()},
          {"ldp-ols", CreateLdpOls({}, local, facts).value()},
          {"ldp-ucb", CreateLdpUcb({}, local, facts).value()},
          {"ldp-gloc", CreateLdpGloc({}, local, facts).value()}};
}

TEST(UserCodecTest, LearnersDecideOverTheWireAsInTheSimulator) {
  for (const ParameterKind parameters : {ParameterKind::kSingle, ParameterKind::kMulti}) {
    const auto world = [&] {
      return MakeGlmUsers({.dimension = 2, .actions = 3, .parameters = parameters},
                          {.horizon = kHorizon, .seed = kSeed})
          .value();
    };
    for (const auto& [name, federation] : Learners(world()->facts())) {
      SCOPED_TRACE(name);
      const auto simulated_in = world();
      const auto simulated = sim::SimulateUsers(
          federation, *simulated_in, {.seed = kSeed, .checkpoints = {kHorizon}, .decisions = true});
      ASSERT_TRUE(simulated.ok()) << simulated.status();
      auto deployed_in = world();
      const bool looks = std::get<UserRoles>(federation.roles).learner()->looks_at_contexts();
      if (auto cheaper = deployed_in->ScoresOnly(); cheaper != nullptr && !looks) {
        deployed_in = std::move(cheaper);
      }
      EXPECT_EQ(DecisionsOverTheWire(federation, *deployed_in), simulated->decisions.at(0));
    }
  }
}

}  // namespace
}  // namespace bandana::service
