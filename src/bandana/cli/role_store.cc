#include "bandana/cli/role_store.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "bandana/cli/role_limits.h"
#include "bandana/core/quantity.h"
#include "bandana/core/sha256.h"
#include "bandana/core/status.h"
#include "bandana/service/credentials.h"
#include "bandana/store/guarded_store.h"
#include "bandana/store/sqlite_store.h"
#include "bandana/store/store_name.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr char kMemory[] = "memory";

std::string FileNameOf(std::string name) {
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

bool IsInsecure(const RoleConfig& config) {
  return config.spec.service.Has("service.insecure") && config.spec.service.Flag("service.insecure");
}

// Returns the path that a key names, or the default. A path is seen from the folder of the configuration.
std::string PathOf(const RoleConfig& config, const std::string& key, const std::string& missing) {
  const lab::Settings& service = config.spec.service;
  const std::string text = service.Has(key) ? service.Text(key) : missing;
  return text.empty() ? "" : (std::filesystem::path(config.spec.file).parent_path() / text).string();
}

// Adds the key to an error about its value.
absl::Status About(const RoleRun& run, const std::string& key, const absl::Status& status) {
  if (status.ok()) return status;
  const lab::Settings& service = run.config.spec.service;
  return run.config.WithSource(InvalidInput({.message = std::string(status.message()),
                                             .key = key,
                                             .value = service.Has(key) ? service.Text(key) : "",
                                             .accepted = AcceptedFor(key)}));
}

}  // namespace

bool IsDurable(const RoleConfig& config) {
  const lab::Settings& service = config.spec.service;
  return service.Has("service.store") ? service.Text("service.store") != kMemory : !IsInsecure(config);
}

absl::StatusOr<std::unique_ptr<RoleStore>> RoleStore::Open(const RoleRun& run, const std::string& name,
                                                           const DpGuarantee& budget) {
  std::unique_ptr<RoleStore> opened(new RoleStore());
  run.log.SetName(name);
  service::Deployed& deployed = opened->deployed_;
  BANDANA_ASSIGN_OR_RETURN(deployed.header, LedgerHeaderOf(run.config, run.federation(), budget));
  const lab::Settings& service = run.config.spec.service;
  if (service.Has("service.silence")) deployed.silence = *ParseTime(service.Text("service.silence"));
  deployed.limits = LimitsOf(service);
  deployed.comes_back = IsDurable(run.config);
  BANDANA_RETURN_IF_ERROR(opened->OpenKeys(run, name));
  BANDANA_RETURN_IF_ERROR(opened->OpenStore(run, name));
  BANDANA_RETURN_IF_ERROR(opened->Guard(run, name));
  deployed.storage = {opened->store_.get(), &*opened->ratchet_};
  deployed.on_event = [log = &run.log](const service::LogEvent& event) { log->Take(event); };
  return opened;
}

absl::Status RoleStore::OpenKeys(const RoleRun& run, const std::string& name) {
  if (IsInsecure(run.config)) return absl::OkStatus();
  const std::string folder = PathOf(run.config, "service.keys", "keys");
  absl::StatusOr<std::shared_ptr<service::KeyRing>> keys = service::KeyRing::Open(
      {.folder = folder, .self = name, .report = [log = &run.log](const std::string& why) {
         log->Take({RoleLog::Level::kWarn, "keys", "", why});
       }});
  if (!keys.ok()) {
    const lab::Settings& service = run.config.spec.service;
    return run.config.WithSource(
        InvalidInput({.message = std::string(keys.status().message()),
                      .key = "service.keys",
                      .value = service.Has("service.keys") ? service.Text("service.keys") : "",
                      .accepted = fmt::format("a folder with the keys of {} (`bandana keys issue {}`); or "
                                              "service.insecure = true, on this machine alone",
                                              name, name)}));
  }
  deployed_.keys = *std::move(keys);
  return absl::OkStatus();
}

