#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bandana/algorithms/registry.h"
#include "bandana/bandit/link.h"
#include "bandana/core/options.h"
#include "bandana/core/status.h"
#include "bandana/federation/policy_file.h"
#include "bandana/privacy/privacy_options.h"
#include "bindings.h"
#include "fmt/format.h"
#include "policy.h"
#include "values.h"

/// Binds Policy. Its methods are called once for each decision, so they are plain functions of CPython: an
/// argument is looked at where it is, and no signature is searched for.
namespace bandana::python {
namespace {

struct PolicyObject {
  PyObject_HEAD Policy* policy;
};

/// While a batch runs without the interpreter's lock, no other thread may use the policy.
class Turns {
 public:
  explicit Turns(Policy& policy) : policy_(policy) { policy_.busy = true; }
  ~Turns() { policy_.busy = false; }

 private:
  Policy& policy_;
};

Policy* PolicyOf(PyObject* self) {
  Policy* policy = reinterpret_cast<PolicyObject*>(self)->policy;
  if (policy->busy) [[unlikely]] {
    PyErr_SetString(PyExc_RuntimeError,
                    "another thread uses this policy at this moment; one policy is for one thread at a time");
    return nullptr;
  }
  return policy;
}

PyObject* Raised(const absl::Status& status) {
  try {
    Raise(status);
  } catch (py::error_already_set& error) {
    error.restore();
  }
  return nullptr;
}

bool HasArguments(Py_ssize_t count, Py_ssize_t least, Py_ssize_t most, const char* wanted) {
  if (count >= least && count <= most) [[likely]]
    return true;
  PyErr_Format(PyExc_TypeError, "the arguments are %s; %zd were given", wanted, count);
  return false;
}

const double* ReadContexts(const Policy& policy, PyObject* object) {
  const double* contexts = policy.multi ? ReadDoubles(object, "contexts", {policy.dimension})
                                        : ReadDoubles(object, "contexts", {policy.arms, policy.dimension});
  if (contexts == nullptr ||
      !CheckFinite(contexts, static_cast<std::size_t>(policy.context_size()), "contexts")) {
    return nullptr;
  }
  return contexts;
}

bool ReadAction(const Policy& policy, PyObject* object, ArmId& arm) {
  const Py_ssize_t number = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred() != nullptr) return false;
  if (number < 0 || number >= policy.arms) {
    PyErr_Format(PyExc_ValueError, "action: %zd, not an arm from 0 to %zd", number,
                 static_cast<Py_ssize_t>(policy.arms - 1));
    return false;
  }
  arm = static_cast<ArmId>(number);
  return true;
}

bool ReadReward(PyObject* object, double& reward) {
  reward = PyFloat_AsDouble(object);
  if (reward == -1 && PyErr_Occurred() != nullptr) return false;
  if (std::isfinite(reward)) return true;
  PyErr_SetString(PyExc_ValueError, "reward: it is not finite");
  return false;
}

bool ReadUser(PyObject* object, std::optional<NodeId>& user) {
  if (object == Py_None) return true;
  const Py_ssize_t number = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred() != nullptr) return false;
  if (number < 1 || number > 0xfffffff0) {
    PyErr_Format(PyExc_ValueError, "user: %zd, not a whole number from 1 to 4294967280", number);
    return false;
  }
  user = NodeId{static_cast<std::uint32_t>(number)};
  return true;
}

PyObject* Select(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr) return nullptr;
  const double* contexts = nullptr;
  if (policy->takes_contexts) {
    if (!HasArguments(count, 1, 1, "contexts")) return nullptr;
    contexts = ReadContexts(*policy, arguments[0]);
    if (contexts == nullptr) return nullptr;
  } else if (!HasArguments(count, 0, 0, "none: this policy has no contexts")) {
    return nullptr;
  }
  const absl::StatusOr<ArmId> arm = policy->Select(contexts);
  return arm.ok() ? PyLong_FromLong(static_cast<long>(*arm)) : Raised(arm.status());
}

