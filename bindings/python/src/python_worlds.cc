#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bandana/algorithms/plugin.h"
#include "bandana/algorithms/registry.h"
#include "bandana/bandit/decision_block.h"
#include "bandana/core/status.h"
#include "bindings.h"
#include "python_parts.h"
#include "values.h"

namespace bandana::python {
namespace {

constexpr char kOrigin[] = "Python";

/// A block of rounds that a class has drawn, checked by bandana/_python_parts.py. The arrays are C-ordered
/// float64.
class DrawnBlock {
 public:
  // Asks `adapter.block(agent, first, rounds)`.
  absl::Status Draw(const Shared& adapter, Count agent, Count first, Count rounds) {
    const py::gil_scoped_acquire lock;
    try {
      const auto drawn = adapter->attr("block")(agent, first, rounds).cast<py::tuple>();
      contexts_ = Data(drawn[0]);
      rewards_ = Data(drawn[1]);
      means_ = drawn[2].is_none() ? nullptr : Data(drawn[2]);
      held_ = Share(drawn);
      first_ = first;
      rounds_ = rounds;
      return absl::OkStatus();
    } catch (py::error_already_set& error) {
      return KeepFailure(error);
    }
  }

  bool Has(Count round) const { return round >= first_ && round < first_ + rounds_; }
  const double* contexts(Count round, Count size) const { return contexts_ + (round - first_) * size; }
  const double* rewards(Count round, Count arms) const { return rewards_ + (round - first_) * arms; }
  const double* means(Count round, Count arms) const {
    return means_ == nullptr ? nullptr : means_ + (round - first_) * arms;
  }

 private:
  static const double* Data(const py::handle& array) {
    const py::buffer_info info = py::cast<py::buffer>(array).request();
    return static_cast<const double*>(info.ptr);
  }

  Shared held_;
  const double* contexts_ = nullptr;
  const double* rewards_ = nullptr;
  const double* means_ = nullptr;
  Count first_ = 1;
  Count rounds_ = 0;
};

class PythonUsers final : public UserWorld {
 public:
  PythonUsers(Shared adapter, Facts facts, Count block)
      : adapter_(std::move(adapter)),
        facts_(std::move(facts)),
        block_(block),
        contexts_(facts_.multi ? 1 : facts_.arms, facts_.dimension) {}

  const Facts& facts() const override { return facts_; }

  bool Next() override {
    if (!failed_.ok()) return false;
    ++round_;
    if (!drawn_.Has(round_)) failed_ = drawn_.Draw(adapter_, 0, round_, block_);
    if (!failed_.ok()) return false;
    std::copy_n(drawn_.contexts(round_, contexts_.size()), contexts_.size(), contexts_.data());
    return true;
  }
  const ActionMatrix& Contexts() override { return contexts_; }
  std::optional<double> Reward(ArmId arm) override { return drawn_.rewards(round_, facts_.arms)[arm]; }
  double Gap(ArmId arm) const override {
    const double* means = drawn_.means(round_, facts_.arms);
    if (means == nullptr) return std::numeric_limits<double>::quiet_NaN();
    return *std::max_element(means, means + facts_.arms) - means[arm];
  }
  absl::Status Measure(GreedyPolicy, std::map<std::string, double>&) override { return failed_; }

 private:
  Shared adapter_;
  Facts facts_;
  Count block_;
  ActionMatrix contexts_;
  DrawnBlock drawn_;
  Count round_ = 0;
  absl::Status failed_;
};

class PythonRounds final : public RoundWorld {
 public:
  PythonRounds(Shared adapter, Facts facts, Count block)
      : adapter_(std::move(adapter)), facts_(std::move(facts)), block_(block) {
    for (Count i = 1; i <= facts_.people; ++i) agents_[static_cast<std::uint32_t>(i)];
  }

  const Facts& facts() const override { return facts_; }

  void Fill(NodeId node, Count first_round, DecisionBlock<double>& block) override {
    Agent& agent = agents_.at(node.value);
    agent.first = first_round;
    for (Count at = 0; at < block.rounds(); ++at) {
      const Count round = first_round + at;
      // After an exception rounds are empty; the run's caller asks for the exception.
      if (agent.ok && !agent.drawn.Has(round)) {
        const Count first = (round - 1) / block_ * block_ + 1;
        agent.ok =
            agent.drawn.Draw(adapter_, node.value, first, std::min(block_, facts_.horizon - first + 1)).ok();
      }
      if (!agent.ok) return;
      const double* contexts = agent.drawn.contexts(round, facts_.arms * facts_.dimension);
      double* entries = block.entries(at);
      for (Count a = 0; a < facts_.arms; ++a) {
        for (Count j = 0; j < facts_.dimension; ++j)
          entries[j * block.stride() + a] = contexts[a * facts_.dimension + j];
      }
      if (const double* means = agent.drawn.means(round, facts_.arms); means != nullptr) {
        std::copy_n(means, facts_.arms, block.means_of(at));
        block.SetTruth(at, *std::max_element(means, means + facts_.arms), 0);
      }
    }
  }

  double Reward(const DecisionBlock<double>&, NodeId node, Count at, ArmId arm) override {
    const Agent& agent = agents_.at(node.value);
    return agent.ok ? agent.drawn.rewards(agent.first + at, facts_.arms)[arm] : 0;
  }

