#include "bandana/privacy/accounting/account.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "bandana/core/check.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "bandana/privacy/accounting/gdp.h"
#include "bandana/privacy/accounting/privacy_loss_distribution.h"
#include "bandana/privacy/accounting/renyi.h"
#include "bandana/privacy/accounting/shuffled_ldp.h"
#include "bandana/privacy/accounting/zcdp.h"
#include "bandana/privacy/calibration/rounding.h"
#include "bandana/privacy/sum_up.h"
#include "fmt/format.h"

namespace bandana {
namespace {

using Pld = PrivacyLossDistribution;
using calibration::ProductUp;
using calibration::QuotientUp;

constexpr double kLeast = 1e-9;
constexpr double kMost = 1e12;
constexpr double kMostEpsilon = 1000;
constexpr double kMostCount = 1e9;
// Grid points per standard deviation of the loss. The composed epsilon is then within 1e-5 of the exact one
// (kFine), or within 1e-4 in lists of many different releases (kCoarse).
constexpr double kFine = 400;
constexpr double kCoarse = 100;
constexpr std::size_t kMany = 32;
// Above this scale a discrete Gaussian has so many values that its distribution takes seconds. zCDP serves it
// as well.
constexpr double kMostDiscreteScale = 1e5;
// The largest number of different releases in one list: each has a distribution of its own in memory.
constexpr std::size_t kMostDifferent = 1000;
constexpr double kRoundUp = 1 + 1e-14;

// The known properties of one release of an event. Each member is the input of one proof.
struct Release {
  std::string text;
  std::optional<double> mu;   // mu-GDP
  std::optional<double> rho;  // rho-zCDP
  std::optional<RenyiCurve> renyi;
  std::shared_ptr<const Pld> loss;       // symmetric, so one direction serves for both
  std::optional<DpGuarantee> guarantee;  // (epsilon, delta)-DP, if known directly
  double own_delta = 0;                  // probability with which rho and renyi do not hold
};

Release FromPure(double epsilon, double fineness) {
  Release release;
  release.text = fmt::format("epsilon = {:.4g}", epsilon);
  release.rho = epsilon * epsilon / 2 * kRoundUp;
  release.renyi = RenyiCurve::PureDp(epsilon);
  release.loss = std::make_shared<Pld>(Pld::PureDp(epsilon, LossGrid(epsilon, fineness)));
  release.guarantee = DpGuarantee{epsilon, 0};
  return release;
}

Release FromGaussian(double mu, double fineness) {
  Release release;
  release.text = fmt::format("mu = {:.4g}", mu);
  release.mu = mu;
  release.rho = mu * mu / 2 * kRoundUp;
  release.renyi = RenyiCurve::Zcdp(*release.rho);
  release.loss = std::make_shared<Pld>(Pld::Gaussian((1 - 1e-15) / mu, LossGrid(mu, fineness)));
  return release;
}

Release FromZcdp(double rho) {
  Release release;
  release.text = fmt::format("rho = {:.4g}", rho);
  release.rho = rho;
  release.renyi = RenyiCurve::Zcdp(rho);
  return release;
}

// Returns what an event's parameters give. They must be in range, `ratio` too.
Release Resolve(const std::string& mechanism, const std::map<std::string, double>& parameters,
                double fineness) {
  const auto get = [&](const char* name) { return parameters.at(name); };
  const auto whole = [&](const char* name) { return static_cast<std::int64_t>(parameters.at(name)); };
  if (mechanism == "gaussian") return FromGaussian(QuotientUp(get("sensitivity"), get("sigma")), fineness);
  if (mechanism == "gdp") return FromGaussian(get("mu"), fineness);
  if (mechanism == "zcdp") return FromZcdp(get("rho"));
  if (mechanism == "pure-dp") return FromPure(get("epsilon"), fineness);
  if (mechanism == "discrete-gaussian") {
    const double mu = QuotientUp(get("sensitivity"), get("sigma"));
    Release release = FromZcdp(mu * mu / 2 * kRoundUp);
    const double shift = std::floor(get("sensitivity"));
    if (get("dimension") == 1 && shift >= 1 && shift < 0x1p31 && get("sigma") <= kMostDiscreteScale) {
      release.loss = std::make_shared<Pld>(
          Pld::DiscreteGaussian(get("sigma"), static_cast<std::int64_t>(shift), LossGrid(mu, fineness)));
    }
    return release;
  }
  if (mechanism == "laplace") {
    const double epsilon = QuotientUp(get("sensitivity"), get("scale"));
    Release release = FromPure(epsilon, fineness);
    if (get("dimension") == 1) {
      release.renyi = RenyiCurve::Laplace((1 - 1e-15) / epsilon);
      release.loss = std::make_shared<Pld>(Pld::Laplace((1 - 1e-15) / epsilon, LossGrid(epsilon, fineness)));
    }
    return release;
  }
  if (mechanism == "discrete-laplace") {
    const double epsilon = QuotientUp(get("sensitivity"), get("scale"));
    Release release = FromPure(epsilon, fineness);
    if (get("dimension") == 1 && std::min(get("scale"), get("sensitivity")) <= kMostDiscreteScale) {
      release.loss = std::make_shared<Pld>(
          Pld::DiscreteLaplace(get("scale"), whole("sensitivity"), LossGrid(epsilon, fineness)));
    }
    return release;
  }
  Release release;
  if (mechanism == "approximate-dp") {
    release = FromPure(get("epsilon"), fineness);  // holds except with probability delta
    release.own_delta = get("delta");
    release.guarantee = DpGuarantee{get("epsilon"), get("delta")};
    release.loss = std::make_shared<Pld>(
        Pld::ApproximateDp(get("epsilon"), get("delta"), LossGrid(get("epsilon"), fineness)));
    release.text = fmt::format("({:.4g}, {:.3g})", get("epsilon"), get("delta"));
  } else if (mechanism == "shuffle-sum") {
    const double scale = 2 * get("sensitivity") / std::sqrt(get("trials"));
    release.loss = std::make_shared<Pld>(
        Pld::SymmetricBinomial(whole("trials"), whole("sensitivity"), LossGrid(scale, fineness))
            .SelfCompose(whole("coordinates")));
    release.text = fmt::format("mu ~ {:.4g}", scale * std::sqrt(get("coordinates")));
  } else {
    BANDANA_CHECK(mechanism == "shuffled-ldp");
    const double epsilon0 = get("epsilon0");
    const double scale = ShuffledLdpScale(epsilon0, whole("n"));
    release = FromPure(epsilon0, fineness);  // holds also without the shuffler
    release.loss = std::make_shared<Pld>(ShuffledLdpLoss(epsilon0, whole("n"), LossGrid(scale, fineness)));
    release.text = fmt::format("mu ~ {:.4g}", scale);
  }
  return release;
}

struct Charge {
  std::size_t event;  // the first event with this release
  const Release* release;
  double count;
};
using Charges = std::vector<Charge>;

// Returns an upper bound on the least delta at `epsilon`, for a proof that computes epsilon from delta.
template <class EpsilonOf>
double DeltaFor(double epsilon, EpsilonOf epsilon_of) {
  if (epsilon_of(0.0) <= epsilon) return 0;
  double low = std::log(1e-300);
  double high = 0;
  if (epsilon_of(std::exp(low)) <= epsilon) return std::exp(low);
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (epsilon_of(std::exp(middle)) <= epsilon ? high : low) = middle;
  }
  return std::exp(high);
}

// The sum of one cohort by one proof: epsilon at a delta and delta at an epsilon, or the reason why there is
// none.
class Proof {
 public:
  Proof(const char* short_name, const char* long_name) : name(short_name), title(long_name) {}
  virtual ~Proof() = default;
  virtual std::string WhyNot(const Release& release) const = 0;
  virtual double Epsilon(const Charges& charges, double delta) const = 0;
  virtual double Delta(const Charges& charges, double epsilon) const = 0;

