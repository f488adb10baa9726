#include "bandana/bandit/auto_lending.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "bandana/bandit/link.h"
#include "bandana/core/check.h"
#include "bandana/core/csv.h"
#include "bandana/core/distributions.h"
#include "bandana/core/infinity.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana {
namespace {

constexpr int kHalf = AutoLendingScale::kDimension / 2;
constexpr std::array<const char*, AutoLendingScale::kNumbers> kNumberNames = {"fico", "one_month", "term",
                                                                              "amount", "competitor_rate"};

std::array<double, AutoLendingScale::kNumbers> NumbersOf(const Loan& loan) {
  return {loan.fico, loan.one_month, loan.term, loan.amount, loan.competitor_rate};
}

// A column of numbers: its name, its field, and the numbers that are accepted.
struct NumberColumn {
  const std::string* name;
  double Loan::* field;
  bool (*accepts)(double);
  const char* accepted;
};

bool Positive(double value) { return value > 0; }
bool NotNegative(double value) { return value >= 0; }
bool WholeMonths(double value) { return value >= 1 && value <= 1200 && value == std::floor(value); }

// The result points into `columns`.
std::vector<NumberColumn> NumberColumns(const AutoLendingColumns& columns) {
  return {{&columns.fico, &Loan::fico, Positive, "a finite number > 0"},
          {&columns.one_month, &Loan::one_month, NotNegative, "a finite number >= 0, in percent per year"},
          {&columns.term, &Loan::term, WholeMonths, "a whole number of months from 1 to 1200"},
          {&columns.amount, &Loan::amount, Positive, "a finite number > 0"},
          {&columns.competitor_rate, &Loan::competitor_rate, NotNegative,
           "a finite number >= 0, in percent per year"},
          {&columns.monthly_payment, &Loan::monthly_payment, Positive, "a finite number > 0"}};
}

double Annuity(double rate, double periods) {  // value of 1 paid at the end of each period
  return rate == 0 ? periods : -std::expm1(-periods * std::log1p(rate)) / rate;
}

absl::Status CheckScale(const AutoLendingScale& scale) {
  for (int i = 0; i < AutoLendingScale::kNumbers; ++i) {
    const Interval range = scale.ranges[static_cast<std::size_t>(i)];
    if (!(std::isfinite(range.low) && std::isfinite(range.high) && range.low < range.high)) {
      return InvalidOption(fmt::format("scale.{}", kNumberNames[static_cast<std::size_t>(i)]),
                           fmt::format("[{}, {}]", range.low, range.high), "finite numbers, low < high");
    }
  }
  for (const auto& [name, value] : {std::pair("price", scale.price), {"radius", scale.radius}}) {
    if (!(value > 0 && std::isfinite(value))) {
      return InvalidOption(fmt::format("scale.{}", name), value, "a finite number > 0");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLoans(const std::vector<Loan>& loans) {
  if (loans.empty()) return InvalidOption("loans", "none", "at least one loan");
  const AutoLendingColumns columns;
  const std::vector<NumberColumn> numbers = NumberColumns(columns);
  for (const Loan& loan : loans) {
    for (const NumberColumn& column : numbers) {
      const double value = loan.*column.field;
      if (std::isfinite(value) && column.accepts(value)) continue;
      return InvalidOption(*column.name, value, column.accepted);
    }
  }
  return absl::OkStatus();
}

// Returns the smallest and largest value of each column. A column with a single value becomes 0 throughout.
std::array<Interval, AutoLendingScale::kNumbers> DataRanges(const std::vector<Loan>& loans) {
  std::array<Interval, AutoLendingScale::kNumbers> ranges;
  ranges.fill({kInfinity, -kInfinity});
  for (const Loan& loan : loans) {
    const auto numbers = NumbersOf(loan);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ranges[i] = {std::min(ranges[i].low, numbers[i]), std::max(ranges[i].high, numbers[i])};
    }
  }
  for (Interval& range : ranges) {
    if (range.low == range.high) range.high = range.low + std::max(1.0, std::abs(range.low));
  }
  return ranges;
}

absl::StatusOr<Vector> PriceGrid(const std::vector<double>& logged, const AutoLendingOptions& options) {
  if (!(options.prices >= 1 && options.prices <= (1 << 20))) {
    return InvalidOption("prices", static_cast<double>(options.prices), "a whole number from 1 to 2^20");
  }
  const bool revenue = options.reward == LendingReward::kRevenue;
  Interval range;
  if (options.price_range.has_value()) {
    range = *options.price_range;
  } else {
    std::vector<double> sorted = logged;
    std::sort(sorted.begin(), sorted.end());
    const auto last = static_cast<double>(sorted.size() - 1);
    range = {sorted[static_cast<std::size_t>(0.01 * last)],
             sorted[static_cast<std::size_t>(std::ceil(0.99 * last))]};
    if (revenue) range.low = std::max(range.low, 0.0);
  }
  if (!(std::isfinite(range.low) && std::isfinite(range.high) && range.low <= range.high) ||
      (revenue && !(range.low >= 0 && range.high > 0))) {
    return InvalidOption("price_range", fmt::format("[{}, {}]", range.low, range.high),
                         revenue ? "0 <= low <= high and high > 0, because the reward is the revenue"
                                 : "finite numbers, low <= high");
  }
  return Vector(Vector::LinSpaced(options.prices, range.low, range.high));
}

AutoLendingScale DataScale(const std::vector<Loan>& loans, const std::vector<double>& logged,
                           const Vector& grid) {
  AutoLendingScale scale{.ranges = DataRanges(loans), .price = grid.cwiseAbs().maxCoeff(), .radius = 1};
  const double largest_of_grid = scale.price;
  for (const double price : logged) scale.price = std::max(scale.price, std::abs(price));
  if (!(scale.price > 0)) scale.price = 1;
  double largest = 0;
  Vector features(AutoLendingScale::kDimension);
  for (std::size_t i = 0; i < loans.size(); ++i) {
    scale.Features(loans[i], std::max(std::abs(logged[i]), largest_of_grid), features);
    largest = std::max(largest, features.norm());
  }
  scale.radius = largest * (1 + 1e-12);  // so that rounding leaves no norm above 1
  return scale;
}

absl::Status CheckWithin(const AutoLendingScale& scale, const std::vector<Loan>& loans,
                         const std::vector<double>& logged, const Vector& grid) {
  for (const Loan& loan : loans) {
    const auto numbers = NumbersOf(loan);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Interval& range = scale.ranges[i];
      if (numbers[i] >= range.low && numbers[i] <= range.high) continue;
      return InvalidOption(kNumberNames[i], numbers[i],
                           fmt::format("a number in [{}, {}], the range in `scale`", range.low, range.high));
    }
  }
  const double largest = std::max(std::abs(*std::max_element(logged.begin(), logged.end())),
                                  std::abs(*std::min_element(logged.begin(), logged.end())));
  if (const double price = std::max(largest, grid.cwiseAbs().maxCoeff()); !(price <= scale.price)) {
    return InvalidOption("price", price,
                         fmt::format("at most {}, the largest price in `scale`", scale.price));
  }
  if (!(scale.radius >= AutoLendingScale::WorstRadius())) {
    return InvalidOption("scale.radius", scale.radius,
                         fmt::format("at least {}", AutoLendingScale::WorstRadius()));
  }
  return absl::OkStatus();
}

// Returns log(1 + exp(s)).
double Softplus(double s) { return s > 0 ? s + std::log1p(std::exp(-s)) : std::log1p(std::exp(s)); }

double PenalisedLoss(const ActionMatrix& features, const std::vector<bool>& outcomes, double penalty,
                     const Vector& theta) {
  const Vector predictors = features * theta;
  double loss = penalty * theta.squaredNorm() / 2;
  for (Eigen::Index i = 0; i < predictors.size(); ++i) {
    loss += Softplus(outcomes[static_cast<std::size_t>(i)] ? -predictors[i] : predictors[i]);
  }
  return loss;
}

// Returns sum_i w_i x_i x_i'. Eigen's product of matrices adds in an order that depends on the processor's
// caches, and the same seed would give other last digits on another machine.
Matrix WeightedGram(const ActionMatrix& features, const Vector& weights) {
  Matrix gram = Matrix::Zero(features.cols(), features.cols());
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    for (Eigen::Index j = 0; j < features.cols(); ++j) {
      gram.col(j) += (weights[i] * features(i, j)) * features.row(i).transpose();
    }
  }
  return gram;
}

}  // namespace

