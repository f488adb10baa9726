#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p2_models.h"

/// P2, Fig. 2(a): regret against epsilon for Algorithms 1 to 4.
namespace bandana::lab {

std::vector<PaperClaim> P2Fig2aClaims() {
  using namespace p2;  // NOLINT(google-build-using-namespace): what this file is about
  const char* const figure = "p2 Fig. 2(a)";
  const auto within = [](double factor) {
    return [factor](const Named& a, const Named& b) { return WithinFactor(a, b, factor); };
  };
  return {
      Converges(kCentral, figure),
      Converges(kLocal, figure),
      Converges(kAmplified, figure),
      Converges(kSum, figure),
      FollowsNonPrivate(kCentral, 0.2, figure),
      FollowsNonPrivate(
          kCentral, 0, figure,
          {false, "at epsilon = 0.1 the added log^2(T)/epsilon is as much as the regret itself"}),
      FollowsNonPrivate(kAmplified, 0.5, figure),
      FollowsNonPrivate(
          kAmplified, 0, figure,
          {false, "batches are small at first, and amplification needs many clients and a delta to spend"}),
      Compared("Algorithm 1 significantly outperforms Algorithm 2 (local), at epsilon <= 1", kCentral, kLocal,
               BelowAtSmallEpsilon, figure),
      Compared("Algorithm 3 outperforms Algorithm 2 (local), at epsilon <= 1", kAmplified, kLocal,
               BelowAtSmallEpsilon, figure),
      Compared("Algorithm 3 has a performance close to Algorithm 1 (within a factor of 2)", kAmplified,
               kCentral, within(2), figure),
      Compared("Algorithm 4 achieves the same regret as Algorithm 3 (within 10 %)", kSum, kAmplified,
               within(1.1), "p2 Appendix, Theorem 4",
               {false,
                "it is better: sums calibrated exactly need less noise than amplification is known to give"}),
      Compared("beyond the paper: Algorithm 4 has a smaller regret than Algorithm 3, at epsilon <= 1", kSum,
               kAmplified, BelowAtSmallEpsilon, figure),
      Compared(
          "beyond the paper: Algorithm 4 has a performance close to Algorithm 1 (within a factor of 1.5)",
          kSum, kCentral, within(1.5), figure),
  };
}

}  // namespace bandana::lab
