#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "bandana/audit/auditor.h"
#include "bandana/audit/catalog.h"
#include "bandana/core/status.h"
#include "bandana/lab/account_request.h"
#include "bandana/lab/audit_json.h"
#include "bandana/lab/calibrate_answers.h"
#include "bandana/lab/ledger_json.h"
#include "bandana/lab/typed_flags.h"
#include "bindings.h"

namespace bandana::python {
namespace {

using lab::Json;

// Returns the text with keyword arguments where it names flags: --honest-fraction becomes honest_fraction.
std::string AsKeywords(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool flag = text.compare(i, 2, "--") == 0 && i + 2 < text.size() &&
                      absl::ascii_islower(text[i + 2]) &&
                      (i == 0 || text[i - 1] == ' ' || text[i - 1] == '(');
    if (!flag) {
      out += text[i];
      continue;
    }
    for (i += 2; i < text.size() && (absl::ascii_isalnum(text[i]) || text[i] == '-'); ++i) {
      out += text[i] == '-' ? '_' : text[i];
    }
    --i;
  }
  return out;
}

absl::Status AsKeywords(const absl::Status& status) {
  std::optional<InputError> error = InputErrorOf(status);
  if (!error.has_value()) return status;
  error->message = AsKeywords(error->message);
  error->key = AsKeywords(error->key);
  error->accepted = AsKeywords(error->accepted);
  return InvalidInput(*error);
}

std::string Calibrate(const std::string& name, const std::map<std::string, std::string>& arguments) {
  lab::FlagValues flags;
  for (const auto& [key, value] : arguments) {
    std::string flag = "--" + key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    flags[flag] = value;
  }
  absl::StatusOr<lab::CalibrationAnswer> answer;
  RunUntilDone([&](const std::atomic<bool>&) { answer = lab::Calibrate(name, flags); }, {});
  Raise(AsKeywords(answer.status()));
  return lab::ToJson(*answer).dump();
}

// Raises what is wrong with an event. A list of events is checked again as a whole when it is added up.
void CheckEvent(const std::string& event) {
  const Event read = ValueOrRaise(lab::ReadEvent(Json::parse(event), ""));
  for (const MechanismParameter& parameter : FindMechanismKind(read.mechanism)->parameters) {
    const auto given = read.parameters.find(parameter.name);
    if (given == read.parameters.end()) {
      Raise(InvalidInput({.message = "missing", .key = parameter.name, .accepted = parameter.accepted()}));
    }
    const double value = given->second;
    if (!(value >= parameter.least && value <= parameter.most) ||
        (parameter.whole && value != std::floor(value))) {
      Raise(InvalidOption(parameter.name, value, parameter.accepted()));
    }
  }
}

std::string Account(const std::string& request) {
  const lab::AccountRequest read = ValueOrRaise(lab::ReadAccountRequest(Json::parse(request)));
  absl::StatusOr<AccountReport> report;
  RunUntilDone([&](const std::atomic<bool>&) { report = bandana::Account(read.events, read.target); }, {});
  Raise(report.status());
  return lab::ToJson(read, *report).dump();
}

std::string ReadAccount(const std::string& file) {
  const Json json = ValueOrRaise(lab::ReadAccountFile(file));
  Raise(WithFile(lab::ReadAccountRequest(json).status(), file));
  return json.dump();
}

std::string Mechanisms() {
  Json json = Json::array();
  for (const MechanismKind& kind : MechanismKinds()) {
    Json parameters = Json::array();
    for (const MechanismParameter& parameter : kind.parameters) {
      parameters.push_back(
          {{"name", parameter.name}, {"meaning", parameter.meaning}, {"accepted", parameter.accepted()}});
    }
    json.push_back({{"name", kind.name}, {"meaning", kind.meaning}, {"parameters", parameters}});
  }
  return json.dump();
}

std::string ReadLedgerFile(const std::string& file, const std::optional<std::string>& head) {
  ReadOptions options;
  if (head) {
    if (!IsHash(*head)) Raise(InvalidOption("head", *head, "64 digits 0-9a-f, as Ledger.head has them"));
    options.noted_head = head;
  }
  std::vector<Dated<LedgerEntry>> entries;
  std::vector<std::string> hashes;
  absl::StatusOr<LedgerState> state = absl::UnknownError("not read");
  RunUntilDone(
      [&](const std::atomic<bool>& stop) {
        state = ReadLedger(file, options, [&](const Dated<LedgerEntry>& entry, std::string_view hash) {
          entries.push_back(entry);
          hashes.emplace_back(hash);
          return stop ? absl::CancelledError("interrupted") : absl::OkStatus();
        });
      },
      {});
  Raise(state.status());
  const Accounts& accounts = state->accounts;
  Json json = lab::LedgerJson(*state, entries, hashes);
  json["amount"] = AmountOf(accounts.limits().measure);
  json["last_charge"] = accounts.releases() > 0 ? Json(state->last_time) : Json(nullptr);
  json["releases"] = accounts.releases();
  json["units"] = accounts.units();
  const std::optional<NodeId> largest = accounts.LargestSpender();
  json["largest"] = largest ? lab::LedgerAccountJson(*largest, accounts) : Json(nullptr);
  json["total"] = lab::ToJson(accounts.total(), accounts.limits().measure);
  json["noted_seq"] = state->noted_seq ? Json(*state->noted_seq) : Json(nullptr);
  json["notes"] = lab::LedgerNotes(*state);
  return json.dump();
}

std::string AuditTargets() {
  Json json = Json::array();
  for (const audit::Entry& entry : audit::Catalog()) json.push_back(lab::ToJson(entry));
  return json.dump();
}

struct AuditArguments {
  std::optional<std::int64_t> draws;
  double confidence;
  std::uint64_t seed;
  bool secure;
  int threads;
  py::object tick;
};

std::string Audit(const audit::Target& target, const AuditArguments& arguments, std::int64_t draws) {
  if (!(arguments.confidence > 0 && arguments.confidence <= 1 - 1e-12)) {
    Raise(InvalidOption("confidence", arguments.confidence, "a number in (0, 1 - 1e-12]"));
  }
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  absl::StatusOr<audit::Finding> finding;
  RunUntilDone(
      [&](const std::atomic<bool>& stop) {
        finding =
            audit::Audit(target, {.draws = draws,
                                  .false_alarm = 1 - arguments.confidence,
                                  .bits = arguments.secure ? audit::Bits::kSecure : audit::Bits::kSeeded,
                                  .seed = arguments.seed,
                                  .threads = arguments.threads > 0 ? arguments.threads : cores,
                                  .stop = &stop});
      },
      [&] { arguments.tick(); });
  Raise(AsKeywords(lab::NamedAsFlag(finding.status())));
  return lab::ToJson(*finding).dump();
}

std::string AuditTarget(const std::string& name, std::optional<double> epsilon, std::optional<double> delta,
                        const AuditArguments& arguments) {
  const audit::Entry* entry = ValueOrRaise(audit::FindEntry(name));
  const absl::StatusOr<audit::Target> target = audit::MakeTarget(*entry, epsilon, delta);
  Raise(AsKeywords(lab::NamedAsFlag(target.status())));
  return Audit(*target, arguments, arguments.draws.value_or(entry->draws));
}

using Rows = py::array_t<double, py::array::c_style | py::array::forcecast>;

// Attacks a mechanism that is a Python function: draw(neighbour, n, rng) returns n rows. Only one thread
// draws. What the function raises ends the audit and is raised here.
std::string AuditOwn(const py::function& draw, std::size_t dimension, std::optional<DpGuarantee> claim,
                     const AuditArguments& arguments, std::int64_t draws) {
  const py::object make_rng = py::module_::import("bandana._audit").attr("_rng");
  std::exception_ptr raised;
  audit::Target target{.name = "draw", .claim = std::nullopt, .dimension = dimension};
  if (claim) {
    target.claim = Claim{.adversary = "whoever sees the rows that draw returns",
                         .guarantee = *claim,
                         .unit = "the difference between the two neighbours",
                         .neighbours = "0 and 1",
                         .proof = ""};
  }
  target.draw_block = [&](audit::Neighbour neighbour, NoiseGen& noise,
                          std::span<double> views) -> absl::Status {
    const std::uint64_t words[2] = {noise(), noise()};
    const py::gil_scoped_acquire acquire;
    try {
      const std::size_t n = views.size() / dimension;
      const py::object rng = make_rng(words[0], words[1]);
      const py::object answer = draw(neighbour == audit::Neighbour::kSecond ? 1 : 0, n, rng);
      const auto rows = Rows::ensure(answer);
      const bool flat = rows && rows.ndim() == 1 && dimension == 1;
      const bool fits = rows && static_cast<std::size_t>(rows.size()) == views.size() &&
                        (flat || rows.ndim() == 2) && static_cast<std::size_t>(rows.shape(0)) == n;
      if (!fits) {
        PyErr_Clear();
        throw py::value_error("draw(neighbour, " + std::to_string(n) + ", rng) must return " +
                              std::to_string(n) + " rows of " + std::to_string(dimension) + " numbers");
      }
      std::copy_n(rows.data(), views.size(), views.begin());
      return absl::OkStatus();
    } catch (py::error_already_set&) {
      raised = std::current_exception();
    } catch (py::builtin_exception&) {
      raised = std::current_exception();
    }
    return absl::CancelledError("draw has raised an exception");
  };
  AuditArguments one = arguments;
  one.threads = 1;
  try {
    return Audit(target, one, draws);
  } catch (py::error_already_set&) {
    if (raised) std::rethrow_exception(raised);
    throw;
  }
}

}  // namespace