absl::StatusOr<std::vector<Loan>> ReadAutoLending(const std::string& path,
                                                  const AutoLendingColumns& columns) {
  BANDANA_ASSIGN_OR_RETURN(
      CsvReader reader,
      CsvReader::Open(path, {.key = "file",
                             .lines = "one application per line under a header",
                             .accepted = fmt::format(
                                 "columns {}, {}, {}, {}, {}, {}, {}, {} and any others", columns.fico,
                                 columns.one_month, columns.term, columns.amount, columns.competitor_rate,
                                 columns.car_type, columns.monthly_payment, columns.apply)}));
  BANDANA_ASSIGN_OR_RETURN(const CsvHeader header, CsvHeader::Read(reader));
  const std::vector<NumberColumn> numbers = NumberColumns(columns);
  std::vector<std::size_t> places;
  for (const NumberColumn& column : numbers) {
    BANDANA_ASSIGN_OR_RETURN(places.emplace_back(), header.Require(reader, *column.name));
  }
  BANDANA_ASSIGN_OR_RETURN(const std::size_t car_place, header.Require(reader, columns.car_type));
  BANDANA_ASSIGN_OR_RETURN(const std::size_t apply_place, header.Require(reader, columns.apply));
  std::vector<Loan> loans;
  while (reader.Next()) {
    BANDANA_RETURN_IF_ERROR(header.CheckWidth(reader));
    Loan loan;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::optional<double> value = ParseNumber(reader.fields()[places[i]]);
      if (!value.has_value() || !numbers[i].accepts(*value)) {
        return reader.Error({.message = "not accepted",
                             .key = *numbers[i].name,
                             .value = std::string(reader.fields()[places[i]]),
                             .accepted = numbers[i].accepted});
      }
      loan.*numbers[i].field = *value;
    }
    const std::string car(reader.fields()[car_place]);
    const auto type = std::find(columns.car_types.begin(), columns.car_types.end(), car);
    if (type == columns.car_types.end()) {
      return reader.Error({.message = "not a type of car",
                           .key = columns.car_type,
                           .value = car,
                           .accepted = fmt::format("{}", fmt::join(columns.car_types, ", "))});
    }
    loan.car = static_cast<CarType>(type - columns.car_types.begin());
    const std::optional<double> apply = ParseNumber(reader.fields()[apply_place]);
    if (apply != 0.0 && apply != 1.0) {
      return reader.Error({.message = "not accepted",
                           .key = columns.apply,
                           .value = std::string(reader.fields()[apply_place]),
                           .accepted = "0 or 1"});
    }
    loan.apply = apply == 1.0;
    loans.push_back(loan);
  }
  BANDANA_RETURN_IF_ERROR(reader.status());
  if (loans.empty()) return reader.FileError({.message = "the file holds no application"});
  return loans;
}

