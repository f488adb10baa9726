#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "bandana/algorithms/elimination/phased_elimination.h"
#include "bandana/algorithms/registry.h"
#include "bandana/core/status.h"
#include "bandana/federation/collector.h"
#include "bandana/federation/release.h"
#include "bandana/federation/star.h"
#include "bandana/federation/user_learner.h"
#include "bandana/privacy/local_gradient.h"
#include "bandana/privacy/local_regression.h"
#include "bandana/privacy/privacy_options.h"
#include "bindings.h"
#include "python_parts.h"
#include "values.h"

namespace bandana::python {
namespace {

constexpr char kOrigin[] = "Python";
constexpr char kNotSaved[] = "an algorithm in Python is not saved while it runs";

py::dict ToDict(const Facts& facts) {
  py::dict dict;
  dict["horizon"] = facts.horizon;
  dict["people"] = facts.people;
  dict["arms"] = facts.arms;
  dict["dimension"] = facts.dimension;
  dict["rewards"] = py::make_tuple(facts.rewards.low, facts.rewards.high);
  dict["context_norm"] = facts.context_norm;
  dict["theta_norm"] = facts.theta_norm;
  dict["reward_proxy"] = facts.reward_proxy;
  dict["client_sd"] = facts.client_sd;
  dict["misspecification"] = facts.misspecification;
  dict["multi"] = facts.multi;
  if (facts.actions == nullptr) {
    dict["actions"] = py::none();
  } else {
    const Eigen::Index rows = facts.actions->rows();
    dict["actions"] = py::array_t<double>({rows, facts.actions->cols()}, facts.actions->data());
  }
  return dict;
}

// The interval to which a client's average reward of any arm is clipped, unless a plan has another.
Interval BoundsOf(const Facts& facts) {
  if (const std::optional<Interval> support = facts.reward.support()) return *support;
  if (facts.reward_bound.has_value()) return facts.rewards;
  double longest = 1;
  if (facts.actions != nullptr) longest = facts.actions->rowwise().norm().maxCoeff();
  constexpr double kSpreads = 3;
  const double bound = facts.theta_norm * longest + kSpreads * (facts.reward.sd + facts.client_sd);
  return {-bound, bound};
}

/// The server of a SlotAlgorithm. Python plans, and learns released averages.
template <class P>
class PythonServer final : public Node {
 public:
  PythonServer(Shared adapter, const Facts& facts, P privatizer)
      : adapter_(std::move(adapter)),
        collector_(std::move(privatizer)),
        bounds_(BoundsOf(facts)),
        left_(facts.horizon),
        people_(facts.people) {}

  absl::Status OnStart(Context& context) override { return Next(context); }

  absl::Status OnMessage(Context& context, const Message& message) override {
    BANDANA_ASSIGN_OR_RETURN(const auto averages, collector_.Take(context, message));
    if (!averages.has_value()) return absl::OkStatus();
    std::vector<double> noises;
    for (const NoiseLaw& law : averages->noise()) noises.push_back(law.stddev());
    {
      const py::gil_scoped_acquire lock;
      try {
        adapter_->attr("learn")(averages->value().entries, noises);
      } catch (py::error_already_set& error) {
        return KeepFailure(error);
      }
    }
    return Next(context);
  }

  bool finished() const override { return finished_; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::UnimplementedError(kNotSaved); }

 private:
  struct Asked {
    std::vector<ArmId> arms;
    std::vector<Count> counts;
    Count clients = 0;
    std::optional<Interval> bounds;
    bool last = false;
  };

  absl::StatusOr<Asked> AskPython() {
    const py::gil_scoped_acquire lock;
    try {
      Asked asked;
      const py::object plan = adapter_->attr("plan")(left_, people_ - next_ + 1);
      if (plan.is_none()) {
        asked = {{adapter_->attr("best")().cast<ArmId>()}, {left_}, 0, {}, true};
        return asked;
      }
      asked.arms = plan.attr("arms").cast<std::vector<ArmId>>();
      asked.counts = plan.attr("counts").cast<std::vector<Count>>();
      asked.clients = plan.attr("clients").cast<Count>();
      if (const py::object bounds = plan.attr("bounds"); !bounds.is_none()) {
        const auto [low, high] = bounds.cast<std::pair<double, double>>();
        asked.bounds = Interval{low, high};
      }
      return asked;
    } catch (py::error_already_set& error) {
      return KeepFailure(error);
    }
  }

