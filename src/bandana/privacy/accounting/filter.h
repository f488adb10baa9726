#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/privacy/accounting/renyi.h"

/// Privacy filters, for releases whose mechanisms *and budgets* are chosen along the way, each from all that
/// was released before. Releases may go on while the charges stay within a budget fixed at the start; the
/// whole then has the budget's guarantee.
///
/// This is known for Renyi divergences of a fixed order and so for zCDP (V. Feldman and T. Zrnic, "Individual
/// privacy accounting via a Renyi filter", NeurIPS 2021) and for Gaussian DP (A. Smith and A. Thakurta,
/// "Fully adaptive composition for Gaussian differential privacy", 2022; A. Koskela, M. Tobaben and A.
/// Honkela, ICLR 2023). It is not known for privacy loss distributions, nor for the optimal composition of
/// (epsilon, delta): those serve lists that are fixed in advance. Proof: docs/proofs/accounting.md.
///
/// A charge that exceeds the budget fails with kResourceExhausted and changes nothing. Sums are rounded up,
/// so a budget of 1 pays nine charges of 0.1 and not ten: the double 0.1 is a little more than a tenth.
namespace bandana {

class ZcdpFilter {
 public:
  static absl::StatusOr<ZcdpFilter> Create(double rho);
  absl::Status Charge(double rho);
  double budget() const { return budget_; }
  double spent() const { return spent_; }

 private:
  explicit ZcdpFilter(double budget) : budget_(budget) {}
  double budget_;
  double spent_ = 0;
};

/// A filter for mu-GDP. The squares of the charges add up.
class GdpFilter {
 public:
  static absl::StatusOr<GdpFilter> Create(double mu);
  absl::Status Charge(double mu);
  double budget() const { return budget_; }
  double spent() const;  ///< the spending so far, expressed as a mu

 private:
  explicit GdpFilter(double budget) : budget_(budget) {}
  double budget_;
  double spent_square_ = 0;
};

/// A filter for Renyi curves. A charge must fit at every order at which the budget is finite, so that the
/// whole budget curve holds. It is not enough that a charge fits at some order: the order would be chosen
/// along the way.
class RenyiFilter {
 public:
  static absl::StatusOr<RenyiFilter> Create(const RenyiCurve& budget);
  /// Makes the filter at one order of RenyiCurve::Orders() that delivers (epsilon, delta).
  static absl::StatusOr<RenyiFilter> ForGuarantee(DpGuarantee guarantee, std::size_t order);
  absl::Status Charge(const RenyiCurve& curve);
  const RenyiCurve& budget() const { return budget_; }
  const RenyiCurve& spent() const { return spent_; }

 private:
  explicit RenyiFilter(const RenyiCurve& budget) : budget_(budget) {}
  RenyiCurve budget_;
  RenyiCurve spent_;
};

}  // namespace bandana
