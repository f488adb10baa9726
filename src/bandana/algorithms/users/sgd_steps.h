#pragma once

namespace bandana {

/// How the steps of LDP-SGD fall. With n as each value says, the n-th step is step d / (zeta (n + n_0)), or
/// step d / (zeta sqrt(n + n_0)).
enum class SgdSteps {
  kPulls,  ///< as 1/n, where n is how often an arm has been played on average
  kPaper,  ///< as 1/n, where n counts all users after the warm-up, and an arm's own before (P5, Theorem 4.1)
  kRoot,   ///< as 1/sqrt(n), with the n of kPulls (P5, Appendix F)
};

/// Whether theta is kept in its ball.
enum class SgdProjection {
  kBall,  ///< theta is projected onto its ball after every step
  kNone,  ///< theta is not projected, as printed
};

}  // namespace bandana
