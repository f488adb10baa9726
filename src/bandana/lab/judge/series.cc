#include "bandana/lab/judge/series.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::lab {
namespace {

bool IsSpecKey(const std::string& name) { return name.find('.') != std::string::npos || name == "horizon"; }

Json FilledValue(const Json& value, const Bindings& bindings) {
  if (!value.is_string()) return value;
  const std::string text = value.get<std::string>();
  if (const Json* bound = BoundWhole(text, bindings)) return *bound;
  return Filled(text, bindings);
}

absl::Status NoNumber(const std::string& key) {
  return absl::NotFoundError(fmt::format("the run has no number for {{{}}}", key));
}

// Returns the number of a key at a point, or else a bound number. A bound text is the name of a metric.
absl::StatusOr<double> KeyAt(const MeasuredPoint& point, const std::string& key, const Bindings& bindings,
                             const std::function<absl::StatusOr<double>(const std::string&)>& metric) {
  const auto own = point.keys.find(key);
  if (own != point.keys.end() && own->second.is_number()) return own->second.get<double>();
  const auto bound = bindings.find(key);
  if (bound == bindings.end()) return NoNumber(key);
  if (bound->second.is_number()) return bound->second.get<double>();
  return metric(TextOf(bound->second));
}

// Returns the formula's value in every replicate.
absl::StatusOr<Sample> SampleAt(const MeasuredPoint& point, const Formula& metric, const Bindings& bindings) {
  std::map<std::string, Sample> samples;
  std::size_t replicate = 0;
  std::size_t replicates = 1;
  const auto value = [&](const std::string& name) -> absl::StatusOr<double> {
    auto it = samples.find(name);
    if (it == samples.end()) {
      BANDANA_ASSIGN_OR_RETURN(Sample sample, point.Final(name));
      it = samples.emplace(name, std::move(sample)).first;
      replicates = std::max(replicates, it->second.size());
    }
    if (replicate >= it->second.size()) return absl::NotFoundError("too few replicates of " + name);
    return it->second[replicate];
  };
  const Formula::Scope scope{
      .name = value, .key = [&](const std::string& key) { return KeyAt(point, key, bindings, value); }};
  Sample result;
  for (; replicate < replicates; ++replicate) {
    BANDANA_ASSIGN_OR_RETURN(const double each, metric.Evaluate(scope));
    result.push_back(each);
  }
  if (samples.empty()) result.resize(point.replicates(), result.front());  // a formula of keys alone
  return result;
}

// Returns where a point stands along a key or a formula; nothing if it lacks a key.
std::optional<double> PlaceOf(const MeasuredPoint& point, const std::string& along, const Formula* formula) {
  if (formula == nullptr) {
    const auto it = point.keys.find(along);
    if (it == point.keys.end() || !it->second.is_number()) return std::nullopt;
    return it->second.get<double>();
  }
  const auto none = [](const std::string& name) -> absl::StatusOr<double> {
    return absl::NotFoundError("a point of the series has no metric " + name);
  };
  const absl::StatusOr<double> place = formula->Evaluate(
      {.name = none, .key = [&](const std::string& key) { return KeyAt(point, key, {}, none); }});
  return place.ok() ? std::optional(*place) : std::nullopt;
}

absl::StatusOr<Line> LineAlong(const Series& series, const std::string& along, const Choice& choice,
                               const Case& of) {
  std::optional<Formula> formula;
  if (along.find('{') != std::string::npos) {
    BANDANA_ASSIGN_OR_RETURN(formula, Formula::Parse(along));
  }
  std::map<double, std::vector<Sample>> places;
  for (const MeasuredPoint* point : of.findings.Points(choice)) {
    const std::optional<double> x = PlaceOf(*point, along, formula.has_value() ? &*formula : nullptr);
    if (!x.has_value()) continue;
    BANDANA_ASSIGN_OR_RETURN(Sample sample, SampleAt(*point, series.metric, of.bindings));
    places[*x].push_back(std::move(sample));
  }
  if (places.size() < 2) {
    return absl::NotFoundError(
        fmt::format("the run has {} values of {} with {}, where two or more are wanted", places.size(), along,
                    NameOf(choice)));
  }
  Line line;
  for (auto& [x, samples] : places) {
    if (samples.size() > 1 && !series.average) {
      return absl::NotFoundError(
          fmt::format("the run has several points with {} at one {}", NameOf(choice), along));
    }
    Sample mean(samples.front().size(), 0);
    for (const Sample& sample : samples) {
      for (std::size_t i = 0; i < mean.size(); ++i)
        mean[i] += sample[i] / static_cast<double>(samples.size());
    }
    line.x.push_back(x);
    line.y.push_back(samples.size() == 1 ? std::move(samples.front()) : std::move(mean));
  }
  return line;
}

// Returns the metric of a curve over time in round t, up to which the regret is `regret`.
absl::StatusOr<double> MetricAt(const Series& series, const MeasuredPoint& point, const Case& of, double t,
                                double regret) {
  const auto value = [&](const std::string& name) -> absl::StatusOr<double> {
    if (name == "t") return t;
    if (name == "regret") return regret;
    return absl::NotFoundError("the run has no curve of " + name);
  };
  const auto key_of = [&](const std::string& key) -> absl::StatusOr<double> {
    return key == "t" ? t : KeyAt(point, key, of.bindings, value);
  };
  return series.metric.Evaluate({.name = value, .key = key_of});
}

// Returns the line of the metric over time, without its name.
absl::StatusOr<NamedLine> LineOverTime(const Series& series, const MeasuredPoint& point, const Case& of) {
  BANDANA_ASSIGN_OR_RETURN(const CurveOverTime curve, CurveOf(point));
  const bool medians = of.claim.by == By::kMedian;
  const std::vector<double>& regret = medians ? curve.median : curve.mean;
  if (regret.size() != curve.t.size()) return absl::NotFoundError("the run has a curve without medians");
  NamedLine result{"", {}, NamedLine::Kind::kOverTime};
  for (std::size_t i = 0; i < curve.t.size(); ++i) {
    BANDANA_ASSIGN_OR_RETURN(const double y, MetricAt(series, point, of, curve.t[i], regret[i]));
    result.line.x.push_back(curve.t[i]);
    result.line.y.push_back({y});
  }
  for (std::size_t i = 0; i < curve.samples.size() && curve.samples[i].size() > 1; ++i) {
    Sample resampled;
    for (std::size_t j = 0; j < curve.samples[i].size(); ++j) {
      const double moved = medians ? curve.samples[i][j] : MeanWithout(curve.samples[i], j);
      BANDANA_ASSIGN_OR_RETURN(const double y, MetricAt(series, point, of, curve.t[i], moved));
      resampled.push_back(y);
    }
    result.resampled.x.push_back(curve.t[i]);
    result.resampled.y.push_back(std::move(resampled));
  }
  return result;
}

absl::Status KeepBetween(const Series& series, const Case& of, Line& line) {
  double from = -HUGE_VAL;
  double to = HUGE_VAL;
  if (series.from.has_value()) {
    BANDANA_ASSIGN_OR_RETURN(from, NumberOf(*series.from, of));
  }
  if (series.to.has_value()) {
    BANDANA_ASSIGN_OR_RETURN(to, NumberOf(*series.to, of));
  }
  Line kept;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!(line.x[i] >= from && line.x[i] <= to)) continue;
    kept.x.push_back(line.x[i]);
    kept.y.push_back(line.y[i]);
  }
  line = std::move(kept);
  return absl::OkStatus();
}

