#include "bandana/audit/rerun_target.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "bandana/audit/catalog.h"
#include "bandana/audit/mean_target.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/ledger.h"
#include "bandana/privacy/mean_privatizers.h"

/// A trusted server that is started again on the same ledger, with the same data. The adversary sees what it
/// releases each time. The claim is that of one release: a later start must not draw again.
namespace bandana::audit {
namespace {

constexpr std::int64_t kRerunDraws = 3'000;  // each draw writes files
constexpr int kReruns = 6;
constexpr Count kRerunClients = 3;

/// A temporary folder. It is in memory if the machine has such a folder, because a sync is free there.
class ScratchFolder {
 public:
  static absl::StatusOr<ScratchFolder> Create() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code error;
    const bool in_memory = access(memory.c_str(), W_OK) == 0;
    const auto parent = in_memory ? memory : std::filesystem::temp_directory_path(error);
    std::string name = (parent / "bandana-audit-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) return ScratchFolder(name);
    return absl::UnavailableError("no temporary folder can be made in " + parent.string());
  }

  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Starts a server on the ledger, and writes what it releases.
absl::Status RunOnce(const CentralGaussianMean& mean, const MeanQuery& query, const ReportSum& sum,
                     const std::string& path, NoiseGen& noise, std::span<double> view) {
  const DpGuarantee budget = mean.guarantee();
  const LedgerHeader header{.deployment = "audit",
                            .configuration = "rerun",
                            .claims = mean.claims(),
                            .limits = {.per_unit = {budget.epsilon, budget.delta}}};
  BANDANA_ASSIGN_OR_RETURN(const auto ledger, Ledger::Open(path, header, Ledger::Durability::kEach));
  Releases releases(budget, ledger.get());
  AuditContext server(kServerNode, noise, &releases);
  BANDANA_ASSIGN_OR_RETURN(const Released<Mean> released, Release::FromAnalyzer(server, mean, 1, sum));
  for (std::size_t i = 0; i < view.size(); ++i) {
    view[i] = released.value().entries[i] * static_cast<double>(query.clients);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Target> RerunTarget(const std::string& name, DpGuarantee nominal, Rerun rerun, int runs) {
  BANDANA_ASSIGN_OR_RETURN(const CentralGaussianMean mean,
                           CentralGaussianMean::Create({nominal, Calibration::kTight, Sampler::kExact}));
  const MeanQuery query = AuditQuery(kRerunClients);
  const std::size_t size = query.bounds.size();
  Target target{.name = name, .claim = ClaimOf(mean), .dimension = static_cast<std::size_t>(runs) * size};
  const std::vector<double> direction = CornerDirection(query);
  for (int i = 0; i < runs; ++i) {
    target.direction.insert(target.direction.end(), direction.begin(), direction.end());
  }
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const auto clients = Population(query, neighbour);
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> reports, ReportsOf(mean, query, clients, noise));
    ReportSum sum;
    for (const Report& report : reports) BANDANA_RETURN_IF_ERROR(mean.Add(query, report, sum));
    BANDANA_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
    for (int i = 0; i < runs; ++i) {
      const std::string ledger = rerun == Rerun::kSameLedger ? "ledger" : "ledger" + std::to_string(i);
      const auto seen = view.subspan(static_cast<std::size_t>(i) * size, size);
      BANDANA_RETURN_IF_ERROR(RunOnce(mean, query, sum, folder / ledger, noise, seen));
    }
    return absl::OkStatus();
  };
  return target;
}

std::vector<Entry> RerunEntries() {
  return {{"ledger-rerun", "a trusted server that is started six times on one ledger, with the same data",
           kSharp, kRerunDraws, [](const std::string& name, DpGuarantee nominal) {
             return RerunTarget(name, nominal, Rerun::kSameLedger, kReruns);
           }}};
}

}  // namespace bandana::audit
