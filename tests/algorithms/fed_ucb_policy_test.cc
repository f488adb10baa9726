#include "bandana/algorithms/fed_ucb/fed_ucb_policy.h"

#include <Eigen/Eigenvalues>

#include "gmock/gmock.h"
#include "tests/algorithms/fed_ucb_support.h"

namespace bandana {
namespace {

class FedUcbPolicyTest : public testing::Test {
 protected:
  FedSetting setting_;
  FedUcbWidth width_ = WidthOf(setting_, 4);
  FedUcbPolicy<double> policy_{width_, 2.0};
  RegressionSums sums_{.step = 1,
                       .gram = 100 * Matrix::Identity(4, 4),
                       .moments = Vector::Constant(4, 10),
                       .gram_noise = 2,
                       .moment_noise = 2};
};

TEST_F(FedUcbPolicyTest, SolvesWithTheShift) {
  const double shift = width_.RegularizerFor(2).shift;
  EXPECT_NEAR(policy_.regression().gram()(0, 0), shift, 1e-12) << "before anything is known";
  ASSERT_TRUE(policy_.Learn(sums_).ok());
  EXPECT_NEAR(policy_.regression().theta()[2], 10 / (100 + shift), 1e-12);
  EXPECT_EQ(policy_.repairs(), 0);
}

TEST_F(FedUcbPolicyTest, RepairsWhatIsNotPositiveDefiniteAndCountsIt) {
  const Regularizer regularizer = width_.RegularizerFor(2);
  sums_.gram(1, 1) = -3 * regularizer.shift;
  ASSERT_TRUE(policy_.Learn(sums_).ok());
  EXPECT_EQ(policy_.repairs(), 1);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(policy_.regression().gram());
  EXPECT_NEAR(solver.eigenvalues()[0], regularizer.rho_min, 1e-9 * regularizer.rho_min);
  sums_.gram(1, 1) = 100;
  ASSERT_TRUE(policy_.Learn(sums_).ok());
  EXPECT_EQ(policy_.repairs(), 1);
  EXPECT_EQ(policy_.regularizer().shift, regularizer.shift) << "for that one alone";
}

TEST_F(FedUcbPolicyTest, RefusesSumsThatAreNotFinite) {
  sums_.gram(0, 3) = sums_.gram(3, 0) = NAN;
  EXPECT_FALSE(policy_.Learn(sums_).ok());
}

TEST_F(FedUcbPolicyTest, OwnRecordsNarrowTheRadiusOnlyByWhatTheyKnow) {
  ASSERT_TRUE(policy_.Learn(sums_).ok());
  const double before = policy_.radius();
  const double x[4] = {1, 0, 0, 0};
  policy_.LearnOwn(x, 1);
  EXPECT_GT(policy_.radius(), before) << "log det V has grown, the noise's part has not";
  EXPECT_LT(policy_.radius(), before + 0.1);
}

}  // namespace
}  // namespace bandana