// Returns the values of the keys that all points share.
Bindings SharedKeys(const std::vector<const MeasuredPoint*>& points) {
  if (points.empty()) return {};
  Bindings shared = points.front()->keys;
  for (const MeasuredPoint* point : points) {
    std::erase_if(shared, [&](const auto& entry) {
      const auto it = point->keys.find(entry.first);
      return it == point->keys.end() || it->second != entry.second;
    });
  }
  return shared;
}

std::string NameOfSeries(const Series& series, const Choice& choice, const Case& of) {
  if (!series.name.empty()) {
    return Filled(Filled(series.name, of.bindings), SharedKeys(of.findings.Points(choice)));
  }
  std::vector<std::string> words;
  for (const Json& each : series.at) {
    if (each.is_string()) words.push_back(Filled(each.get<std::string>(), of.bindings));
  }
  return words.empty() ? Filled(series.metric.text(), of.bindings)
                       : fmt::format("{}", fmt::join(words, ", "));
}

// Returns the line of a formula of `let` names, replicate by replicate, at the places that they share.
absl::StatusOr<NamedLine> Combined(const Formula& formula, const Case& of) {
  std::map<std::string, NamedLine> lines;
  for (const std::string& name : formula.names()) {
    BANDANA_ASSIGN_OR_RETURN(lines[name], LineOf(of.claim.let.at(name), of));
  }
  NamedLine result{Filled(formula.text(), of.bindings), {}, NamedLine::Kind::kConstant};
  if (lines.empty()) {
    BANDANA_ASSIGN_OR_RETURN(const double number, NumberOf(formula, of));
    result.line = {{0}, {{number}}};
    return result;
  }
  const NamedLine* base = &lines.begin()->second;
  for (const auto& [name, line] : lines) {
    if (line.kind == NamedLine::Kind::kAlong) base = &line;
  }
  result.kind = base->kind;
  for (std::size_t place = 0; place < base->line.x.size(); ++place) {
    const double x = base->line.x[place];
    std::map<std::string, const Sample*> here;
    for (const auto& [name, line] : lines) {
      const auto it = std::find(line.line.x.begin(), line.line.x.end(), x);
      if (line.kind != base->kind)
        here[name] = &line.line.y.front();
      else if (it != line.line.x.end())
        here[name] = &line.line.y[static_cast<std::size_t>(it - line.line.x.begin())];
    }
    if (here.size() < lines.size()) continue;
    Sample sample;
    for (std::size_t i = 0; i < base->line.y[place].size(); ++i) {
      const auto value = [&](const std::string& name) -> absl::StatusOr<double> {
        if (i >= here.at(name)->size()) return absl::NotFoundError("too few replicates of " + name);
        return (*here.at(name))[i];
      };
      BANDANA_ASSIGN_OR_RETURN(const double y,
                               formula.Evaluate({.name = value, .key = [&](const std::string& key) {
                                                   return NumberOf(*Formula::Parse("{" + key + "}"), of);
                                                 }}));
      sample.push_back(y);
    }
    result.line.x.push_back(x);
    result.line.y.push_back(std::move(sample));
  }
  return result;
}