  absl::Status Next(Context& context) {
    while (left_ > 0) {
      BANDANA_ASSIGN_OR_RETURN(const Asked asked, AskPython());
      Plan plan{.epoch = ++epoch_, .pulls = {}, .query = {.bounds = {}, .clients = asked.clients}};
      for (std::size_t i = 0; i < asked.arms.size(); ++i) {
        plan.pulls.push_back({asked.arms[i], asked.counts[i]});
        plan.query.bounds.push_back(asked.bounds.value_or(bounds_));
        left_ -= asked.counts[i];
      }
      context.Play(plan.pulls);
      if (asked.clients == 0) continue;
      std::vector<NodeId> clients;
      for (Count i = 0; i < asked.clients; ++i) clients.push_back({static_cast<std::uint32_t>(next_++)});
      return collector_.Ask(context, std::make_shared<const Plan>(std::move(plan)), std::move(clients));
    }
    finished_ = true;
    return absl::OkStatus();
  }

  Shared adapter_;
  Collector<P> collector_;
  Interval bounds_;
  Count left_;
  Count people_;
  Count next_ = 1;  // the client that is asked next: each takes part once
  Epoch epoch_ = 0;
  bool finished_ = false;
};

Note RemarkOf(const std::string& name) {
  return {Note::Weight::kRemark, fmt::format("The algorithm {} is a class in Python. It sees released values "
                                             "alone; its mechanisms are Bandana's.",
                                             name)};
}

using MakeAdapter = std::function<absl::StatusOr<Shared>(const Facts&)>;

absl::StatusOr<Federation> CreateSlots(const MakeAdapter& make, const Privacy& privacy, const Facts& facts) {
  return WithMeanPrivatizer(privacy, facts.people, [&]<class P>(P privatizer) -> absl::StatusOr<Federation> {
    const auto make_server = [make, facts](const P& own) -> absl::StatusOr<PythonServer<P>> {
      BANDANA_ASSIGN_OR_RETURN(Shared adapter, make(facts));
      return PythonServer<P>(std::move(adapter), facts, own);
    };
    return AssembleStar<EliminationClient>(std::move(privatizer), facts.people, make_server);
  });
}

/// The coins that `choose` gets. Calling it draws a uniform number in [0, 1).
struct PythonCoin {
  CoinGen* coin = nullptr;
};

/// A UserAlgorithm: the library chooses by thetas(), makes the question and draws; Python learns from
/// messages.
class PythonLearner final : public UserLearner {
 public:
  struct Mechanism {
    std::optional<LocalGradient> gradient;
    std::optional<LocalRegression> regression;
    double centre = 0;
  };

  PythonLearner(Shared adapter, const Facts& facts, std::shared_ptr<const Mechanism> mechanism, bool chooses)
      : adapter_(std::move(adapter)),
        facts_(facts),
        mechanism_(std::move(mechanism)),
        chooses_(chooses),
        thetas_(static_cast<std::size_t>((facts.multi ? facts.arms : 1) * facts.dimension)) {
    const py::gil_scoped_acquire lock;
    ReadThetas();
  }

  struct Device final : UserDevice {
    const LocalMessage& message() const override { return sent; }
    LocalMessage sent;
    std::optional<SealedStatistics> statistics;
    std::vector<double> scores;
  };

  std::unique_ptr<UserDevice> MakeDevice() const override {
    auto device = std::make_unique<Device>();
    if (mechanism_->regression.has_value()) device->statistics.emplace(*mechanism_->regression);
    device->scores.resize(static_cast<std::size_t>(facts_.arms));
    return device;
  }

  ArmId Choose(UserView& view, CoinGen& coin, UserDevice& device) const override {
    if (!chooses_) return Best(view, static_cast<Device&>(device).scores);
    if (!failed_.ok()) return 0;
    const py::gil_scoped_acquire lock;
    try {
      const ActionMatrix& contexts = view.Contexts();
      const py::array_t<double> seen({contexts.rows(), contexts.cols()}, contexts.data());
      PythonCoin own{&coin};
      const py::object lent = py::cast(&own, py::return_value_policy::reference);
      const auto arm = adapter_->attr("choose")(seen, lent).cast<ArmId>();
      return arm;
    } catch (py::error_already_set& error) {
      failed_ = KeepFailure(error);
      return 0;
    }
  }