  const char* name;
  const char* title;
};

class GdpProof : public Proof {
 public:
  GdpProof() : Proof("gdp", "Gaussian (exact)") {}
  std::string WhyNot(const Release& release) const override { return release.mu ? "" : "is not Gaussian"; }
  double Epsilon(const Charges& charges, double delta) const override {
    return GdpEpsilon(delta, Mu(charges));
  }
  double Delta(const Charges& charges, double epsilon) const override {
    return GdpDelta(epsilon, Mu(charges));
  }

 private:
  static double Mu(const Charges& charges) {
    double mu = 0;
    for (const Charge& charge : charges) mu = ComposeGdp(mu, RepeatGdp(*charge.release->mu, charge.count));
    return mu;
  }
};

// Returns an upper bound on the probability that some approximate release is worse than its pure part.
double OwnDelta(const Charges& charges) {
  double sum = 0;
  for (const Charge& charge : charges) sum += charge.release->own_delta * charge.count * kRoundUp;
  return sum;
}

class ZcdpProof : public Proof {
 public:
  ZcdpProof() : Proof("zcdp", "zCDP") {}
  std::string WhyNot(const Release& release) const override { return release.rho ? "" : "has no rho"; }
  double Epsilon(const Charges& charges, double delta) const override {
    const double left = delta - OwnDelta(charges);
    return left < 0 ? kInfinity : ZcdpEpsilon(left, Rho(charges));
  }
  double Delta(const Charges& charges, double epsilon) const override {
    return std::min(1.0, OwnDelta(charges) + ZcdpDelta(epsilon, Rho(charges)));
  }