void BindPrivacy(py::module_& m) {
  m.def("calibrate", Calibrate, py::arg("name"), py::arg("arguments"));
  m.def("check_event", CheckEvent, py::arg("event"));
  m.def("account", Account, py::arg("request"));
  m.def("read_account", ReadAccount, py::arg("file"));
  m.def("mechanisms", Mechanisms);
  m.def("read_ledger", ReadLedgerFile, py::arg("file"), py::arg("head"));
  m.def("audit_targets", AuditTargets);
  m.def(
      "audit",
      [](const std::string& name, std::optional<double> epsilon, std::optional<double> delta,
         std::optional<std::int64_t> draws, double confidence, std::uint64_t seed, bool secure, int threads,
         const py::object& tick) {
        return AuditTarget(name, epsilon, delta, {draws, confidence, seed, secure, threads, tick});
      },
      py::arg("name"), py::arg("epsilon"), py::arg("delta"), py::arg("draws"), py::arg("confidence"),
      py::arg("seed"), py::arg("secure"), py::arg("threads"), py::arg("tick"));
  m.def(
      "audit_own",
      [](const py::function& draw, std::size_t dimension, std::optional<std::pair<double, double>> claim,
         std::int64_t draws, double confidence, std::uint64_t seed, const py::object& tick) {
        std::optional<DpGuarantee> guarantee;
        if (claim) guarantee = DpGuarantee{claim->first, claim->second};
        return AuditOwn(draw, dimension, guarantee, {draws, confidence, seed, false, 1, tick}, draws);
      },
      py::arg("draw"), py::arg("dimension"), py::arg("claim"), py::arg("draws"), py::arg("confidence"),
      py::arg("seed"), py::arg("tick"));
}

}  // namespace bandana::python
