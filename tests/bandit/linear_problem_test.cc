#include "bandana/bandit/linear_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "bandana/core/status.h"

namespace bandana {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ActionMatrix Rows(std::initializer_list<std::initializer_list<double>> rows) {
  ActionMatrix actions(rows.size(), rows.size() == 0 ? 2 : rows.begin()->size());
  Eigen::Index i = 0;
  for (const auto& row : rows) {
    Eigen::Index j = 0;
    for (const double entry : row) actions(i, j++) = entry;
    ++i;
  }
  return actions;
}

Vector Theta(std::initializer_list<double> entries) {
  return Eigen::Map<const Vector>(entries.begin(), static_cast<Eigen::Index>(entries.size()));
}

std::string KeyOf(const absl::Status& status) { return InputErrorOf(status).value_or(InputError{}).key; }

TEST(LinearProblemTest, KnowsItsOptimum) {
  const auto problem = LinearProblem::Create(Rows({{0, 1}, {0.5, 0.5}, {-1, 0}}), Theta({0.75, 0.25}));
  ASSERT_TRUE(problem.ok());
  EXPECT_EQ(problem->best(), 1);
  EXPECT_EQ(problem->Gap(0), 0.25);
  EXPECT_EQ(problem->Gap(1), 0);
  EXPECT_EQ(problem->Gap(2), 1.25);
  EXPECT_EQ(problem->means(), Theta({0.25, 0.5, -0.75}));
}

TEST(LinearProblemTest, OfEqualActionsTheFirstIsTheBest) {
  const auto problem = LinearProblem::Create(Rows({{0, 1}, {1, 0}, {1, 0}}), Theta({1, 0}));
  ASSERT_TRUE(problem.ok());
  EXPECT_EQ(problem->best(), 1);
  EXPECT_EQ(problem->Gap(2), 0);
}

TEST(LinearProblemTest, BadActionsAreRefusedByName) {
  const Vector theta = Theta({1, 0});
  for (const ActionMatrix& actions :
       {Rows({}), Rows({{0, 0}, {0, 0}}), Rows({{1, 0}, {0.8, 0.8}}), Rows({{1, 0}, {kNan, 0}}),
        Rows({{kInfinity, 0}}), Rows({{1 + 1e-6, 0}})}) {
    const auto problem = LinearProblem::Create(actions, theta);
    ASSERT_FALSE(problem.ok()) << actions;
    EXPECT_EQ(KeyOf(problem.status()), "actions") << actions;
  }
  EXPECT_FALSE(LinearProblem::Create(ActionMatrix(3, 0), Vector(0)).ok());
  const auto second = LinearProblem::Create(Rows({{1, 0}, {2, 0}}), theta);
  EXPECT_THAT(std::string(second.status().message()), ::testing::HasSubstr("action 1"));
  EXPECT_TRUE(LinearProblem::Create(Rows({{1, 0}, {0, 0}}), theta).ok()) << "one zero action is no harm";
  EXPECT_TRUE(LinearProblem::Create(Rows({{1 + 1e-12, 0}}), theta).ok()) << "rounding is no fault";
}

TEST(LinearProblemTest, BadThetasAreRefused) {
  const ActionMatrix actions = Rows({{1, 0}});
  EXPECT_FALSE(LinearProblem::Create(actions, Theta({1})).ok());
  EXPECT_FALSE(LinearProblem::Create(actions, Theta({1, 1})).ok());
  EXPECT_FALSE(LinearProblem::Create(actions, Theta({kNan, 0})).ok());
  EXPECT_FALSE(LinearProblem::Create(actions, Theta({kInfinity, 0})).ok());
  EXPECT_TRUE(LinearProblem::Create(actions, Theta({0, 0})).ok());
}

TEST(LinearProblemTest, DrawnInstancesAreWhatWasAskedFor) {
  for (const ActionLaw law : {ActionLaw::kSphere, ActionLaw::kOrthant, ActionLaw::kGaussian}) {
    const auto problem =
        LinearProblem::Draw({.dimension = 7, .actions = 40, .law = law, .theta_norm = 0.5}, 1, 2);
    ASSERT_TRUE(problem.ok());
    EXPECT_EQ(problem->actions().rows(), 40);
    EXPECT_EQ(problem->actions().cols(), 7);
    EXPECT_NEAR(problem->theta().norm(), 0.5, 1e-12);
    const Vector norms = problem->actions().rowwise().norm();
    EXPECT_NEAR(norms.maxCoeff(), 1, 1e-12);
    if (law == ActionLaw::kGaussian) {
      EXPECT_LT(norms.minCoeff(), 0.9) << "lengths differ";
    } else {
      EXPECT_NEAR(norms.minCoeff(), 1, 1e-12);
    }
    if (law == ActionLaw::kOrthant) {
      EXPECT_GE(problem->actions().minCoeff(), 0);
      EXPECT_GE(problem->theta().minCoeff(), 0);
      EXPECT_GE(problem->means().minCoeff(), 0);
    } else {
      EXPECT_LT(problem->actions().minCoeff(), 0);
    }
    EXPECT_EQ(problem->Gap(problem->best()), 0);
  }
}

TEST(LinearProblemTest, AReplicatesInstanceIsAlwaysTheSame) {
  const LinearProblemParams params{.dimension = 3, .actions = 10};
  const auto first = LinearProblem::Draw(params, 5, 6);
  const auto again = LinearProblem::Draw(params, 5, 6);
  const auto other = LinearProblem::Draw(params, 5, 7);
  const auto reseeded = LinearProblem::Draw(params, 6, 6);
  EXPECT_EQ(first->actions(), again->actions());
  EXPECT_EQ(first->theta(), again->theta());
  EXPECT_NE(first->actions(), other->actions());
  EXPECT_NE(first->theta(), other->theta());
  EXPECT_NE(first->theta(), reseeded->theta());

  const ActionMatrix actions = Rows({{1, 0}, {0, 1}});
  EXPECT_EQ(LinearProblem::DrawTheta(actions, 1, 5, 6)->theta(),
            LinearProblem::DrawTheta(actions, 1, 5, 6)->theta());
  EXPECT_NE(LinearProblem::DrawTheta(actions, 1, 5, 6)->theta(),
            LinearProblem::DrawTheta(actions, 1, 5, 7)->theta());
  EXPECT_EQ(LinearProblem::DrawTheta(actions, 1, 5, 6)->actions(), actions);
}

TEST(LinearProblemTest, BadParametersAreRefusedByName) {
  const auto key = [](LinearProblemParams params) {
    return KeyOf(LinearProblem::Draw(params, 1, 1).status());
  };
  EXPECT_EQ(key({.dimension = 0, .actions = 3}), "dimension");
  EXPECT_EQ(key({.dimension = -1, .actions = 3}), "dimension");
  EXPECT_EQ(key({.dimension = 3, .actions = 0}), "actions");
  for (const double norm : {0.0, -1.0, 1.1, kNan, kInfinity}) {
    EXPECT_EQ(key({.dimension = 3, .actions = 3, .theta_norm = norm}), "theta_norm") << norm;
    EXPECT_EQ(KeyOf(LinearProblem::DrawTheta(Rows({{1, 0}}), norm, 1, 1).status()), "theta_norm") << norm;
  }
  EXPECT_EQ(KeyOf(LinearProblem::DrawTheta(ActionMatrix(0, 0), 1, 1, 1).status()), "actions");
}

class ReadActionsTest : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  absl::StatusOr<ActionMatrix> Read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return ReadActions(path_);
  }

  InputError ErrorOf(const std::string& text) {
    const auto actions = Read(text);
    EXPECT_FALSE(actions.ok()) << text;
    return InputErrorOf(actions.status()).value_or(InputError{});
  }

  std::string path_ = ::testing::TempDir() + "bandana_actions_" + std::to_string(getpid()) + ".csv";
};