double PriceOf(const Loan& loan) {
  return loan.monthly_payment * Annuity(loan.one_month / 1200, loan.term) - loan.amount;
}

double AutoLendingScale::WorstRadius() {
  // There are five numbers, the constant and one indicator, each at most 1, and all of them twice.
  return std::sqrt(2.0 * (kNumbers + 2)) * (1 + 1e-12);
}

void AutoLendingScale::Features(const Loan& loan, double loan_price, Eigen::Ref<Vector> features) const {
  BANDANA_CHECK(features.size() == kDimension);
  const auto numbers = NumbersOf(loan);
  features.setZero();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    features[static_cast<Eigen::Index>(i)] = (numbers[i] - ranges[i].low) / (ranges[i].high - ranges[i].low);
  }
  features[kNumbers] = 1;
  features[kNumbers + 1 + static_cast<int>(loan.car)] = 1;
  features.head(kHalf) /= radius;
  features.tail(kHalf) = features.head(kHalf) * (loan_price / price);
}

absl::StatusOr<LogisticFit> FitLogistic(const ActionMatrix& features, const std::vector<bool>& outcomes,
                                        double penalty) {
  if (!(penalty > 0 && std::isfinite(penalty))) {
    return InvalidOption("penalty", penalty, "a finite number > 0");
  }
  BANDANA_CHECK(features.rows() == static_cast<Eigen::Index>(outcomes.size()) && features.rows() > 0);
  const Eigen::Index size = features.cols();
  LogisticFit fit{.theta = Vector::Zero(size)};
  double loss = PenalisedLoss(features, outcomes, penalty, fit.theta);
  constexpr int kMostIterations = 100;
  for (fit.iterations = 1; fit.iterations <= kMostIterations; ++fit.iterations) {
    const Vector predictors = features * fit.theta;
    Vector residuals(predictors.size());
    Vector weights(predictors.size());
    for (Eigen::Index i = 0; i < predictors.size(); ++i) {
      const double mean = MeanOf(Link::kLogistic, predictors[i]);
      residuals[i] = mean - (outcomes[static_cast<std::size_t>(i)] ? 1 : 0);
      weights[i] = mean * (1 - mean);
    }
    const Vector gradient = features.transpose() * residuals + penalty * fit.theta;
    const Matrix information = WeightedGram(features, weights);
    const Eigen::LLT<Matrix> factor(information + penalty * Matrix::Identity(size, size));
    if (factor.info() != Eigen::Success)
      return absl::InternalError("the matrix of the logistic regression is singular");
    const Vector direction = -factor.solve(gradient);
    // Twice the expected decrease of the loss, to second order.
    const double decrement = -gradient.dot(direction);
    if (decrement <= 1e-16 * (1 + loss)) {  // the last step squares the remaining error
      fit.theta += direction;
      const Matrix inverse = factor.solve(Matrix::Identity(size, size));
      fit.covariance = inverse * information * inverse;
      return fit;
    }
    // The rounding of the loss. Without it, steps would get short near the minimum.
    const double slack = 1e-11 * (1 + loss);
    double step = 1;
    double next = PenalisedLoss(features, outcomes, penalty, fit.theta + direction);
    while (!(next <= loss - 1e-4 * step * decrement + slack) && step > 0x1p-40) {
      step /= 2;
      next = PenalisedLoss(features, outcomes, penalty, fit.theta + step * direction);
    }
    fit.theta += step * direction;
    loss = next;
  }
  return absl::InternalError(
      fmt::format("the logistic regression did not converge in {} steps", kMostIterations));
}

