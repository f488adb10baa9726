#include "bandana/service/codec.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "bandana/privacy/wire.h"
#include "bandana/service/sealed_bit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/federation.pb.h"
#include "rapidcheck/gtest.h"

namespace bandana::service {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Message> ThroughWire(const Message& message) {
  v1::Message out;
  Encode(message, out);
  v1::Message in;
  if (!in.ParseFromString(out.SerializeAsString())) return absl::InternalError("unparsable");
  return Decode(in);
}

v1::Message GoodPlan() {
  v1::Message message;
  v1::Plan& plan = *message.mutable_plan();
  plan.set_epoch(1);
  plan.add_pulls()->set_count(5);
  plan.mutable_query()->set_clients(3);
  plan.mutable_query()->add_bounds()->set_high(1);
  return message;
}

v1::Message GoodShare() {
  v1::Message message;
  message.mutable_share()->set_epoch(1);
  message.mutable_share()->add_report(-7);
  return message;
}

v1::Message GoodMixRequest() {
  v1::Message message;
  v1::MixRequest& mix_request = *message.mutable_mix_request();
  mix_request.set_epoch(1);
  mix_request.mutable_query()->set_clients(2);
  mix_request.mutable_query()->add_bounds()->set_high(1);
  mix_request.add_clients(7);
  mix_request.add_clients(9);
  return message;
}

v1::Message GoodMixed() {
  v1::Message message;
  message.mutable_mixed()->set_epoch(1);
  message.mutable_mixed()->add_reports()->add_units(-7);
  return message;
}

v1::Message GoodBulletin() {
  v1::Message message;
  v1::Bulletin& bulletin = *message.mutable_bulletin();
  bulletin.set_origin(4);
  for (const double entry : {2., 0.5, 3.}) bulletin.mutable_sums()->add_gram(entry);
  for (const double entry : {0.25, -1.}) bulletin.mutable_sums()->add_moments(entry);
  return message;
}

v1::Message GoodModel() {
  v1::Message message;
  message.mutable_model()->set_epoch(1);
  message.mutable_model()->set_until(10);
  *message.mutable_model()->mutable_sums() = GoodBulletin().bulletin().sums();
  return message;
}

v1::Message GoodRequest() {
  v1::Message message;
  message.mutable_sync_request()->set_origin(4);
  message.mutable_sync_request()->set_round(1);
  return message;
}

v1::SealedShare GoodSealed() {
  v1::SealedShare share;
  share.set_epoch(1);
  share.set_quorum(3);
  share.set_key_fingerprint(std::string(kKeyFingerprintBytes, 'k'));
  share.add_coordinates(std::string(2 * kSealedBitBytes, 'x'));
  return share;
}

RC_GTEST_PROP(Codec, KeepsEveryShare, (std::uint32_t from, std::uint64_t seq)) {
  const auto units = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(rc::gen::oneOf(
      rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange<std::int64_t>(-(1LL << 33), 1LL << 33),
      rc::gen::element(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()))));
  const Epoch epoch = *rc::gen::inRange(1, std::numeric_limits<Epoch>::max());
  const int hops = *rc::gen::inRange(0, 100);
  const Count bits = *rc::gen::inRange<Count>(0, std::numeric_limits<Count>::max());
  const Count quorum = *rc::gen::inRange<Count>(0, std::numeric_limits<Count>::max());
  const Slot slot = *rc::gen::inRange<Slot>(0, std::numeric_limits<Slot>::max());
  const auto result =
      ThroughWire({NodeId{from}, NodeId{~from}, slot, seq,
                   Share{epoch, hops, Wire::FromUnits(NodeId{~from}, units, bits, quorum, "asked")}});
  RC_ASSERT(result.ok());
  RC_ASSERT(result->from == NodeId{from});
  RC_ASSERT(result->origin == NodeId{~from});
  RC_ASSERT(result->slot == slot);
  RC_ASSERT(result->seq == seq);
  const Share& share = std::get<Share>(result->body);
  RC_ASSERT(share.epoch == epoch);
  RC_ASSERT(share.hops == hops);
  RC_ASSERT(Wire::Units(share.report) == units);
  RC_ASSERT(share.report.bits() == bits);
  RC_ASSERT(share.report.quorum() == quorum);
  RC_ASSERT(share.report.question() == "asked");
}