 private:
  struct Agent {
    DrawnBlock drawn;
    Count first = 0;
    bool ok = true;
  };
  Shared adapter_;
  Facts facts_;
  Count block_;
  std::map<std::uint32_t, Agent> agents_;
};

class PythonSlots final : public SlotWorld {
 public:
  PythonSlots(Shared adapter, Facts facts, std::vector<double> gaps)
      : adapter_(std::move(adapter)), facts_(std::move(facts)), gaps_(std::move(gaps)) {}

  const Facts& facts() const override { return facts_; }

  absl::Status Answer(NodeId who, Epoch epoch, std::span<const Pull> pulls,
                      std::span<RewardSum> rewards) override {
    const py::gil_scoped_acquire lock;
    try {
      std::vector<std::int64_t> arms;
      std::vector<std::int64_t> counts;
      for (const Pull& pull : pulls) {
        arms.push_back(pull.arm);
        counts.push_back(pull.count);
      }
      const auto sums = adapter_->attr("answer")(who.value, epoch, asked_[who.value]++, arms, counts)
                            .cast<std::vector<double>>();
      for (std::size_t i = 0; i < pulls.size(); ++i) rewards[i] = {pulls[i].count, sums.at(i)};
      return absl::OkStatus();
    } catch (py::error_already_set& error) {
      return KeepFailure(error);
    }
  }

  double Gap(ArmId arm) const override {
    if (gaps_.empty()) return std::numeric_limits<double>::quiet_NaN();
    return gaps_[static_cast<std::size_t>(arm)];
  }

 private:
  Shared adapter_;
  Facts facts_;
  std::vector<double> gaps_;
  std::map<std::uint32_t, Count> asked_;  // how often each was asked before
};

py::dict ToDict(const Values& values) {
  py::dict dict;
  for (const auto& [key, value] : values) dict[py::str(key)] = ToPython(value);
  return dict;
}

absl::StatusOr<std::unique_ptr<World>> MakeWorldOf(const Shared& make, TimeModel time, const Values& values,
                                                   const WorldDraw& draw) {
  const py::gil_scoped_acquire lock;
  try {
    py::object adapter =
        (*make)(ToDict(values), draw.horizon, draw.seed, draw.replicate, static_cast<int>(time));
    Facts facts = FactsFrom(adapter.attr("facts").cast<py::dict>());
    const auto block = adapter.attr("block_size").cast<Count>();
    if (time == TimeModel::kUser)
      return std::make_unique<PythonUsers>(Share(adapter), std::move(facts), block);
    if (time == TimeModel::kRound)
      return std::make_unique<PythonRounds>(Share(adapter), std::move(facts), block);
    auto gaps = adapter.attr("gaps").cast<std::vector<double>>();
    if (!gaps.empty()) {
      double least = 0;
      for (const double gap : gaps) {
        if (gap > 0 && (least == 0 || gap < least)) least = gap;
      }
      facts.smallest_gap = least;
    }
    return std::make_unique<PythonSlots>(Share(adapter), std::move(facts), std::move(gaps));
  } catch (py::error_already_set& error) {
    return KeepFailure(error);
  }
}

// Lets all algorithms of the time model be played in the world: each gets an entry of its own for it.
void OpenTo(const std::string& world, TimeModel time) {
  std::map<std::string, Family> others;
  for (const Family& family : Families().families()) {
    if (family.time == time) others.emplace(family.name, family);
  }
  for (auto& [name, family] : others) {
    family.worlds = {world};
    static_cast<void>(Families().Add(family));  // it may be there already
  }
}

}  // namespace

void AddPythonWorld(const std::string& name, int number, const std::string& sentence, const py::list& cards,
                    py::object make) {
  const auto time = static_cast<TimeModel>(number);
  Values defaults;
  WorldKind kind{.name = name, .sentence = sentence, .origin = kOrigin, .time = time};
  kind.options = OptionsFrom("environment", cards, defaults);
  kind.defaults = defaults;
  kind.make = [shared = Share(std::move(make)), time](const std::any& params, const WorldDraw& draw) {
    return MakeWorldOf(shared, time, std::any_cast<const Values&>(params), draw);
  };
  for (const WorldKind& other : Families().worlds()) {
    if (other.name != name || other.time != time || other.origin != kOrigin) continue;
    const_cast<WorldKind&>(other) = std::move(kind);  // a class that was defined anew
    OpenTo(name, time);
    return;
  }
  Raise(Families().Add(std::move(kind)));
  OpenTo(name, time);
}

void BindPythonParts(py::module_& m) {
  m.def("add_world", &AddPythonWorld, py::arg("name"), py::arg("time"), py::arg("sentence"),
        py::arg("options"), py::arg("make"));
  m.def("add_family", &AddPythonFamily, py::arg("name"), py::arg("time"), py::arg("like"),
        py::arg("sentence"), py::arg("options"), py::arg("make"));
  m.def("raise_failure", &RaiseFailure);
  m.def("load_plugin", [](const std::string& path) { Raise(LoadPlugin(path)); }, py::arg("path"));
}

}  // namespace bandana::python
