#include "bandana/lab/point.h"

#include <algorithm>
#include <utility>

#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "bandana/federation/failure.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

class Resolver {
 public:
  explicit Resolver(const GivenValue& given) : given_(given) {}

  absl::StatusOr<ResolvedPoint> Resolve() && {
    std::any run = RunParams{};
    BANDANA_RETURN_IF_ERROR(Read(GeneralOptions(), run, {}));
    Experiment& experiment = point_.experiment;
    experiment.run = std::any_cast<RunParams>(run);
    BANDANA_RETURN_IF_ERROR(Choose());
    experiment.world = experiment.kind->defaults;
    BANDANA_RETURN_IF_ERROR(Read(experiment.kind->options, experiment.world, {}));
    Values world;
    for (const Option& option : experiment.kind->options) {
      if (const Value* value = point_.settings.Find(option.FullKey())) world[option.key] = *value;
    }
    experiment.params = experiment.family->defaults;
    BANDANA_RETURN_IF_ERROR(Read(experiment.family->options, experiment.params, world));
    if (!experiment.family->simulation_options.empty()) {
      experiment.simulation = LossParams{};
      BANDANA_RETURN_IF_ERROR(Read(experiment.family->simulation_options, experiment.simulation, world));
    }
    BANDANA_RETURN_IF_ERROR(ReadPrivacy(world));
    return std::move(point_);
  }

 private:
  void Take(const std::string& key, Value value, std::optional<Value> fallback) {
    point_.settings.Set(key, std::move(value));
    point_.order.push_back(key);
    point_.defaults[key] = std::move(fallback);
  }

  absl::Status Read(const std::vector<Option>& options, std::any& params, const Values& world) {
    for (const Option& option : options) {
      if (option.applies(params, world)) BANDANA_RETURN_IF_ERROR(ReadOne(option, params));
    }
    return absl::OkStatus();
  }

  absl::Status ReadOne(const Option& option, std::any& params) {
    const std::string key = option.FullKey();
    const std::optional<Value> fallback = option.required ? std::nullopt : std::optional(option.get(params));
    const Value* given = given_(key);
    if (given == nullptr && !fallback.has_value()) return Missing(option);
    if (given == nullptr) {
      Take(key, *fallback, fallback);
      return absl::OkStatus();
    }
    absl::StatusOr<Value> value = option.check(*given);
    if (!value.ok()) {
      const std::optional<InputError> error = InputErrorOf(value.status());
      return InvalidOption(key, ToText(*given), error.has_value() ? error->accepted : option.accepted);
    }
    option.set(params, *value);
    Take(key, *std::move(value), fallback);
    return absl::OkStatus();
  }

  static absl::Status Missing(const Option& option) {
    return InvalidInput({.message = "missing", .key = option.FullKey(), .accepted = option.accepted});
  }

  // Finds the algorithm and the kind of world, which decide on all other options.
  absl::Status Choose() {
    const Option algorithm = AlgorithmOption();
    const Value* name = given_(algorithm.FullKey());
    if (name == nullptr) return Missing(algorithm);
    BANDANA_RETURN_IF_ERROR(algorithm.check(*name).status());
    const Value* kind = given_("environment.kind");
    if (kind != nullptr) BANDANA_RETURN_IF_ERROR(KindOption().check(*kind).status());
    const std::vector<std::string> worlds = WorldsOf(ToText(*name));
    if (kind != nullptr && std::find(worlds.begin(), worlds.end(), ToText(*kind)) == worlds.end()) {
      return InvalidOption(
          "environment.kind", ToText(*kind),
          fmt::format("{} with algorithm.name = \"{}\"", fmt::join(worlds, ", "), ToText(*name)));
    }
    Experiment& experiment = point_.experiment;
    BANDANA_ASSIGN_OR_RETURN(experiment.family,
                             Families().FindFamily(ToText(*name), kind == nullptr ? "" : ToText(*kind)));
    const std::string& fallback = experiment.family->worlds.front();
    const std::string of = kind == nullptr ? fallback : ToText(*kind);
    BANDANA_ASSIGN_OR_RETURN(experiment.kind, Families().FindWorld(of, experiment.family->time));
    Take("environment.kind", of, fallback);
    Take("algorithm.name", *name, std::nullopt);
    return absl::OkStatus();
  }

  // Lists the worlds of all algorithms of that name.
  static std::vector<std::string> WorldsOf(const std::string& name) {
    std::vector<std::string> worlds;
    for (const Family& family : Families().families()) {
      if (family.name == name) worlds.insert(worlds.end(), family.worlds.begin(), family.worlds.end());
    }
    return worlds;
  }