absl::StatusOr<AutoLendingProblem> AutoLendingProblem::Create(std::vector<Loan> loans,
                                                              const AutoLendingOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckLoans(loans));
  std::vector<double> logged;
  for (const Loan& loan : loans) logged.push_back(PriceOf(loan));
  AutoLendingProblem problem;
  problem.reward_ = options.reward;
  BANDANA_ASSIGN_OR_RETURN(problem.prices_, PriceGrid(logged, options));
  if (options.scale.has_value()) {
    BANDANA_RETURN_IF_ERROR(CheckScale(*options.scale));
    BANDANA_RETURN_IF_ERROR(CheckWithin(*options.scale, loans, logged, problem.prices_));
  }
  problem.scale_ = options.scale.has_value() ? *options.scale : DataScale(loans, logged, problem.prices_);
  ActionMatrix features(static_cast<Eigen::Index>(loans.size()), AutoLendingScale::kDimension);
  std::vector<bool> outcomes;
  Vector row(AutoLendingScale::kDimension);
  for (std::size_t i = 0; i < loans.size(); ++i) {
    problem.scale_.Features(loans[i], logged[i], row);
    features.row(static_cast<Eigen::Index>(i)) = row;
    outcomes.push_back(loans[i].apply);
  }
  BANDANA_ASSIGN_OR_RETURN(problem.fit_, FitLogistic(features, outcomes, options.penalty));
  problem.loans_ = std::move(loans);
  return problem;
}

void AutoLendingProblem::Context(Count loan, ActionMatrix& context) const {
  context.resize(actions(), dimension());
  Vector row(dimension());
  for (Count k = 0; k < actions(); ++k) {
    scale_.Features(loans_[static_cast<std::size_t>(loan)], prices_[k], row);
    context.row(k) = row;
  }
}

