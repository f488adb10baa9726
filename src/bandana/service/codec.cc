#include "bandana/service/codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/privacy/wire.h"
#include "bandana/service/arm_codec.h"
#include "bandana/service/malformed.h"
#include "bandana/service/sealed_bit.h"
#include "fmt/format.h"
#include "proto/federation.pb.h"

namespace bandana::service {
namespace {

constexpr Eigen::Index kMostSumsDimension = 2048;  // 16 MB

void EncodeQuery(const MeanQuery& query, v1::MeanQuery& out) {
  for (const Interval& bound : query.bounds) {
    v1::Interval& added = *out.add_bounds();
    added.set_low(bound.low);
    added.set_high(bound.high);
  }
  out.set_clients(query.clients);
  out.set_cohort(query.cohort);
  out.mutable_dealt()->Add(query.dealt.begin(), query.dealt.end());
  out.mutable_map()->Add(query.map.entries.begin(), query.map.entries.end());
  out.set_radius(query.map.radius);
  out.set_goal(query.goal);
  out.set_quorum(query.quorum);
}

void EncodeBody(const Plan& plan, v1::Plan& out) {
  out.set_epoch(plan.epoch);
  for (const Pull& pull : plan.pulls) {
    v1::Pull& added = *out.add_pulls();
    added.set_arm(static_cast<std::uint32_t>(pull.arm));
    added.set_count(pull.count);
  }
  EncodeQuery(plan.query, *out.mutable_query());
}

void EncodeBody(const Share& share, v1::Share& out) {
  out.set_epoch(share.epoch);
  out.set_hops(share.hops);
  const std::vector<std::int64_t>& units = Wire::Units(share.report);
  out.mutable_report()->Add(units.begin(), units.end());
  out.set_quorum(share.report.quorum());
  out.set_question(share.report.question());
  out.set_bits(share.report.bits());
  if (share.report.part() != Report::kWhole) out.set_part(share.report.part());
}

void EncodeBody(const Task& task, v1::Task& out) {
  EncodeBody(*task.plan, *out.mutable_plan());
  out.set_part(task.part);
}

void EncodeBody(const MixRequest& mix_request, v1::MixRequest& out) {
  out.set_epoch(mix_request.epoch);
  EncodeQuery(mix_request.query, *out.mutable_query());
  for (const NodeId client : mix_request.clients) out.add_clients(client.value);
}

void EncodeBody(const Mixed& mixed, v1::Mixed& out) {
  out.set_epoch(mixed.epoch);
  for (const Report& report : mixed.reports) {
    const std::vector<std::int64_t>& units = Wire::Units(report);
    v1::MixedReport& added = *out.add_reports();
    added.mutable_units()->Add(units.begin(), units.end());
    added.set_bits(report.bits());
  }
}

void EncodeSums(const RegressionSums& sums, v1::RegressionSums& out) {
  BANDANA_CHECK(sums.gram == sums.gram.transpose());  // only half of it is sent
  out.set_step(sums.step);
  for (Eigen::Index j = 0; j < sums.gram.rows(); ++j) {
    for (Eigen::Index k = 0; k <= j; ++k) out.add_gram(sums.gram(j, k));
  }
  for (const double moment : sums.moments) out.add_moments(moment);
  out.set_gram_noise(sums.gram_noise);
  out.set_moment_noise(sums.moment_noise);
}

void EncodeBody(const Model& model, v1::Model& out) {
  out.set_epoch(model.epoch);
  out.set_until(model.until);
  out.set_answers(model.answers);
  if (model.sums != nullptr) EncodeSums(model.sums->value(), *out.mutable_sums());
}

void EncodeBody(const Bulletin& bulletin, v1::Bulletin& out) {
  out.set_origin(bulletin.origin.value);
  out.set_group(bulletin.group);
  out.set_hops_left(bulletin.hops_left);
  EncodeSums(bulletin.sums->value(), *out.mutable_sums());
}

void EncodeBody(const SyncRequest& request, v1::SyncRequest& out) {
  out.set_origin(request.origin.value);
  out.set_group(request.group);
  out.set_hops_left(request.hops_left);
  out.set_round(request.round);
}

absl::StatusOr<MeanQuery> DecodeQuery(const v1::MeanQuery& in) {
  if (in.clients() < 1)
    return Malformed(fmt::format("a query must ask at least one client, not {}", in.clients()));
  MeanQuery query{.clients = in.clients(), .cohort = in.cohort()};
  query.bounds.reserve(static_cast<std::size_t>(in.bounds_size()));
  for (const v1::Interval& bound : in.bounds()) query.bounds.push_back({bound.low(), bound.high()});
  query.dealt.assign(in.dealt().begin(), in.dealt().end());
  query.map.entries.assign(in.map().begin(), in.map().end());
  query.map.radius = in.radius();
  query.goal = in.goal();
  query.quorum = in.quorum() == 0 ? 1 : in.quorum();
  if (!(query.goal >= 0 && query.goal <= query.clients)) {
    return Malformed(
        fmt::format("a query waits for {} answers, but asks {} clients", query.goal, query.clients));
  }
  if (!(query.quorum > 0 && query.quorum <= 1)) {
    return Malformed(fmt::format("a query has the quorum {}, which is not in (0, 1]", query.quorum));
  }
  return query;
}

absl::StatusOr<std::shared_ptr<const Plan>> DecodeBody(const v1::Plan& in) {
  if (in.epoch() < 1) return Malformed(fmt::format("a plan has epoch {}, but epochs start at 1", in.epoch()));
  auto plan = std::make_shared<Plan>();
  plan->epoch = in.epoch();
  plan->pulls.reserve(static_cast<std::size_t>(in.pulls_size()));
  for (const v1::Pull& pull : in.pulls()) {
    if (pull.arm() > static_cast<std::uint32_t>(std::numeric_limits<ArmId>::max())) {
      return Malformed(fmt::format("arm {} is too large", pull.arm()));
    }
    plan->pulls.push_back({static_cast<ArmId>(pull.arm()), pull.count()});
  }
  BANDANA_ASSIGN_OR_RETURN(plan->query, DecodeQuery(in.query()));
  BANDANA_RETURN_IF_ERROR(ValidatePlan(*plan));
  return plan;
}

absl::StatusOr<Share> DecodeBody(NodeId origin, const v1::Share& in) {
  if (in.epoch() < 1)
    return Malformed(fmt::format("a share has epoch {}, but epochs start at 1", in.epoch()));
  if (in.hops() < 0) return Malformed(fmt::format("a share has a negative number of hops: {}", in.hops()));
  if (in.report().empty()) return Malformed("a share has no report");
  if (in.quorum() < 0) return Malformed(fmt::format("a share has a negative quorum: {}", in.quorum()));
  if (in.bits() < 0) return Malformed(fmt::format("a share has a negative number of bits: {}", in.bits()));
  if (in.has_part() && in.part() < 0)
    return Malformed(fmt::format("a share has a negative part: {}", in.part()));
  return Share{in.epoch(), in.hops(),
               Wire::FromUnits(origin, {in.report().begin(), in.report().end()}, in.bits(), in.quorum(),
                               in.question(), in.has_part() ? in.part() : Report::kWhole)};
}

absl::StatusOr<Task> DecodeBody(const v1::Task& in) {
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, DecodeBody(in.plan()));
  return Task{std::move(plan), in.part()};
}

absl::StatusOr<std::shared_ptr<const MixRequest>> DecodeBody(const v1::MixRequest& in) {
  if (in.epoch() < 1)
    return Malformed(fmt::format("a mix request has epoch {}, but epochs start at 1", in.epoch()));
  auto mix_request = std::make_shared<MixRequest>();
  mix_request->epoch = in.epoch();
  BANDANA_ASSIGN_OR_RETURN(mix_request->query, DecodeQuery(in.query()));
  if (mix_request->query.bounds.empty()) return Malformed("a mix request has no coordinates");
  BANDANA_RETURN_IF_ERROR(ValidateQuery(mix_request->query));
  if (in.clients_size() != mix_request->query.clients) {
    return Malformed(fmt::format("a mix request names {} clients, but its query asks {}", in.clients_size(),
                                 mix_request->query.clients));
  }
  absl::flat_hash_set<NodeId> named;
  mix_request->clients.reserve(static_cast<std::size_t>(in.clients_size()));
  for (const std::uint32_t client : in.clients()) {
    const NodeId id{client};
    if (id == kServerNode || id == kShufflerNode)
      return Malformed("a mix request names a node that is not a client");
    if (!named.insert(id).second)
      return Malformed(fmt::format("client {} is in a mix request twice", client));
    mix_request->clients.push_back(id);
  }
  return mix_request;
}

absl::StatusOr<Mixed> DecodeBody(const v1::Mixed& in) {
  if (in.epoch() < 1) return Malformed(fmt::format("a mix has epoch {}, but epochs start at 1", in.epoch()));
  if (in.reports().empty()) return Malformed("a mix has no reports");
  Mixed mixed{in.epoch(), {}};
  mixed.reports.reserve(static_cast<std::size_t>(in.reports_size()));
  for (const v1::MixedReport& report : in.reports()) {
    if (report.units().empty()) return Malformed("a mixed report has no numbers");
    if (report.bits() < 0)
      return Malformed(fmt::format("a mixed report has a negative number of bits: {}", report.bits()));
    mixed.reports.push_back(
        Wire::FromUnits({}, {report.units().begin(), report.units().end()}, report.bits()));
  }
  return mixed;
}

absl::StatusOr<ReleasedSums> DecodeSums(const v1::RegressionSums& in) {
  const Eigen::Index d = in.moments_size();
  if (d < 1 || d > kMostSumsDimension || in.gram_size() != d * (d + 1) / 2) {
    return Malformed(
        fmt::format("the sums have {} entries of a Gram matrix and {} moments, which do not fit together",
                    in.gram_size(), d));
  }
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(in.gram().begin(), in.gram().end(), finite) ||
      !std::all_of(in.moments().begin(), in.moments().end(), finite)) {
    return Malformed("the sums are not finite");
  }
  for (const double noise : {in.gram_noise(), in.moment_noise()}) {
    if (!(noise >= 0 && std::isfinite(noise)))
      return Malformed(fmt::format("the noise of the sums must be a finite number >= 0, not {}", noise));
  }
  if (in.step() < 0) return Malformed(fmt::format("the sums have a negative number of steps: {}", in.step()));
  RegressionSums sums{.step = in.step(),
                      .gram = Matrix(d, d),
                      .moments = Vector(d),
                      .gram_noise = in.gram_noise(),
                      .moment_noise = in.moment_noise()};
  int next = 0;
  for (Eigen::Index j = 0; j < d; ++j) {
    for (Eigen::Index k = 0; k <= j; ++k) sums.gram(j, k) = sums.gram(k, j) = in.gram(next++);
    sums.moments[j] = in.moments(static_cast<int>(j));
  }
  return std::make_shared<const Released<RegressionSums>>(Wire::MakeSums(std::move(sums)));
}