 private:
  static double Rho(const Charges& charges) {
    double rho = 0;
    for (const Charge& charge : charges) rho += *charge.release->rho * charge.count * kRoundUp;
    return rho * kRoundUp;
  }
};

class RenyiProof : public Proof {
 public:
  RenyiProof() : Proof("renyi", "Renyi") {}
  std::string WhyNot(const Release& release) const override {
    return release.renyi ? "" : "has no Renyi curve";
  }
  double Epsilon(const Charges& charges, double delta) const override {
    const double left = delta - OwnDelta(charges);
    return left < 0 ? kInfinity : Sum(charges).Epsilon(left);
  }
  double Delta(const Charges& charges, double epsilon) const override {
    return std::min(1.0, OwnDelta(charges) + Sum(charges).Delta(epsilon));
  }

 private:
  static RenyiCurve Sum(const Charges& charges) {
    RenyiCurve sum;
    for (const Charge& charge : charges) sum = sum.Plus(charge.release->renyi->Times(charge.count));
    return sum;
  }
};

class LossProof : public Proof {
 public:
  LossProof() : Proof("pld", "privacy loss distribution") {}
  std::string WhyNot(const Release& release) const override {
    return release.loss ? "" : "has no privacy loss distribution";
  }
  double Epsilon(const Charges& charges, double delta) const override { return Sum(charges).Epsilon(delta); }
  double Delta(const Charges& charges, double epsilon) const override { return Sum(charges).Delta(epsilon); }

 private:
  static Pld Sum(const Charges& charges) {
    std::vector<Pld::Repeated> list;
    for (const Charge& charge : charges) {
      list.push_back({charge.release->loss.get(), static_cast<std::int64_t>(charge.count)});
    }
    return Pld::ComposeAll(list);
  }
};

class BasicProof : public Proof {
 public:
  BasicProof() : Proof("basic", "basic composition") {}
  std::string WhyNot(const Release&) const override { return ""; }