PyObject* Learned(const absl::StatusOr<bool>& learned) {
  return learned.ok() ? PyBool_FromLong(*learned ? 1 : 0) : Raised(learned.status());
}

// update(contexts, action, reward[, user]), or without contexts. The learner sees the contexts of this action
// alone.
PyObject* Update(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr) return nullptr;
  const Py_ssize_t first = policy->takes_contexts ? 1 : 0;
  if (!HasArguments(count, first + 2, first + 3,
                    first > 0 ? "contexts, action, reward and user" : "action, reward and user")) {
    return nullptr;
  }
  ArmId arm;
  double reward;
  std::optional<NodeId> user;
  if (!ReadAction(*policy, arguments[first], arm) || !ReadReward(arguments[first + 1], reward))
    return nullptr;
  if (count > first + 2 && !ReadUser(arguments[first + 2], user)) return nullptr;
  const double* context = nullptr;
  if (first > 0) {
    context = ReadContexts(*policy, arguments[0]);
    if (context == nullptr) return nullptr;
    if (!policy->multi) context += arm * policy->dimension;
  }
  return Learned(policy->Update(context, arm, reward, user));
}

// reward(token, context or None, action, reward, user): serves a token.
PyObject* Reward(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr || !HasArguments(count, 5, 5, "token, context, action, reward and user"))
    return nullptr;
  const Py_ssize_t token = PyNumber_AsSsize_t(arguments[0], PyExc_OverflowError);
  if (token == -1 && PyErr_Occurred() != nullptr) return nullptr;
  ArmId arm;
  double reward;
  std::optional<NodeId> user;
  if (!ReadAction(*policy, arguments[2], arm) || !ReadReward(arguments[3], reward) ||
      !ReadUser(arguments[4], user)) {
    return nullptr;
  }
  const double* context = nullptr;
  if (policy->takes_contexts) {
    context = ReadDoubles(arguments[1], "context", {policy->dimension});
    if (context == nullptr || !CheckFinite(context, static_cast<std::size_t>(policy->dimension), "context"))
      return nullptr;
  }
  if (const absl::Status status = policy->Redeem(token); !status.ok()) return Raised(status);
  const absl::StatusOr<bool> learned = policy->Update(context, arm, reward, user);
  if (!learned.ok()) policy->Reopen(token);
  return Learned(learned);
}

PyObject* Issue(PyObject* self, PyObject*) {
  Policy* policy = PolicyOf(self);
  return policy == nullptr ? nullptr : PyLong_FromLongLong(policy->Issue());
}

const double* ReadBatch(const Policy& policy, PyObject* object, Count& rounds) {
  ArrayShape shape;
  const double* contexts = policy.multi
                               ? ReadDoubles(object, "X", {kAny, policy.dimension}, &shape)
                               : ReadDoubles(object, "X", {kAny, policy.arms, policy.dimension}, &shape);
  rounds = shape.sizes[0];
  if (contexts == nullptr ||
      !CheckFinite(contexts, static_cast<std::size_t>(rounds * policy.context_size()), "X")) {
    return nullptr;
  }
  return contexts;
}

// Runs a batch without the interpreter's lock.
template <class Work>
absl::Status WithoutLock(Policy& policy, Work work) {
  const Turns turns(policy);
  const py::gil_scoped_release release;
  return work();
}

// Without contexts X is the number of rounds.
bool ReadRounds(const Policy& policy, PyObject* object, const double*& contexts, Count& rounds) {
  if (policy.takes_contexts) {
    contexts = ReadBatch(policy, object, rounds);
    return contexts != nullptr;
  }
  contexts = nullptr;
  rounds = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (rounds == -1 && PyErr_Occurred() != nullptr) return false;
  if (rounds >= 0) return true;
  PyErr_SetString(PyExc_ValueError, "the number of rounds is negative");
  return false;
}

