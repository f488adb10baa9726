#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/core/linear_algebra.h"
#include "bandana/core/reward.h"

/// Prices of car loans: the On-Line Auto Lending data set CRPM-12-001 of Columbia University's Center for
/// Pricing and Revenue Management, on which P5 (Appendix G) runs its algorithms. The data set is not public.
/// Users who have it load it here; others draw a synthetic twin with the same columns. It was first used by
/// R. Phillips, A. S. Şimşek, G. van Ryzin, "The Effectiveness of Field Price Discretion: Empirical Evidence
/// from Auto Lending", Management Science 61(8), 2015.
namespace bandana {

enum class CarType { kNew, kRefinanced, kUsed };
inline constexpr int kCarTypes = 3;

/// One approved application.
struct Loan {
  double fico = 0;             ///< the applicant's credit score
  double one_month = 0;        ///< the one-month interbank rate of the day, per cent per year
  double term = 0;             ///< months
  double amount = 0;           ///< dollars approved
  double competitor_rate = 0;  ///< per cent per year
  CarType car = CarType::kNew;
  double monthly_payment = 0;  ///< dollars, in the offer
  bool apply = false;          ///< whether the applicant took the offer

  bool operator==(const Loan&) const = default;
};

/// The names of the columns. The defaults are those of the file CPRM_AutoLOan_OnlineAutoLoanData.csv.
struct AutoLendingColumns {
  std::string fico = "Primary_FICO";
  std::string one_month = "onemonth";
  std::string term = "Term";
  std::string amount = "Amount_Approved";
  std::string competitor_rate = "Competition_rate";
  std::string car_type = "CarType";
  std::string monthly_payment = "mp";
  std::string apply = "apply";
  std::array<std::string, kCarTypes> car_types = {"N", "R", "U"};  ///< car_type: new, refinanced, used
};

/// Reads CSV with a header and columns in any order. Other columns are skipped, because the file has many.
/// Errors name the file, line, column, value and what is accepted.
absl::StatusOr<std::vector<Loan>> ReadAutoLending(const std::string& path,
                                                  const AutoLendingColumns& columns = {});

/// Returns what the lender earns on the loan, in dollars of today: the payments, discounted at the one-month
/// rate, minus the amount.
///   price = mp (1 - q^term) q / (1 - q) - amount, q = 1 / (1 + one_month / 1200)
///
/// Departure: published code for this data set uses the yearly rate as a monthly one (100 instead of 1200),
/// and so gets negative prices. Other code fixes a rate of 0.12 per cent per month.
double PriceOf(const Loan& loan);

/// How numbers become features. x has nine entries: FICO score, one-month rate, term, amount and competitor's
/// rate, each scaled to (value - low) / (high - low); the constant 1; and three indicators for new,
/// refinanced and used. For a price p the feature vector, of dimension 18, is
///   phi = (x, x p / price) / radius.
struct AutoLendingScale {
  static constexpr int kNumbers = 5;
  std::array<Interval, kNumbers> ranges;  ///< in the order above; low < high
  double price = 0;                       ///< the price in dollars that counts as 1; > 0
  double radius = 0;                      ///< > 0

  /// Returns the radius that keeps |phi| <= 1 for all values within the ranges and |p| <= price: sqrt(14).
  static double WorstRadius();

  static constexpr int kDimension = 2 * (kNumbers + 1 + kCarTypes);

  void Features(const Loan& loan, double price, Eigen::Ref<Vector> features) const;
};

/// Ridge-penalised maximum likelihood for y in {0, 1} with P(y = 1) = 1 / (1 + exp(-<theta, x>)). FitLogistic
/// minimises -log likelihood + penalty |theta|^2 / 2 by Newton's method; it halves a step until it descends.
/// penalty > 0, so that there is exactly one minimum for any data.
struct LogisticFit {
  Vector theta;
  /// The asymptotic covariance of theta: (H + penalty I)^-1 H (H + penalty I)^-1, where H is the information
  /// matrix.
  Matrix covariance;
  int iterations = 0;
};
absl::StatusOr<LogisticFit> FitLogistic(const ActionMatrix& features, const std::vector<bool>& outcomes,
                                        double penalty);

enum class LendingReward {
  /// price / highest price if the applicant accepts, else 0. This is what a lender wants. It is not a GLM of
  /// phi.
  kRevenue,
  /// 1 if the applicant accepts, else 0. This is a GLM of phi with the logistic link, but lower prices are
  /// better.
  kAcceptance,
};

struct AutoLendingOptions {
  Count prices = 25;  ///< K, equally spaced
  /// Dollars; without it, from the 1 % to the 99 % quantile of the log's prices.
  std::optional<Interval> price_range;
  LendingReward reward = LendingReward::kRevenue;
  double penalty = 1;  ///< the penalty of the regression
  /// Without a scale, the ranges are the smallest and largest values in the data, as in published work, and
  /// the radius is the largest norm. Then the features reveal something about other people's data, and a
  /// claim of privacy covers only what is done with the features. With a scale, values outside of it are an
  /// error.
  std::optional<AutoLendingScale> scale;
};

/// The bandit problem: applicants come one after another, an arm is a price, and theta is fitted to `apply`
/// and taken as the truth. |theta| is not scaled; it is about 10 or more, while the paper's theorems assume
/// at most 1.
class AutoLendingProblem {
 public:
  static absl::StatusOr<AutoLendingProblem> Create(std::vector<Loan> loans,
                                                   const AutoLendingOptions& options);

  Count loans() const { return static_cast<Count>(loans_.size()); }
  Count actions() const { return prices_.size(); }
  static constexpr Count dimension() { return AutoLendingScale::kDimension; }
  const Vector& prices() const { return prices_; }
  const AutoLendingScale& scale() const { return scale_; }
  LendingReward reward() const { return reward_; }
  const Vector& theta() const { return fit_.theta; }
  const LogisticFit& fit() const { return fit_; }

  /// Writes phi of every price, K x d. Each row has norm at most 1.
  void Context(Count loan, ActionMatrix& context) const;
  /// Returns phi of the price in the log, of norm at most 1.
  Vector LoggedFeatures(Count loan) const;

  double Acceptance(Count loan, ArmId price) const;  ///< 1 / (1 + exp(-<theta, phi>))
  double MeanReward(Count loan, ArmId price) const;  ///< in [0, 1]
  double DrawReward(Count loan, ArmId price, CoinGen& coin) const;
  double RewardIfAccepted(ArmId price) const;

 private:
  AutoLendingProblem() = default;

  std::vector<Loan> loans_;
  AutoLendingScale scale_;
  LendingReward reward_ = LendingReward::kRevenue;
  Vector prices_;
  LogisticFit fit_;
};

/// Draws applications that resemble the data set: its columns, and roughly its ranges and its share of
/// accepted offers. They contain nothing of its applicants. Offers are accepted by a logistic law with
/// TwinTheta and TwinScale.
absl::StatusOr<std::vector<Loan>> SyntheticTwin(std::uint64_t seed, Count rows);
AutoLendingScale TwinScale();
/// Orthogonal to the direction that the data cannot identify: the indicators add up to the constant.
Vector TwinTheta();

}  // namespace bandana