  // Epsilons and deltas add. Releases that have no (epsilon, delta) of their own share the delta that is
  // left.
  double Epsilon(const Charges& charges, double delta) const override {
    double epsilon = 0;
    double left = delta;
    double sharers = 0;
    for (const Charge& charge : charges) {
      const auto& guarantee = charge.release->guarantee;
      if (guarantee.has_value()) {
        epsilon = SumUp(epsilon, ProductUp(guarantee->epsilon, charge.count));
        left -= guarantee->delta * charge.count * kRoundUp;
      } else {
        sharers += charge.count;
      }
    }
    if (left < 0) return kInfinity;
    for (const Charge& charge : charges) {
      const Release& release = *charge.release;
      if (release.guarantee.has_value()) continue;
      const double share = left / sharers * (1 - 1e-15);
      const double one = release.mu     ? GdpEpsilon(share, *release.mu)
                         : release.loss ? release.loss->Epsilon(share)
                                        : ZcdpEpsilon(share, *release.rho);
      epsilon = SumUp(epsilon, ProductUp(one, charge.count));
    }
    return epsilon;
  }
  double Delta(const Charges& charges, double epsilon) const override {
    double own = 0;
    bool stands = true;
    double sum = 0;
    for (const Charge& charge : charges) {
      stands &= charge.release->guarantee.has_value();
      if (!stands) break;
      own += charge.release->guarantee->delta * charge.count * kRoundUp;
      sum = SumUp(sum, ProductUp(charge.release->guarantee->epsilon, charge.count));
    }
    if (stands) return sum <= epsilon ? std::min(1.0, own) : 1;
    return DeltaFor(epsilon, [&](double delta) { return Epsilon(charges, delta); });
  }
};

std::string Key(std::size_t event, const std::string& field) {
  return fmt::format("events[{}].{}", event + 1, field);
}

absl::Status CheckTarget(const AccountTarget& target) {
  if (target.epsilon.has_value() == target.delta.has_value()) {
    return InvalidInput({.message = "one of them is needed, and not both", .key = "delta or epsilon"});
  }
  if (target.delta.has_value() && !(*target.delta >= 0 && *target.delta < 1)) {
    return InvalidOption("delta", *target.delta, "a number in (0, 1), or 0 for pure releases");
  }
  if (target.delta.has_value() && *target.delta != 0 && !std::isnormal(*target.delta)) {
    return InvalidOption("delta", *target.delta, "a number in [2.3e-308, 1), or 0 for pure releases");
  }
  if (target.epsilon.has_value() && !(*target.epsilon >= 0 && *target.epsilon <= 1e9)) {
    return InvalidOption("epsilon", *target.epsilon, "a number in [0, 1e9]");
  }
  return absl::OkStatus();
}

// Checks the ratio of two parameters: only the ratio matters.
absl::Status CheckRatio(std::size_t i, const Event& event, const char* noise, double least, double most) {
  const double ratio = event.parameters.at("sensitivity") / event.parameters.at(noise);
  if (ratio >= least && ratio <= most) return absl::OkStatus();
  return InvalidOption(Key(i, noise), event.parameters.at(noise),
                       fmt::format("from {:g} to {:g} times the sensitivity", 1 / most, 1 / least));
}

absl::Status CheckEvent(std::size_t i, const Event& event) {
  const MechanismKind* kind = FindMechanismKind(event.mechanism);
  if (kind == nullptr) {
    std::string names;
    for (const MechanismKind& known : MechanismKinds())
      names += std::string(names.empty() ? "" : ", ") + known.name;
    return InvalidOption(Key(i, "mechanism"), event.mechanism, names);
  }
  for (const MechanismParameter& parameter : kind->parameters) {
    const auto found = event.parameters.find(parameter.name);
    if (found == event.parameters.end()) {
      return InvalidInput(
          {.message = "missing", .key = Key(i, parameter.name), .accepted = parameter.accepted()});
    }
    const double value = found->second;
    if (!(value >= parameter.least && value <= parameter.most) ||
        (parameter.whole && value != std::floor(value))) {
      return InvalidOption(Key(i, parameter.name), value, parameter.accepted());
    }
  }
  for (const auto& [name, value] : event.parameters) {
    const bool known = std::any_of(kind->parameters.begin(), kind->parameters.end(),
                                   [&key = name](const MechanismParameter& p) { return key == p.name; });
    if (known) continue;
    std::string names;
    for (const MechanismParameter& p : kind->parameters)
      names += std::string(names.empty() ? "" : ", ") + p.name;
    return InvalidInput({.message = fmt::format("{} has no such parameter", kind->name),
                         .key = Key(i, name),
                         .value = fmt::format("{}", value),
                         .accepted = names});
  }
  if (event.parameters.contains("sigma")) {
    BANDANA_RETURN_IF_ERROR(CheckRatio(i, event, "sigma", kLeast, kMostEpsilon));
  }
  if (event.parameters.contains("scale")) {
    BANDANA_RETURN_IF_ERROR(CheckRatio(i, event, "scale", kLeast, kMostEpsilon));
  }
  if (event.mechanism == "shuffle-sum" &&
      event.parameters.at("sensitivity") > event.parameters.at("trials")) {
    return InvalidOption(Key(i, "sensitivity"), event.parameters.at("sensitivity"), "at most trials");
  }
  if (event.neighbours != "replace-one" && event.neighbours != "add-remove") {
    return InvalidOption(Key(i, "neighbours"), event.neighbours, "replace-one, add-remove");
  }
  // The proofs of shuffling hold for replace-one only: a client that leaves takes its noise along, or a clone
  // to hide among.
  if ((event.mechanism == "shuffled-ldp" || event.mechanism == "shuffle-sum") &&
      event.neighbours != "replace-one") {
    return InvalidOption(Key(i, "neighbours"), event.neighbours,
                         "replace-one: what a shuffle promises is proved for that alone");
  }
  if (event.unit.empty()) {
    return InvalidInput({.message = "missing",
                         .key = Key(i, "unit"),
                         .accepted = "the unit that is protected: client, record, ..."});
  }
  if (!(event.count >= 1 && event.count <= kMostCount && event.count == std::floor(event.count))) {
    return InvalidOption(Key(i, "count"), event.count, "a whole number from 1 to 1e9");
  }
  return absl::OkStatus();
}

absl::Status CheckSame(std::size_t i, const Event& event, const Event& first) {
  if (event.unit != first.unit) {
    return InvalidInput(
        {.message = fmt::format("events[1] protects a \"{}\": guarantees of different units do "
                                "not add",
                                first.unit),
         .key = Key(i, "unit"),
         .value = event.unit,
         .accepted = fmt::format("{}; or account for each unit on its own", first.unit)});
  }
  if (event.neighbours != first.neighbours) {
    return InvalidInput(
        {.message =
             fmt::format("events[1] has {} neighbours: different relations do not add", first.neighbours),
         .key = Key(i, "neighbours"),
         .value = event.neighbours,
         .accepted = fmt::format("{}; replacing one is removing and adding one, so that an "
                                 "add-remove event may be stated as replace-one with twice its "
                                 "sensitivity, mu or pure epsilon",
                                 first.neighbours)});
  }
  return absl::OkStatus();
}

// Resolves each distinct release once.
class Resolver {
 public:
  explicit Resolver(double fineness) : fineness_(fineness) {}

