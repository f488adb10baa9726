#include "bandana/privacy/accounting/account.h"

#include <cmath>
#include <limits>

#include "bandana/core/status.h"
#include "bandana/privacy/accounting/gdp.h"
#include "bandana/privacy/accounting/privacy_loss_distribution.h"
#include "bandana/privacy/accounting/zcdp.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bandana {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Event Make(const std::string& mechanism, std::map<std::string, double> parameters, double count = 1) {
  Event event;
  event.mechanism = mechanism;
  event.parameters = std::move(parameters);
  event.unit = "client";
  event.neighbours = "replace-one";
  event.count = count;
  return event;
}

AccountReport AtDelta(const std::vector<Event>& events, double delta) {
  auto report = Account(events, {.epsilon = std::nullopt, .delta = delta});
  EXPECT_TRUE(report.ok()) << report.status();
  return *report;
}

const AccountProof& Of(const AccountReport& report, const std::string& name) {
  for (const AccountProof& proof : report.proofs) {
    if (proof.name == name) return proof;
  }
  ADD_FAILURE() << name;
  return report.proofs.front();
}

TEST(AccountTest, GaussiansAddExactly) {
  const auto report =
      AtDelta({Make("gaussian", {{"sigma", 4.2248}, {"sensitivity", 1}}),
               Make("gaussian", {{"sigma", 60}, {"sensitivity", 2}}, 50), Make("gdp", {{"mu", 0.1}}, 3)},
              1e-6);
  const double mu = std::sqrt(1 / 4.2248 / 4.2248 + 50. / 900 + 0.03);
  EXPECT_EQ(report.proof, "gdp");
  EXPECT_NEAR(report.guarantee.epsilon, GdpEpsilon(1e-6, mu), 1e-10);
  EXPECT_EQ(report.guarantee.delta, 1e-6);
  EXPECT_NEAR(Of(report, "zcdp").guarantee->epsilon, ZcdpEpsilon(1e-6, mu * mu / 2), 1e-6);
  // The proofs are listed from the best to the worst; each is an upper bound.
  EXPECT_EQ(report.proofs[0].name, "gdp");
  EXPECT_EQ(report.proofs[1].name, "pld");
  for (std::size_t i = 1; i < report.proofs.size(); ++i) {
    EXPECT_GE(report.proofs[i].guarantee->epsilon, report.proofs[i - 1].guarantee->epsilon);
  }
  EXPECT_LE(Of(report, "pld").guarantee->epsilon, report.guarantee.epsilon * (1 + 1e-5));
}

TEST(AccountTest, EpsilonAndDeltaAreInverse) {
  const std::vector<Event> events = {
      Make("gaussian", {{"sigma", 5}, {"sensitivity", 1}}, 4),
      Make("laplace", {{"scale", 10}, {"sensitivity", 1}, {"dimension", 1}}, 3)};
  const auto forward = AtDelta(events, 1e-7);
  EXPECT_EQ(forward.proof, "pld");
  const auto backward =
      Account(events, {.epsilon = forward.guarantee.epsilon, .delta = std::nullopt}).value();
  EXPECT_EQ(backward.guarantee.epsilon, forward.guarantee.epsilon);
  EXPECT_NEAR(backward.guarantee.delta, 1e-7, 1e-12);
  EXPECT_LE(backward.guarantee.delta, 1e-7 * (1 + 1e-9));
  for (const AccountProof& proof : forward.proofs) {
    if (proof.name == "gdp") continue;
    const auto at = Account(events, {.epsilon = proof.guarantee->epsilon, .delta = std::nullopt}).value();
    EXPECT_NEAR(Of(at, proof.name).guarantee->delta, 1e-7, 1e-5 * 1e-7) << proof.name;
  }
}

TEST(AccountTest, PureReleasesNeedNoDelta) {
  const auto report = AtDelta({Make("pure-dp", {{"epsilon", 0.25}}, 4)}, 0);
  EXPECT_EQ(report.proof, "basic");
  EXPECT_EQ(report.guarantee, (DpGuarantee{1, 0}));
  EXPECT_FALSE(Of(report, "renyi").guarantee.has_value());
  // Many releases together cost less than the sum of their epsilons.
  const auto many = AtDelta({Make("pure-dp", {{"epsilon", 0.01}}, 1000)}, 1e-6);
  EXPECT_EQ(many.proof, "pld");
  EXPECT_LT(many.guarantee.epsilon, 1.7);
  EXPECT_EQ(Of(many, "gdp").why_not, "events[1] (pure-dp) is not Gaussian");
}