absl::StatusOr<Model> DecodeBody(const v1::Model& in) {
  if (in.epoch() < 1)
    return Malformed(fmt::format("a model has epoch {}, but epochs start at 1", in.epoch()));
  if (in.until() < 1)
    return Malformed(fmt::format("a model is for rounds until {}, but rounds start at 1", in.until()));
  Model model{.epoch = in.epoch(), .until = in.until(), .answers = in.answers(), .sums = nullptr};
  if (in.has_sums()) {
    BANDANA_ASSIGN_OR_RETURN(model.sums, DecodeSums(in.sums()));
  }
  return model;
}

absl::Status CheckFlood(const char* what, std::uint32_t origin, int group, int hops_left) {
  if (NodeId{origin} == kShufflerNode)
    return Malformed(fmt::format("a {} must not come from a shuffler", what));
  if (group < 0) return Malformed(fmt::format("a {} is for a negative group: {}", what, group));
  if (hops_left < 0)
    return Malformed(fmt::format("a {} has a negative number of hops left: {}", what, hops_left));
  return absl::OkStatus();
}

absl::StatusOr<Bulletin> DecodeBody(const v1::Bulletin& in) {
  BANDANA_RETURN_IF_ERROR(CheckFlood("bulletin", in.origin(), in.group(), in.hops_left()));
  BANDANA_ASSIGN_OR_RETURN(ReleasedSums sums, DecodeSums(in.sums()));
  return Bulletin{NodeId{in.origin()}, in.group(), in.hops_left(), std::move(sums)};
}

