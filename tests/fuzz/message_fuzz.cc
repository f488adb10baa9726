#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bandana/privacy/wire.h"
#include "bandana/service/codec.h"
#include "bandana/service/sealed_bit.h"
#include "proto/federation.pb.h"
#include "tests/fuzz/mutate_proto.h"

// Messages between roles (service/codec.h). A message that was decoded
//   - satisfies the limits that codec.h states;
//   - is the same after it was encoded and decoded again.
namespace bandana::fuzz {
namespace {

constexpr Count kNodes[] = {0, 3, 64, 70};

std::string Encoded(const Message& message) {
  v1::Message proto;
  service::Encode(message, proto);
  return proto.SerializeAsString();
}

bool Ascends(const std::vector<ArmId>& arms) {
  return std::adjacent_find(arms.begin(), arms.end(), std::greater_equal<>()) == arms.end() &&
         (arms.empty() || arms.front() >= 0);
}

void CheckQuery(const MeanQuery& query, std::size_t pulls) {
  BANDANA_CHECK(query.clients >= 1);
  for (const Interval& bound : query.bounds) BANDANA_CHECK(bound.low <= bound.high);
  if (query.map.entries.empty()) BANDANA_CHECK(query.bounds.size() == pulls);
}

void CheckSums(const ReleasedSums& released) {
  const RegressionSums& sums = released->value();
  BANDANA_CHECK(sums.step >= 0 && sums.gram.allFinite() && sums.moments.allFinite());
  BANDANA_CHECK(sums.moments.size() >= 1 && sums.gram.rows() == sums.moments.size());
  BANDANA_CHECK(sums.gram == sums.gram.transpose());
  BANDANA_CHECK(sums.gram_noise >= 0 && sums.moment_noise >= 0);
}

void CheckArms(const ReleasedArms& released) {
  const ArmSums& sums = released->value();
  BANDANA_CHECK(Ascends(sums.arms) && sums.arms.size() == sums.units.size());
  BANDANA_CHECK(sums.agents >= 0 && sums.pulls >= 0 && sums.noise_terms >= 0 && sums.noise_scale >= 0);
}

struct LimitsOf {
  Count nodes;

