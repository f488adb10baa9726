#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bandana/bandit/logged_data.h"
#include "bandana/bandit/off_policy.h"
#include "bandana/bandit/policy_value.h"
#include "bandana/bandit/replay.h"
#include "bandana/core/bit_source.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bindings.h"

/// Values of policies on logs (bandit/off_policy.h, bandit/replay.h).
namespace bandana::python {
namespace {

// Raises what ReadDoubles or ReadIntegers has set.
template <class T>
const T* Data(const T* data) {
  if (data == nullptr) throw py::error_already_set();
  return data;
}

class OwnLog {
 public:
  OwnLog(const py::object& context, const py::object& action, const py::object& reward,
         const py::object& pscore, Count num_actions) {
    ArrayShape shape;
    const double* contexts = Data(ReadDoubles(context.ptr(), "context", {kAny, kAny}, &shape));
    const Py_ssize_t rounds = shape.sizes[0];
    const std::int64_t* actions = Data(ReadIntegers(action.ptr(), "action", {rounds}));
    const double* rewards = Data(ReadDoubles(reward.ptr(), "reward", {rounds}));
    const double* pscores = Data(ReadDoubles(pscore.ptr(), "pscore", {rounds}));
    LoggedData::Params params{.num_actions = num_actions, .dimension = shape.sizes[1]};
    params.contexts.assign(contexts, contexts + rounds * shape.sizes[1]);
    params.actions.assign(actions, actions + rounds);
    params.rewards.assign(rewards, rewards + rounds);
    params.pscores.assign(pscores, pscores + rounds);
    log_ = std::make_shared<const LoggedData>(ValueOrRaise(LoggedData::Create(std::move(params))));
  }

  py::dict Value(const std::string& estimator, const py::object& probabilities,
                 std::pair<double, double> rewards, double level, std::optional<double> weight_bound,
                 double penalty) const {
    const Count arms = log_->num_actions();
    const double* chances = Data(ReadDoubles(probabilities.ptr(), "probabilities", {log_->rounds(), arms}));
    // The estimators ask by context. All of them are views into the log, whose place says which round is
    // meant.
    const double* first = log_->context(0).data();
    const StochasticPolicy policy = [&](const ContextView& context, Eigen::Ref<Vector> out) {
      const Count round = (context.data() - first) / log_->dimension();
      BANDANA_CHECK(round >= 0 && round < log_->rounds());
      for (Count arm = 0; arm < arms; ++arm) out[arm] = chances[round * arms + arm];
    };
    const OffPolicyOptions options{
        .rewards = {rewards.first, rewards.second}, .level = level, .weight_bound = weight_bound};
    const ValueEstimate estimate = ValueOrRaise([&]() -> absl::StatusOr<ValueEstimate> {
      const py::gil_scoped_release release;
      if (estimator == "ips") return InversePropensity(*log_, policy, options);
      if (estimator == "snips") return SelfNormalised(*log_, policy, options);
      return CrossFittedDoublyRobust(*log_, policy, penalty, options);
    }());
    py::dict out;
    out["value"] = estimate.value;
    out["standard_error"] = estimate.standard_error;
    out["normal"] = py::make_tuple(estimate.normal.low, estimate.normal.high);
    out["bernstein"] = estimate.bernstein.has_value()
                           ? py::object(py::make_tuple(estimate.bernstein->low, estimate.bernstein->high))
                           : py::object(py::none());
    out["effective_sample_size"] = estimate.effective_sample_size;
    out["largest_weight"] = estimate.largest_weight;
    return out;
  }

  // Returns the rounds that count for these choices, by bandit/replay.h.
  py::array_t<bool> Counts(const py::object& choices, std::uint64_t seed) const {
    const std::int64_t* chosen = Data(ReadIntegers(choices.ptr(), "choices", {log_->rounds()}));
    py::array_t<bool> counts(log_->rounds());
    bool* out = counts.mutable_data();
    Replay replay = ValueOrRaise(Replay::Create(log_));
    PhiloxSource bits({.seed = seed, .stream = Stream::kContext});
    CoinGen coin(bits);
    for (Count i = 0; i < log_->rounds(); ++i)
      out[i] = replay.Play(static_cast<ArmId>(chosen[i]), coin).has_value();
    return counts;
  }

 private:
  std::shared_ptr<const LoggedData> log_;
};

}  // namespace

void BindLogs(py::module_& m) {
  py::class_<OwnLog>(m, "Log")
      .def(py::init<const py::object&, const py::object&, const py::object&, const py::object&, Count>(),
           py::arg("context"), py::arg("action"), py::arg("reward"), py::arg("pscore"),
           py::arg("num_actions"))
      .def("value", &OwnLog::Value, py::arg("estimator"), py::arg("probabilities"), py::arg("rewards"),
           py::arg("level"), py::arg("weight_bound"), py::arg("penalty"))
      .def("counts", &OwnLog::Counts, py::arg("choices"), py::arg("seed"));
}

}  // namespace bandana::python