  // Returns nothing if there are too many distinct releases.
  const Release* operator()(const Event& event) {
    auto [place, is_new] = known_.try_emplace({event.mechanism, event.parameters});
    if (known_.size() > kMostDifferent) return nullptr;
    if (is_new) place->second = Resolve(event.mechanism, event.parameters, fineness_);
    return &place->second;
  }

 private:
  double fineness_;
  std::map<std::pair<std::string, std::map<std::string, double>>, Release> known_;
};

void Add(Charges& charges, std::size_t event, const Release* release, double count) {
  const auto same = std::find_if(charges.begin(), charges.end(),
                                 [&](const Charge& charge) { return charge.release == release; });
  if (same != charges.end()) {
    same->count += count;
  } else {
    charges.push_back({event, release, count});
  }
}

}  // namespace

std::string MechanismParameter::accepted() const {
  return fmt::format("{} from {:g} to {:g}", whole ? "a whole number" : "a number", least, most);
}

const std::vector<MechanismKind>& MechanismKinds() {
  static const auto* const kKinds = [] {
    const MechanismParameter l2{"sensitivity", "l2, of the whole vector", kLeast, kMost, false};
    const MechanismParameter l1{"sensitivity", "l1, of the whole vector", kLeast, kMost, false};
    const MechanismParameter dimension{"dimension", "numbers in the vector", 1, kMost, true};
    const MechanismParameter epsilon{"epsilon", "the epsilon of one release", kLeast, kMostEpsilon, false};
    const MechanismParameter sigma{"sigma", "standard deviation of the noise", kLeast, 1e21, false};
    const MechanismParameter scale{"scale", "the scale of the noise", kLeast, 1e21, false};
    return new std::vector<MechanismKind>{
        {"gaussian", "normal noise, also rounded to a grid", {sigma, l2}},
        {"discrete-gaussian", "exp(-x^2/(2 sigma^2)) on the integers", {sigma, l2, dimension}},
        {"laplace", "exp(-|x|/scale)", {scale, l1, dimension}},
        {"discrete-laplace",
         "exp(-|x|/scale) on the integers",
         {scale, {"sensitivity", "l1, of the whole vector", 1, kMost, true}, dimension}},
        {"pure-dp", "any epsilon-DP release; randomised response", {epsilon}},
        {"approximate-dp",
         "any (epsilon, delta)-DP release",
         {epsilon, {"delta", "the delta of one release", 1e-300, 1 - 1e-9, false}}},
        {"zcdp", "any rho-zCDP release", {{"rho", "the rho of one release", 1e-18, 1e6, false}}},
        {"gdp", "any mu-GDP release", {{"mu", "the mu of one release", kLeast, kMostEpsilon, false}}},
        {"shuffle-sum",
         "sums with Bin(trials, 1/2) noise on each coordinate",
         {{"trials", "noise bits on one coordinate, of honest clients together", 1, 1e12, true},
          {"sensitivity", "in whole steps, on each coordinate", 1, 1e9, true},
          {"coordinates", "the coordinates that one unit may change", 1, 1e9, true}}},
        {"shuffled-ldp",
         "shuffled reports of an epsilon0-LDP randomizer",
         {{"epsilon0", "the epsilon of one report", 1e-6, 50, false},
          {"n", "the number of reports", 1, 1e15, true}}}};
  }();
  return *kKinds;
}