absl::StatusOr<double> FunctionOf(const std::string& function, const NamedLine& series, double x) {
  if (function == "slope") {
    BANDANA_ASSIGN_OR_RETURN(const Estimate slope, ExponentOf(series));
    return slope.value;
  }
  const Line& line = series.line;
  if (function == "at") {
    if (series.kind != NamedLine::Kind::kOverTime) return absl::NotFoundError("at() needs a series along t");
    std::size_t i = 0;
    while (i + 1 < line.x.size() && line.x[i] < x * line.x.back()) ++i;
    return line.y[i].front();
  }
  if (series.kind != NamedLine::Kind::kOnePlace) {
    return absl::NotFoundError(function + "() needs a series without along");
  }
  const Sample& sample = line.y.front();
  if (function == "median") return MedianOf(sample);
  const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
  return function == "least" ? *least : *most;
}

}  // namespace

std::vector<const Series*> SeriesOf(const PaperClaim& claim) {
  std::vector<const Series*> all;
  for (const std::optional<Operand>* operand : {&claim.of, &claim.than, &claim.above}) {
    if (!operand->has_value()) continue;
    if (const auto* series = std::get_if<Series>(&**operand)) all.push_back(series);
  }
  for (const auto& [name, series] : claim.let) all.push_back(&series);
  return all;
}

