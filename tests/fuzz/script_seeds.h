#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "script.pb.h"
#include "tests/fuzz/processes.h"

/// Returns scripts in which all goes well, one for each kind of process.
namespace bandana::fuzz {

inline Event OpenBy(std::uint32_t connection, std::uint32_t partner) {
  Event event;
  event.set_connection(connection);
  event.set_open(partner);
  return event;
}

inline Event Joins(std::uint32_t connection, std::uint32_t first, std::uint64_t count) {
  Event event;
  event.set_connection(connection);
  event.mutable_from_agent()->mutable_join()->set_first_client(first);
  event.mutable_from_agent()->mutable_join()->set_client_count(count);
  return event;
}

inline Event Says(std::uint32_t connection, const v1::Message& message,
                  const std::vector<std::uint32_t>& to) {
  Event event;
  event.set_connection(connection);
  v1::Delivery& delivery = *event.mutable_to_agent()->mutable_delivery();
  delivery.mutable_to()->Add(to.begin(), to.end());
  *delivery.mutable_message() = message;
  return event;
}

inline v1::Message PlanMessage() {
  v1::Message message;
  v1::Plan& plan = *message.mutable_plan();
  plan.set_epoch(1);
  plan.mutable_query()->set_clients(6);
  for (std::uint32_t arm = 0; arm < 2; ++arm) {
    plan.add_pulls()->set_arm(arm);
    plan.mutable_pulls(static_cast<int>(arm))->set_count(3);
    plan.mutable_query()->add_bounds()->set_high(2);
  }
  return message;
}

inline v1::Message MixRequestMessage() {
  v1::Message message;
  v1::MixRequest& request = *message.mutable_mix_request();
  request.set_epoch(1);
  *request.mutable_query() = PlanMessage().plan().query();
  for (std::uint32_t client : {1, 2, 3, 13, 14, 15}) request.add_clients(client);
  return message;
}

inline Event SharesOf(std::uint32_t connection, const std::vector<std::uint32_t>& clients, bool sealed) {
  Event event;
  event.set_connection(connection);
  for (const std::uint32_t client : clients) {
    v1::Message& message = *event.mutable_from_agent()->mutable_shares()->add_messages();
    message.set_from(client);
    message.set_origin(client);
    if (sealed) {
      v1::SealedShare& share = *message.mutable_sealed_share();
      share.set_epoch(1);
      share.set_key_fingerprint(std::string(32, 'k'));
      for (int i = 0; i < 2; ++i) share.add_coordinates(std::string(49, 's'));
    } else {
      v1::Share& share = *message.mutable_share();
      share.set_epoch(1);
      for (int i = 0; i < 2; ++i) share.add_report(1 << 28);
    }
  }
  return event;
}

inline Event MixOf(std::uint32_t connection, bool sealed) {
  Event event;
  event.set_connection(connection);
  v1::Message& message = *event.mutable_from_agent()->mutable_shares()->add_messages();
  message.set_from(kShufflerNode.value);
  message.set_origin(kShufflerNode.value);
  if (sealed) {
    message.mutable_sealed_bits()->set_epoch(1);
    message.mutable_sealed_bits()->set_bits(std::string(98, 'b'));
  } else {
    message.mutable_mixed()->set_epoch(1);
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (j == 0) message.mutable_mixed()->add_reports();
        message.mutable_mixed()->mutable_reports(i)->add_units(5);
      }
    }
  }
  return event;
}

inline v1::RegressionSums Sums(int dimension) {
  v1::RegressionSums sums;
  sums.set_step(4);
  for (int i = 0; i < dimension; ++i) {
    for (int j = 0; j <= i; ++j) sums.add_gram(i == j ? 3 : 0.5);
    sums.add_moments(0.25);
  }
  sums.set_gram_noise(1);
  sums.set_moment_noise(1);
  return sums;
}

inline v1::Message ModelMessage() {
  v1::Message message;
  message.mutable_model()->set_epoch(1);
  message.mutable_model()->set_until(4);
  message.mutable_model()->set_answers(true);
  return message;
}

// A packet of a slot, with messages of this kind.
inline Event PacketOf(std::uint32_t connection, std::uint32_t from, Slot slot,
                      const std::vector<v1::Message>& messages) {
  Event event;
  event.set_connection(connection);
  v1::Packet& packet = *event.mutable_to_peer()->mutable_packet();
  packet.set_slot(slot);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    v1::Message& added = *packet.add_messages();
    added = messages[i];
    added.set_from(from);
    added.set_slot(slot);
    added.set_seq(static_cast<std::uint64_t>(slot) * 8 + i);
  }
  return event;
}