  void operator()(const std::shared_ptr<const Plan>& plan) const {
    BANDANA_CHECK(plan->epoch >= 1);
    for (const Pull& pull : plan->pulls) BANDANA_CHECK(pull.arm >= 0 && pull.count >= 1);
    CheckQuery(plan->query, plan->pulls.size());
  }
  void operator()(const Task& task) const {
    (*this)(task.plan);
    BANDANA_CHECK(task.part >= 0 && static_cast<std::size_t>(task.part) < task.plan->pulls.size());
  }
  void operator()(const Share& share) const {
    BANDANA_CHECK(share.epoch >= 1 && share.hops >= 0 && !Wire::Units(share.report).empty());
    BANDANA_CHECK(share.report.quorum() >= 0 && share.report.bits() >= 0);
  }
  void operator()(const std::shared_ptr<const MixRequest>& request) const {
    std::vector<NodeId> clients = request->clients;
    BANDANA_CHECK(request->epoch >= 1 && !clients.empty());
    BANDANA_CHECK(static_cast<Count>(clients.size()) == request->query.clients);
    std::sort(clients.begin(), clients.end());
    BANDANA_CHECK(std::adjacent_find(clients.begin(), clients.end()) == clients.end());
    BANDANA_CHECK(clients.front() != kServerNode && clients.back() != kShufflerNode);
  }
  void operator()(const Mixed& mixed) const {
    BANDANA_CHECK(mixed.epoch >= 1 && !mixed.reports.empty());
    for (const Report& report : mixed.reports) BANDANA_CHECK(!Wire::Units(report).empty());
  }
  void operator()(const Deal&) const { BANDANA_CHECK(false); }  // never on the wire
  void operator()(const Model& model) const {
    BANDANA_CHECK(model.epoch >= 1 && model.until >= 1);
    if (model.sums != nullptr) CheckSums(model.sums);
  }
  void operator()(const Bulletin& bulletin) const {
    BANDANA_CHECK(bulletin.group >= 0 && bulletin.hops_left >= 0 && bulletin.origin != kShufflerNode);
    CheckSums(bulletin.sums);
  }
  void operator()(const SyncRequest& request) const {
    BANDANA_CHECK(request.group >= 0 && request.hops_left >= 0 && request.round >= 1);
  }
  void operator()(const Advert& advert) const {
    BANDANA_CHECK(advert.epoch >= 1 && advert.clock >= 0 && advert.has->nodes() == nodes);
  }
  void operator()(const Request& request) const {
    BANDANA_CHECK(request.epoch >= 1 && request.wants.nodes() == nodes);
  }
  void operator()(const Tallies& tallies) const {
    BANDANA_CHECK(tallies.epoch >= 1 && tallies.clock >= 0);
    for (const Tally& tally : tallies.tallies) {
      BANDANA_CHECK(tally.origin.value >= 1 && tally.origin.value <= nodes);
      CheckArms(tally.sums);
    }
  }
  void operator()(const Collected& collected) const {
    BANDANA_CHECK(collected.epoch >= 1 && collected.agents.nodes() == nodes);
    CheckArms(collected.sums);
  }
  void operator()(const std::shared_ptr<const ArmPlan>& plan) const {
    BANDANA_CHECK(plan->epoch >= 1 && plan->clock >= 0 && plan->pulls >= 0 && plan->hops >= 0);
    BANDANA_CHECK(!plan->arms.empty() && Ascends(plan->arms));
    BANDANA_CHECK(static_cast<Count>(plan->upstream.size()) == nodes);
    for (const NodeId node : plan->upstream) BANDANA_CHECK(node.value <= nodes);
  }
};

void Run(std::string_view input) {
  v1::Message proto;
  if (!proto.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  for (const Count nodes : kNodes) {
    const absl::StatusOr<Message> message = service::Decode(proto, nodes);
    if (!message.ok()) continue;
    BANDANA_CHECK(message->slot >= 0);
    std::visit(LimitsOf{nodes}, message->body);
    const std::string encoded = Encoded(*message);
    v1::Message again;
    BANDANA_CHECK(again.ParseFromString(encoded));
    const absl::StatusOr<Message> same = service::Decode(again, nodes);
    BANDANA_CHECK(same.ok() && Encoded(*same) == encoded);
  }
  if (!proto.has_sealed_share() || !service::CheckSealed(proto.sealed_share()).ok()) return;
  const service::SealedReport report = service::TakeSealed(*proto.mutable_sealed_share());
  BANDANA_CHECK(report.quorum() >= 0 && !report.coordinates.empty());
  for (const std::string& bits : report.coordinates) {
    BANDANA_CHECK(!bits.empty() && bits.size() % service::kSealedBitBytes == 0);
  }
}

v1::MeanQuery Query() {
  v1::MeanQuery query;
  query.set_clients(2);
  for (int i = 0; i < 2; ++i) query.add_bounds()->set_high(1);
  return query;
}

v1::Plan PlanOfTwo() {
  v1::Plan plan;
  plan.set_epoch(1);
  for (std::uint32_t arm = 0; arm < 2; ++arm) {
    plan.add_pulls()->set_arm(arm);
    plan.mutable_pulls(static_cast<int>(arm))->set_count(5);
  }
  *plan.mutable_query() = Query();
  return plan;
}

v1::RegressionSums TwoMoments() {
  v1::RegressionSums sums;
  for (const double entry : {2., 0.5, 3.}) sums.add_gram(entry);
  for (const double entry : {0.25, -1.}) sums.add_moments(entry);
  return sums;
}

v1::ArmSums TwoArms() {
  v1::ArmSums sums;
  for (std::uint32_t arm = 0; arm < 2; ++arm) {
    sums.add_arms(arm);
    sums.add_units(-5);
  }
  return sums;
}

}  // namespace

Target MakeTarget() {
  Target target{.run = Run, .mutate = ProtoMutator::MutateBytes<v1::Message>, .mutations = 20'000};
  const auto add = [&](const char* name, auto fill) {
    v1::Message message;
    message.set_from(1);
    message.set_origin(1);
    fill(message);
    target.seeds.push_back({name, message.SerializeAsString()});
  };
  add("plan", [](v1::Message& m) { *m.mutable_plan() = PlanOfTwo(); });
  add("task", [](v1::Message& m) {
    *m.mutable_task()->mutable_plan() = PlanOfTwo();
    for (const int clients : {1, 1}) m.mutable_task()->mutable_plan()->mutable_query()->add_dealt(clients);
    m.mutable_task()->set_part(1);
  });
  add("share", [](v1::Message& m) {
    m.mutable_share()->set_epoch(1);
    m.mutable_share()->add_report(-7);
    m.mutable_share()->set_part(0);
  });
  add("mix-request", [](v1::Message& m) {
    m.mutable_mix_request()->set_epoch(1);
    *m.mutable_mix_request()->mutable_query() = Query();
    for (const std::uint32_t client : {7, 9}) m.mutable_mix_request()->add_clients(client);
  });
  add("mixed", [](v1::Message& m) {
    m.mutable_mixed()->set_epoch(1);
    for (int i = 0; i < 2; ++i) m.mutable_mixed()->add_reports()->add_units(-7);
  });
  add("sealed-share", [](v1::Message& m) {
    v1::SealedShare& share = *m.mutable_sealed_share();
    share.set_epoch(1);
    share.set_key_fingerprint(std::string(service::kKeyFingerprintBytes, 'k'));
    share.add_coordinates(std::string(2 * service::kSealedBitBytes, 'x'));
  });
  add("model", [](v1::Message& m) {
    m.mutable_model()->set_epoch(1);
    m.mutable_model()->set_until(10);
    *m.mutable_model()->mutable_sums() = TwoMoments();
  });
  add("bulletin", [](v1::Message& m) { *m.mutable_bulletin()->mutable_sums() = TwoMoments(); });
  add("sync-request", [](v1::Message& m) { m.mutable_sync_request()->set_round(1); });
  add("advert", [](v1::Message& m) {
    m.mutable_advert()->set_epoch(1);
    m.mutable_advert()->set_has("\5");
  });
  add("request", [](v1::Message& m) {
    m.mutable_request()->set_epoch(1);
    m.mutable_request()->set_wants(std::string(8, '\xff'));
  });
  add("tallies", [](v1::Message& m) {
    m.mutable_tallies()->set_epoch(1);
    m.mutable_tallies()->add_tallies()->set_origin(1);
    *m.mutable_tallies()->mutable_tallies(0)->mutable_sums() = TwoArms();
  });
  add("collected", [](v1::Message& m) {
    m.mutable_collected()->set_epoch(1);
    m.mutable_collected()->set_agents("\3");
    *m.mutable_collected()->mutable_sums() = TwoArms();
  });
  add("arm-plan", [](v1::Message& m) {
    m.mutable_arm_plan()->set_epoch(1);
    m.mutable_arm_plan()->add_arms(2);
    for (const std::uint32_t node : {0, 1, 2}) m.mutable_arm_plan()->add_upstream(node);
  });
  return target;
}

}  // namespace bandana::fuzz