  absl::StatusOr<Count> Report(UserContext& user, ArmId arm, const Raw<LocalRecord>& record,
                               UserDevice& any) const override {
    if (!failed_.ok()) return failed_;
    auto& device = static_cast<Device&>(any);
    if (mechanism_->gradient.has_value()) {
      const double* theta = thetas_.data() + (facts_.multi ? arm * facts_.dimension : 0);
      const auto predict = [&](std::span<const double> x) {
        return facts_.mean(Dot(x.data(), theta, facts_.dimension));
      };
      const GradientQuestion question{record, predict};
      BANDANA_RETURN_IF_ERROR(Release::FromUser(user, *mechanism_->gradient, question, device.sent));
      return 1;
    }
    const auto sides = [this](std::span<const double>, double reward, std::span<double> side) {
      side[0] = reward - mechanism_->centre;
    };
    Release::Record(user, *mechanism_->regression, record, sides, *device.statistics);
    const StatisticsQuestion question{*device.statistics};
    BANDANA_RETURN_IF_ERROR(Release::FromUser(user, *mechanism_->regression, question, device.sent));
    return 1;
  }

  void Learn(const LocalMessage& message, Count users) override {
    if (!failed_.ok()) return;
    const py::gil_scoped_acquire lock;
    try {
      const std::span<const double> entries = message.entries();
      adapter_->attr("learn")(py::array_t<double>(static_cast<Count>(entries.size()), entries.data()), users);
      ReadThetas();
    } catch (py::error_already_set& error) {
      failed_ = KeepFailure(error);
    }
  }

  ArmId Greedy(UserView& view) const override {
    std::vector<double> scores(static_cast<std::size_t>(facts_.arms));
    return Best(view, scores);
  }
  bool looks_at_contexts() const override { return chooses_; }
  Count RealsSent(Count users) const override {
    const Count slots = facts_.multi ? facts_.arms : 1;
    const Count each = mechanism_->gradient.has_value()
                           ? facts_.dimension
                           : static_cast<Count>(mechanism_->regression->slot_size());
    return users * slots * each;
  }
  std::span<const double> thetas() const override { return thetas_; }
  void Describe(Observations& observations) const override { observations.numbers["unsolved"] = 0; }
  std::string Save() const override { return ""; }
  absl::Status Restore(std::string_view) override { return absl::UnimplementedError(kNotSaved); }

 private:
  ArmId Best(UserView& view, std::vector<double>& scores) const {
    view.Scores(thetas_, scores);
    return static_cast<ArmId>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  }

  // The lock must be held.
  void ReadThetas() {
    try {
      // The adapter returns float64 in C order, of the right size.
      const auto thetas = adapter_->attr("thetas")().cast<py::array_t<double>>();
      std::copy_n(thetas.data(), thetas_.size(), thetas_.begin());
    } catch (py::error_already_set& error) {
      failed_ = KeepFailure(error);
    }
  }

  Shared adapter_;
  Facts facts_;
  std::shared_ptr<const Mechanism> mechanism_;
  bool chooses_;
  std::vector<double> thetas_;
  mutable absl::Status failed_;  // Choose cannot return it
};

absl::StatusOr<PythonLearner::Mechanism> MakeMechanism(bool gradient, const Privacy& privacy,
                                                       const Facts& facts) {
  PythonLearner::Mechanism mechanism;
  mechanism.centre = facts.mean(0);
  const Count slots = facts.multi ? facts.arms : 1;
  if (gradient) {
    const LocalGradientParams params{.epsilon = privacy.epsilon,
                                     .randomizer = L2BallRandomizer::kPrivUnit,
                                     .sampler = privacy.sampler,
                                     .calibration = privacy.calibration,
                                     .dimension = facts.dimension,
                                     .slots = slots,
                                     .slot_budget = privacy.slots,
                                     .context_norm = facts.context_norm,
                                     .rewards = facts.rewards,
                                     .means = facts.mean.Range(facts.theta_norm * facts.context_norm),
                                     .out_of_range = privacy.out_of_range,
                                     .lift = true};
    BANDANA_ASSIGN_OR_RETURN(mechanism.gradient,
                             privacy.is_private() ? LocalGradient::Create(params)
                                                  : LocalGradient::CreateBare(params.space(), NoPrivacy()));
    return mechanism;
  }
  const double bound = std::max(facts.rewards.high - mechanism.centre, mechanism.centre - facts.rewards.low);
  const bool paper = privacy.calibration == Calibration::kPaper;
  const LocalRegressionParams params{.nominal = privacy.budget(),
                                     .calibration = privacy.calibration,
                                     .sampler = privacy.sampler,
                                     .dimension = facts.dimension,
                                     .slots = slots,
                                     .slot_budget = privacy.slots,
                                     .context_norm = facts.context_norm,
                                     .rewards = facts.rewards,
                                     .side_bounds = {bound},
                                     .side_weights = {paper ? 1 : facts.context_norm / bound},
                                     .out_of_range = privacy.out_of_range};
  BANDANA_ASSIGN_OR_RETURN(mechanism.regression,
                           privacy.is_private() ? LocalRegression::Create(params)
                                                : LocalRegression::CreateBare(params.space(), NoPrivacy()));
  return mechanism;
}

absl::StatusOr<Federation> CreateUsers(const MakeAdapter& make, const Privacy& privacy, const Facts& facts) {
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, {TrustModel::kNone, TrustModel::kLocal}));
  BANDANA_ASSIGN_OR_RETURN(const Shared first, make(facts));
  bool gradient = false;
  bool chooses = false;
  {
    const py::gil_scoped_acquire lock;
    try {
      gradient = first->attr("mechanism").cast<std::string>() == "gradient";
      chooses = first->attr("chooses").cast<bool>();
    } catch (py::error_already_set& error) {
      return KeepFailure(error);
    }
  }
  BANDANA_ASSIGN_OR_RETURN(PythonLearner::Mechanism made, MakeMechanism(gradient, privacy, facts));
  const auto mechanism = std::make_shared<const PythonLearner::Mechanism>(std::move(made));
  Federation federation{.topology = Topology::Star(facts.horizon)};
  if (privacy.is_private()) {
    federation.claims = gradient ? mechanism->gradient->claims() : mechanism->regression->claims();
    federation.budget = gradient ? mechanism->gradient->guarantee() : mechanism->regression->guarantee();
    federation.charges_clients = true;
  }
  federation.notes = facts.notes;
  if (chooses) {
    federation.notes.push_back(
        {Note::Weight::kNarrowsClaim,
         "Its `choose` sees every user's contexts, and nothing keeps it from storing them.",
         "the author's `choose` keeps nothing of what it sees"});
  }
  federation.claims = Narrowed(std::move(federation.claims), federation.notes);
  federation.roles = UserRoles{[make, facts, mechanism, chooses]() -> std::unique_ptr<UserLearner> {
    absl::StatusOr<Shared> adapter = make(facts);
    if (!adapter.ok()) return nullptr;
    return std::make_unique<PythonLearner>(*std::move(adapter), facts, mechanism, chooses);
  }};
  return federation;
}

