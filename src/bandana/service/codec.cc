#include "bandana/service/codec.h"

#include <cmath>
#include <limits>
#include <utility>

#include "bandana/core/status.h"
#include "bandana/federation/drive.h"
#include "bandana/privacy/wire.h"
#include "fmt/format.h"
#include "proto/federation.pb.h"

namespace bandana::service {
namespace {

absl::Status Malformed(const std::string& what) {
  return absl::InvalidArgumentError("malformed message: " + what);
}

void EncodeBody(const Plan& plan, v1::Plan& out) {
  out.set_epoch(plan.epoch);
  for (const Pull& pull : plan.pulls) {
    v1::Pull& added = *out.add_pulls();
    added.set_arm(static_cast<std::uint32_t>(pull.arm));
    added.set_count(pull.count);
  }
  v1::MeanQuery& query = *out.mutable_query();
  for (const Interval& bound : plan.query.bounds) {
    v1::Interval& added = *query.add_bounds();
    added.set_low(bound.low);
    added.set_high(bound.high);
  }
  query.set_clients(plan.query.clients);
}

void EncodeBody(const Share& share, v1::Share& out) {
  out.set_epoch(share.epoch);
  out.set_hops(share.hops);
  const std::vector<std::int64_t>& units = Wire::Units(share.report);
  out.mutable_report()->Add(units.begin(), units.end());
}

absl::StatusOr<std::shared_ptr<const Plan>> DecodeBody(const v1::Plan& in) {
  if (in.epoch() < 1) return Malformed(fmt::format("a plan of epoch {}", in.epoch()));
  if (in.query().clients() < 1) {
    return Malformed(fmt::format("a question to {} clients", in.query().clients()));
  }
  auto plan = std::make_shared<Plan>();
  plan->epoch = in.epoch();
  plan->pulls.reserve(static_cast<std::size_t>(in.pulls_size()));
  for (const v1::Pull& pull : in.pulls()) {
    if (pull.arm() > static_cast<std::uint32_t>(std::numeric_limits<ArmId>::max())) {
      return Malformed(fmt::format("arm {}", pull.arm()));
    }
    plan->pulls.push_back({static_cast<ArmId>(pull.arm()), pull.count()});
  }
  plan->query.clients = in.query().clients();
  plan->query.bounds.reserve(static_cast<std::size_t>(in.query().bounds_size()));
  for (const v1::Interval& bound : in.query().bounds())
    plan->query.bounds.push_back({bound.low(), bound.high()});
  BANDANA_RETURN_IF_ERROR(ValidatePlan(*plan));
  return plan;
}

absl::StatusOr<Share> DecodeBody(NodeId origin, const v1::Share& in) {
  if (in.epoch() < 1) return Malformed(fmt::format("a share of epoch {}", in.epoch()));
  if (in.hops() < 0) return Malformed(fmt::format("a share with {} hops", in.hops()));
  if (in.report().empty()) return Malformed("a share of nothing");
  return Share{in.epoch(), in.hops(), Wire::FromUnits(origin, {in.report().begin(), in.report().end()})};
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
  } else {
    EncodeBody(*std::get<std::shared_ptr<const Plan>>(message.body), *out.mutable_plan());
  }
}

absl::StatusOr<Message> Decode(const v1::Message& in) {
  if (in.slot() < 0) return Malformed(fmt::format("slot {}", in.slot()));
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
    case v1::Message::BODY_NOT_SET:
      break;
  }
  return Malformed("a body that this version does not know");
}

}  // namespace bandana::service
