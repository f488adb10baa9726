#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandana/federation/wire_size.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/federation.pb.h"
#include "rapidcheck/gtest.h"

// Tests of the messages of networks with arms: their encoding, decoding and size.

namespace bandana::service {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Message> ThroughWire(const Payload& body, Count nodes) {
  v1::Message out;
  Encode({NodeId{3}, NodeId{3}, 12, 5, body}, out);
  v1::Message in;
  if (!in.ParseFromString(out.SerializeAsString())) return absl::InternalError("unparsable");
  return Decode(in, nodes);
}

// Generates numbers of any length in bits; most are small.
template <class T>
T AnyNumber(T least) {
  const int bits = *rc::gen::inRange(0, std::numeric_limits<T>::digits + 1);
  const auto top = static_cast<T>(bits == std::numeric_limits<T>::digits ? std::numeric_limits<T>::max()
                                                                         : (T{1} << bits) - 1);
  return std::max(least, static_cast<T>(*rc::gen::arbitrary<std::int64_t>() & std::int64_t{top}));
}

NodeSet AnySet(Count nodes) {
  NodeSet set(nodes);
  for (const std::uint32_t node : *rc::gen::container<std::vector<std::uint32_t>>(
           rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(nodes) + 1))) {
    set.Insert(NodeId{node});
  }
  return set;
}

std::vector<ArmId> AnyArms(int least) {
  std::vector<ArmId> arms;
  const int size = *rc::gen::inRange(least, 12);
  for (int i = 0; i < size; ++i) arms.push_back(AnyNumber<ArmId>(0));
  std::sort(arms.begin(), arms.end());
  arms.erase(std::unique(arms.begin(), arms.end()), arms.end());
  return arms;
}

ArmSums AnySums() {
  ArmSums sums{.agents = AnyNumber<Count>(0),
               .pulls = AnyNumber<Count>(0),
               .arms = AnyArms(0),
               .noise_scale = *rc::gen::element(0., 0.5, 1e-300, 5e-324, 1e100, 1. / 3),
               .noise_terms = AnyNumber<Count>(0)};
  for (std::size_t i = 0; i < sums.arms.size(); ++i) {
    sums.units.push_back(
        *rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(),
                        rc::gen::element<std::int64_t>(0, -1, std::numeric_limits<std::int64_t>::min(),
                                                       std::numeric_limits<std::int64_t>::max())));
  }
  return sums;
}

ReleasedArms Shared(ArmSums sums) {
  return std::make_shared<const Released<ArmSums>>(Wire::MakeArmSums(std::move(sums)));
}

bool Same(const ReleasedArms& a, const ReleasedArms& b) {
  const ArmSums& x = a->value();
  const ArmSums& y = b->value();
  return x.agents == y.agents && x.pulls == y.pulls && x.arms == y.arms && x.units == y.units &&
         std::bit_cast<std::uint64_t>(x.noise_scale) == std::bit_cast<std::uint64_t>(y.noise_scale) &&
         x.noise_terms == y.noise_terms && a->noise_stddev() == b->noise_stddev();
}

Tallies AnyTallies(Count nodes) {
  Tallies tallies{AnyNumber<Epoch>(1), AnyNumber<Count>(0), {}};
  const int size = *rc::gen::inRange(0, 6);
  for (int i = 0; i < size; ++i) {
    const auto origin = *rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(nodes) + 1);
    tallies.tallies.push_back({NodeId{origin}, Shared(AnySums())});
  }
  return tallies;
}

ArmPlan AnyPlan(Count nodes) {
  ArmPlan plan{.epoch = AnyNumber<Epoch>(1),
               .clock = AnyNumber<Count>(0),
               .arms = AnyArms(1),
               .pulls = AnyNumber<Count>(0),
               .hops = AnyNumber<int>(0)};
  for (Count i = 0; i < nodes; ++i) {
    plan.upstream.push_back(
        NodeId{*rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(nodes) + 1)});
  }
  return plan;
}

Count AnyNodes() { return *rc::gen::oneOf(rc::gen::inRange<Count>(1, 40), rc::gen::inRange<Count>(60, 300)); }