RC_GTEST_PROP(Codec, KeepsEveryRoll, ()) {
  MixRequest mix_request{.epoch = *rc::gen::inRange(1, std::numeric_limits<Epoch>::max())};
  mix_request.query.bounds = {{-2, 3}, {0, 0}};
  const auto clients = *rc::gen::nonEmpty(rc::gen::unique<std::vector<std::uint32_t>>(
      rc::gen::inRange<std::uint32_t>(1, std::numeric_limits<std::uint32_t>::max())));
  for (const std::uint32_t client : clients) mix_request.clients.push_back(NodeId{client});
  mix_request.query.clients = static_cast<Count>(clients.size());
  mix_request.query.cohort = "who";
  const auto result =
      ThroughWire({kServerNode, kServerNode, 0, 1, std::make_shared<const MixRequest>(mix_request)});
  RC_ASSERT(result.ok());
  const MixRequest& copy = *std::get<std::shared_ptr<const MixRequest>>(result->body);
  RC_ASSERT(copy.epoch == mix_request.epoch);
  RC_ASSERT(copy.query == mix_request.query);
  RC_ASSERT(copy.clients == mix_request.clients);
}

RC_GTEST_PROP(Codec, KeepsEveryMix, ()) {
  const auto reports = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::vector<std::int64_t>>>(
      rc::gen::nonEmpty(rc::gen::arbitrary<std::vector<std::int64_t>>())));
  Mixed mixed{.epoch = *rc::gen::inRange(1, std::numeric_limits<Epoch>::max())};
  for (const auto& units : reports) mixed.reports.push_back(Wire::FromUnits({}, units, 12));
  const auto result = ThroughWire({kShufflerNode, kShufflerNode, 0, 1, mixed});
  RC_ASSERT(result.ok());
  const Mixed& copy = std::get<Mixed>(result->body);
  RC_ASSERT(copy.epoch == mixed.epoch);
  RC_ASSERT(copy.reports.size() == reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    RC_ASSERT(Wire::Units(copy.reports[i]) == reports[i]);
    RC_ASSERT(copy.reports[i].bits() == 12);
  }
}

