#include "bandana/bandit/auto_lending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "bandana/core/distributions.h"
#include "bandana/core/status.h"
#include "tests/bandit/auto_lending_file.h"
#include "tests/support.h"

namespace bandana {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Loan> Twin(std::uint64_t seed, Count rows) {
  auto loans = SyntheticTwin(seed, rows);
  EXPECT_TRUE(loans.ok()) << loans.status();
  return *std::move(loans);
}

class AutoLendingFileTest : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  InputError ErrorOf(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    const auto loans = ReadAutoLending(path_);
    EXPECT_FALSE(loans.ok()) << text;
    return InputErrorOf(loans.status()).value_or(InputError{});
  }

  std::string path_ = ::testing::TempDir() + "bandana_loans_" + std::to_string(getpid()) + ".csv";
};

TEST_F(AutoLendingFileTest, TheTwinComesBackAsItWas) {
  const std::vector<Loan> loans = Twin(1, 500);
  test::WriteAutoLending(path_, loans);
  const auto read = ReadAutoLending(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, loans);

  AutoLendingColumns columns;
  columns.fico = "score";
  columns.car_types = {"new", "refinanced", "used"};
  test::WriteAutoLending(path_, loans, columns);
  EXPECT_EQ(*ReadAutoLending(path_, columns), loans);
  EXPECT_EQ(InputErrorOf(ReadAutoLending(path_).status())->key, "Primary_FICO");
}

TEST_F(AutoLendingFileTest, OtherColumnsAreSkipped) {
  std::ofstream(path_)
      << "Tier,apply,CarType,mp,Competition_rate,Amount_Approved,Term,onemonth,Primary_FICO,State\n"
         "2,1,U,300.5,4.25,15000,60,1.8,701,NY\r\n";
  const auto loans = ReadAutoLending(path_);
  ASSERT_TRUE(loans.ok()) << loans.status();
  EXPECT_EQ(loans->at(0), (Loan{.fico = 701,
                                .one_month = 1.8,
                                .term = 60,
                                .amount = 15000,
                                .competitor_rate = 4.25,
                                .car = CarType::kUsed,
                                .monthly_payment = 300.5,
                                .apply = true}));
}

TEST_F(AutoLendingFileTest, WrongColumnsAndValuesAreNamed) {
  const std::string header = "Primary_FICO,onemonth,Term,Amount_Approved,Competition_rate,mp,CarType,apply\n";
  for (const char* name : {"Primary_FICO", "onemonth", "Term", "Amount_Approved", "Competition_rate", "mp",
                           "CarType", "apply"}) {
    std::string without = header;
    without.replace(without.rfind(name), std::string(name).size(), "else");
    const InputError error = ErrorOf(without);
    EXPECT_EQ(error.key, name);
    EXPECT_EQ(error.line, 1);
    EXPECT_THAT(error.accepted, HasSubstr(name));
  }
  struct Case {
    std::string line, key, value;
  };
  for (const Case& bad : std::vector<Case>{{"0,1,60,1,1,1,N,0", "Primary_FICO", "0"},
                                           {"nan,1,60,1,1,1,N,0", "Primary_FICO", "nan"},
                                           {"1,-1,60,1,1,1,N,0", "onemonth", "-1"},
                                           {"1,1,60.5,1,1,1,N,0", "Term", "60.5"},
                                           {"1,1,0,1,1,1,N,0", "Term", "0"},
                                           {"1,1,60,,1,1,N,0", "Amount_Approved", ""},
                                           {"1,1,60,1,inf,1,N,0", "Competition_rate", "inf"},
                                           {"1,1,60,1,1,x,N,0", "mp", "x"},
                                           {"1,1,60,1,1,1,X,0", "CarType", "X"},
                                           {"1,1,60,1,1,1,N,2", "apply", "2"},
                                           {"1,1,60,1,1,1,N,yes", "apply", "yes"},
                                           {"1,1,60,1,1,1,N", "file", "7 fields"}}) {
    const InputError error = ErrorOf(header + "700,1,60,1,1,1,N,0\n" + bad.line + "\n");
    EXPECT_EQ(error.file, path_);
    EXPECT_EQ(error.line, 3) << bad.line;
    EXPECT_EQ(error.key, bad.key) << bad.line;
    EXPECT_EQ(error.value, bad.value) << bad.line;
    EXPECT_FALSE(error.accepted.empty()) << bad.line;
  }
  EXPECT_THAT(ErrorOf(header).message, HasSubstr("no application"));
  EXPECT_THAT(ErrorOf("").message, HasSubstr("empty"));
}

TEST(AutoLendingTest, PriceIsPresentValueLessAmount) {
  Loan loan{.one_month = 1.44, .term = 3, .amount = 1000, .monthly_payment = 350};
  const double q = 1 / 1.0012;
  EXPECT_NEAR(PriceOf(loan), 350 * (q + q * q + q * q * q) - 1000, 1e-9);
  loan.one_month = 0;
  EXPECT_EQ(PriceOf(loan), 50);
}