TEST_F(ReadActionsTest, ReadsOneActionALine) {
  const auto actions = Read("# two of them\n0.5, -1e-2\n\n  \n#0,0,0\n0,1\n");
  ASSERT_TRUE(actions.ok()) << actions.status();
  EXPECT_EQ(*actions, Rows({{0.5, -0.01}, {0, 1}}));
  EXPECT_EQ(*Read("1\r\n0.5\r\n"), Rows({{1}, {0.5}}));
  EXPECT_EQ(*Read("1,2"), Rows({{1, 2}})) << "the last line needs no end";
}

TEST_F(ReadActionsTest, ErrorsNameFileLineAndValue) {
  for (const std::string bad : {"x", "nan", "inf", "1e999", "0.5.5", "", "1 2"}) {
    const InputError error = ErrorOf("# a\n1,2\n3," + bad + "\n");
    EXPECT_EQ(error.file, path_) << bad;
    EXPECT_EQ(error.line, 3) << bad;
    EXPECT_EQ(error.value, bad);
    EXPECT_EQ(error.key, "file");
  }
  const InputError ragged = ErrorOf("1,2\n\n1,2,3\n");
  EXPECT_EQ(ragged.line, 3);
  EXPECT_THAT(ragged.message, ::testing::HasSubstr("3 numbers"));
  EXPECT_EQ(ErrorOf("1,2\n1\n").line, 2);
}

TEST_F(ReadActionsTest, FilesWithoutActionsAreRefused) {
  EXPECT_EQ(ErrorOf("").file, path_);
  EXPECT_EQ(ErrorOf("# nothing\n\n").file, path_);
  const auto missing = ReadActions(path_ + ".missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(InputErrorOf(missing.status())->value, path_ + ".missing");
  EXPECT_EQ(KeyOf(missing.status()), "file");
}

}  // namespace
}  // namespace bandana
