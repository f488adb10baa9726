#include "bandana/lab/arm_parts.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bandana/algorithms/alone_player.h"
#include "bandana/algorithms/successive_elimination.h"
#include "bandana/algorithms/ucb1.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/lab/rewards.h"

namespace bandana::lab {
namespace {

constexpr Interval kRewards{0, 1};

const std::string& NameOf(const Settings& settings) { return settings.Text("algorithm.name"); }

Protocol ProtocolOf(const Settings& settings) {
  const std::string name = settings.Has("algorithm.protocol") ? settings.Text("algorithm.protocol") : "gis";
  return name == "gis" ? Protocol::kGis : name == "flooding" ? Protocol::kFlooding : Protocol::kGossip;
}

absl::StatusOr<Graph> MakeNetwork(const Settings& settings) {
  if (NameOf(settings) == "ddp-mab") return MakeGraph(settings);
  if (NameOf(settings) == "hdp-mab") return MakeComponents(settings);
  return Graph::Create(AgentsOf(settings), {});
}

absl::StatusOr<ArmSchedule> MakeArmSchedule(const Settings& settings, const ArmProblem& problem,
                                            double noise_scale) {
  const bool rounds = settings.Has("algorithm.rounds");
  ArmScheduleParams params{.horizon = settings.Integer("horizon"),
                           .arms = problem.arms(),
                           .reporting = ReportingOf(settings),
                           .rewards = kRewards,
                           .noise_scale = noise_scale,
                           .rounds = rounds ? settings.IntegerOrAuto("algorithm.rounds") : std::nullopt};
  if (settings.Has("algorithm.width") && settings.Text("algorithm.width") == "paper")
    params.width = Width::kPaper;
  if (settings.Has("algorithm.failure")) params.failure = settings.NumberOrAuto("algorithm.failure");
  if (settings.Has("algorithm.gap")) {
    const Value& gap = *settings.Find("algorithm.gap");
    if (const double* number = std::get_if<double>(&gap)) params.gap = *number;
    if (ToText(gap) == "known" && problem.smallest_gap() > 0) params.gap = problem.smallest_gap();
  }
  return ArmSchedule::Create(params);
}

}  // namespace

bool Talks(const Settings& settings) {
  return NameOf(settings) == "cdp-mab" || NameOf(settings) == "ddp-mab" || NameOf(settings) == "hdp-mab";
}

Count ReportingOf(const Settings& settings) {
  if (!Talks(settings)) return 1;
  const Count agents = AgentsOf(settings);
  if (!settings.Has("algorithm.participation")) return agents;
  // Of schedules, not of privacy: a share that is a fraction of the agents up to rounding is that fraction.
  const double share = settings.Number("algorithm.participation") * static_cast<double>(agents);
  return static_cast<Count>(std::ceil(share - 1e-9));
}

absl::StatusOr<SiloArmSums> MakeArmPrivatizer(const Settings& settings) {
  if (settings.Text("privacy.model") == "none") {
    return SiloArmSums::CreateBare(kRewards, Declassify("privacy.model = none"));
  }
  return SiloArmSums::Create(
      {.epsilon = settings.Number("privacy.epsilon"),
       .calibration =
           settings.Text("privacy.calibration") == "paper" ? Calibration::kPaper : Calibration::kTight,
       .sampler = settings.Text("privacy.sampler") == "exact" ? Sampler::kExact : Sampler::kFast,
       .rewards = kRewards,
       .reporting = ReportingOf(settings)});
}

absl::StatusOr<ArmProblem> MakeArmProblem(const Settings& settings, std::uint32_t replicate) {
  ArmDraw draw{.agents = AgentsOf(settings), .heterogeneous = settings.Number("environment.heterogeneous")};
  if (const auto* means = std::get_if<std::vector<double>>(settings.Find("environment.means"))) {
    draw.means = *means;
    draw.arms = static_cast<Count>(means->size());
  } else {
    draw.arms = settings.Integer("environment.actions");
    draw.gap = settings.Number("environment.gap");
  }
  PhiloxSource bits({.seed = static_cast<std::uint64_t>(settings.Integer("seed")),
                     .replicate = replicate,
                     .epoch = 1,  // graphs have 0
                     .stream = Stream::kInstance});
  CoinGen coin(bits);
  return ArmProblem::Draw(draw, coin);
}

absl::StatusOr<std::unique_ptr<const ArmParts>> ArmParts::Create(const Settings& settings,
                                                                 std::uint32_t replicate) {
  BANDANA_ASSIGN_OR_RETURN(ArmProblem drawn, MakeArmProblem(settings, replicate));
  auto problem = std::make_shared<const ArmProblem>(std::move(drawn));
  BANDANA_ASSIGN_OR_RETURN(SiloArmSums privatizer, MakeArmPrivatizer(settings));
  BANDANA_ASSIGN_OR_RETURN(const ArmSchedule schedule,
                           MakeArmSchedule(settings, *problem, privatizer.noise_scale()));
  BANDANA_ASSIGN_OR_RETURN(Graph graph, MakeNetwork(settings));
  return std::unique_ptr<const ArmParts>(new ArmParts(settings, replicate, std::move(problem),
                                                      std::move(privatizer), schedule, std::move(graph)));
}

ArmParts::ArmParts(const Settings& settings, std::uint32_t replicate,
                   std::shared_ptr<const ArmProblem> problem, SiloArmSums privatizer,
                   const ArmSchedule& schedule, Graph graph)
    : settings_(settings),
      replicate_(replicate),
      problem_(std::move(problem)),
      privatizer_(std::move(privatizer)),
      schedule_(schedule),
      graph_(std::move(graph)) {
  if (has_server()) return;
  const int slack =
      settings.Has("algorithm.slack") ? static_cast<int>(settings.Integer("algorithm.slack")) : 0;
  clock_.emplace(graph_, ProtocolOf(settings), slack, static_cast<std::uint64_t>(settings.Integer("seed")));
}

bool ArmParts::has_server() const { return NameOf(settings_) == "cdp-mab" || NameOf(settings_) == "hdp-mab"; }

absl::StatusOr<ArmWorld> ArmParts::MakeWorld() const {
  return ArmWorld::Create({.problem = problem_,
                           .reward = MakeRewardModel(settings_).kind,
                           .seed = static_cast<std::uint64_t>(settings_.Integer("seed")),
                           .replicate = replicate_});
}

std::optional<Declassify> ArmParts::leak() const {
  const bool raw = settings_.Has("algorithm.local") && settings_.Text("algorithm.local") == "raw";
  return raw ? std::optional(Declassify("algorithm.local = raw")) : std::nullopt;
}

std::unique_ptr<HdpMabServer> ArmParts::MakeServer() const {
  const bool unweighted =
      settings_.Has("algorithm.aggregation") && settings_.Text("algorithm.aggregation") == "unweighted";
  return std::make_unique<HdpMabServer>(
      HdpMabParams{.aggregation = unweighted ? Aggregation::kUnweighted : Aggregation::kWeighted,
                   .participants = ReportingOf(settings_)},
      schedule_, graph_);
}

std::unique_ptr<NetworkPlayer> ArmParts::MakeAgent(NodeId self) const {
  const std::string& name = NameOf(settings_);
  const Count horizon = settings_.Integer("horizon");
  const auto alone = [&](auto policy) -> std::unique_ptr<NetworkPlayer> {
    BANDANA_CHECK(policy.ok());  // as ArmProblem has checked
    return std::make_unique<AlonePlayer<typename decltype(policy)::value_type>>(*std::move(policy), horizon,
                                                                                Declassify("a baseline"));
  };
  if (name == "ucb1") return alone(Ucb1::Create(problem_->arms()));
  if (name == "successive-elimination") {
    return alone(SuccessiveElimination::Create({.arms = problem_->arms(), .horizon = horizon}));
  }
  if (has_server()) {
    return std::make_unique<HdpMabAgent>(self, problem_->agents(), problem_->arms(), horizon, privatizer_,
                                         leak());
  }
  return std::make_unique<DdpMabPeer>(self, schedule_, *clock_, privatizer_, leak());
}

double ArmParts::PaperCost() const {
  const std::string& name = NameOf(settings_);
  const auto cost = [&](const char* key) { return settings_.Has(key) ? settings_.Number(key) : 0; };
  const double server = cost("federation.cost_server");
  const double peer = cost("federation.cost_peer");
  if (name == "cdp-mab") return server * static_cast<double>(ReportingOf(settings_));  // Theorem 2
  if (name == "ddp-mab") {                                                             // Theorem 3
    return peer * static_cast<double>(graph_.edges()) * graph_.diameter();
  }
  if (name != "hdp-mab") return 0;
  const HdpMabServer fresh({.participants = graph_.nodes()}, schedule_, graph_);
  const bool edges = settings_.Text("algorithm.cost_rule") == "edges";
  const Count links = edges ? graph_.edges() : PathLinks(fresh.routes());  // Theorem 4
  return peer * static_cast<double>(links) + server * static_cast<double>(fresh.routes().sinks.size());
}

}  // namespace bandana::lab