// predict(X, exploit) -> int64 array
PyObject* Predict(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr || !HasArguments(count, 2, 2, "X and exploit")) return nullptr;
  const double* contexts = nullptr;
  Count rounds = 0;
  if (!ReadRounds(*policy, arguments[0], contexts, rounds)) return nullptr;
  const int exploit = PyObject_IsTrue(arguments[1]);
  if (exploit < 0) return nullptr;
  try {
    py::array_t<std::int64_t> actions(rounds);
    std::int64_t* out = actions.mutable_data();
    const absl::Status status =
        WithoutLock(*policy, [&] { return policy->SelectMany(contexts, rounds, exploit != 0, out); });
    return status.ok() ? actions.release().ptr() : Raised(status);
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

// scores(X) -> float64 array of n x K
PyObject* Scores(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr || !HasArguments(count, 1, 1, "X")) return nullptr;
  if (!policy->takes_contexts) return Raised(policy->Scores(nullptr, 0, nullptr));
  Count rounds = 0;
  const double* contexts = ReadBatch(*policy, arguments[0], rounds);
  if (contexts == nullptr) return nullptr;
  try {
    py::array_t<double> scores({rounds, policy->arms});
    double* out = scores.mutable_data();
    const absl::Status status = WithoutLock(*policy, [&] { return policy->Scores(contexts, rounds, out); });
    return status.ok() ? scores.release().ptr() : Raised(status);
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

// partial_fit(X, actions, rewards)
PyObject* PartialFit(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr) return nullptr;
  const Py_ssize_t first = policy->takes_contexts ? 1 : 0;
  if (!HasArguments(count, first + 2, first + 2,
                    first > 0 ? "X, actions and rewards" : "actions and rewards")) {
    return nullptr;
  }
  const double* contexts = nullptr;
  ArrayShape shape;
  const double* rewards = ReadDoubles(arguments[first + 1], "rewards", {kAny}, &shape);
  if (rewards == nullptr) return nullptr;
  Count rounds = shape.sizes[0];
  if (!CheckFinite(rewards, static_cast<std::size_t>(rounds), "rewards")) return nullptr;
  if (first > 0) {
    contexts = ReadBatch(*policy, arguments[0], rounds);
    if (contexts == nullptr) return nullptr;
    if (rounds != shape.sizes[0]) {
      PyErr_Format(PyExc_ValueError, "rewards: %zd of them for the %zd rounds of X", shape.sizes[0],
                   static_cast<Py_ssize_t>(rounds));
      return nullptr;
    }
  }
  const std::int64_t* actions = ReadIntegers(arguments[first], "actions", {rounds});
  if (actions == nullptr) return nullptr;
  for (Count i = 0; i < rounds; ++i) {
    if (actions[i] >= 0 && actions[i] < policy->arms) continue;
    PyErr_Format(PyExc_ValueError, "actions: %lld in round %zd, not an arm from 0 to %zd",
                 static_cast<long long>(actions[i]), static_cast<Py_ssize_t>(i),
                 static_cast<Py_ssize_t>(policy->arms - 1));
    return nullptr;
  }
  const absl::Status status =
      WithoutLock(*policy, [&] { return policy->UpdateMany(contexts, rounds, actions, rewards); });
  if (!status.ok()) return Raised(status);
  Py_RETURN_NONE;
}

PyObject* Thetas(PyObject* self, PyObject*) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr) return nullptr;
  try {
    const std::span<const double> thetas = policy->thetas();
    if (thetas.empty()) Py_RETURN_NONE;
    const Count slots = policy->multi ? policy->arms : 1;
    return py::array_t<double>({slots, static_cast<Count>(thetas.size()) / slots}, thetas.data())
        .release()
        .ptr();
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

PyObject* Save(PyObject* self, PyObject*) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr) return nullptr;
  const std::string saved = policy->Save();
  return PyBytes_FromStringAndSize(saved.data(), static_cast<Py_ssize_t>(saved.size()));
}