TEST(AccountTest, EveryMechanismComposesWithTheOthers) {
  const auto report = AtDelta(
      {Make("gaussian", {{"sigma", 10}, {"sensitivity", 1}}),
       Make("discrete-gaussian", {{"sigma", 40}, {"sensitivity", 3}, {"dimension", 1}}, 2),
       Make("laplace", {{"scale", 20}, {"sensitivity", 1}, {"dimension", 5}}),
       Make("discrete-laplace", {{"scale", 20}, {"sensitivity", 2}, {"dimension", 1}}),
       Make("pure-dp", {{"epsilon", 0.05}}), Make("approximate-dp", {{"epsilon", 0.05}, {"delta", 1e-9}}),
       Make("shuffle-sum", {{"trials", 46'000}, {"sensitivity", 8}, {"coordinates", 10}}),
       Make("shuffled-ldp", {{"epsilon0", 4}, {"n", 100'000}}, 2)},
      1e-6);
  EXPECT_EQ(report.proof, "pld");
  // The result is of the size that Gaussian releases of the same epsilons would give, and below their sum.
  EXPECT_GT(report.guarantee.epsilon, 1);
  EXPECT_LT(report.guarantee.epsilon, 2.5);
  EXPECT_LT(report.guarantee.epsilon, Of(report, "basic").guarantee->epsilon);
  EXPECT_FALSE(Of(report, "renyi").guarantee.has_value());
}

TEST(AccountTest, ApproximateReleasesSetTheirDeltasAside) {
  const std::vector<Event> events = {Make("zcdp", {{"rho", 0.02}}, 10),
                                     Make("approximate-dp", {{"epsilon", 0.1}, {"delta", 1e-8}}, 10)};
  const auto report = AtDelta(events, 1e-6);
  EXPECT_EQ(report.proof, "renyi");
  EXPECT_NEAR(Of(report, "zcdp").guarantee->epsilon, ZcdpEpsilon(9e-7, 0.2 + 10 * 0.005), 1e-9);
  const auto back = Account(events, {.epsilon = report.guarantee.epsilon, .delta = std::nullopt}).value();
  EXPECT_NEAR(Of(back, "renyi").guarantee->delta, 1e-6, 1e-15);
}

// With n = 1000 clients, 10 coordinates, g = 8 levels and b = 46 bits, the shuffled sum is nearly as private
// as a Gaussian of its own variance.
TEST(AccountTest, ShuffleSumIsNearlyItsGaussian) {
  const auto report =
      AtDelta({Make("shuffle-sum", {{"trials", 46'000}, {"sensitivity", 8}, {"coordinates", 10}})}, 1e-6);
  const double mu = 8 * std::sqrt(10.) / (std::sqrt(46'000.) / 2);
  const double gaussian = GdpEpsilon(1e-6, mu);
  EXPECT_GT(report.guarantee.epsilon, gaussian);
  EXPECT_LT(report.guarantee.epsilon, gaussian * 1.01);
}

TEST(AccountTest, DiscreteGaussianIsAtMostItsZcdp) {
  const auto one =
      AtDelta({Make("discrete-gaussian", {{"sigma", 5}, {"sensitivity", 1}, {"dimension", 1}}, 20)}, 1e-6);
  EXPECT_EQ(one.proof, "pld");
  EXPECT_NEAR(one.guarantee.epsilon, GdpEpsilon(1e-6, std::sqrt(20.) / 5), 1e-3);
  const auto vector =
      AtDelta({Make("discrete-gaussian", {{"sigma", 5}, {"sensitivity", 1}, {"dimension", 3}}, 20)}, 1e-6);
  EXPECT_EQ(vector.proof, "zcdp");
  EXPECT_GT(vector.guarantee.epsilon, one.guarantee.epsilon);
}

TEST(AccountTest, DisjointUnitsComposeInParallel) {
  Event phases = Make("gaussian", {{"sigma", 4}, {"sensitivity", 1}}, 30);
  phases.disjoint = true;
  const double one = GdpEpsilon(1e-6, 0.25);
  const auto disjoint = AtDelta({phases}, 1e-6);
  EXPECT_NEAR(disjoint.guarantee.epsilon, one, 1e-10);
  EXPECT_EQ(disjoint.events[0].releases, 1);

  Event everyone = Make("gaussian", {{"sigma", 8}, {"sensitivity", 1}}, 2);
  Event north = Make("gaussian", {{"sigma", 4}, {"sensitivity", 1}}, 3);
  north.cohort = "north";
  Event south = Make("gaussian", {{"sigma", 4}, {"sensitivity", 1}}, 5);
  south.cohort = "south";
  const auto report = AtDelta({everyone, north, south}, 1e-6);
  EXPECT_EQ(report.worst_cohort, "south");
  EXPECT_EQ(report.cohorts, 2u);
  EXPECT_NEAR(report.guarantee.epsilon, GdpEpsilon(1e-6, std::sqrt(2. / 64 + 5. / 16)), 1e-10);
}

void ExpectRejected(const std::vector<Event>& events, const AccountTarget& target, const std::string& key,
                    const std::string& part = "") {
  const auto report = Account(events, target);
  const auto error = InputErrorOf(report.status());
  ASSERT_TRUE(error.has_value()) << report.status() << " " << key;
  EXPECT_EQ(error->key, key);
  EXPECT_THAT(std::string(report.status().message()), testing::HasSubstr(part));
}

TEST(AccountTest, DifferentUnitsOrNeighboursAreNotAdded) {
  const Event first = Make("pure-dp", {{"epsilon", 1}});
  Event second = first;
  second.unit = "record";
  ExpectRejected({first, second}, {.epsilon = {}, .delta = 1e-6}, "events[2].unit", "client");
  second = first;
  second.neighbours = "add-remove";
  ExpectRejected({first, first, second}, {.epsilon = {}, .delta = 1e-6}, "events[3].neighbours", "twice");
}

TEST(AccountTest, BadEventsAreRejectedByName) {
  const AccountTarget target{.epsilon = {}, .delta = 1e-6};
  for (const MechanismKind& kind : MechanismKinds()) {
    std::map<std::string, double> good;
    for (const MechanismParameter& parameter : kind.parameters)
      good[parameter.name] = parameter.whole ? 3 : 0.5;
    if (good.contains("trials")) good["trials"] = 3000;
    EXPECT_TRUE(Account(std::vector{Make(kind.name, good)}, {.epsilon = {}, .delta = 0.6}).ok()) << kind.name;
    for (const MechanismParameter& parameter : kind.parameters) {
      const std::string key = std::string("events[1].") + parameter.name;
      for (const double bad : {0.0, -1.0, kInfinity, kNaN, 5e-324, 1e300}) {
        auto parameters = good;
        parameters[parameter.name] = bad;
        ExpectRejected({Make(kind.name, parameters)}, target, key);
      }
      auto parameters = good;
      parameters.erase(parameter.name);
      ExpectRejected({Make(kind.name, parameters)}, target, key, "missing");
      if (!parameter.whole) continue;
      parameters[parameter.name] = 1.5;
      ExpectRejected({Make(kind.name, parameters)}, target, key, "whole");
    }
    good["surplus"] = 1;
    ExpectRejected({Make(kind.name, good)}, target, "events[1].surplus", "no such parameter");
  }
  ExpectRejected({Make("gausian", {})}, target, "events[1].mechanism", "gaussian");
  for (const double bad : {0.0, -1.0, 0.5, kInfinity, kNaN, 1e10}) {
    ExpectRejected({Make("pure-dp", {{"epsilon", 1}}, bad)}, target, "events[1].count");
  }
  Event event = Make("pure-dp", {{"epsilon", 1}});
  event.unit.clear();
  ExpectRejected({event}, target, "events[1].unit");
  event = Make("pure-dp", {{"epsilon", 1}});
  event.neighbours = "swap";
  ExpectRejected({event}, target, "events[1].neighbours", "replace-one, add-remove");
  event = Make("shuffled-ldp", {{"epsilon0", 1}, {"n", 10}});
  event.neighbours = "add-remove";
  ExpectRejected({event}, target, "events[1].neighbours");
  ExpectRejected({Make("gaussian", {{"sigma", 1e-5}, {"sensitivity", 1}})}, target, "events[1].sigma");
  ExpectRejected({Make("laplace", {{"scale", 1e11}, {"sensitivity", 1}, {"dimension", 1}})}, target,
                 "events[1].scale");
  ExpectRejected({Make("shuffle-sum", {{"trials", 5}, {"sensitivity", 6}, {"coordinates", 1}})}, target,
                 "events[1].sensitivity");
  ExpectRejected({}, target, "events");
}

TEST(AccountTest, BadTargetsAreRejectedByName) {
  const std::vector<Event> pure = {Make("pure-dp", {{"epsilon", 1}})};
  const std::vector<Event> gaussian = {Make("gaussian", {{"sigma", 1}, {"sensitivity", 1}})};
  ExpectRejected(pure, {}, "delta or epsilon");
  ExpectRejected(pure, {.epsilon = 1, .delta = 1e-6}, "delta or epsilon");
  for (const double bad : {-1e-9, 1.0, kInfinity, kNaN, 5e-324}) {
    ExpectRejected(pure, {.epsilon = {}, .delta = bad}, "delta");
  }
  for (const double bad : {-1e-9, kInfinity, kNaN})
    ExpectRejected(pure, {.epsilon = bad, .delta = {}}, "epsilon");
  ExpectRejected(gaussian, {.epsilon = {}, .delta = 0}, "delta", "not all events are pure");
  ExpectRejected({Make("approximate-dp", {{"epsilon", 1}, {"delta", 1e-3}}, 10)},
                 {.epsilon = {}, .delta = 1e-6}, "delta", "their own deltas count");
}

TEST(AccountTest, LongListsAreAnswered) {
  std::vector<Event> events;
  double square = 0;
  for (int i = 0; i < 40; ++i) {
    const double sigma = 20 + 0.1 * i;
    events.push_back(Make("gaussian", {{"sigma", sigma}, {"sensitivity", 1}}, 1 + i % 3));
    square += (1 + i % 3) / sigma / sigma;
  }
  const auto report = AtDelta(events, 1e-6);
  const double exact = GdpEpsilon(1e-6, std::sqrt(square));
  EXPECT_NEAR(report.guarantee.epsilon, exact, 1e-10);
  EXPECT_GE(Of(report, "pld").guarantee->epsilon, exact);
  EXPECT_LE(Of(report, "pld").guarantee->epsilon, exact * (1 + 1e-4));
}

}  // namespace
}  // namespace bandana
