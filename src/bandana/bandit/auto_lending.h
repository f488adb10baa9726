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
/// Pricing and Revenue Management, on which P5 (Appendix G) runs its algorithms. It is not public: who has it
/// loads it here, and who has not draws a twin with the same columns. It was first used by R. Phillips,
/// A. S. Şimşek, G. van Ryzin, "The Effectiveness of Field Price Discretion: Empirical Evidence from Auto
/// Lending", Management Science 61(8), 2015.
namespace bandana {

enum class CarType { kNew, kRefinanced, kUsed };
inline constexpr int kCarTypes = 3;

/// One approved application.
struct Loan {
  double fico = 0;             ///< the applicant's credit score
  double one_month = 0;        ///< the one-month interbank rate of the day, per cent a year
  double term = 0;             ///< months
  double amount = 0;           ///< dollars approved
  double competitor_rate = 0;  ///< per cent a year
  CarType car = CarType::kNew;
  double monthly_payment = 0;  ///< dollars, as offered
  bool apply = false;          ///< took the offer

  bool operator==(const Loan&) const = default;
};

/// The columns' names. The defaults are those of the file CPRM_AutoLOan_OnlineAutoLoanData.csv.
struct AutoLendingColumns {
  std::string fico = "Primary_FICO";
  std::string one_month = "onemonth";
  std::string term = "Term";
  std::string amount = "Amount_Approved";
  std::string competitor_rate = "Competition_rate";
  std::string car_type = "CarType";
  std::string monthly_payment = "mp";
  std::string apply = "apply";
  std::array<std::string, kCarTypes> car_types = {"N", "R",
                                                  "U"};  ///< values of car_type: new, refinanced, used
};

/// CSV with a header, columns in any order; those that are not asked for are skipped, for the file has many.
/// Errors name file, line, column, value and what is accepted.
absl::StatusOr<std::vector<Loan>> ReadAutoLending(const std::string& path,
                                                  const AutoLendingColumns& columns = {});

/// What ReadAutoLending reads back as it was.
absl::Status WriteAutoLending(const std::string& path, const std::vector<Loan>& loans,
                              const AutoLendingColumns& columns = {});

/// What the lender earns on the loan, in dollars of today: the payments at the one-month rate, less the
/// amount.
///   price = mp (1 - q^term) q / (1 - q) - amount, q = 1 / (1 + one_month / 1200)
/// Departure: code that is published for this data set takes the year's rate for a month's (1200 above is
/// 100), and so has negative prices. Others fix a rate of 0.12 per cent a month.
double PriceOf(const Loan& loan);

/// How numbers become features: x = (FICO score, one-month rate, term, amount, competitor's rate, each
/// (value - low) / (high - low); 1; new, refinanced, used, one of them 1), and for a price p
///   phi = (x, x p / price) / radius, in dimension 18.
struct AutoLendingScale {
  static constexpr int kNumbers = 5;
  std::array<Interval, kNumbers> ranges;  ///< in the order above; low < high
  double price = 0;                       ///< dollars that count as 1; > 0
  double radius = 0;                      ///< > 0

  /// The radius that keeps |phi| <= 1 for all values within the ranges and |p| <= price: sqrt(14).
  static double WorstRadius();

  static constexpr int kDimension = 2 * (kNumbers + 1 + kCarTypes);

  void Features(const Loan& loan, double price, Eigen::Ref<Vector> features) const;
};

/// Ridge-penalised maximum likelihood for y in {0, 1} with P(y = 1) = 1 / (1 + exp(-<theta, x>)): minimises
/// -log likelihood + penalty |theta|^2 / 2 by Newton's method, steps halved until they descend. penalty > 0,
/// so that there is one minimum, whatever the data.
struct LogisticFit {
  Vector theta;
  Matrix
      covariance;  ///< (H + penalty I)^-1 H (H + penalty I)^-1, H the information: of theta, asymptotically
  int iterations = 0;
};
absl::StatusOr<LogisticFit> FitLogistic(const ActionMatrix& features, const std::vector<bool>& outcomes,
                                        double penalty);

enum class LendingReward {
  kRevenue,     ///< price / highest price if the applicant accepts, else 0: what a lender wants. Not a GLM of
                ///< phi
  kAcceptance,  ///< 1 if the applicant accepts: a GLM of phi with the logistic link, but cheaper is better
};

struct AutoLendingOptions {
  Count prices = 25;                    ///< K, equally spaced
  std::optional<Interval> price_range;  ///< dollars; without it, from 1 to 99 % of the log's prices
  LendingReward reward = LendingReward::kRevenue;
  double penalty = 1;  ///< of the regression
  /// Without it ranges are the data's smallest and largest values, as in published work, and the radius is
  /// the largest norm: then features say something about others' data, and a claim of privacy is for what is
  /// done with them. With it, values outside are an error.
  std::optional<AutoLendingScale> scale;
};

/// The bandit: applicants come one after another, an arm is a price, theta is fitted to `apply` and taken for
/// the truth. |theta| is what it is, about 10 and more, where the paper's theorems assume at most 1.
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

  /// phi of every price, K x d, each of norm at most 1.
  void Context(Count loan, ActionMatrix& context) const;
  /// phi of the price that the log has, of norm at most 1, too.
  Vector LoggedFeatures(Count loan) const;

  double Acceptance(Count loan, ArmId price) const;  ///< 1 / (1 + exp(-<theta, phi>))
  double MeanReward(Count loan, ArmId price) const;  ///< in [0, 1]
  double DrawReward(Count loan, ArmId price, CoinGen& coin) const;
  double RewardIfAccepted(ArmId price) const;
  ArmId BestPrice(Count loan) const;

 private:
  AutoLendingProblem() = default;

  std::vector<Loan> loans_;
  AutoLendingScale scale_;
  LendingReward reward_ = LendingReward::kRevenue;
  Vector prices_;
  LogisticFit fit_;
};

/// Applications that look like the data set's: about its columns, ranges and share of offers taken, and
/// nothing of its applicants. Offers are taken by a logistic law of TwinTheta and TwinScale.
absl::StatusOr<std::vector<Loan>> SyntheticTwin(std::uint64_t seed, Count rows);
AutoLendingScale TwinScale();
/// Orthogonal to what the data cannot tell: the dummies add up to the constant.
Vector TwinTheta();

}  // namespace bandana
