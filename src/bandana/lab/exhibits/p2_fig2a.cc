#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p2_models.h"

/// P2, Fig. 2(a): regret against epsilon for Algorithms 1 to 4.
namespace bandana::lab {

std::vector<PaperClaim> P2Fig2aClaims() {
  using namespace p2;  // NOLINT(google-build-using-namespace): what this file is about
  const char* const figure = "p2 Fig. 2(a)";
  return {
      Converges(kCentral, figure),
      Converges(kLocal, figure),
      Converges(kAmplified, figure),
      Converges(kSum, figure),
      FollowsNonPrivate(kCentral, 2, figure),
      FollowsNonPrivate(kAmplified, 2, figure),
      Compared("Algorithm 1 outperforms Algorithm 2 (local)", kCentral, kLocal, Below, figure),
      Compared("Algorithm 3 outperforms Algorithm 2 (local)", kAmplified, kLocal, Below, figure),
      Compared(
          "Algorithm 3 has a performance close to Algorithm 1 (within a factor of 2)", kAmplified, kCentral,
          [](const Named& a, const Named& b) { return WithinFactor(a, b, 2); }, figure),
      Compared("Algorithm 4 is as good as Algorithm 3", kSum, kAmplified, NowhereAbove, figure),
      Compared(
          "Algorithm 4 has a performance close to Algorithm 1 (within 10 %)", kSum, kCentral,
          [](const Named& a, const Named& b) { return WithinFactor(a, b, 1.1); }, figure),
  };
}

}  // namespace bandana::lab
