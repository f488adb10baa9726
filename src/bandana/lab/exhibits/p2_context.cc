#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p2_models.h"

/// P2, Section III-A: the same algorithms where every client has a context and its distribution is known.
namespace bandana::lab {

std::vector<PaperClaim> P2ContextClaims() {
  using namespace p2;  // NOLINT(google-build-using-namespace): what this file is about
  const char* const corollary = "p2 Corollary 1";
  return {
      Converges(kCentral, corollary),
      Converges(kLocal, corollary),
      Converges(kAmplified, corollary),
      Converges(kSum, corollary),
      Compared("central outperforms local, with known contexts", kCentral, kLocal, Below, corollary),
      Compared("shuffled (Algorithm 3) is nowhere worse than local, with known contexts", kAmplified, kLocal,
               NowhereAbove, corollary),
      Compared(
          "shuffled (Algorithm 4) is close to central (within 10 %), with known contexts", kSum, kCentral,
          [](const Named& a, const Named& b) { return WithinFactor(a, b, 1.1); }, corollary),
  };
}

}  // namespace bandana::lab
