#include "bandana/lab/contexts.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

Count PoliciesOf(const Settings& settings) {
  constexpr Count kInThePlane = 256;
  constexpr Count kAbove = 4096;
  const Count fallback = settings.Integer("environment.dimension") <= 2 ? kInThePlane : kAbove;
  return settings.IntegerOrAuto("environment.policies").value_or(fallback);
}

absl::StatusOr<std::shared_ptr<const ContextLaw>> MakeLaw(const Settings& settings) {
  const std::string& contexts = settings.Text("environment.contexts");
  const Count actions = settings.Integer("environment.actions");
  const Count dimension = settings.Integer("environment.dimension");
  if (contexts == "sphere") return SphereContexts::Create(actions, dimension);
  if (contexts == "gaussian") return GaussianContexts::Create(actions, dimension);
  if (contexts == "clusters") return ClusterContexts::Two(actions, dimension);
  if (contexts == "file") return ReadContexts(settings.Text("environment.file"), actions, dimension);
  return InvalidOption("environment.contexts", contexts,
                       "sphere, gaussian, clusters, file for kind = \"contextual-linear\"");
}

absl::StatusOr<std::shared_ptr<const PolicySet>> ComputePolicies(const Settings& settings) {
  const auto seed = static_cast<std::uint64_t>(settings.Integer("seed"));
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const ContextLaw> law, MakeLaw(settings));
  BANDANA_ASSIGN_OR_RETURN(ActionMatrix thetas,
                           PolicyDirections(law->dimension(), PoliciesOf(settings), seed));
  return PolicySet::Create({.law = std::move(law),
                            .thetas = std::move(thetas),
                            .samples = settings.Integer("environment.context_samples"),
                            .seed = seed});
}

// All that a policy set is made of; of a file also when it was written.
std::string KeyOf(const Settings& settings) {
  std::string file;
  if (settings.Has("environment.file")) {
    file = settings.Text("environment.file");
    std::error_code missing;
    const auto written = std::filesystem::last_write_time(file, missing);
    if (!missing) {
      file += fmt::format("@{}+{}", written.time_since_epoch().count(),
                          std::filesystem::file_size(file, missing));
    }
  }
  return fmt::format("{} {} {} {} {} {} {}", settings.Text("environment.contexts"),
                     settings.Integer("environment.actions"), settings.Integer("environment.dimension"),
                     PoliciesOf(settings), settings.Integer("environment.context_samples"),
                     settings.Integer("seed"), file);
}

}  // namespace

bool HasContexts(const Settings& settings) {
  return settings.Text("environment.kind") == "contextual-linear";
}

absl::StatusOr<std::shared_ptr<const PolicySet>> MakePolicies(const Settings& settings) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const PolicySet>> made;
  constexpr std::size_t kMostKept = 16;
  const std::string key = KeyOf(settings);
  const std::lock_guard lock(mutex);
  if (const auto it = made.find(key); it != made.end()) return it->second;
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const PolicySet> policies, ComputePolicies(settings));
  if (made.size() >= kMostKept) made.clear();
  made.emplace(key, policies);
  return policies;
}

absl::StatusOr<std::shared_ptr<const ContextualProblem>> MakeContextualProblem(const Settings& settings,
                                                                               std::uint32_t replicate) {
  BANDANA_ASSIGN_OR_RETURN(std::shared_ptr<const PolicySet> policies, MakePolicies(settings));
  BANDANA_ASSIGN_OR_RETURN(
      ContextualProblem problem,
      ContextualProblem::Draw(std::move(policies), settings.Number("environment.theta_norm"),
                              static_cast<std::uint64_t>(settings.Integer("seed")), replicate));
  return std::make_shared<const ContextualProblem>(std::move(problem));
}

}  // namespace bandana::lab