RC_GTEST_PROP(ArmCodec, KeepsEveryAdvertAndRequest, ()) {
  const Count nodes = AnyNodes();
  const NodeSet set = AnySet(nodes);
  const Advert advert{AnyNumber<Epoch>(1), AnyNumber<Count>(0), std::make_shared<const NodeSet>(set)};
  const auto result = ThroughWire(advert, nodes);
  RC_ASSERT(result.ok());
  const Advert& copy = std::get<Advert>(result->body);
  RC_ASSERT(copy.epoch == advert.epoch);
  RC_ASSERT(copy.clock == advert.clock);
  RC_ASSERT(*copy.has == set);

  const auto wanted = ThroughWire(Request{advert.epoch, set}, nodes);
  RC_ASSERT(wanted.ok());
  RC_ASSERT(std::get<Request>(wanted->body).epoch == advert.epoch);
  RC_ASSERT(std::get<Request>(wanted->body).wants == set);
}

RC_GTEST_PROP(ArmCodec, KeepsAllTallies, ()) {
  const Count nodes = AnyNodes();
  const Tallies tallies = AnyTallies(nodes);
  const auto result = ThroughWire(tallies, nodes);
  RC_ASSERT(result.ok());
  const Tallies& copy = std::get<Tallies>(result->body);
  RC_ASSERT(copy.epoch == tallies.epoch);
  RC_ASSERT(copy.clock == tallies.clock);
  RC_ASSERT(copy.tallies.size() == tallies.tallies.size());
  for (std::size_t i = 0; i < copy.tallies.size(); ++i) {
    RC_ASSERT(copy.tallies[i].origin == tallies.tallies[i].origin);
    RC_ASSERT(Same(copy.tallies[i].sums, tallies.tallies[i].sums));
  }
}

RC_GTEST_PROP(ArmCodec, KeepsEveryCollection, ()) {
  const Count nodes = AnyNodes();
  const Collected collected{AnyNumber<Epoch>(1), AnySet(nodes), Shared(AnySums())};
  const auto result = ThroughWire(collected, nodes);
  RC_ASSERT(result.ok());
  const Collected& copy = std::get<Collected>(result->body);
  RC_ASSERT(copy.epoch == collected.epoch);
  RC_ASSERT(copy.agents == collected.agents);
  RC_ASSERT(Same(copy.sums, collected.sums));
}

RC_GTEST_PROP(ArmCodec, KeepsEveryPlan, ()) {
  const Count nodes = AnyNodes();
  const ArmPlan plan = AnyPlan(nodes);
  const auto result = ThroughWire(std::make_shared<const ArmPlan>(plan), nodes);
  RC_ASSERT(result.ok());
  const ArmPlan& copy = *std::get<std::shared_ptr<const ArmPlan>>(result->body);
  RC_ASSERT(copy.epoch == plan.epoch);
  RC_ASSERT(copy.clock == plan.clock);
  RC_ASSERT(copy.arms == plan.arms);
  RC_ASSERT(copy.pulls == plan.pulls);
  RC_ASSERT(copy.hops == plan.hops);
  RC_ASSERT(copy.upstream == plan.upstream);
}

// Bodies come last, so a truncated message always lacks a part of them.
RC_GTEST_PROP(ArmCodec, RefusesWhatIsCutOff, ()) {
  const Count nodes = AnyNodes();
  v1::Message out;
  Encode({NodeId{3}, NodeId{3}, 12, 5, AnyTallies(nodes)}, out);
  const std::string bytes = out.SerializeAsString();
  v1::Message in;
  RC_ASSERT(!in.ParseFromString(bytes.substr(0, *rc::gen::inRange<std::size_t>(0, bytes.size()))) ||
            !Decode(in, nodes).ok());
}

RC_GTEST_PROP(ArmCodec, SurvivesBytesThatAreChanged, ()) {
  const Count nodes = AnyNodes();
  v1::Message out;
  const Payload bodies[] = {Advert{1, 2, std::make_shared<const NodeSet>(AnySet(nodes))},
                            Request{1, AnySet(nodes)}, AnyTallies(nodes),
                            Collected{1, AnySet(nodes), Shared(AnySums())},
                            std::make_shared<const ArmPlan>(AnyPlan(nodes))};
  Encode({NodeId{3}, NodeId{3}, 12, 5, bodies[*rc::gen::inRange(0, 5)]}, out);
  std::string bytes = out.SerializeAsString();
  for (int i = 0; i < 3; ++i) {
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
  }
  v1::Message in;
  if (in.ParseFromString(bytes)) (void)Decode(in, nodes);
}