inline v1::ArmSums SumsOfArms() {
  v1::ArmSums sums;
  sums.set_agents(1);
  sums.set_pulls(10);
  for (std::uint32_t arm = 0; arm < 3; ++arm) {
    sums.add_arms(arm);
    sums.add_units(1 << 20);
  }
  sums.set_noise_scale(0.5);
  sums.set_noise_terms(1);
  return sums;
}

// Returns messages that a node in lock step sends in a slot, to any of its neighbours.
inline std::vector<v1::Message> NodeMessages(const ProcessKind& kind, std::uint32_t from) {
  std::vector<v1::Message> messages;
  const std::string name = kind.name;
  if (name == "peer") {
    v1::Message& bulletin = messages.emplace_back();
    bulletin.mutable_bulletin()->set_origin(from);
    *bulletin.mutable_bulletin()->mutable_sums() = Sums(2);
    v1::Message& request = messages.emplace_back();
    request.mutable_sync_request()->set_origin(from);
    request.mutable_sync_request()->set_round(1);
    return messages;
  }
  if (from == 0) {
    v1::ArmPlan& plan = *messages.emplace_back().mutable_arm_plan();
    plan.set_epoch(1);
    for (std::uint32_t arm = 0; arm < 3; ++arm) plan.add_arms(arm);
    plan.set_pulls(4);
    plan.set_hops(1);
    for (const std::uint32_t node : {0, 1, 0}) plan.add_upstream(node);
    return messages;
  }
  v1::Message& tallies = messages.emplace_back();
  tallies.mutable_tallies()->set_epoch(1);
  tallies.mutable_tallies()->add_tallies()->set_origin(from);
  *tallies.mutable_tallies()->mutable_tallies(0)->mutable_sums() = SumsOfArms();
  if (name == "network-server") {
    v1::Collected& collected = *messages.emplace_back().mutable_collected();
    collected.set_epoch(1);
    collected.set_agents(std::string(1, '\3'));
    *collected.mutable_sums() = SumsOfArms();
  } else {
    v1::Advert& advert = *messages.emplace_back().mutable_advert();
    advert.set_epoch(1);
    advert.set_has(std::string(1, '\1'));
    v1::Request& request = *messages.emplace_back().mutable_request();
    request.set_epoch(1);
    request.set_wants(std::string(1, '\2'));
  }
  return messages;
}

inline Script SeedOf(std::uint32_t process) {
  const ProcessKind& kind = ProcessKinds()[process];
  const std::string name = kind.name;
  Script script;
  script.set_process(process);
  const auto add = [&](const Event& event) { *script.add_events() = event; };
  const auto number = static_cast<std::uint32_t>(kind.partners.size());
  for (std::uint32_t i = 0; i < number; ++i) add(OpenBy(i, i));
  const bool sealed = name.ends_with("-of-bits");
  Event welcome;
  welcome.mutable_to_agent()->mutable_welcome()->set_sealing_key(std::string(32, 9));
  switch (kind.part) {
    case Part::kServer:
      if (number == 3) add(Joins(0, 0, 0));
      add(Joins(number - 2, 1, name == "controller" ? 2 : 12));
      add(Joins(number - 1, name == "controller" ? 3 : 13, name == "controller" ? 1 : 12));
      if (number == 3) {
        add(MixOf(0, sealed));
      } else {
        add(SharesOf(0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, false));
        add(SharesOf(1, {13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}, false));
      }
      break;
    case Part::kShuffler:
      add(Joins(1, 1, 12));
      add(Joins(2, 13, 12));
      add(Says(0, MixRequestMessage(), {kShufflerNode.value}));
      add(SharesOf(1, {1, 2, 3}, sealed));
      add(SharesOf(2, {13, 14, 15}, sealed));
      break;
    case Part::kPlanAgent:
      if (sealed) add(welcome);
      add(Says(0, PlanMessage(), {1, 2, 3}));
      add(Says(0, PlanMessage(), {4}));
      break;
    case Part::kRoundAgent:
      add(Says(0, ModelMessage(), {1, 2}));
      break;
    case Part::kPeer:
    case Part::kNode:
      for (std::uint32_t i = 0; i < number; ++i) {
        Event ready;
        ready.set_connection(i);
        ready.mutable_to_peer()->mutable_ready();
        add(ready);
      }
      for (Slot slot = kind.part == Part::kPeer ? 1 : 0; slot < 4; ++slot) {
        for (std::uint32_t i = 0; i < number; ++i) {
          const std::uint32_t from = NodeOf(kind.partners[i]).value;
          add(PacketOf(i, from, slot, slot == 1 ? NodeMessages(kind, from) : std::vector<v1::Message>{}));
        }
      }
  }
  Event wait;
  wait.set_wait(10);
  add(wait);  // until everything is durable
  Event kill;
  kill.set_kill(true);
  add(kill);
  for (std::uint32_t i = 0; i < number; ++i) add(OpenBy(i, i));
  return script;
}

}  // namespace bandana::fuzz