  absl::Status ReadPrivacy(const Values& world) {
    const Family& family = *point_.experiment.family;
    std::any params = Privacy{.none_because = "privacy.model = none", .sampler = Sampler::kFast};
    for (const Option& option : PrivacyOptions()) {
      const bool model = option.key == "model";
      const auto& keys = family.privacy_keys;
      if (!model && std::find(keys.begin(), keys.end(), option.key) == keys.end()) continue;
      if (!option.applies(params, world)) continue;
      BANDANA_RETURN_IF_ERROR(ReadOne(option, params));
      if (model) BANDANA_RETURN_IF_ERROR(CheckModel(family, std::any_cast<const Privacy&>(params).model));
    }
    point_.experiment.privacy = std::any_cast<Privacy>(params);
    return absl::OkStatus();
  }

  static absl::Status CheckModel(const Family& family, TrustModel model) {
    if (std::find(family.trust.begin(), family.trust.end(), model) != family.trust.end()) {
      return absl::OkStatus();
    }
    std::vector<std::string> names;
    for (const TrustModel each : family.trust) names.push_back(NameOf(each));
    return InvalidOption("privacy.model", NameOf(model),
                         fmt::format("{} with algorithm.name = \"{}\"", fmt::join(names, ", "), family.name));
  }

  const GivenValue& given_;
  ResolvedPoint point_;
};

std::optional<std::string> KeyAmong(const std::vector<Option>& options, const std::string& field) {
  for (const Option& option : options) {
    if (option.key == field) return option.FullKey();
  }
  return std::nullopt;
}

// Returns the dotted key for a field of Facts. Some fields have another name in specs.
std::string KeyOfFact(const Experiment& experiment, const std::string& field) {
  if (field == "horizon") return "horizon";
  if (field == "arms") return "environment.actions";
  if (field == "mean") return "environment.link";
  if (field == "people") {
    return experiment.family->time == TimeModel::kSlot ? "environment.population" : "federation.agents";
  }
  const std::vector<Option>& options = experiment.kind->options;
  if (field == "context_norm") return "environment.context_bound";
  if (field == "theta_norm" && !KeyAmong(options, field)) return "environment.theta_bound";
  return KeyAmong(options, field).value_or("environment." + field);
}

// Returns the dotted key for a parameter of a service's process, if an option sets it.
std::optional<std::string> KeyOfService(const std::string& field) {
  if (field == "self") return "service.node";
  if (field == "neighbours") return "service.peers";
  return KeyAmong(ServiceOptions(), field);
}

}  // namespace

std::vector<std::string> KeysOf(const Experiment& experiment) {
  std::vector<std::string> keys = {"algorithm.name", "environment.kind"};
  for (const std::vector<Option>* options :
       {&experiment.kind->options, &experiment.family->options, &experiment.family->simulation_options}) {
    for (const Option& option : *options) keys.push_back(option.FullKey());
  }
  return keys;
}

absl::StatusOr<ResolvedPoint> ResolvePoint(const GivenValue& given) { return Resolver(given).Resolve(); }

absl::StatusOr<Experiment> ReadExperiment(const Settings& settings) {
  BANDANA_ASSIGN_OR_RETURN(ResolvedPoint point,
                           ResolvePoint([&](const std::string& key) { return settings.Find(key); }));
  return std::move(point.experiment);
}

absl::Status WithKey(const absl::Status& status, const Experiment& experiment, bool of_world) {
  std::optional<InputError> error = InputErrorOf(status);
  if (!error.has_value() || error->key.empty() || error->key.find('.') != std::string::npos) return status;
  const std::string field = error->key;
  const std::optional<Part> part = PartOf(status);
  std::optional<std::string> key;
  if (part == Part::kFacts) key = KeyOfFact(experiment, field);
  if (part == Part::kService) key = KeyOfService(field);
  if (!part.has_value() || part == Part::kParams) {
    key = of_world ? KeyAmong(experiment.kind->options, field) : KeyAmong(experiment.family->options, field);
    if (!key.has_value() && !of_world) key = KeyAmong(experiment.family->simulation_options, field);
  }
  if (!key.has_value()) key = KeyAmong(PrivacyOptions(), field);
  if (!key.has_value()) key = KeyAmong(experiment.kind->options, field);
  error->key = key.value_or(field);
  return InvalidInput(*error);
}

}  // namespace bandana::lab