Choice ChoiceOf(const Series& series, const Case& of) {
  Choice choice;
  for (const Json& each : series.at) {
    Where where;
    if (each.is_string()) {
      const auto named = of.claim.where->find(Filled(each.get<std::string>(), of.bindings));
      BANDANA_CHECK(named != of.claim.where->end());  // ReadClaims has looked
      where = named->second;
    } else {
      where = each.get<Where>();
    }
    for (const auto& [key, value] : where) choice.exactly[key] = FilledValue(value, of.bindings);
  }
  const std::string along = AlongOf(series, of);
  for (const auto& [key, value] : of.bindings) {
    if (IsSpecKey(key) && key != along && !choice.exactly.contains(key)) choice.if_present[key] = value;
  }
  return choice;
}

std::string AlongOf(const Series& series, const Case& of) {
  const Json* bound = BoundWhole(series.along, of.bindings);
  return bound == nullptr ? series.along : TextOf(*bound);
}

absl::StatusOr<NamedLine> LineOf(const Series& series, const Case& of) {
  const Choice choice = ChoiceOf(series, of);
  const std::string along = AlongOf(series, of);
  NamedLine result{NameOfSeries(series, choice, of), {}, NamedLine::Kind::kAlong};
  if (!along.empty() && along != "t") {
    BANDANA_ASSIGN_OR_RETURN(result.line, LineAlong(series, along, choice, of));
    BANDANA_RETURN_IF_ERROR(KeepBetween(series, of, result.line));
    return result;
  }
  BANDANA_ASSIGN_OR_RETURN(const MeasuredPoint* point, of.findings.ThePoint(choice));
  if (along == "t") {
    BANDANA_ASSIGN_OR_RETURN(NamedLine over_time, LineOverTime(series, *point, of));
    over_time.name = std::move(result.name);
    BANDANA_RETURN_IF_ERROR(KeepBetween(series, of, over_time.line));
    BANDANA_RETURN_IF_ERROR(KeepBetween(series, of, over_time.resampled));
    return over_time;
  }
  result.kind = NamedLine::Kind::kOnePlace;
  BANDANA_ASSIGN_OR_RETURN(Sample sample, SampleAt(*point, series.metric, of.bindings));
  result.line = {{0}, {std::move(sample)}};
  return result;
}

absl::StatusOr<NamedLine> LineOf(const Operand& operand, const Case& of) {
  if (const auto* series = std::get_if<Series>(&operand)) return LineOf(*series, of);
  return Combined(std::get<Formula>(operand), of);
}

absl::StatusOr<double> NumberOf(const Formula& formula, const Case& of) {
  const auto key_of = [&](const std::string& key) -> absl::StatusOr<double> {
    const auto bound = of.bindings.find(key);
    if (bound != of.bindings.end()) {
      if (!bound->second.is_number()) return NoNumber(key);
      return bound->second.get<double>();
    }
    std::optional<Json> value;
    for (const Series* series : SeriesOf(of.claim)) {
      const Bindings shared = SharedKeys(of.findings.Points(ChoiceOf(*series, of)));
      const auto it = shared.find(key);
      if (it == shared.end() || !it->second.is_number()) return NoNumber(key);
      if (value.has_value() && *value != it->second) {
        return absl::NotFoundError(fmt::format("{{{}}} has several values", key));
      }
      value = it->second;
    }
    if (!value.has_value()) return NoNumber(key);
    return value->get<double>();
  };
  return formula.Evaluate({.name = [](const std::string& name) -> absl::StatusOr<double> {
                             return absl::NotFoundError("there is no series " + name);
                           },
                           .key = key_of});
}

Formula::Scope ScopeOf(const std::map<std::string, NamedLine>& lines, const Case& of) {
  return {.name = [&lines](const std::string& name) -> absl::StatusOr<double> {
            const NamedLine& line = lines.at(name);
            if (line.kind != NamedLine::Kind::kOnePlace)
              return absl::NotFoundError(name + " is not one number");
            return MeanOf(line.line.y.front()).value;
          },
          .key = [&of](const std::string& key) { return NumberOf(*Formula::Parse("{" + key + "}"), of); },
          .of_series = [&lines](const std::string& function, const std::string& series,
                                double x) { return FunctionOf(function, lines.at(series), x); }};
}