const MechanismKind* FindMechanismKind(const std::string& name) {
  for (const MechanismKind& kind : MechanismKinds()) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

absl::StatusOr<AccountReport> Account(std::span<const Event> events, const AccountTarget& target) {
  BANDANA_RETURN_IF_ERROR(CheckTarget(target));
  if (events.empty())
    return InvalidInput({.message = "no event", .key = "events", .accepted = "one at least"});
  for (std::size_t i = 0; i < events.size(); ++i) {
    BANDANA_RETURN_IF_ERROR(CheckEvent(i, events[i]));
    BANDANA_RETURN_IF_ERROR(CheckSame(i, events[i], events.front()));
  }

  AccountReport report;
  report.unit = events.front().unit;
  report.neighbours = events.front().neighbours;
  Resolver resolve(events.size() <= kMany ? kFine : kCoarse);
  std::set<std::string> names;
  for (const Event& event : events) {
    if (!event.cohort.empty()) names.insert(event.cohort);
  }
  report.cohorts = names.size();
  if (names.empty()) names.insert("");
  std::vector<const Release*> releases;
  for (const Event& event : events) {
    releases.push_back(resolve(event));
    if (releases.back() == nullptr) {
      return InvalidInput({.message = "too many different releases",
                           .key = "events",
                           .accepted = fmt::format("at most {} different ones", kMostDifferent)});
    }
    report.events.push_back({releases.back()->text, event.disjoint ? 1 : event.count});
  }
  std::vector<std::pair<std::string, Charges>> cohorts;
  for (const std::string& name : names) {
    Charges charges;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (!events[i].cohort.empty() && events[i].cohort != name) continue;
      Add(charges, i, releases[i], report.events[i].releases);
    }
    cohorts.emplace_back(name, std::move(charges));
  }

  const GdpProof gdp;
  const LossProof loss;
  const RenyiProof renyi;
  const ZcdpProof zcdp;
  const BasicProof basic;
  const auto figure = [&](const DpGuarantee& g) { return target.delta.has_value() ? g.epsilon : g.delta; };
  const double useless = target.delta.has_value() ? kInfinity : 1;
  double best = useless;
  for (const Proof* proof : std::initializer_list<const Proof*>{&gdp, &loss, &renyi, &zcdp, &basic}) {
    AccountProof result{proof->name, proof->title, std::nullopt, ""};
    for (std::size_t i = 0; i < events.size() && result.why_not.empty(); ++i) {
      const std::string why_not = proof->WhyNot(*releases[i]);
      if (!why_not.empty())
        result.why_not = fmt::format("events[{}] ({}) {}", i + 1, events[i].mechanism, why_not);
    }
    if (result.why_not.empty()) {
      DpGuarantee worst{target.epsilon.value_or(0), target.delta.value_or(0)};
      std::string worst_cohort = cohorts.front().first;
      for (const auto& [name, charges] : cohorts) {
        const double here = target.delta.has_value() ? proof->Epsilon(charges, *target.delta)
                                                     : proof->Delta(charges, *target.epsilon);
        double& so_far = target.delta.has_value() ? worst.epsilon : worst.delta;
        if (!(here <= so_far)) {
          so_far = here;
          worst_cohort = name;
        }
      }
      if (figure(worst) < useless) {
        result.guarantee = worst;
        if (report.proof.empty() || figure(worst) < best) {
          best = figure(worst);
          report.guarantee = worst;
          report.proof = proof->name;
          report.worst_cohort = worst_cohort;
        }
      } else {
        result.why_not =
            target.delta.has_value() ? "no epsilon at this delta" : "no delta below 1 at this epsilon";
      }
    }
    const auto rank = [&](const AccountProof& p) { return p.guarantee ? figure(*p.guarantee) : kInfinity; };
    const auto place = std::upper_bound(report.proofs.begin(), report.proofs.end(), result,
                                        [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    report.proofs.insert(place, std::move(result));
  }
  if (!report.proof.empty()) return report;
  if (target.epsilon.has_value()) {
    return InvalidOption("epsilon", *target.epsilon,
                         "a larger one: the events have no delta below 1 at this");
  }
  return InvalidOption("delta", *target.delta,
                       *target.delta == 0
                           ? "a number in (0, 1): not all events are pure"
                           : "a larger one: the events have no epsilon at this (their own deltas count)");
}

}  // namespace bandana