absl::StatusOr<SyncRequest> DecodeBody(const v1::SyncRequest& in) {
  BANDANA_RETURN_IF_ERROR(CheckFlood("request", in.origin(), in.group(), in.hops_left()));
  if (in.round() < 1)
    return Malformed(fmt::format("a request is for round {}, but rounds start at 1", in.round()));
  return SyncRequest{NodeId{in.origin()}, in.group(), in.hops_left(), in.round()};
}

}  // namespace

void Encode(const Message& message, v1::Message& out) {
  out.Clear();
  out.set_from(message.from.value);
  out.set_origin(message.origin.value);
  out.set_slot(message.slot);
  out.set_seq(message.seq);
  if (const auto* share = std::get_if<Share>(&message.body)) {
    EncodeBody(*share, *out.mutable_share());
  } else if (const auto* plan = std::get_if<std::shared_ptr<const Plan>>(&message.body)) {
    EncodeBody(**plan, *out.mutable_plan());
  } else if (const auto* mix_request = std::get_if<std::shared_ptr<const MixRequest>>(&message.body)) {
    EncodeBody(**mix_request, *out.mutable_mix_request());
  } else if (const auto* task = std::get_if<Task>(&message.body)) {
    EncodeBody(*task, *out.mutable_task());
  } else if (const auto* model = std::get_if<Model>(&message.body)) {
    EncodeBody(*model, *out.mutable_model());
  } else if (const auto* bulletin = std::get_if<Bulletin>(&message.body)) {
    EncodeBody(*bulletin, *out.mutable_bulletin());
  } else if (const auto* request = std::get_if<SyncRequest>(&message.body)) {
    EncodeBody(*request, *out.mutable_sync_request());
  } else if (const auto* advert = std::get_if<Advert>(&message.body)) {
    EncodeBody(*advert, *out.mutable_advert());
  } else if (const auto* wanted = std::get_if<Request>(&message.body)) {
    EncodeBody(*wanted, *out.mutable_request());
  } else if (const auto* tallies = std::get_if<Tallies>(&message.body)) {
    EncodeBody(*tallies, *out.mutable_tallies());
  } else if (const auto* collected = std::get_if<Collected>(&message.body)) {
    EncodeBody(*collected, *out.mutable_collected());
  } else if (const auto* arm_plan = std::get_if<std::shared_ptr<const ArmPlan>>(&message.body)) {
    EncodeBody(**arm_plan, *out.mutable_arm_plan());
  } else {
    EncodeBody(std::get<Mixed>(message.body), *out.mutable_mixed());
  }
}