PyObject* Restore(PyObject* self, PyObject* bytes) {
  Policy* policy = PolicyOf(self);
  char* data;
  Py_ssize_t size;
  if (policy == nullptr || PyBytes_AsStringAndSize(bytes, &data, &size) < 0) return nullptr;
  const absl::Status status = policy->Restore({data, static_cast<std::size_t>(size)});
  if (!status.ok()) return Raised(status);
  Py_RETURN_NONE;
}

PyObject* Statement(PyObject* self, PyObject*) {
  Policy* policy = PolicyOf(self);
  if (policy == nullptr) return nullptr;
  py::list claims;
  for (const Claim& claim : policy->assembled->claims) {
    py::dict fields;
    fields["adversary"] = claim.adversary;
    fields["epsilon"] = claim.guarantee.epsilon;
    fields["delta"] = claim.guarantee.delta;
    fields["unit"] = claim.unit;
    fields["neighbours"] = claim.neighbours;
    fields["proof"] = claim.proof;
    fields["only_if"] = claim.only_if;
    fields["text"] = ToText(claim);
    claims.append(fields);
  }
  py::list notes;
  for (const Note& note : policy->assembled->notes) notes.append(note.text);
  return py::make_tuple(claims, notes, policy->assembled->void_reason()).release().ptr();
}

PyObject* LearnedRounds(PyObject* self, void*) {
  return PyLong_FromLongLong(reinterpret_cast<PolicyObject*>(self)->policy->learned());
}
PyObject* Secret(PyObject* self, void*) {
  return PyUnicode_FromString(reinterpret_cast<PolicyObject*>(self)->policy->secret().c_str());
}
PyObject* Name(PyObject* self, void*) {
  return PyUnicode_FromString(reinterpret_cast<PolicyObject*>(self)->policy->name.c_str());
}

void Free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<PolicyObject*>(self)->policy;
  type->tp_free(self);
  Py_DECREF(type);
}