Count EncodedBytes(const Payload& body) {
  v1::Message out;
  Encode({NodeId{3}, NodeId{3}, 12, 5, body}, out);
  switch (out.body_case()) {
    case v1::Message::kAdvert:
      return static_cast<Count>(out.advert().ByteSizeLong());
    case v1::Message::kRequest:
      return static_cast<Count>(out.request().ByteSizeLong());
    case v1::Message::kTallies:
      return static_cast<Count>(out.tallies().ByteSizeLong());
    case v1::Message::kCollected:
      return static_cast<Count>(out.collected().ByteSizeLong());
    default:
      return static_cast<Count>(out.arm_plan().ByteSizeLong());
  }
}

RC_GTEST_PROP(WireSize, IsThatOfTheEncoding, ()) {
  const Count nodes = AnyNodes();
  const Payload bodies[] = {
      Advert{AnyNumber<Epoch>(1), AnyNumber<Count>(0), std::make_shared<const NodeSet>(AnySet(nodes))},
      Request{AnyNumber<Epoch>(1), AnySet(nodes)}, AnyTallies(nodes),
      Collected{AnyNumber<Epoch>(1), AnySet(nodes), Shared(AnySums())},
      std::make_shared<const ArmPlan>(AnyPlan(nodes))};
  for (const Payload& body : bodies) RC_ASSERT(WireBytes(body) == EncodedBytes(body));
}

TEST(WireSize, CountsNumbersOfTallies) {
  const ReleasedArms three = Shared({.arms = {0, 4, 9}, .units = {1, 2, 3}});
  const ReleasedArms one = Shared({.arms = {4}, .units = {2}});
  EXPECT_EQ(RealsIn(Tallies{1, 0, {{NodeId{1}, three}, {NodeId{2}, one}}}), 4);
  EXPECT_EQ(RealsIn(Collected{1, NodeSet(4), three}), 3);
  EXPECT_EQ(RealsIn(Tallies{1, 0, {}}), 0);
  EXPECT_EQ(RealsIn(Advert{1, 0, std::make_shared<const NodeSet>(4)}), 0);
  EXPECT_EQ(RealsIn(Request{1, NodeSet(4)}), 0);
  EXPECT_EQ(RealsIn(std::make_shared<const ArmPlan>(ArmPlan{.arms = {1, 2}})), 0);
}

// By hand: two fields of two bytes each, and a field of two bytes of header and two for twelve nodes.
TEST(WireSize, OfAnAdvertByHand) {
  EXPECT_EQ(WireBytes(Advert{1, 7, std::make_shared<const NodeSet>(12)}), 8);
}

constexpr Count kNodes = 12;

v1::Message Good(const Payload& body) {
  v1::Message out;
  Encode({NodeId{3}, NodeId{3}, 12, 5, body}, out);
  return out;
}