absl::StatusOr<std::vector<Case>> CasesOf(const PaperClaim& claim, const Findings& findings) {
  std::vector<Case> cases = {{claim, claim.bindings, findings}};
  for (const Variation& variation : claim.each) {
    std::vector<Case> next;
    for (const Case& before : cases) {
      std::vector<Bindings> rows = variation.rows;
      if (rows.empty()) {
        const std::string key = Filled(variation.key, before.bindings);
        std::set<double> values;
        for (const Series* series : SeriesOf(claim)) {
          const std::vector<double> some = findings.ValuesOf(key, ChoiceOf(*series, before));
          values.insert(some.begin(), some.end());
          if (claim.of.has_value()) break;  // the values that `of` has
        }
        for (const double value : values) rows.push_back({{key, value}});
        if (rows.empty()) return absl::NotFoundError("the run has no point with a number for " + key);
      }
      for (const Bindings& row : rows) {
        next.push_back(before);
        for (const auto& [name, value] : row) next.back().bindings[name] = value;
      }
    }
    cases.swap(next);
  }
  return cases;
}

NamedLine Resampled(const NamedLine& line, std::size_t j, By by) {
  if (line.kind == NamedLine::Kind::kConstant) return line;
  NamedLine result{line.name, {.x = line.line.x, .y = {}}, line.kind};
  if (line.kind == NamedLine::Kind::kOverTime) {
    for (const Sample& sample : line.resampled.y) result.line.y.push_back({sample[j]});
    return result;
  }
  for (const Sample& sample : line.line.y) {
    result.line.y.push_back(by == By::kMedian ? Sample{sample[j]} : sample);
    if (by != By::kMedian) result.line.y.back().erase(result.line.y.back().begin() + static_cast<long>(j));
  }
  return result;
}

std::size_t ReplicatesOf(const std::map<std::string, NamedLine>& lines) {
  std::set<std::size_t> sizes;
  for (const auto& [name, line] : lines) {
    if (line.kind == NamedLine::Kind::kConstant) continue;
    const bool over_time = line.kind == NamedLine::Kind::kOverTime;
    const std::vector<Sample>& samples = over_time ? line.resampled.y : line.line.y;
    sizes.insert(samples.empty() ? 0 : samples.front().size());
  }
  return sizes.size() == 1 ? *sizes.begin() : 0;
}

absl::StatusOr<Estimate> ExponentOf(const NamedLine& line) {
  const std::size_t places = line.line.x.size();
  if (places < 2) return absl::NotFoundError(line.name + " has fewer than two places");
  if (line.kind != NamedLine::Kind::kOverTime) return LogLogSlope(line.line);
  const double growth = line.line.y.back().front() / line.line.y.front().front();
  return Estimate{std::log(growth) / std::log(line.line.x.back() / line.line.x.front()), 0};
}

absl::StatusOr<std::vector<SharedPlace>> SharedPlaces(const NamedLine& a, const NamedLine& b) {
  const bool along_a = a.kind == NamedLine::Kind::kAlong;
  const bool along_b = b.kind == NamedLine::Kind::kAlong;
  std::vector<SharedPlace> places;
  const Line& base = along_a || !along_b ? a.line : b.line;
  for (const double x : base.x) {
    const auto at = [&](const NamedLine& line, bool along) -> const Sample* {
      if (!along) return &line.line.y.front();
      const auto it = std::find(line.line.x.begin(), line.line.x.end(), x);
      return it == line.line.x.end() ? nullptr
                                     : &line.line.y[static_cast<std::size_t>(it - line.line.x.begin())];
    };
    const Sample* left = at(a, along_a);
    const Sample* right = at(b, along_b);
    if (left == nullptr || right == nullptr) continue;
    SharedPlace place{x, *left, *right};
    if (a.kind == NamedLine::Kind::kConstant) place.a.resize(place.b.size(), place.a.front());
    if (b.kind == NamedLine::Kind::kConstant) place.b.resize(place.a.size(), place.b.front());
    if (place.a.size() != place.b.size()) {
      return absl::NotFoundError(fmt::format("{} and {} differ in the number of replicates", a.name, b.name));
    }
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace bandana::lab