RC_GTEST_PROP(Codec, KeepsEveryPlanBitForBit, ()) {
  Plan plan{.epoch = *rc::gen::inRange(1, std::numeric_limits<Epoch>::max())};
  plan.query.clients = *rc::gen::inRange<Count>(1, std::numeric_limits<Count>::max());
  const int pulls = *rc::gen::inRange(1, 40);
  for (int i = 0; i < pulls; ++i) {
    plan.pulls.push_back({*rc::gen::inRange(0, std::numeric_limits<ArmId>::max()),
                          *rc::gen::inRange<Count>(1, std::numeric_limits<Count>::max())});
    const auto number =
        rc::gen::suchThat(rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                       [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
                          [](double x) { return std::isfinite(x); });
    const double a = *number;
    const double b = *number;
    plan.query.bounds.push_back({std::min(a, b), std::max(a, b)});
  }
  plan.query.map = {.entries = std::vector<double>(2 * plan.query.bounds.size(), -0.1), .radius = 0.3};
  const auto result = ThroughWire({kServerNode, kServerNode, 0, 1, std::make_shared<const Plan>(plan)});
  RC_ASSERT(result.ok());
  const Plan& copy = *std::get<std::shared_ptr<const Plan>>(result->body);
  RC_ASSERT(copy.epoch == plan.epoch);
  RC_ASSERT(copy.pulls == plan.pulls);
  RC_ASSERT(copy.query.clients == plan.query.clients);
  RC_ASSERT(copy.query.map == plan.query.map);
  RC_ASSERT(copy.query.bounds.size() == plan.query.bounds.size());
  for (std::size_t i = 0; i < plan.query.bounds.size(); ++i) {
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    RC_ASSERT(bits(copy.query.bounds[i].low) == bits(plan.query.bounds[i].low));
    RC_ASSERT(bits(copy.query.bounds[i].high) == bits(plan.query.bounds[i].high));
  }
}

rc::Gen<double> FiniteNumber() {
  return rc::gen::suchThat(rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                        [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
                           [](double x) { return std::isfinite(x); });
}

RegressionSums AnySums() {
  const auto d = *rc::gen::inRange<Eigen::Index>(1, 6);
  RegressionSums sums{
      .step = *rc::gen::inRange<std::int64_t>(0, 1000), .gram = Matrix(d, d), .moments = Vector(d)};
  for (Eigen::Index j = 0; j < d; ++j) {
    for (Eigen::Index k = 0; k <= j; ++k) sums.gram(j, k) = sums.gram(k, j) = *FiniteNumber();
    sums.moments[j] = *FiniteNumber();
  }
  sums.gram_noise = std::abs(*FiniteNumber());
  sums.moment_noise = std::abs(*FiniteNumber());
  return sums;
}

ReleasedSums Shared(RegressionSums sums) {
  return std::make_shared<const Released<RegressionSums>>(Wire::MakeSums(std::move(sums)));
}

bool SameBits(const double* a, const double* b, Eigen::Index n) {
  return std::equal(a, a + n, b, [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

bool SameBits(const RegressionSums& a, const RegressionSums& b) {
  return a.step == b.step && a.gram.size() == b.gram.size() && a.moments.size() == b.moments.size() &&
         SameBits(a.gram.data(), b.gram.data(), a.gram.size()) &&
         SameBits(a.moments.data(), b.moments.data(), a.moments.size()) &&
         SameBits(&a.gram_noise, &b.gram_noise, 1) && SameBits(&a.moment_noise, &b.moment_noise, 1);
}

RC_GTEST_PROP(Codec, KeepsEveryBulletinBitForBit, ()) {
  const RegressionSums sums = AnySums();
  const Bulletin bulletin{NodeId{7}, *rc::gen::inRange(0, 9), *rc::gen::inRange(0, 9), Shared(sums)};
  const auto result = ThroughWire({NodeId{3}, NodeId{7}, 12, 5, bulletin});
  RC_ASSERT(result.ok());
  const Bulletin& copy = std::get<Bulletin>(result->body);
  RC_ASSERT(copy.origin == bulletin.origin);
  RC_ASSERT(copy.group == bulletin.group);
  RC_ASSERT(copy.hops_left == bulletin.hops_left);
  RC_ASSERT(SameBits(copy.sums->value(), sums));
  RC_ASSERT(copy.sums->noise_stddev() == bulletin.sums->noise_stddev());
}

RC_GTEST_PROP(Codec, KeepsEveryModelBitForBit, (bool answers, bool first)) {
  const RegressionSums sums = AnySums();
  const Model model{*rc::gen::inRange(1, std::numeric_limits<Epoch>::max()),
                    *rc::gen::inRange<Count>(1, std::numeric_limits<Count>::max()), answers,
                    first ? nullptr : Shared(sums)};
  const auto result = ThroughWire({kServerNode, kServerNode, 0, 1, model});
  RC_ASSERT(result.ok());
  const Model& copy = std::get<Model>(result->body);
  RC_ASSERT(copy.epoch == model.epoch);
  RC_ASSERT(copy.until == model.until);
  RC_ASSERT(copy.answers == answers);
  RC_ASSERT((copy.sums == nullptr) == first);
  if (!first) RC_ASSERT(SameBits(copy.sums->value(), sums));
}

TEST(Codec, KeepsARequest) {
  const auto result = ThroughWire({NodeId{3}, NodeId{7}, 12, 5, SyncRequest{NodeId{7}, 2, 1, 11}});
  ASSERT_TRUE(result.ok());
  const SyncRequest& copy = std::get<SyncRequest>(result->body);
  EXPECT_EQ(copy.origin, NodeId{7});
  EXPECT_EQ(copy.group, 2);
  EXPECT_EQ(copy.hops_left, 1);
  EXPECT_EQ(copy.round, 11);
}

RC_GTEST_PROP(Codec, SurvivesAnyBytes, (const std::string& bytes)) {
  v1::Message in;
  if (in.ParseFromString(bytes)) (void)Decode(in);
}

TEST(Codec, AReportTakesFiveBytesANumber) {
  v1::Message out;
  Encode({NodeId{1}, NodeId{1}, 0, 0,
          Share{1, 0, Wire::FromUnits(NodeId{1}, std::vector<std::int64_t>(20, 1LL << 30))}},
         out);
  EXPECT_LE(out.ByteSizeLong(), 20 * 5 + 16);
}

TEST(Codec, AcceptsTheExamplesThatTheNextTestSpoils) {
  EXPECT_TRUE(Decode(GoodPlan()).ok());
  EXPECT_TRUE(Decode(GoodShare()).ok());
  EXPECT_TRUE(Decode(GoodMixRequest()).ok());
  EXPECT_TRUE(Decode(GoodMixed()).ok());
  EXPECT_TRUE(Decode(GoodBulletin()).ok());
  EXPECT_TRUE(Decode(GoodModel()).ok());
  EXPECT_TRUE(Decode(GoodRequest()).ok());
  EXPECT_TRUE(CheckSealed(GoodSealed()).ok());
}

TEST(Codec, RefusesMalformedMessages) {
  struct Case {
    const char* says;
    v1::Message message;
    std::function<void(v1::Message&)> spoil;
  };
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const double kInfinity = std::numeric_limits<double>::infinity();
  const auto bounds = [](double low, double high) {
    return [=](v1::Message& m) {
      m.mutable_plan()->mutable_query()->mutable_bounds(0)->set_low(low);
      m.mutable_plan()->mutable_query()->mutable_bounds(0)->set_high(high);
    };
  };
  const Case cases[] = {
      {"kind of message", GoodPlan(), [](v1::Message& m) { m.clear_body(); }},
      {"slot is negative: -1", GoodPlan(), [](v1::Message& m) { m.set_slot(-1); }},
      {"epoch 0", GoodPlan(), [](v1::Message& m) { m.mutable_plan()->set_epoch(0); }},
      {"epoch -1", GoodPlan(), [](v1::Message& m) { m.mutable_plan()->set_epoch(-1); }},
      {"0 pulls", GoodPlan(), [](v1::Message& m) { m.mutable_plan()->clear_pulls(); }},
      {"0 times", GoodPlan(), [](v1::Message& m) { m.mutable_plan()->mutable_pulls(0)->set_count(0); }},
      {"-3 times", GoodPlan(), [](v1::Message& m) { m.mutable_plan()->mutable_pulls(0)->set_count(-3); }},
      {"arm 2147483648", GoodPlan(),
       [](v1::Message& m) { m.mutable_plan()->mutable_pulls(0)->set_arm(1U << 31); }},
      {"1 pulls and 0 intervals", GoodPlan(),
       [](v1::Message& m) { m.mutable_plan()->mutable_query()->clear_bounds(); }},
      {"1 pulls and 2 intervals", GoodPlan(),
       [](v1::Message& m) { m.mutable_plan()->mutable_query()->add_bounds(); }},
      {"at least one client, not 0", GoodPlan(),
       [](v1::Message& m) {
         m.mutable_plan()->clear_query();
         m.mutable_plan()->mutable_query()->add_bounds();
       }},
      {"interval", GoodPlan(), bounds(1, 0)},
      {"interval", GoodPlan(), bounds(kNan, 1)},
      {"interval", GoodPlan(), bounds(0, kNan)},
      {"interval", GoodPlan(), bounds(-kInfinity, 1)},
      {"interval", GoodPlan(), bounds(0, kInfinity)},
      {"epoch 0", GoodShare(), [](v1::Message& m) { m.mutable_share()->set_epoch(0); }},
      {"hops: -1", GoodShare(), [](v1::Message& m) { m.mutable_share()->set_hops(-1); }},
      {"no report", GoodShare(), [](v1::Message& m) { m.mutable_share()->clear_report(); }},
      {"quorum: -1", GoodShare(), [](v1::Message& m) { m.mutable_share()->set_quorum(-1); }},
      {"bits: -1", GoodShare(), [](v1::Message& m) { m.mutable_share()->set_bits(-1); }},
      {"mix request has epoch 0", GoodMixRequest(),
       [](v1::Message& m) { m.mutable_mix_request()->set_epoch(0); }},
      {"mix request has no coordinates", GoodMixRequest(),
       [](v1::Message& m) { m.mutable_mix_request()->mutable_query()->clear_bounds(); }},
      {"at least one client, not 0", GoodMixRequest(),
       [](v1::Message& m) { m.mutable_mix_request()->mutable_query()->set_clients(0); }},
      {"mix request names 2 clients, but its query asks 3", GoodMixRequest(),
       [](v1::Message& m) { m.mutable_mix_request()->mutable_query()->set_clients(3); }},
      {"client 7 is in a mix request twice", GoodMixRequest(),
       [](v1::Message& m) { m.mutable_mix_request()->set_clients(1, 7); }},
      {"not a client", GoodMixRequest(), [](v1::Message& m) { m.mutable_mix_request()->set_clients(0, 0); }},
      {"not a client", GoodMixRequest(),
       [](v1::Message& m) { m.mutable_mix_request()->set_clients(0, 0xffffffff); }},
      {"interval", GoodMixRequest(),
       [&](v1::Message& m) { m.mutable_mix_request()->mutable_query()->mutable_bounds(0)->set_low(kNan); }},
      {"mix has epoch 0", GoodMixed(), [](v1::Message& m) { m.mutable_mixed()->set_epoch(0); }},
      {"mix has no reports", GoodMixed(), [](v1::Message& m) { m.mutable_mixed()->clear_reports(); }},
      {"report has no numbers", GoodMixed(), [](v1::Message& m) { m.mutable_mixed()->add_reports(); }},
      {"bits: -5", GoodMixed(), [](v1::Message& m) { m.mutable_mixed()->mutable_reports(0)->set_bits(-5); }},
      {"from a shuffler", GoodBulletin(),
       [](v1::Message& m) { m.mutable_bulletin()->set_origin(0xffffffff); }},
      {"group: -1", GoodBulletin(), [](v1::Message& m) { m.mutable_bulletin()->set_group(-1); }},
      {"hops left: -1", GoodBulletin(), [](v1::Message& m) { m.mutable_bulletin()->set_hops_left(-1); }},
      {"0 entries of a Gram matrix and 0 moments", GoodBulletin(),
       [](v1::Message& m) { m.mutable_bulletin()->clear_sums(); }},
      {"4 entries of a Gram matrix and 2 moments", GoodBulletin(),
       [](v1::Message& m) { m.mutable_bulletin()->mutable_sums()->add_gram(1); }},
      {"3 entries of a Gram matrix and 3 moments", GoodBulletin(),
       [](v1::Message& m) { m.mutable_bulletin()->mutable_sums()->add_moments(1); }},
      {"not finite", GoodBulletin(),
       [&](v1::Message& m) { m.mutable_bulletin()->mutable_sums()->set_gram(1, kNan); }},
      {"not finite", GoodBulletin(),
       [&](v1::Message& m) { m.mutable_bulletin()->mutable_sums()->set_moments(0, -kInfinity); }},
      {">= 0, not -1", GoodBulletin(),
       [](v1::Message& m) { m.mutable_bulletin()->mutable_sums()->set_gram_noise(-1); }},
      {">= 0, not nan", GoodBulletin(),
       [&](v1::Message& m) { m.mutable_bulletin()->mutable_sums()->set_moment_noise(kNan); }},
      {"steps: -1", GoodBulletin(),
       [](v1::Message& m) { m.mutable_bulletin()->mutable_sums()->set_step(-1); }},
      {"model has epoch 0", GoodModel(), [](v1::Message& m) { m.mutable_model()->set_epoch(0); }},
      {"rounds until 0", GoodModel(), [](v1::Message& m) { m.mutable_model()->set_until(0); }},
      {"not finite", GoodModel(),
       [&](v1::Message& m) { m.mutable_model()->mutable_sums()->set_moments(0, kNan); }},
      {"request must not come from a shuffler", GoodRequest(),
       [](v1::Message& m) { m.mutable_sync_request()->set_origin(0xffffffff); }},
      {"group: -1", GoodRequest(), [](v1::Message& m) { m.mutable_sync_request()->set_group(-1); }},
      {"hops left: -1", GoodRequest(), [](v1::Message& m) { m.mutable_sync_request()->set_hops_left(-1); }},
      {"round 0", GoodRequest(), [](v1::Message& m) { m.mutable_sync_request()->set_round(0); }},
      {"sealed", GoodShare(), [](v1::Message& m) { *m.mutable_sealed_share() = GoodSealed(); }},
      {"sealed", GoodShare(), [](v1::Message& m) { m.mutable_sealed_bits()->set_epoch(1); }},
  };
  for (const Case& spoilt : cases) {
    SCOPED_TRACE(spoilt.says);
    v1::Message message = spoilt.message;
    spoilt.spoil(message);
    const absl::Status status = Decode(message).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(spoilt.says));
  }
}

TEST(Codec, RefusesMalformedSealedShares) {
  const std::pair<const char*, std::function<void(v1::SealedShare&)>> cases[] = {
      {"epoch 0", [](v1::SealedShare& s) { s.set_epoch(0); }},
      {"quorum: -1", [](v1::SealedShare& s) { s.set_quorum(-1); }},
      {"wrong length: 0 bytes", [](v1::SealedShare& s) { s.clear_key_fingerprint(); }},
      {"no report", [](v1::SealedShare& s) { s.clear_coordinates(); }},
      {"0 bytes", [](v1::SealedShare& s) { s.add_coordinates(""); }},
      {"97 bytes", [](v1::SealedShare& s) { s.mutable_coordinates(0)->pop_back(); }},
  };
  for (const auto& [says, spoil] : cases) {
    SCOPED_TRACE(says);
    v1::SealedShare share = GoodSealed();
    spoil(share);
    const absl::Status status = CheckSealed(share);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(says));
  }
}

}  // namespace
}  // namespace bandana::service
