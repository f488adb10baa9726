#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bandana/core/status.h"
#include "bandana/lab/catalog.h"
#include "bandana/lab/estimate.h"
#include "bandana/lab/exhibit.h"
#include "bandana/lab/runner.h"
#include "bandana/lab/spec.h"
#include "bandana/lab/summary_text.h"
#include "bindings.h"
#include "python_parts.h"
#include "replicate_pool.h"

namespace bandana::python {
namespace {

using lab::Json;
using lab::Spec;

constexpr char kOwnArguments[] = "set";

// A spec that was a dict has no file and no lines, and what the command line calls --set is an argument here.
absl::Status ForPython(const absl::Status& status) {
  std::optional<InputError> error = InputErrorOf(status);
  if (!error.has_value()) return status;
  if (error->file.empty()) error->line = 0;
  if (error->file == "--set") error->file = kOwnArguments;
  return InvalidInput(*error);
}

template <class T>
absl::StatusOr<T> ForPython(absl::StatusOr<T> value) {
  if (!value.ok()) return ForPython(value.status());
  return value;
}

py::dict ToDict(const lab::Settings& settings) {
  py::dict dict;
  for (const auto& [key, value] : settings.values()) dict[py::str(key)] = ToPython(value);
  return dict;
}

py::list PointsOf(const Spec& spec) {
  py::list points;
  for (const lab::Point& point : spec.points) {
    points.append(py::make_tuple(point.label, ToDict(point.varied), ToDict(point.settings)));
  }
  return points;
}

lab::Exhibit ExhibitOf(const std::string& name) {
  if (name.ends_with(".toml")) return ValueOrRaise(lab::LoadExhibit(name));
  return *ValueOrRaise(lab::FindExhibit(name));
}

struct Arguments {
  std::string out;
  int threads;
  int processes;
  bool resume;
  std::string command;
  py::object tick;  ///< called as tick(done, total) while the run goes on
};

// Runs in the lab and returns what `run` returns as JSON. Replicates run in other processes if there is more
// than one.
std::string Run(
    const Spec& spec, const Arguments& arguments,
    const std::function<absl::StatusOr<Json>(const lab::RunOptions&, const std::atomic<bool>&)>& run) {
  RunProgress progress;
  std::unique_ptr<ReplicatePool> pool;
  if (arguments.processes > 1) pool = ValueOrRaise(ReplicatePool::Fork(spec, arguments.processes));
  absl::StatusOr<Json> json;
  RunUntilDone(
      [&](const std::atomic<bool>& stop) {
        lab::RunOptions options{.out = arguments.out,
                                .threads = pool ? arguments.processes : arguments.threads,
                                .resume = arguments.resume,
                                .quiet = true,
                                .command = arguments.command,
                                .progress = &progress};
        if (pool) {
          options.replicate = [&](std::size_t point, std::uint32_t replicate) {
            return pool->Run(point, replicate, stop);
          };
        }
        json = run(options, stop);
      },
      [&] { arguments.tick(progress.done.load(), progress.total.load()); });
  RaiseFailure();
  Raise(ForPython(json.status()));
  arguments.tick(progress.done.load(), progress.total.load());
  return lab::Dump(*json);
}

py::tuple Estimate(const Spec& spec, int threads) {
  absl::StatusOr<lab::RunEstimate> estimate;
  RunUntilDone(
      [&](const std::atomic<bool>& stop) {
        estimate = lab::EstimateRun(spec, 0, threads, lab::ByTheClock(stop));
      },
      {});
  Raise(ForPython(estimate.status()));
  return py::make_tuple(estimate->seconds, estimate->threads, lab::Warning(*estimate));
}

std::string Entries(const std::string& kind) {
  Json json = Json::array();
  for (const lab::Entry& entry : ValueOrRaise(lab::Catalog(kind))) json.push_back(lab::ToJson(entry));
  return json.dump();
}

std::string ListExhibits() {
  Json json = Json::array();
  for (const lab::Exhibit& exhibit : lab::Exhibits()) {
    json.push_back({{"name", exhibit.name},
                    {"title", exhibit.title},
                    {"claims", exhibit.claims.size()},
                    {"stand_in", lab::TextOrNull(exhibit.stand_in)}});
  }
  return json.dump();
}

}  // namespace

void BindLab(py::module_& m) {
  py::class_<Spec>(m, "Spec")
      .def_static(
          "load",
          [](const std::string& path, const lab::Overrides& overrides) {
            return ValueOrRaise(ForPython(lab::LoadSpec(path, overrides)));
          },
          py::arg("path"), py::arg("overrides"))
      .def_static(
          "parse",
          [](const std::string& text, const std::string& path, const lab::Overrides& overrides) {
            return ValueOrRaise(ForPython(lab::ParseSpec(text, path, overrides)));
          },
          py::arg("text"), py::arg("path"), py::arg("overrides"))
      .def_static(
          "exhibit",
          [](const std::string& name, const std::string& scale, const lab::Overrides& overrides) {
            const lab::Scale size = ValueOrRaise(lab::ScaleOf(scale));
            return ValueOrRaise(ForPython(lab::ExhibitSpec(ExhibitOf(name), size, overrides)));
          },
          py::arg("name"), py::arg("scale"), py::arg("overrides"))
      .def_property_readonly("name", [](const Spec& spec) { return spec.name; })
      .def_property_readonly("points", PointsOf)
      .def_property_readonly("replicates", [](const Spec& spec) { return spec.replicates(); })
      .def_property_readonly("sha256", [](const Spec& spec) { return spec.sha256; })
      .def_property_readonly("swept", [](const Spec& spec) { return spec.swept; })
      .def_property_readonly("toml", [](const Spec& spec) { return spec.toml; })
      .def_property_readonly("without_effect", [](const Spec& spec) { return spec.without_effect; });
  m.def(
      "run",
      [](const Spec& spec, const std::string& out, int threads, int processes, bool resume,
         const std::string& command, const py::object& tick) {
        return Run(spec, {out, threads, processes, resume, command, tick},
                   [&](const lab::RunOptions& options, const std::atomic<bool>& stop) {
                     return lab::RunExperiment(spec, options, stop);
                   });
      },
      py::arg("spec"), py::arg("out"), py::arg("threads"), py::arg("processes"), py::arg("resume"),
      py::arg("command"), py::arg("tick"));
  m.def(
      "reproduce",
      [](const std::string& name, const std::string& scale, const Spec& spec, const std::string& out,
         int threads, int processes, bool resume, const std::string& command, const py::object& tick) {
        const lab::Exhibit exhibit = ExhibitOf(name);
        const lab::Scale size = ValueOrRaise(lab::ScaleOf(scale));
        return Run(
            spec, {out, threads, processes, resume, command, tick},
            [&](const lab::RunOptions& options, const std::atomic<bool>& stop) -> absl::StatusOr<Json> {
              BANDANA_ASSIGN_OR_RETURN(lab::Reproduction reproduction,
                                       lab::RunExhibit(exhibit, size, spec, options, stop));
              return reproduction.summary;
            });
      },
      py::arg("name"), py::arg("scale"), py::arg("spec"), py::arg("out"), py::arg("threads"),
      py::arg("processes"), py::arg("resume"), py::arg("command"), py::arg("tick"));
  m.def("estimate", Estimate, py::arg("spec"), py::arg("threads"));
  m.def("entries", Entries, py::arg("kind"));
  m.def("exhibits", ListExhibits);
  m.def(
      "result_rows", [](const std::string& summary) { return lab::ResultRows(Json::parse(summary)); },
      py::arg("summary"));
  m.def(
      "remarks", [](const std::string& summary) { return lab::Remarks(Json::parse(summary)); },
      py::arg("summary"));
}

}  // namespace bandana::python