absl::StatusOr<Message> Decode(const v1::Message& in, Count nodes) {
  if (in.slot() < 0) return Malformed(fmt::format("the slot is negative: {}", in.slot()));
  Message message{NodeId{in.from()}, NodeId{in.origin()}, in.slot(), in.seq(), {}};
  switch (in.body_case()) {
    case v1::Message::kPlan: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.plan()));
      return message;
    }
    case v1::Message::kShare: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(message.origin, in.share()));
      return message;
    }
    case v1::Message::kMixRequest: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.mix_request()));
      return message;
    }
    case v1::Message::kMixed: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.mixed()));
      return message;
    }
    case v1::Message::kTask: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.task()));
      BANDANA_RETURN_IF_ERROR(PlanOf(message).status());
      return message;
    }
    case v1::Message::kModel: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.model()));
      return message;
    }
    case v1::Message::kBulletin: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.bulletin()));
      return message;
    }
    case v1::Message::kSyncRequest: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.sync_request()));
      return message;
    }
    case v1::Message::kAdvert: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.advert(), nodes));
      return message;
    }
    case v1::Message::kRequest: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.request(), nodes));
      return message;
    }
    case v1::Message::kTallies: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.tallies(), nodes));
      return message;
    }
    case v1::Message::kCollected: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.collected(), nodes));
      return message;
    }
    case v1::Message::kArmPlan: {
      BANDANA_ASSIGN_OR_RETURN(message.body, DecodeBody(in.arm_plan(), nodes));
      return message;
    }
    case v1::Message::kSealedShare:
    case v1::Message::kSealedBits:
      return Malformed("it has sealed bits, but numbers are expected");
    case v1::Message::BODY_NOT_SET:
      break;
  }
  return Malformed("this version does not know this kind of message");
}

absl::Status CheckSealed(const v1::SealedShare& in) {
  if (in.epoch() < 1)
    return Malformed(fmt::format("a share has epoch {}, but epochs start at 1", in.epoch()));
  if (in.quorum() < 0) return Malformed(fmt::format("a share has a negative quorum: {}", in.quorum()));
  if (in.key_fingerprint().size() != kKeyFingerprintBytes) {
    return Malformed(
        fmt::format("the fingerprint of the key has a wrong length: {} bytes", in.key_fingerprint().size()));
  }
  if (in.coordinates().empty()) return Malformed("a share has no report");
  for (const std::string& bits : in.coordinates()) {
    if (bits.empty() || bits.size() % kSealedBitBytes != 0) {
      return Malformed(
          fmt::format("the sealed bits have {} bytes, but each bit takes {}", bits.size(), kSealedBitBytes));
    }
  }
  return absl::OkStatus();
}

SealedReport TakeSealed(v1::SealedShare& in) {
  SealedReport report{.coordinates = {},
                      .among = in.quorum(),
                      .asked = in.question(),
                      .key_fingerprint = in.key_fingerprint()};
  report.coordinates.reserve(static_cast<std::size_t>(in.coordinates_size()));
  for (std::string& bits : *in.mutable_coordinates()) report.coordinates.push_back(std::move(bits));
  return report;
}

}  // namespace bandana::service