// The privacy keys of a family that ships, and the worlds of its time model.
Family LikeOneThatShips(const std::string& model, TimeModel time) {
  Family like{.time = time};
  const absl::StatusOr<const Family*> found = Families().FindFamily(model, time);
  if (found.ok()) {
    like.trust = (*found)->trust;
    like.privacy_keys = (*found)->privacy_keys;
  }
  for (const WorldKind& kind : Families().worlds()) {
    if (kind.time == time) like.worlds.push_back(kind.name);
  }
  return like;
}

}  // namespace

void AddPythonFamily(const std::string& name, int number, const std::string& like,
                     const std::string& sentence, const py::list& cards, py::object make) {
  const auto time = static_cast<TimeModel>(number);
  Family family = LikeOneThatShips(like, time);
  family.name = name;
  family.paper = "a class in Python";
  family.sentence = sentence;
  family.origin = kOrigin;
  Values defaults;
  family.options = OptionsFrom("algorithm", cards, defaults);
  family.defaults = defaults;
  family.create = [name, time, shared = Share(std::move(make))](
                      const std::any& params, const Privacy& privacy,
                      const Facts& facts) -> absl::StatusOr<Federation> {
    const MakeAdapter adapter =
        [shared, values = std::any_cast<const Values&>(params)](const Facts& of) -> absl::StatusOr<Shared> {
      const py::gil_scoped_acquire lock;
      try {
        py::dict given;
        for (const auto& [key, value] : values) given[py::str(key)] = ToPython(value);
        return Share((*shared)(given, ToDict(of)));
      } catch (py::error_already_set& error) {
        return KeepFailure(error);
      }
    };
    BANDANA_ASSIGN_OR_RETURN(Federation federation, time == TimeModel::kSlot
                                                        ? CreateSlots(adapter, privacy, facts)
                                                        : CreateUsers(adapter, privacy, facts));
    federation.notes.push_back(RemarkOf(name));
    return federation;
  };
  bool replaced = false;
  for (const Family& other : Families().families()) {
    if (other.name != name || other.time != time || other.origin != kOrigin) continue;
    Family next = family;  // a class that was defined anew
    if (replaced || other.worlds != family.worlds) next.worlds = other.worlds;
    const_cast<Family&>(other) = std::move(next);
    replaced = true;
  }
  if (!replaced) Raise(Families().Add(std::move(family)));
}

void BindPythonAlgorithms(py::module_& m) {
  py::class_<PythonCoin>(m, "Coin").def("__call__", [](PythonCoin& self) { return UniformUnit(*self.coin); });
}

}  // namespace bandana::python