TEST(AutoLendingTest, FeaturesByHand) {
  const AutoLendingScale scale{
      .ranges = {{{600, 800}, {0, 2}, {12, 72}, {0, 40000}, {2, 6}}}, .price = 1000, .radius = 2};
  const Loan loan{.fico = 650,
                  .one_month = 2,
                  .term = 60,
                  .amount = 10000,
                  .competitor_rate = 3,
                  .car = CarType::kRefinanced};
  Vector features(AutoLendingScale::kDimension);
  scale.Features(loan, 500, features);
  Vector x(9);
  x << 0.25, 1, 0.8, 0.25, 0.25, 1, 0, 1, 0;
  EXPECT_TRUE(features.head(9).isApprox(x / 2, 1e-15));
  EXPECT_TRUE(features.tail(9).isApprox(x / 4, 1e-15));
}

TEST(AutoLendingTest, FeaturesAreInTheUnitBall) {
  for (const bool with_scale : {false, true}) {
    AutoLendingOptions options;
    if (with_scale) options = {.price_range = Interval{0, 12'000}, .scale = TwinScale()};
    const auto problem = AutoLendingProblem::Create(Twin(2, 2000), options);
    ASSERT_TRUE(problem.ok()) << problem.status();
    EXPECT_EQ(problem->actions(), 25);
    EXPECT_EQ(problem->dimension(), 18);
    double largest = 0;
    ActionMatrix context;
    for (Count i = 0; i < problem->loans(); ++i) {
      problem->Context(i, context);
      largest = std::max({largest, context.rowwise().norm().maxCoeff(), problem->LoggedFeatures(i).norm()});
    }
    EXPECT_LE(largest, 1);
    EXPECT_GT(largest, with_scale ? 0.5 : 0.999) << "scaled more than needed";
  }
}

// If the loss is large, its rounding error must not shorten Newton's steps.
TEST(FitLogisticTest, ConvergesInAFewSteps) {
  const auto problem = AutoLendingProblem::Create(Twin(10, 100'000), {});
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_LE(problem->fit().iterations, 10);
}

// At Newton's minimum the gradient is 0; with one feature the minimum is a known root.
TEST(FitLogisticTest, FindsTheMinimum) {
  // There is one constant feature and n1 wins of n. The gradient is 0 where n sigma(theta) - n1 + penalty
  // theta = 0.
  const ActionMatrix ones = ActionMatrix::Ones(10, 1);
  std::vector<bool> wins(10);
  wins[0] = wins[1] = wins[2] = true;
  const auto fit = FitLogistic(ones, wins, 1e-9);
  EXPECT_NEAR(fit->theta[0], std::log(3.0 / 7), 1e-8);
  EXPECT_NEAR(fit->covariance(0, 0), 1 / (10 * 0.3 * 0.7), 1e-6);

  test::Coins coins(3);
  ActionMatrix features(300, 4);
  std::vector<bool> outcomes;
  for (double& entry : features.reshaped()) entry = 10 * StandardNormal(coins.gen);
  for (int i = 0; i < 300; ++i) outcomes.push_back(features(i, 0) > 0);  // separable outcomes
  const auto separable = FitLogistic(features, outcomes, 0.3);
  ASSERT_TRUE(separable.ok()) << separable.status();
  Vector gradient = 0.3 * separable->theta;
  for (int i = 0; i < 300; ++i) {
    const double mean = 1 / (1 + std::exp(-features.row(i).dot(separable->theta)));
    gradient += (mean - (outcomes[static_cast<std::size_t>(i)] ? 1 : 0)) * features.row(i).transpose();
  }
  EXPECT_LT(gradient.norm(), 1e-7);
  for (const double bad : {0.0, -1.0, kNan, double{INFINITY}}) {
    EXPECT_EQ(InputErrorOf(FitLogistic(ones, wins, bad).status())->key, "penalty");
  }
}

// 18 coordinates within 5 standard errors each: a false alarm in 10^5. The penalty is so small that its bias
// does not matter, and it decides what the data leave open.
TEST(AutoLendingTest, ThetaIsRecoveredFromALargeTwin) {
  const auto problem = AutoLendingProblem::Create(
      Twin(4, 100'000), {.price_range = Interval{0, 12'000}, .penalty = 1e-4, .scale = TwinScale()});
  ASSERT_TRUE(problem.ok()) << problem.status();
  const Vector errors = problem->theta() - TwinTheta();
  for (int i = 0; i < 18; ++i) {
    EXPECT_LT(std::abs(errors[i]), 5 * std::sqrt(problem->fit().covariance(i, i))) << i;
  }
  // In either half of theta, the data leave open the constant minus the dummies, so the penalty makes it 0.
  for (const int half : {0, 9}) {
    const Vector& theta = problem->theta();
    EXPECT_NEAR(theta[half + 5] - theta[half + 6] - theta[half + 7] - theta[half + 8], 0, 1e-6);
  }
  // The acceptance probability must be close everywhere in the middle of the grid.
  double largest = 0;
  ActionMatrix context;
  for (Count i = 0; i < 1000; ++i) {
    problem->Context(i, context);
    for (const ArmId k : {2, 5, 8}) {
      const double truth = 1 / (1 + std::exp(-context.row(k).dot(TwinTheta())));
      largest = std::max(largest, std::abs(problem->Acceptance(i, k) - truth));
    }
  }
  EXPECT_LT(largest, 0.1);
}

TEST(AutoLendingTest, TheTwinIsPlausible) {
  const std::vector<Loan> loans = Twin(5, 20'000);
  double applied = 0, price = 0;
  for (const Loan& loan : loans) {
    applied += loan.apply ? 1 : 0;
    price += PriceOf(loan);
    EXPECT_GE(loan.fico, 500);
    EXPECT_LE(loan.fico, 850);
    EXPECT_GE(PriceOf(loan), 0);
  }
  EXPECT_GT(applied / 20'000, 0.15);
  EXPECT_LT(applied / 20'000, 0.4);
  EXPECT_GT(price / 20'000, 500);
  EXPECT_LT(price / 20'000, 6000);
  EXPECT_EQ(Twin(5, 100), std::vector<Loan>(loans.begin(), loans.begin() + 100)) << "a prefix";
  EXPECT_NE(Twin(6, 100), std::vector<Loan>(loans.begin(), loans.begin() + 100));
  for (const Count bad : {Count{0}, Count{-1}, Count{1} << 40}) {
    EXPECT_EQ(InputErrorOf(SyntheticTwin(1, bad).status())->key, "rows");
  }
}

TEST(AutoLendingTest, Rewards) {
  const auto revenue = AutoLendingProblem::Create(Twin(7, 3000), {.price_range = Interval{0, 6000}});
  const auto acceptance = AutoLendingProblem::Create(
      Twin(7, 3000), {.price_range = Interval{0, 6000}, .reward = LendingReward::kAcceptance});
  ASSERT_TRUE(revenue.ok()) << revenue.status();
  EXPECT_EQ(revenue->prices()[0], 0);
  EXPECT_EQ(revenue->prices()[24], 6000);
  test::Coins coins(8);
  for (Count loan = 0; loan < 50; ++loan) {
    for (ArmId k = 0; k < 25; ++k) {
      const double accepted = revenue->Acceptance(loan, k);
      EXPECT_DOUBLE_EQ(revenue->MeanReward(loan, k), revenue->prices()[k] / 6000 * accepted);
      EXPECT_EQ(acceptance->MeanReward(loan, k), acceptance->Acceptance(loan, k));
    }
  }
  // 10^4 draws, held to 5 standard errors.
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double reward = revenue->DrawReward(0, 12, coins.gen);
    EXPECT_TRUE(reward == 0 || reward == 0.5);
    sum += reward;
  }
  const double p = revenue->Acceptance(0, 12);
  EXPECT_NEAR(sum / 10'000, 0.5 * p, 5 * 0.5 * std::sqrt(p * (1 - p) / 10'000));
}

TEST(AutoLendingTest, WhatCannotBeIsRefused) {
  const auto key = [](std::vector<Loan> loans, const AutoLendingOptions& options) {
    const auto problem = AutoLendingProblem::Create(std::move(loans), options);
    return problem.ok() ? "" : InputErrorOf(problem.status()).value_or(InputError{}).key;
  };
  const std::vector<Loan> loans = Twin(9, 50);
  EXPECT_EQ(key(loans, {}), "");
  EXPECT_EQ(key({}, {}), "loans");
  for (const Count bad : {Count{0}, Count{-1}, Count{1} << 40}) {
    EXPECT_EQ(key(loans, {.prices = bad}), "prices");
  }
  for (const Interval bad : {Interval{2, 1}, {-1, 5}, {0, 0}, {0, kNan}, {0, INFINITY}}) {
    EXPECT_EQ(key(loans, {.price_range = bad}), "price_range");
  }
  EXPECT_EQ(key(loans, {.price_range = Interval{-1, 5}, .reward = LendingReward::kAcceptance}), "");
  EXPECT_EQ(key(loans, {.penalty = 0}), "penalty");
  auto changed = loans;
  changed[3].fico = kNan;
  EXPECT_EQ(key(changed, {}), "Primary_FICO");
  changed = loans;
  changed[3].fico = 499;
  EXPECT_EQ(key(changed, {}), "");
  EXPECT_EQ(key(changed, {.scale = TwinScale()}), "fico");
  const auto scale = [&](auto change) {
    AutoLendingScale bad = TwinScale();
    change(bad);
    return key(loans, {.scale = bad});
  };
  EXPECT_EQ(scale([](auto&) {}), "");
  EXPECT_EQ(scale([](auto& s) { s.ranges[2] = {5, 5}; }), "scale.term");
  EXPECT_EQ(scale([](auto& s) { s.price = 0; }), "scale.price");
  EXPECT_EQ(scale([](auto& s) { s.price = 1; }), "price");
  EXPECT_EQ(scale([](auto& s) { s.radius = kNan; }), "scale.radius");
  EXPECT_EQ(scale([](auto& s) { s.radius = 3; }), "scale.radius");
}

}  // namespace
}  // namespace bandana