absl::Status RoleStore::OpenStore(const RoleRun& run, const std::string& name) {
  if (!deployed_.comes_back) {
    store_ = std::make_unique<store::MemoryStore>(disk_);
    ratchet_ = store::Ratchet::InMemory();
    return absl::OkStatus();
  }
  keeps_ledger_ = true;
  const lab::Settings& service = run.config.spec.service;
  const bool is_given = service.Has("service.store");
  const absl::StatusOr<std::string> file =
      store::FileOfStore(is_given ? service.Text("service.store") : FileNameOf(name) + ".db");
  if (!file.ok()) return About(run, "service.store", file.status());
  const std::string path = (std::filesystem::path(run.config.spec.file).parent_path() / *file).string();
  absl::StatusOr<std::unique_ptr<store::SqliteStore>> opened = store::SqliteStore::Open(path);
  if (!opened.ok()) return opened.status();
  store_ = *std::move(opened);
  // The key of what the store holds lies beside it, and never in a copy of it.
  BANDANA_ASSIGN_OR_RETURN(const std::optional<store::PutSnapshot> snapshot, store_->Snapshot());
  if (snapshot && !std::filesystem::exists(path + ".ratchet")) {
    return absl::AbortedError(
        fmt::format("{}.ratchet: the file is missing, and nobody can open the run in the store without it. "
                    "End the run with: "
                    "bandana store end {}",
                    path, path));
  }
  BANDANA_ASSIGN_OR_RETURN(store::Ratchet ratchet, store::Ratchet::Open(path + ".ratchet"));
  ratchet_ = std::move(ratchet);
  return absl::OkStatus();
}

absl::Status RoleStore::Guard(const RoleRun& run, const std::string& name) {
  store::GuardedStore::Params params{.mirror = PathOf(run.config, "service.ledger_mirror", ""),
                                     .anchor = PathOf(run.config, "service.anchor", ""),
                                     .identity = {}};
  for (const char* key : {"service.ledger_mirror", "service.anchor"}) {
    const lab::Settings& service = run.config.spec.service;
    if (service.Has(key) && service.Text(key).empty()) {
      return About(run, key, absl::InvalidArgumentError("empty"));
    }
  }
  if (!params.anchor.empty() && !deployed_.comes_back) {
    return About(run, "service.anchor", absl::InvalidArgumentError("a store in memory has no old copies"));
  }
  keeps_ledger_ = keeps_ledger_ || !params.mirror.empty();
  if (deployed_.keys != nullptr) {
    const std::string key = PathOf(run.config, "service.keys", "keys") + "/" + FileNameOf(name) + ".identity";
    absl::StatusOr<store::IdentityKey> identity = store::IdentityKey::Open(key);
    if (!identity.ok()) return About(run, "service.keys", identity.status());
    params.identity = *std::move(identity);
  }
  const bool has_mirror = !params.mirror.empty();
  const bool has_anchor = !params.anchor.empty();
  absl::StatusOr<std::unique_ptr<store::GuardedStore>> guarded =
      store::GuardedStore::Open(std::move(store_), std::move(params));
  if (!guarded.ok() && has_mirror && absl::IsInvalidArgument(guarded.status())) {
    return About(run, "service.ledger_mirror", guarded.status());
  }
  if (!guarded.ok() && has_anchor && absl::IsFailedPrecondition(guarded.status())) {
    return absl::AbortedError(guarded.status().message());  // nothing is wrong with the spec: an old copy
  }
  if (!guarded.ok()) return guarded.status();
  store_ = *std::move(guarded);
  return absl::OkStatus();
}

std::optional<LedgerHead> RoleStore::head() const {
  if (!keeps_ledger_) return std::nullopt;
  const absl::StatusOr<std::optional<LedgerHead>> head = store::HeadOf(*store_);
  return head.ok() ? *head : std::nullopt;
}

}  // namespace bandana::cli
