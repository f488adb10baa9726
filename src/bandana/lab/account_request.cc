#include "bandana/lab/account_request.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

// A request has lists of objects of values. An error writes a value as text, by a function that calls itself
// for each level.
constexpr int kMostDepth = 100;

std::string EventExcerpt(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

absl::Status WrongField(const std::string& key, const Json& value, const std::string& accepted) {
  return InvalidInput(
      {.message = "not accepted", .key = key, .value = EventExcerpt(value), .accepted = accepted});
}

absl::Status UnknownField(const std::string& prefix, const std::string& key, const Json& value,
                          const std::vector<std::string>& known) {
  std::string accepted;
  for (const std::string& name : known) accepted += (accepted.empty() ? "" : ", ") + name;
  const std::string nearest = NearestIfNear(key, known);
  if (!nearest.empty()) accepted = fmt::format("nearest: {}; {}", nearest, accepted);
  return InvalidInput(
      {.message = "unknown field", .key = prefix + key, .value = EventExcerpt(value), .accepted = accepted});
}

absl::Status ReadFieldText(const Json& value, const std::string& key, const char* accepted,
                           std::string& text) {
  if (!value.is_string() || value.get<std::string>().empty()) return WrongField(key, value, accepted);
  text = value.get<std::string>();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Json> ReadAccountFile(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream contents;
  stream.peek();  // sets the bad bit if the file is a folder
  if (stream.is_open() && !stream.bad()) contents << stream.rdbuf();
  if (!stream.is_open() || stream.bad()) return InvalidInput({.message = "cannot be read", .file = file});
  const std::string text = contents.str();
  std::vector<std::set<std::string>> keys;
  std::string twice;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    too_deep |= depth > kMostDepth;
    return !too_deep;
  };
  try {
    Json json = Json::parse(text, watch);
    if (too_deep) {
      return InvalidInput({.message = fmt::format("lists and objects in more than {} others", kMostDepth),
                           .file = file,
                           .accepted = "a list of events"});
    }
    if (!twice.empty()) return InvalidInput({.message = "given twice", .file = file, .key = twice});
    return json;
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
    return InvalidInput({.message = "not JSON", .file = file, .line = line, .accepted = "a list of events"});
  } catch (const Json::exception&) {  // a number that is too large for a double
    return InvalidInput({.message = "a number is too large", .file = file, .accepted = "finite numbers"});
  }
}

absl::StatusOr<Event> ReadEvent(const Json& json, const std::string& prefix) {
  if (!json.is_object()) {
    return WrongField(prefix.substr(0, prefix.size() - 1), json,
                      "an object with mechanism, unit, neighbours, count");
  }
  Event event;
  const auto mechanism = json.find("mechanism");
  std::string mechanisms;
  for (const MechanismKind& kind : MechanismKinds())
    mechanisms += (mechanisms.empty() ? "" : ", ") + std::string(kind.name);
  if (mechanism == json.end()) {
    return InvalidInput({.message = "missing", .key = prefix + "mechanism", .accepted = mechanisms});
  }
  BANDANA_RETURN_IF_ERROR(
      ReadFieldText(*mechanism, prefix + "mechanism", mechanisms.c_str(), event.mechanism));
  const MechanismKind* kind = FindMechanismKind(event.mechanism);
  if (kind == nullptr) {
    std::vector<std::string> names;
    for (const MechanismKind& each : MechanismKinds()) names.emplace_back(each.name);
    const std::string nearest = NearestIfNear(event.mechanism, names);
    return WrongField(prefix + "mechanism", *mechanism,
                      nearest.empty() ? mechanisms : fmt::format("nearest: {}; {}", nearest, mechanisms));
  }

  std::vector<std::string> known = {"name", "mechanism", "unit", "neighbours", "count", "disjoint", "cohort"};
  for (const MechanismParameter& parameter : kind->parameters) known.push_back(parameter.name);
  for (const auto& [key, value] : json.items()) {
    const std::string path = prefix + key;
    if (key == "mechanism") continue;
    if (key == "name") {
      BANDANA_RETURN_IF_ERROR(ReadFieldText(value, path, "a text", event.name));
    } else if (key == "unit") {
      BANDANA_RETURN_IF_ERROR(
          ReadFieldText(value, path, "the unit that is protected: \"client\", \"record\", ...", event.unit));
    } else if (key == "neighbours") {
      BANDANA_RETURN_IF_ERROR(
          ReadFieldText(value, path, "\"replace-one\", \"add-remove\"", event.neighbours));
    } else if (key == "cohort") {
      BANDANA_RETURN_IF_ERROR(ReadFieldText(value, path, "the name of a set of units", event.cohort));
    } else if (key == "count") {
      if (!value.is_number()) return WrongField(path, value, "a whole number from 1 to 1e9");
      event.count = value.get<double>();
    } else if (key == "disjoint") {
      if (!value.is_boolean()) return WrongField(path, value, "true, false");
      event.disjoint = value.get<bool>();
    } else {
      const MechanismParameter* parameter = nullptr;
      for (const MechanismParameter& candidate : kind->parameters) {
        if (key == candidate.name) parameter = &candidate;
      }
      if (parameter == nullptr) return UnknownField(prefix, key, value, known);
      if (!value.is_number()) return WrongField(path, value, parameter->accepted());
      event.parameters[key] = value.get<double>();
    }
  }
  for (const char* key : {"unit", "neighbours", "count"}) {
    if (json.contains(key)) continue;
    const std::string name = key;
    return InvalidInput({.message = "missing",
                         .key = prefix + name,
                         .accepted = name == "unit"
                                         ? "the unit that is protected: \"client\", \"record\", ..."
                                     : name == "neighbours" ? "\"replace-one\", \"add-remove\""
                                                            : "a whole number from 1 to 1e9"});
  }
  return event;
}

absl::StatusOr<AccountRequest> ReadAccountRequest(const Json& json) {
  AccountRequest request;
  const Json* list = &json;
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (key == "events") continue;
      if (key != "delta" && key != "epsilon")
        return UnknownField("", key, value, {"delta", "epsilon", "events"});
      if (!value.is_number()) return WrongField(key, value, "a number");
      (key == "delta" ? request.target.delta : request.target.epsilon) = value.get<double>();
    }
    if (!json.contains("events")) {
      return InvalidInput({.message = "missing", .key = "events", .accepted = "a list of events"});
    }
    list = &json["events"];
  }
  if (!list->is_array()) return WrongField("events", *list, "a list of events");
  for (std::size_t i = 0; i < list->size(); ++i) {
    BANDANA_ASSIGN_OR_RETURN(Event event, ReadEvent((*list)[i], fmt::format("events[{}].", i + 1)));
    request.events.push_back(std::move(event));
  }
  return request;
}