Vector AutoLendingProblem::LoggedFeatures(Count loan) const {
  const Loan& logged = loans_[static_cast<std::size_t>(loan)];
  Vector features(dimension());
  scale_.Features(logged, PriceOf(logged), features);
  return features;
}

double AutoLendingProblem::Acceptance(Count loan, ArmId price) const {
  Vector features(dimension());
  scale_.Features(loans_[static_cast<std::size_t>(loan)], prices_[price], features);
  return MeanOf(Link::kLogistic, Dot(features.data(), fit_.theta.data(), dimension()));
}

double AutoLendingProblem::RewardIfAccepted(ArmId price) const {
  return reward_ == LendingReward::kAcceptance ? 1 : prices_[price] / prices_[prices_.size() - 1];
}

double AutoLendingProblem::MeanReward(Count loan, ArmId price) const {
  return RewardIfAccepted(price) * Acceptance(loan, price);
}

double AutoLendingProblem::DrawReward(Count loan, ArmId price, CoinGen& coin) const {
  return UniformUnit(coin) < Acceptance(loan, price) ? RewardIfAccepted(price) : 0;
}

AutoLendingScale TwinScale() {
  return {.ranges = {{{500, 850}, {0, 5}, {12, 84}, {5'000, 100'000}, {0, 20}}},
          .price = 12'000,
          .radius = AutoLendingScale::WorstRadius()};
}

Vector TwinTheta() {
  Vector theta(AutoLendingScale::kDimension);
  // FICO score, one-month rate, term, amount, competitor's rate, constant, new, refinanced, used; the second
  // line holds their products with the price.
  theta << -1.2, -0.4, 0.6, -1.5, 3, -0.2, -0.3, 0.3, -0.2,  //
      -1, -0.3, 0.5, 2, 1, -3.6, -1.2, -1, -1.4;
  return theta * TwinScale().radius;
}

absl::StatusOr<std::vector<Loan>> SyntheticTwin(std::uint64_t seed, Count rows) {
  if (!(rows >= 1 && rows <= 100'000'000)) {
    return InvalidOption("rows", fmt::format("{}", rows), "a whole number from 1 to 10^8");
  }
  PhiloxSource bits({.seed = seed, .stream = Stream::kInstance});
  CoinGen coin(bits);
  const AutoLendingScale scale = TwinScale();
  const Vector theta = TwinTheta();
  constexpr std::array<double, 5> kTerms = {36, 48, 60, 66, 72};
  Vector features(AutoLendingScale::kDimension);
  std::vector<Loan> loans;
  loans.reserve(static_cast<std::size_t>(rows));
  while (static_cast<Count>(loans.size()) < rows) {
    Loan loan;
    loan.fico = std::round(720 + 55 * StandardNormal(coin));
    loan.one_month = 1 + 0.9 * UniformUnit(coin);
    loan.term = kTerms[std::min<std::size_t>(4, static_cast<std::size_t>(7 * UniformUnit(coin)))];
    loan.amount = std::round(22'000 * std::exp(0.45 * StandardNormal(coin)));
    // A worse score costs more, at every lender.
    const double risk = 0.02 * (760 - loan.fico);
    loan.competitor_rate = 4.5 + risk + 0.5 * StandardNormal(coin);
    const double u = UniformUnit(coin);
    loan.car = u < 0.45 ? CarType::kNew : u < 0.8 ? CarType::kUsed : CarType::kRefinanced;
    const double rate =
        loan.competitor_rate + 0.5 + (loan.car == CarType::kNew ? 0 : 1) + StandardNormal(coin);
    if (!(rate > loan.one_month + 0.1)) continue;
    loan.monthly_payment = loan.amount / Annuity(rate / 1200, loan.term);
    const auto numbers = NumbersOf(loan);
    bool within = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      within = within && numbers[i] >= scale.ranges[i].low && numbers[i] <= scale.ranges[i].high;
    }
    const double price = PriceOf(loan);
    if (!within || !(price >= 0 && price <= scale.price)) continue;
    scale.Features(loan, price, features);
    loan.apply =
        UniformUnit(coin) < MeanOf(Link::kLogistic, Dot(features.data(), theta.data(), theta.size()));
    loans.push_back(loan);
  }
  return loans;
}

}  // namespace bandana
