#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p2_models.h"

/// P2, Section III-A: Algorithms 1 to 4 if every client has a context and the distribution of contexts is
/// known.
namespace bandana::lab {

std::vector<PaperClaim> P2ContextClaims() {
  using namespace p2;  // NOLINT(google-build-using-namespace): what this file is about
  const char* const corollary = "p2 Corollary 1";
  return {
      Converges(kCentral, corollary),
      Converges(kLocal, corollary),
      Converges(kAmplified, corollary),
      Converges(kSum, corollary),
      FollowsNonPrivate(kCentral, 0, corollary),
      Compared("Algorithm 1 outperforms Algorithm 2 (local) with known contexts, at epsilon <= 1", kCentral,
               kLocal, BelowAtSmallEpsilon, corollary),
      Compared("Algorithm 3 outperforms Algorithm 2 (local) with known contexts, at epsilon <= 1", kAmplified,
               kLocal, BelowAtSmallEpsilon, corollary),
  };
}

}  // namespace bandana::lab
