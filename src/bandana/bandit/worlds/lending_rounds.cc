#include "bandana/bandit/worlds/lending_rounds.h"

#include <algorithm>
#include <utility>

#include "bandana/bandit/link.h"
#include "bandana/core/check.h"
#include "bandana/core/distributions.h"

namespace bandana {

LendingRounds::LendingRounds(std::shared_ptr<const AutoLendingProblem> problem, std::uint64_t seed,
                             std::uint32_t replicate, Facts facts)
    : problem_(std::move(problem)),
      facts_(std::move(facts)),
      context_bits_({.seed = seed, .replicate = replicate, .stream = Stream::kContext}),
      context_coin_(context_bits_),
      reward_bits_({.seed = seed, .replicate = replicate, .stream = Stream::kReward}),
      reward_coin_(reward_bits_),
      loans_(problem_->loans(), kHalf),
      contexts_(problem_->actions(), dimension()) {
  for (const double price : problem_->prices()) shares_.push_back(price / problem_->scale().price);
  for (Count i = 0; i < problem_->loans(); ++i) {
    loans_.row(i) = problem_->LoggedFeatures(i).head(kHalf).transpose();
  }
}

bool LendingRounds::Next() {
  const auto loan =
      static_cast<Eigen::Index>(UniformBelow(static_cast<std::uint64_t>(problem_->loans()), context_coin_));
  loan_ = loans_.data() + loan * kHalf;
  truth_ = LineOf(problem_->theta().data());
  written_ = false;
  played_ = -1;
  return true;
}

LendingRounds::Line LendingRounds::LineOf(const double* theta) const {
  return {Dot(loan_, theta, kHalf), Dot(loan_, theta + kHalf, kHalf)};
}

void LendingRounds::Scores(std::span<const double> theta, std::span<double> scores) {
  BANDANA_CHECK(theta.size() == static_cast<std::size_t>(dimension()) && scores.size() == shares_.size());
  const Line line = LineOf(theta.data());
  for (std::size_t a = 0; a < scores.size(); ++a) scores[a] = line.at + line.slope * shares_[a];
}

void LendingRounds::WriteContext(ArmId arm, double* to) const {
  const double share = shares_[static_cast<std::size_t>(arm)];
  for (Eigen::Index i = 0; i < kHalf; ++i) {
    to[i] = loan_[i];
    to[kHalf + i] = share * loan_[i];
  }
}

const ActionMatrix& LendingRounds::Contexts() {
  if (!written_) {
    for (ArmId a = 0; a < arms(); ++a) WriteContext(a, contexts_.data() + a * dimension());
    written_ = true;
  }
  return contexts_;
}

std::span<const double> LendingRounds::Context(ArmId arm) {
  WriteContext(arm, context_.data());
  return context_;
}

double LendingRounds::Acceptance(ArmId arm) const {
  return MeanOf(Link::kLogistic, truth_.at + truth_.slope * shares_[static_cast<std::size_t>(arm)]);
}

std::optional<double> LendingRounds::Reward(ArmId arm) {
  if (played_ != arm) {
    played_ = arm;
    reward_ = UniformUnit(reward_coin_) < Acceptance(arm) ? problem_->RewardIfAccepted(arm) : 0;
    earned_.Add(reward_);
  }
  return reward_;
}

absl::Status LendingRounds::Measure(GreedyPolicy, std::map<std::string, double>& series) {
  earned_.Value(facts_.rewards).AddTo(series);
  series["offered"] = series["matched"] = static_cast<double>(earned_.rounds());
  return absl::OkStatus();
}

double LendingRounds::Gap(ArmId arm) const {
  const auto mean = [this](ArmId a) { return problem_->RewardIfAccepted(a) * Acceptance(a); };
  const double own = mean(arm);
  if (problem_->reward() == LendingReward::kAcceptance) {  // the mean is monotone in the price
    return std::max({0.0, mean(0) - own, mean(static_cast<ArmId>(arms() - 1)) - own});
  }
  double gap = 0;
  for (ArmId a = 0; a < arms(); ++a) gap = std::max(gap, mean(a) - own);
  return gap;
}

}  // namespace bandana