TEST(ArmCodec, RefusesMalformedMessages) {
  struct Case {
    const char* says;
    v1::Message message;
    std::function<void(v1::Message&)> spoil;
  };
  NodeSet set(kNodes);
  set.Insert(NodeId{12});
  const ReleasedArms sums = Shared({.arms = {0, 4}, .units = {1, -2}});
  const v1::Message advert = Good(Advert{1, 7, std::make_shared<const NodeSet>(set)});
  const v1::Message request = Good(Request{1, set});
  const v1::Message tallies = Good(Tallies{1, 7, {{NodeId{12}, sums}}});
  const v1::Message collected = Good(Collected{1, set, sums});
  const v1::Message plan = Good(std::make_shared<const ArmPlan>(
      ArmPlan{.epoch = 1, .arms = {0, 4}, .upstream = std::vector<NodeId>(kNodes, NodeId{12})}));
  for (const v1::Message& good : {advert, request, tallies, collected, plan}) {
    EXPECT_TRUE(Decode(good, kNodes).ok());
    EXPECT_THAT(std::string(Decode(good).status().message()), HasSubstr("this run has no network"));
  }
  const auto spoil_sums = [](const std::function<void(v1::ArmSums&)>& spoil) {
    return [=](v1::Message& m) {
      spoil(m.has_collected() ? *m.mutable_collected()->mutable_sums()
                              : *m.mutable_tallies()->mutable_tallies(0)->mutable_sums());
    };
  };
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<Case> cases = {
      {"advert came with epoch 0", advert, [](v1::Message& m) { m.mutable_advert()->set_epoch(0); }},
      {"advert came with a negative clock: -1", advert,
       [](v1::Message& m) { m.mutable_advert()->set_clock(-1); }},
      {"has 1 bytes, but 12 nodes take 2", advert, [](v1::Message& m) { m.mutable_advert()->set_has("x"); }},
      {"has 3 bytes", advert, [](v1::Message& m) { m.mutable_advert()->set_has("xyz"); }},
      {"a node above 12", advert, [](v1::Message& m) { m.mutable_advert()->set_has("\x01\x10"); }},
      {"request came with epoch -1", request, [](v1::Message& m) { m.mutable_request()->set_epoch(-1); }},
      {"has 0 bytes", request, [](v1::Message& m) { m.mutable_request()->clear_wants(); }},
      {"tallies came with epoch 0", tallies, [](v1::Message& m) { m.mutable_tallies()->set_epoch(0); }},
      {"tallies came with a negative clock: -3", tallies,
       [](v1::Message& m) { m.mutable_tallies()->set_clock(-3); }},
      {"node 0", tallies, [](v1::Message& m) { m.mutable_tallies()->mutable_tallies(0)->set_origin(0); }},
      {"node 13", tallies, [](v1::Message& m) { m.mutable_tallies()->mutable_tallies(0)->set_origin(13); }},
      {"collection came with epoch 0", collected,
       [](v1::Message& m) { m.mutable_collected()->set_epoch(0); }},
      {"has 9 bytes", collected,
       [](v1::Message& m) { m.mutable_collected()->set_agents(std::string(9, 'x')); }},
      {"plan came with epoch 0", plan, [](v1::Message& m) { m.mutable_arm_plan()->set_epoch(0); }},
      {"plan came with a negative clock: -1", plan,
       [](v1::Message& m) { m.mutable_arm_plan()->set_clock(-1); }},
      {"plan has no arms", plan, [](v1::Message& m) { m.mutable_arm_plan()->clear_arms(); }},
      {"plan has a negative number of pulls: -1", plan,
       [](v1::Message& m) { m.mutable_arm_plan()->set_pulls(-1); }},
      {"plan has a negative number of hops: -1", plan,
       [](v1::Message& m) { m.mutable_arm_plan()->set_hops(-1); }},
      {"0 comes after 0", plan, [](v1::Message& m) { m.mutable_arm_plan()->set_arms(1, 0); }},
      {"next hops for 13 nodes, but the network has 12", plan,
       [](v1::Message& m) { m.mutable_arm_plan()->add_upstream(1); }},
      {"node 13 as a next hop", plan, [](v1::Message& m) { m.mutable_arm_plan()->set_upstream(3, 13); }},
  };
  const std::pair<const char*, std::function<void(v1::ArmSums&)>> of_sums[] = {
      {"agents: -1", [](v1::ArmSums& s) { s.set_agents(-1); }},
      {"pulls: -1", [](v1::ArmSums& s) { s.set_pulls(-1); }},
      {"noise terms: -1", [](v1::ArmSums& s) { s.set_noise_terms(-1); }},
      {">= 0, not -1", [](v1::ArmSums& s) { s.set_noise_scale(-1); }},
      {">= 0, not nan", [=](v1::ArmSums& s) { s.set_noise_scale(kNan); }},
      {">= 0, not inf", [=](v1::ArmSums& s) { s.set_noise_scale(kInfinity); }},
      {"2 sums for 3 arms", [](v1::ArmSums& s) { s.add_arms(9); }},
      {"3 sums for 2 arms", [](v1::ArmSums& s) { s.add_units(9); }},
      {"0 comes after 0", [](v1::ArmSums& s) { s.set_arms(1, 0); }},
      {"arm 2147483648", [](v1::ArmSums& s) { s.set_arms(1, 1U << 31); }},
  };
  for (const auto& [says, spoil] : of_sums) {
    cases.push_back({says, tallies, spoil_sums(spoil)});
    cases.push_back({says, collected, spoil_sums(spoil)});
  }
  for (const Case& spoilt : cases) {
    SCOPED_TRACE(spoilt.says);
    v1::Message message = spoilt.message;
    spoilt.spoil(message);
    const absl::Status status = Decode(message, kNodes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(spoilt.says));
  }
}

}  // namespace
}  // namespace bandana::service