template <class Function>
PyCFunction Fast(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef kMethods[] = {
    {"select", Fast(&Select), METH_FASTCALL, "(contexts): the arm to play"},
    {"update", Fast(&Update), METH_FASTCALL, "(contexts, action, reward, user=None): whether it has learned"},
    {"reward", Fast(&Reward), METH_FASTCALL, "(token, context, action, reward, user): serves a token"},
    {"issue", Fast(&Issue), METH_NOARGS, "(): the number of a new token"},
    {"predict", Fast(&Predict), METH_FASTCALL, "(X, exploit): arms"},
    {"scores", Fast(&Scores), METH_FASTCALL, "(X): scores of all arms"},
    {"partial_fit", Fast(&PartialFit), METH_FASTCALL, "(X, actions, rewards): learns"},
    {"thetas", Fast(&Thetas), METH_NOARGS, "(): a copy of the public model, or None"},
    {"save", Fast(&Save), METH_NOARGS, "(): the state"},
    {"restore", Fast(&Restore), METH_O, "(state): continues from a state"},
    {"statement", Fast(&Statement), METH_NOARGS, "(): claims, notes, and why they are void"},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef kProperties[] = {
    {"learned", &LearnedRounds, nullptr, "rounds that it has learned from", nullptr},
    {"secret", &Secret, nullptr, "why the state must not leave the process", nullptr},
    {"name", &Name, nullptr, "the name that its tokens carry", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot kSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(&Free)},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kProperties},
    {Py_tp_doc, const_cast<char*>("The C++ part of a policy. Use bandana.policies instead.")},
    {0, nullptr}};

PyType_Spec kSpec = {"bandana._bandana.Policy", sizeof(PolicyObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

PyTypeObject* policy_type = nullptr;

absl::StatusOr<Facts> FactsFrom(const Values& given, TimeModel time) {
  const auto number = [&](const std::string& key, double fallback) {
    const auto found = given.find(key);
    if (found == given.end()) return fallback;
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
    const auto* value = std::get_if<double>(&found->second);
    return value == nullptr ? std::numeric_limits<double>::quiet_NaN() : *value;
  };
  const auto count = [&](const std::string& key, std::int64_t most) -> absl::StatusOr<Count> {
    const auto found = given.find(key);
    const auto* whole = found == given.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    if (whole == nullptr || *whole < 1 || *whole > most) {
      return InvalidField(Part::kFacts, key, found == given.end() ? "missing" : ToText(found->second),
                          fmt::format("a whole number from 1 to {}", most));
    }
    return *whole;
  };
  constexpr std::int64_t kMostRounds = std::int64_t{1} << 40;
  Facts facts;
  BANDANA_ASSIGN_OR_RETURN(facts.horizon, count("horizon", kMostRounds));
  BANDANA_ASSIGN_OR_RETURN(facts.arms, count("arms", 1'000'000));
  if (time != TimeModel::kTick) {
    BANDANA_ASSIGN_OR_RETURN(facts.dimension, count("dimension", 10'000));
  }
  facts.people = time == TimeModel::kUser ? facts.horizon : 1;
  facts.rewards = {number("rewards.low", 0), number("rewards.high", 1)};
  if (!(facts.rewards.low < facts.rewards.high) || !std::isfinite(facts.rewards.low) ||
      !std::isfinite(facts.rewards.high)) {
    return InvalidField(Part::kFacts, "rewards",
                        fmt::format("({}, {})", facts.rewards.low, facts.rewards.high),
                        "two finite numbers, of which the first is smaller");
  }
  facts.theta_norm = number("theta_norm", 1);
  facts.context_norm = number("context_norm", 1);
  facts.reward_proxy = number("reward_proxy", (facts.rewards.high - facts.rewards.low) / 2);
  if (const auto multi = given.find("multi"); multi != given.end()) {
    const auto* flag = std::get_if<bool>(&multi->second);
    if (flag == nullptr) return InvalidField(Part::kFacts, "multi", ToText(multi->second), "true, false");
    facts.multi = *flag;
  }
  if (const auto link = given.find("link"); link != given.end()) {
    const std::string word = ToText(link->second);
    Count bound = 0;
    Link which = Link::kIdentity;
    if (word == "logistic") {
      which = Link::kLogistic;
    } else if (word == "probit") {
      which = Link::kProbit;
    } else if (word == "poisson") {
      which = Link::kPoisson;
      bound = static_cast<Count>(facts.rewards.high);
    } else if (word != "identity") {
      return InvalidField(Part::kFacts, "link", word, "identity, logistic, probit, poisson");
    }
    BANDANA_ASSIGN_OR_RETURN(facts.mean, MeanFunction::Create(which, bound));
  }
  return facts;
}

std::vector<Option> PrivacyOptionsOf(const Family& family) {
  std::vector<Option> options;
  for (const Option& option : PrivacyOptions()) {
    const auto& keys = family.privacy_keys;
    if (option.key == "model" || std::find(keys.begin(), keys.end(), option.key) != keys.end())
      options.push_back(option);
  }
  return options;
}

absl::StatusOr<std::unique_ptr<Policy>> Make(const std::string& algorithm, TimeModel time,
                                             const Values& options, const Values& privacy,
                                             const Values& given, const PolicyDraws& draws,
                                             const UserCharges& charges) {
  BANDANA_ASSIGN_OR_RETURN(const Facts facts, FactsFrom(given, time));
  BANDANA_ASSIGN_OR_RETURN(const Family* const family, Families().FindFamily(algorithm, time));
  const Privacy nothing{.none_because = "the program asked for model = none"};
  BANDANA_ASSIGN_OR_RETURN(const Resolved asked, Resolve(PrivacyOptionsOf(*family), nothing, privacy));
  BANDANA_ASSIGN_OR_RETURN(Federation federation, Create(algorithm, time, options,
                                                         std::any_cast<const Privacy&>(asked.params), facts));
  return MakePolicy(std::move(federation), facts, draws, charges);
}

py::object MakePolicyObject(const std::string& algorithm, int time, const py::dict& options,
                            const py::dict& privacy, const py::dict& facts, std::optional<std::uint64_t> seed,
                            std::optional<std::pair<double, double>> budget, const std::string& ledger,
                            const std::string& name) {
  UserCharges charges{.budget = {}, .ledger = ledger};
  if (budget.has_value()) charges.budget = DpGuarantee{budget->first, budget->second};
  std::unique_ptr<Policy> policy =
      ValueOrRaise(Make(algorithm, static_cast<TimeModel>(time), ValuesFrom(options), ValuesFrom(privacy),
                        ValuesFrom(facts), {seed}, charges));
  policy->name = name;
  PyObject* object = policy_type->tp_alloc(policy_type, 0);
  if (object == nullptr) throw py::error_already_set();
  reinterpret_cast<PolicyObject*>(object)->policy = policy.release();
  return py::reinterpret_steal<py::object>(object);
}

py::dict CardOf(const Option& option, const std::any& defaults) {
  py::dict card;
  card["key"] = option.key;
  card["table"] = option.table;
  card["choice"] = option.kind == Option::Kind::kChoice;
  card["required"] = option.required;
  card["default"] = option.required ? py::object(py::none()) : ToPython(option.get(defaults));
  card["accepted"] = option.accepted;
  card["sentence"] = option.sentence;
  card["condition"] = option.condition;
  py::list words;
  for (const Word& word : option.words) words.append(py::make_tuple(word.word, word.sentence));
  card["words"] = words;
  return card;
}

// All that script/stubs needs to write the class of a policy.
py::dict PolicyCard(const std::string& algorithm, int time) {
  const Family& family = *ValueOrRaise(Families().FindFamily(algorithm, static_cast<TimeModel>(time)));
  py::dict card;
  card["name"] = family.name;
  card["paper"] = family.paper;
  card["sentence"] = family.sentence;
  py::list models;
  for (const TrustModel model : family.trust) models.append(NameOf(model));
  card["models"] = models;
  py::list options;
  for (const Option& option : family.options) options.append(CardOf(option, family.defaults));
  card["options"] = options;
  py::list privacy;
  for (const Option& option : PrivacyOptionsOf(family)) {
    if (option.key != "model") privacy.append(CardOf(option, Privacy{}));
  }
  card["privacy"] = privacy;
  return card;
}

// The files of docs/saving.md.
void SaveFile(const std::string& path, const std::string& algorithm,
              const std::map<std::string, std::string>& parameters, const py::bytes& state) {
  const auto bytes = static_cast<std::string>(state);
  Raise(WritePolicy(path, {.algorithm = algorithm, .role = "policy", .parameters = parameters}, bytes));
}

py::bytes LoadFile(const std::string& path, const std::string& algorithm,
                   const std::map<std::string, std::string>& parameters) {
  return py::bytes(
      ValueOrRaise(ReadPolicy(path, {.algorithm = algorithm, .role = "policy", .parameters = parameters})));
}

}  // namespace

void BindPolicies(py::module_& m) {
  policy_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kSpec));
  if (policy_type == nullptr) throw py::error_already_set();
  m.add_object("Policy", reinterpret_cast<PyObject*>(policy_type));
  m.def("make_policy", &MakePolicyObject, py::arg("algorithm"), py::arg("time"), py::arg("options"),
        py::arg("privacy"), py::arg("facts"), py::arg("seed"), py::arg("budget"), py::arg("ledger"),
        py::arg("name"));
  m.def("policy_card", &PolicyCard, py::arg("algorithm"), py::arg("time"));
  m.def("save_policy", &SaveFile, py::arg("path"), py::arg("algorithm"), py::arg("parameters"),
        py::arg("state"));
  m.def("load_policy", &LoadFile, py::arg("path"), py::arg("algorithm"), py::arg("parameters"));
}

}  // namespace bandana::python