Json ToJson(const AccountRequest& request, const AccountReport& report) {
  Json json = {{"epsilon", report.guarantee.epsilon},
               {"delta", report.guarantee.delta},
               {"proof", report.proof},
               {"proof_note", kAccountProof},
               {"unit", report.unit},
               {"neighbours", report.neighbours},
               {"cohorts", report.cohorts},
               {"worst_cohort", TextOrNull(report.worst_cohort)},
               {"proofs", Json::array()},
               {"events", Json::array()}};
  for (const AccountProof& proof : report.proofs) {
    json["proofs"].push_back({{"proof", proof.name},
                              {"title", proof.title},
                              {"epsilon", proof.guarantee ? Json(proof.guarantee->epsilon) : Json(nullptr)},
                              {"delta", proof.guarantee ? Json(proof.guarantee->delta) : Json(nullptr)},
                              {"why_not", TextOrNull(proof.why_not)}});
  }
  for (std::size_t i = 0; i < request.events.size(); ++i) {
    const Event& event = request.events[i];
    json["events"].push_back({{"name", TextOrNull(event.name)},
                              {"mechanism", event.mechanism},
                              {"parameters", event.parameters},
                              {"count", event.count},
                              {"disjoint", event.disjoint},
                              {"cohort", TextOrNull(event.cohort)},
                              {"one_release", report.events[i].loss},
                              {"releases_of_one_unit", report.events[i].releases}});
  }
  return json;
}

}  // namespace bandana::lab
